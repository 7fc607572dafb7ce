//! Limits and dry friction of joints, the correction of the velocities (equation 9), and the motion
//! of the step.

use super::contact::ratio;
use super::kinematics::{Phase, WorldLanes};
use super::plan::{BatchBody, BatchJoint, BatchTree};
use pliant_numeric::each;
use pliant_numeric::linalg::{Mat3, Sym3, Vec3};
use pliant_numeric::rotation::Quat;
use pliant_numeric::scalar::Real;
use pliant_numeric::simd::{Simd, Wide};
use pliant_rigid::comfree::ImpedanceCurve;
use pliant_rigid::simulation::divergence::FASTEST;

/// Joints; then velocities.
pub(super) struct Finish;

impl Phase for Finish {
    #[inline(always)]
    fn run<S: Simd>(worlds: &mut WorldLanes<'_, '_, S>) {
        worlds.push_joints();
        let l = &worlds.plan.layout;
        for tree in &worlds.plan.trees {
            if tree.is_free_floating() {
                worlds.correct_floating(tree);
            } else {
                worlds.solve(tree, l.loads + tree.first_velocity);
            }
        }
        for n in 0..worlds.plan.velocities() {
            let v = worlds.workspace.get(l.smooth + n) + worlds.workspace.get(l.loads + n);
            worlds.workspace.set(l.smooth + n, v);
        }
    }
}

/// The impedance of a joint's own constraints.
struct JointImpedance<'a> {
    curve: &'a ImpedanceCurve,
    /// kappa \[1/s^2\] and delta \[1/s\] of equation 11.
    rates: [f64; 2],
    dt: f64,
}

impl JointImpedance<'_> {
    /// Impulse against an error \[rad, m\] and a rate of it, at a joint with the effective
    /// `inertia` \[kg m^2, kg\].
    #[inline(always)]
    fn push<S: Simd>(&self, inertia: Wide<S>, error: Wide<S>, v: Wide<S>) -> Wide<S> {
        let mass = ratio(self.curve, error) * inertia * -self.dt;
        mass * (error * self.rates[0] + v * (self.rates[0] * self.dt + self.rates[1]))
    }
}

impl<S: Simd> WorldLanes<'_, '_, S> {
    /// Changes of a free-floating body's velocities from its moment about the centre of mass and
    /// its impulse.
    #[inline(always)]
    fn correct_floating(&mut self, tree: &BatchTree) {
        let at = self.plan.layout.loads + tree.first_velocity;
        let body = self.floating(tree.bodies.start);
        let turn = body.inverse * self.workspace.vector(at);
        let push = self.workspace.vector(at + 3) * body.inverse_mass;
        self.workspace.set_array(at, turn.0);
        self.workspace.set_array(at + 3, (push - turn.cross(body.lever)).0);
    }

    /// The same impedance in one dimension: limits on one side, dry friction up to its bound.
    #[inline(always)]
    fn push_joints(&mut self) {
        let (plan, l, dt) = (self.plan, &self.plan.layout, self.plan.dt);
        let rates = plan.settings.gains.rates(dt);
        let law = JointImpedance { curve: &plan.settings.joints, rates, dt };
        for (n, passive) in plan.passives.iter().enumerate().filter(|(_, passive)| passive.jointed) {
            let inertia = self.workspace.get(l.bare + passive.diagonal);
            let v = self.workspace.get(l.smooth + n);
            let mut sum = self.workspace.get(l.loads + n);
            if let Some(q) = passive.position {
                let q = self.state(l.positions + q);
                for (limit, sign) in passive.dof.limits.into_iter().zip([1.0, -1.0]) {
                    if limit.is_finite() {
                        let gap = (q - limit) * sign;
                        let impulse = law.push(inertia, gap, v * sign).max(Wide::zero()) * sign;
                        sum += Wide::select(gap.lt(Wide::zero()), impulse, Wide::zero());
                    }
                }
            }
            if passive.dof.friction_loss > 0.0 {
                let bound = Wide::splat(passive.dof.friction_loss * dt);
                sum += law.push(inertia, Wide::zero(), v).clamp(-bound, bound);
            }
            self.workspace.set(l.loads + n, sum);
        }
    }
}

/// The motion of a step at the velocities that [`Finish`] left: writes the state of the worlds that
/// run and stay finite.
pub(super) struct IntegratePositions;

