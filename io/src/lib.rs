//! Files that are complete or absent, triangle meshes, and frames of particles.
//!
//! - [`digest`]: SHA-256 digests of files, taken while they are written;
//! - [`files`]: writing under a temporary name, the error of every file;
//! - [`mesh`]: triangle meshes from OBJ, STL and PLY files, and the check that a mesh bounds a
//!   solid;
//! - [`ply`]: frames of particles and triangles, binary PLY;
//! - [`text`]: names as they may be shown on a terminal.

pub mod digest;
pub mod files;
pub mod mesh;
pub mod ply;
pub mod text;
