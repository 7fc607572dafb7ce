//! One world of a batch during a rollout.

use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion, Vector3};

use super::block::{Status, WorldBlock};
use super::layout::POSE;
use super::plan::Plan;
use pliant_numeric::simd::F64x8;
use pliant_rigid::multibody::LinkId;

/// One world, before a step.
pub struct BatchWorld<'a> {
    pub(super) plan: &'a Plan,
    pub(super) block: &'a mut WorldBlock,
    pub(super) scratch: &'a [F64x8],
    pub(super) lane: usize,
    /// Worlds in one vector of the processor.
    pub(super) width: usize,
}

impl core::fmt::Debug for BatchWorld<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("World").field("lane", &self.lane).finish_non_exhaustive()
    }
}

impl BatchWorld<'_> {
    /// Its status.
    pub fn status(&self) -> Status {
        self.block.status(self.plan, self.lane)
    }

    /// Time \[s\].
    pub fn time(&self) -> f64 {
        self.block.time(self.plan, self.lane)
    }

    /// A position, by its number in `q` (rad, m, or part of a quaternion).
    pub fn position(&self, n: usize) -> f64 {
        self.block.state[self.plan.layout.positions + n].0[self.lane]
    }

    /// A velocity, by its number in `v` \[rad/s, m/s\].
    pub fn velocity(&self, n: usize) -> f64 {
        self.block.state[self.plan.layout.velocities + n].0[self.lane]
    }

    /// Target of a motor \[N m, N, rad/s, m/s, rad, m\].
    pub fn target(&self, motor: usize) -> f64 {
        self.block.state[self.plan.layout.targets + motor].0[self.lane]
    }

    /// Sets it. One that is not finite stops the world at its next step.
    pub fn set_target(&mut self, motor: usize, target: f64) {
        self.block.state[self.plan.layout.targets + motor].0[self.lane] = target;
    }

    /// Origin of a link \[m\], world frame.
    pub fn origin(&self, link: LinkId) -> Vector3<f64> {
        self.point(link, &Vector3::zeros())
    }

    /// A point of a link (m, its frame) in the world.
    pub fn point(&self, link: LinkId, point: &Vector3<f64>) -> Vector3<f64> {
        let (body, on) = &self.plan.links[link.0];
        let point = on * nalgebra::Point3::from(*point);
        match body {
            None => point.coords,
            Some(body) => self.rotation(*body) * point.coords + self.translation(*body),
        }
    }

    /// Pose of a link in the world.
    pub fn pose(&self, link: LinkId) -> Isometry3<f64> {
        let (body, on) = &self.plan.links[link.0];
        let Some(body) = *body else { return *on };
        let rotation = Rotation3::from_matrix_unchecked(self.rotation(body));
        let turn = UnitQuaternion::from_rotation_matrix(&rotation);
        Isometry3::from_parts(Translation3::from(self.translation(body)), turn) * on
    }

    fn rotation(&self, body: usize) -> Matrix3<f64> {
        Matrix3::from_fn(|r, c| self.scratch(POSE * body + 3 * r + c))
    }

    fn translation(&self, body: usize) -> Vector3<f64> {
        Vector3::from_fn(|r, _| self.scratch(POSE * body + 9 + r))
    }

    /// One of this world's numbers among those of the step; bodies' poses come first.
    fn scratch(&self, at: usize) -> f64 {
        let (part, lane) = (self.lane / self.width, self.lane % self.width);
        let numbers: &[f64] = bytemuck::cast_slice(self.scratch);
        numbers[(part * self.plan.layout.scratch + self.plan.layout.poses + at) * self.width + lane]
    }
}
