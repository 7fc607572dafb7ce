//! A body of a world.

use nalgebra::{Isometry3, Translation3, Vector3};
use numpy::PyArray1;
use pliant_rigid::BodyId;
use pyo3::prelude::*;

use crate::convert::{VectorPair, array, pose, pose_arrays, vector, wrench_arrays};
use crate::errors::{OrRaise, SceneError, ValueError, raised};
use crate::world::{Held, World};

/// A body of a world. Its frame is that of the scene; that of a robot's link is the link's.
#[pyclass(frozen, module = "pliant")]
pub struct Body {
    world: Py<World>,
    id: BodyId,
    name: String,
}

impl Body {
    fn of(world: &Bound<'_, World>, name: &str) -> PyResult<Self> {
        let held = world.get().lock()?;
        let bodies = held.scenario.world.bodies();
        let Some(id) = bodies.find(name) else {
            let known: Vec<&str> = bodies.iter().map(|(_, body)| &body.name[..]).collect();
            return Err(raised::<SceneError>(format!(
                "there is no body '{name}'; bodies: {}",
                known.join(", ")
            )));
        };
        Ok(Self { world: world.clone().unbind(), id, name: name.to_owned() })
    }

    /// From the scene's frame to the library's, whose origin is the centre of mass \[m\].
    fn center(&self, held: &Held) -> Vector3<f64> {
        held.scenario.centers[self.id.0]
    }

    fn pose(&self, held: &Held) -> Isometry3<f64> {
        held.scenario.world.bodies().pose(self.id) * Translation3::from(-self.center(held))
    }

    /// From the library's origin to the scene's, world axes \[m\].
    fn arm(&self, held: &Held) -> Vector3<f64> {
        held.scenario.world.bodies().pose(self.id).rotation * -self.center(held)
    }
}

#[pymethods]
impl World {
    /// Names of the bodies; those of robots' links are `robot/link`.
    #[getter]
    fn bodies(&self) -> PyResult<Vec<String>> {
        let held = self.lock()?;
        Ok(held.scenario.world.bodies().iter().map(|(_, body)| body.name.clone()).collect())
    }

    fn body(slf: &Bound<'_, Self>, name: &str) -> PyResult<Body> {
        Body::of(slf, name)
    }
}

#[pymethods]
impl Body {
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let held = self.world.get().lock()?;
        Ok(pose_arrays(py, &self.pose(&held)).0)
    }

    #[getter]
    fn orientation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let held = self.world.get().lock()?;
        Ok(pose_arrays(py, &self.pose(&held)).1)
    }

    #[getter]
    fn linear_velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let held = self.world.get().lock()?;
        let velocity = held.scenario.world.bodies().velocity(self.id);
        Ok(array(py, &(velocity.linear + velocity.angular.cross(&self.arm(&held)))))
    }

    #[getter]
    fn angular_velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let held = self.world.get().lock()?;
        Ok(array(py, &held.scenario.world.bodies().velocity(self.id).angular))
    }

    /// Force and torque of all contact, mean over the last step, about the origin of the frame.
    #[getter]
    fn contact_wrench<'py>(&self, py: Python<'py>) -> PyResult<Option<VectorPair<'py>>> {
        let held = self.world.get().lock()?;
        let wrench = held.scenario.world.contact_wrench(self.id);
        Ok(wrench.map(|wrench| wrench_arrays(py, &wrench.about(&self.arm(&held)))))
    }

    /// Moves a prescribed body to a pose within a time.
    #[pyo3(signature = (position, orientation = None, *, within))]
    fn move_to(
        &self,
        position: &Bound<'_, PyAny>,
        orientation: Option<&Bound<'_, PyAny>>,
        within: f64,
    ) -> PyResult<()> {
        let to = pose(position, orientation)?;
        let mut held = self.world.get().lock()?;
        let to = to * Translation3::from(self.center(&held));
        held.scenario.world.bodies_mut().move_body(self.id, &to, within).or_raise::<ValueError>()
    }

    /// Constant force and torque at the origin of the body's frame until they are set again.
    fn set_load(&self, force: &Bound<'_, PyAny>, torque: &Bound<'_, PyAny>) -> PyResult<()> {
        let (force, torque) = (vector("force", "N", force)?, vector("torque", "N m", torque)?);
        let mut held = self.world.get().lock()?;
        let torque = torque + self.arm(&held).cross(&force);
        held.scenario.world.bodies_mut().set_load(self.id, &force, &torque).or_raise::<ValueError>()
    }

    fn set_friction(&self, coefficient: f64) -> PyResult<()> {
        let mut held = self.world.get().lock()?;
        held.scenario.world.bodies_mut().set_friction(self.id, coefficient).or_raise::<ValueError>()
    }

    fn set_mass(&self, mass: f64) -> PyResult<()> {
        let mut held = self.world.get().lock()?;
        held.scenario.world.bodies_mut().set_mass(self.id, mass).or_raise::<ValueError>()
    }

    fn __repr__(&self) -> String {
        format!("Body('{}')", self.name)
    }
}
