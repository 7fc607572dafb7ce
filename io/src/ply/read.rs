//! Frames and triangle meshes as they are read.

use std::path::Path;

use ply_rs_bw::parser::{ParseError, Parser, Reader};
use ply_rs_bw::ply::{Header, Property, PropertyAccess, PropertyAccessResult};

use super::header::{check_counts, require_positions, require_types};
use super::{AFFINE, BACK, BACKS, Frame, FrameFields, FrameParticle, TIME, is_index_list};
use crate::files::IoError;
use crate::input::read_input;

impl PropertyAccess for FrameParticle {
    fn new() -> Self {
        Self::default()
    }

    fn set_float(&mut self, name: &str, value: f32) -> PropertyAccessResult {
        // By length, then bytes: this runs ten times per particle.
        let target = match name.as_bytes() {
            b"x" => &mut self.position[0],
            b"y" => &mut self.position[1],
            b"z" => &mut self.position[2],
            b"vx" => &mut self.velocity[0],
            b"vy" => &mut self.velocity[1],
            b"vz" => &mut self.velocity[2],
            b"radius" => &mut self.radius,
            b"J" => &mut self.j,
            b"plastic_strain" => &mut self.plastic_strain,
            b"stress_norm" => &mut self.stress_norm,
            b"mass" => &mut self.mass,
            b"volume" => &mut self.volume,
            _ => match AFFINE.iter().position(|affine| *affine == name) {
                Some(component) => &mut self.affine[component],
                None => return PropertyAccessResult::Ignored,
            },
        };
        *target = value;
        PropertyAccessResult::Set
    }

    fn set_double(&mut self, name: &str, value: f64) -> PropertyAccessResult {
        self.set_float(name, value as f32)
    }

    fn set_uchar(&mut self, name: &str, value: u8) -> PropertyAccessResult {
        match name.as_bytes() {
            b"red" => self.color[0] = value,
            b"green" => self.color[1] = value,
            b"blue" => self.color[2] = value,
            b"material" => self.material = u16::from(value),
            _ => return PropertyAccessResult::Ignored,
        }
        PropertyAccessResult::Set
    }

    fn set_ushort(&mut self, name: &str, value: u16) -> PropertyAccessResult {
        if name != "material" {
            return PropertyAccessResult::Ignored;
        }
        self.material = value;
        PropertyAccessResult::Set
    }
}

/// A polygon: indices into the vertices of the same file.
#[derive(Debug, Default)]
struct Face {
    indices: Vec<i64>,
    back: [u8; 3],
}

impl PropertyAccess for Face {
    fn new() -> Self {
        Self::default()
    }

