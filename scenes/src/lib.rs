//! Scene format, built-in scenes, the runner, pictures and benchmarks.

pub mod format;
