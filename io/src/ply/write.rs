//! Frames as they are written.

use std::io::{self, Write};
use std::path::Path;

use ply_rs_bw::ply::{
    Addable, ElementDef, Encoding, Header, PropertyAccess, PropertyDef, PropertyType, ScalarType,
};
use ply_rs_bw::writer::Writer;

use super::{
    AFFINE, BACK, BACKS, FrameFields, FrameParticle, FrameTriangles, MOST_RUNS, TIME, is_index_list,
};
use crate::digest::{FileDigest, HashingWriter};
use crate::files::{IoError, atomic_write};

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

/// Triangles in a row whose backs have the same colour, and how many they are.
fn color_runs(colors: &[[u8; 3]]) -> Vec<([u8; 3], usize)> {
    colors.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
}

/// The header, with the names of types that all readers of PLY know: meshio 5.3 lacks `ushort`, and
/// takes `uchar` for a signed number.
fn write_header(out: &mut impl Write, header: &Header) -> io::Result<()> {
    let mut bytes = Vec::new();
    Writer::<FrameParticle>::new().write_header(&mut bytes, header)?;
    let mut text = String::from_utf8(bytes).map_err(io::Error::other)?;
    for (old, new) in [("uchar", "uint8"), ("ushort", "uint16")] {
        text = text.replace(&format!("property {old} "), &format!("property {new} "));
        text = text.replace(&format!("property list {old} "), &format!("property list {new} "));
    }
    out.write_all(text.as_bytes())
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
    // Properties of faces beside the list of corners stop meshio; comments are read by all.
    let runs = color_runs(back_colors);
    let told_in_faces = runs.len() > MOST_RUNS;
    let vertices = particle_element(particles.len(), fields);
    let mut header = Header::new();
    header.encoding = Encoding::BinaryLittleEndian;
    header.comments.push("SI units: m, m/s, Pa; right-handed, z up".to_owned());
    header.comments.extend(time.map(|time| format!("{TIME}{time:?} s")));
    if !told_in_faces {
        let line = |([r, g, b], count): &([u8; 3], usize)| format!("{BACKS}{r} {g} {b} triangles {count}");
        header.comments.extend(runs.iter().map(line));
    }
    let mut faces = ElementDef::new("face".to_owned());
    faces.count = triangles.len();
    faces.properties.add(PropertyDef::new(
        "vertex_indices".to_owned(),
        PropertyType::List(ScalarType::UChar, ScalarType::Int),
    ));
    if told_in_faces {
        BACK.iter().for_each(|name| faces.properties.add(scalar(name, ScalarType::UChar)));
    }
    header.elements.add(vertices.clone());
    if !triangles.is_empty() {
        header.elements.add(faces.clone());
    }
    write_header(out, &header)?;
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
