//! Contact between particles and bodies on the device: signed distances, which pairs touch, the
//! walls of the grid within the contact problem, what the solve gives back.
//!
//! The counterparts of `pliant-coupling`'s registration, memory, walls and exchange, and of the
//! distances of `pliant-rigid`. Bodies are uploaded once ([`DeviceGeometries`]) and their poses
//! once a step, for all of its substeps ([`DeviceRegistry::begin_step`]); those that answer within
//! the step are moved on from substep to substep ([`DeviceAnswering`]). A substep is then a fixed
//! list of launches, which a [`Recording`](crate::Recording) can repeat.

mod answering;
mod arrays;
mod error;
mod exchange;
mod geometries;
mod registry;
mod triangles;
mod walls;

pub use answering::DeviceAnswering;
pub use arrays::RegisteredContact;
pub use error::ContactError;
pub use exchange::{BodyExchange, DeviceExchange};
pub use geometries::DeviceGeometries;
pub use registry::{ContactOptions, ContactTotals, DeviceRegistry, RegistryCapacity};
pub use walls::DeviceWalls;
