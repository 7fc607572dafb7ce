//! Cloth of a world: its triangles, and the pins that hold it.

use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice};

use crate::convert::vector;
use crate::errors::{OrRaise, SceneError, ValueError, raised};
use crate::world::{Held, World};

/// The number of a cloth.
fn number(held: &Held, name: &str) -> PyResult<usize> {
    let cloths = &held.scenario.scene.cloths;
    cloths.iter().position(|cloth| cloth.name == name).ok_or_else(|| {
        let known: Vec<&str> = cloths.iter().map(|cloth| &cloth.name[..]).collect();
        raised::<SceneError>(format!("there is no cloth '{name}'; cloths: {}", known.join(", ")))
    })
}

#[pymethods]
impl World {
    /// Names of the cloths.
    #[getter]
    fn cloths(&self) -> PyResult<Vec<String>> {
        let held = self.lock()?;
        Ok(held.scenario.scene.cloths.iter().map(|cloth| cloth.name.clone()).collect())
    }

    /// `vertices` and `centroids`, slices of the particle arrays, and `faces`, the numbers of three
    /// particles each.
    fn cloth<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let held = self.lock()?;
        let sheet = &held.scenario.world.cloths()[number(&held, name)?];
        let slice = |r: &std::ops::Range<usize>| PySlice::new(py, r.start as isize, r.end as isize, 1);
        let cloth = PyDict::new(py);
        cloth.set_item("vertices", slice(&sheet.vertices))?;
        cloth.set_item("centroids", slice(&sheet.centroids))?;
        let faces: Vec<Vec<u32>> = sheet.faces.iter().map(|face| face.to_vec()).collect();
        cloth.set_item("faces", PyArray2::from_vec2(py, &faces).or_raise::<SceneError>()?)?;
        Ok(cloth)
    }

    /// Holds a vertex of a cloth and moves it on a line within a time.
    #[pyo3(signature = (cloth, vertex, position, *, within))]
    fn move_pin(&self, cloth: &str, vertex: usize, position: &Bound<'_, PyAny>, within: f64) -> PyResult<()> {
        let to = vector("position", "m", position)?;
        let mut held = self.lock()?;
        let sheet = number(&held, cloth)?;
        held.state += 1;
        held.scenario.world.move_pin(sheet, vertex, &to, within).or_raise::<ValueError>()
    }

    /// Releases a vertex of a cloth.
    fn release_pin(&self, cloth: &str, vertex: usize) -> PyResult<()> {
        let mut held = self.lock()?;
        let sheet = number(&held, cloth)?;
        held.state += 1;
        held.scenario.world.release_pin(sheet, vertex).or_raise::<ValueError>()
    }
}
