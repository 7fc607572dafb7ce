//! A frame as the page gets it: a header and arrays, little-endian, every array aligned to 4 bytes.
//!
//! | bytes | content |
//! |---|---|
//! | 0..4 | `PLVF` |
//! | 4..8 | version of the layout, 1 |
//! | 8..12 | number of the frame |
//! | 12..16 | particles, P |
//! | 16..20 | triangles of cloth, T |
//! | 20..24 | bodies, B |
//! | 24..28 | which optional arrays follow: 1 J, 2 plastic strain, 4 stress norm, 8 back colours |
//! | 28..32 | 0 |
//! | 32..40 | time \[s\], f64 |
//! | 40..64 | 0 |
//!
//! Then: positions \[m\] f32 x 3P; speeds \[m/s\] f32 x P; radii \[m\] f32 x P, 0 for cloth; J \[-\],
//! plastic strain \[-\], stress norm \[Pa\], each f32 x P if it is there; colours u8 x 4P (red, green,
//! blue, 255; sRGB); materials u32 x P; triangles u32 x 3T; back colours u8 x 4T if they are there;
//! poses f32 x 7B (x y z \[m\], w x y z); wrenches f32 x 12B: force \[N\] and torque about the body's
//! origin \[N m\] of the particles, then of contacts with bodies, NaN where they were not measured.

use pliant_io::ply::Frame;
use pliant_runner::recording::Recording;
use pliant_runner::run::{BodyRow, Wrench};

use crate::bytes::{colours, count, floats, words};
use crate::error::ViewerError;

/// First bytes of a frame.
pub const FRAME_MAGIC: [u8; 4] = *b"PLVF";
/// Version of the layout.
pub const FRAME_VERSION: u32 = 1;
/// Length of the header \[bytes\].
pub const FRAME_HEADER: usize = 64;

/// The frame `frame` of a run, encoded.
///
/// # Errors
/// [`ViewerError`]: there is no such frame, or its file is missing, damaged or inconsistent.
pub(crate) fn encode(recording: &Recording, frame: usize) -> Result<Vec<u8>, ViewerError> {
    let content = recording.frame(frame)?;
    check(frame, &content)?;
    let rows = recording.body_rows(frame);
    let time = recording.frames().get(frame).map_or(0.0, |row| row.time);
    let mut out = Vec::with_capacity(encoded_bytes(&content, rows.len()));
    header(&mut out, frame, &content, rows.len(), time)?;
    particles(&mut out, &content);
    triangles(&mut out, &content);
    bodies(&mut out, rows);
    Ok(out)
}

/// Bytes of an encoded frame with `bodies` bodies.
fn encoded_bytes(frame: &Frame, bodies: usize) -> usize {
    let optional = usize::from(frame.fields.j)
        + usize::from(frame.fields.plastic_strain)
        + usize::from(frame.fields.stress_norm);
    let per_triangle = 12 + if frame.back_colors.is_empty() { 0 } else { 4 };
    FRAME_HEADER
        + frame.particles.len() * (28 + 4 * optional)
        + frame.triangles.len() * per_triangle
        + bodies * 4 * (7 + 12)
}

/// Refuses triangles that point nowhere: a graphics driver would draw whatever lies there.
fn check(frame: usize, content: &Frame) -> Result<(), ViewerError> {
    let particles = content.particles.len();
    for (triangle, corners) in content.triangles.iter().enumerate() {
        if let Some(&particle) = corners.iter().find(|corner| **corner as usize >= particles) {
            return Err(ViewerError::Triangle { frame, triangle, particle, particles });
        }
    }
    Ok(())
}

fn header(
    out: &mut Vec<u8>,
    frame: usize,
    content: &Frame,
    bodies: usize,
    time: f64,
) -> Result<(), ViewerError> {
    let count = |what, number: usize| count(frame, what, number);
    let fields = content.fields;
    let flags = u32::from(fields.j)
        | u32::from(fields.plastic_strain) << 1
        | u32::from(fields.stress_norm) << 2
        | u32::from(!content.back_colors.is_empty()) << 3;
    out.extend_from_slice(&FRAME_MAGIC);
    let numbers = [
        FRAME_VERSION,
        count("frames before it", frame)?,
        count("particles", content.particles.len())?,
        count("triangles", content.triangles.len())?,
        count("bodies", bodies)?,
        flags,
        0,
    ];
    words(out, numbers);
    out.extend_from_slice(&time.to_le_bytes());
    out.resize(FRAME_HEADER, 0);
    Ok(())
}

fn particles(out: &mut Vec<u8>, content: &Frame) {
    let all = &content.particles;
    floats(out, all.iter().flat_map(|p| p.position));
    // In double precision, so that a fast particle of a diverged run does not overflow.
    let speed = |v: [f32; 3]| v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt() as f32;
    floats(out, all.iter().map(|p| speed(p.velocity)));
    floats(out, all.iter().map(|p| p.radius));
    if content.fields.j {
        floats(out, all.iter().map(|p| p.j));
    }
    if content.fields.plastic_strain {
        floats(out, all.iter().map(|p| p.plastic_strain));
    }
    if content.fields.stress_norm {
        floats(out, all.iter().map(|p| p.stress_norm));
    }
    colours(out, all.iter().map(|p| p.color));
    words(out, all.iter().map(|p| u32::from(p.material)));
}

fn triangles(out: &mut Vec<u8>, content: &Frame) {
    words(out, content.triangles.iter().flatten().copied());
    colours(out, content.back_colors.iter().copied());
}

fn bodies(out: &mut Vec<u8>, rows: &[BodyRow]) {
    for BodyRow { pose, .. } in rows {
        let (p, q) = (pose.translation.vector, pose.rotation);
        floats(out, [p.x, p.y, p.z, q.w, q.i, q.j, q.k].map(|x| x as f32));
    }
    for row in rows {
        floats(out, wrench(row.particles.as_ref()));
        floats(out, wrench(row.contacts.as_ref()));
    }
}

fn wrench(wrench: Option<&Wrench>) -> [f32; 6] {
    let Some(Wrench { force: f, torque: t }) = wrench else { return [f32::NAN; 6] };
    [f.x, f.y, f.z, t.x, t.y, t.z].map(|x| x as f32)
}
