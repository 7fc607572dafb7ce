//! The scene format, the built-in scenes, and the worlds that are made of them.

pub mod assemble;
pub mod builtin;
pub mod estimate;
pub mod folding;
pub mod format;
pub mod initial_checks;
pub mod isometry;
pub mod load;
mod lowest;
pub mod machine_memory;
pub mod models;
pub mod penetration;
pub mod scenario;
mod sightings;
pub mod worlds;

pub use scenario::Scenario;
pub use sightings::SeenFrame;
