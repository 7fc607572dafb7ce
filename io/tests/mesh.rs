//! The same cube from OBJ, STL and PLY; broken files.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pliant_geometry::{Shape, TriangleMesh};
use pliant_io::mesh::{MeshError, load_mesh};

const CORNERS: [[f64; 3]; 8] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [1.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 1.0],
    [0.0, 1.0, 1.0],
    [1.0, 1.0, 1.0],
];

const CUBE: [[u32; 3]; 12] = [
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [0, 4, 6],
    [0, 6, 2],
    [1, 3, 7],
    [1, 7, 5],
];

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn obj() -> String {
    let mut text = String::from("mtllib none.mtl\no cube\n");
    for c in CORNERS {
        writeln!(text, "v {} {} {}", c[0], c[1], c[2]).unwrap();
    }
    // Four quads and, in an object of its own, the rest as triangles.
    text += "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\no rest\n";
    for t in &CUBE[8..] {
        writeln!(text, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1).unwrap();
    }
    text
}

fn ascii_stl() -> String {
    let mut text = String::from("solid cube\n");
    for t in CUBE {
        text += "facet normal 0 0 0\nouter loop\n";
        for v in t {
            let c = CORNERS[v as usize];
            writeln!(text, "vertex {} {} {}", c[0], c[1], c[2]).unwrap();
        }
        text += "endloop\nendfacet\n";
    }
    text + "endsolid cube\n"
}

fn binary_stl() -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend((CUBE.len() as u32).to_le_bytes());
    for t in CUBE {
        bytes.extend([0; 12]);
        for v in t {
            // The far corner of a face as -0: it must weld with 0.
            bytes.extend(
                CORNERS[v as usize]
                    .iter()
                    .flat_map(|&x| (if x == 0.0 { -0.0 } else { x as f32 }).to_le_bytes()),
            );
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn ply() -> String {
    let mut text = String::from(
        "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n\
         element face 12\nproperty list uchar int vertex_indices\nend_header\n",
    );
    for c in CORNERS {
        writeln!(text, "{} {} {}", c[0], c[1], c[2]).unwrap();
    }
    for t in CUBE {
        writeln!(text, "3 {} {} {}", t[0], t[1], t[2]).unwrap();
    }
    text
}

// A unit cube at 2 m a file unit has 8 vertices, 12 triangles and 8 m^3, whichever format it comes
// in.
#[test]
fn every_format_gives_the_same_closed_cube() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        write(folder.path(), "a.obj", obj()),
        write(folder.path(), "a.STL", ascii_stl()),
        write(folder.path(), "b.stl", binary_stl()),
        write(folder.path(), "a.ply", ply()),
    ];
    for path in files {
        let mesh = load_mesh(&path, 2.0).unwrap();
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (8, 12), "{}", path.display());
        let solid = Shape::Mesh(TriangleMesh::new(mesh.vertices, mesh.triangles).unwrap());
        let (volume, ..) = solid.mass_properties(1.0).unwrap();
        // Small integers: exact but for the divisions by 6.
        assert!((volume - 8.0).abs() < 1e-14, "{}: {volume}", path.display());
    }
}

#[test]
fn bad_files_are_typed_errors_that_name_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, content: &str| write(folder.path(), name, content);
    type Case = (PathBuf, fn(&MeshError) -> bool);
    let cases: [Case; 8] = [
        (folder.path().join("missing.obj"), |e| matches!(e, MeshError::Io(_))),
        (at("bad.obj", "v 0 0 0\nf 1 2 9\n"), |e| matches!(e, MeshError::Io(_))),
        (at("bad.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 1 2\n"), |e| {
            matches!(e, MeshError::Io(_))
        }),
        (at("cut.stl", "not an stl"), |e| matches!(e, MeshError::Io(_))),
        (at("bad.ply", "plx\n"), |e| matches!(e, MeshError::Io(_))),
        (at("empty.obj", "v 0 0 0\n"), |e| matches!(e, MeshError::NoTriangles { .. })),
        (at("a.blend", ""), |e| matches!(e, MeshError::UnsupportedExtension { .. })),
        (at("nan.obj", "v 0 0 NaN\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), |e| {
            matches!(e, MeshError::NonFiniteVertex { .. })
        }),
    ];
    for (path, expected) in cases {
        let error = load_mesh(&path, 1.0).unwrap_err();
        assert!(expected(&error), "{}: {error:?}", path.display());
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(error.to_string().contains(&name), "{error}");
    }
    let whole = at("whole.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(load_mesh(&whole, scale), Err(MeshError::InvalidScale { .. })));
    }
}
