//! Runs of scenes.
//!
//! - [`run`]: one run, its directory, checkpoints, tables and goals;
//! - [`sweep`]: variants of a scene side by side;
//! - [`machine`]: processor and backends;
//! - [`picture`], [`pressure`], [`plots`]: pictures of bodies and particles, of tactile pads, and
//!   plots of forces;
//! - [`report`]: a table of runs.

pub mod machine;
pub mod picture;
mod picture_error;
pub mod plots;
pub mod pressure;
pub mod report;
pub mod run;
pub mod sweep;
