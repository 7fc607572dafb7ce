//! A robot of a world: its joints, motors and sensors by name.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, Point3};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, ToPyArray};
use pliant_rigid::{JointTarget, RobotError as RobotFailure, RobotHandle};
use pyo3::prelude::*;

use crate::convert::{PoseArrays, VectorPair, array, numbers, pose, pose_arrays, wrench_arrays};
use crate::errors::{OrRaise, RobotError, raised, refused};
use crate::world::{Held, World};

/// A robot of a world. The first input that a program sets ends what the scene tells its motors.
#[pyclass(frozen, module = "pliant")]
pub struct Robot {
    world: Py<World>,
    handle: RobotHandle,
}

impl Robot {
    fn of(world: &Bound<'_, World>, name: &str) -> PyResult<Self> {
        let held = world.get().lock()?;
        let Some(handle) = held.scenario.robot(name).cloned() else {
            let known: Vec<&str> = held.scenario.robots.iter().map(RobotHandle::name).collect();
            return Err(raised::<RobotError>(format!(
                "there is no robot '{name}'; robots: {}",
                known.join(", ")
            )));
        };
        Ok(Self { world: world.clone().unbind(), handle })
    }

    /// Sets inputs of the robot; those that the scene has end.
    fn set(&self, set: impl FnOnce(&mut Held, &RobotHandle) -> Result<(), RobotFailure>) -> PyResult<()> {
        let mut held = self.world.get().lock()?;
        set(&mut held, &self.handle).or_raise::<RobotError>()?;
        held.scenario.release_motors(&self.handle);
        Ok(())
    }
}

/// A list of numbers, one for each of some names, or a dict of some of the names.
fn by_name(what: &str, names: &[String], values: &Bound<'_, PyAny>) -> PyResult<Vec<(String, f64)>> {
    if let Ok(values) = values.extract::<BTreeMap<String, f64>>() {
        return Ok(values.into_iter().collect());
    }
    let list: Vec<f64> =
        values.extract().or_else(|_| values.call_method0("tolist").and_then(|list| list.extract())).map_err(
            |_| refused(format!("{what}: a list of numbers or a dict from names to numbers is needed")),
        )?;
    if list.len() != names.len() {
        return Err(refused(format!(
            "{what}: {} numbers given for {}: {}",
            list.len(),
            names.len(),
            names.join(", ")
        )));
    }
    Ok(names.iter().cloned().zip(list).collect())
}

fn owned<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names.map(str::to_owned).collect()
}

fn matrix<'py>(py: Python<'py>, matrix: &DMatrix<f64>) -> Bound<'py, PyArray2<f64>> {
    Array2::from_shape_fn(matrix.shape(), |at| matrix[at]).into_pyarray(py)
}

#[pymethods]
impl World {
    /// Names of the robots.
    #[getter]
    fn robots(&self) -> PyResult<Vec<String>> {
        let held = self.lock()?;
        Ok(held.scenario.robots.iter().map(|robot| robot.name().to_owned()).collect())
    }

    fn robot(slf: &Bound<'_, Self>, name: &str) -> PyResult<Robot> {
        Robot::of(slf, name)
    }
}

#[pymethods]
impl Robot {
    #[getter]
    fn name(&self) -> &str {
        self.handle.name()
    }

    #[getter]
    fn joints(&self) -> Vec<String> {
        owned(self.handle.joints())
    }

    #[getter]
    fn links(&self) -> Vec<String> {
        owned(self.handle.links())
    }

    #[getter]
    fn actuators(&self) -> Vec<String> {
        owned(self.handle.actuators())
    }

    #[getter]
    fn sensors(&self) -> Vec<String> {
        owned(self.handle.sensors())
    }

    #[getter]
    fn sites(&self) -> Vec<String> {
        owned(self.handle.sites())
    }

