//! Triangle meshes from files: OBJ, STL, PLY, glTF, COLLADA, MuJoCo's MSH.

mod collada;
mod color;
mod error;
mod gltf;
mod msh;
mod obj;
mod raw;
mod stl;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use nalgebra::Point3;

use crate::files::IoError;
use crate::input::read_input;
use crate::ply;

pub use color::mean_color;
pub use error::MeshError;
use raw::{Beside, RawPart};

/// A triangle mesh in metres, in the frame of its file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeshData {
    /// Vertices \[m\].
    pub vertices: Vec<Point3<f64>>,
    /// Three vertex indices a triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// A part of a mesh file that has one colour.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeshPart {
    /// Its triangles, in the frame of the file.
    pub mesh: MeshData,
    /// Red, green, blue (sRGB), if the file gives the part a colour.
    pub color: Option<[u8; 3]>,
}

/// The parts of a mesh file, and what was read for them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeshParts {
    /// At least one; each has triangles.
    pub parts: Vec<MeshPart>,
    /// Every file that was read: the mesh itself, then its materials and their textures.
    pub files: Vec<PathBuf>,
}

/// The formats that are read.
enum MeshFormat {
    Obj,
    Stl,
    Ply,
    Gltf,
    Collada,
    Msh,
}

impl MeshFormat {
    /// By the extension of a file, in any case.
    fn of(path: &Path) -> Result<Self, MeshError> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        match extension.as_str() {
            "obj" => Ok(Self::Obj),
            "stl" => Ok(Self::Stl),
            "ply" => Ok(Self::Ply),
            "glb" | "gltf" => Ok(Self::Gltf),
            "dae" => Ok(Self::Collada),
            "msh" => Ok(Self::Msh),
            _ => Err(MeshError::UnsupportedExtension { path: path.to_path_buf(), extension }),
        }
    }
}

/// Reads a triangle mesh by extension (any case), times `scale` (metres per file unit): `obj`,
/// `stl` (binary or ascii), `ply`, `glb` and `gltf` (glTF 2.0, the default scene), `dae` (COLLADA,
/// in metres, z up), `msh` (MuJoCo's binary format). Vertices at exactly the same position are
/// merged, in all formats, because STL has no shared vertices and exporters split the others along
/// seams; triangles that lose a corner by that are dropped, and so are vertices that no triangle
/// uses. OBJ, STL, glTF and MSH coordinates have the precision of f32. Only this file is read.
///
/// # Errors
/// [`MeshError`] naming the file: missing or malformed, an unsupported extension or content, no
/// triangles, a vertex that is not finite, a scale that is not positive.
pub fn load_mesh(path: impl AsRef<Path>, scale: f64) -> Result<MeshData, MeshError> {
    let path = path.as_ref();
    MeshFormat::of(path)?;
    parse_mesh(&read_input(path)?, path, scale)
}

/// As [`load_mesh`], of the bytes of a file; `path` gives the extension and the name in errors.
///
/// # Errors
/// As [`load_mesh`], but for a missing file.
pub fn parse_mesh(bytes: &[u8], path: impl AsRef<Path>, scale: f64) -> Result<MeshData, MeshError> {
    let path = path.as_ref();
    let mut whole = RawPart::default();
    for part in raw_parts(bytes, path, scale, &|_| None)? {
        let first = whole.positions.len() as u32;
        whole.positions.extend(part.positions);
        whole.triangles.extend(part.triangles.iter().map(|t| t.map(|i| i + first)));
    }
    let mesh = weld(&whole, path, scale)?;
    if mesh.triangles.is_empty() {
        return Err(MeshError::NoTriangles { path: path.to_path_buf() });
    }
    Ok(mesh)
}

/// As [`load_mesh`], each part with its colour. Materials (`.mtl`) and textures (`.png`, `.jpg`) are
/// read from the folder of the mesh or below it; those that cannot be read give no colour.
///
/// # Errors
/// As [`load_mesh`].
pub fn load_mesh_parts(path: impl AsRef<Path>, scale: f64) -> Result<MeshParts, MeshError> {
    let path = path.as_ref();
    MeshFormat::of(path)?;
    let bytes = read_input(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = RefCell::new(vec![path.to_path_buf()]);
    let beside = |name: &str| {
        let path = color::beside(folder, name)?;
        let bytes = read_input(&path).ok()?;
        let mut files = files.borrow_mut();
        if !files.contains(&path) {
            files.push(path);
        }
        Some(bytes)
    };
    let raw = raw_parts(&bytes, path, scale, &beside)?;
    let mut parts: Vec<MeshPart> = Vec::new();
    for part in &raw {
        let mesh = weld(part, path, scale)?;
        if !mesh.triangles.is_empty() {
            parts.push(MeshPart { mesh, color: part.color });
        }
    }
    if parts.is_empty() {
        return Err(MeshError::NoTriangles { path: path.to_path_buf() });
    }
    Ok(MeshParts { parts, files: files.into_inner() })
}

fn raw_parts(bytes: &[u8], path: &Path, scale: f64, beside: Beside<'_>) -> Result<Vec<RawPart>, MeshError> {
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(MeshError::InvalidScale { path: path.to_path_buf(), scale });
    }
    let malformed = |reason: String| MeshError::from(IoError::malformed(path, reason));
    let single = |(positions, triangles)| vec![RawPart { positions, triangles, color: None }];
    match MeshFormat::of(path)? {
        MeshFormat::Obj => obj::parse(bytes, path, beside),
        MeshFormat::Stl => stl::parse(bytes, path).map(single),
        MeshFormat::Ply => Ok(single(ply::parse_triangles(bytes, path)?)),
        MeshFormat::Gltf => gltf::parse(bytes).map_err(malformed),
        MeshFormat::Collada => collada::parse(bytes, beside).map_err(malformed),
        MeshFormat::Msh => msh::parse(bytes).map(single).map_err(malformed),
    }
}

/// One vertex per position, in the order in which the triangles first use them.
fn weld(part: &RawPart, path: &Path, scale: f64) -> Result<MeshData, MeshError> {
    let RawPart { positions, triangles, .. } = part;
    for (vertex, position) in positions.iter().enumerate() {
        let position = position.map(|x| x * scale);
        if !position.iter().all(|x| x.is_finite()) {
            return Err(MeshError::NonFiniteVertex { path: path.to_path_buf(), vertex, position });
        }
    }
    let mut mesh = MeshData::default();
    let mut known: HashMap<[u64; 3], u32> = HashMap::with_capacity(positions.len());
    for corners in triangles {
        // Adding zero makes -0 and 0 the same place.
        let places = corners.map(|corner| positions[corner as usize].map(|x| x * scale + 0.0));
        let [a, b, c] = places.map(|place| place.map(f64::to_bits));
        // Before its corners become vertices, which no other triangle may use.
        if a == b || b == c || c == a {
            continue;
        }
        mesh.triangles.push(places.map(|place| {
            *known.entry(place.map(f64::to_bits)).or_insert_with(|| {
                mesh.vertices.push(Point3::from(place));
                mesh.vertices.len() as u32 - 1
            })
        }));
    }
    Ok(mesh)
}
