//! Links and the trees that they make.

use nalgebra::Isometry3;

use super::algebra::RigidInertia;
use super::joint::JointKind;

/// The number of a link in its model, in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub usize);

/// A rigid body and the joint that holds it to its parent. The origin and axes of the link are
/// those of the joint's frame M.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Name, unique in the model.
    pub name: String,
    /// The link that the joint is on; `None` is the world. Parents come before their children.
    pub parent: Option<LinkId>,
    /// The joint.
    pub joint: JointKind,
    /// The joint's frame F in the parent's frame.
    pub frame: Isometry3<f64>,
    /// Mass and its moments about the link's origin, in the link's axes. Zero for a link that only
    /// connects.
    pub inertia: RigidInertia,
    /// Whether gravity acts on it.
    pub gravity: bool,
    /// What each degree of freedom of the joint has besides.
    pub dofs: Vec<Dof>,
}

/// Passive properties of a degree of freedom. Units of a turning one; of a sliding one N and m take
/// the place of N m and rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dof {
    /// Viscous damping \[N m s/rad\].
    pub damping: f64,
    /// Inertia of the motor and gears, as felt at the joint \[kg m^2\].
    pub armature: f64,
    /// Dry friction: the largest torque it resists with \[N m\].
    pub friction_loss: f64,
    /// Stiffness of a spring \[N m/rad\].
    pub stiffness: f64,
    /// Position at which the spring is at rest \[rad\].
    pub reference: f64,
    /// Least and greatest position \[rad\]; infinite where there is no limit.
    pub limits: [f64; 2],
}

impl Default for Dof {
    fn default() -> Self {
        Self {
            damping: 0.0,
            armature: 0.0,
            friction_loss: 0.0,
            stiffness: 0.0,
            reference: 0.0,
            limits: [f64::NEG_INFINITY, f64::INFINITY],
        }
    }
}

/// Links that move together: everything that hangs on one moving child of the world (or of what is
/// welded to it). Trees do not share degrees of freedom, so the mass matrix has a block for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// First degree of freedom.
    pub first_velocity: usize,
    /// Number of degrees of freedom.
    pub velocities: usize,
    /// Its links, parents first.
    pub links: Vec<LinkId>,
}

/// Where a link's numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkIndices {
    pub first_position: usize,
    pub first_velocity: usize,
    /// `None` for a link welded to the world.
    pub tree: Option<usize>,
}
