//! Laws of everything that Pliant reads from files, for any bytes: nothing panics, what is accepted
//! is sound, what is refused says why.
//!
//! The fuzz targets and the test `runner/tests/corpus.rs` use the same functions. A broken law panics.

pub mod changes;
pub mod mesh;
pub mod message;
pub mod robot;
pub mod sandbox;
