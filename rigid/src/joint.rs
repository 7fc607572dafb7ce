//! The joint of a body.

use nalgebra::{Point3, Unit, UnitQuaternion, Vector3};

use crate::multibody::{Dof, JointKind};

/// Degrees of freedom of a body relative to its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// The kind.
    pub kind: JointKind,
    /// Origin of the joint in the body frame \[m\].
    pub origin: Point3<f64>,
    /// Turn of the joint's frame in the body frame, where the body starts; the kind's directions
    /// are in the joint's frame.
    pub turn: UnitQuaternion<f64>,
    /// Damping, limits and the like of each degree of freedom; missing entries have none.
    pub dofs: Vec<Dof>,
}

impl Joint {
    /// A joint at the body's origin, without damping.
    pub fn new(kind: JointKind) -> Self {
        Self { kind, origin: Point3::origin(), turn: UnitQuaternion::identity(), dofs: Vec::new() }
    }

    /// A free joint, without a parent.
    pub fn free() -> Self {
        Self::new(JointKind::Free)
    }

    /// Moves with its parent.
    pub fn fixed() -> Self {
        Self::new(JointKind::Fixed)
    }

    /// Turns about `axis` through the body's origin, with viscous damping \[N m s/rad\].
    pub fn revolute(axis: Unit<Vector3<f64>>, damping: f64) -> Self {
        Self { dofs: vec![Dof { damping, ..Dof::default() }], ..Self::new(JointKind::Revolute { axis }) }
    }

    /// Slides along `axis`, with viscous damping \[N s/m\].
    pub fn prismatic(axis: Unit<Vector3<f64>>, damping: f64) -> Self {
        Self { dofs: vec![Dof { damping, ..Dof::default() }], ..Self::new(JointKind::Prismatic { axis }) }
    }
}
