//! Layout of the numbers of a world: state, parameters, and those of a step.

use pliant_geometry::pairs::PairKind;
use pliant_numeric::simd::F64x8;

/// First numbers of all kinds.
#[derive(Clone, Debug, Default)]
pub(super) struct RowLayout {
    // Kept from step to step.
    pub positions: usize,
    pub velocities: usize,
    pub targets: usize,
    /// 1 while a world runs.
    pub running: usize,
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
    /// Composite inertia of each body, and the force on it. For a free-floating body the contents
    /// of [`FreeFloatingInertia`](super::side::FreeFloatingInertia).
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
    /// Of each motor, 1 if it is at its limit, and the effort there.
    pub saturated: usize,
    /// Rotation and origin of each geometry.
    pub solids: usize,
    /// Radius of the bounding sphere of each geometry.
    pub radii: usize,
    /// Columns of a contact's two sides, linear and angular, and their solutions.
    pub columns: usize,
    pub work: usize,
    /// Point, normal and distance of each contact point of a pair.
    pub contact_points: usize,
    /// Degrees of freedom of the largest tree.
    pub largest: usize,
    /// A multiple of the lanes of a row.
    pub scratch: usize,
}

/// Numbers of a pose.
pub(super) const POSE: usize = 12;
/// Numbers of a contact point.
pub(super) const POINT_NUMBERS: usize = 7;
/// Numbers of an inertia.
pub(super) const INERTIA: usize = 10;

/// Sizes of the layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    pub bodies: usize,
    pub positions: usize,
    /// Degrees of freedom.
    pub dofs: usize,
    pub motors: usize,
    pub geometries: usize,
    /// Entries of the blocks of all jointed trees, lower triangles.
    pub blocks: usize,
    /// Degrees of freedom of the largest tree.
    pub largest: usize,
}

impl RowLayout {
    pub fn new(counts: &Counts) -> Self {
        let &Counts { bodies, positions, dofs, motors, geometries, blocks, largest } = counts;
        let mut next = 0;
        let mut take = |count: usize| {
            next += count;
            next - count
        };
        let mut l = Self {
            positions: take(positions),
            velocities: take(dofs),
            targets: take(motors),
            running: take(1),
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
        l.sizes = take(3 * geometries);
        l.friction = take(3 * geometries);
        l.motors = take(3 * motors);
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
        l.saturated = take(2 * motors);
        l.solids = take(POSE * geometries);
        l.radii = take(geometries);
        l.columns = take(2 * 6 * largest);
        l.work = take(3 * largest);
        l.contact_points = take(POINT_NUMBERS * PairKind::BoxBox.most_points());
        l.largest = largest;
        l.scratch = next.next_multiple_of(F64x8::LANES);
        l
    }
}
