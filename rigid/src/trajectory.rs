//! Poses and velocities along a prescribed trajectory.

use crate::error::RigidError;
use crate::motion::{PoseKey, Trajectory, VelocityKey};
use crate::spatial::{SpatialVelocity, advance, is_pose};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::PI;

/// Closer to half a turn than this (rad), the shorter way round is decided by rounding.
const HALF_TURN_MARGIN: f64 = 1e-6;
/// How far (m, rad) a body's initial pose may be from its trajectory at time 0: rounding in files.
const START_TOLERANCE: f64 = 1e-6;

impl Trajectory {
    /// Pose in the world at time 0 of a body with initial pose `initial`: that of the keys, or `initial`
    /// where the keys are velocities or there are none.
    pub fn start(&self, initial: &Isometry3<f64>) -> Isometry3<f64> {
        match self {
            Trajectory::Poses(keys) => pose_between(keys, 0.0).unwrap_or(*initial),
            Trajectory::Velocities(_) => *initial,
        }
    }

    fn times(&self) -> impl Iterator<Item = f64> {
        let (poses, velocities) = match self {
            Trajectory::Poses(keys) => (keys.as_slice(), [].as_slice()),
            Trajectory::Velocities(keys) => ([].as_slice(), keys.as_slice()),
        };
        poses.iter().map(|k| k.time).chain(velocities.iter().map(|k| k.time))
    }

    /// Checks the keys of the trajectory of `body`, which starts at `initial`.
    pub(crate) fn validate(&self, body: &str, initial: &Isometry3<f64>) -> Result<(), RigidError> {
        let refuse =
            |key, time, reason| Err(RigidError::Trajectory { body: body.to_owned(), key, time, reason });
        let mut last = f64::NEG_INFINITY;
        for (key, time) in self.times().enumerate() {
            if !time.is_finite() {
                return refuse(key, time, "the time is not finite");
            }
            if time <= last {
                return refuse(key, time, "the times do not strictly increase");
            }
            last = time;
        }
        match self {
            Trajectory::Poses(keys) => {
                if keys.is_empty() {
                    return refuse(0, 0.0, "there are no keys");
                }
                for (k, key) in keys.iter().enumerate() {
                    if !is_pose(&key.pose) {
                        return refuse(
                            k,
                            key.time,
                            "the pose is not finite, or its quaternion not of length 1",
                        );
                    }
                    let before = &keys[k.saturating_sub(1)].pose.rotation;
                    if before.angle_to(&key.pose.rotation) > PI - HALF_TURN_MARGIN {
                        return refuse(
                            k,
                            key.time,
                            "it is half a turn from the key before; add a key between them",
                        );
                    }
                }
                let start = self.start(initial);
                let shift = (start.translation.vector - initial.translation.vector).norm();
                if shift > START_TOLERANCE || start.rotation.angle_to(&initial.rotation) > START_TOLERANCE {
                    return refuse(
                        0,
                        keys[0].time,
                        "the trajectory at time 0 is not at the body's initial pose",
                    );
                }
            }
            Trajectory::Velocities(keys) => {
                for (k, key) in keys.iter().enumerate() {
                    if key.time < 0.0 {
                        return refuse(k, key.time, "a velocity before time 0");
                    }
                    if !key.velocity.is_finite() {
                        return refuse(k, key.time, "the velocity is not finite");
                    }
                }
            }
        }
        Ok(())
    }
}

/// A trajectory in the form in which it is followed. Every pose comes from the keys, not from the pose before
/// it, so that nothing drifts.
#[derive(Clone, Debug)]
pub(crate) enum Path {
    Poses(Vec<PoseKey>),
    Velocities {
        initial: Isometry3<f64>,
        keys: Vec<VelocityKey>,
        /// The pose at the time of each key.
        starts: Vec<Isometry3<f64>>,
    },
}

impl Path {
    /// The path of a body whose pose at time 0 is `initial`.
    pub(crate) fn new(trajectory: &Trajectory, initial: &Isometry3<f64>) -> Self {
        match trajectory {
            Trajectory::Poses(keys) => Path::Poses(keys.clone()),
            Trajectory::Velocities(keys) => {
                let mut starts = Vec::with_capacity(keys.len());
                let mut pose = *initial;
                for (k, key) in keys.iter().enumerate() {
                    if let Some(before) = k.checked_sub(1).map(|b| &keys[b]) {
                        pose = advance(&pose, &before.velocity, key.time - before.time);
                    }
                    starts.push(pose);
                }
                Path::Velocities { initial: *initial, keys: keys.clone(), starts }
            }
        }
    }

    /// World pose at `time` (s).
    pub(crate) fn pose(&self, time: f64) -> Isometry3<f64> {
        match self {
            Path::Poses(keys) => pose_between(keys, time).unwrap_or_else(Isometry3::identity),
            Path::Velocities { initial, keys, starts } => match segment(keys, time) {
                None => *initial,
                Some(k) => advance(&starts[k], &keys[k].velocity, time - keys[k].time),
            },
        }
    }

    /// The constant velocity that carries the pose at `time` to the pose at `time + dt` (s).
    pub(crate) fn velocity_over(&self, time: f64, dt: f64) -> SpatialVelocity {
        if let Path::Velocities { keys, .. } = self {
            let (first, last) = (segment(keys, time), segment(keys, time + dt));
            // One key rules the whole step: its velocity is exact, however far the body turns.
            let ends_with_step = last.is_some_and(|k| keys[k].time == time + dt && first == k.checked_sub(1));
            if first == last || ends_with_step {
                return first.map_or_else(SpatialVelocity::zero, |k| keys[k].velocity);
            }
        }
        let (from, to) = (self.pose(time), self.pose(time + dt));
        SpatialVelocity {
            angular: turn(&from.rotation, &to.rotation) / dt,
            linear: (to.translation.vector - from.translation.vector) / dt,
        }
    }
}

/// Rotation vector (rad, world frame) of the shorter turn from one rotation to another; exactly zero if they
/// are equal.
fn turn(from: &UnitQuaternion<f64>, to: &UnitQuaternion<f64>) -> Vector3<f64> {
    if from == to { Vector3::zeros() } else { (to * from.inverse()).scaled_axis() }
}

/// The last key at or before `time`.
fn segment(keys: &[VelocityKey], time: f64) -> Option<usize> {
    keys.partition_point(|k| k.time <= time).checked_sub(1)
}

/// Linear interpolation of positions, and constant angular velocity between rotations; `None` without keys.
fn pose_between(keys: &[PoseKey], time: f64) -> Option<Isometry3<f64>> {
    let next = keys.partition_point(|k| k.time <= time);
    let Some(from) = next.checked_sub(1).map(|k| &keys[k]) else {
        return keys.first().map(|k| k.pose);
    };
    let Some(to) = keys.get(next) else { return Some(from.pose) };
    let u = (time - from.time) / (to.time - from.time);
    let (start, end) = (from.pose.translation.vector, to.pose.translation.vector);
    let turn = turn(&from.pose.rotation, &to.pose.rotation);
    let rotation = UnitQuaternion::from_scaled_axis(turn * u) * from.pose.rotation;
    Some(Isometry3::from_parts(Translation3::from(start + (end - start) * u), rotation))
}
