//! Tasks of which a part is planned during the run, in the frames of sightings.

use nalgebra::Isometry3;

use super::arm::{Arm, frames_of, next_way};
use super::error::AssembleError;
use super::inputs::TimedInputs;
use crate::format::{Keyframe, Task};

/// A task that is planned from stop to stop.
#[derive(Clone, Debug)]
pub struct PendingTask {
    pub(super) arm: Arm,
    pub(super) task: Task,
    /// Its path in the scene.
    pub(super) path: String,
    /// Time step of the scene \[s\].
    pub(super) dt: f64,
    /// The actuator of each joint.
    pub(super) actuators: Vec<usize>,
    /// What was planned before the run.
    pub(super) before_run: Planned,
    pub(super) planned: Planned,
}

/// How far a task is planned.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    /// The first waypoint that is not.
    pub next: usize,
    /// Time of the last that is \[s\].
    pub end: f64,
    /// Configuration there \[rad, m\].
    pub configuration: Vec<f64>,
    /// Samples of the path.
    pub samples: usize,
}

impl PendingTask {
    /// Forgets what was planned during the run.
    pub fn restart(&mut self, inputs: &mut TimedInputs) {
        self.planned = self.before_run.clone();
        for &actuator in &self.actuators {
            if let Some(samples) = inputs.samples_of(actuator) {
                samples.truncate(self.planned.samples);
            }
        }
    }

    /// Plans the ways that begin before the time `until` \[s\].
    ///
    /// # Errors
    /// A waypoint that cannot be reached.
    pub fn plan(
        &mut self,
        until: f64,
        frame: &dyn Fn(&str) -> Option<Isometry3<f64>>,
        inputs: &mut TimedInputs,
    ) -> Result<(), AssembleError> {
        while self.planned.next < self.task.waypoints.len() && self.planned.end < until {
            let way = next_way(&self.task, self.planned.next);
            let Planned { end: begin, configuration: from, .. } = &self.planned;
            let path = self.arm.plan(&self.task, way.clone(), [*begin, self.dt], from, frame, &self.path)?;
            // The first sample is the last of the way before.
            for (j, &actuator) in self.actuators.iter().enumerate() {
                if let Some(samples) = inputs.samples_of(actuator) {
                    let new = path.times.iter().zip(&path.configurations).skip(1);
                    samples.extend(new.map(|(&time, q)| Keyframe { time, value: q[j] }));
                }
            }
            self.planned.samples += path.times.len() - 1;
            self.planned.next = way.end;
            self.planned.end = self.task.waypoints[way.end - 1].time;
            self.planned.configuration = path.configurations.last().cloned().unwrap_or_default();
        }
        Ok(())
    }

    /// The first waypoint whose way needs a sighting.
    pub(super) fn first_sighted(task: &Task) -> usize {
        let mut first = 0;
        while first < task.waypoints.len() {
            let way = next_way(task, first);
            if frames_of(task, way.clone()).next().is_some() {
                break;
            }
            first = way.end;
        }
        first
    }
}
