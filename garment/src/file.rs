//! Cloth from a mesh file.

use std::path::{Path, PathBuf};

use pliant_mpm::cloth::ClothMesh;

use pliant_io::mesh;

/// Why no cloth can be read from a file.
#[derive(Debug, thiserror::Error)]
pub enum ClothFileError {
    /// The file cannot be read.
    #[error(transparent)]
    Mesh(#[from] mesh::MeshError),
    /// Its mesh is not a sheet.
    #[error("{}: {source}", path.display())]
    Cloth {
        /// The file.
        path: PathBuf,
        /// What is wrong with its mesh.
        source: pliant_mpm::cloth::MeshError,
    },
}

/// Reads a sheet from an OBJ, STL or PLY file, times `scale` (metres per file unit), in the file's
/// frame. Vertices at exactly the same position are merged, see [`mesh::load_mesh`]; so a garment's
/// seams may be split in the file.
///
/// # Errors
/// [`ClothFileError`], naming the file: it cannot be read, or its mesh is not an orientable
/// surface.
pub fn load_cloth(path: impl AsRef<Path>, scale: f64) -> Result<ClothMesh, ClothFileError> {
    let path = path.as_ref();
    let mesh = mesh::load_mesh(path, scale)?;
    let vertices = mesh.vertices.iter().map(|x| x.coords).collect();
    let faces = mesh.triangles.iter().map(|corners| corners.map(|vertex| vertex as usize)).collect();
    ClothMesh::new(vertices, faces)
        .map_err(|source| ClothFileError::Cloth { path: path.to_path_buf(), source })
}
