//! Motors of a scene by name: its own `actuators`, and those of its robots as `robot/motor`.

use std::collections::BTreeMap;

use pliant_rigid::multibody::JointKind;
use pliant_rigid::simulation::{Actuator, Control};
use pliant_rigid::{JointTarget, RobotHandle};
use pliant_scenes::Scenario;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::errors::{Error, OrRaise, RobotError, raised, refused};
use crate::scene::loaded;
use crate::told::apply;
use crate::world::World;

/// Numbers of the scene's own motors among the actuators, in its order: they follow those of the
/// robots, and come before those of tasks.
fn own_motors(scenario: &Scenario) -> PyResult<Vec<usize>> {
    let actuators = &scenario.world.bodies().simulation().system().actuators;
    let of_robot = |at: &usize| {
        let places = scenario.robots.iter().map(RobotHandle::mechanism);
        places.into_iter().any(|p| (p.first_actuator..p.first_actuator + p.actuators).contains(at))
    };
    let own: Vec<usize> = (0..actuators.len()).filter(|at| !of_robot(at)).collect();
    let described = &scenario.scene.actuators;
    let fits = described.len() <= own.len()
        && described.iter().zip(&own).all(|(motor, &at)| {
            let found = &actuators[at];
            found.dof == motor.dof as usize && scenario.joint_names.get(&found.link) == Some(&motor.joint)
        });
    if !fits {
        return Err(raised::<Error>("the motors are in another order than the scene: a defect of Pliant"));
    }
    Ok(own.into_iter().take(described.len()).collect())
}

/// What a motor's number means: its kind, unit, the unit of its effort, and its value.
fn describe(motor: &Actuator, joint: &JointKind) -> (&'static str, &'static str, &'static str, f64) {
    let slides = match joint {
        JointKind::Prismatic { .. } => true,
        JointKind::Planar => motor.dof < 2,
        // Velocities of a free joint: those of the turn come first.
        JointKind::Free => motor.dof >= 3,
        _ => false,
    };
    let (position, rate, effort) = if slides { ("m", "m/s", "N") } else { ("rad", "rad/s", "N m") };
    match motor.control {
        Control::Effort { effort: value } => ("effort", effort, effort, value),
        Control::Position { target, .. } => ("position", position, effort, target),
        Control::Velocity { target, .. } => ("velocity", rate, effort, target),
    }
}

/// What is to be set, when all names and numbers were checked.
enum Input {
    Motor(usize, JointTarget),
    Control(RobotHandle, String, f64),
}

/// The input of a motor of a name; an unknown name is told with those that are there.
fn input(scenario: &Scenario, own: &[usize], name: &str, value: f64, rate: Option<f64>) -> PyResult<Input> {
    if let Some(k) = scenario.scene.actuators.iter().position(|motor| motor.name == name) {
        let control = &scenario.world.bodies().simulation().system().actuators[own[k]].control;
        return match (control, rate) {
            (Control::Position { .. }, rate) => {
                Ok(Input::Motor(own[k], JointTarget::Position(value, rate.unwrap_or(0.0))))
            }
            (_, Some(_)) => Err(refused(format!("rates['{name}']: the motor takes no position"))),
            (Control::Effort { .. }, None) => Ok(Input::Motor(own[k], JointTarget::Effort(value))),
            (Control::Velocity { .. }, None) => Ok(Input::Motor(own[k], JointTarget::Velocity(value))),
        };
    }
    let robot = scenario.robots.iter().find_map(|robot| {
        let motor = name.strip_prefix(robot.name())?.strip_prefix('/')?;
        robot.actuators().any(|known| known == motor).then(|| (robot, motor.to_owned()))
    });
    match (robot, rate) {
        (Some(_), Some(_)) => Err(refused(format!("rates['{name}']: a control of a robot has no rate"))),
        (Some((robot, motor)), None) => Ok(Input::Control(robot.clone(), motor, value)),
        (None, _) => Err(raised::<RobotError>(format!(
            "there is no actuator '{name}'; actuators: {}",
            names(scenario).join(", ")
        ))),
    }
}

