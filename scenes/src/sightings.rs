//! What the tasks of a scene see during the run.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::{ParticleSnapshot, StepError, World};
use serde::{Deserialize, Serialize};

use crate::assemble::{PendingTask, SeenPoints, TimedInputs};
use crate::format::Scene;

/// The frame that a sighting found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeenFrame {
    /// Its origin, world frame \[m\].
    pub position: [f64; 3],
    /// Its orientation as a unit quaternion (w, x, y, z), world frame \[-\].
    pub orientation: [f64; 4],
}

impl SeenFrame {
    fn of(frame: &Isometry3<f64>) -> Self {
        let q = frame.rotation;
        Self { position: frame.translation.vector.into(), orientation: [q.w, q.i, q.j, q.k] }
    }

    fn isometry(&self) -> Isometry3<f64> {
        let [w, x, y, z] = self.orientation;
        // Of unit length as it was written: a second rounding would change the path.
        let rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
        Isometry3::from_parts(Translation3::from(Vector3::from(self.position)), rotation)
    }
}

/// The sightings of a scene, and the tasks that wait for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sightings {
    points: Vec<SeenPoints>,
    seen: Vec<Option<SeenFrame>>,
    tasks: Vec<PendingTask>,
    /// Time of the last look \[s\].
    last: f64,
    snapshot: ParticleSnapshot,
}

impl Sightings {
    pub fn new(points: Vec<SeenPoints>, tasks: Vec<PendingTask>) -> Self {
        Self { seen: vec![None; points.len()], points, tasks, ..Self::default() }
    }

    /// The frames, in the scene's order; none where it is not yet time.
    pub fn seen(&self) -> &[Option<SeenFrame>] {
        &self.seen
    }

    /// Takes over the frames of a saved state; false if there are not as many as sightings.
    pub fn restore(&mut self, seen: Vec<Option<SeenFrame>>, inputs: &mut TimedInputs) -> bool {
        if seen.len() != self.points.len() {
            return false;
        }
        self.seen = seen;
        for task in &mut self.tasks {
            task.restart(inputs);
        }
        true
    }

    /// Finds the frames that are due in the next step, and plans the ways that begin in it.
    ///
    /// # Errors
    /// [`StepError::Motors`].
    pub fn look(
        &mut self,
        scene: &Scene,
        world: &mut World,
        inputs: &mut TimedInputs,
    ) -> Result<(), StepError> {
        if self.points.is_empty() && self.tasks.is_empty() {
            return Ok(());
        }
        let time = world.time();
        // Times are sums that round; what is due at the end of a step is found in the next.
        let rounding = 1e-6 * scene.dt;
        let until = time + scene.dt - rounding;
        if time < self.last {
            // A state of before was restored.
            for (seen, points) in self.seen.iter_mut().zip(&self.points) {
                *seen = seen.filter(|_| points.time < time - rounding);
            }
            for task in &mut self.tasks {
                task.restart(inputs);
            }
        }
        self.last = time;
        self.find(until, world)?;
        let (points, seen) = (&scene.sightings, &self.seen);
        let frame = |name: &str| {
            let at = points.iter().position(|sighting| sighting.name == name)?;
            seen[at].map(|frame| frame.isometry())
        };
        for task in &mut self.tasks {
            task.plan(until, &frame, inputs)
                .map_err(|error| StepError::Motors { time, reason: error.to_string() })?;
        }
        Ok(())
    }

    fn find(&mut self, until: f64, world: &mut World) -> Result<(), StepError> {
        let due = |points: &SeenPoints, seen: &Option<SeenFrame>| seen.is_none() && points.time < until;
        if !self.points.iter().zip(&self.seen).any(|(points, seen)| due(points, seen)) {
            return Ok(());
        }
        let time = world.time();
        let failed = |reason| StepError::Motors { time, reason };
        world.snapshot(&mut self.snapshot).map_err(|e| failed(e.to_string()))?;
        for (points, seen) in self.points.iter().zip(&mut self.seen) {
            if due(points, seen) {
                *seen = Some(SeenFrame::of(&points.frame(&self.snapshot.positions).map_err(failed)?));
            }
        }
        Ok(())
    }
}
