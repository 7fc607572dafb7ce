//! Triangle meshes from files: OBJ, STL, PLY.

use std::collections::HashMap;
use std::io::{Cursor, ErrorKind};
use std::path::{Path, PathBuf};

use nalgebra::Point3;

use crate::files::IoError;
use crate::input::read_input;
use crate::ply;

/// A mesh file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The file is missing or cannot be read.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The extension is none of `obj`, `stl`, `ply`.
    #[error("{}: files of type '{extension}' are not read, only obj, stl and ply", path.display())]
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

/// A triangle mesh in metres, in the frame of its file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeshData {
    /// Vertices \[m\].
    pub vertices: Vec<Point3<f64>>,
    /// Three vertex indices a triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// The formats that are read.
enum MeshFormat {
    Obj,
    Stl,
    Ply,
}

impl MeshFormat {
    /// By the extension of a file, in any case.
    fn of(path: &Path) -> Result<Self, MeshError> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        match extension.as_str() {
            "obj" => Ok(Self::Obj),
            "stl" => Ok(Self::Stl),
            "ply" => Ok(Self::Ply),
            _ => Err(MeshError::UnsupportedExtension { path: path.to_path_buf(), extension }),
        }
    }
}

/// Reads a triangle mesh by extension (`obj`, `stl` binary or ascii, `ply`; any case), times
/// `scale` (metres per file unit). Vertices at exactly the same position are merged, in all
/// formats, because STL has no shared vertices and exporters split the others along seams;
/// triangles that lose a corner by that are dropped, and so are vertices that no triangle uses. OBJ
/// and STL coordinates have the precision of f32.
///
/// # Errors
/// [`MeshError`] naming the file: missing or malformed, an unsupported extension, no triangles, a
/// vertex that is not finite, a scale that is not positive.
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
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(MeshError::InvalidScale { path: path.to_path_buf(), scale });
    }
    let (positions, triangles) = match MeshFormat::of(path)? {
        MeshFormat::Obj => parse_obj(bytes, path)?,
        MeshFormat::Stl => parse_stl(bytes, path)?,
        MeshFormat::Ply => ply::parse_triangles(bytes, path)?,
    };
    for (vertex, position) in positions.iter().enumerate() {
        if position.iter().any(|x| !(x * scale).is_finite()) {
            let position = position.map(|x| x * scale);
            return Err(MeshError::NonFiniteVertex { path: path.to_path_buf(), vertex, position });
        }
    }
    let mesh = weld(&positions, &triangles, scale);
    if mesh.triangles.is_empty() {
        return Err(MeshError::NoTriangles { path: path.to_path_buf() });
    }
    Ok(mesh)
}

/// Every object of an OBJ as one list; `tobj` fans its polygons into triangles.
fn parse_obj(bytes: &[u8], path: &Path) -> Result<ply::IndexedTriangles, MeshError> {
    let options =
        tobj::LoadOptions { triangulate: true, ignore_points: true, ignore_lines: true, single_index: false };
    let text = str::from_utf8(bytes).map_err(|e| IoError::malformed(path, e))?;
    check_obj_indices(text).map_err(|reason| IoError::malformed(path, reason))?;
    // Materials are not needed, so a missing .mtl is no error.
    let no_materials = |_: &Path| Ok((Vec::new(), HashMap::new()));
    let (models, _) = tobj::load_obj_buf(&mut &bytes[..], &options, no_materials)
        .map_err(|e| IoError::malformed(path, e))?;
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for model in &models {
        let first = positions.len() as u32;
        let (points, _) = model.mesh.positions.as_chunks::<3>();
        positions.extend(points.iter().map(|p| p.map(f64::from)));
        let (corners, _) = model.mesh.indices.as_chunks::<3>();
        triangles.extend(corners.iter().map(|t| t.map(|i| i + first)));
    }
    Ok((positions, triangles))
}

/// The indices of an OBJ's faces and lines must lie within the vertices, texture coordinates and
/// normals of the file: `tobj` computes with those that do not, beyond the range of its integers.
fn check_obj_indices(text: &str) -> Result<(), String> {
    let kind_of = |keyword: &str| ["v", "vt", "vn"].iter().position(|known| *known == keyword);
    let mut total = [0_i64; 3];
    for kind in text.lines().filter_map(|line| kind_of(line.split_whitespace().next()?)) {
        total[kind] += 1;
    }
    let mut before = [0_i64; 3];
    for (at, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let keyword = words.next().unwrap_or_default();
        if let Some(kind) = kind_of(keyword) {
            before[kind] += 1;
        }
        if !matches!(keyword, "f" | "l") {
            continue;
        }
        for (kind, index) in words.flat_map(|word| word.split('/').take(3).enumerate()) {
            // What is no number is refused by the parser.
            let Ok(index) = index.parse::<i64>() else { continue };
            // From 1; negative ones count back from the last one before.
            if index == 0 || index < -before[kind] || index > total[kind] {
                let name = ["vertices", "texture coordinates", "normals"][kind];
                let count = if index < 0 { before[kind] } else { total[kind] };
                return Err(format!("line {}: index {index} of {count} {name}", at + 1));
            }
        }
    }
    Ok(())
}

/// An STL, binary or ascii; its stored normals are not used, the order of the corners defines the
/// outside.
fn parse_stl(bytes: &[u8], path: &Path) -> Result<ply::IndexedTriangles, MeshError> {
    let mesh = stl_io::read_stl(&mut Cursor::new(bytes)).map_err(|e| match e.kind() {
        ErrorKind::InvalidData | ErrorKind::UnexpectedEof | ErrorKind::InvalidInput => {
            IoError::malformed(path, e)
        }
        _ => IoError::file("read", path, e),
    })?;
    let positions = mesh.vertices.iter().map(|v| v.0.map(f64::from)).collect();
    let triangles = mesh.faces.iter().map(|f| f.vertices.map(|i| i as u32)).collect();
    Ok((positions, triangles))
}

/// One vertex per position, in the order in which the triangles first use them.
fn weld(positions: &[[f64; 3]], triangles: &[[u32; 3]], scale: f64) -> MeshData {
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
    mesh
}
