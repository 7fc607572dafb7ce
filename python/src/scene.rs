//! Scenes: names, files, and dicts as JSON.

use pliant_scenes::builtin;
use pliant_scenes::estimate::Estimate;
use pliant_scenes::format::{Assignment, Scene, apply, parse_scene, schema, validate};
use pliant_scenes::load;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::errors::{OrRaise, SceneError, refused};

/// A scene of a name, a path or a dict, with changes to fields (`--set` of the command).
pub fn scene(source: &Bound<'_, PyAny>, changes: Option<&Bound<'_, PyDict>>) -> PyResult<Scene> {
    let changes = assignments(changes)?;
    if source.cast::<PyDict>().is_ok() {
        let text = dumped(source)?;
        let parsed = parse_scene(&text).or_raise::<SceneError>()?;
        let resolved = apply(&parsed, &changes).or_raise::<SceneError>()?;
        validate(&resolved).or_raise::<SceneError>()?;
        return Ok(resolved);
    }
    let path = source.py().import("os")?.call_method1("fspath", (source,)).ok();
    let name: Option<String> = path.and_then(|path| path.extract().ok());
    let Some(name) = name else {
        let kind = source.get_type().name()?;
        return Err(refused(format!("scene: a name, a path or a dict is needed, not {kind}")));
    };
    load::load(&name, &changes).or_raise::<SceneError>()
}

fn assignments(changes: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Assignment>> {
    let Some(changes) = changes else { return Ok(Vec::new()) };
    let one = |(path, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let path: String =
            path.extract().map_err(|_| refused("changes: a path of a field must be a text"))?;
        let text = format!("{path}={}", dumped(&value)?);
        Assignment::parse(&text).or_raise::<SceneError>()
    };
    changes.iter().map(one).collect()
}

/// JSON of a Python value; NumPy's numbers and arrays too. What JSON does not have is refused.
fn dumped(value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.py().import("pliant._json")?.call_method1("dumps", (value,))?.extract()
}

/// A JSON value as a Python one.
pub fn loaded<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}

/// Names of the built-in scenes.
#[pyfunction]
pub fn scene_names() -> Vec<&'static str> {
    builtin::names().collect()
}

/// The JSON schema of scenes.
#[pyfunction]
pub fn scene_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    loaded(py, &schema())
}

/// A scene as a dict, with its defaults, of a name, a path or a dict.
#[pyfunction]
#[pyo3(signature = (scene, changes = None))]
pub fn read_scene<'py>(
    py: Python<'py>,
    scene: &Bound<'py, PyAny>,
    changes: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let scene = self::scene(scene, changes)?;
    loaded(py, &serde_json::to_value(scene).or_raise::<SceneError>()?)
}

/// What the run of a scene would need, from its fields alone: counts, memory, wall time.
#[pyfunction]
#[pyo3(signature = (scene, changes = None))]
pub fn estimate<'py>(
    py: Python<'py>,
    scene: &Bound<'py, PyAny>,
    changes: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let found = Estimate::of(&self::scene(scene, changes)?);
    let value = json!({
        "particles": found.particles,
        "bodies": found.bodies,
        "robots": found.robots,
        "steps": found.steps,
        "substeps": found.substeps,
        "frames": found.frames,
        "memory": found.memory,
        "frame_bytes": found.frame_bytes,
        "predicted_wall_time": found.predicted_wall_time,
        "unknown": found.unknown,
    });
    loaded(py, &value)
}
