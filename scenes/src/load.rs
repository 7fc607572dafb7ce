//! A scene by its built-in name or from its file.

use std::io;
use std::path::Path;

use std::collections::BTreeMap;

use pliant_import::{self, ImportError, LoadOptions, Repair};
use pliant_rigid::multibody::JointKind;

use crate::builtin::{self, BuiltinError};
use crate::format::{
    Assignment, BodySpec, Geometry, Motion, ParseError, Pose, RigidShape, Robot, Scene, SetError,
    ValidationError, apply, goals_within_duration, parse_scene, validate,
};
use crate::lowest::lowest_point;

/// How long a model file alone is simulated \[s\].
const MODEL_DURATION: f64 = 5.0;
/// Its step if it has none \[s\].
const MODEL_STEP: f64 = 2e-3;

/// A scene could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read, and there is no built-in scene of this name.
    #[error("scene '{scene}': {source}; built-in scenes are {builtin}")]
    File {
        /// The argument.
        scene: String,
        /// Why it cannot be read.
        source: io::Error,
        /// The known names.
        builtin: String,
    },
    /// The model file cannot be read.
    #[error("scene '{scene}': {source}")]
    Model {
        /// The argument.
        scene: String,
        /// What is wrong.
        source: Box<ImportError>,
    },
    /// The text is not a scene.
    #[error("scene '{scene}': {source}")]
    Parse {
        /// The argument.
        scene: String,
        /// What is wrong with it.
        source: ParseError,
    },
    /// A change cannot be made.
    #[error("scene '{scene}': {source}")]
    Set {
        /// The argument.
        scene: String,
        /// Which change, and why.
        source: SetError,
    },
    /// A built-in scene that cannot be read.
    #[error("built-in scene '{scene}': {source}")]
    BuiltIn {
        /// The argument.
        scene: String,
        /// What is wrong.
        source: Box<BuiltinError>,
    },
    /// The scene's values are not valid.
    #[error("scene '{scene}':\n{source}")]
    Invalid {
        /// The argument.
        scene: String,
        /// All problems.
        source: ValidationError,
    },
}

/// Reads a scene: a built-in name, a JSON file whose relative paths are relative to it, or a
/// robot's MJCF or URDF file alone.
///
/// # Errors
/// There is no such scene or file, or it is not a scene. The values are not validated yet.
pub fn read(scene: &str) -> Result<Scene, LoadError> {
    let parse_error = |source| LoadError::Parse { scene: scene.to_owned(), source };
    if let Some(built_in) = builtin::scene(scene) {
        return built_in
            .map_err(|source| LoadError::BuiltIn { scene: scene.to_owned(), source: Box::new(source) });
    }
    let file_error = |source| LoadError::File {
        scene: scene.to_owned(),
        source,
        builtin: builtin::names().collect::<Vec<_>>().join(", "),
    };
    if is_model(scene) {
        return model_alone(Path::new(scene))
            .map_err(|source| LoadError::Model { scene: scene.to_owned(), source: Box::new(source) });
    }
    let text = std::fs::read_to_string(scene).map_err(file_error)?;
    let mut parsed = parse_scene(&text).map_err(parse_error)?;
    let folder = Path::new(scene).parent().unwrap_or(Path::new(""));
    place_files(&mut parsed, folder).map_err(file_error)?;
    Ok(parsed)
}

/// Whether a file is a robot's model: MJCF or URDF.
fn is_model(scene: &str) -> bool {
    let extension = Path::new(scene).extension().and_then(|e| e.to_str()).unwrap_or("");
    ["xml", "mjcf", "urdf"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// The scene of a model file alone: its step and gravity, its first keyframe if it has one.
fn model_alone(file: &Path) -> Result<Scene, ImportError> {
    // Only facts are taken from the model here; what needs a repair that was not asked for is
    // refused where the scene is built.
    let all = LoadOptions { repairs: Repair::ALL.into(), ..LoadOptions::default() };
    let model = pliant_import::load(file).or_else(|_| pliant_import::load_with(file, &all))?;
    let stem = file.file_stem().map_or_else(|| "model".into(), |stem| stem.to_string_lossy().into_owned());
    let name: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
    let mut scene = Scene::empty(&name, MODEL_DURATION, model.time_step.unwrap_or(MODEL_STEP));
    scene.description = format!("The model {} alone.", file.display());
    scene.gravity = model.system.model.gravity.into();
    scene.robots.push(Robot {
        name,
        file: Some(std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf())),
        model: None,
        parent: None,
        pose: Pose::default(),
        keyframe: model.keyframes.first().map(|key| key.name.clone()).filter(|name| !name.is_empty()),
        positions: BTreeMap::new(),
        controls: BTreeMap::new(),
        mocap: BTreeMap::new(),
        floating: None,
        repair: Vec::new(),
        decompose: None,
        // They are printed, and stand in the manifest.
        ignore_warnings: true,
    });
    // Bodies that can fall get a floor if the file has none.
    let falls = model.system.model.links().iter().any(|link| link.joint == JointKind::Free);
    if falls && model.geometries.iter().all(|g| g.link.is_some()) {
        let start = model.keyframes.first().map_or(&model.state, |key| &key.state);
        scene.bodies.push(floor(lowest_point(&model, start).unwrap_or(0.0).min(0.0)));
    }
    Ok(scene)
}

/// The half-space below a height \[m\].
fn floor(height: f64) -> BodySpec {
    let pose = Pose { position: [0.0, 0.0, height], ..Pose::default() };
    BodySpec {
        name: "floor".to_owned(),
        motion: Motion::Fixed { pose },
        geometries: vec![Geometry::new(RigidShape::HalfSpace {})],
    }
}

/// Reads a scene, makes the changes, and validates it.
///
/// # Errors
/// [`LoadError`], naming the scene and the field.
pub fn load(scene: &str, changes: &[Assignment]) -> Result<Scene, LoadError> {
    let written = read(scene)?;
    let resolved =
        apply(&written, changes).map_err(|source| LoadError::Set { scene: scene.to_owned(), source })?;
    let invalid = |source| LoadError::Invalid { scene: scene.to_owned(), source };
    validate(&resolved).map_err(invalid)?;
    if resolved.duration == written.duration {
        goals_within_duration(&resolved).map_err(invalid)?;
    }
    Ok(resolved)
}

/// Makes the paths of meshes and robots absolute, so that the scene is independent of the working
/// directory.
fn place_files(scene: &mut Scene, folder: &Path) -> io::Result<()> {
    for file in scene.files_mut() {
        *file = std::path::absolute(folder.join(&file))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: a robot's file is found beside the scene file, from any working directory.
    #[test]
    fn robots_are_found_relative_to_the_scene_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scene.json");
        let json = r#"{ "name": "a", "duration": 1, "dt": 0.01, "robots": [{ "name": "r", "file": "arm/arm.urdf" }] }"#;
        std::fs::write(&path, json).unwrap();
        let scene = load(path.to_str().unwrap(), &[]).unwrap();
        assert_eq!(scene.robots[0].file, Some(folder.path().join("arm/arm.urdf")));
        // A missing file is named.
        let error = crate::assemble::assemble(&scene, None).unwrap_err().to_string();
        assert!(error.contains("robots[0]") && error.contains("arm.urdf"), "{error}");
    }
}
