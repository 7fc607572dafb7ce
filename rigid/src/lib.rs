//! Rigid bodies, joints, geometry and signed distances.
//!
//! - [`geometry`]: solids with exact signed distances on both sides: half-space, box, sphere, capsule, cylinder, convex
//!   hull and closed triangle mesh.
//! - [`Bodies`]: bodies that stay, follow a prescribed trajectory, or move by their dynamics, freely or within one joint
//!   to a fixed or prescribed parent. They take spatial impulses, one a body and step, from whatever touches them.
//!
//! SI units, f64, right-handed frames; spatial vectors have their angular part first. Bad input and states that are not
//! finite are typed errors. Stepping does not allocate, and gives the same bits in every run.

mod bodies;
mod body;
mod error;
mod free_rotation;
pub mod geometry;
mod joint;
mod motion;
mod spatial;
mod state;
mod step;
mod trajectory;
mod validate;

pub use bodies::Bodies;
pub use body::{BodyDesc, BodyId, Geometry, MassProperties};
pub use error::RigidError;
pub use geometry::{ConvexHull, GeometryError, Shape, SurfacePoint, TriangleMesh};
pub use joint::Joint;
pub use motion::{Motion, PoseKey, Trajectory, VelocityKey};
pub use spatial::{SpatialImpulse, SpatialVelocity};
pub use state::{BodiesState, BodyState};
