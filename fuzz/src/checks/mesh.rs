//! Triangle meshes and frames of particles.

use pliant_geometry::ConvexHull;
use pliant_io::mesh::parse_mesh;
use pliant_io::ply::{Frame, FrameTriangles, encode_frame, parse_frame};

use super::message;

/// Largest mesh of which a hull is made \[vertices\].
const HULL_VERTICES: usize = 200;

/// A mesh that is read has at least one triangle, indices in range, three corners each, finite
/// vertices that are all used, and is not larger than its file.
fn mesh(bytes: &[u8], name: &str) {
    let mesh = match parse_mesh(bytes, name, 1.0) {
        Ok(mesh) => mesh,
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains(name), "the file is not named: {text}");
            return message::check(&text);
        }
    };
    assert!(!mesh.triangles.is_empty(), "a mesh without triangles");
    assert!(
        mesh.triangles.len() <= bytes.len() && mesh.vertices.len() <= bytes.len(),
        "more than the file holds"
    );
    let mut used = vec![false; mesh.vertices.len()];
    for [a, b, c] in &mesh.triangles {
        assert!(a != b && b != c && c != a, "a triangle with the corners {a} {b} {c}");
        for &corner in [a, b, c] {
            assert!((corner as usize) < used.len(), "vertex {corner} of {}", used.len());
            used[corner as usize] = true;
        }
    }
    assert!(used.iter().all(|used| *used), "a vertex that no triangle uses");
    assert!(mesh.vertices.iter().all(|v| v.iter().all(|x| x.is_finite())), "a vertex that is not finite");
    if mesh.vertices.len() > HULL_VERTICES {
        return;
    }
    match ConvexHull::new(&mesh.vertices) {
        Ok(hull) => {
            let (count, hull) = (mesh.vertices.len(), hull.mesh());
            assert!(
                hull.vertices().len() <= count,
                "a hull of {} vertices of {count}",
                hull.vertices().len()
            );
            assert!(
                hull.vertices().iter().all(|v| v.iter().all(|x| x.is_finite())),
                "a hull that is not finite"
            );
        }
        Err(error) => message::check(&error.to_string()),
    }
}

/// An OBJ file.
pub fn obj(bytes: &[u8]) {
    mesh(bytes, "fuzz.obj");
}

/// An STL file, binary or ascii.
pub fn stl(bytes: &[u8]) {
    mesh(bytes, "fuzz.stl");
}

/// A PLY file with a mesh.
pub fn ply(bytes: &[u8]) {
    mesh(bytes, "fuzz.ply");
}

fn encode(frame: &Frame) -> Vec<u8> {
    let triangles = FrameTriangles { corners: &frame.triangles, back_colors: &frame.back_colors };
    let mut bytes = Vec::new();
    let written = encode_frame(&mut bytes, &frame.particles, triangles, frame.fields, frame.time);
    assert!(written.is_ok(), "a frame that was read cannot be written: {written:?}");
    bytes
}

/// A frame that is read has triangles of its particles, is not larger than its file, and is the
/// same after it was written and read again.
pub fn frame(bytes: &[u8]) {
    let frame = match parse_frame(bytes, "fuzz.ply") {
        Ok(frame) => frame,
        Err(error) => return message::check(&error.to_string()),
    };
    let count = frame.particles.len();
    assert!(count <= bytes.len() && frame.triangles.len() <= bytes.len(), "more than the file holds");
    assert!(
        frame.triangles.iter().flatten().all(|&v| (v as usize) < count),
        "a particle of {count} that is not"
    );
    assert!(frame.time.is_none_or(f64::is_finite), "at the time {:?}", frame.time);
    assert!(frame.back_colors.is_empty() || frame.back_colors.len() == frame.triangles.len());
    let written = encode(&frame);
    match parse_frame(&written, "again.ply") {
        // Bytes, because NaN differs from itself.
        Ok(again) => assert!(encode(&again) == written, "the frame changed: {frame:?} became {again:?}"),
        Err(error) => panic!("a frame that was written cannot be read: {error}"),
    }
}
