//! Reads the sources, manifests and documents of the workspace.

pub mod documents;
pub mod imports;
pub mod manifests;
pub mod modules;

use std::path::{Path, PathBuf};

/// The folder of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file of the repository.
pub fn read(file: &str) -> String {
    std::fs::read_to_string(repository().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The files below a folder that have one of the extensions, relative to the repository, sorted.
/// Build folders and hidden folders are left out.
pub fn files_below(folder: &str, extensions: &[&str]) -> Vec<String> {
    let mut open: Vec<PathBuf> = vec![repository().join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    open.push(path);
                }
            } else if extensions.iter().any(|extension| path.extension().is_some_and(|e| e == *extension)) {
                let relative = path.strip_prefix(repository()).unwrap();
                files.push(relative.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    files.sort();
    files
}
