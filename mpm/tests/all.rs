//! The tests of particles as one program: one is linked sooner than many.
#![allow(clippy::unwrap_used)] // everything here runs in tests

mod analytic_fast;
mod analytic_reference;
mod bending_friction;
mod cloth_crumpled;
mod cloth_fast;
mod cloth_reference;
mod cloth_statics;
mod common;
mod conservation_fast;
mod conservation_reference;
mod errors;
mod gas;
mod granular_friction;
mod mass_damping;
mod parity_trajectory;
mod parity_transfers;
mod pins;
mod pressed;
mod repeatability;
mod rope_contact;
mod rope_energy;
mod rope_fast;
mod rope_internals;
mod rope_model;
mod rope_reference;
mod shear_friction;
mod slow_motion;
mod slow_strain;
mod stretched;
mod tearing;
mod weave;
