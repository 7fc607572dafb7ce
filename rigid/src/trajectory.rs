//! Poses and velocities along a prescribed trajectory.

use crate::error::RigidError;
use crate::spatial::{SpatialVelocity, advance, is_pose};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::PI;

/// Within this angle of half a turn \[rad\], rounding decides which way round is shorter.
const HALF_TURN_MARGIN: f64 = 1e-6;
/// Tolerance of a body's initial pose against its trajectory at time 0 \[m, rad\]: rounding in
/// files.
const START_TOLERANCE: f64 = 1e-6;

/// A pose at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseKey {
    /// Time \[s\].
    pub time: f64,
    /// Pose in the world.
    pub pose: Isometry3<f64>,
}

/// A velocity from a time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VelocityKey {
    /// Time \[s\].
    pub time: f64,
    /// Velocity in the world frame, linear at the body's origin.
    pub velocity: SpatialVelocity,
}

/// A prescribed motion. The times of the keys strictly increase. In one step a body must rotate by
/// less than half a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Trajectory {
    /// World poses, linear in position and at constant angular velocity (slerp) in rotation between
    /// keys, held before the first and after the last. The rotation between two keys goes the
    /// shorter way round; half a turn is refused.
    Poses(Vec<PoseKey>),
    /// Velocities, constant from each key's time to the next, zero before the first, integrated
    /// from the body's initial pose at time 0. Keys before time 0 are refused.
    Velocities(Vec<VelocityKey>),
}

impl Trajectory {
    /// Pose in the world at time 0 of a body with initial pose `initial`: that of the keys, or
    /// `initial` where the keys are velocities or there are none.
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
                            "it is half a turn or more from the keyframe before; add a keyframe between them",
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

/// A trajectory prepared for evaluation. Every pose follows from the keys, not from the previous
/// pose, so that errors do not accumulate. Between two keys the velocity is constant.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseTrajectory(Keys);

#[derive(Clone, Debug, PartialEq)]
enum Keys {
    Poses(Vec<PoseKey>),
    Velocities {
        initial: Isometry3<f64>,
        keys: Vec<VelocityKey>,
        /// The pose at the time of each key.
        starts: Vec<Isometry3<f64>>,
    },
}

impl PoseTrajectory {
    /// The trajectory of a body whose pose at time 0 is `initial`.
    ///
    /// # Errors
    /// [`RigidError::Trajectory`] that names `name` and the key: no keys, times that do not
    /// increase, rotations that are ambiguous.
    pub fn new(trajectory: &Trajectory, initial: &Isometry3<f64>, name: &str) -> Result<Self, RigidError> {
        trajectory.validate(name, initial)?;
        Ok(Self(match trajectory {
            Trajectory::Poses(keys) => Keys::Poses(keys.clone()),
            Trajectory::Velocities(keys) => {
                let mut starts = Vec::with_capacity(keys.len());
                let mut pose = *initial;
                for (k, key) in keys.iter().enumerate() {
                    if let Some(before) = k.checked_sub(1).map(|b| &keys[b]) {
                        pose = advance(&pose, &before.velocity, key.time - before.time);
                    }
                    starts.push(pose);
                }
                Keys::Velocities { initial: *initial, keys: keys.clone(), starts }
            }
        }))
    }

    /// It rests at a pose.
    pub fn at_rest(pose: &Isometry3<f64>) -> Self {
        Self(Keys::Poses(vec![PoseKey { time: 0.0, pose: *pose }]))
    }

    /// From one pose to another, on a line and the shorter way round, at rest before and after. The
    /// times increase.
    pub(crate) fn between(keys: [PoseKey; 2]) -> Self {
        Self(Keys::Poses(keys.to_vec()))
    }

    /// Pose at `time` \[s\], in the frame that the trajectory is given in.
    pub fn pose(&self, time: f64) -> Isometry3<f64> {
        match &self.0 {
            Keys::Poses(keys) => pose_between(keys, time).unwrap_or_else(Isometry3::identity),
            Keys::Velocities { initial, keys, starts } => match segment(keys, time) {
                None => *initial,
                Some(k) => advance(&starts[k], &keys[k].velocity, time - keys[k].time),
            },
        }
    }

