//! Mechanisms from files: MJCF (MuJoCo's XML) and URDF.
//!
//! The tables in `docs/import.md` list for every element and attribute whether it is supported,
//! approximated, left out or refused. They are printed from the tables with which the code checks
//! every file ([`support_table`]). Nothing is dropped silently: parts that are left out or
//! approximated give an [`ImportWarning`], parts that cannot be left out an [`ImportError`].
//!
//! A file becomes an [`Imported`]: the [`System`](pliant_rigid::simulation::System) (mechanism,
//! motors, constraints), the geometries that can touch, those that are only drawn, and the initial
//! state.
//!
//! ```
//! use pliant_import as import;
//!
//! let text = r#"<mujoco><worldbody><body name="bob" pos="0 0 1">
//!   <joint name="swing" axis="0 1 0" pos="0 0 0.5"/> <geom type="sphere" size="0.1" mass="2"/>
//! </body></worldbody></mujoco>"#;
//! let pendulum = import::from_mjcf(text, ".")?;
//! assert!(pendulum.warnings.is_empty());
//! assert_eq!(pendulum.system.model.velocities(), 1);
//! # Ok::<(), import::ImportError>(())
//! ```

mod decompose;
mod element;
mod error;
mod imported;
mod mesh;
mod mesh_mass;
mod mjcf;
mod options;
mod summary;
mod support;
mod urdf;

use std::path::Path;

pub use error::{ImportError, ImportProblem, ImportWarning, SourceLocation, WarningKind};
pub use imported::{Imported, ImportedJoint, Input, Keyframe, Visual};
pub use options::{Decompose, LoadOptions, Repair};
pub use summary::summarised;

/// Reads a mechanism from a file: MJCF if the root element is `<mujoco>`, URDF if it is `<robot>`.
/// Meshes and included files are found relative to the file.
///
/// # Errors
/// [`ImportError`] with file, line, element, attribute and value.
pub fn load(path: impl AsRef<Path>) -> Result<Imported, ImportError> {
    load_with(path, &LoadOptions::default())
}

/// As [`load`], with choices of the user.
///
/// # Errors
/// As [`load`].
pub fn load_with(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Imported, ImportError> {
    let path = path.as_ref();
    let file = path.display().to_string();
    let text = element::read_text(path).map_err(|problem| ImportError {
        location: SourceLocation { file: file.clone(), ..SourceLocation::default() },
        attribute: String::new(),
        value: String::new(),
        problem: Box::new(problem),
        repair: None,
    })?;
    let root = element::parse(&text, &file)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    let mut imported = match root.tag.as_str() {
        "mujoco" => mjcf::read(root, directory, options),
        "robot" => urdf::read(root, directory, options),
        _ => Err(root.fail(ImportProblem::UnknownFormat)),
    }?;
    imported.files.insert(0, path.to_path_buf());
    Ok(imported)
}

/// Reads a mechanism from MJCF text; meshes and included files are found relative to `directory`.
///
/// # Errors
/// As [`load`].
pub fn from_mjcf(text: &str, directory: impl AsRef<Path>) -> Result<Imported, ImportError> {
    let root = element::parse(text, "<text>")?;
    if root.tag != "mujoco" {
        return Err(root.fail(ImportProblem::UnknownFormat));
    }
    mjcf::read(root, directory.as_ref(), &LoadOptions::default())
}

/// Reads a mechanism from URDF text; meshes are found relative to `directory`.
///
/// # Errors
/// As [`load`].
pub fn from_urdf(text: &str, directory: impl AsRef<Path>) -> Result<Imported, ImportError> {
    from_urdf_with(text, directory, &LoadOptions::default())
}

/// The same, in another way than the usual one.
///
/// # Errors
/// As [`load`].
pub fn from_urdf_with(
    text: &str,
    directory: impl AsRef<Path>,
    options: &LoadOptions,
) -> Result<Imported, ImportError> {
    let root = element::parse(text, "<text>")?;
    if root.tag != "robot" {
        return Err(root.fail(ImportProblem::UnknownFormat));
    }
    urdf::read(root, directory.as_ref(), options)
}

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// MuJoCo's XML.
    Mjcf,
    /// The Unified Robot Description Format.
    Urdf,
}

/// The table of support for every element and attribute of a format, as Markdown.
pub fn support_table(format: Format) -> String {
    match format {
        Format::Mjcf => support::markdown(mjcf::TABLE),
        Format::Urdf => support::markdown(urdf::TABLE),
    }
}
