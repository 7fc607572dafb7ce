//! Articulated rigid bodies: dynamics, collision detection, convex contact, error-controlled
//! integration.
//!
//! - [`multibody`]: links and joints in reduced coordinates; mass matrix, inverse and forward
//!   dynamics, Jacobians, energies.
//! - [`collision`]: contact points of geometries on links.
//! - [`icf`]: the convex problem of a step and its solver.
//! - [`comfree`]: contact in closed form, in a fixed number of passes.
//! - [`control`]: controllers and force elements: inverse dynamics, suction cups, forces that vary
//!   in time.
//! - [`simulation`]: systems with motors, constraints and controllers, and the integrators that
//!   advance them.
//! - Shapes are [`pliant_geometry`]'s.
//! - [`Bodies`]: named bodies that are static, follow a trajectory, or move by their dynamics,
//!   alone or as parts of mechanisms from files. They take one spatial impulse per body and step
//!   from other objects such as particles.
//!
//! SI units, f64, right-handed frames; spatial vectors have their angular part first. Bad input and
//! states that are not finite are typed errors. Stepping gives the same bits in every run.
//!
//! ```
//! use nalgebra::{Isometry3, Vector3};
//! use pliant_rigid::*;
//!
//! # fn main() -> Result<(), RigidError> {
//! let shape = Shape::Sphere { radius: 0.05 };
//! let mut builder = BodiesBuilder::new();
//! let start = Isometry3::translation(0.0, 0.0, 1.0);
//! let ball = builder.add(BodyDesc::dynamic("ball", shape, 1000.0)?.at(start).friction(0.4))?;
//! let mut bodies = builder.build(Vector3::new(0.0, 0.0, -9.81), 1e-3, &RigidSettings::default())?;
//! let mut impulses = vec![SpatialImpulse::zero(); bodies.len()];
//! for _ in 0..100 {
//!     bodies.prepare(1e-3);
//!     impulses[ball.0] = SpatialImpulse::zero(); // what touched the ball in this step
//!     bodies.integrate(1e-3, &impulses)?;
//! }
//! assert!((bodies.velocity(ball).linear.z + 0.981).abs() < 1e-12);
//! # Ok(())
//! # }
//! ```

mod bodies;
mod body;
pub mod collision;
pub mod comfree;
mod compliance;
pub mod contact_model;
pub mod control;
mod error;
mod free_rotation;
pub mod icf;
mod id;
mod joint;
mod mass;
mod motion;
pub mod multibody;
mod names;
mod out_of_range;
mod robot;
mod robot_inputs;
mod robot_mocap;
mod robot_sensor;
mod sensor;
mod sensor_reader;
mod sensor_zone;
pub mod simulation;
mod spatial;
mod trajectory;
mod watch;

pub use bodies::{BeyondLimit, Bodies, BodiesBuilder, Body, ExternalMaker, Mechanism, RigidSettings};
pub use body::{Adhesion, Appearance, BodyDesc, Geometry, MechanismDesc};
pub use compliance::{Compliance, LimitCompliance};
pub use error::RigidError;
pub use id::BodyId;
pub use joint::Joint;
pub use mass::MassProperties;
pub use motion::{DynamicMotion, Motion};
pub use names::{ImportedJoint, Input, Keyframe, MechanismNames, Mocap, Site};
pub use out_of_range::OutOfRange;
pub use pliant_geometry::{
    ConvexHull, Drawn, GeometryError, HeightField, Shape, SurfaceMesh, SurfacePoint, TriangleMesh,
};
pub use robot::{RobotError, RobotHandle};
pub use robot_inputs::JointTarget;
pub use sensor::{Quantity, QuantityRow, Reading, Sensor, SensorFrame, SensorObject, Source, Subject};
pub use sensor_reader::SensorReader;
pub use sensor_zone::TouchZone;
pub use spatial::{SpatialImpulse, SpatialVelocity};
pub use trajectory::{PoseKey, PoseTrajectory, Trajectory, VelocityKey};
pub use watch::{StepProgress, StepWatch};
