//! Motors, external forces, constraints, controllers.

use std::collections::BTreeSet;

use super::Check;
use super::names::{Contents, Names};
use crate::format::{Constraint, Control, Controller, InverseDynamics, Scene, Suction, TargetPositions};

impl Check {
    pub(super) fn actuators(&mut self, scene: &Scene, names: &Names) {
        let mut taken = BTreeSet::new();
        for (at, actuator) in scene.actuators.iter().enumerate() {
            let path = format!("actuators[{at}]");
            self.unique(&path, "actuator", &mut taken, &actuator.name);
            let joint = format!("{path}.joint");
            let facts = self.found(&joint, names.joint(&actuator.joint)).flatten();
            let position = matches!(actuator.control, Control::Position { .. });
            if let Some(facts) = facts {
                if actuator.dof as usize >= facts.dofs {
                    let message = format!(
                        "{} is not below the joint's number of degrees of freedom, {}",
                        actuator.dof, facts.dofs
                    );
                    self.problem(&format!("{path}.dof"), message);
                } else if position && !facts.coordinates {
                    let message = format!("'{}' has no coordinate to control", actuator.joint);
                    self.problem(&joint, message);
                }
            }
            self.control(&format!("{path}.control"), &actuator.control, scene.dt);
            if let Some(limit) = actuator.effort_limit {
                self.non_negative(&format!("{path}.effort_limit"), limit, "N m or N");
            }
        }
    }

    fn control(&mut self, path: &str, control: &Control, dt: f64) {
        let unit = match control {
            Control::Effort { .. } => "N m or N",
            Control::Position { .. } => "rad or m",
            Control::Velocity { .. } => "rad/s or m/s",
        };
        self.signal(&format!("{path}.value"), control.value(), unit, dt);
        if let Control::Position { stiffness, .. } = control {
            self.non_negative(&format!("{path}.stiffness"), *stiffness, "N m/rad or N/m");
        }
        if let Control::Position { damping, .. } | Control::Velocity { damping, .. } = control {
            self.non_negative(&format!("{path}.damping"), *damping, "N m s/rad or N s/m");
        }
    }

    pub(super) fn forces(&mut self, scene: &Scene, names: &Names) {
        for (at, force) in scene.forces.iter().enumerate() {
            let path = format!("forces[{at}]");
            self.moved(&format!("{path}.body"), &force.body, names);
            self.finite(&format!("{path}.force"), &force.force, "N");
            self.finite(&format!("{path}.torque"), &force.torque, "N m");
            self.signal(&format!("{path}.wave"), &force.wave, "", scene.dt);
        }
    }

    /// A body that forces can move.
    fn moved(&mut self, path: &str, name: &str, names: &Names) {
        if self.found(path, names.body(name)) == Some(false) {
            self.problem(path, format!("'{name}' is fixed or prescribed: forces have no effect on it"));
        }
    }

    pub(super) fn constraints(&mut self, scene: &Scene, names: &Names) {
        for (at, constraint) in scene.constraints.iter().enumerate() {
            let path = format!("constraints[{at}]");
            if let Some(release) = constraint.release() {
                self.non_negative(&format!("{path}.release"), release, "s");
            }
            match constraint {
                Constraint::Ball { bodies, points, .. } => {
                    self.pair(&path, bodies, names);
                    self.points(&path, points);
                }
                Constraint::Distance { bodies, points, distance, .. } => {
                    self.pair(&path, bodies, names);
                    self.points(&path, points);
                    self.positive(&format!("{path}.distance"), *distance, "m");
                }
                Constraint::Weld { bodies, frames, .. } => {
                    self.pair(&path, bodies, names);
                    for (at, frame) in frames.iter().flatten().enumerate() {
                        self.pose(&format!("{path}.frames[{at}]"), frame);
                    }
                }
                Constraint::Coupler { driver, driven, ratio, offset, .. } => {
                    for (field, joint) in [("driver", driver), ("driven", driven)] {
                        let path = format!("{path}.{field}");
                        let facts = self.found(&path, names.joint(joint)).flatten();
                        if facts.is_some_and(|facts| !facts.coordinates) {
                            self.problem(&path, format!("'{joint}' has no coordinate to couple"));
                        }
                    }
                    if driver == driven {
                        self.problem(
                            &format!("{path}.driven"),
                            format!("'{driven}' cannot be coupled to itself"),
                        );
                    }
                    self.number(&format!("{path}.ratio"), *ratio, "", "must be finite", true);
                    self.number(&format!("{path}.offset"), *offset, "rad or m", "must be finite", true);
                }
            }
        }
    }

