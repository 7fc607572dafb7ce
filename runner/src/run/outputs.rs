//! Outputs of a run besides its frames.

use crate::picture::{PREVIEW_GIF, PREVIEW_PNG};
use crate::plots::PLOTS;
use crate::record::{
    BODIES, DIAGNOSTICS, FORCES, FRAME_LIST, JOINTS, ROBOT_SENSORS, SENSORS, TACTILE, force_bodies,
    has_joints, has_robot_sensors,
};
use pliant_coupling::World;
use pliant_scenes::format::Scene;

/// Paths in the run directory of the tables of a scene's run, in `world`, and, with `pictures`, of
/// its plots and pictures.
pub(super) fn outputs(scene: &Scene, world: &World, pictures: bool) -> Vec<String> {
    let mut files = [DIAGNOSTICS, BODIES, FRAME_LIST].map(str::to_owned).to_vec();
    if !force_bodies(&scene.output).is_empty() {
        files.push(FORCES.to_owned());
    }
    if has_joints(world) {
        files.push(JOINTS.to_owned());
    }
    if has_robot_sensors(world) {
        files.push(ROBOT_SENSORS.to_owned());
    }
    if !scene.sensors.is_empty() {
        files.push(SENSORS.to_owned());
    }
    files.extend(pads(scene, "csv"));
    if pictures {
        files.extend(pictures_of(scene));
    }
    files
}

/// Paths in the run directory of the plots and pictures of a scene's run.
pub(super) fn pictures_of(scene: &Scene) -> impl Iterator<Item = String> {
    let plots = scene.output.plots.iter().map(|plot| format!("{PLOTS}/{}.svg", plot.name));
    let previews = [PREVIEW_PNG, PREVIEW_GIF].map(str::to_owned);
    let all: Vec<_> = plots.chain(pads(scene, "png")).chain(pads(scene, "gif")).chain(previews).collect();
    all.into_iter()
}

/// The files of the tactile pads.
fn pads(scene: &Scene, kind: &str) -> Vec<String> {
    scene.sensors.iter().map(|sensor| format!("{TACTILE}/{}.{kind}", sensor.name())).collect()
}
