//! Scene format, built-in scenes, the runner, pictures and benchmarks.

pub mod files;
pub mod mesh_io;
pub mod plot;
pub mod ply;
pub mod random;
pub mod render;
pub mod sample;
