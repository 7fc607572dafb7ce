//! Outputs of a run besides its frames.

use crate::picture::{PREVIEW_GIF, PREVIEW_PNG};
use crate::plots::PLOTS;
use crate::record::{BODIES, DIAGNOSTICS, FORCES, FRAME_LIST, JOINTS, SENSORS, TACTILE, force_bodies};
use pliant_scenes::format::Scene;

/// Paths in the run directory of the tables of a scene's run, whose world has `joints` or not, and,
/// with `pictures`, of its plots and pictures.
pub(super) fn outputs(scene: &Scene, joints: bool, pictures: bool) -> Vec<String> {
    let mut files = [DIAGNOSTICS, BODIES, FRAME_LIST].map(str::to_owned).to_vec();
    if !force_bodies(&scene.output).is_empty() {
        files.push(FORCES.to_owned());
    }
    if joints {
        files.push(JOINTS.to_owned());
    }
    if !scene.sensors.is_empty() {
        files.push(SENSORS.to_owned());
    }
    let pads = |kind: &str| {
        let path = |sensor: &pliant_scenes::format::Sensor| format!("{TACTILE}/{}.{kind}", sensor.name());
        scene.sensors.iter().map(path).collect::<Vec<_>>()
    };
    files.extend(pads("csv"));
    if pictures {
        files.extend(scene.output.plots.iter().map(|plot| format!("{PLOTS}/{}.svg", plot.name)));
        files.extend(pads("png"));
        files.extend(pads("gif"));
        files.extend([PREVIEW_PNG, PREVIEW_GIF].map(str::to_owned));
    }
    files
}
