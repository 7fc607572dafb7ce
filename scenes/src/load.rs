//! A scene by its built-in name or from its file.

use std::io;
use std::path::{Path, PathBuf};

use crate::builtin;
use crate::format::{
    Assignment, ParseError, RigidShape, Scene, SetError, SoftShape, ValidationError, apply, parse_scene,
    validate,
};

/// A scene could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read, and there is no built-in scene of this name.
    #[error("scene '{scene}': {source}; built-in scenes are {builtin}")]
    File {
        /// What was asked for.
        scene: String,
        /// Why it cannot be read.
        source: io::Error,
        /// The names that would have been known.
        builtin: String,
    },
    /// The text is not a scene.
    #[error("scene '{scene}': {source}")]
    Parse {
        /// What was asked for.
        scene: String,
        /// What is wrong with it.
        source: ParseError,
    },
    /// A change cannot be made.
    #[error("scene '{scene}': {source}")]
    Set {
        /// What was asked for.
        scene: String,
        /// Which change, and why.
        source: SetError,
    },
    /// The scene's figures are not valid.
    #[error("scene '{scene}':\n{source}")]
    Invalid {
        /// What was asked for.
        scene: String,
        /// Everything that is wrong.
        source: ValidationError,
    },
}

/// Reads a scene: a built-in name, or a JSON file whose relative paths are relative to it.
///
/// # Errors
/// There is no such scene or file, or it is not a scene. The figures are not validated yet.
pub fn read(scene: &str) -> Result<Scene, LoadError> {
    let parse_error = |source| LoadError::Parse { scene: scene.to_owned(), source };
    if let Some(built_in) = builtin::scene(scene) {
        return built_in.map_err(parse_error);
    }
    let file_error = |source| LoadError::File {
        scene: scene.to_owned(),
        source,
        builtin: builtin::names().collect::<Vec<_>>().join(", "),
    };
    let text = std::fs::read_to_string(scene).map_err(file_error)?;
    let mut parsed = parse_scene(&text).map_err(parse_error)?;
    let folder = Path::new(scene).parent().unwrap_or(Path::new(""));
    place_files(&mut parsed, folder).map_err(file_error)?;
    Ok(parsed)
}

/// Reads a scene, makes the changes, and validates it.
///
/// # Errors
/// [`LoadError`], naming the scene and the field.
pub fn load(scene: &str, changes: &[Assignment]) -> Result<Scene, LoadError> {
    let resolved =
        apply(&read(scene)?, changes).map_err(|source| LoadError::Set { scene: scene.to_owned(), source })?;
    validate(&resolved).map_err(|source| LoadError::Invalid { scene: scene.to_owned(), source })?;
    Ok(resolved)
}

/// Makes the paths of meshes and robots absolute, so that the scene means the same wherever it is run.
fn place_files(scene: &mut Scene, folder: &Path) -> io::Result<()> {
    let place = |file: &mut PathBuf| -> io::Result<()> {
        *file = std::path::absolute(folder.join(&file))?;
        Ok(())
    };
    for soft in &mut scene.soft {
        if let SoftShape::Mesh { file, .. } = &mut soft.shape {
            place(file)?;
        }
    }
    for robot in &mut scene.robots {
        if let Some(file) = &mut robot.file {
            place(file)?;
        }
    }
    for body in &mut scene.bodies {
        for geometry in &mut body.geometries {
            if let RigidShape::Mesh { file, .. } = &mut geometry.shape {
                place(file)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // The law: a robot's file is found beside the scene file, from wherever the scene is run.
    #[test]
    fn robots_are_found_relative_to_the_scene_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scene.json");
        let json = r#"{ "name": "a", "duration": 1, "dt": 0.01, "robots": [{ "name": "r", "file": "arm/arm.urdf" }] }"#;
        std::fs::write(&path, json).unwrap();
        let scene = load(path.to_str().unwrap(), &[]).unwrap();
        assert_eq!(scene.robots[0].file, Some(folder.path().join("arm/arm.urdf")));
        // Within the world it has no counterpart yet, and is not left out without a word.
        let error = crate::assemble::assemble(&scene).unwrap_err().to_string();
        assert!(error.contains("not connected"), "{error}");
    }
}
