//! Vectors and poses to and from Python: any sequence or array of numbers of the right length.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use numpy::PyArray1;
use pliant_coupling::Wrench;
use pyo3::prelude::*;

use crate::errors::refused;

/// A position \[m\] and an orientation, a unit quaternion (w, x, y, z).
pub type PoseArrays<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);
/// A force \[N\] and a torque \[N m\], or an angular \[rad/s\] and a linear velocity \[m/s\].
pub type VectorPair<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// `N` numbers of a field, all finite.
pub fn numbers<const N: usize>(field: &str, unit: &str, value: &Bound<'_, PyAny>) -> PyResult<[f64; N]> {
    let list: Vec<f64> = value
        .extract()
        .or_else(|_| value.call_method0("tolist").and_then(|list| list.extract()))
        .map_err(|_| refused(format!("{field}: {N} numbers [{unit}] are needed, not {}", shown(value))))?;
    let found = list.len();
    let list: [f64; N] = list
        .try_into()
        .map_err(|_| refused(format!("{field}: {found} numbers given, {N} [{unit}] are needed")))?;
    match list.iter().position(|x| !x.is_finite()) {
        Some(at) => Err(refused(format!("{field}[{at}]: {} {unit} must be finite", list[at]))),
        None => Ok(list),
    }
}

/// A value as an error shows it: its beginning.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
    text.chars().take(80).collect()
}

/// A vector of a field.
pub fn vector(field: &str, unit: &str, value: &Bound<'_, PyAny>) -> PyResult<Vector3<f64>> {
    Ok(numbers::<3>(field, unit, value)?.into())
}

/// A pose of a position and an orientation (w, x, y, z), which need not be normalised; none is no
/// turn.
pub fn pose(position: &Bound<'_, PyAny>, orientation: Option<&Bound<'_, PyAny>>) -> PyResult<Isometry3<f64>> {
    let position = vector("position", "m", position)?;
    let turn = match orientation {
        None => UnitQuaternion::identity(),
        Some(value) => {
            let [w, x, y, z] = numbers::<4>("orientation", "-", value)?;
            let turn = Quaternion::new(w, x, y, z);
            if !(1e-6..1e6).contains(&turn.norm()) {
                return Err(refused(format!(
                    "orientation: ({w}, {x}, {y}, {z}) is no quaternion (w, x, y, z) of a turn"
                )));
            }
            UnitQuaternion::from_quaternion(turn)
        }
    };
    Ok(Isometry3::from_parts(Translation3::from(position), turn))
}

/// Three numbers as an array.
pub fn array<'py>(py: Python<'py>, v: &Vector3<f64>) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_slice(py, v.as_slice())
}

/// A pose as two arrays.
pub fn pose_arrays<'py>(py: Python<'py>, pose: &Isometry3<f64>) -> PoseArrays<'py> {
    let q = pose.rotation;
    (array(py, &pose.translation.vector), PyArray1::from_slice(py, &[q.w, q.i, q.j, q.k]))
}

/// A wrench as two arrays.
pub fn wrench_arrays<'py>(py: Python<'py>, wrench: &Wrench) -> VectorPair<'py> {
    (array(py, &wrench.force), array(py, &wrench.torque))
}
