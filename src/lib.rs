//! Pliant simulates soft things and robots touching.
//!
//! The facade re-exports the crates: [`mpm`] (deformables), [`rigid`] (bodies and geometry),
//! [`coupling`] (contact and the stepping loop), [`cuda`] (the GPU), [`scenes`] (scene files and the runner).
pub use pliant_coupling as coupling;
pub use pliant_cuda as cuda;
pub use pliant_mpm as mpm;
pub use pliant_rigid as rigid;
pub use pliant_scenes as scenes;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
