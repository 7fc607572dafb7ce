//! Rigid bodies: motion, mass and geometries.

use std::path::PathBuf;

use pliant_rigid::Adhesion;
use pliant_rigid::comfree::ImpedanceCurve;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::Pose;
use super::joint::JointSpec;

/// A rigid body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BodySpec {
    /// Name, for messages, paths and `bodies.csv`; unique among bodies and robots.
    pub name: String,
    /// How the body moves.
    pub motion: Motion,
    /// Its shapes.
    #[serde(default)]
    pub geometries: Vec<Geometry>,
}

/// How a body moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Motion {
    /// Static.
    Fixed {
        /// The body's frame in the world.
        #[serde(default)]
        pose: Pose,
    },
    /// It follows poses: linear in position and constant in angular velocity between keyframes, at
    /// rest before the first and after the last.
    PrescribedPoses {
        /// The keyframes, in order of time; at least one.
        keyframes: Vec<PoseKeyframe>,
    },
    /// It follows velocities, constant from each keyframe to the next; at rest before the first.
    PrescribedVelocities {
        /// The body's frame in the world at the start.
        #[serde(default)]
        pose: Pose,
        /// The keyframes, in order of time; at least one.
        keyframes: Vec<VelocityKeyframe>,
    },
    /// It moves by its dynamics, on a joint.
    Dynamic(Box<Dynamic>),
}

/// A pose at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoseKeyframe {
    /// Time since the start [s].
    pub time: f64,
    /// Origin of the body in the world [m].
    pub position: [f64; 3],
    /// Orientation of the body in the world as a unit quaternion (w, x, y, z) [-].
    #[serde(default = "no_turn")]
    pub orientation: [f64; 4],
}

/// A velocity from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VelocityKeyframe {
    /// Time since the start [s].
    pub time: f64,
    /// Velocity of the body's origin, world frame [m/s].
    #[serde(default)]
    pub linear: [f64; 3],
    /// Angular velocity, world frame [rad/s].
    #[serde(default)]
    pub angular: [f64; 3],
}

/// A body that moves by its dynamics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dynamic {
    /// The body's frame in the world at the start, where the joint's coordinate is zero.
    #[serde(default)]
    pub pose: Pose,
    /// The joint of the body.
    pub joint: JointSpec,
    /// Name of the body that the joint is on: one listed before this one, or the link `robot/link`
    /// of a robot; null for the world.
    #[serde(default)]
    pub parent: Option<String>,
    /// Density of the body's geometries [kg/m^3], which gives mass, centre and inertia; give this
    /// or `mass`.
    #[serde(default)]
    pub density: Option<f64>,
    /// Mass [kg]; give this or `density`.
    #[serde(default)]
    pub mass: Option<f64>,
    /// Moments of inertia about the body's x, y and z axes through the centre of mass [kg m^2].
    /// Left out, they are those of the geometries, scaled to `mass`. Only with `mass`.
    #[serde(default)]
    pub inertia: Option<[f64; 3]>,
    /// Centre of mass in the body's frame [m]. Left out, it is that of the geometries, or the
    /// origin where there are none. Only with `mass`.
    #[serde(default)]
    pub center_of_mass: Option<[f64; 3]>,
    /// Initial velocity of the centre of mass, world frame [m/s]. Of a jointed body only the part
    /// along the joint's degrees of freedom is used. Omitted or zero for a joint that turns about a
    /// point, it follows from the angular velocity.
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Initial angular velocity, world frame [rad/s]. Of a jointed body only the part along the
    /// joint's degrees of freedom is used.
    #[serde(default)]
    pub angular_velocity: [f64; 3],
    /// Constant force on the centre of mass, world frame [N].
    #[serde(default)]
    pub applied_force: [f64; 3],
    /// Constant torque on the body, world frame [N m].
    #[serde(default)]
    pub applied_torque: [f64; 3],
    /// Whether gravity acts on the body.
    #[serde(default = "yes")]
    pub gravity: bool,
}

