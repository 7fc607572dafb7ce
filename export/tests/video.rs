//! Videos read back: boxes by mp4-atom, pictures by the decoder of OpenH264.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used, clippy::panic)]

mod random;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use mp4_atom::{Atom, Codec, Colr, Decode, Header, Moov, StszSamples};
use openh264::decoder::Decoder;
use openh264::formats::YUVSource;
use pliant_export::{ExportError, ExportOptions, Format, Source, export, export_source};
use pliant_render::Image;
use pliant_runner::picture::FrameRenderer;
use pliant_runner::recording::Recording;
use pliant_runner::run::{RunOptions, run};
use pliant_scenes::{builtin, scenario::Scenario};
use random::RandomRun;

/// Least signal-to-noise ratio of pictures \[dB\]. The encoder rounds to steps of 5 to 6.5 of 255
/// (coarseness 18 to 20), evenly: 43 dB at least, and edges of colours cost some. Wrong colours are
/// below 30: `wrong_colours_are_told_apart`.
const LEAST_RATIO: f64 = 36.0;

fn go_on(_: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A video: its boxes, and its pictures.
struct Video {
    moov: Moov,
    pictures: Vec<Image>,
}

impl Video {
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let mut rest = &bytes[..];
        let mut moov = None;
        while !rest.is_empty() {
            let mut body = rest;
            let header = Header::decode(&mut body).unwrap();
            let head = rest.len() - body.len();
            let size = header.size.unwrap();
            if header.kind == Moov::KIND {
                moov = Some(Moov::decode_body(&mut &body[..size]).unwrap());
            }
            rest = &rest[head + size..];
        }
        let moov = moov.unwrap();
        let table = &moov.trak[0].mdia.minf.stbl;
        let StszSamples::Different { sizes } = &table.stsz.samples else { panic!("one size") };
        let mut at = table.co64.as_ref().unwrap().entries[0] as usize;
        let Codec::Avc1(entry) = &table.stsd.codecs[0] else { panic!("not H.264") };
        let start = |unit: &[u8]| [&[0, 0, 0, 1], unit].concat();
        let mut stream = start(&entry.avcc.sequence_parameter_sets[0]);
        stream.extend(start(&entry.avcc.picture_parameter_sets[0]));
        let mut decoder = Decoder::new().unwrap();
        let mut pictures = Vec::new();
        for &size in sizes {
            let mut sample = &bytes[at..at + size as usize];
            while !sample.is_empty() {
                let (length, units) = sample.split_at(4);
                let (unit, next) = units.split_at(u32::from_be_bytes(length.try_into().unwrap()) as usize);
                stream.extend(start(unit));
                sample = next;
            }
            pictures.push(rgb(&decoder.decode(&stream).unwrap().unwrap()));
            stream.clear();
            at += size as usize;
        }
        assert_eq!(at, bytes.len());
        Self { moov, pictures }
    }

    /// How long each picture is shown \[s\].
    fn durations(&self) -> Vec<f64> {
        let media = &self.moov.trak[0].mdia;
        let ticks = f64::from(media.mdhd.timescale);
        let runs = media.minf.stbl.stts.entries.iter();
        runs.flat_map(|run| (0..run.sample_count).map(|_| f64::from(run.sample_delta) / ticks)).collect()
    }

    fn length(&self) -> f64 {
        let media = &self.moov.trak[0].mdia.mdhd;
        media.duration as f64 / f64::from(media.timescale)
    }
}

/// The inverse of BT.709, limited range. Colours lie on the even columns, between the rows.
fn rgb(picture: &impl YUVSource) -> Image {
    let (width, height) = picture.dimensions();
    let (luma, stride, _) = picture.strides();
    let chroma = |plane: &[u8], x: usize, y: usize| {
        let near = y / 2;
        let far = if y.is_multiple_of(2) { near.saturating_sub(1) } else { (near + 1).min(height / 2 - 1) };
        let column = |x: usize| {
            let [near, far] = [near, far].map(|row| f64::from(plane[row * stride + x]));
            0.75 * near + 0.25 * far
        };
        (0.5 * (column(x / 2) + column(x.div_ceil(2).min(width / 2 - 1))) - 128.0) / 224.0
    };
    let mut pixels = Vec::new();
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let bright = (f64::from(picture.y()[y * luma + x]) - 16.0) / 219.0;
        let b = chroma(picture.u(), x, y) * 1.8556 + bright;
        let r = chroma(picture.v(), x, y) * 1.5748 + bright;
        let g = (bright - 0.2126 * r - 0.0722 * b) / 0.7152;
        pixels.extend([r, g, b].map(|v| (255.0 * v).round() as u8));
    }
    Image { width: width as u32, height: height as u32, pixels }
}

