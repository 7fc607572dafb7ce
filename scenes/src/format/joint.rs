//! Joints of bodies that a scene describes itself: degrees of freedom, and passive properties.

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

/// Further properties of one degree of freedom. Units of a rotation; for a translation N and m
/// replace N m and rad.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Passive {
    /// Whether it turns; otherwise it slides.
    pub turns: bool,
    /// Viscous damping [N m s/rad].
    pub damping: f64,
    /// Inertia of motor and gears [kg m^2].
    pub armature: f64,
    /// Dry friction [N m].
    pub friction_loss: f64,
    /// Stiffness of a spring [N m/rad].
    pub stiffness: f64,
    /// Coordinate at which the spring is at rest [rad].
    pub reference: f64,
    /// Least and greatest coordinate [rad].
    pub limits: Option<[f64; 2]>,
}

impl JointSpec {
    /// The degrees of freedom, in order.
    pub fn passives(&self) -> Vec<Passive> {
        let turning = Passive { turns: true, ..Passive::default() };
        match self {
            Self::Fixed {} => Vec::new(),
            // Angular velocities come first.
            Self::Free {} => (0..6).map(|d| Passive { turns: d < 3, ..turning }).collect(),
            Self::Revolute(joint) => vec![joint.passive(true)],
            Self::Prismatic(joint) => vec![joint.passive(false)],
            Self::Universal(j) => (0..2)
                .map(|d| Passive {
                    turns: true,
                    damping: j.damping[d],
                    armature: j.armature[d],
                    friction_loss: j.friction_loss[d],
                    stiffness: j.stiffness[d],
                    reference: j.reference[d],
                    limits: j.limits[d],
                })
                .collect(),
            Self::Planar(j) => (0..3)
                .map(|d| Passive {
                    turns: d == 2,
                    damping: j.damping[d],
                    armature: j.armature[d],
                    friction_loss: j.friction_loss[d],
                    stiffness: j.stiffness[d],
                    reference: j.reference[d],
                    limits: j.limits[d],
                })
                .collect(),
            Self::Ball(j) => {
                let BallJoint { damping, armature, friction_loss, .. } = *j;
                vec![Passive { damping, armature, friction_loss, ..turning }; 3]
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

impl AxisJoint {
    fn passive(&self, turns: bool) -> Passive {
        Passive {
            turns,
            damping: self.damping,
            armature: self.armature,
            friction_loss: self.friction_loss,
            stiffness: self.stiffness,
            reference: self.reference,
            limits: self.limits,
        }
    }
}
