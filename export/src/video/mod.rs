//! Video: H.264 in an MP4 file. The frames are drawn as the run's pictures are, and shown at their
//! times.

mod colour;
mod container;
mod encoder;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use pliant_render::Image;
use rayon::prelude::*;

use crate::error::{ExportError, failed};
use crate::source::Paint;
use crate::staging::Staging;
use crate::take::{Progress, Take};
use container::{Index, TIMESCALE};
use encoder::{RATE, VideoEncoder};

/// Least time between frames \[s\]; those that come faster are thinned. A hundredth is for rounding.
const LEAST_INTERVAL: f64 = 0.99 / RATE;

/// How long the picture of a run of one frame is shown \[s\].
const LONE_FRAME: f64 = 1.0;

/// Sides \[pixels\]: colours are of two by two pixels, the encoder has blocks of 16 and these limits.
const LEAST_SIDE: u32 = 16;
const MOST_SIDES: [u32; 2] = [2160, 3840];

/// The sides of a video, which are even and within the limits of the encoder.
fn checked([width, height]: [u32; 2]) -> Result<[u32; 2], ExportError> {
    let [low, high] = [width.min(height), width.max(height)];
    let even = width.is_multiple_of(2) && height.is_multiple_of(2);
    if even && low >= LEAST_SIDE && low <= MOST_SIDES[0] && high <= MOST_SIDES[1] {
        return Ok([width, height]);
    }
    Err(ExportError::VideoSize { width, height })
}

/// Reads a size such as `960x540`: width and height \[pixels\].
///
/// # Errors
/// A text that says what is expected.
pub fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let number = |part: &str| part.parse::<u32>().ok().filter(|&side| side > 0);
    let sides = text.split_once('x').and_then(|(width, height)| Some([number(width)?, number(height)?]));
    sides.ok_or_else(|| format!("'{text}' is no size; WIDTHxHEIGHT in pixels is, as 960x540"))
}

/// Encodes the frames into a file of samples, some pictures at a time.
struct Reel<'a> {
    painter: &'a dyn Paint,
    size: [u32; 2],
    encoder: VideoEncoder,
    out: BufWriter<File>,
    path: &'a Path,
    index: Index,
    /// Frames that are not drawn yet.
    waiting: Vec<usize>,
    /// Pictures that are not encoded yet.
    drawn: Vec<(usize, Image)>,
}

impl Reel<'_> {
    fn add(&mut self, frame: usize) -> Result<(), ExportError> {
        self.waiting.push(frame);
        if self.waiting.len() < 2 * rayon::current_num_threads() { Ok(()) } else { self.advance() }
    }

    /// Draws what waits, and encodes meanwhile what was drawn before.
    fn advance(&mut self) -> Result<(), ExportError> {
        let Self { painter, size: [width, height], encoder, out, path, index, waiting, drawn } = self;
        let draw = || -> Result<Vec<(usize, Image)>, ExportError> {
            let one = |&frame| Ok((frame, painter.paint(frame, *width, *height)?));
            waiting.par_iter().map(one).collect()
        };
        let encode = || -> Result<(), ExportError> {
            for (frame, image) in drawn.iter() {
                let sample = encoder.encode(*frame, image)?;
                out.write_all(sample.bytes).map_err(failed("write", *path))?;
                index.add(sample.bytes.len(), sample.is_key);
            }
            Ok(())
        };
        let (next, encoded) = rayon::join(draw, encode);
        encoded?;
        self.drawn = next?;
        self.waiting.clear();
        Ok(())
    }
}

/// Writes the run to the file `path`; the samples lie in a file of `staging` meanwhile.
pub fn write(
    take: Take,
    size: Option<[u32; 2]>,
    staging: &Staging,
    path: &Path,
    progress: &mut Progress,
) -> Result<(), ExportError> {
    let size = checked(size.unwrap_or_else(|| take.picture_size()))?;
    let take = take.thinned(LEAST_INTERVAL);
    let durations = durations(&take)?;
    let painter = take.painter()?;
    let samples = staging.scratch("samples");
    let mut reel = Reel {
        painter: &*painter,
        size,
        encoder: VideoEncoder::new(size)?,
        out: BufWriter::new(File::create_new(&samples).map_err(failed("create", &samples))?),
        path: &samples,
        index: Index::default(),
        waiting: Vec::new(),
        drawn: Vec::new(),
    };
    take.each(progress, |moment| reel.add(moment.number))?;
    // Draws the last ones, then encodes them.
    reel.advance()?;
    reel.advance()?;
    let Reel { encoder, mut out, index, .. } = reel;
    out.flush().map_err(failed("write", &samples))?;
    let moov = index.describe(size, &encoder.parameters(), &durations);
    container::write(&moov, &samples, path)
}

/// How long each frame is shown, in ticks of the file; the last as long as the one before.
fn durations(take: &Take) -> Result<Vec<u32>, ExportError> {
    let tick = |time: f64| ((time - take.times[0]) * f64::from(TIMESCALE)).round();
    let mut durations = Vec::with_capacity(take.times.len());
    for (step, pair) in take.times.windows(2).enumerate() {
        let ticks = tick(pair[1]) - tick(pair[0]);
        if ticks > f64::from(u32::MAX) {
            let most = f64::from(u32::MAX) / f64::from(TIMESCALE);
            let (frame, seconds) = (take.number(step), pair[1] - pair[0]);
            return Err(ExportError::VideoPause { frame, seconds, most });
        }
        // Frames of one tick would be shown at the same time; they are shown a tick later.
        durations.push((ticks as u32).max(1));
    }
    durations.push(durations.last().copied().unwrap_or((LONE_FRAME * f64::from(TIMESCALE)) as u32));
    Ok(durations)
}

#[cfg(test)]
mod tests {
    use super::{checked, parse_size};

    // Odd sides, and those beyond the encoder, are refused in either direction.
    #[test]
    fn sides_are_even_and_within_the_limits() {
        for good in [[16, 16], [960, 540], [3840, 2160], [2160, 3840]] {
            assert_eq!(checked(good).unwrap(), good);
        }
        for bad in [[0, 540], [14, 16], [961, 540], [960, 541], [3842, 16], [2162, 2162]] {
            let said = checked(bad).unwrap_err().to_string();
            assert!(said.contains(&format!("{} x {}", bad[0], bad[1])), "{said}");
        }
    }

    // A size is two whole numbers above zero with an `x` between them.
    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("960x540"), Ok([960, 540]));
        for bad in ["", "960", "960x", "x540", "960x540x2", "0x540", "-1x540", "9.5x540", "960 x 540"] {
            assert!(parse_size(bad).unwrap_err().contains(bad), "{bad}");
        }
    }
}
