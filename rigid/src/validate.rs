//! Checks of a body before it is added.

use crate::bodies::{Bodies, Kind};
use crate::body::{BodyDesc, BodyId};
use crate::error::RigidError;
use crate::joint::Joint;
use crate::motion::Motion;
use crate::spatial::{is_pose, is_unit};
use nalgebra::Vector3;

const POSE: &str = "finite with a unit quaternion";

impl Bodies {
    pub(crate) fn validate(&self, desc: &BodyDesc) -> Result<(), RigidError> {
        let name = desc.name.as_str();
        if self.time != 0.0 {
            return Err(RigidError::AddedAfterStart { body: name.to_owned(), time: self.time });
        }
        if self.find(name).is_some() {
            return Err(RigidError::DuplicateName { name: name.to_owned() });
        }
        if !is_pose(&desc.pose) {
            return Err(RigidError::Invalid { body: name.to_owned(), field: "pose", requirement: POSE });
        }
        for (k, geometry) in desc.geometries.iter().enumerate() {
            geometry.shape.validate().map_err(|source| RigidError::Geometry {
                body: name.to_owned(),
                geometry: k,
                source,
            })?;
            check_not_negative(name, "geometry friction", geometry.friction, "(no unit)")?;
            if !is_pose(&geometry.pose) {
                let field = "geometry pose";
                return Err(RigidError::Invalid { body: name.to_owned(), field, requirement: POSE });
            }
        }
        match &desc.motion {
            Motion::Fixed => Ok(()),
            Motion::Prescribed(trajectory) => trajectory.validate(name, &desc.pose),
            Motion::Dynamic { parent, joint, mass, force, torque, velocity, .. } => {
                mass.validate(name)?;
                check_finite(name, "force", force)?;
                check_finite(name, "torque", torque)?;
                check_finite(name, "angular velocity", &velocity.angular)?;
                check_finite(name, "linear velocity", &velocity.linear)?;
                check_joint(name, joint)?;
                parent.map_or(Ok(()), |parent| self.check_parent(name, parent, joint))
            }
        }
    }

    fn check_parent(&self, body: &str, parent: BodyId, joint: &Joint) -> Result<(), RigidError> {
        let refuse = |reason| Err(RigidError::Parent { body: body.to_owned(), parent: parent.0, reason });
        if matches!(joint, Joint::Free) {
            return refuse("is given to a free joint, which has none");
        }
        match self.kinds.get(parent.0) {
            None => refuse("does not exist (parents are added before their children)"),
            Some(Kind::Still | Kind::Follows(_)) => Ok(()),
            Some(Kind::Held { .. } | Kind::Jointed(_) | Kind::Free(_)) => {
                refuse("is dynamic; it must be fixed or prescribed")
            }
        }
    }
}

fn check_joint(body: &str, joint: &Joint) -> Result<(), RigidError> {
    let (axis, damping, unit) = match joint {
        Joint::Fixed | Joint::Free => return Ok(()),
        Joint::Revolute { axis, damping } => (axis, *damping, "N m s"),
        Joint::Prismatic { axis, damping } => (axis, *damping, "N s/m"),
    };
    if !is_unit(axis.norm()) {
        let requirement = "of length 1";
        return Err(RigidError::Invalid { body: body.to_owned(), field: "joint axis", requirement });
    }
    check_not_negative(body, "joint damping", damping, unit)
}

fn check_not_negative(
    body: &str,
    field: &'static str,
    value: f64,
    unit: &'static str,
) -> Result<(), RigidError> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        Err(RigidError::value(body, field, value, unit, "finite and at least 0"))
    }
}

fn check_finite(body: &str, field: &'static str, v: &Vector3<f64>) -> Result<(), RigidError> {
    if v.iter().all(|x| x.is_finite()) {
        Ok(())
    } else {
        Err(RigidError::Invalid { body: body.to_owned(), field, requirement: "finite" })
    }
}
