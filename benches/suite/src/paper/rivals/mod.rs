//! Schemes of other papers for a soft cube between two panels, written for comparison only: no part
//! of the engine, serial, f64, and no faster than a comparison needs.
//!
//! All of them share the scene, the material, the constitutive model, the quadratic B-splines and the
//! APIC transfers of the f64 reference ([`pliant_mpm::reference`]), and the contact model
//! ([`pliant_rigid::contact_model`]). They differ in how contact enters the step, which is what is
//! compared:
//!
//! - [`penalty`]: contact forces at the start of a substep, applied explicitly;
//! - [`implicit`]: elasticity and contact at the end of the step, in one minimisation.
//!
//! Neither is the code of the paper that it stands for, and no figure of theirs is its speed.

pub mod held_cube;
pub mod implicit;
pub mod penalty;
