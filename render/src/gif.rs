//! Animations as GIF, one frame at a time: only what changed is stored, with a palette of its own a
//! frame.
//!
//! Palettes by median cut (Heckbert, "Color image quantization for frame buffer display", SIGGRAPH
//! 1982).

use std::io::{self, Write};

use gif::{Encoder, EncodingError, Frame, Repeat};

use super::pixels::Image;

/// A pixel is stored again when a channel is off by more than this from what is shown [of 255].
const TOLERANCE: u8 = 4;

/// Colours of a frame's palette; index 255 leaves the pixel as it is.
const COLORS: usize = 255;
const UNCHANGED: u8 = 255;

/// Bits kept of each channel to count colours.
const BITS: usize = 6;

/// Writes an endlessly looping animation frame by frame. Nothing is kept but the frame that is
/// shown, so an animation may be of any length. Call [`GifWriter::finish`], which tells of errors at
/// the end of the file.
pub struct GifWriter<W: Write> {
    encoder: Encoder<W>,
    width: u32,
    height: u32,
    /// Hundredths of a second a frame.
    delay: u16,
    /// What a viewer shows now; empty before the first frame.
    shown: Vec<u8>,
}

/// Columns `x` and rows `y` of a part of a frame, ends excluded.
struct ChangedRect {
    x: [usize; 2],
    y: [usize; 2],
}

impl<W: Write> GifWriter<W> {
    /// Starts an animation of `width` x `height` pixels (1 to 65,535 each), each frame shown for
    /// `frame_time` \[s\], which is rounded to the format's 0.01 s and is at least 0.02 s (viewers
    /// slow down shorter ones).
    ///
    /// # Errors
    /// What `out` gives; `InvalidInput` for a size or a time that the format cannot hold.
    pub fn new(out: W, width: u32, height: u32, frame_time: f64) -> io::Result<Self> {
        let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason);
        let side = |pixels: u32| u16::try_from(pixels).ok().filter(|&p| p > 0);
        let (Some(columns), Some(rows)) = (side(width), side(height)) else {
            return Err(invalid(format!("a GIF has 1 to 65535 pixels a side, got {width} x {height}")));
        };
        let hundredths = (frame_time * 100.0).round();
        if !(frame_time > 0.0 && hundredths <= 65535.0) {
            return Err(invalid(format!("a GIF frame takes 0.01 to 655.35 s, got {frame_time} s")));
        }
        let mut encoder = Encoder::new(out, columns, rows, &[]).map_err(io_error)?;
        encoder.set_repeat(Repeat::Infinite).map_err(io_error)?;
        Ok(Self { encoder, width, height, delay: (hundredths as u16).max(2), shown: Vec::new() })
    }

    /// Adds a frame.
    ///
    /// # Errors
    /// What the output gives; `InvalidInput` when the image is not of the animation's size.
    pub fn add(&mut self, image: &Image) -> io::Result<()> {
        let bytes = 3 * self.width as usize * self.height as usize;
        if image.width != self.width || image.height != self.height || image.pixels.len() != bytes {
            let (w, h) = (image.width, image.height);
            let reason = format!("frame of {w} x {h} in an animation of {} x {}", self.width, self.height);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let changed = self.changed(image);
        let part = self.bounds(&changed);
        let palette =
            Palette::new(image.pixels.chunks_exact(3).zip(&changed).filter(|(_, c)| **c).map(|(p, _)| p));
        if self.shown.is_empty() {
            self.shown = vec![0; bytes];
        }
        let mut indices = Vec::with_capacity((part.x[1] - part.x[0]) * (part.y[1] - part.y[0]));
        for y in part.y[0]..part.y[1] {
            for x in part.x[0]..part.x[1] {
                let place = y * self.width as usize + x;
                if !changed[place] {
                    indices.push(UNCHANGED);
                    continue;
                }
                let index = palette.index(&image.pixels[3 * place..3 * place + 3]);
                self.shown[3 * place..3 * place + 3].copy_from_slice(&palette.colors[usize::from(index)]);
                indices.push(index);
            }
        }
        // The sides fit: `new` checked them.
        let [left, top] = [part.x[0] as u16, part.y[0] as u16];
        // What is not stored again stays, because frames are kept.
        let frame = Frame {
            delay: self.delay,
            transparent: Some(UNCHANGED),
            left,
            top,
            width: part.x[1] as u16 - left,
            height: part.y[1] as u16 - top,
            palette: Some(palette.entries()),
            buffer: indices.into(),
            ..Frame::default()
        };
        self.encoder.write_frame(&frame).map_err(io_error)
    }

    /// Ends the animation and gives back the flushed output.
    ///
    /// # Errors
    /// What the output gives.
    pub fn finish(self) -> io::Result<W> {
        let mut out = self.encoder.into_inner().map_err(io_error)?;
        out.flush()?;
        Ok(out)
    }

    /// Which pixels differ from what is shown; all of them in the first frame.
    fn changed(&self, image: &Image) -> Vec<bool> {
        if self.shown.is_empty() {
            return vec![true; image.pixels.len() / 3];
        }
        let pairs = image.pixels.chunks_exact(3).zip(self.shown.chunks_exact(3));
        pairs.map(|(new, old)| new.iter().zip(old).any(|(a, b)| a.abs_diff(*b) > TOLERANCE)).collect()
    }

    /// The rectangle about the changed pixels; one pixel when there are none, for a frame must have
    /// an area.
    fn bounds(&self, changed: &[bool]) -> ChangedRect {
        let width = self.width as usize;
        let mut part = ChangedRect { x: [width, 0], y: [self.height as usize, 0] };
        for place in (0..changed.len()).filter(|&place| changed[place]) {
            let (x, y) = (place % width, place / width);
            part.x = [part.x[0].min(x), part.x[1].max(x + 1)];
            part.y = [part.y[0].min(y), part.y[1].max(y + 1)];
        }
        if part.x[0] >= part.x[1] { ChangedRect { x: [0, 1], y: [0, 1] } } else { part }
    }
}

