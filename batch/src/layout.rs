//! Where numbers are: those that a world keeps, its parameters, and those of a step.

use super::plan::Plan;
use pliant_geometry::pairs::Kind;
use pliant_numeric::lanes::LANES;

/// First numbers of all kinds.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    // Kept from step to step.
    pub positions: usize,
    pub velocities: usize,
    pub targets: usize,
    /// 1 as long as a world runs.
    pub runs: usize,
    pub state: usize,

    // Parameters.
    pub gravity: usize,
    /// Factor of each body's mass and inertia.
    pub mass: usize,
    /// Three of each geometry.
    pub sizes: usize,
    /// Three of each geometry.
    pub friction: usize,
    /// Stiffness, damping, limit of each motor.
    pub motors: usize,
    pub parameters: usize,

    // Of a step.
    /// Rotation and origin of each body.
    pub poses: usize,
    /// Velocity of each body, and acceleration at zero joint accelerations.
    pub motions: usize,
    /// Inertia of each body with all it carries, and the force on it. Of a floating body what [`Floating`](super::side::Floating) has.
    pub inertias: usize,
    pub forces: usize,
    /// Axis of each degree of freedom.
    pub axes: usize,
    /// Lower triangles of M.
    pub bare: usize,
    /// Those of `M + dt D + dt^2 K`, then their factors.
    pub blocks: usize,
    /// Of each degree of freedom: momentum, velocity without contact, impulses.
    pub momenta: usize,
    pub smooth: usize,
    pub loads: usize,
    /// Of each motor, 1 where it is at its limit, and the effort there.
    pub saturated: usize,
    /// Rotation and origin of each geometry.
    pub solids: usize,
    /// Radius of a ball around each geometry.
    pub radii: usize,
    /// Columns of a contact's two sides, linear and angular, and what they become.
    pub columns: usize,
    pub work: usize,
    /// Point, normal and distance of each meeting of a pair.
    pub meetings: usize,
    /// Degrees of freedom of the largest tree.
    pub largest: usize,
    /// A multiple of the lanes of a row.
    pub scratch: usize,
}

/// Numbers of a pose.
pub(super) const POSE: usize = 12;
/// Numbers of a meeting.
pub(super) const MEETING: usize = 7;
/// Numbers of an inertia.
pub(super) const INERTIA: usize = 10;

impl Layout {
    pub fn new(plan: &Plan) -> Self {
        let mut next = 0;
        let mut take = |count: usize| {
            next += count;
            next - count
        };
        let (bodies, dofs) = (plan.bodies.len(), plan.velocities());
        let largest = plan.trees.iter().map(|tree| tree.size).max().unwrap_or(0);
        let jointed = plan.trees.iter().filter(|tree| !tree.floats());
        let blocks = jointed.map(|t| t.size * (t.size + 1) / 2).sum();
        let mut l = Self {
            positions: take(plan.positions),
            velocities: take(dofs),
            targets: take(plan.motors.len()),
            runs: take(1),
            ..Self::default()
        };
        l.state = next;
        next = 0;
        let mut take = |count: usize| {
            next += count;
            next - count
        };
        l.gravity = take(3);
        l.mass = take(bodies);
        l.sizes = take(3 * plan.geometries.len());
        l.friction = take(3 * plan.geometries.len());
        l.motors = take(3 * plan.motors.len());
        l.parameters = next;
        next = 0;
        let mut take = |count: usize| {
            next += count;
            next - count
        };
        l.poses = take(POSE * bodies);
        l.motions = take(12 * bodies);
        l.inertias = take(INERTIA * bodies);
        l.forces = take(6 * bodies);
        l.axes = take(6 * dofs);
        l.bare = take(blocks);
        l.blocks = take(blocks);
        l.momenta = take(dofs);
        l.smooth = take(dofs);
        l.loads = take(dofs);
        l.saturated = take(2 * plan.motors.len());
        l.solids = take(POSE * plan.geometries.len());
        l.radii = take(plan.geometries.len());
        l.columns = take(2 * 6 * largest);
        l.work = take(3 * largest);
        l.meetings = take(MEETING * Kind::BoxBox.most_points());
        l.largest = largest;
        l.scratch = next.next_multiple_of(LANES);
        l
    }
}
