//! Paths in a run directory.

use std::path::{Component, Path, PathBuf};

use pliant_io::text::is_obeyed;

/// Folder of the frames in a run directory.
pub const FRAMES: &str = "frames";

/// The file of a frame in a run directory.
pub fn frame_path(directory: &Path, frame: usize) -> PathBuf {
    directory.join(FRAMES).join(format!("{frame:06}.ply"))
}

/// Checks that names lead to files in the run directory: a manifest or checkpoint that was edited must
/// not name others.
///
/// # Errors
/// The first name that does not.
pub fn check_names<'a>(names: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
    let is_within = |name: &str| {
        let mut parts = Path::new(name).components();
        !name.is_empty()
            && !name.contains(is_obeyed)
            && parts.all(|part| matches!(part, Component::Normal(_)))
    };
    match names.into_iter().find(|name| !is_within(name)) {
        Some(name) => Err(format!("it names the file '{name}', which is not in the run directory")),
        None => Ok(()),
    }
}

/// The folder that keeps the hulls of decomposed meshes, for all run directories beside it.
pub fn hull_folder(directory: &Path) -> PathBuf {
    // `.` has no name that another could replace.
    let named = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
    named.with_file_name(".hulls")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_into_the_run_directory() {
        let check = |name: &str| check_names(&[name.to_owned()]);
        for name in ["bodies.csv", "tactile/skin.csv", "plots/Kräfte 1.svg"] {
            assert!(check(name).is_ok(), "{name}");
        }
        for name in ["", "/dev/zero", "../other/bodies.csv", "a/../../b", "a\nb"] {
            assert!(check(name).is_err(), "{name}");
        }
    }
}
