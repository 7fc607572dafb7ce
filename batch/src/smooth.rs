//! Velocities without contact: equation 2, with the implicit terms of the joints.

use super::kinematics::{Phase, WorldLanes};
use super::plan::BatchTree;
use pliant_numeric::cholesky;
use pliant_numeric::each;
use pliant_numeric::linalg::Vec3;
use pliant_numeric::scalar::{Mask, Real};
use pliant_numeric::simd::{Simd, Wide};

/// Most repetitions because motors are at their limits.
const SATURATIONS: usize = 2;

/// Computes them from the mass matrix and the momenta of `Kinematics`.
pub(super) struct Smooth;

impl Phase for Smooth {
    #[inline(always)]
    fn run<S: Simd>(worlds: &mut WorldLanes<'_, '_, S>) {
        worlds.workspace.clear(worlds.plan.layout.loads, worlds.plan.velocities());
        worlds.add_momenta();
        for m in 0..worlds.plan.motors.len() {
            let zero = Wide::zero();
            worlds.workspace.set_array(worlds.plan.layout.saturated + 2 * m, [zero, zero]);
        }
        for round in 1..=SATURATIONS {
            worlds.begin();
            worlds.add_passive();
            worlds.add_motors();
            for tree in worlds.plan.trees.iter().filter(|tree| !tree.is_free_floating()) {
                worlds.factorise(tree);
                worlds.solve(tree, worlds.plan.layout.smooth + tree.first_velocity);
            }
            if round == SATURATIONS || !worlds.saturate() {
                break;
            }
        }
    }
}

impl<S: Simd> WorldLanes<'_, '_, S> {
    /// `M v`, of the bare mass matrix with the motors' own inertia.
    #[inline(always)]
    fn add_momenta(&mut self) {
        let l = &self.plan.layout;
        for passive in &self.plan.passives {
            if passive.dof.armature > 0.0 {
                let at = l.bare + passive.diagonal;
                let sum = self.workspace.get(at) + passive.dof.armature;
                self.workspace.set(at, sum);
            }
        }
        for tree in self.plan.trees.iter().filter(|tree| !tree.is_free_floating()) {
            let (first, block) = (tree.first_velocity, l.bare + tree.block);
            for i in 0..tree.size {
                let mut sum = self.workspace.get(l.momenta + first + i);
                for j in 0..tree.size {
                    let (row, column) = if j <= i { (i, j) } else { (j, i) };
                    let m = self.workspace.get(block + cholesky::packed(row, column));
                    sum += m * self.state(l.velocities + first + j);
                }
                self.workspace.set(l.momenta + first + i, sum);
            }
        }
    }

    /// Starts with the bare matrix and the momenta.
    #[inline(always)]
    fn begin(&mut self) {
        let l = &self.plan.layout;
        for tree in &self.plan.trees {
            let first = tree.first_velocity;
            match tree.floating {
                // It falls, and its angular velocity does not change: the free flight adds
                // gyroscopic terms.
                Some((_, weight)) => {
                    let gravity = Vec3(self.parameters(l.gravity));
                    let v = Vec3(each!(k in [0, 1, 2] self.state(l.velocities + first + 3 + k)));
                    let w = each!(k in [0, 1, 2] self.state(l.velocities + first + k));
                    self.workspace.set_array(l.smooth + first, w);
                    let fall = gravity * Wide::splat(weight * self.plan.dt);
                    self.workspace.set_array(l.smooth + first + 3, (v + fall).0);
                }
                None => {
                    for n in first..first + tree.size {
                        let momentum = self.workspace.get(l.momenta + n);
                        self.workspace.set(l.smooth + n, momentum);
                    }
                }
            }
        }
        for i in 0..l.blocks - l.bare {
            let m = self.workspace.get(l.bare + i);
            self.workspace.set(l.blocks + i, m);
        }
    }

