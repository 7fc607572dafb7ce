//! What the scene format describes and the world does not yet take.

use crate::assemble::AssembleError;
use crate::format::{Geometry, Joint, Motion, Rigid, Scene};

/// Why such a part is refused.
const REASON: &str = "is not connected to the world yet";

/// The error for the part at `path`.
pub(crate) fn unconnected(path: impl Into<String>) -> AssembleError {
    AssembleError::NotConnected { path: path.into(), reason: REASON }
}

/// Refuses a scene with such a part: running it without would be another scene.
pub(crate) fn refuse(scene: &Scene) -> Result<(), AssembleError> {
    if scene.soft.is_empty() {
        return Err(unconnected("soft: a scene without soft bodies"));
    }
    for (path, used) in [
        ("rigid", scene.rigid != Rigid::default()),
        ("robots", !scene.robots.is_empty()),
        ("actuators", !scene.actuators.is_empty()),
        ("forces", !scene.forces.is_empty()),
        ("constraints", !scene.constraints.is_empty()),
        ("controllers", !scene.controllers.is_empty()),
    ] {
        if used {
            return Err(unconnected(path));
        }
    }
    for (at, body) in scene.bodies.iter().enumerate() {
        if let Motion::Dynamic(dynamic) = &body.motion {
            let path = format!("bodies[{at}].motion");
            joint(&dynamic.joint, &path)?;
            let moves = |name: &str| {
                !scene.bodies.iter().any(|b| b.name == name && !matches!(b.motion, Motion::Dynamic(_)))
            };
            if dynamic.parent.as_deref().is_some_and(moves) {
                return Err(unconnected(format!("{path}.parent")));
            }
        }
        for (number, geometry) in body.geometries.iter().enumerate() {
            surface(geometry, &format!("bodies[{at}].geometries[{number}]"))?;
        }
    }
    Ok(())
}

/// The simple bodies have joints at the centre of mass, with damping and nothing else.
fn joint(joint: &Joint, path: &str) -> Result<(), AssembleError> {
    let beyond = joint
        .passives()
        .iter()
        .any(|p| [p.armature, p.friction_loss, p.stiffness] != [0.0; 3] || p.limits.is_some());
    let known = matches!(joint, Joint::Free {} | Joint::Fixed {} | Joint::Revolute(_) | Joint::Prismatic(_));
    if !known || beyond || joint.position().is_some() {
        return Err(unconnected(format!("{path}.joint")));
    }
    Ok(())
}

/// Only particles touch the simple bodies.
fn surface(geometry: &Geometry, path: &str) -> Result<(), AssembleError> {
    for (field, used) in [
        ("static_friction", geometry.static_friction.is_some()),
        ("stiffness", geometry.stiffness.is_some()),
        ("dissipation", geometry.dissipation.is_some()),
        ("collision", !geometry.collision),
        ("group", geometry.group != 1),
        ("mask", geometry.mask != u32::MAX),
    ] {
        if used {
            return Err(unconnected(format!("{path}.{field}")));
        }
    }
    Ok(())
}
