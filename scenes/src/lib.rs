//! Scene format, built-in scenes, the runner, pictures and benchmarks.

pub mod assemble;
pub mod bench;
pub mod builtin;
pub mod crossings;
pub mod depths;
pub mod figures;
pub mod files;
pub mod format;
pub mod garment;
pub mod load;
pub mod machine;
pub mod mesh_io;
pub mod models;
pub mod picture;
pub mod plot;
pub mod ply;
pub mod prepare;
pub mod pressure;
pub mod random;
pub mod render;
pub mod report;
pub mod run;
pub mod sample;
pub mod sweep;
pub mod trials;
pub mod worlds;
