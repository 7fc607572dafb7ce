//! Validation of a scene: every problem is collected, with the field's path, the value and its
//! unit.

mod body;
mod bounds;
mod cloth;
mod copies;
mod drive;
mod globals;
mod goal;
mod joint;
mod names;
mod plots;
mod problem;
mod robot;
mod rope;
mod sensor;
mod sighting;
mod sizes;
mod soft;
mod task;
#[cfg(test)]
mod tests;

use pliant_io::text::listed;
use std::collections::BTreeSet;

use super::{Pose, Scene, Signal, Varying};
use crate::estimate::Estimate;
pub use goal::goals_within_duration;
use names::Names;
use pliant_mpm::material::MaterialError;
use pliant_rigid::OutOfRange;
pub use problem::Problem;

/// All problems of a scene; at least one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", listed(problems))]
pub struct ValidationError {
    /// The problems, in the order of the scene's fields.
    pub problems: Vec<Problem>,
}

/// Checks every value of a scene. Files of meshes and robots are not opened here, so names within a
/// robot from a file are not known; those of built-in models are.
///
/// # Errors
/// All problems together.
pub fn validate(scene: &Scene) -> Result<(), ValidationError> {
    let problems = bounds::problems(scene);
    if !problems.is_empty() {
        // What follows may loop over counts, and repeats names.
        return Err(ValidationError { problems });
    }
    let mut check = Check { problems: Vec::new() };
    check.globals(scene);
    check.boundaries(scene);
    for (name, material) in &scene.materials {
        check.material(&format!("materials.{name}"), material);
    }
    check.soft(scene);
    check.cloths(scene);
    check.ropes(scene);
    let names = Names::of(scene);
    check.bodies(scene, &names);
    check.copies(scene);
    check.robots(scene, &names);
    check.actuators(scene, &names);
    check.forces(scene, &names);
    check.constraints(scene, &names);
    check.controllers(scene, &names);
    check.sightings(scene);
    check.tasks(scene, &names);
    check.sensors(scene, &names);
    check.goals(scene, &names);
    check.allowed_overlaps(scene);
    check.output(scene);
    check.plots(scene, &names);
    if check.problems.is_empty() {
        check.sizes(scene);
    }
    check.end()
}

/// Holds an estimate, for instance that of a built world, against the limits of its scene.
///
/// # Errors
/// All problems together.
pub fn within_limits(scene: &Scene, estimate: &Estimate) -> Result<(), ValidationError> {
    let mut check = Check { problems: Vec::new() };
    check.estimate(scene, estimate);
    check.end()
}

/// The value of the field that a problem is about, as JSON, and its unit, as far as they are known.
pub fn value_and_unit(scene: &Scene, problem: &Problem) -> (Option<serde_json::Value>, Option<String>) {
    bounds::value_and_unit(scene, &problem.path)
}

struct Check {
    problems: Vec<Problem>,
}

impl Check {
    fn end(self) -> Result<(), ValidationError> {
        if self.problems.is_empty() { Ok(()) } else { Err(ValidationError { problems: self.problems }) }
    }

    fn problem(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(Problem { path: path.to_owned(), message: message.into() });
    }

    /// One number; `unit` may be empty.
    fn number(&mut self, path: &str, value: f64, unit: &str, law: &str, holds: bool) {
        if !(value.is_finite() && holds) {
            let space = if unit.is_empty() { "" } else { " " };
            let law = if value.is_finite() { law } else { "must be finite" };
            self.problem(path, format!("{value}{space}{unit} {law}"));
        }
    }

    /// Figures that a check of the library refuses; their fields go on from `path`.
    fn refuse(&mut self, path: &str, figures: impl IntoIterator<Item = OutOfRange>) {
        for OutOfRange { field, value, unit, requirement } in figures {
            let space = if unit.is_empty() { "" } else { " " };
            self.problem(&format!("{path}{field}"), format!("{value}{space}{unit} must be {requirement}"));
        }
    }

    /// As [`Self::refuse`], of a material.
    fn refuse_material(&mut self, path: &str, figures: impl IntoIterator<Item = MaterialError>) {
        let figures = figures.into_iter();
        self.refuse(
            path,
            figures.map(|MaterialError { field, value, unit, requirement }| OutOfRange {
                field,
                value,
                unit,
                requirement,
            }),
        );
    }

