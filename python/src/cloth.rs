//! Cloth and ropes of a world: triangles, what is inside a rope, and the pins that hold them.

use nalgebra::Vector3;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice};

use crate::convert::vector;
use crate::errors::{OrRaise, SceneError, ValueError, raised};
use crate::world::{Held, World};

/// The place of a name among those of a kind, from `names`.
fn place<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> PyResult<usize> {
    let known: Vec<&str> = names.collect();
    known.iter().position(|known| *known == name).ok_or_else(|| {
        raised::<SceneError>(format!("there is no {what} '{name}'; known: {}", known.join(", ")))
    })
}

fn cloth_names(held: &Held) -> impl Iterator<Item = &str> {
    held.scenario.scene.cloths.iter().map(|cloth| &cloth.name[..])
}

fn rope_names(held: &Held) -> impl Iterator<Item = &str> {
    held.scenario.scene.ropes.iter().map(|rope| &rope.name[..])
}

/// The number of a cloth or rope among those with pins: ropes come after the cloths.
fn number(held: &Held, name: &str) -> PyResult<usize> {
    place("cloth or rope", name, cloth_names(held).chain(rope_names(held)))
}

fn slice<'py>(py: Python<'py>, range: &std::ops::Range<usize>) -> Bound<'py, PySlice> {
    PySlice::new(py, range.start as isize, range.end as isize, 1)
}

/// An array of three columns.
fn rows<'py>(py: Python<'py>, vectors: &[Vector3<f64>]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows: Vec<Vec<f64>> = vectors.iter().map(|v| v.as_slice().to_vec()).collect();
    PyArray2::from_vec2(py, &rows).or_raise::<SceneError>()
}

#[pymethods]
impl World {
    /// Names of the cloths.
    #[getter]
    fn cloths(&self) -> PyResult<Vec<String>> {
        Ok(cloth_names(&*self.lock()?).map(str::to_owned).collect())
    }

    /// Names of the ropes.
    #[getter]
    fn ropes(&self) -> PyResult<Vec<String>> {
        Ok(rope_names(&*self.lock()?).map(str::to_owned).collect())
    }

    /// `vertices` and `centroids`, slices of the particle arrays, and `faces`, the numbers of three
    /// particles each.
    fn cloth<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let held = self.lock()?;
        let sheet = &held.scenario.world.cloths()[place("cloth", name, cloth_names(&held))?];
        let cloth = PyDict::new(py);
        cloth.set_item("vertices", slice(py, &sheet.vertices))?;
        cloth.set_item("centroids", slice(py, &sheet.centroids))?;
        let faces: Vec<Vec<u32>> = sheet.faces.iter().map(|face| face.to_vec()).collect();
        cloth.set_item("faces", PyArray2::from_vec2(py, &faces).or_raise::<SceneError>()?)?;
        Ok(cloth)
    }

    /// `vertices`, a slice of the particle arrays, `radius` \[m\], and what is inside the rope after the last
    /// step: `tension` \[N\], `tangent` and `director` of the segments, `twist` \[rad\] and `torque` \[N m\] at the
    /// inner vertices.
    fn rope<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let held = self.lock()?;
        let (world, at) = (&held.scenario.world, place("rope", name, rope_names(&held))?);
        let inside = world.mpm().rope_internals(at).unwrap_or_default();
        let rope = PyDict::new(py);
        rope.set_item("vertices", slice(py, &world.ropes()[at]))?;
        rope.set_item("radius", held.scenario.scene.ropes[at].material.radius)?;
        rope.set_item("tension", PyArray1::from_vec(py, inside.tension))?;
        rope.set_item("tangent", rows(py, &inside.tangent)?)?;
        rope.set_item("director", rows(py, &inside.director)?)?;
        rope.set_item("twist", PyArray1::from_vec(py, inside.twist))?;
        rope.set_item("torque", PyArray1::from_vec(py, inside.torque))?;
        Ok(rope)
    }

    /// Holds a vertex of a cloth or rope and moves it on a line within a time.
    #[pyo3(signature = (cloth, vertex, position, *, within))]
    fn move_pin(&self, cloth: &str, vertex: usize, position: &Bound<'_, PyAny>, within: f64) -> PyResult<()> {
        let to = vector("position", "m", position)?;
        let mut held = self.lock()?;
        let sheet = number(&held, cloth)?;
        held.state += 1;
        held.scenario.world.move_pin(sheet, vertex, &to, within).or_raise::<ValueError>()
    }

    /// Releases a vertex of a cloth or rope.
    fn release_pin(&self, cloth: &str, vertex: usize) -> PyResult<()> {
        let mut held = self.lock()?;
        let sheet = number(&held, cloth)?;
        held.state += 1;
        held.scenario.world.release_pin(sheet, vertex).or_raise::<ValueError>()
    }
}
