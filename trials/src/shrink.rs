//! From a scene that fails to the smallest that still does: delta debugging (Zeller and Hildebrandt
//! 2002) over the parts of a scene.

use super::builders::dynamics;
use super::record::steps_of;
use pliant_scenes::format::{AutoOr, JointSpec, Motion, Pose, Scene};

/// The smallest scene found for which `fails` still holds; it must hold for `scene`. Tries at most
/// `tries` scenes.
pub fn shrink(scene: &Scene, tries: usize, mut fails: impl FnMut(&Scene) -> bool) -> Scene {
    let mut smallest = scene.clone();
    let mut left = tries;
    // Removing one thing may make others removable, so all are tried again until nothing can be
    // removed.
    loop {
        let mut shrunk = false;
        let mut at = 0;
        // A successful step shortens the list: the same index then has the next step.
        while let Some(smaller) = candidates(&smallest).into_iter().nth(at) {
            if left == 0 {
                return smallest;
            }
            at += 1;
            if smaller == smallest {
                continue;
            }
            left -= 1;
            if fails(&smaller) {
                smallest = smaller;
                at = at.saturating_sub(1);
                shrunk = true;
            }
        }
        if !shrunk {
            return smallest;
        }
    }
}

/// Scenes that are one step smaller, the largest steps first.
fn candidates(scene: &Scene) -> Vec<Scene> {
    let mut all = Vec::new();
    let mut with = |edit: &mut dyn FnMut(&mut Scene)| {
        let mut smaller = scene.clone();
        edit(&mut smaller);
        all.push(smaller);
    };
    for at in 0..scene.bodies.len() {
        with(&mut |s| {
            s.bodies.remove(at);
        });
    }
    for at in 0..scene.soft.len() {
        with(&mut |s| {
            s.soft.remove(at);
        });
    }
    for at in 0..scene.cloths.len() {
        with(&mut |s| {
            s.cloths.remove(at);
        });
        with(&mut |s| s.cloths[at].pins.clear());
        with(&mut |s| s.cloths[at].gas = None);
        with(&mut |s| s.cloths[at].material.weave = None);
        with(&mut |s| s.cloths[at].material.bending_friction = None);
        with(&mut |s| s.cloths[at].material.tearing = None);
    }
    for at in 0..scene.ropes.len() {
        with(&mut |s| {
            s.ropes.remove(at);
        });
        with(&mut |s| s.ropes[at].pins.clear());
        with(&mut |s| s.ropes[at].twist = 0.0);
    }
    with(&mut |s| s.forces.clear());
    with(&mut |s| s.constraints.clear());
    with(&mut |s| s.actuators.clear());
    with(&mut |s| s.controllers.clear());
    for part in [4.0, 2.0, 1.25] {
        with(&mut |s| s.duration = ((steps_of(s) as f64 / part).ceil() * s.dt).min(s.duration));
    }
    let plain = Scene::empty(&scene.name, scene.duration, scene.dt);
    with(&mut |s| s.rigid = plain.rigid);
    with(&mut |s| s.rigid_solver = plain.rigid_solver);
    with(&mut |s| s.solver = plain.solver);
    with(&mut |s| s.contact = plain.contact);
    with(&mut |s| s.coupling = plain.coupling);
    with(&mut |s| s.substeps = AutoOr::Auto);
    with(&mut |s| s.gravity = [0.0; 3]);
    for at in 0..scene.soft.len() {
        with(&mut |s| s.soft[at].velocity = [0.0; 3]);
        with(&mut |s| s.soft[at].angular_velocity = [0.0; 3]);
        with(&mut |s| s.soft[at].pose.orientation = Pose::default().orientation);
        with(&mut |s| s.soft[at].sampling.jitter = 0.0);
    }
    for at in 0..scene.bodies.len() {
        with(&mut |s| body(s, at, |dynamic| dynamic.velocity = [0.0; 3]));
        with(&mut |s| body(s, at, |dynamic| dynamic.angular_velocity = [0.0; 3]));
        with(&mut |s| body(s, at, |dynamic| dynamic.pose.orientation = Pose::default().orientation));
        with(&mut |s| body(s, at, |dynamic| dynamic.joint = JointSpec::Free {}));
        for geometry in 0..scene.bodies[at].geometries.len() {
            with(&mut |s| s.bodies[at].geometries[geometry].friction = 0.0);
            with(&mut |s| {
                s.bodies[at].geometries.remove(geometry);
            });
        }
    }
    for digits in [1, 2, 3] {
        with(&mut |s| {
            if let Some(rounded) = rounded(s, digits) {
                *s = rounded;
            }
        });
    }
    all
}

fn body(scene: &mut Scene, at: usize, edit: impl FnOnce(&mut pliant_scenes::format::Dynamic)) {
    if let Motion::Dynamic(dynamic) = &mut scene.bodies[at].motion
        && dynamic.parent.is_none()
    {
        edit(dynamic);
    }
}

/// The scene with all numbers except quaternions rounded to some significant digits.
fn rounded(scene: &Scene, digits: i32) -> Option<Scene> {
    let mut json = serde_json::to_value(scene).ok()?;
    round(&mut json, digits);
    serde_json::from_value(json).ok()
}

fn round(value: &mut serde_json::Value, digits: i32) {
    use serde_json::Value;
    match value {
        Value::Number(number) => {
            if let Some(x) = number.as_f64().filter(|_| number.is_f64())
                && x != 0.0
            {
                let unit = 10f64.powi(digits - 1 - x.abs().log10().floor() as i32);
                *value = ((x * unit).round() / unit).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| round(item, digits)),
        Value::Object(fields) => {
            // Quaternions must keep their unit length.
            let sizes =
                fields.iter_mut().filter(|(name, _)| *name != "orientation" && *name != "schema_version");
            sizes.for_each(|(_, item)| round(item, digits));
        }
        _ => {}
    }
}

/// Size of a scene, for tables: bodies, soft bodies, cloths and ropes.
pub fn size(scene: &Scene) -> usize {
    dynamics(scene).count() + scene.soft.len() + scene.cloths.len() + scene.ropes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family;
    use crate::sampler::SceneSampler;

    // Checks: a scene with many parts and a defect that one fast body causes is reduced to that
    // body alone.
    #[test]
    fn a_planted_defect_is_shrunk_to_what_shows_it() {
        let mut sampler = SceneSampler::new(5, "shrink", 0);
        let mut scene = (family("drops").unwrap().draw)(&mut sampler).scene;
        scene.bodies.iter_mut().for_each(|body| {
            if let Motion::Dynamic(dynamic) = &mut body.motion {
                dynamic.velocity[0] = 3.21;
            }
        });
        let fast = |scene: &Scene| dynamics(scene).any(|(_, dynamic)| dynamic.velocity[0] > 3.0);
        assert!(fast(&scene) && size(&scene) > 1);
        let mut tried = 0;
        let smallest = shrink(&scene, 1000, |scene| {
            tried += 1;
            fast(scene)
        });
        assert!(fast(&smallest));
        assert_eq!((size(&smallest), smallest.bodies.len(), smallest.soft.len()), (1, 1, 0), "{smallest:?}");
        assert!(smallest.bodies[0].geometries.is_empty() && smallest.duration <= scene.dt * 1.001);
        assert!(tried <= 1000, "{tried}");
    }
}
