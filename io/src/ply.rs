//! Frames of particles as binary little-endian PLY, and triangle meshes read from any PLY.
//!
//! The files open in Blender, ParaView, MeshLab and Houdini; format: Turk, "The PLY polygon file
//! format", 1994.

use std::io::{self, Write};
use std::path::Path;

use ply_rs_bw::parser::{ParseError, Parser, Reader};
use ply_rs_bw::ply::{
    Addable, ElementDef, Encoding, Header, Property, PropertyAccess, PropertyAccessResult, PropertyDef,
    PropertyType, ScalarType,
};
use ply_rs_bw::writer::Writer;

use crate::digest::{FileDigest, HashingWriter};
use crate::files::{IoError, atomic_write};
use crate::input::read_input;
use crate::ply_header::{check_counts, require_positions, require_types};

/// One particle of a frame, as written. World frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FrameParticle {
    /// Position \[m\]: `x y z`.
    pub position: [f32; 3],
    /// Velocity [m/s]: `vx vy vz`.
    pub velocity: [f32; 3],
    /// Radius at which the particle is drawn \[m\], 0 for particles of cloth: `radius`.
    pub radius: f32,
    /// sRGB colour: `red green blue`.
    pub color: [u8; 3],
    /// Index of the material in the scene: `material`.
    pub material: u16,
    /// Determinant of the deformation gradient \[1\]: `J`.
    pub j: f32,
    /// Accumulated plastic strain \[1\]: `plastic_strain`.
    pub plastic_strain: f32,
    /// Frobenius norm of the Kirchhoff stress \[Pa\]: `stress_norm`.
    pub stress_norm: f32,
    /// Mass \[kg\]: `mass`.
    pub mass: f32,
    /// Volume at rest \[m^3\]: `volume`. Times `J` it is the present one.
    pub volume: f32,
    /// Gradient of the velocity around the particle, rows of dv_i/dx_j \[1/s\]: `affine_xx affine_xy
    /// affine_xz affine_yx` ... `affine_zz`.
    pub affine: [f32; 9],
}

/// Names of the properties of [`FrameParticle::affine`].
const AFFINE: [&str; 9] = [
    "affine_xx",
    "affine_xy",
    "affine_xz",
    "affine_yx",
    "affine_yy",
    "affine_yz",
    "affine_zx",
    "affine_zy",
    "affine_zz",
];

/// The comment that gives the time, before the number and its unit.
const TIME: &str = "time ";

/// Which optional properties a frame has; position, velocity, radius, colour and material are
/// always there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameFields {
    /// Write `J`.
    pub j: bool,
    /// Write `plastic_strain`.
    pub plastic_strain: bool,
    /// Write `stress_norm`.
    pub stress_norm: bool,
    /// Write `mass`.
    pub mass: bool,
    /// Write `volume`.
    pub volume: bool,
    /// Write `affine_xx` to `affine_zz`.
    pub affine: bool,
}

impl FrameFields {
    /// Every optional property.
    pub const ALL: Self =
        Self { j: true, plastic_strain: true, stress_norm: true, mass: true, volume: true, affine: true };
}

/// Triangles of cloth, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameTriangles<'a> {
    /// Three particle indices each, counterclockwise seen from the front: `vertex_indices`.
    pub corners: &'a [[u32; 3]],
    /// sRGB colour of the back of each: `back_red back_green back_blue`; empty: not in the file.
    pub back_colors: &'a [[u8; 3]],
}

/// A frame as read back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frame {
    /// The particles, in file order; properties that the file lacks are zero.
    pub particles: Vec<FrameParticle>,
    /// Triangles of cloth, three particle indices each; empty if there are none.
    pub triangles: Vec<[u32; 3]>,
    /// sRGB colour of the back of each triangle; empty if not in the file.
    pub back_colors: Vec<[u8; 3]>,
    /// Which optional properties the file has.
    pub fields: FrameFields,
    /// Time \[s\]; none if not in the file.
    pub time: Option<f64>,
}

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

/// Names of a triangle's back colour.
const BACK: [&str; 3] = ["back_red", "back_green", "back_blue"];