impl Phase for IntegratePositions {
    #[inline(always)]
    fn run<S: Simd>(worlds: &mut WorldLanes<'_, '_, S>) {
        let (plan, part) = (worlds.plan, worlds.part);
        let l = &plan.layout;
        let half = Wide::splat(0.5);
        let mut running = worlds.state(l.running);
        for n in 0..plan.velocities() {
            // False for NaN.
            let fine = worlds.workspace.get(l.smooth + n).abs().lt(Wide::splat(FASTEST));
            running = Wide::select(fine, running, Wide::zero());
        }
        let going = half.lt(running);
        for tree in &plan.trees {
            for body in &plan.bodies[tree.bodies.clone()] {
                let next = worlds.advance(tree, body);
                for (k, x) in next.iter().take(positions(body)).enumerate() {
                    let at = l.positions + body.first_position + k;
                    let kept = worlds.state(at);
                    Wide::select(going, *x, kept).store(&mut worlds.state[at], part);
                }
            }
        }
        for n in 0..plan.velocities() {
            let (v, kept) = (worlds.workspace.get(l.smooth + n), worlds.state(l.velocities + n));
            Wide::select(going, v, kept).store(&mut worlds.state[l.velocities + n], part);
        }
        running.store(&mut worlds.state[l.running], part);
    }
}

fn positions(body: &BatchBody) -> usize {
    match body.joint {
        BatchJoint::Revolute(_) | BatchJoint::Prismatic(_) => 1,
        BatchJoint::Ball => 4,
        BatchJoint::Free => 7,
    }
}

impl<S: Simd> WorldLanes<'_, '_, S> {
    /// Positions of a joint after the step. The velocities of a free-floating body become those at
    /// the end of its free flight.
    #[inline(always)]
    fn advance(&mut self, tree: &BatchTree, body: &BatchBody) -> [Wide<S>; 7] {
        let (l, dt) = (&self.plan.layout, self.plan.dt);
        let v = l.smooth + body.first_velocity;
        let q = l.positions + body.first_position;
        let first = self.state(q);
        let mut next = [first; 7];
        if let BatchJoint::Revolute(_) | BatchJoint::Prismatic(_) = body.joint {
            next[0] = first + self.workspace.get(v) * dt;
            return next;
        }
        let before = Quat(each!(k in [0, 1, 2, 3] self.state(q + k)));
        let angular = self.workspace.vector(v);
        let after = before.turned(angular * Wide::splat(dt));
        next[..4].copy_from_slice(&after.0);
        if body.joint == BatchJoint::Ball {
            return next;
        }
        let origin = Vec3(each!(k in [4, 5, 6] self.state(q + k)));
        let linear = self.workspace.vector(v + 3);
        let moved = match &tree.floating {
            None => origin + linear * Wide::splat(dt),
            Some((inverse, _)) => self.free_flight(body, inverse, [before, after], origin, v),
        };
        next[4..].copy_from_slice(&moved.0);
        next
    }

    /// Free flight: the centre of mass keeps its velocity and the body its angular momentum. Both
    /// are as in [`Model::flow`](pliant_rigid::multibody::Model::flow) for rotation about a
    /// principal axis, else to first order in the step.
    #[inline(always)]
    fn free_flight(
        &mut self,
        body: &BatchBody,
        inverse: &nalgebra::Matrix3<f64>,
        turns: [Quat<Wide<S>>; 2],
        origin: Vec3<Wide<S>>,
        v: usize,
    ) -> Vec3<Wide<S>> {
        let (angular, linear) = (self.workspace.vector(v), self.workspace.vector(v + 3));
        let (before, after) = (turns[0].matrix(), turns[1].matrix());
        let center = Vec3::from(body.center);
        let lever = before.apply(center);
        let velocity = linear + angular.cross(lever);
        let inertia = Sym3::from_rows(each!(k in [0, 1, 2, 3, 4, 5] Wide::splat(body.inertia[k])));
        let momentum = before.apply(inertia * before.apply_inverse(angular));
        let angular = after.apply(Mat3::from(*inverse).apply(after.apply_inverse(momentum)));
        let moved = after.apply(center);
        self.workspace.set_array(v, angular.0);
        self.workspace.set_array(v + 3, (velocity - angular.cross(moved)).0);
        origin + lever + velocity * Wide::splat(self.plan.dt) - moved
    }
}
