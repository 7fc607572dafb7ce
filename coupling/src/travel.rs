//! Travel of bodies past the particles around them.
//!
//! Every particle that a body can touch counts, so that the result, by which steps are split,
//! depends neither on the order of the particles nor on the grid's blocks. Speeds are relative, so
//! that it is the same in every inertial frame.

use nalgebra::{Point3, Vector3};
use pliant_mpm::{BlockView, Mpm};
use pliant_rigid::{Bodies, BodyId, SpatialVelocity};

/// Positions and motion of the particles at the start of a coupling step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearbyParticles<'a> {
    pub mpm: &'a Mpm,
    /// Distance within which a body at rest counts as near \[m\].
    pub reach: f64,
    /// Velocity of their centre of mass, world frame \[m/s\].
    pub common: Vector3<f64>,
    /// Largest speed of a particle relative to that \[m/s\].
    pub spread: f64,
}

impl<'a> NearbyParticles<'a> {
    pub fn new(mpm: &'a Mpm, reach: f64, common: Vector3<f64>) -> Self {
        Self { mpm, reach, common, spread: mpm.max_speed_relative_to(&common) }
    }

    /// Bound on the speed of a body's surface and of particles past each other \[m/s\].
    pub fn speed_bound(&self, bodies: &Bodies, id: BodyId) -> f64 {
        let velocity = bodies.velocity(id);
        (velocity.linear - self.common).norm()
            + velocity.angular.norm() * bodies.body(id).reach()
            + self.spread
    }

    /// Whether a body whose surface moves at up to `speed` \[m/s\] relative to the particles' common motion
    /// may touch one of them within `coupling_step` \[s\].
    pub fn may_touch(&self, bodies: &Bodies, id: BodyId, speed: f64, coupling_step: f64) -> bool {
        let distance = self.reach + coupling_step * (speed + self.spread);
        (0..self.mpm.block_count()).any(|b| {
            let view = self.mpm.block(b);
            let (center, radius) = self.ball_around(&view);
            self.is_within(bodies, id, &center, radius + distance)
                && (0..view.len()).any(|i| self.is_within(bodies, id, &view.position(i), distance))
        })
    }

    /// Centre (world frame, m) and radius \[m\] of a ball that has all particles of a block, which are at
    /// most 1.5 cells outside of it: see the reach of the transfers.
    fn ball_around(&self, view: &BlockView<'_>) -> (Point3<f64>, f64) {
        let center = view.corner() + Vector3::repeat(0.5 * view.edge());
        (center, (0.5 * view.edge() + 1.5 * self.mpm.grid_spacing()) * 3.0_f64.sqrt())
    }

    /// Travel \[m\] of the surface of a body past the particles that it can touch within
    /// `coupling_step` \[s\], at this velocity of its and the present ones of theirs; none without such
    /// particles.
    pub fn travel(
        &self,
        bodies: &Bodies,
        id: BodyId,
        velocity: SpatialVelocity,
        coupling_step: f64,
    ) -> Option<f64> {
        let pose = bodies.pose(id);
        let origin = Point3::from(pose.translation.vector);
        let mut way: Option<f64> = None;
        for b in 0..self.mpm.block_count() {
            let view = self.mpm.block(b);
            let (center, radius) = self.ball_around(&view);
            let fastest = (velocity.at(&origin, &center) - self.common).norm()
                + velocity.angular.norm() * radius
                + self.spread;
            if self.is_within(bodies, id, &center, radius + self.reach + coupling_step * fastest) {
                way = self.travel_in(bodies, id, coupling_step, (&view, &origin, &velocity), way);
            }
        }
        way
    }

    /// The same of a block's particles, and at least `travel`.
    fn travel_in(
        &self,
        bodies: &Bodies,
        id: BodyId,
        coupling_step: f64,
        (view, origin, velocity): (&BlockView<'_>, &Point3<f64>, &SpatialVelocity),
        mut way: Option<f64>,
    ) -> Option<f64> {
        for i in 0..view.len() {
            let x = view.position(i);
            let past = coupling_step * (velocity.at(origin, &x) - view.velocity(i)).norm();
            // The distance takes longer to find than the velocity.
            let more = way.is_none_or(|way| past > way);
            if more && self.is_within(bodies, id, &x, self.reach + past) {
                way = Some(past);
            }
        }
        way
    }

    /// Whether a point is nearer than `distance` \[m\] to a body.
    fn is_within(&self, bodies: &Bodies, id: BodyId, x: &Point3<f64>, distance: f64) -> bool {
        let pose = bodies.pose(id);
        bodies.body(id).geometries.iter().any(|geometry| {
            let placed = pose * geometry.pose;
            let apart = geometry
                .shape
                .bounding_sphere()
                .is_some_and(|(middle, extent)| (placed * middle - x).norm() > extent + distance);
            !apart && geometry.shape.lower_bound(&placed.inverse_transform_point(x)) < distance
        })
    }
}
