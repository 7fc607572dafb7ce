//! Pliant simulates soft bodies, cloth and robots in contact.
//!
//! The facade re-exports the crates: [`mpm`] (deformables), [`rigid`] (bodies), [`geometry`]
//! (shapes), [`import`] (MJCF and URDF), [`planning`] (inverse kinematics), [`batch`] (many
//! worlds), [`coupling`] (contact and the stepping loop), [`cuda`] (the GPU), [`scenes`] (scene
//! files), [`runner`] (runs and sweeps), [`report`] (pages of them), [`viewer`] (a page
//! to look at them), [`export`] (files for other tools), [`render`] (pictures),
//! [`garment`] (cloth patterns),
//! [`io`] (meshes and frames), [`trials`] (random scenes and their laws), [`bench`](mod@bench) (the
//! benchmark suite) and [`numeric`] (shared numbers).
pub use pliant_batch as batch;
pub use pliant_bench as bench;
pub use pliant_coupling as coupling;
pub use pliant_cuda as cuda;
pub use pliant_export as export;
pub use pliant_garment as garment;
pub use pliant_geometry as geometry;
pub use pliant_import as import;
pub use pliant_io as io;
pub use pliant_mpm as mpm;
pub use pliant_numeric as numeric;
pub use pliant_planning as planning;
pub use pliant_render as render;
pub use pliant_report as report;
pub use pliant_rigid as rigid;
pub use pliant_runner as runner;
pub use pliant_scenes as scenes;
pub use pliant_trials as trials;
pub use pliant_viewer as viewer;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
