//! The velocity of the grid: that of a frame in which the scene is about at rest.
//!
//! The transfers between particles and grid smooth the motion relative to the grid, so results of a
//! scene that moves as a whole through a grid at rest would differ from those at rest: collisions
//! at 30 m/s differed by up to 10 %. So the grid moves with the scene. It has the velocity of the
//! largest fixed or prescribed body (a floor, a table, a tool), and without one that of the
//! particles' centre of mass. Both are the same in every inertial frame. A scene on a floor at
//! rest, or with boundaries of the grid, has a grid at rest.

use nalgebra::Vector3;
use pliant_rigid::{Bodies, Body, BodyId, Shape};

use crate::settings::{GridMotion, Settings};

/// The largest fixed or prescribed body; the first of equally large ones.
pub(crate) fn largest_given(bodies: &Bodies) -> Option<BodyId> {
    let size = |body: &Body| {
        let endless = body.geometries.iter().any(|g| matches!(g.shape, Shape::HalfSpace));
        if endless { f64::INFINITY } else { body.reach() }
    };
    let given = bodies.iter().filter(|(id, body)| !(bodies.is_dynamic(*id) || body.geometries.is_empty()));
    let mut largest: Option<(BodyId, f64)> = None;
    for (id, body) in given {
        if largest.is_none_or(|(_, most)| size(body) > most) {
            largest = Some((id, size(body)));
        }
    }
    largest.map(|(id, _)| id)
}

/// Velocity of the grid in a coupling step that begins, world frame [m/s]: that of `body` if given,
/// else `mean`, that of the particles.
pub(crate) fn frame_velocity(
    settings: &Settings,
    bodies: &Bodies,
    body: Option<BodyId>,
    mean: Vector3<f64>,
) -> Vector3<f64> {
    match body {
        _ if settings.grid_motion == GridMotion::Fixed || !settings.boundaries.is_empty() => Vector3::zeros(),
        Some(body) => bodies.velocity(body).linear,
        None => mean,
    }
}
