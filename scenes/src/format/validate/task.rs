//! Tasks of robots. Whether they are possible is found when the scene is assembled.

use super::Check;
use super::names::{Contents, Names};
use crate::format::{
    Controller, Gripper, Scene, TargetPositions, Task, TaskControl, Timing, Waypoint, WaypointPath,
};

impl Check {
    pub(super) fn tasks(&mut self, scene: &Scene, names: &Names) {
        for (at, task) in scene.tasks.iter().enumerate() {
            let path = format!("tasks[{at}]");
            let unknown = Contents::Unknown;
            let robot = format!("{path}.robot");
            let contents = self.found(&robot, names.robot(&task.robot)).unwrap_or(&unknown);
            let computed = scene.controllers.iter().position(
                |controller| matches!(controller, Controller::InverseDynamics(c) if c.robot == task.robot),
            );
            if let Some(other) = computed {
                self.problem(&robot, format!("'{}' is already driven by controllers[{other}]", task.robot));
            }
            let link = if task.tool.link.contains('/') {
                task.tool.link.clone()
            } else {
                format!("{}/{}", task.robot, task.tool.link)
            };
            self.found(&format!("{path}.tool.link"), names.body(&link));
            self.pose(&format!("{path}.tool.pose"), &task.tool.pose);
            let [stiffness, damping] = task.control.gains();
            self.positive(&format!("{path}.control.stiffness"), stiffness, "N m/rad, N/m or 1/s^2");
            self.non_negative(&format!("{path}.control.damping"), damping, "N m s/rad, N s/m or 1/s");
            if let Some(limit) = task.rate_limit {
                self.positive(&format!("{path}.rate_limit"), limit, "rad/s or m/s");
            }
            self.waypoints(&path, task, contents);
            self.frames(&path, task, scene);
            for (k, gripper) in task.grippers.iter().enumerate() {
                self.gripper(&format!("{path}.grippers[{k}]"), gripper, names);
            }
        }
    }

    fn waypoints(&mut self, path: &str, task: &Task, contents: &Contents) {
        self.times_of(path, "waypoint", task.waypoints.iter().map(|w| w.time));
        for (at, waypoint) in task.waypoints.iter().enumerate() {
            let path = format!("{path}.waypoints[{at}]");
            if at == 0 && waypoint.time == 0.0 {
                self.problem(
                    &format!("{path}.time"),
                    "0 s must be positive: at time 0 the robot is at its initial joint positions",
                );
            }
            if let Some(next) = task.waypoints.get(at + 1)
                && waypoint.timing == Timing::Pass
                && (waypoint.path != next.path || next.path == WaypointPath::Arc)
            {
                let message = if [waypoint.path, next.path].contains(&WaypointPath::Arc) {
                    "\"pass\" is not possible beside an arc: use a stop"
                } else {
                    "\"pass\" is not possible between a joint path and a straight path: use a stop"
                };
                self.problem(&format!("{path}.timing"), message);
            }
            self.place(&path, waypoint, contents);
        }
    }

    fn place(&mut self, path: &str, waypoint: &Waypoint, contents: &Contents) {
        match (&waypoint.joints, &waypoint.pose) {
            (None, None) => self.problem(path, "give joints or a pose"),
            (Some(_), Some(_)) => self.problem(path, "give joints or a pose, not both"),
            _ => {}
        }
        let needs_pose = match waypoint.path {
            WaypointPath::Joint => None,
            WaypointPath::Straight => Some("\"straight\" needs a pose, not joints"),
            WaypointPath::Arc => Some("\"arc\" needs a pose, not joints"),
        };
        if let Some(message) = needs_pose.filter(|_| waypoint.joints.is_some()) {
            self.problem(&format!("{path}.path"), message);
        }
        self.non_negative(&format!("{path}.rise"), waypoint.rise, "");
        match &waypoint.joints {
            Some(TargetPositions::Named(named)) => {
                for (joint, &position) in named {
                    self.coordinate(&format!("{path}.joints.{joint}"), joint, position, contents);
                }
            }
            Some(TargetPositions::All(all)) => self.finite(&format!("{path}.joints"), all, "rad or m"),
            None => {}
        }
        if let Some(pose) = &waypoint.pose {
            self.finite(&format!("{path}.pose.position"), &pose.position, "m");
            if let Some(orientation) = &pose.orientation {
                self.orientation(&format!("{path}.pose.orientation"), orientation);
            }
            if let Some(axis) = &pose.axis {
                self.direction(&format!("{path}.pose.axis"), axis);
                if pose.orientation.is_some() {
                    self.problem(&format!("{path}.pose"), "give an orientation or an axis, not both");
                }
            }
        }
    }

    /// Frames must be known when the tool leaves the stop before.
    fn frames(&mut self, path: &str, task: &Task, scene: &Scene) {
        let mut begin = 0.0;
        for (at, waypoint) in task.waypoints.iter().enumerate() {
            if let Some(name) = waypoint.pose.as_ref().and_then(|pose| pose.frame.as_ref()) {
                let path = format!("{path}.waypoints[{at}].pose.frame");
                match scene.sightings.iter().find(|sighting| sighting.name == *name) {
                    None => self.problem(&path, format!("there is no sighting '{name}'")),
                    Some(sighting) if sighting.time > begin => self.problem(
                        &path,
                        format!(
                            "'{name}' is seen at {} s, after the tool leaves the stop before, at {begin} s",
                            sighting.time
                        ),
                    ),
                    Some(_) => {}
                }
                if matches!(task.control, TaskControl::InverseDynamics { .. }) {
                    self.problem(
                        &path,
                        "a task with \"inverse-dynamics\" is planned before the run: use \"position\"",
                    );
                }
            }
            if waypoint.timing == Timing::Stop {
                begin = waypoint.time;
            }
        }
    }

    fn gripper(&mut self, path: &str, gripper: &Gripper, names: &Names) {
        self.found(&format!("{path}.robot"), names.robot(&gripper.robot));
        self.times_of(path, "command", gripper.commands.iter().map(|c| c.time));
        for (at, command) in gripper.commands.iter().enumerate() {
            let path = format!("{path}.commands[{at}]");
            self.non_negative(&format!("{path}.opening"), command.opening, "m");
            self.positive(&format!("{path}.duration"), command.duration, "s");
            if let Some(effort) = command.effort {
                self.positive(&format!("{path}.effort"), effort, "N");
            }
            // Sums of decimals round.
            if let Some(next) = gripper.commands.get(at + 1)
                && command.time + command.duration > next.time + 1e-9
            {
                let message = format!(
                    "{} s is longer than the time until the next command, {} s",
                    command.duration,
                    next.time - command.time
                );
                self.problem(&format!("{path}.duration"), message);
            }
        }
    }
}
