//! Seeded random numbers, meshes and systems for tests.

// Nothing here is published, and a panic here is a failed test.
#![allow(missing_docs, clippy::unwrap_used)]

pub mod allocations;
pub mod comfree;
pub mod floor;
pub mod gpu;
pub mod mechanisms;
pub mod meshes;
pub mod random;
pub mod solids;
pub mod worlds;

pub use random::Random;
