//! Files that are complete or absent, triangle meshes, and frames of particles.
//!
//! - [`files`]: writing under a temporary name, the error of every file;
//! - [`input`]: reading a file whole, if it is one;
//! - [`mesh`]: triangle meshes from OBJ, STL and PLY files, and the check that a mesh bounds a
//!   solid;
//! - [`ply`]: frames of particles and triangles, binary PLY.

pub mod files;
pub mod input;
pub mod mesh;
pub mod ply;
mod ply_header;
