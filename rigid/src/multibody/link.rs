//! Links, and the trees that they form.

use nalgebra::Isometry3;

use super::algebra::RigidInertia;
use super::joint::JointKind;
use crate::compliance::LimitCompliance;

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
    /// Passive properties of each degree of freedom.
    pub dofs: Vec<Dof>,
}

/// Passive properties of a degree of freedom. Units of a revolute one; for a prismatic one N and m
/// replace N m and rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dof {
    /// Viscous damping \[N m s/rad\].
    pub damping: f64,
    /// Rotor inertia of motor and gears, as it acts at the joint \[kg m^2\].
    pub armature: f64,
    /// Dry friction: its largest torque \[N m\].
    pub friction_loss: f64,
    /// Stiffness of a spring \[N m/rad\].
    pub stiffness: f64,
    /// Position at which the spring is at rest \[rad\].
    pub reference: f64,
    /// Lower and upper limit of the position \[rad\]; infinite without a limit.
    pub limits: [f64; 2],
    /// Compliance of the limits; `None` for near-rigid ones.
    pub limit_compliance: Option<LimitCompliance>,
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
            limit_compliance: None,
        }
    }
}

/// Links that share degrees of freedom: a moving child of the world (or of a link welded to it)
/// with all its descendants. Trees do not share degrees of freedom, so the mass matrix has a block
/// for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// First degree of freedom.
    pub first_velocity: usize,
    /// Number of degrees of freedom.
    pub velocities: usize,
    /// Its links, parents first.
    pub links: Vec<LinkId>,
}

/// Indices of a link's tree, positions and velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkIndices {
    pub first_position: usize,
    pub first_velocity: usize,
    /// `None` for a link welded to the world.
    pub tree: Option<usize>,
}