    fn positive(&mut self, path: &str, value: f64, unit: &str) {
        self.number(path, value, unit, "must be positive", value > 0.0);
    }

    fn non_negative(&mut self, path: &str, value: f64, unit: &str) {
        self.number(path, value, unit, "must not be negative", value >= 0.0);
    }

    fn positives(&mut self, path: &str, values: &[f64], unit: &str) {
        for (at, &value) in values.iter().enumerate() {
            self.positive(&format!("{path}[{at}]"), value, unit);
        }
    }

    fn finite(&mut self, path: &str, values: &[f64], unit: &str) {
        for (at, &value) in values.iter().enumerate() {
            self.number(&format!("{path}[{at}]"), value, unit, "must be finite", true);
        }
    }

    fn direction(&mut self, path: &str, value: &[f64; 3]) {
        self.finite(path, value, "");
        if value.iter().all(|x| *x == 0.0) {
            self.problem(path, "[0, 0, 0] is no direction");
        }
    }

    fn orientation(&mut self, path: &str, value: &[f64; 4]) {
        let norm = value.iter().map(|x| x * x).sum::<f64>().sqrt();
        // Four numbers written with three decimals have smaller errors than this.
        if !norm.is_finite() || (norm - 1.0).abs() > 1e-2 {
            self.problem(
                path,
                format!("{value:?} has norm {norm}; a quaternion (w, x, y, z) must have norm 1"),
            );
        }
    }

    fn pose(&mut self, path: &str, pose: &Pose) {
        self.finite(&format!("{path}.position"), &pose.position, "m");
        self.orientation(&format!("{path}.orientation"), &pose.orientation);
    }

    /// Times of keyframes: at least one, not negative, increasing.
    fn times(&mut self, path: &str, times: impl Iterator<Item = f64>) {
        self.times_of(path, "keyframe", times);
    }

    /// As [`Self::times`], in the list `path.{what}s`.
    fn times_of(&mut self, path: &str, what: &str, times: impl Iterator<Item = f64>) {
        let times: Vec<f64> = times.collect();
        if times.is_empty() {
            self.problem(&format!("{path}.{what}s"), format!("[] has no {what}: at least one is needed"));
        }
        for (at, &time) in times.iter().enumerate() {
            let path = format!("{path}.{what}s[{at}].time");
            self.non_negative(&path, time, "s");
            if at > 0 && time <= times[at - 1] {
                self.problem(
                    &path,
                    format!("{time} s must be later than the {what} before it, {} s", times[at - 1]),
                );
            }
        }
    }

    /// A value over time in `unit`; `dt` is the scene's step [s].
    fn signal(&mut self, path: &str, signal: &Signal, unit: &str, dt: f64) {
        let number = |check: &mut Self, path: &str, value, unit: &str| {
            check.number(path, value, unit, "must be finite", true);
        };
        match signal {
            Signal::Constant(value) => number(self, path, *value, unit),
            Signal::Varying(Varying::Keyframes { keyframes, .. }) => {
                self.times(path, keyframes.iter().map(|k| k.time));
                for (at, keyframe) in keyframes.iter().enumerate() {
                    number(self, &format!("{path}.keyframes[{at}].value"), keyframe.value, unit);
                }
            }
            Signal::Varying(Varying::Sine { amplitude, frequency, phase, offset }) => {
                number(self, &format!("{path}.amplitude"), *amplitude, unit);
                let name = format!("{path}.frequency");
                self.positive(&name, *frequency, "Hz");
                // The value is sampled once per step: Nyquist's limit.
                let most = 0.5 / dt;
                if most > 0.0 && frequency.is_finite() && *frequency >= most {
                    self.problem(
                        &name,
                        format!("{frequency} Hz must be below {most} Hz, half of the steps' rate 1/dt"),
                    );
                }
                number(self, &format!("{path}.phase"), *phase, "rad");
                number(self, &format!("{path}.offset"), *offset, unit);
            }
        }
    }

    /// Names must be unique.
    fn unique<'a>(&mut self, path: &str, what: &str, names: &mut BTreeSet<&'a str>, name: &'a str) {
        if !names.insert(name) {
            self.problem(&format!("{path}.name"), format!("the name '{name}' is used by another {what}"));
        }
    }

    /// Reports the problem of a look-up.
    fn found<T>(&mut self, path: &str, result: Result<T, String>) -> Option<T> {
        result.map_err(|message| self.problem(path, message)).ok()
    }
}
