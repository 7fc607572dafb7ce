//! Joints of bodies that a scene describes itself: degrees of freedom, and passive properties.

use pliant_rigid::multibody::Dof;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of joint. Its coordinates are zero at the body's `pose`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum JointSpec {
    /// Six degrees of freedom.
    Free {},
    /// No degree of freedom: the body is welded to its parent.
    Fixed {},
    /// Turning about an axis. Coordinate: the angle.
    Revolute(AxisJoint),
    /// Sliding along an axis. Coordinate: the distance.
    Prismatic(AxisJoint),
    /// Turning about one axis of the parent, then about one of the body: a Cardan joint.
    /// Coordinates: the two angles.
    Universal(UniversalJoint),
    /// Moving in a plane and turning about its normal. Coordinates: x, y, angle.
    Planar(PlanarJoint),
    /// Turning freely about a point.
    Ball(BallJoint),
}

/// A joint with one axis. For a prismatic joint N and m replace N m and rad.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxisJoint {
    /// Direction of the axis in the body's frame; its length does not matter [-].
    pub axis: [f64; 3],
    /// A point of the axis, in the body's frame; left out, the centre of mass [m].
    #[serde(default)]
    pub position: Option<[f64; 3]>,
    /// Viscous damping [N m s/rad, N s/m].
    #[serde(default)]
    pub damping: f64,
    /// Armature: rotor inertia of motor and gears as it acts at the joint [kg m^2, kg].
    #[serde(default)]
    pub armature: f64,
    /// Dry friction: its largest effort [N m, N].
    #[serde(default)]
    pub friction_loss: f64,
    /// Stiffness of a spring [N m/rad, N/m].
    #[serde(default)]
    pub stiffness: f64,
    /// Coordinate at which the spring is at rest [rad, m].
    #[serde(default)]
    pub reference: f64,
    /// Least and greatest coordinate; null for none [rad, m].
    #[serde(default)]
    pub limits: Option<[f64; 2]>,
}

/// A Cardan joint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniversalJoint {
    /// The two axes in the body's frame as it stands at the start, the one on the parent first; not
    /// parallel [-].
    pub axes: [[f64; 3]; 2],
    /// Where the axes cross, in the body's frame; left out, the centre of mass [m].
    #[serde(default)]
    pub position: Option<[f64; 3]>,
    /// Viscous damping about each axis [N m s/rad].
    #[serde(default)]
    pub damping: [f64; 2],
    /// Inertia of motor and gears about each axis [kg m^2].
    #[serde(default)]
    pub armature: [f64; 2],
    /// Dry friction about each axis [N m].
    #[serde(default)]
    pub friction_loss: [f64; 2],
    /// Stiffness of a spring about each axis [N m/rad].
    #[serde(default)]
    pub stiffness: [f64; 2],
    /// Angles at which the springs are at rest [rad].
    #[serde(default)]
    pub reference: [f64; 2],
    /// Least and greatest angle of each; null for none [rad].
    #[serde(default)]
    pub limits: [Option<[f64; 2]>; 2],
}

/// A joint that allows motion in a plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlanarJoint {
    /// Turn of the joint's frame in the body's as it stands at the start, as a unit quaternion
    /// (w, x, y, z); the plane is its xy plane [-].
    pub orientation: [f64; 4],
    /// Origin of the joint's frame in the body's; left out, the centre of mass [m].
    pub position: Option<[f64; 3]>,
    /// Viscous damping of x, y and angle [N s/m, N s/m, N m s/rad].
    pub damping: [f64; 3],
    /// Inertia of motors and gears of x, y and angle [kg, kg, kg m^2].
    pub armature: [f64; 3],
    /// Dry friction of x, y and angle [N, N, N m].
    pub friction_loss: [f64; 3],
    /// Stiffness of a spring of x, y and angle [N/m, N/m, N m/rad].
    pub stiffness: [f64; 3],
    /// Coordinates at which the springs are at rest [m, m, rad].
    pub reference: [f64; 3],
    /// Least and greatest x, y and angle; null for none [m, m, rad].
    pub limits: [Option<[f64; 2]>; 3],
}

