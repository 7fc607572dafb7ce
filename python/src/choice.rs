//! Chosen particles, and arrays with a row for each: checked for kind, shape and numbers.

use std::collections::BTreeSet;

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PySlice;

use crate::errors::refused;

/// A row of `N` numbers for each chosen particle.
pub type Rows<const N: usize> = Vec<[f64; N]>;

/// The particles that a slice, numbers or a mask choose among `count`; none chooses all.
pub fn chosen(particles: Option<&Bound<'_, PyAny>>, count: usize) -> PyResult<Vec<usize>> {
    let Some(particles) = particles else { return Ok((0..count).collect()) };
    if let Ok(slice) = particles.cast::<PySlice>() {
        let range = slice.indices(count as isize)?;
        let at = |k: usize| (range.start + k as isize * range.step) as usize;
        return Ok((0..range.slicelength).map(at).collect());
    }
    let array = as_array(particles)?;
    match kind(&array)? {
        'b' => {
            if array.shape() != [count] {
                return Err(refused(format!(
                    "particles: the shape of the mask is {:?}; it must be ({count},)",
                    array.shape()
                )));
            }
            let mask: Vec<bool> = array.call_method0("tolist")?.extract()?;
            Ok((0..count).filter(|&id| mask[id]).collect())
        }
        'i' | 'u' if array.ndim() == 1 => numbered(&array, count),
        _ if array.shape() == [0] => Ok(Vec::new()),
        _ => Err(refused(format!(
            "particles: a slice, whole numbers or a mask in one row are needed, not {} of shape {:?}",
            array.dtype(),
            array.shape()
        ))),
    }
}

fn numbered(array: &Bound<'_, numpy::PyUntypedArray>, count: usize) -> PyResult<Vec<usize>> {
    let numbers: Vec<i128> = array.call_method0("tolist")?.extract()?;
    let mut seen = BTreeSet::new();
    let mut chosen = Vec::with_capacity(numbers.len());
    for (k, number) in numbers.into_iter().enumerate() {
        let Some(id) = usize::try_from(number).ok().filter(|id| *id < count) else {
            return Err(refused(format!("particles[{k}]: {number} must be from 0 to {}", count as i128 - 1)));
        };
        if !seen.insert(id) {
            return Err(refused(format!("particles[{k}]: {id} is there twice")));
        }
        chosen.push(id);
    }
    Ok(chosen)
}

/// An array of `count` rows of `shape`; none for none. Every number must be finite in f32, in which
/// particles are stored.
pub fn rows<const N: usize>(
    field: &str,
    unit: &str,
    shape: &[usize],
    count: usize,
    value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Rows<N>>> {
    let Some(value) = value else { return Ok(None) };
    let array = as_array(value)?;
    if !matches!(kind(&array)?, 'f' | 'i' | 'u') {
        return Err(refused(format!("{field}: numbers [{unit}] are needed, not {}", array.dtype())));
    }
    let wanted: Vec<usize> = [count].iter().chain(shape).copied().collect();
    if array.shape() != wanted {
        return Err(refused(format!("{field}: its shape is {:?}; it must be {wanted:?}", array.shape())));
    }
    let array = array.call_method1("astype", ("float64",))?;
    let array = array.cast::<PyArrayDyn<f64>>()?.to_vec_in_rows()?;
    if let Some(at) = array.iter().position(|x| !(*x as f32).is_finite()) {
        let (row, rest) = (at / N, at % N);
        let place = match shape.len() {
            0 => format!("{row}"),
            1 => format!("{row}, {rest}"),
            _ => format!("{row}, {}, {}", rest / 3, rest % 3),
        };
        return Err(refused(format!("{field}[{place}]: {} {unit} must be finite", array[at])));
    }
    let (rows, _) = array.as_chunks::<N>();
    Ok(Some(rows.to_vec()))
}

/// The numbers of an array in the order of its rows, whatever its layout.
trait InRows {
    fn to_vec_in_rows(&self) -> PyResult<Vec<f64>>;
}

impl InRows for Bound<'_, PyArrayDyn<f64>> {
    fn to_vec_in_rows(&self) -> PyResult<Vec<f64>> {
        Ok(self.try_readonly()?.as_array().iter().copied().collect())
    }
}

fn as_array<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, numpy::PyUntypedArray>> {
    let array = value.py().import("numpy")?.call_method1("asarray", (value,));
    let array = array.map_err(|error| refused(format!("an array is needed: {error}")))?;
    Ok(array.cast_into::<numpy::PyUntypedArray>()?)
}

/// NumPy's letter of a kind of numbers.
fn kind(array: &Bound<'_, numpy::PyUntypedArray>) -> PyResult<char> {
    array.getattr("dtype")?.getattr("kind")?.extract()
}
