//! Robots from model files.

use std::collections::BTreeSet;

use super::Check;
use super::names::{Contents, Names};
use crate::format::{MocapPath, PoseKeyframe, Robot, Scene};

impl Check {
    pub(super) fn robots(&mut self, scene: &Scene, names: &Names) {
        let mut taken = BTreeSet::new();
        for (at, robot) in scene.robots.iter().enumerate() {
            let path = format!("robots[{at}]");
            if robot.name.is_empty() || robot.name.contains('/') {
                self.problem(
                    &format!("{path}.name"),
                    format!("'{}' must not be empty or hold '/'", robot.name),
                );
            }
            self.unique(&path, "robot", &mut taken, &robot.name);
            if names.is_body(&robot.name) {
                self.problem(&format!("{path}.name"), format!("the name '{}' is used by a body", robot.name));
            }
            match (&robot.file, robot.model) {
                (None, None) => self.problem(&path, "give a file or a model"),
                (Some(_), Some(_)) => self.problem(&path, "give a file or a model, not both"),
                _ => {}
            }
            if let Some(parent) = &robot.parent {
                self.found(&format!("{path}.parent"), names.mount(parent, at));
            }
            self.pose(&format!("{path}.pose"), &robot.pose);
            self.mocap(&path, robot);
            if let Some(contents) = names.contents(at) {
                self.start(&path, robot, contents);
                self.controls(&path, robot, contents, scene.dt);
            }
        }
    }

    /// The initial state of the robot.
    fn start(&mut self, path: &str, robot: &Robot, contents: &Contents) {
        if let Some(keyframe) = &robot.keyframe {
            self.found(&format!("{path}.keyframe"), contents.keyframe(keyframe));
        }
        for (joint, &position) in &robot.positions {
            self.coordinate(&format!("{path}.positions.{joint}"), joint, position, contents);
        }
    }

    /// A coordinate [rad, m] for a robot's joint.
    pub(super) fn coordinate(&mut self, path: &str, joint: &str, position: f64, contents: &Contents) {
        let facts = self.found(path, contents.joint(joint)).flatten();
        let unit = facts.map_or("rad or m", |facts| if facts.turns { "rad" } else { "m" });
        self.number(path, position, unit, "must be finite", true);
        let Some(facts) = facts else { return };
        if facts.dofs != 1 {
            self.problem(
                path,
                format!("'{joint}' has {} degrees of freedom, not one coordinate", facts.dofs),
            );
        }
        let [least, greatest] = facts.range;
        if position < least || position > greatest {
            self.problem(
                path,
                format!("{position} {unit} must be within the joint limits, [{least}, {greatest}] {unit}"),
            );
        }
    }

    /// Paths of the mocap bodies; whether the file has them is checked where it is read.
    fn mocap(&mut self, path: &str, robot: &Robot) {
        for (body, MocapPath { keyframes }) in &robot.mocap {
            let path = format!("{path}.mocap.{body}");
            self.times(&path, keyframes.iter().map(|k| k.time));
            self.poses(&format!("{path}.keyframes"), keyframes);
        }
    }

    /// The poses of keyframes.
    pub(super) fn poses(&mut self, path: &str, keyframes: &[PoseKeyframe]) {
        for (at, keyframe) in keyframes.iter().enumerate() {
            self.finite(&format!("{path}[{at}].position"), &keyframe.position, "m");
            self.orientation(&format!("{path}[{at}].orientation"), &keyframe.orientation);
        }
    }

    fn controls(&mut self, path: &str, robot: &Robot, contents: &Contents, dt: f64) {
        for (motor, signal) in &robot.controls {
            let path = format!("{path}.controls.{motor}");
            self.found(&path, contents.motor(motor));
            self.signal(&path, signal, "(the file's unit)", dt);
        }
    }
}