/// Signal-to-noise ratio of a picture \[dB\].
fn ratio(found: &Image, expected: &Image) -> f64 {
    assert_eq!((found.width, found.height), (expected.width, expected.height));
    let pairs = found.pixels.iter().zip(&expected.pixels);
    let sum: f64 = pairs.map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum();
    10.0 * (255.0_f64.powi(2) * found.pixels.len() as f64 / sum).log10()
}

fn assert_close(found: &Image, expected: &Image, what: &str) {
    let ratio = ratio(found, expected);
    println!("{what}: {ratio:.1} dB");
    assert!(ratio >= LEAST_RATIO, "{what}: {ratio:.1} dB");
}

/// A run of frames at `times` \[s\].
fn at_times(times: Vec<f64>) -> RandomRun {
    let mut source = RandomRun::new(6);
    source.frames = times.iter().map(|_| source.frames[0].clone()).collect();
    source.poses = times.iter().map(|_| source.poses[0].clone()).collect();
    source.times = times;
    source
}

fn video(source: &RandomRun, size: Option<[u32; 2]>) -> Result<Video, ExportError> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run.mp4");
    let options = ExportOptions { size, ..ExportOptions::default() };
    export_source(source, Format::Mp4, &out, &options, &mut go_on)?;
    Ok(Video::read(&out))
}

// Laws: a picture a frame, of the size asked for, shown until the time of the next; each is what was
// drawn, in the colours that the file says.
#[test]
fn a_video_shows_what_was_drawn() {
    let times = vec![-0.5, -0.46, -0.41, -0.3, 0.0, 0.05];
    let source = at_times(times.clone());
    for (size, expected) in [(None, [96, 64]), (Some([130, 46]), [130, 46])] {
        let video = video(&source, size).unwrap();
        assert_eq!(video.pictures.len(), times.len());
        let durations = video.durations();
        for (at, pair) in times.windows(2).enumerate() {
            assert!((durations[at] - (pair[1] - pair[0])).abs() < 2e-5, "{durations:?}");
        }
        assert!((video.length() - 0.6).abs() < 2e-5, "{}", video.length());
        let painter = source.painter().unwrap();
        for (at, picture) in video.pictures.iter().enumerate() {
            let drawn = painter.paint(at, expected[0], expected[1]).unwrap();
            assert_close(picture, &drawn, &format!("{expected:?} {at}"));
        }
        let table = &video.moov.trak[0].mdia.minf.stbl;
        assert_eq!(table.stss.as_ref().unwrap().entries, [1]);
        let Codec::Avc1(entry) = &table.stsd.codecs[0] else { panic!("not H.264") };
        assert_eq!([entry.visual.width, entry.visual.height], expected.map(|side| side as u16));
        let Some(Colr::Nclx { matrix_coefficients, full_range_flag, .. }) = entry.colr else {
            panic!("no colours")
        };
        assert_eq!((matrix_coefficients, full_range_flag), (1, false));
    }
}

