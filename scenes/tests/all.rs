//! The tests of scenes as one program: one is linked sooner than many.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // everything here runs in tests

mod decompose;
mod folding;
mod gas;
mod initial_checks;
mod joint_starts;
mod limits;
mod mocap_and_wrench;
mod robot_files;
mod ropes;
mod scene_bagging;
mod scene_comfree;
mod scene_rigid;
mod scene_robots;
mod sightings;
mod spin;
mod tasks;
mod unused_figures;
mod weave;
