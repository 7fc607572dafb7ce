//! The scene file: a JSON object that describes all that a run needs.
//!
//! Units are SI, the world frame is right-handed with z up, quaternions are (w, x, y, z). Unknown
//! fields are errors. [`schema`] is the JSON Schema; every field's description ends with its unit
//! in brackets.

// The descriptions are the text of the schema, where a bracket needs no escape.
#![allow(rustdoc::broken_intra_doc_links)]

mod body;
mod cloth;
mod common;
mod copies;
mod drive;
mod fabric;
mod garment;
mod gas;
mod goal;
mod joint;
pub mod limits;
mod output;
mod parse;
mod plots;
mod rigid;
mod robot;
mod rope;
mod scene;
mod scene_serde;
mod sensor;
mod set;
mod sighting;
mod signal;
mod soft;
mod spread;
mod task;
mod validate;
mod weave;

#[cfg(test)]
mod tests;

pub use body::{BodySpec, Dynamic, Geometry, Motion, PoseKeyframe, RigidShape, VelocityKeyframe};
pub(crate) use cloth::nearest_vertex;
pub use cloth::{ClothError, ClothPin, ClothShape, ClothSpec, Corner, Edge, PinKeyframe, PinPlace};
pub use common::Pose;
pub use copies::Copies;
pub use drive::{
    Actuator, Constraint, Control, Controller, Force, InverseDynamics, JointTarget, Suction, TargetPositions,
};
pub use fabric::{ClothBendingFriction, ClothTearing, Fabric};
pub use garment::{TShirtMeasures, TrousersMeasures};
pub use gas::ClothGas;
pub use goal::{CoordinateAxis, Goal, Quantity};
pub use joint::{AxisJoint, BallJoint, JointSpec, PlanarJoint, UniversalJoint};
pub use output::{Camera, ColorBy, Field, Output};
pub use parse::{ParseError, parse_scene};
pub use pliant_coupling::{AutoOr, ContactSettings, Coupling, CouplingStep, GridMotion, Transfer};
pub use pliant_mpm::material::GranularWalls;
pub use pliant_rigid::Adhesion;
pub use pliant_rigid::comfree::{ComFreeSettings, Form, Gains, ImpedanceCurve};
pub use plots::{Curve, CurveQuantity, Figure, Line, Panel};
pub use rigid::{Integrator, Order, Rigid, RigidSolver};
pub use robot::{MocapPath, Robot, RobotModel};
pub use rope::{Cord, RopeError, RopePin, RopePlace, RopeShape, RopeSpec, TurnKeyframe};
pub use scene::{Boundary, BoundaryKind, Direction, Limits, SCHEMA_VERSION, Scene, Solver, schema};
pub use sensor::{Sensor, TactilePad};
pub use set::{Assignment, SetError, apply, split_values};
pub use sighting::{ClothPoint, Sighting};
pub use signal::{Interpolation, Keyframe, Signal, Varying};
pub use soft::{Material, MaterialRef, Sampling, SoftBodySpec, SoftShape};
pub(crate) use spread::is_free;
pub use task::{Gripper, GripperCommand, Task, TaskControl, Timing, Tool, ToolPose, Waypoint, WaypointPath};
pub use validate::{
    Problem, ValidationError, goals_within_duration, validate, value_and_unit, within_limits,
};
pub use weave::{ClothShearFriction, ClothWeave};
