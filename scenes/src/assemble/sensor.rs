//! Sensors on bodies.

use nalgebra::Translation3;
use pliant_coupling::TactilePad;

use super::error::AssembleError;
use super::parts::RigidParts;
use crate::format::{Scene, Sensor};
use crate::isometry::isometry;

/// The tactile pads of a scene, on its bodies.
///
/// # Errors
/// [`AssembleError::Undefined`]: a link that the robot's file does not hold.
pub fn tactile_pads(scene: &Scene, parts: &RigidParts) -> Result<Vec<TactilePad>, AssembleError> {
    let pads = scene.sensors.iter().enumerate().map(|(at, sensor)| {
        let Sensor::TactilePad(pad) = sensor;
        let undefined =
            || AssembleError::Undefined { path: format!("sensors[{at}].body"), name: pad.body.clone() };
        let body = parts.builder.find(&pad.body).ok_or_else(undefined)?;
        Ok(TactilePad {
            name: pad.name.clone(),
            body,
            pose: Translation3::from(-parts.centers[body.0]) * isometry(&pad.pose),
            half_extents: pad.half_extents,
            bins: pad.bins.map(|bins| bins as usize),
            // Without a grid there are no particles.
            reach: pad.reach.or(scene.grid_spacing).unwrap_or(1.0),
        })
    });
    pads.collect()
}