// The bound is one that wrong colours do not reach: full range taken for limited, and the matrix of
// BT.601 for that of BT.709.
#[test]
fn wrong_colours_are_told_apart() {
    let drawn = at_times(vec![0.0]).painter().unwrap().paint(0, 96, 64).unwrap();
    let as_other = |change: fn([f64; 3]) -> [f64; 3]| {
        let changed = |p: &[u8]| change([p[0], p[1], p[2]].map(f64::from)).map(|v| v.round() as u8);
        Image { pixels: drawn.pixels.chunks_exact(3).flat_map(changed).collect(), ..drawn.clone() }
    };
    let range = as_other(|color| color.map(|v| 16.0 + v * 219.0 / 255.0));
    let matrix = as_other(|[r, g, b]| {
        let luma = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        let (r, b) = (luma + (r - luma) / 1.5748 * 1.402, luma + (b - luma) / 1.8556 * 1.772);
        [r, (luma - 0.299 * r - 0.114 * b) / 0.587, b]
    });
    for (wrong, what) in [(range, "range"), (matrix, "matrix")] {
        let ratio = ratio(&wrong, &drawn);
        println!("{what}: {ratio:.1} dB");
        assert!(ratio < LEAST_RATIO - 5.0, "{what}: {ratio:.1} dB");
    }
}

// At most 30 frames a second; the length is that of the run, which ends with the last frame. A video
// has a picture to jump to every two seconds.
#[test]
fn fast_frames_are_thinned_and_the_last_is_shown() {
    let video_of = |interval: f64, frames: usize| {
        video(&at_times((0..frames).map(|at| interval * at as f64).collect()), None).unwrap()
    };
    for (interval, frames, expected) in
        [(0.01, 13, 4), (0.01, 15, 5), (1.0 / 30.0, 9, 9), (0.02, 9, 5), (0.5, 3, 3), (1e-7, 40, 2)]
    {
        let video = video_of(interval, frames);
        let durations = video.durations();
        assert_eq!(durations.len(), expected, "{interval} {frames}");
        assert_eq!(video.pictures.len(), expected);
        let shown: f64 = durations[..expected - 1].iter().sum();
        let ran = interval * (frames - 1) as f64;
        assert!((shown - ran).abs() < 2e-5, "{shown} {ran}");
        let drawn = random::paint(frames - 1, 96, 64);
        assert_close(&video.pictures[expected - 1], &drawn, "the last");
    }
    let long = video_of(1.0 / 30.0, 130);
    let keys = &long.moov.trak[0].mdia.minf.stbl.stss.as_ref().unwrap().entries;
    assert_eq!(keys, &[1, 61, 121]);
    let lone = video_of(1.0, 1);
    assert_eq!(lone.durations(), [1.0]);
}

// Sizes that video does not have are refused before anything is drawn; frames days apart too.
#[test]
fn what_a_video_cannot_show_is_refused() {
    for size in [[97, 64], [96, 65], [14, 64], [4000, 64]] {
        let error = video(&at_times(vec![0.0, 1.0]), Some(size)).err().unwrap();
        let [w, h] = size;
        assert!(matches!(error, ExportError::VideoSize { width, height } if [width, height] == [w, h]));
    }
    let error = video(&at_times(vec![0.0, 1.0, 1e6]), None).err().unwrap();
    assert!(matches!(error, ExportError::VideoPause { frame: 1, .. }), "{error}");
}

// The video of a recorded run begins and ends with its pictures.
#[test]
fn a_recorded_run_is_filmed() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("run");
    let mut scene = builtin::scene("elastic-drop").unwrap().unwrap();
    scene.duration = 0.3;
    scene.output.picture_size = [320, 180];
    run(Scenario::new(&scene).unwrap(), RunOptions { pictures: false, ..RunOptions::new(&place) }).unwrap();
    let recording = Recording::open(&place).unwrap();
    let out = folder.path().join("run.mp4");
    export(&recording, Format::Mp4, &out, &ExportOptions::default(), &mut go_on).unwrap();
    let video = Video::read(&out);
    let renderer = FrameRenderer::new(&recording).unwrap();
    let last = recording.frame_count() - 1;
    for (picture, frame) in [(video.pictures.first(), 0), (video.pictures.last(), last)] {
        let drawn = renderer.draw(frame, 320, 180).unwrap();
        assert_close(picture.unwrap(), &drawn, &format!("frame {frame}"));
    }
    let ran = recording.frames()[last].time - recording.frames()[0].time;
    let durations = video.durations();
    let shown = video.length() - durations[durations.len() - 1];
    assert!((shown - ran).abs() < 1e-4, "{shown} {ran}");
}