/// A shape on a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Geometry {
    /// The shape, in its own frame.
    pub shape: RigidShape,
    /// The shape's frame in the body's.
    #[serde(default)]
    pub pose: Pose,
    /// Coulomb friction coefficient against particles, and dynamic friction coefficient against
    /// other bodies [-]. A contact of two geometries has the harmonic mean of their coefficients, 2
    /// mu1 mu2/(mu1 + mu2), and no friction if one is 0. Particles have no coefficient of their
    /// own: this one applies, except for granular material with rough walls.
    #[serde(default = "usual_friction")]
    pub friction: f64,
    /// Static friction coefficient against other bodies, at least `friction`; default `friction`
    /// [-]. Two geometries have the harmonic mean, as of `friction`. It does not apply to
    /// particles.
    #[serde(default)]
    pub static_friction: Option<f64>,
    /// Stiffness against other bodies; left out, that of the scene's `rigid` [N/m].
    #[serde(default)]
    pub stiffness: Option<f64>,
    /// Hunt-Crossley dissipation against other bodies; left out, that of the scene's `rigid` [s/m].
    #[serde(default)]
    pub dissipation: Option<f64>,
    /// Coefficient of restitution against other bodies, in [0, 1] [-]: ratio of the normal speeds
    /// after and before an impact. A contact has the mean of both, with more weight on the softer
    /// one. With 0, rebound follows from stiffness and dissipation, as far as the step resolves it.
    /// Default: that of the scene's `rigid`.
    #[serde(default)]
    pub restitution: Option<f64>,
    /// Torsional friction with the closed-form solver: largest moment about the contact normal over
    /// the normal force [m]. A contact of two geometries has the harmonic mean.
    #[serde(default)]
    pub torsional_friction: f64,
    /// Rolling friction, likewise [m].
    #[serde(default)]
    pub rolling_friction: f64,
    /// Impedance of the closed-form solver; default: MuJoCo's.
    #[serde(default)]
    pub impedance: ImpedanceCurve,
    /// Adhesion of particles; default: none.
    #[serde(default)]
    pub adhesion: Option<Adhesion>,
    /// Whether it collides. If not, it is drawn and has mass, but no contact.
    #[serde(default = "yes")]
    pub collision: bool,
    /// Bit mask of its collision groups: two geometries collide if each is in a group of the
    /// other's mask [-].
    #[serde(default = "first_group")]
    pub group: u32,
    /// Bit mask of the groups that it can touch [-].
    #[serde(default = "all_groups")]
    pub mask: u32,
    /// Colour in pictures: red, green, blue, sRGB, 0 to 255 [-].
    #[serde(default = "steel")]
    pub color: [u8; 3],
}

impl Geometry {
    /// A shape at the body's origin, with the default of every other field.
    pub fn new(shape: RigidShape) -> Self {
        Self {
            shape,
            pose: Pose::default(),
            friction: usual_friction(),
            static_friction: None,
            stiffness: None,
            dissipation: None,
            restitution: None,
            torsional_friction: 0.0,
            rolling_friction: 0.0,
            impedance: ImpedanceCurve::default(),
            adhesion: None,
            collision: true,
            group: first_group(),
            mask: all_groups(),
            color: steel(),
        }
    }
}

/// The shapes that a rigid body touches with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RigidShape {
    /// Everything below the plane z = 0 of the shape's frame.
    HalfSpace {},
    /// A box about the origin.
    Box {
        /// Half of each edge [m].
        half_extents: [f64; 3],
    },
    /// A sphere about the origin.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// A cylinder with round ends, about the origin, its axis along z.
    Capsule {
        /// Radius [m].
        radius: f64,
        /// Half of the length of the straight part [m].
        half_length: f64,
    },
    /// A cylinder about the origin, its axis along z.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Half of the length along the axis [m].
        half_length: f64,
    },
    /// An ellipsoid about the origin, its axes along x, y and z.
    Ellipsoid {
        /// Half of each axis [m].
        half_axes: [f64; 3],
    },
    /// The solid below a surface of triangles through a grid of heights, centred on z.
    HeightField {
        /// Heights above z = 0: rows along y, each of heights along x; at least 2 x 2 [m].
        heights: Vec<Vec<f64>>,
        /// Distance between neighbours along x and y [m].
        spacing: [f64; 2],
        /// Thickness of the solid below its lowest height: more than any penetration [m].
        #[serde(default = "one")]
        depth: f64,
    },
    /// The convex hull of points.
    ConvexHull {
        /// The points; at least four, not in one plane [m].
        points: Vec<[f64; 3]>,
    },
    /// A closed triangle mesh, used without a convex hull.
    Mesh {
        /// OBJ, STL or PLY file; a relative path is relative to the scene file.
        file: PathBuf,
        /// Factor from the file's length unit to metres, so 0.001 for a file in millimetres [m].
        #[serde(default = "one")]
        scale: f64,
    },
}

fn one() -> f64 {
    1.0
}

pub(super) fn yes() -> bool {
    true
}

fn no_turn() -> [f64; 4] {
    [1.0, 0.0, 0.0, 0.0]
}

fn usual_friction() -> f64 {
    0.5
}

fn first_group() -> u32 {
    1
}

fn all_groups() -> u32 {
    u32::MAX
}

fn steel() -> [u8; 3] {
    [120, 140, 160]
}
