//! Scene files.

use std::path::PathBuf;

use pliant_coupling::{AutoOr, CouplingStep};
use pliant_scenes::Scenario;
use pliant_scenes::format::{
    ClothShape, Integrator, RigidShape, Scene, SoftShape, goals_within_duration, parse_scene, validate,
};

use crate::checks::{message, sandbox};

/// Largest number of particles of a scene that is built.
const PARTICLES: f64 = 2000.0;
/// Largest number of its bodies, and of their shapes.
const BODIES: usize = 12;
/// Largest number of substeps, or of rigid steps, in the step that is taken.
const SUBSTEPS: u32 = 8;

/// A scene that is read is the same after it was written and read again. One that is valid and
/// small can be built, or says why not, and then takes a step, or says why not.
pub fn scene(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut scene = match parse_scene(text) {
        Ok(scene) => scene,
        Err(error) => {
            assert!(error.line <= text.lines().count().max(1) + 1, "line {} of {text:?}", error.line);
            return message::check(&error.to_string());
        }
    };
    let Ok(written) = serde_json::to_string_pretty(&scene) else { panic!("the scene cannot be written") };
    match parse_scene(&written) {
        Ok(again) => assert!(again == scene, "the scene changed: {scene:?} became {again:?}"),
        Err(error) => panic!("the scene that was written cannot be read: {error}\n{written}"),
    }
    if let Err(error) = validate(&scene) {
        return message::lines(&error.to_string());
    }
    if let Err(error) = goals_within_duration(&scene) {
        message::lines(&error.to_string());
    }
    if !is_small(&scene) || !place_files(&mut scene) {
        return;
    }
    match Scenario::new(&scene) {
        Ok(mut scenario) if takes_short_steps(&scene) => {
            scenario.warnings.iter().for_each(|warning| message::check(warning));
            if let Err(error) = scenario.step() {
                message::check(&error.to_string());
            }
        }
        Ok(_) => {}
        Err(error) => message::lines(&error.to_string()),
    }
}

/// Whether the world takes little memory and time to build.
fn is_small(scene: &Scene) -> bool {
    let copies = scene.copies.map_or(1, |copies| copies.count as usize);
    let geometries = scene.bodies.iter().flat_map(|body| &body.geometries);
    let heights = geometries.clone().map(|geometry| match &geometry.shape {
        RigidShape::HeightField { heights, .. } => heights.iter().map(Vec::len).sum(),
        RigidShape::ConvexHull { points } => points.len(),
        _ => 0,
    });
    scene.bodies.len().saturating_mul(copies) <= BODIES
        && geometries.count().saturating_mul(copies) <= 2 * BODIES
        && heights.sum::<usize>() <= 100
        && scene.robots.len() <= 1
        && scene.tasks.is_empty()
        && scene.soft.len() + scene.cloths.len() + scene.ropes.len() <= 4
        && scene.sensors.len() <= 2
        && particles(scene) <= PARTICLES
}

/// About how many particles a scene has.
fn particles(scene: &Scene) -> f64 {
    let spacing = scene.grid_spacing.unwrap_or(1.0);
    let soft = scene.soft.iter().map(|soft| {
        let half = match soft.shape {
            SoftShape::Box { half_extents } => half_extents,
            SoftShape::Sphere { radius } => [radius; 3],
            SoftShape::Cylinder { radius, half_length } => [radius, radius, half_length],
            // Those of the sandbox are about a metre long.
            SoftShape::Mesh { scale, .. } => [scale; 3],
        };
        let between = match soft.sampling.spacing {
            AutoOr::Auto => 0.5 * spacing,
            AutoOr::Value(between) => between,
        };
        match soft.sampling.counts {
            Some(counts) => counts.iter().map(|&n| f64::from(n)).product::<f64>(),
            None => half.iter().map(|x| 2.0 * x / between + 1.0).product(),
        }
    });
    let cloths = scene.cloths.iter().map(|cloth| match &cloth.shape {
        ClothShape::Rectangle { parts, .. } => 3.0 * f64::from(parts[0]) * f64::from(parts[1]),
        ClothShape::Pillow { parts, .. } => 6.0 * f64::from(parts[0]) * f64::from(parts[1]),
        ClothShape::Sphere { parts, .. } => 30.0 * f64::from(*parts).powi(2),
        ClothShape::Disc { rings, .. } => 9.0 * f64::from(*rings).powi(2),
        ClothShape::TShirt(shirt) => {
            let between = match shirt.spacing {
                AutoOr::Auto => spacing,
                AutoOr::Value(between) => between,
            };
            let area = (shirt.chest_width + 2.0 * shirt.sleeve_length) * shirt.length;
            10.0 * area / (between * between)
        }
        ClothShape::Trousers(trousers) => {
            let between = match trousers.spacing {
                AutoOr::Auto => spacing,
                AutoOr::Value(between) => between,
            };
            let hips = trousers.waist_width.max(2.0 * trousers.leg_opening + trousers.leg_distance);
            10.0 * hips * trousers.length / (between * between)
        }
        ClothShape::Mesh { .. } => 100.0,
    });
    let ropes = scene.ropes.iter().map(|rope| rope.segment_count(spacing));
    soft.sum::<f64>() + cloths.sum::<f64>() + ropes.sum::<f64>()
}

/// Whether a step of the world consists of few substeps.
fn takes_short_steps(scene: &Scene) -> bool {
    let few = |step: Option<f64>| step.is_none_or(|step| step * f64::from(SUBSTEPS) >= scene.dt);
    let has_particles = !scene.soft.is_empty() || !scene.cloths.is_empty() || !scene.ropes.is_empty();
    let is_short = matches!(scene.substeps, AutoOr::Value(n) if n <= SUBSTEPS)
        && scene.coupling_step == CouplingStep::Fixed;
    (is_short || !has_particles)
        && scene.solver.max_iterations <= 1000
        && scene.solver.max_inner_iterations <= 500
        && match scene.rigid.integrator {
            Integrator::Fixed { step } | Integrator::Trapezoid { step } => few(step),
            Integrator::ErrorControlled { .. } => false,
        }
}

/// Puts the files that a scene names into the sandbox; false if one is not there.
fn place_files(scene: &mut Scene) -> bool {
    let mut contained = true;
    let mut place = |file: &mut PathBuf| {
        contained &= file.to_str().is_some_and(|file| !file.contains("://") && sandbox::holds(file));
        *file = sandbox::folder().join(&*file);
    };
    for soft in &mut scene.soft {
        if let SoftShape::Mesh { file, .. } = &mut soft.shape {
            place(file);
        }
    }
    for cloth in &mut scene.cloths {
        if let ClothShape::Mesh { file, .. } = &mut cloth.shape {
            place(file);
        }
    }
    for geometry in scene.bodies.iter_mut().flat_map(|body| &mut body.geometries) {
        if let RigidShape::Mesh { file, .. } = &mut geometry.shape {
            place(file);
        }
    }
    scene.robots.iter_mut().filter_map(|robot| robot.file.as_mut()).for_each(&mut place);
    contained
}
