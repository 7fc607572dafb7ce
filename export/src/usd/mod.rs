//! Universal Scene Description as text (`.usda`, "usda 1.0"): a stage with the bodies, and a layer
//! for each frame of particles and cloth, which the stage shows as value clips.
//!
//! One layer for all would be parsed whole before anything is seen; with clips a viewer reads the
//! frame that it shows. There is no library of USD for Rust that needs no C++ build of USD; the text
//! form is a documented grammar, and the parts of it used here are few.

mod bodies;
mod soft;
mod text;

use std::fs;
use std::path::Path;

use crate::error::{ExportError, failed};
use crate::take::{Progress, Take};
use text::{Text, number};

/// The file to open.
pub const STAGE: &str = "stage.usda";

/// The layer that says which attributes the clips have.
const MANIFEST: &str = "clips/manifest.usda";

/// Time codes a second: frames, so that players step from one to the next; 24 if there is one frame.
fn rate(times: &[f64]) -> f64 {
    match times {
        [first, second, ..] => 1.0 / (second - first),
        _ => 24.0,
    }
}

/// Writes the run into the empty `folder`.
pub fn write(take: &Take, folder: &Path, progress: &mut Progress) -> Result<(), ExportError> {
    let rate = rate(&take.times);
    let codes: Vec<f64> = take.times.iter().map(|time| time * rate).collect();
    fs::create_dir(folder.join("clips")).map_err(failed("create", folder.join("clips")))?;
    let manifest = format!("{}{}", head("Soft", ""), soft::declared(take));
    let has_soft = !take.first.particles.is_empty();
    if has_soft {
        fs::write(folder.join(MANIFEST), manifest).map_err(failed("write", folder.join(MANIFEST)))?;
    }
    let mut motion = bodies::Motion::new(take.bodies().len());
    take.each(progress, |moment| {
        motion.add(codes[moment.step], moment.poses);
        if has_soft {
            let layer =
                format!("{}{}", head("Soft", ""), soft::sampled(take, moment.frame, codes[moment.step]));
            let path = folder.join(clip(moment.step));
            fs::write(&path, layer).map_err(failed("write", path))?;
        }
        Ok(())
    })?;
    let mut stage = Text::default();
    let (start, end) = (number(codes[0]), number(codes[codes.len() - 1]));
    let rate = number(rate);
    stage.0.push_str(&head(
        "World",
        &format!(
            "    startTimeCode = {start}\n    endTimeCode = {end}\n    timeCodesPerSecond = {rate}\n    \
             framesPerSecond = {rate}\n"
        ),
    ));
    stage.line("def Xform \"World\"\n{");
    bodies::write(&mut stage, take, &motion);
    if has_soft {
        stage.line("    def Xform \"Soft\" (");
        stage.0.push_str(&clips(&codes));
        stage.line("    )\n    {");
        stage.0.push_str(&soft::fixed(take));
        stage.line("    }");
    }
    stage.line("}");
    let path = folder.join(STAGE);
    fs::write(&path, stage.0).map_err(failed("write", path))
}

/// The first lines of a layer.
fn head(root: &str, more: &str) -> String {
    format!(
        "#usda 1.0\n(\n    defaultPrim = \"{root}\"\n    metersPerUnit = 1\n    upAxis = \"Z\"\n{more})\n\n"
    )
}

/// The layer of a frame, as seen from the stage.
fn clip(step: usize) -> String {
    format!("clips/{step:06}.usda")
}

/// The metadata that shows the layers one after the other.
fn clips(codes: &[f64]) -> String {
    let mut text = Text::default();
    let join = |items: Vec<String>| items.join(", ");
    let paths = join((0..codes.len()).map(|step| format!("@./{}@", clip(step))).collect());
    let active = join(codes.iter().enumerate().map(|(step, code)| format!("({code:?}, {step})")).collect());
    let times = join(codes.iter().map(|code| format!("({code:?}, {code:?})")).collect());
    text.line("        clips = {\n            dictionary default = {");
    text.line(format!("                double2[] active = [{active}]"));
    text.line(format!("                asset[] assetPaths = [{paths}]"));
    text.line(format!("                asset manifestAssetPath = @./{MANIFEST}@"));
    text.line("                string primPath = \"/Soft\"");
    text.line(format!("                double2[] times = [{times}]"));
    text.line("            }\n        }");
    text.0
}
