//! Files that would make a reader panic, allocate without end, or give something unsound. Most were
//! found by the fuzz targets in `fuzz/`.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use pliant_io::mesh::{load_mesh, parse_mesh};
use pliant_io::ply::{parse_frame, read_frame};

const FACES: &str = "element face 1\nproperty list uchar int vertex_indices\n";

/// A PLY file, ascii, with `before` in its header before vertices of `kind`, and `after` behind.
fn ply(before: &str, kind: &str, after: &str) -> String {
    format!(
        "ply\nformat ascii 1.0\n{before}element vertex 3\nproperty {kind} x\nproperty {kind} y\n\
         property {kind} z\n{after}end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
    )
}

/// The message of a mesh that is refused; it names the file.
fn refusal(bytes: impl AsRef<[u8]>) -> String {
    let error = parse_mesh(bytes.as_ref(), "fuzz.ply", 1.0).unwrap_err().to_string();
    assert!(error.contains("fuzz.ply"), "{error}");
    error
}

/// Counts are compared with the size of the file before memory and time are spent on them.
#[test]
fn a_header_that_announces_more_than_the_file_holds_is_refused() {
    let sound = ply("", "float", FACES);
    assert!(parse_mesh(sound.as_bytes(), "fuzz.ply", 1.0).is_ok());
    for (count, what) in
        [("4000000000", "4000000000 elements `vertex`"), ("18446744073709551615", "`vertex`")]
    {
        let error = refusal(sound.replace("vertex 3", &format!("vertex {count}")));
        assert!(error.contains(what) && error.contains("bytes follow the header"), "{error}");
    }
    // Elements of no size would be read for ever.
    let binary = ply("element nothing 18446744073709551615\n", "float", FACES)
        .replace("ascii", "binary_little_endian");
    assert!(refusal(binary).contains("its element `nothing` has no properties"));
}

/// Triangles without area are dropped with the vertices that only they used: as vertices of cloth
/// these would have no mass.
#[test]
fn a_dropped_triangle_leaves_no_vertex() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nv 6 6 6\nf 4 5 4\nf 1 2 3\n";
    let mesh = parse_mesh(text.as_bytes(), "fuzz.obj", 1.0).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2]]);
    assert_eq!(mesh.vertices.len(), 3, "{:?}", mesh.vertices);
}

/// Indices beyond the file, and those that an integer cannot hold times three.
#[test]
fn indices_of_faces_lie_in_the_file() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1\nf -3 -2 -1\n";
    assert!(parse_mesh(text.as_bytes(), "fuzz.obj", 1.0).is_ok());
    for (face, said) in [
        ("f 1 2 4", "line 7: index 4 of 3 vertices"),
        ("f 1 2 0", "index 0"),
        ("f 1 2 -4", "index -4 of 3 vertices"),
        ("f 1 2//-10 3", "index -10 of 1 normals"),
        ("f 1/1 2 3", "index 1 of 0 texture coordinates"),
        ("f 6148914691236517207 2 3", "index 6148914691236517207"),
    ] {
        let error =
            parse_mesh(format!("{text}{face}\n").as_bytes(), "fuzz.obj", 1.0).unwrap_err().to_string();
        assert!(error.contains(said), "{face}: {error}");
    }
}

/// A frame whose positions are whole numbers would be read as zeros.
#[test]
fn properties_of_frames_have_their_types() {
    assert!(parse_frame(ply("", "double", FACES).as_bytes(), "fuzz.ply").is_ok());
    let error = parse_frame(ply("", "int", FACES).as_bytes(), "fuzz.ply").unwrap_err().to_string();
    assert!(error.contains("`x` of its particles must be float or double"), "{error}");
}

/// Messages repeat only the beginning of what is wrong, without control characters.
#[test]
fn messages_are_short_and_printable() {
    let long = format!("solid a\n{}\n", "\u{1b}[31m".repeat(10_000));
    let error = parse_mesh(long.as_bytes(), "fuzz.stl", 1.0).unwrap_err().to_string();
    assert!(error.len() < 1000 && !error.contains('\u{1b}'), "{error}");
    let error = refusal(ply("", "float", FACES).replace("3 0 1 2", &"\u{1b}".repeat(10_000)));
    assert!(error.len() < 1000 && !error.contains('\u{1b}'), "{error}");
}

/// A robot's file may name anything: a device would be read for ever, a pipe waited for.
#[test]
#[cfg(unix)]
fn only_regular_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("endless.obj");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    for path in [&link, &folder.path().join("folder.stl")] {
        if path != &link {
            std::fs::create_dir(path).unwrap();
        }
        let error = load_mesh(path, 1.0).unwrap_err().to_string();
        assert!(error.contains("not a regular file") && error.contains(path.to_str().unwrap()), "{error}");
    }
    let error = read_frame(Path::new("/dev/zero")).unwrap_err().to_string();
    assert!(error.contains("not a regular file"), "{error}");
}
