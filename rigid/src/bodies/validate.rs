//! Checks of a body before it is added.

use super::builder::BodiesBuilder;
use crate::body::{Adhesion, BodyDesc};
use crate::error::RigidError;
use crate::id::BodyId;
use crate::joint::Joint;
use crate::motion::Motion;
use crate::multibody::JointKind;
use crate::spatial::{is_pose, is_unit};
use nalgebra::Vector3;

const POSE: &str = "finite with a unit quaternion";

impl BodiesBuilder {
    pub(super) fn validate(&self, desc: &BodyDesc) -> Result<(), RigidError> {
        let name = desc.name.as_str();
        if self.find(name).is_some() {
            return Err(RigidError::DuplicateName { name: name.to_owned() });
        }
        if !is_pose(&desc.pose) {
            return Err(RigidError::Invalid { body: name.to_owned(), field: "pose", requirement: POSE });
        }
        let shapes = desc.geometries.iter().map(|g| (g.shape.validate(), &g.pose));
        let shapes = shapes.chain(desc.appearance.iter().map(|a| (a.shape.validate(), &a.pose)));
        for (geometry, (checked, pose)) in shapes.enumerate() {
            checked.map_err(|source| RigidError::Geometry { body: name.to_owned(), geometry, source })?;
            if !is_pose(pose) {
                let field = "geometry pose";
                return Err(RigidError::Invalid { body: name.to_owned(), field, requirement: POSE });
            }
        }
        for geometry in &desc.geometries {
            check_material(name, geometry)?;
        }
        let Motion::Dynamic { parent, joint, mass, force, torque, velocity, .. } = &desc.motion else {
            return Ok(());
        };
        mass.validate(name)?;
        check_finite(name, "force", force)?;
        check_finite(name, "torque", torque)?;
        check_finite(name, "angular velocity", &velocity.angular)?;
        check_finite(name, "linear velocity", &velocity.linear)?;
        check_joint(name, joint)?;
        parent.map_or(Ok(()), |parent| self.check_parent(name, parent, joint))
    }

    fn check_parent(&self, body: &str, parent: BodyId, joint: &Joint) -> Result<(), RigidError> {
        let refuse = |reason| Err(RigidError::Parent { body: body.to_owned(), parent: parent.0, reason });
        if joint.kind == JointKind::Free {
            return refuse("is given to a free joint, which has none");
        }
        if parent.0 >= self.len() {
            return refuse("does not exist (parents are added before their children)");
        }
        Ok(())
    }
}

fn check_material(body: &str, geometry: &crate::body::Geometry) -> Result<(), RigidError> {
    let adhesion = geometry.adhesion.iter().flat_map(Adhesion::out_of_range);
    match geometry.material.out_of_range().chain(adhesion).next() {
        Some(f) => Err(RigidError::value(body, f.field, f.value, f.unit, f.requirement)),
        None => Ok(()),
    }
}

fn check_joint(body: &str, joint: &Joint) -> Result<(), RigidError> {
    let invalid = |field, requirement| Err(RigidError::Invalid { body: body.to_owned(), field, requirement });
    let unit = match &joint.kind {
        JointKind::Revolute { axis } | JointKind::Prismatic { axis } => is_unit(axis.norm()),
        JointKind::Universal { first, second } => is_unit(first.norm()) && is_unit(second.norm()),
        _ => true,
    };
    if !unit {
        return invalid("joint axis", "of length 1");
    }
    if joint.dofs.len() > joint.kind.velocities() {
        return invalid("joint", "of as many degrees of freedom as it gives figures for");
    }
    if joint.origin.iter().any(|x| !x.is_finite()) {
        return invalid("joint origin", "finite");
    }
    for dof in &joint.dofs {
        if !(dof.damping.is_finite() && dof.damping >= 0.0) {
            let requirement = "finite and at least 0";
            return Err(RigidError::value(body, "joint damping", dof.damping, "N m s or N s/m", requirement));
        }
    }
    Ok(())
}

fn check_finite(body: &str, field: &'static str, v: &Vector3<f64>) -> Result<(), RigidError> {
    if v.iter().all(|x| x.is_finite()) {
        Ok(())
    } else {
        Err(RigidError::Invalid { body: body.to_owned(), field, requirement: "finite" })
    }
}
