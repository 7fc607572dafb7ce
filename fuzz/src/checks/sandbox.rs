//! The only files that a fuzzed model or scene can reach: a few in a temporary folder.

use std::path::{Component, Path};
use std::sync::OnceLock;

use tempfile::TempDir;

/// A cube.
const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
/// A tetrahedron.
const STL: &str = "solid t
facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet
facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet
facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet
facet normal 0 0 0\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet
endsolid t\n";
/// A part of a model, for `<include>`.
const PART: &str = "<mujocoinclude><body name=\"part\"><joint name=\"turn\"/>\
    <geom type=\"mesh\" mesh=\"cube\"/></body></mujocoinclude>";

/// The files.
const FILES: [(&str, &str); 3] = [("cube.obj", OBJ), ("tetrahedron.stl", STL), ("part.xml", PART)];

/// The folder, made once in a process. The operating system clears it.
///
/// # Panics
/// There is no temporary folder.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let made = FOLDER.get_or_init(|| {
        let Ok(folder) = tempfile::tempdir() else { panic!("no temporary folder") };
        for (name, text) in FILES {
            assert!(std::fs::write(folder.path().join(name), text).is_ok(), "{name} cannot be written");
        }
        folder
    });
    made.path()
}

/// Whether a path names one of the files, or nothing, and leads nowhere else.
pub fn holds(path: &str) -> bool {
    if let Some((_, within)) = path.split_once("://") {
        // Folders above are searched for packages: only by the names of the files here.
        return !within.contains("..") && Path::new(within).file_name().is_some_and(is_file);
    }
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

fn is_file(name: &std::ffi::OsStr) -> bool {
    FILES.iter().any(|(file, _)| name == *file)
}