    /// Damping and springs at the end of the step.
    #[inline(always)]
    fn add_passive(&mut self) {
        let (l, dt) = (&self.plan.layout, self.plan.dt);
        for (n, passive) in self.plan.passives.iter().enumerate() {
            let dof = &passive.dof;
            let gain = dt * (dof.damping + dt * dof.stiffness);
            if gain > 0.0 {
                let at = l.blocks + passive.diagonal;
                let sum = self.workspace.get(at) + gain;
                self.workspace.set(at, sum);
            }
            if let (Some(q), true) = (passive.position, dof.stiffness > 0.0) {
                let pull = (-self.state(l.positions + q) + dof.reference) * (dt * dof.stiffness);
                let sum = self.workspace.get(l.smooth + n) + pull;
                self.workspace.set(l.smooth + n, sum);
            }
        }
    }

    /// Effort of a motor at zero velocity, and the gain with which it falls.
    #[inline(always)]
    fn effort(&self, m: usize) -> (Wide<S>, Wide<S>) {
        let (l, motor) = (&self.plan.layout, &self.plan.motors[m]);
        let target = self.state(l.targets + m);
        let [stiffness, damping, _] = self.parameters(l.motors + 3 * m);
        match motor.position {
            Some(q) => {
                let error = target - self.state(l.positions + q);
                (stiffness * error + damping * motor.target_rate, damping + stiffness * self.plan.dt)
            }
            None if motor.order == 1 => (damping * target, damping),
            None => (target, Wide::zero()),
        }
    }

    /// Motors; those at their limits give their largest effort.
    #[inline(always)]
    fn add_motors(&mut self) {
        let (l, dt) = (&self.plan.layout, self.plan.dt);
        for (m, motor) in self.plan.motors.iter().enumerate() {
            let (effort, gain) = self.effort(m);
            let [saturated, held] = self.workspace.array(l.saturated + 2 * m);
            let limited = Wide::splat(0.5).lt(saturated);
            let at = l.blocks + self.plan.passives[motor.dof].diagonal;
            let sum = self.workspace.get(at) + Wide::select(limited, Wide::zero(), gain) * dt;
            self.workspace.set(at, sum);
            let sum = self.workspace.get(l.smooth + motor.dof) + Wide::select(limited, held, effort) * dt;
            self.workspace.set(l.smooth + motor.dof, sum);
        }
    }

    /// Cholesky's factor of a tree's block in place. Worlds whose block is not positive definite
    /// get velocities that are not finite, and stop.
    #[inline(always)]
    fn factorise(&mut self, tree: &BatchTree) {
        let first = self.plan.layout.blocks + tree.block;
        cholesky::factorise(self.workspace.block(first, tree.entries()), tree.size, cholesky::packed);
    }

    /// Solves with a tree's factor, in place, for the numbers from `x` on, which lie behind the
    /// factors.
    #[inline(always)]
    pub fn solve(&mut self, tree: &BatchTree, x: usize) {
        let first = self.plan.layout.blocks + tree.block;
        let (factor, x) = self.workspace.two_blocks([first, x], [tree.entries(), tree.size]);
        cholesky::solve(factor, cholesky::packed, x);
    }

    /// Sets the motors that would exceed their limits to their limits. Returns whether any is new.
    #[inline(always)]
    fn saturate(&mut self) -> bool {
        let l = &self.plan.layout;
        let mut again = false;
        for m in 0..self.plan.motors.len() {
            let (effort, gain) = self.effort(m);
            let limit = self.parameter(l.motors + 3 * m + 2);
            let wanted = effort - gain * self.workspace.get(l.smooth + self.plan.motors[m].dof);
            let given = wanted.clamp(-limit, limit);
            let [before, held] = self.workspace.array(l.saturated + 2 * m);
            // Rounding errors do not count.
            let beyond = (limit * 1e-9).lt((wanted - given).abs()) & before.lt(Wide::splat(0.5));
            again |= beyond.any();
            self.workspace.set_array(
                l.saturated + 2 * m,
                [Wide::select(beyond, Wide::one(), before), Wide::select(beyond, given, held)],
            );
        }
        again
    }
}