/// Names of all motors: of the scene, then of its robots.
fn names(scenario: &Scenario) -> Vec<String> {
    let own = scenario.scene.actuators.iter().map(|motor| motor.name.clone());
    let of_robot = |robot: &RobotHandle| {
        let name = robot.name().to_owned();
        robot.actuators().map(|motor| format!("{name}/{motor}")).collect::<Vec<_>>()
    };
    own.chain(scenario.robots.iter().flat_map(of_robot)).collect()
}

/// A number of a file; JSON has none for a bound that is not there.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// A robot's motor or drive: what its number is, and the range that the file gives it.
fn robot_motor(scenario: &Scenario, robot: &RobotHandle, name: &str) -> PyResult<Value> {
    let system = scenario.world.bodies().simulation().system();
    if let Some((at, input)) = robot.inputs().find(|(_, input)| input.name == name) {
        let motor = &system.actuators[at];
        let (kind, unit, effort_unit, acting) = describe(motor, &system.model.links()[motor.link.0].joint);
        return Ok(json!({
            "joint": scenario.joint_names.get(&motor.link), "dof": motor.dof, "kind": kind, "unit": unit,
            "value": finite((acting - input.offset) / input.scale), "range": input.range.map(finite),
            "scale": input.scale, "offset": input.offset,
            "effort_limit": finite(motor.effort_limit), "effort_unit": effort_unit,
        }));
    }
    let place = robot.mechanism();
    let own = &system.drives[place.first_drive..place.first_drive + place.drives];
    let drive = own.iter().find(|drive| drive.name == name);
    let drive =
        drive.ok_or_else(|| raised::<Error>(format!("the motor '{name}' is gone: a defect of Pliant")))?;
    Ok(json!({ "kind": "drive", "range": drive.control_range.map(finite), "value": drive.control }))
}

#[pymethods]
impl World {
    /// See `_pliant.pyi`.
    #[getter]
    fn actuators<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let held = self.lock()?;
        let scenario = &held.scenario;
        let all = PyDict::new(py);
        let system = scenario.world.bodies().simulation().system();
        for (described, at) in scenario.scene.actuators.iter().zip(own_motors(scenario)?) {
            let motor = &system.actuators[at];
            let (kind, unit, effort_unit, value) = describe(motor, &system.model.links()[motor.link.0].joint);
            let told = json!({
                "joint": described.joint, "dof": motor.dof, "kind": kind, "unit": unit, "value": value,
                "range": [(), ()], "scale": 1.0, "offset": 0.0, "effort_limit": described.effort_limit, "effort_unit": effort_unit,
            });
            all.set_item(&described.name, loaded(py, &told)?)?;
        }
        for robot in &scenario.robots {
            for motor in robot.actuators() {
                let told = robot_motor(scenario, robot, motor)?;
                all.set_item(format!("{}/{motor}", robot.name()), loaded(py, &told)?)?;
            }
        }
        Ok(all)
    }

    /// See `_pliant.pyi`.
    #[pyo3(signature = (inputs, rates = None))]
    fn set_actuators(
        &self,
        inputs: BTreeMap<String, f64>,
        rates: Option<BTreeMap<String, f64>>,
    ) -> PyResult<()> {
        let rates = rates.unwrap_or_default();
        for (field, numbers) in [("inputs", &inputs), ("rates", &rates)] {
            if let Some((name, value)) = numbers.iter().find(|(_, value)| !value.is_finite()) {
                return Err(refused(format!("{field}['{name}']: {value} must be finite")));
            }
        }
        if let Some(name) = rates.keys().find(|name| !inputs.contains_key(*name)) {
            return Err(refused(format!("rates['{name}']: there is no input of this name")));
        }
        let mut held = self.lock()?;
        let own = own_motors(&held.scenario)?;
        let one = |(name, value): (&String, &f64)| {
            input(&held.scenario, &own, name, *value, rates.get(name).copied())
        };
        let checked: Vec<Input> = inputs.iter().map(one).collect::<PyResult<_>>()?;
        for input in checked {
            match input {
                Input::Motor(at, target) => drop(held.told.insert(at, target)),
                Input::Control(robot, motor, value) => {
                    let bodies = held.scenario.world.bodies_mut();
                    robot.set_control(bodies, &motor, value).or_raise::<RobotError>()?;
                    held.scenario.release_motors(&robot);
                }
            }
        }
        let held = &mut *held;
        apply(&held.told, &mut held.scenario);
        Ok(())
    }
}
