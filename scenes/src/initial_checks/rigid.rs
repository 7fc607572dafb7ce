//! Bodies in bodies.

use std::collections::BTreeMap;

use pliant_coupling::World;
use pliant_rigid::Body;
use pliant_rigid::collision::Detector;
use pliant_rigid::multibody::{Kinematics, LinkId};

use super::{Overlap, OverlapError, is_allowed};
use crate::format::Scene;

/// Largest overlap of bodies at the start, relative to the bounding sphere's radius of the smaller
/// geometry. A contact's dissipation d bounds the speed at which it separates them to 1/d.
pub const RIGID_OVERLAP: f64 = 2e-3;

/// Refuses pairs of geometries that may touch and start inside each other by more than
/// [`RIGID_OVERLAP`] and by more than the contact's compression under the weight of the lighter.
/// Returns those of links of one robot as warnings: shapes of robot files often overlap.
pub(crate) fn bodies_in_bodies(scene: &Scene, world: &World) -> Result<Vec<String>, OverlapError> {
    let simulation = world.bodies().simulation();
    let (model, touchable) = (&simulation.system().model, simulation.source().scene());
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, simulation.state());
    let pose_of = |link: LinkId| *kinematics.pose(link);
    let bodies: Vec<&Body> =
        world.bodies().iter().flat_map(|(_, body)| body.geometries.iter().map(move |_| body)).collect();
    let gravity = world.gravity().norm();
    let mut found: BTreeMap<(usize, usize), Overlap> = BTreeMap::new();
    let mut take = |a: usize, b: usize, depth: f64, place: [f64; 3]| {
        let pair = [a, b].map(|k| &touchable.geometries()[k]);
        let mass = |link: Option<LinkId>| {
            link.filter(|link| model.tree_of(*link).is_some()).map(|link| model.links()[link.0].inertia.mass)
        };
        let lighter = pair.iter().filter_map(|g| mass(g.link)).fold(f64::INFINITY, f64::min);
        let stiffness = touchable.contact_material(a, b).stiffness;
        let at_rest = if lighter.is_finite() { lighter * gravity / stiffness } else { 0.0 };
        let balls = pair.iter().filter_map(|g| g.shape.bounding_sphere());
        let size = balls.map(|(_, radius)| radius).fold(f64::INFINITY, f64::min);
        let limit = at_rest.max(if size.is_finite() { RIGID_OVERLAP * size } else { 0.0 });
        if depth > limit && found.get(&(a, b)).is_none_or(|known| depth > known.depth) {
            let (first, second) = (label(&bodies[a].name), label(&bodies[b].name));
            found.insert((a, b), Overlap { first, second, depth, place, limit });
        }
    };
    let mut contacts = Vec::new();
    Detector::new().detect(touchable, pose_of, 0.0, &mut contacts);
    for contact in &contacts {
        take(contact.a, contact.b, -contact.distance, contact.point.into());
    }
    let (mut warnings, mut overlaps) = (Vec::new(), Vec::new());
    for ((a, b), overlap) in found {
        let [a, b] = [&bodies[a].name, &bodies[b].name];
        if is_allowed(scene, a) || is_allowed(scene, b) {
            continue;
        }
        let robot = |name: &str| name.split_once('/').map(|(robot, _)| robot.to_owned());
        match (robot(a), robot(b)) {
            (Some(first), Some(second)) if first == second => warnings.push(overlap.to_string()),
            _ => overlaps.push(overlap),
        }
    }
    if overlaps.is_empty() { Ok(warnings) } else { Err(OverlapError { overlaps }) }
}

fn label(name: &str) -> String {
    format!("body `{name}`")
}
