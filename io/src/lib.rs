//! Files that are complete or absent, triangle meshes, and frames of particles.
//!
//! - [`digest`]: SHA-256 digests of files, taken while they are written;
//! - [`files`]: writing under a temporary name, the error of every file;
//! - [`input`]: reading a file whole, if it is one;
//! - [`lock`]: locks of files that name their holder and end with it;
//! - [`mesh`]: triangle meshes from OBJ, STL, PLY, glTF, COLLADA and MSH files, with their
//!   colours;
//! - [`parts`]: files of named parts, each with its checksum;
//! - [`ply`]: frames of particles and triangles, binary PLY;
//! - [`text`]: names as they may be shown on a terminal.

pub mod digest;
pub mod files;
pub mod input;
pub mod lock;
pub mod mesh;
pub mod parts;
pub mod ply;
pub mod text;
