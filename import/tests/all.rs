//! The tests of reading models as one program: one is linked sooner than many.
#![allow(clippy::unwrap_used, clippy::panic)] // everything here runs in tests

mod compensation;
mod contact_pairs;
mod conventions;
mod decompose;
mod gains;
mod mesh_inertia;
mod mjcf_parts;
mod mocap;
mod models;
mod refusals;
mod repairs;
mod sensor_frames;
mod sensors;
mod shown;
mod sites;
mod softness;