/// The two names that programs write for a face's vertex list.
fn is_index_list(name: &str) -> bool {
    name == "vertex_indices" || name == "vertex_index"
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

fn scalar(name: &str, kind: ScalarType) -> PropertyDef {
    PropertyDef::new(name.to_owned(), PropertyType::Scalar(kind))
}

/// The `vertex` element of a frame with the properties of `fields`.
fn particle_element(count: usize, fields: FrameFields) -> ElementDef {
    let mut element = ElementDef::new("vertex".to_owned());
    element.count = count;
    for name in ["x", "y", "z", "vx", "vy", "vz", "radius"] {
        element.properties.add(scalar(name, ScalarType::Float));
    }
    for name in ["red", "green", "blue"] {
        element.properties.add(scalar(name, ScalarType::UChar));
    }
    element.properties.add(scalar("material", ScalarType::UShort));
    let optional = [
        (fields.j, "J"),
        (fields.plastic_strain, "plastic_strain"),
        (fields.stress_norm, "stress_norm"),
        (fields.mass, "mass"),
        (fields.volume, "volume"),
    ];
    let affine = AFFINE.map(|name| (fields.affine, name));
    for (_, name) in optional.into_iter().chain(affine).filter(|(wanted, _)| *wanted) {
        element.properties.add(scalar(name, ScalarType::Float));
    }
    element
}

impl FrameParticle {
    /// The particle as the properties of `particle_element`, in their order, little-endian.
    fn push_bytes(&self, fields: FrameFields, bytes: &mut Vec<u8>) {
        // 7 floats, 3 bytes, a u16 and up to 14 floats.
        let mut record = [0; 7 * 4 + 3 + 2 + 14 * 4];
        let floats = self.position.iter().chain(&self.velocity).chain([&self.radius]);
        for (place, value) in record.chunks_exact_mut(4).zip(floats) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        record[28..31].copy_from_slice(&self.color);
        record[31..33].copy_from_slice(&self.material.to_le_bytes());
        let optional = [
            (fields.j, self.j),
            (fields.plastic_strain, self.plastic_strain),
            (fields.stress_norm, self.stress_norm),
            (fields.mass, self.mass),
            (fields.volume, self.volume),
        ];
        let affine = self.affine.map(|value| (fields.affine, value));
        let mut end = 33;
        for (_, value) in optional.into_iter().chain(affine).filter(|(wanted, _)| *wanted) {
            record[end..end + 4].copy_from_slice(&value.to_le_bytes());
            end += 4;
        }
        bytes.extend_from_slice(&record[..end]);
    }
}

/// A triangle to write.
struct TriangleOut {
    corners: [i32; 3],
    back: [u8; 3],
}

impl PropertyAccess for TriangleOut {
    fn new() -> Self {
        Self { corners: [0; 3], back: [0; 3] }
    }

    fn get_list_int(&self, name: &str) -> Option<&[i32]> {
        is_index_list(name).then_some(self.corners.as_slice())
    }

    fn get_uchar(&self, name: &str) -> Option<u8> {
        BACK.iter().position(|back| *back == name).map(|channel| self.back[channel])
    }
}

/// Writes one frame to `out`: `particles`, and `triangles` (indices into them) if there is cloth,
/// and the `time` \[s\] as a comment `time 0.04 s` if it is given.
///
/// # Errors
/// Errors of `out`; `InvalidInput` if a triangle refers to a particle that does not exist, or only
/// some backs have a colour.
pub fn encode_frame(
    out: &mut impl Write,
    particles: &[FrameParticle],
    triangles: FrameTriangles,
    fields: FrameFields,
    time: Option<f64>,
) -> io::Result<()> {
    let FrameTriangles { corners: triangles, back_colors } = triangles;
    if !back_colors.is_empty() && back_colors.len() != triangles.len() {
        let reason = format!("{} triangles with {} back colours", triangles.len(), back_colors.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let vertices = particle_element(particles.len(), fields);
    let mut header = Header::new();
    header.encoding = Encoding::BinaryLittleEndian;
    header.comments.push("SI units: m, m/s, Pa; right-handed, z up".to_owned());
    header.comments.extend(time.map(|time| format!("{TIME}{time:?} s")));
    let mut faces = ElementDef::new("face".to_owned());
    faces.count = triangles.len();
    faces.properties.add(PropertyDef::new(
        "vertex_indices".to_owned(),
        PropertyType::List(ScalarType::UChar, ScalarType::Int),
    ));
    if !back_colors.is_empty() {
        BACK.iter().for_each(|name| faces.properties.add(scalar(name, ScalarType::UChar)));
    }
    header.elements.add(vertices.clone());
    if !triangles.is_empty() {
        header.elements.add(faces.clone());
    }
    Writer::<FrameParticle>::new().write_header(out, &header)?;
    // By hand: the library looks up each property of each particle by name, which is several times
    // slower.
    let mut bytes = Vec::with_capacity(1 << 16);
    for piece in particles.chunks(1024) {
        bytes.clear();
        piece.iter().for_each(|particle| particle.push_bytes(fields, &mut bytes));
        out.write_all(&bytes)?;
    }
    let writer = Writer::<TriangleOut>::new();
    for (at, triangle) in triangles.iter().enumerate() {
        let mut indices = [0; 3];
        for (index, &vertex) in indices.iter_mut().zip(triangle) {
            *index = i32::try_from(vertex).ok().filter(|_| (vertex as usize) < particles.len()).ok_or_else(
                || {
                    let reason =
                        format!("triangle vertex {vertex}, but there are {} particles", particles.len());
                    io::Error::new(io::ErrorKind::InvalidInput, reason)
                },
            )?;
        }
        let back = back_colors.get(at).copied().unwrap_or_default();
        writer.write_little_endian_element(out, &TriangleOut { corners: indices, back }, &faces)?;
    }
    Ok(())
}

/// Writes one frame to the file `path`, complete or not at all; returns its length and digest.
///
/// # Errors
/// [`IoError`] naming `path`.
pub fn write_frame(
    path: impl AsRef<Path>,
    particles: &[FrameParticle],
    triangles: FrameTriangles,
    fields: FrameFields,
    time: Option<f64>,
) -> Result<FileDigest, IoError> {
    let mut digest = FileDigest::default();
    atomic_write(path, |out| {
        let mut out = HashingWriter::new(out);
        encode_frame(&mut out, particles, triangles, fields, time)?;
        digest = out.digest();
        Ok(())
    })?;
    Ok(digest)
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

/// Reads a frame written by [`write_frame`].
///
/// # Errors
/// [`IoError`] naming `path`: missing, truncated, or not a PLY with vertices.
pub fn read_frame(path: impl AsRef<Path>) -> Result<Frame, IoError> {
    let path = path.as_ref();
    parse_frame(&read_input(path)?, path)
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
    let back_colors = if told { backs } else { Vec::new() };
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