    /// The constant velocity that leads from the pose at `time` to the pose at `time + dt` \[s\].
    pub fn velocity_over(&self, time: f64, dt: f64) -> SpatialVelocity {
        if let Keys::Velocities { keys, .. } = &self.0 {
            let (first, last) = (segment(keys, time), segment(keys, time + dt));
            // One key covers the whole step: its velocity is exact for any rotation.
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

    /// Velocity right after `time` \[s\], where a key at `time` already applies.
    pub fn velocity_after(&self, time: f64) -> SpatialVelocity {
        match &self.0 {
            Keys::Poses(keys) => move_before(keys, keys.partition_point(|k| k.time <= time)),
            Keys::Velocities { keys, .. } => velocity_of(keys, segment(keys, time)),
        }
    }

    /// Velocity right before `time` \[s\].
    pub fn velocity_before(&self, time: f64) -> SpatialVelocity {
        match &self.0 {
            Keys::Poses(keys) => move_before(keys, keys.partition_point(|k| k.time < time)),
            Keys::Velocities { keys, .. } => {
                velocity_of(keys, keys.partition_point(|k| k.time < time).checked_sub(1))
            }
        }
    }

    /// Time \[s\] of the first key after `time`: the velocity may change there.
    pub fn next_key(&self, time: f64) -> Option<f64> {
        match &self.0 {
            Keys::Poses(keys) => keys.get(keys.partition_point(|k| k.time <= time)).map(|k| k.time),
            Keys::Velocities { keys, .. } => {
                keys.get(keys.partition_point(|k| k.time <= time)).map(|k| k.time)
            }
        }
    }

    /// Velocities of the path between two times \[s\], by its keys.
    pub(crate) fn velocities_within(&self, from: f64, to: f64) -> impl Iterator<Item = SpatialVelocity> + '_ {
        let (poses, velocities) = match &self.0 {
            Keys::Poses(keys) => (keys.as_slice(), [].as_slice()),
            Keys::Velocities { keys, .. } => ([].as_slice(), keys.as_slice()),
        };
        let moves = (1..poses.len()).filter(move |&k| poses[k - 1].time < to && poses[k].time > from);
        let first = velocities.partition_point(|k| k.time <= from).saturating_sub(1);
        let ruling = velocities[first..].iter().take_while(move |k| k.time < to);
        moves.map(|k| move_before(poses, k)).chain(ruling.map(|k| k.velocity))
    }
}

fn velocity_of(keys: &[VelocityKey], segment: Option<usize>) -> SpatialVelocity {
    segment.map_or_else(SpatialVelocity::zero, |k| keys[k].velocity)
}

/// Velocity of the segment that ends at key `next`; zero outside the keys.
fn move_before(keys: &[PoseKey], next: usize) -> SpatialVelocity {
    let (Some(from), Some(to)) = (next.checked_sub(1).and_then(|k| keys.get(k)), keys.get(next)) else {
        return SpatialVelocity::zero();
    };
    let duration = to.time - from.time;
    SpatialVelocity {
        angular: turn(&from.pose.rotation, &to.pose.rotation) / duration,
        linear: (to.pose.translation.vector - from.pose.translation.vector) / duration,
    }
}

/// Rotation vector (rad, world frame) of the shorter turn from one rotation to another; exactly
/// zero if they are equal.
fn turn(from: &UnitQuaternion<f64>, to: &UnitQuaternion<f64>) -> Vector3<f64> {
    if from == to { Vector3::zeros() } else { (to * from.inverse()).scaled_axis() }
}

/// The last key at or before `time`.
fn segment(keys: &[VelocityKey], time: f64) -> Option<usize> {
    keys.partition_point(|k| k.time <= time).checked_sub(1)
}

/// Linear interpolation of positions, and constant angular velocity between rotations; `None`
/// without keys.
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