    fn set_property(&mut self, name: &str, value: Property) -> PropertyAccessResult {
        if let (Some(channel), Property::UChar(value)) = (BACK.iter().position(|b| *b == name), &value) {
            self.back[channel] = *value;
            return PropertyAccessResult::Set;
        }
        if !is_index_list(name) {
            return PropertyAccessResult::Ignored;
        }
        self.indices = match value {
            Property::ListChar(list) => list.into_iter().map(i64::from).collect(),
            Property::ListUChar(list) => list.into_iter().map(i64::from).collect(),
            Property::ListShort(list) => list.into_iter().map(i64::from).collect(),
            Property::ListUShort(list) => list.into_iter().map(i64::from).collect(),
            Property::ListInt(list) => list.into_iter().map(i64::from).collect(),
            Property::ListUInt(list) => list.into_iter().map(i64::from).collect(),
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

/// A vertex of a mesh: its position [file units]; everything else in the file is skipped.
#[derive(Debug)]
struct Vertex {
    position: [f64; 3],
}

impl PropertyAccess for Vertex {
    fn new() -> Self {
        Self { position: [0.0; 3] }
    }

    fn set_property(&mut self, name: &str, value: Property) -> PropertyAccessResult {
        let axis = match name {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            _ => return PropertyAccessResult::Ignored,
        };
        self.position[axis] = match value {
            Property::Float(v) => f64::from(v),
            Property::Double(v) => v,
            Property::Int(v) => f64::from(v),
            Property::Short(v) => f64::from(v),
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

/// An element that is not needed: parsed to find its end, and dropped.
struct Ignored;

impl PropertyAccess for Ignored {
    fn new() -> Self {
        Self
    }
}

/// Names the file in a parser's error.
fn parse_error(path: &Path, error: ParseError) -> IoError {
    IoError::malformed(path, error)
}

/// Triangles, and the colour of the back of each, black where the file has none.
struct Fans {
    triangles: Vec<[u32; 3]>,
    backs: Vec<[u8; 3]>,
}

/// Polygons as triangles (a fan each, right for convex ones), every index checked against
/// `vertex_count`.
fn fan_triangles(path: &Path, faces: &[Face], vertex_count: usize) -> Result<Fans, IoError> {
    let mut triangles = Vec::with_capacity(faces.len());
    let mut backs = Vec::with_capacity(faces.len());
    for (number, face) in faces.iter().enumerate() {
        let mut indices = Vec::with_capacity(face.indices.len());
        for &index in &face.indices {
            let vertex = u32::try_from(index).ok().filter(|&v| (v as usize) < vertex_count);
            indices.push(vertex.ok_or_else(|| IoError::Malformed {
                path: path.to_path_buf(),
                reason: format!("face {number} refers to vertex {index}; there are {vertex_count} vertices"),
            })?);
        }
        for corner in 1..indices.len().saturating_sub(1) {
            triangles.push([indices[0], indices[corner], indices[corner + 1]]);
            backs.push(face.back);
        }
    }
    Ok(Fans { triangles, backs })
}

/// The header, the vertices and the triangles of a file.
type Elements<V> = (Header, Vec<V>, Fans);

/// Vertices of type `V` and the triangles of a PLY whose header passes `check`; other elements are
/// passed over.
fn read_elements<V: PropertyAccess>(
    bytes: &[u8],
    path: &Path,
    check: impl FnOnce(&Header) -> Result<(), String>,
) -> Result<Elements<V>, IoError> {
    let mut reader = Reader::new(bytes);
    let header = Parser::<V>::new().read_header(&mut reader).map_err(|e| parse_error(path, e))?;
    check_counts(&header, reader.get_ref().len())
        .and_then(|()| require_positions(&header))
        .and_then(|()| check(&header))
        .map_err(|reason| IoError::malformed(path, reason))?;
    let mut vertices = Vec::new();
    let mut faces: Vec<Face> = Vec::new();
    for element in header.elements.values() {
        let result = match element.name.as_str() {
            "vertex" => Parser::<V>::new()
                .read_payload_for_element(&mut reader, element, &header)
                .map(|elements| vertices = elements),
            "face" => Parser::<Face>::new()
                .read_payload_for_element(&mut reader, element, &header)
                .map(|elements| faces = elements),
            _ => Parser::<Ignored>::new().read_payload_for_element(&mut reader, element, &header).map(drop),
        };
        result.map_err(|e| parse_error(path, e))?;
    }
    let triangles = fan_triangles(path, &faces, vertices.len())?;
    Ok((header, vertices, triangles))
}

/// Reads a frame written by [`write_frame`](super::write_frame).
///
/// # Errors
/// [`IoError`] naming `path`: missing, truncated, or not a PLY with vertices.
pub fn read_frame(path: impl AsRef<Path>) -> Result<Frame, IoError> {
    let path = path.as_ref();
    parse_frame(&read_input(path)?, path)
}

/// Back colours that comments give; none without such comments. They must be of all triangles.
fn commented_backs(path: &Path, comments: &[String], triangles: usize) -> Result<Vec<[u8; 3]>, IoError> {
    let mut colors = Vec::new();
    for comment in comments {
        let Some(run) = comment.strip_prefix(BACKS) else { continue };
        let parse = || -> Option<([u8; 3], usize)> {
            let (color, count) = run.split_once(" triangles ")?;
            let channels: Vec<u8> = color.split(' ').map(|c| c.parse().ok()).collect::<Option<_>>()?;
            Some((channels.try_into().ok()?, count.parse().ok()?))
        };
        let (color, count) =
            parse().ok_or_else(|| IoError::malformed(path, format!("its comment `{comment}`")))?;
        if count > triangles - colors.len() {
            return Err(IoError::malformed(path, format!("`{comment}`, but it has {triangles} triangles")));
        }
        colors.resize(colors.len() + count, color);
    }
    if !colors.is_empty() && colors.len() != triangles {
        let reason = format!("its comments give {} of {triangles} triangles a back colour", colors.len());
        return Err(IoError::malformed(path, reason));
    }
    Ok(colors)
}

/// As [`read_frame`], of the bytes of a file; `path` is its name in errors.
///
/// # Errors
/// As [`read_frame`], but for a missing file.
pub fn parse_frame(bytes: &[u8], path: impl AsRef<Path>) -> Result<Frame, IoError> {
    let path = path.as_ref();
    let (header, particles, Fans { triangles, backs }) =
        read_elements::<FrameParticle>(bytes, path, require_types)?;
    let has = |name: &str| header.elements.get("vertex").is_some_and(|v| v.properties.contains_key(name));
    let fields = FrameFields {
        j: has("J"),
        plastic_strain: has("plastic_strain"),
        stress_norm: has("stress_norm"),
        mass: has("mass"),
        volume: has("volume"),
        affine: AFFINE.into_iter().all(has),
    };
    let number = |comment: &String| comment.strip_prefix(TIME)?.strip_suffix(" s")?.parse().ok();
    let time = header.comments.iter().find_map(number).filter(|time: &f64| time.is_finite());
    let told = header.elements.get("face").is_some_and(|face| face.properties.contains_key(BACK[0]));
    let back_colors = if told { backs } else { commented_backs(path, &header.comments, triangles.len())? };
    Ok(Frame { particles, triangles, back_colors, fields, time })
}

/// Vertices [file units] and triangles, three vertex indices each.
pub type IndexedTriangles = (Vec<[f64; 3]>, Vec<[u32; 3]>);

/// The polygon mesh of any PLY (ascii or binary, either byte order) as triangles; polygons become
/// fans. Positions are in the file's own unit and frame. `path` is the file's name in errors.
///
/// # Errors
/// [`IoError`] naming `path`: truncated, no vertices, or a face that refers to a vertex that does
/// not exist.
pub fn parse_triangles(bytes: &[u8], path: &Path) -> Result<IndexedTriangles, IoError> {
    let (_, vertices, Fans { triangles, .. }) = read_elements::<Vertex>(bytes, path, |_| Ok(()))?;
    Ok((vertices.into_iter().map(|v| v.position).collect(), triangles))
}