    #[getter]
    fn mocaps(&self) -> Vec<String> {
        owned(self.handle.mocaps())
    }

    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let held = self.world.get().lock()?;
        Ok(self.handle.positions(held.scenario.world.bodies()).to_pyarray(py))
    }

    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let held = self.world.get().lock()?;
        Ok(self.handle.velocities(held.scenario.world.bodies()).to_pyarray(py))
    }

    /// Positions and velocities of one joint.
    fn joint<'py>(&self, py: Python<'py>, name: &str) -> PyResult<VectorPair<'py>> {
        let held = self.world.get().lock()?;
        let bodies = held.scenario.world.bodies();
        let (q, v) = self.handle.joint_state(bodies, name).or_raise::<RobotError>()?;
        Ok((q.to_pyarray(py), v.to_pyarray(py)))
    }

    /// Position and orientation of a link.
    fn pose<'py>(&self, py: Python<'py>, link: &str) -> PyResult<PoseArrays<'py>> {
        let held = self.world.get().lock()?;
        let pose = self.handle.pose(held.scenario.world.bodies(), link).or_raise::<RobotError>()?;
        Ok(pose_arrays(py, &pose))
    }

    /// Position and orientation of a site.
    fn site_pose<'py>(&self, py: Python<'py>, site: &str) -> PyResult<PoseArrays<'py>> {
        let held = self.world.get().lock()?;
        let bodies = held.scenario.world.bodies();
        let site = self.handle.site(bodies, site).or_raise::<RobotError>()?;
        Ok(pose_arrays(py, &bodies.site_pose(site)))
    }

    /// Angular and linear velocity of a link's origin.
    fn velocity<'py>(&self, py: Python<'py>, link: &str) -> PyResult<VectorPair<'py>> {
        let held = self.world.get().lock()?;
        let v = self.handle.velocity(held.scenario.world.bodies(), link).or_raise::<RobotError>()?;
        Ok((array(py, &v.angular), array(py, &v.linear)))
    }

    /// Sets controls of motors and drives, in the file's units.
    fn set_controls(&self, controls: &Bound<'_, PyAny>) -> PyResult<()> {
        let controls = by_name("controls", &self.actuators(), controls)?;
        if let Some((name, value)) = controls.iter().find(|(_, value)| !value.is_finite()) {
            return Err(refused(format!("controls['{name}']: {value} must be finite")));
        }
        let known = self.actuators();
        self.set(|held, robot| {
            let bodies = held.scenario.world.bodies_mut();
            // A name that is not there changes nothing.
            let unknown = controls.iter().find(|(name, _)| !known.contains(name));
            let first = unknown.into_iter().chain(&controls);
            first.into_iter().try_for_each(|(name, value)| robot.set_control(bodies, name, *value))
        })
    }

    /// Sets the target of the motors on a joint.
    #[pyo3(signature = (joint, *, position = None, velocity = None, effort = None))]
    fn set_target(
        &self,
        joint: &str,
        position: Option<f64>,
        velocity: Option<f64>,
        effort: Option<f64>,
    ) -> PyResult<()> {
        let target = match (position, velocity, effort) {
            (Some(position), rate, None) => JointTarget::Position(position, rate.unwrap_or(0.0)),
            (None, Some(velocity), None) => JointTarget::Velocity(velocity),
            (None, None, Some(effort)) => JointTarget::Effort(effort),
            _ => {
                return Err(refused(format!(
                    "joint '{joint}': a position (and its rate as velocity), a velocity or an effort is needed"
                )));
            }
        };
        let link = self.handle.joint(joint).or_raise::<RobotError>()?;
        if self.world.get().lock()?.scenario.drives(&self.handle, link) {
            return Err(raised::<RobotError>(format!(
                "robot '{}', joint '{joint}': a task or an actuator of the scene drives it and would overwrite the \
                 target; set such an actuator with World.set_actuators, or use a scene without it",
                self.handle.name()
            )));
        }
        self.set(|held, robot| robot.set_target(held.scenario.world.bodies_mut(), joint, target))
    }

    /// Sets the gains of the motors on a joint.
    fn set_gains(&self, joint: &str, stiffness: f64, damping: f64) -> PyResult<()> {
        let mut held = self.world.get().lock()?;
        let bodies = held.scenario.world.bodies_mut();
        self.handle.set_gains(bodies, joint, stiffness, damping).or_raise::<RobotError>()
    }

    /// Sets the efforts of all torque motors, one number for each velocity.
    fn set_efforts(&self, efforts: &Bound<'_, PyAny>) -> PyResult<()> {
        let efforts: Vec<f64> = efforts
            .extract()
            .or_else(|_| efforts.call_method0("tolist").and_then(|list| list.extract()))
            .map_err(|_| refused("efforts: a list of numbers is needed"))?;
        self.set(|held, robot| robot.set_efforts(held.scenario.world.bodies_mut(), &efforts))
    }

    /// Moves a mocap body to a pose within a time.
    #[pyo3(signature = (name, position, orientation = None, *, within))]
    fn set_mocap(
        &self,
        name: &str,
        position: &Bound<'_, PyAny>,
        orientation: Option<&Bound<'_, PyAny>>,
        within: f64,
    ) -> PyResult<()> {
        let to = pose(position, orientation)?;
        let mut held = self.world.get().lock()?;
        let bodies = held.scenario.world.bodies_mut();
        self.handle.set_mocap(bodies, name, &to, within).or_raise::<RobotError>()
    }

    /// Mean effort of a motor over the last rigid step.
    fn effort(&self, motor: &str) -> PyResult<f64> {
        let held = self.world.get().lock()?;
        self.handle.effort(held.scenario.world.bodies(), motor).or_raise::<RobotError>()
    }

    /// Reading of a sensor; none if it was not measured.
    fn sensor<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let held = self.world.get().lock()?;
        let reading = self.handle.sensor(held.scenario.world.bodies(), name).or_raise::<RobotError>()?;
        Ok(reading.map(|reading| reading.values().to_pyarray(py)))
    }

    /// Force and torque of all contact on a link, mean over the last step, about its origin.
    fn contact_wrench<'py>(&self, py: Python<'py>, link: &str) -> PyResult<Option<VectorPair<'py>>> {
        let held = self.world.get().lock()?;
        let wrench = held.scenario.world.link_wrench(&self.handle, link).or_raise::<RobotError>()?;
        Ok(wrench.map(|wrench| wrench_arrays(py, &wrench)))
    }

    /// The same about a site, in its axes.
    fn site_wrench<'py>(&self, py: Python<'py>, site: &str) -> PyResult<Option<VectorPair<'py>>> {
        let held = self.world.get().lock()?;
        let wrench = held.scenario.world.site_wrench(&self.handle, site).or_raise::<RobotError>()?;
        Ok(wrench.map(|wrench| wrench_arrays(py, &wrench)))
    }

    /// Jacobian of a point of a link: rows of the angular velocity, then of the velocity.
    #[pyo3(signature = (link, point = None))]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        link: &str,
        point: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let point = point.map_or(Ok([0.0; 3]), |point| numbers::<3>("point", "m", point))?;
        let held = self.world.get().lock()?;
        let bodies = held.scenario.world.bodies();
        let jacobian = self.handle.jacobian(bodies, link, &Point3::from(point)).or_raise::<RobotError>()?;
        Ok(matrix(py, &jacobian))
    }

    /// Mass matrix of the robot's velocities.
    #[getter]
    fn mass_matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let held = self.world.get().lock()?;
        Ok(matrix(py, &self.handle.mass_matrix(held.scenario.world.bodies())))
    }

    /// Efforts that balance gravity, Coriolis and centrifugal forces.
    #[getter]
    fn bias<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let held = self.world.get().lock()?;
        Ok(self.handle.bias(held.scenario.world.bodies()).to_pyarray(py))
    }

    fn __repr__(&self) -> String {
        format!(
            "Robot('{}', {} joints, {} actuators)",
            self.name(),
            self.joints().len(),
            self.actuators().len()
        )
    }
}
