//! Contact between particles and bodies on the device: signed distances, which pairs touch, grid
//! boundary constraints, what the solve gives back.
//!
//! The counterparts of `pliant-coupling`'s contact detection, contact cache, boundary constraints
//! and exchange, and of the distances of `pliant-rigid`. Bodies are uploaded once
//! ([`DeviceGeometries`]) and their poses once a step, for all of its substeps
//! ([`DeviceContactDetector::begin_step`]); strongly coupled ones are moved on from substep to
//! substep ([`DeviceStronglyCoupledBodies`]). A substep is then a fixed list of launches, which a
//! [`Recording`](crate::Recording) can repeat.

mod arrays;
mod boundary_constraints;
mod detector;
mod error;
mod exchange;
mod geometries;
mod options;
mod strongly_coupled;
mod triangles;

pub use arrays::DetectedContact;
pub use boundary_constraints::DeviceBoundaryConstraints;
pub use detector::{ContactTotals, DetectorCapacity, DeviceContactDetector};
pub use error::ContactError;
pub(crate) use exchange::StagedExchange;
pub use exchange::{BodyExchange, DeviceExchange};
pub use geometries::DeviceGeometries;
pub use options::ContactDetectionOptions;
pub use strongly_coupled::DeviceStronglyCoupledBodies;