    fn pair(&mut self, path: &str, bodies: &[Option<String>; 2], names: &Names) {
        let mut moves = false;
        for (at, body) in bodies.iter().enumerate() {
            if let Some(body) = body {
                // A missing body is reported as such.
                moves |= self.found(&format!("{path}.bodies[{at}]"), names.body(body)).unwrap_or(true);
            }
        }
        if bodies[0].is_some() && bodies[0] == bodies[1] {
            self.problem(&format!("{path}.bodies"), "must be two different bodies");
        } else if !moves {
            self.problem(&format!("{path}.bodies"), "must include a body that forces can move");
        }
    }

    fn points(&mut self, path: &str, points: &[[f64; 3]; 2]) {
        for (at, point) in points.iter().enumerate() {
            self.finite(&format!("{path}.points[{at}]"), point, "m");
        }
    }

    pub(super) fn controllers(&mut self, scene: &Scene, names: &Names) {
        for (at, controller) in scene.controllers.iter().enumerate() {
            let path = format!("controllers[{at}]");
            match controller {
                Controller::InverseDynamics(controller) => self.inverse_dynamics(&path, controller, names),
                Controller::Suction(suction) => self.suction(&path, suction, names),
            }
        }
    }

    fn inverse_dynamics(&mut self, path: &str, controller: &InverseDynamics, names: &Names) {
        self.non_negative(&format!("{path}.stiffness"), controller.stiffness, "1/s^2");
        self.non_negative(&format!("{path}.damping"), controller.damping, "1/s");
        self.times_of(path, "target", controller.targets.iter().map(|target| target.time));
        let unknown = Contents::Unknown;
        let contents =
            self.found(&format!("{path}.robot"), names.robot(&controller.robot)).unwrap_or(&unknown);
        for (at, target) in controller.targets.iter().enumerate() {
            let path = format!("{path}.targets[{at}].positions");
            match &target.positions {
                TargetPositions::Named(named) => {
                    for (joint, &position) in named {
                        self.coordinate(&format!("{path}.{joint}"), joint, position, contents);
                    }
                }
                TargetPositions::All(all) => {
                    self.finite(&path, all, "rad or m");
                    let joints = contents.coordinates().unwrap_or(all.len());
                    if joints != all.len() {
                        let message =
                            format!("{} values given; {joints} are needed, one for each joint", all.len());
                        self.problem(&path, message);
                    }
                }
            }
        }
    }

    fn suction(&mut self, path: &str, suction: &Suction, names: &Names) {
        for (field, bodies) in [("cups", &suction.cups), ("targets", &suction.targets)] {
            let path = format!("{path}.{field}");
            if bodies.is_empty() {
                self.problem(&path, "[] is empty: at least one body is needed");
            }
            for (at, body) in bodies.iter().enumerate() {
                let path = format!("{path}[{at}]");
                if field == "targets" {
                    self.moved(&path, body, names);
                } else {
                    self.found(&path, names.body(body));
                }
                if bodies.iter().take(at).any(|other| other == body) {
                    self.problem(&path, format!("'{body}' is named twice"));
                }
            }
        }
        self.non_negative(&format!("{path}.force"), suction.force, "N");
        self.positive(&format!("{path}.range"), suction.range, "m");
        let [from, until] = suction.on;
        self.non_negative(&format!("{path}.on[0]"), from, "s");
        let law = format!("must be later than the beginning, {from} s");
        self.number(&format!("{path}.on[1]"), until, "s", &law, until > from);
    }
}
