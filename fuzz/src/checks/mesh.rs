//! Triangle meshes and frames of particles.

use std::path::Path;
use std::sync::OnceLock;

use pliant_geometry::ConvexHull;
use pliant_io::mesh::{MeshData, MeshError, load_mesh_parts, mean_color, parse_mesh};
use pliant_io::ply::{Frame, FrameTriangles, encode_frame, parse_frame};

use tempfile::TempDir;

use super::message;

/// Largest mesh of which a hull is made \[vertices\].
const HULL_VERTICES: usize = 200;

/// Vertices and triangles that instances may add to what a file holds.
const INSTANCES: usize = 1 << 20;

/// Reads a mesh: as a whole it is sound, and not larger than its file.
fn mesh(bytes: &[u8], name: &str) {
    match parse_mesh(bytes, name, 1.0) {
        Ok(mesh) => sound(&mesh, bytes.len()),
        Err(error) => refused(&error, name),
    }
}

/// An error names the file.
fn refused(error: &MeshError, name: &str) {
    let text = error.to_string();
    assert!(text.contains(name), "the file is not named: {text}");
    message::check(&text);
}

/// A mesh has at least one triangle, indices in range, three corners each, finite vertices that are
/// all used, and at most `most` of each.
fn sound(mesh: &MeshData, most: usize) {
    assert!(!mesh.triangles.is_empty(), "a mesh without triangles");
    assert!(mesh.triangles.len() <= most && mesh.vertices.len() <= most, "more than the file holds");
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

/// A mesh with what is beside it: the first byte names the format.
///
/// - `g` glTF and `d` COLLADA, whose parts together have the triangles of the whole;
/// - `m` MSH;
/// - `o` OBJ with its materials after a line `#mtl`, and a texture;
/// - `p` PNG, as a texture.
pub fn beside(bytes: &[u8]) {
    let Some((format, rest)) = bytes.split_first() else { return };
    match format {
        b'g' => parts(rest, "fuzz.glb"),
        b'd' => parts(rest, "fuzz.dae"),
        b'm' => mesh(rest, "fuzz.msh"),
        b'o' => {
            let mark = rest.windows(MATERIALS.len()).position(|window| window == MATERIALS);
            let (obj, mtl) = rest.split_at(mark.unwrap_or(rest.len()));
            write("fuzz.mtl", mtl);
            parts(obj, "fuzz.obj");
        }
        b'p' => {
            write("fuzz.png", rest);
            let _ = mean_color(rest);
        }
        _ => {}
    }
}

/// What comes before the materials of an OBJ.
const MATERIALS: &[u8] = b"\n#mtl\n";

/// The folder of the files, made once in a process.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let made = FOLDER.get_or_init(|| {
        let Ok(folder) = tempfile::tempdir() else { panic!("no temporary folder") };
        folder
    });
    made.path()
}

fn write(name: &str, bytes: &[u8]) {
    assert!(std::fs::write(folder().join(name), bytes).is_ok(), "{name} cannot be written");
}

/// What is read as a whole is read in parts, which together have its triangles; each is sound.
fn parts(bytes: &[u8], name: &str) {
    write(name, bytes);
    let read = load_mesh_parts(folder().join(name), 1.0);
    match (parse_mesh(bytes, name, 1.0), read) {
        (Ok(mesh), Ok(read)) => {
            sound(&mesh, bytes.len() + INSTANCES);
            read.parts.iter().for_each(|part| sound(&part.mesh, bytes.len() + INSTANCES));
            let count: usize = read.parts.iter().map(|part| part.mesh.triangles.len()).sum();
            assert!(count == mesh.triangles.len(), "{count} triangles of {}", mesh.triangles.len());
            assert!(read.files.iter().all(|file| file.starts_with(folder())), "{:?}", read.files);
        }
        (Err(whole), Err(part)) => {
            refused(&whole, name);
            refused(&part, name);
        }
        (Ok(_), Err(error)) => panic!("parts of what can be read cannot: {error}"),
        (Err(error), Ok(_)) => panic!("what cannot be read has parts: {error}"),
    }
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