fn io_error(error: EncodingError) -> io::Error {
    match error {
        EncodingError::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// Up to 255 colours and the one nearest to each cell of the colour cube.
struct Palette {
    colors: Vec<[u8; 3]>,
    nearest: Vec<u8>,
}

/// Pixels of one cell of the colour cube.
#[derive(Clone, Copy)]
struct Cell {
    sum: [u64; 3],
    count: u64,
    index: usize,
}

impl Cell {
    fn mean(&self, channel: usize) -> f64 {
        self.sum[channel] as f64 / self.count as f64
    }
}

fn cell_index(pixel: &[u8]) -> usize {
    pixel.iter().fold(0, |index, &byte| index << BITS | usize::from(byte) >> (8 - BITS))
}

impl Palette {
    fn new<'a>(pixels: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut cube: Vec<Cell> =
            (0..1usize << (3 * BITS)).map(|index| Cell { sum: [0; 3], count: 0, index }).collect();
        for pixel in pixels {
            let cell = &mut cube[cell_index(pixel)];
            cell.count += 1;
            (0..3).for_each(|c| cell.sum[c] += u64::from(pixel[c]));
        }
        cube.retain(|cell| cell.count > 0);
        let boxes = median_cut(&mut cube);
        let colors: Vec<[u8; 3]> = boxes.iter().map(|cells| mean_color(cells)).collect();
        let mut nearest = vec![0; 1 << (3 * BITS)];
        for cell in boxes.iter().flat_map(|cells| cells.iter()) {
            nearest[cell.index] = nearest_color(&colors, cell);
        }
        Self { colors, nearest }
    }

    /// The colours and, up to 256 of them, black.
    fn entries(&self) -> Vec<u8> {
        let mut entries = self.colors.concat();
        entries.resize(3 * 256, 0);
        entries
    }

    fn index(&self, pixel: &[u8]) -> u8 {
        self.nearest[cell_index(pixel)]
    }
}

fn mean_color(cells: &[Cell]) -> [u8; 3] {
    let count: u64 = cells.iter().map(|cell| cell.count).sum();
    std::array::from_fn(|c| {
        (cells.iter().map(|cell| cell.sum[c]).sum::<u64>() as f64 / count as f64).round() as u8
    })
}

fn nearest_color(colors: &[[u8; 3]], cell: &Cell) -> u8 {
    let distance =
        |color: &[u8; 3]| (0..3).map(|c| (cell.mean(c) - f64::from(color[c])).powi(2)).sum::<f64>();
    let best =
        colors.iter().enumerate().map(|(i, color)| (i, distance(color))).min_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or(0, |(index, _)| index as u8)
}

/// Splits the cells into at most `COLORS` groups: again and again the one with the largest squared
/// error, along its widest channel, at the mean.
fn median_cut(cells: &mut [Cell]) -> Vec<&[Cell]> {
    let mut groups: Vec<(f64, usize, &mut [Cell])> = Vec::with_capacity(COLORS);
    if !cells.is_empty() {
        let (error, channel) = spread(cells);
        groups.push((error, channel, cells));
    }
    while groups.len() < COLORS {
        let worst = groups.iter().enumerate().max_by(|a, b| a.1.0.total_cmp(&b.1.0));
        let Some((place, _)) = worst.filter(|(_, group)| group.0 > 0.0) else { break };
        let (_, channel, group) = groups.swap_remove(place);
        let count: u64 = group.iter().map(|cell| cell.count).sum();
        let middle = group.iter().map(|cell| cell.sum[channel]).sum::<u64>() as f64 / count as f64;
        // Cells are distinct in their means only up to rounding; the index settles the order.
        group.sort_by(|a, b| a.mean(channel).total_cmp(&b.mean(channel)).then(a.index.cmp(&b.index)));
        let split = group.partition_point(|cell| cell.mean(channel) <= middle).clamp(1, group.len() - 1);
        let (low, high) = group.split_at_mut(split);
        for half in [low, high] {
            let (error, channel) = spread(half);
            groups.push((error, channel, half));
        }
    }
    groups.into_iter().map(|(_, _, cells)| &*cells).collect()
}

/// Squared error of the group about its mean, and the channel with most of it. Weighs by the square
/// root of the count, so that a large plain background does not take the whole palette.
fn spread(cells: &[Cell]) -> (f64, usize) {
    if cells.len() < 2 {
        return (0.0, 0);
    }
    let weight = |cell: &Cell| (cell.count as f64).sqrt();
    let total: f64 = cells.iter().map(weight).sum();
    let errors = [0, 1, 2].map(|c| {
        let mean = cells.iter().map(|cell| weight(cell) * cell.mean(c)).sum::<f64>() / total;
        cells.iter().map(|cell| weight(cell) * (cell.mean(c) - mean).powi(2)).sum::<f64>()
    });
    let channel = (0..3).max_by(|&a, &b| errors[a].total_cmp(&errors[b])).unwrap_or(0);
    (errors.iter().sum(), channel)
}
