//! Runs of scenes.
//!
//! - [`run`]: one run, its directory, checkpoints, tables and goals (what it writes down is in `record`);
//! - [`sweep`]: variants of a scene side by side, [`sweep_table`]: their table as CSV and Parquet;
//! - [`machine`]: processor and backends;
//! - [`picture`], [`pressure`], [`plots`]: pictures of bodies and particles, of tactile pads, and
//!   plots of forces;
//! - [`recording`]: a run read back, for viewers and other formats; [`report`]: a table of runs;
//! - [`verify`]: whether the files of a run are what was written.

mod early_pictures;
pub mod machine;
pub mod picture;
mod picture_error;
mod picture_frame;
mod picture_parts;
pub mod plots;
pub mod pressure;
mod record;
pub mod recording;
mod recording_error;
pub mod report;
pub mod run;
pub mod sweep;
pub mod sweep_table;
pub mod verify;
mod world_picture;
