//! Contact between particles and bodies on the device: signed distances, which pairs touch, what the solve gives back.
//!
//! The counterparts of `pliant-coupling`'s registration, memory and exchange, and of the distances of `pliant-rigid`.

mod error;
mod geometries;
mod triangles;

pub use error::ContactError;
pub use geometries::DeviceGeometries;
