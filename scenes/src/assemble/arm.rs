//! The arm of a task: the joints between the world and a tool, and their paths from stop to stop.

use std::ops::Range;

use nalgebra::{Isometry3, Point3, Quaternion, Unit, UnitQuaternion, Vector3};
use pliant_planning::inverse_kinematics::{
    self as kinematics, Arc, Chain, JointPath, Orientation, PathKind, PlanError, PlanSettings, ToolGoal,
    WaypointTarget,
};
use pliant_rigid::multibody::LinkId;

use super::error::AssembleError;
use crate::estimate::sample_interval;
use crate::format::{TargetPositions, Task, Timing, ToolPose, Waypoint, WaypointPath};

/// The joints between the world and a tool.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub chain: Chain,
    pub links: Vec<LinkId>,
    /// The joints' names in the robot's file.
    pub names: Vec<String>,
    pub start: Vec<f64>,
    /// Largest efforts \[N m, N\].
    pub efforts: Vec<f64>,
    /// Fastest rates \[rad/s, m/s\].
    pub rates: Vec<f64>,
}

impl Arm {
    /// The path from the configuration `from` at the time `begin` \[s\] through some waypoints, the
    /// last of which is a stop; `frame` gives the frames of sightings.
    ///
    /// # Errors
    /// [`AssembleError::Task`], which names the waypoint.
    pub fn plan(
        &self,
        task: &Task,
        waypoints: Range<usize>,
        [begin, dt]: [f64; 2],
        from: &[f64],
        frame: &dyn Fn(&str) -> Option<Isometry3<f64>>,
        path: &str,
    ) -> Result<JointPath, AssembleError> {
        let first = waypoints.start;
        let mut targets = Vec::with_capacity(waypoints.len());
        // Number of the waypoint of each target.
        let mut numbers = Vec::with_capacity(waypoints.len());
        let failed = |at: usize, source: PlanError| {
            let name = task.waypoints.get(at).and_then(|w| w.name.clone()).unwrap_or_default();
            AssembleError::Task { path: format!("{path}.waypoints[{at}]"), name, source: Box::new(source) }
        };
        for at in waypoints {
            let waypoint = &task.waypoints[at];
            let target = self.target(at, waypoint, frame).map_err(|e| failed(at, e))?;
            match (waypoint.path, target.place) {
                // An arc is between stops, so it is all of the path.
                (WaypointPath::Arc, WaypointTarget::Tool(goal)) => {
                    let arc = Arc { rise: waypoint.rise, up: Vector3::z_axis() };
                    targets.extend(arc.waypoints(&self.chain.pose(from), begin, &goal, waypoint.time));
                }
                (_, place) => targets.push(kinematics::Waypoint { place, ..target }),
            }
            numbers.resize(targets.len(), at);
        }
        let settings = PlanSettings {
            begin,
            interval: sample_interval(dt),
            rates: self.rates.clone(),
            rest: self.start.clone(),
            solve: kinematics::SolveSettings::default(),
        };
        kinematics::plan(&self.chain, from, &targets, &settings).map_err(|source| {
            let at = numbers.get(source.waypoint()).copied().unwrap_or(first);
            failed(at, source)
        })
    }

    fn target(
        &self,
        at: usize,
        waypoint: &Waypoint,
        frame: &dyn Fn(&str) -> Option<Isometry3<f64>>,
    ) -> Result<kinematics::Waypoint, PlanError> {
        let refused = |reason: String| Err(PlanError::Waypoint { waypoint: at, reason });
        let place = match (&waypoint.joints, &waypoint.pose) {
            (Some(TargetPositions::All(all)), _) => {
                WaypointTarget::Configuration(all.iter().copied().map(Some).collect())
            }
            (Some(TargetPositions::Named(named)), _) => {
                let mut configuration = vec![None; self.links.len()];
                for (name, &position) in named {
                    let Some(j) = self.names.iter().position(|own| own == name) else {
                        let names = self.names.join(", ");
                        return refused(format!(
                            "'{name}' is not one of the joints between the world and the tool, [{names}]"
                        ));
                    };
                    configuration[j] = Some(position);
                }
                WaypointTarget::Configuration(configuration)
            }
            (None, Some(pose)) => {
                let frame = match &pose.frame {
                    None => Isometry3::identity(),
                    Some(name) => match frame(name) {
                        Some(frame) => frame,
                        None => return refused(format!("'{name}' has not been seen")),
                    },
                };
                WaypointTarget::Tool(goal(pose, &frame))
            }
            // Validation reports it first.
            (None, None) => WaypointTarget::Configuration(vec![None; self.links.len()]),
        };
        let path_kind = match waypoint.path {
            WaypointPath::Joint => PathKind::Joint,
            WaypointPath::Straight | WaypointPath::Arc => PathKind::Straight,
        };
        let pass = waypoint.timing == Timing::Pass;
        Ok(kinematics::Waypoint { time: waypoint.time, place, path_kind, pass })
    }
}

fn goal(pose: &ToolPose, frame: &Isometry3<f64>) -> ToolGoal {
    // Without a frame nothing is multiplied, which would round.
    let turned = |q: UnitQuaternion<f64>| if pose.frame.is_some() { frame.rotation * q } else { q };
    let orientation = match (pose.orientation, pose.axis) {
        (Some([w, x, y, z]), _) => {
            Orientation::Full(turned(UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))))
        }
        (None, Some(axis)) => {
            let axis = Unit::new_normalize(Vector3::from(axis));
            let base = if pose.frame.is_some() { frame.rotation * axis } else { axis };
            Orientation::JointAxis { tool: Vector3::z_axis(), base }
        }
        (None, None) => Orientation::Free,
    };
    let position = Point3::from(pose.position);
    ToolGoal { position: if pose.frame.is_some() { frame * position } else { position }, orientation }
}

/// The first way of a task from a waypoint on: up to the next stop.
pub(super) fn next_way(task: &Task, first: usize) -> Range<usize> {
    let rest = &task.waypoints[first..];
    let passed = rest.iter().take_while(|waypoint| waypoint.timing == Timing::Pass).count();
    first..(first + passed + 1).min(task.waypoints.len())
}

/// Names of the sightings that a way needs.
pub(super) fn frames_of(task: &Task, way: Range<usize>) -> impl Iterator<Item = &str> {
    task.waypoints[way].iter().filter_map(|waypoint| waypoint.pose.as_ref()?.frame.as_deref())
}
