//! Robots' files: MJCF and URDF.

use pliant_import::{ImportError, Imported, from_mjcf, from_urdf};
use pliant_rigid::collision::CollisionModel;
use pliant_rigid::simulation::{Collisions, Integrator, Simulation};

use super::{message, sandbox};

/// Largest mechanism that is simulated \[links\], and most shapes on it.
const LINKS: usize = 24;
/// The step \[s\].
const STEP: f64 = 1e-3;

/// Whether all files that the text names are in the sandbox. Text that is no XML names none.
fn is_contained(text: &str) -> bool {
    let Ok(document) = roxmltree::Document::parse(text) else { return true };
    let mut attributes = document.descendants().flat_map(|node| node.attributes());
    attributes.all(|attribute| match attribute.name() {
        "file" | "filename" | "meshdir" | "assetdir" | "texturedir" => {
            sandbox::holds(attribute.value().trim())
        }
        _ => true,
    })
}

fn finite<'a>(mut numbers: impl Iterator<Item = &'a f64>) -> bool {
    numbers.all(|x| x.is_finite())
}

/// A mechanism that is read has finite masses and a finite state that fits it, names in its
/// warnings, and takes steps to another finite state or says why it cannot.
fn robot(read: Result<Imported, ImportError>) {
    let robot = match read {
        Ok(robot) => robot,
        Err(error) => return message::check(&error.to_string()),
    };
    robot.warnings.iter().for_each(|warning| message::check(&warning.to_string()));
    let model = &robot.system.model;
    assert!(robot.state.validate(model).is_ok(), "the state does not fit: {:?}", robot.state.validate(model));
    assert!(robot.keyframes.iter().all(|key| key.state.validate(model).is_ok()), "a keyframe does not fit");
    for link in model.links() {
        let inertia = &link.inertia;
        assert!(inertia.mass.is_finite() && inertia.mass >= 0.0, "'{}' of {} kg", link.name, inertia.mass);
        assert!(finite(inertia.inertia.iter()), "'{}' has the inertia {:?}", link.name, inertia.inertia);
    }
    assert!(robot.system.validate().is_ok(), "the system is not valid");
    for input in &robot.inputs {
        assert!(input.actuator < robot.system.actuators.len(), "'{}' drives nothing", input.name);
    }
    if model.links().len() > LINKS || robot.geometries.len() > LINKS {
        return;
    }
    let scene = CollisionModel::new(robot.geometries, model, &robot.excluded);
    let scene = match scene.and_then(|scene| scene.with_pairs(&robot.pairs)) {
        Ok(scene) => scene,
        Err(error) => return message::check(&error.to_string()),
    };
    let source = Collisions::new(scene, 1e-4);
    let simulation = Simulation::new(robot.system, source, Integrator::Fixed { step: STEP }, robot.state);
    match simulation {
        Ok(mut simulation) => match simulation.advance_to(2.0 * STEP) {
            Ok(_) => {
                let state = simulation.state();
                assert!(finite(state.q.iter().chain(&state.v)), "not finite after two steps: {state:?}");
            }
            Err(error) => message::check(&error.to_string()),
        },
        Err(error) => message::check(&error.to_string()),
    }
}

/// An MJCF file.
pub fn mjcf(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if is_contained(text) {
        robot(from_mjcf(text, sandbox::folder()));
    }
}

/// A URDF file.
pub fn urdf(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if is_contained(text) {
        robot(from_urdf(text, sandbox::folder()));
    }
}
