//! Scene format, built-in scenes, the runner, pictures and benchmarks.

pub mod builtin;
pub mod files;
pub mod format;
pub mod mesh_io;
pub mod ply;
pub mod random;
pub mod sample;
