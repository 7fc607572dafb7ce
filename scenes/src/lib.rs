//! The scene format, the built-in scenes, and the worlds that are made of them.

pub mod assemble;
pub mod builtin;
pub mod depths;
pub mod format;
pub mod load;
pub mod models;
pub mod sample;
pub mod scenario;
pub mod starts;
pub mod worlds;

pub use scenario::Scenario;
