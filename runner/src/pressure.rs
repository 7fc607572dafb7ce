//! Pictures of the pressure on tactile pads: a still of the frame with the largest load, an
//! animation of all frames.

use std::path::Path;

use crate::picture::{GIF_FRAMES, spread};
use crate::record::{Manifest, PadFrame, TACTILE, read_pad};
use pliant_io::files::{IoError, atomic_write};
use pliant_render::{GifWriter, HeatMap, Image, heat_map, write_png};
use pliant_scenes::format::{Sensor, TactilePad};

/// Shortest time of a picture in an animation \[s\]: viewers slow down shorter ones.
const SHORTEST: f64 = 0.02;

/// Writes `tactile/NAME.png` and `tactile/NAME.gif` of every pad of a run directory.
///
/// # Errors
/// A pad's table cannot be read, or a picture not be written.
pub fn pictures(directory: &Path, manifest: &Manifest) -> Result<(), IoError> {
    for sensor in &manifest.scene.sensors {
        let Sensor::TactilePad(pad) = sensor;
        let bins = pad.bins[0] as usize * pad.bins[1] as usize;
        let frames = read_pad(directory, &pad.name, bins)?;
        let path = |kind: &str| directory.join(TACTILE).join(format!("{}.{kind}", pad.name));
        let load = |frame: &PadFrame| frame.pressure.iter().sum::<f64>();
        let Some(loaded) = frames.iter().max_by(|a, b| load(a).total_cmp(&load(b))) else { continue };
        write_png(path("png"), &draw(pad, loaded, most(loaded)))?;
        let shown = spread(frames.len(), GIF_FRAMES);
        let stride = (frames.len() as f64 - 1.0).max(1.0) / (shown.len() as f64 - 1.0).max(1.0);
        let time = (stride * manifest.scene.output.frame_interval).max(SHORTEST);
        // One scale, so that brightness can be compared over time.
        let scale = frames.iter().map(most).fold(0.0, f64::max);
        let first = draw(pad, loaded, scale);
        atomic_write(path("gif"), |out| {
            let mut gif = GifWriter::new(out, first.width, first.height, time)?;
            for at in shown {
                gif.add(&draw(pad, &frames[at], scale))?;
            }
            gif.finish().map(drop)
        })?;
    }
    Ok(())
}

fn most(frame: &PadFrame) -> f64 {
    frame.pressure.iter().copied().fold(0.0, f64::max)
}

fn draw(pad: &TactilePad, frame: &PadFrame, most: f64) -> Image {
    let [x, y] = pad.half_extents;
    let area = 4.0 * x * y / frame.pressure.len() as f64;
    let force = frame.pressure.iter().sum::<f64>() * area;
    let force = if force < 1e5 { format!("{force:.3}") } else { format!("{force:.3e}") };
    // Fixed width, so that all pictures of an animation have one size.
    let caption = format!("{}  t = {:9.3} s  {force:>10} N", pad.name, frame.time);
    heat_map(&HeatMap {
        values: &frame.pressure,
        columns: pad.bins[0] as usize,
        aspect: x / y,
        most,
        unit: "Pa",
        caption: &caption,
    })
}
