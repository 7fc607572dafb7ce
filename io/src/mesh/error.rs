//! Errors of reading meshes.

use std::path::PathBuf;

use crate::files::IoError;

/// A mesh file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The file is missing or cannot be read.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The extension is none of `obj`, `stl`, `ply`, `glb`, `gltf`, `dae`, `msh`.
    #[error("{}: files of type '{extension}' are not read, only obj, stl, ply, glb, gltf, dae and msh", path.display())]
    UnsupportedExtension {
        /// The file.
        path: PathBuf,
        /// Its extension, empty when it has none.
        extension: String,
    },
    /// The file holds no triangle with three different vertices.
    #[error("{}: the mesh has no triangles", path.display())]
    NoTriangles {
        /// The file.
        path: PathBuf,
    },
    /// A coordinate is NaN or infinite.
    #[error("{}: vertex {vertex} is not finite: {position:?}", path.display())]
    NonFiniteVertex {
        /// The file.
        path: PathBuf,
        /// Number of the vertex, from 0.
        vertex: usize,
        /// Its coordinates \[m\].
        position: [f64; 3],
    },
    /// The scale is not a positive, finite number.
    #[error("{}: the mesh scale must be positive and finite, got {scale} (metres per file unit)", path.display())]
    InvalidScale {
        /// The file.
        path: PathBuf,
        /// The scale given [m per file unit].
        scale: f64,
    },
}
