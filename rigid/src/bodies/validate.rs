//! Checks of a body before it is added.

use super::builder::BodiesBuilder;
use crate::body::BodyDesc;
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
        let shapes = desc.geometries.iter().map(|g| (&g.shape, &g.pose));
        let shapes = shapes.chain(desc.appearance.iter().map(|a| (&a.shape, &a.pose)));
        for (geometry, (shape, pose)) in shapes.enumerate() {
            shape.validate().map_err(|source| RigidError::Geometry {
                body: name.to_owned(),
                geometry,
                source,
            })?;
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
    let m = &geometry.material;
    let not_negative = |field, value: f64, unit| {
        if value.is_finite() && value >= 0.0 {
            Ok(())
        } else {
            Err(RigidError::value(body, field, value, unit, "finite and at least 0"))
        }
    };
    not_negative("geometry friction", m.dynamic_friction, "(no unit)")?;
    not_negative("geometry dissipation", m.dissipation, "s/m")?;
    if !(0.0..=1.0).contains(&m.restitution) {
        return Err(RigidError::value(body, "geometry restitution", m.restitution, "(no unit)", "in [0, 1]"));
    }
    not_negative("geometry stiffness", m.stiffness, "N/m")?;
    not_negative("geometry torsional friction", m.torsional_friction, "m")?;
    not_negative("geometry rolling friction", m.rolling_friction, "m")?;
    if let Some((field, value, unit, requirement)) = m.impedance.out_of_range() {
        return Err(RigidError::value(body, field, value, unit, requirement));
    }
    if m.stiffness == 0.0 {
        return Err(RigidError::value(body, "geometry stiffness", 0.0, "N/m", "positive"));
    }
    if !(m.static_friction.is_finite() && m.static_friction >= m.dynamic_friction) {
        let (field, requirement) = ("static friction", "finite and at least the dynamic coefficient");
        return Err(RigidError::value(body, field, m.static_friction, "(no unit)", requirement));
    }
    if let Some(adhesion) = geometry.adhesion {
        for (field, value, unit) in
            [("adhesion stress", adhesion.stress, "Pa"), ("adhesion range", adhesion.range, "m")]
        {
            if !(value.is_finite() && value > 0.0) {
                return Err(RigidError::value(body, field, value, unit, "finite and positive"));
            }
        }
    }
    Ok(())
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
