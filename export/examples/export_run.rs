//! Writes a run in other formats: `export_run RUN FORMAT OUT [STRIDE [WxH]]`, or, to test readers,
//! `export_run --random SEED FOLDER`: a random recording as PLY frames, tables, the pictures of its
//! first and last frame, and all formats.

use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

#[path = "../tests/random/mod.rs"]
mod random;

use pliant_export::{ExportOptions, Format, export, export_source, parse_size};
use pliant_io::ply::{FrameTriangles, write_frame};
use pliant_render::write_png;
use pliant_runner::recording::Recording;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--random", seed, folder] => write_random(seed.parse()?, Path::new(folder)),
        [run, format, out, more @ ..] => {
            let stride = more.first().map_or(Ok(1), |n| n.parse())?;
            let size = more.get(1).map(|size| parse_size(size)).transpose()?;
            let recording = Recording::open(run)?;
            let start = Instant::now();
            let mut go_on = |_, _| ControlFlow::Continue(());
            let options = ExportOptions { stride, size, ..ExportOptions::default() };
            let made = export(&recording, format.parse()?, Path::new(out), &options, &mut go_on)?;
            println!("{:.2} s: {}", start.elapsed().as_secs_f64(), made[0].display());
            Ok(())
        }
        _ => Err("usage: export_run RUN FORMAT OUT [STRIDE [WxH]] | --random SEED FOLDER".into()),
    }
}

/// A random recording as its originals and all exports.
fn write_random(seed: u64, folder: &Path) -> Result<()> {
    use pliant_export::Source;
    let source = random::RandomRun::new(seed);
    fs::create_dir_all(folder.join("frames"))?;
    let mut bodies = fs::File::create_new(folder.join("bodies.csv"))?;
    writeln!(bodies, "time,body,px,py,pz,qw,qx,qy,qz")?;
    let mut frames = fs::File::create_new(folder.join("frames.csv"))?;
    writeln!(frames, "frame,time")?;
    for (at, time) in source.times().into_iter().enumerate() {
        writeln!(frames, "{at},{time:?}")?;
        for (body, pose) in source.bodies().iter().zip(source.poses(at)) {
            let (p, q) = (pose.translation.vector, pose.rotation);
            write!(bodies, "{time:?},{},{:?},{:?},{:?},", body.name, p.x, p.y, p.z)?;
            writeln!(bodies, "{:?},{:?},{:?},{:?}", q.w, q.i, q.j, q.k)?;
        }
        let frame = source.frame(at)?;
        let cloth = FrameTriangles { corners: &frame.triangles, back_colors: &frame.back_colors };
        let path = folder.join(format!("frames/{at:06}.ply"));
        write_frame(path, &frame.particles, cloth, frame.fields, None)?;
    }
    let [width, height] = source.picture_size();
    for (name, frame) in [("first", 0), ("last", source.times.len() - 1)] {
        let image = source.painter()?.paint(frame, width, height)?;
        write_png(folder.join(format!("{name}.png")), &image)?;
    }
    for format in Format::ALL {
        let out = folder.join(format!("export{}", ending(format)));
        export_source(&source, format, &out, &ExportOptions::default(), &mut |_, _| {
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}

/// Folders have no ending of their own: that of a format is its name.
fn ending(format: Format) -> String {
    if format.ending().is_empty() { format!("_{}", format.name()) } else { format.ending().to_owned() }
}
