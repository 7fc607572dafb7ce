//! Goals.

use std::collections::BTreeSet;

use super::names::Names;
use super::{Check, Problem, ValidationError};
use crate::format::{Goal, Quantity, Scene};

impl Check {
    pub(super) fn goals(&mut self, scene: &Scene, names: &Names) {
        let mut taken = BTreeSet::new();
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

    /// The subject of a goal.
    fn judged(&mut self, path: &str, goal: &Goal, scene: &Scene, names: &Names) {
        let subjects =
            [("soft", &goal.soft), ("cloth", &goal.cloth), ("rope", &goal.rope), ("body", &goal.body)];
        let given: Vec<_> =
            subjects.into_iter().filter_map(|(field, name)| Some((field, name.as_ref()?))).collect();
        let quantity = format!("{path}.quantity");
        let (field, name) = match (&given[..], &goal.quantity) {
            ([], Quantity::NewCrossings) => {
                if scene.cloths.is_empty() {
                    self.problem(&quantity, "there is no cloth to have crossings");
                }
                return;
            }
            (_, Quantity::NewCrossings) => {
                return self.problem(
                    path,
                    "crossings are counted over all cloth: remove soft, cloth, rope and body",
                );
            }
            ([one], _) => *one,
            ([], _) => return self.problem(path, "give a soft, a cloth, a rope or a body"),
            _ => return self.problem(path, "give a soft, a cloth, a rope or a body, and only one of them"),
        };
        if goal.quantity == Quantity::CoveredArea && field != "cloth" {
            self.problem(&quantity, "only a cloth covers an area");
        }
        if matches!(goal.quantity, Quantity::Length | Quantity::EndToEnd) && field != "rope" {
            self.problem(&quantity, "only a rope has a length and ends");
        }
        match field {
            "body" => {
                self.found(&format!("{path}.body"), names.body(name));
                if !matches!(goal.quantity, Quantity::Center { .. }) {
                    self.problem(&quantity, "only \"center\" can be measured of a rigid body");
                }
            }
            "soft" => {
                let known = scene.soft.iter().map(|soft| soft.name.as_str());
                self.one_of(&format!("{path}.soft"), name, "soft bodies", known);
            }
            "rope" => {
                let known = scene.ropes.iter().map(|rope| rope.name.as_str());
                self.one_of(&format!("{path}.rope"), name, "ropes", known);
            }
            _ => {
                let known = scene.cloths.iter().map(|cloth| cloth.name.as_str());
                self.one_of(&format!("{path}.cloth"), name, "cloths", known);
            }
        }
    }

    /// Checks that a name is known.
    fn one_of<'a>(&mut self, path: &str, name: &str, what: &str, known: impl Iterator<Item = &'a str>) {
        let known: Vec<_> = known.collect();
        if !known.contains(&name) {
            self.problem(path, format!("'{name}' is not one of the {what} [{}]", known.join(", ")));
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

/// Checks that the goals of a scene as it is written lie within its duration. A scene whose
/// duration was changed may have goals beyond it, which are then not judged, so that a run can be
/// cut short and continued.
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