impl Default for PlanarJoint {
    fn default() -> Self {
        Self {
            orientation: [1.0, 0.0, 0.0, 0.0],
            position: None,
            damping: [0.0; 3],
            armature: [0.0; 3],
            friction_loss: [0.0; 3],
            stiffness: [0.0; 3],
            reference: [0.0; 3],
            limits: [None; 3],
        }
    }
}

/// A joint that turns about a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BallJoint {
    /// The point, in the body's frame; left out, the centre of mass [m].
    pub position: Option<[f64; 3]>,
    /// Viscous damping about each axis [N m s/rad].
    pub damping: f64,
    /// Inertia of motors and gears about each axis [kg m^2].
    pub armature: f64,
    /// Dry friction about each axis [N m].
    pub friction_loss: f64,
}

impl JointSpec {
    /// The degrees of freedom, in order, and whether each of them turns; otherwise it slides.
    pub fn dofs(&self) -> Vec<(bool, Dof)> {
        match self {
            Self::Fixed {} => Vec::new(),
            // Angular velocities come first.
            Self::Free {} => (0..6).map(|d| (d < 3, Dof::default())).collect(),
            Self::Revolute(joint) => vec![(true, joint.dof())],
            Self::Prismatic(joint) => vec![(false, joint.dof())],
            Self::Universal(j) => {
                let figures = [&j.damping, &j.armature, &j.friction_loss, &j.stiffness, &j.reference];
                several([true; 2], figures, &j.limits)
            }
            Self::Planar(j) => {
                let figures = [&j.damping, &j.armature, &j.friction_loss, &j.stiffness, &j.reference];
                several([false, false, true], figures, &j.limits)
            }
            Self::Ball(j) => {
                let BallJoint { damping, armature, friction_loss, .. } = *j;
                vec![(true, Dof { damping, armature, friction_loss, ..Dof::default() }); 3]
            }
        }
    }

    /// Whether each degree of freedom has a coordinate of its own; rotations of ball and free
    /// joints have none.
    pub fn has_coordinates(&self) -> bool {
        !matches!(self, Self::Fixed {} | Self::Free {} | Self::Ball(_))
    }

    /// Origin of the joint's frame in the body's [m]; none if it is the centre of mass, or if there
    /// is no such frame.
    pub fn position(&self) -> Option<[f64; 3]> {
        match self {
            Self::Free {} | Self::Fixed {} => None,
            Self::Revolute(joint) | Self::Prismatic(joint) => joint.position,
            Self::Universal(joint) => joint.position,
            Self::Planar(joint) => joint.position,
            Self::Ball(joint) => joint.position,
        }
    }
}

/// Least and greatest coordinate; infinite where there are none.
fn limits(given: Option<[f64; 2]>) -> [f64; 2] {
    given.unwrap_or([f64::NEG_INFINITY, f64::INFINITY])
}

/// Degrees of freedom of a joint that has a list of each figure: damping, armature, dry friction,
/// stiffness, reference.
fn several<const N: usize>(
    turns: [bool; N],
    [damping, armature, friction_loss, stiffness, reference]: [&[f64; N]; 5],
    given: &[Option<[f64; 2]>; N],
) -> Vec<(bool, Dof)> {
    let dof = |d: usize| Dof {
        damping: damping[d],
        armature: armature[d],
        friction_loss: friction_loss[d],
        stiffness: stiffness[d],
        reference: reference[d],
        limits: limits(given[d]),
        limit_compliance: None,
    };
    (0..N).map(|d| (turns[d], dof(d))).collect()
}

impl AxisJoint {
    fn dof(&self) -> Dof {
        Dof {
            damping: self.damping,
            armature: self.armature,
            friction_loss: self.friction_loss,
            stiffness: self.stiffness,
            reference: self.reference,
            limits: limits(self.limits),
            limit_compliance: None,
        }
    }
}
