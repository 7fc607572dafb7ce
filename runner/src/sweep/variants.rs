//! Variants of a scene by lists of values.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::run::RunError;
use pliant_io::files::IoError;
use pliant_scenes::format::{Assignment, Scene, SetError, ValidationError, apply, split_values, validate};
use pliant_scenes::load::load;

/// Values of one field: `path=a,b,c`.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptField {
    /// Path of the field.
    pub path: String,
    /// Its values.
    pub values: Vec<Value>,
}

/// One variant of a swept scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Name of its run directory within the sweep's.
    pub name: String,
    /// Its changes.
    pub changes: Vec<Assignment>,
    /// The scene with the changes; why there is none, if its file holds no valid scene.
    pub scene: Result<Scene, String>,
}

/// A sweep that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A change cannot be made, or the text is not `path=a,b,c`.
    #[error(transparent)]
    Set(#[from] SetError),
    /// A variant is not a valid scene.
    #[error("variant {name}:\n{source}")]
    Invalid {
        /// Name of the variant.
        name: String,
        /// What is wrong.
        source: ValidationError,
    },
    /// Two variants are the same.
    #[error("variant {name} is given twice: a value or the name of a file is repeated")]
    Repeated {
        /// Name of the variant.
        name: String,
    },
    /// Nothing is varied.
    #[error("no field is varied: give --vary path=a,b,c or --random path=low..high")]
    Empty,
    /// A path is varied twice.
    #[error("{path} is varied twice")]
    Twice {
        /// The path.
        path: String,
    },
    /// A run cannot be written.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<IoError> for SweepError {
    fn from(error: IoError) -> Self {
        Self::Run(error.into())
    }
}

impl SweptField {
    /// Reads `path=a,b,c`; commas inside brackets do not separate values.
    ///
    /// # Errors
    /// [`SetError::Syntax`].
    pub fn parse(text: &str) -> Result<Self, SetError> {
        match text.split_once('=') {
            Some((path, values)) if !path.trim().is_empty() && !values.trim().is_empty() => {
                Ok(Self { path: path.trim().to_owned(), values: split_values(values) })
            }
            _ => Err(SetError::Syntax(text.to_owned())),
        }
    }
}

/// Every combination of the axes' values, the last axis fastest, all validated.
///
/// # Errors
/// [`SweepError`]: an unknown path, a variant that is not a valid scene, a repeated value.
pub fn variants(scene: &Scene, axes: &[SweptField]) -> Result<Vec<Variant>, SweepError> {
    if axes.is_empty() {
        return Err(SweepError::Empty);
    }
    let mut combinations: Vec<Vec<Assignment>> = vec![Vec::new()];
    for axis in axes {
        let longer = combinations.iter().flat_map(|changes| {
            axis.values.iter().map(|value| {
                let mut changes = changes.clone();
                changes.push(Assignment { path: axis.path.clone(), value: value.clone() });
                changes
            })
        });
        combinations = longer.collect();
    }
    let mut names = BTreeMap::new();
    let mut variants = Vec::with_capacity(combinations.len());
    for changes in combinations {
        let name = changes.iter().map(directory_name).collect::<Vec<_>>().join("+");
        let changed = apply(scene, &changes)?;
        validate(&changed).map_err(|source| SweepError::Invalid { name: name.clone(), source })?;
        if names.insert(name.clone(), ()).is_some() {
            return Err(SweepError::Repeated { name });
        }
        variants.push(Variant { name, changes, scene: Ok(changed) });
    }
    Ok(variants)
}

/// One variant for each of several scenes, built-in or files, with the same `changes`; the name is
/// that of the file without its extension. One that is no valid scene stays, with the reason, and
/// is reported among the others.
///
/// # Errors
/// [`SweepError::Repeated`]: two files have the same name.
pub fn of_scenes(scenes: &[String], changes: &[Assignment]) -> Result<Vec<Variant>, SweepError> {
    let mut variants: Vec<Variant> = Vec::with_capacity(scenes.len());
    let mut names = BTreeSet::new();
    for scene in scenes {
        let stem =
            Path::new(scene).file_stem().map_or_else(|| scene.clone(), |s| s.to_string_lossy().into_owned());
        let name = plain(&stem);
        if !names.insert(name.clone()) {
            return Err(SweepError::Repeated { name });
        }
        let scene = load(scene, changes).map_err(|error| error.to_string());
        variants.push(Variant { name, changes: Vec::new(), scene });
    }
    Ok(variants)
}

/// `contact.stiffness=1e4` as a part of a file name: characters that are special in a shell or a
/// file system become `_`.
fn directory_name(change: &Assignment) -> String {
    plain(&change.to_string())
}

fn plain(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "=.-_,".contains(c) { c } else { '_' };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_scenes::builtin;

    fn axes(texts: &[&str]) -> Vec<SweptField> {
        texts.iter().map(|text| SweptField::parse(text).unwrap()).collect()
    }

    // Checks: n values on one axis and m on another make n m variants, each with its own name and
    // values.
    #[test]
    fn variants_are_all_combinations() {
        let scene = builtin::scene("elastic-drop").unwrap().unwrap();
        let axes = axes(&["materials.rubber.density=500,1000,2000", "gravity=[0,0,-9.81],[0,0,-1.62]"]);
        let variants = variants(&scene, &axes).unwrap();
        assert_eq!(variants.len(), 6);
        assert_eq!(variants[1].scene.as_ref().unwrap().gravity, [0.0, 0.0, -1.62]);
        assert_eq!(
            variants[2].scene.as_ref().unwrap().materials["rubber"].particle_material().density,
            1000.0
        );
        assert_eq!(variants[0].name, "materials.rubber.density=500+gravity=_0,0,-9.81_");
    }

    #[test]
    fn bad_variants_are_refused_before_any_runs() {
        let scene = builtin::scene("elastic-drop").unwrap().unwrap();
        let all = |texts: &[&str]| variants(&scene, &axes(texts));
        assert!(matches!(all(&[]), Err(SweepError::Empty)));
        assert!(matches!(all(&["dt=0.01,0.01"]), Err(SweepError::Repeated { .. })));
        assert!(matches!(all(&["dt=0.01,-1"]), Err(SweepError::Invalid { .. })));
        assert!(matches!(all(&["dd=1"]), Err(SweepError::Set(SetError::UnknownPath { .. }))));
        assert!(SweptField::parse("dt").is_err());
        assert!(SweptField::parse("dt=").is_err());
    }
}
