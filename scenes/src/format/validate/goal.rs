//! Goals.

use super::names::Names;
use super::{Check, Problem, ValidationError};
use crate::format::{Goal, Quantity, Scene};

impl Check {
    pub(super) fn goals(&mut self, scene: &Scene, names: &Names) {
        let mut taken = Vec::new();
        for (at, goal) in scene.goals.iter().enumerate() {
            let path = format!("goals[{at}]");
            if goal.name.is_empty() {
                self.problem(&format!("{path}.name"), "'' must not be empty");
            }
            self.unique(&path, "goal", &mut taken, &goal.name);
            self.judged(&path, goal, scene, names);
            if let Some(frame) = &goal.relative_to {
                self.found(&format!("{path}.relative_to"), names.body(frame));
            }
            if let Quantity::MassInBox { half_extents, pose } = &goal.quantity {
                self.positives(&format!("{path}.quantity.half_extents"), half_extents, "m");
                self.pose(&format!("{path}.quantity.pose"), pose);
            }
            self.non_negative(&format!("{path}.from"), goal.from, "s");
            if let Some(until) = goal.until {
                let law = format!("must be at least from, {} s", goal.from);
                self.number(&format!("{path}.until"), until, "s", &law, until >= goal.from);
            }
            self.bounds(&path, goal);
        }
    }

    /// What is looked at.
    fn judged(&mut self, path: &str, goal: &Goal, scene: &Scene, names: &Names) {
        match (&goal.soft, &goal.body) {
            (None, None) => self.problem(path, "give a soft or a body"),
            (Some(_), Some(_)) => self.problem(path, "give a soft or a body, not both"),
            (Some(soft), None) => {
                if !scene.soft.iter().any(|known| known.name == *soft) {
                    let known: Vec<_> = scene.soft.iter().map(|s| s.name.as_str()).collect();
                    let message = format!("'{soft}' is not one of the soft bodies [{}]", known.join(", "));
                    self.problem(&format!("{path}.soft"), message);
                }
            }
            (None, Some(body)) => {
                self.found(&format!("{path}.body"), names.body(body));
                if !matches!(goal.quantity, Quantity::Center { .. }) {
                    let message = "only \"center\" can be measured of a rigid body";
                    self.problem(&format!("{path}.quantity"), message);
                }
            }
        }
    }

    fn bounds(&mut self, path: &str, goal: &Goal) {
        let unit = goal.quantity.unit();
        for (name, bound) in [("min", goal.min), ("max", goal.max)] {
            if let Some(bound) = bound {
                self.number(&format!("{path}.{name}"), bound, unit, "must be finite", true);
            }
        }
        match (goal.min, goal.max) {
            (None, None) => self.problem(path, "give min, max or both"),
            (Some(min), Some(max)) if min > max => {
                self.problem(
                    &format!("{path}.min"),
                    format!("{min} {unit} must be at most max, {max} {unit}"),
                );
            }
            _ => {}
        }
    }
}

/// Checks that the goals of a scene as it is written lie within its duration. A scene whose duration was changed may have goals
/// beyond it, which are then not judged: so that a run can be cut short, and gone on with.
///
/// # Errors
/// All problems at once.
pub fn goals_within_duration(scene: &Scene) -> Result<(), ValidationError> {
    let mut problems = Vec::new();
    for (at, goal) in scene.goals.iter().enumerate() {
        for (name, time) in [("from", Some(goal.from)), ("until", goal.until)] {
            if let Some(time) = time.filter(|time| *time > scene.duration + 0.5 * scene.dt) {
                problems.push(Problem {
                    path: format!("goals[{at}].{name}"),
                    message: format!("{time} s must be at most duration, {} s", scene.duration),
                });
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(ValidationError { problems }) }
}
