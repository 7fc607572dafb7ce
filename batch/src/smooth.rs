//! Velocities without contact: equation 2, with the implicit terms of the joints.

use pulp::{NullaryFnOnce, Simd};

use super::kinematics::WorldLanes;
use super::plan::BatchTree;
use pliant_numeric::lanes::{Mask, Real, Vec3, Wide, each};

/// Most repetitions because motors are at their limits.
const SATURATIONS: usize = 2;

/// Computes them from the mass matrix and the momenta of `Kinematics`.
pub(super) struct Smooth<'a, 'b, 'c, S: Simd>(pub &'c mut WorldLanes<'a, 'b, S>);

impl<S: Simd> NullaryFnOnce for Smooth<'_, '_, '_, S> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let worlds = self.0;
        worlds.add_momenta();
        for m in 0..worlds.plan.motors.len() {
            let zero = worlds.workspace.splat(0.0);
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
                    let m = self.workspace.get(block + row * (row + 1) / 2 + column);
                    sum = sum + m * self.state(l.velocities + first + j);
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
                    let fall = gravity * self.workspace.splat(weight * self.plan.dt);
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
            None => (target, target.zero()),
        }
    }

    /// Motors; those at their limits give their largest effort.
    #[inline(always)]
    fn add_motors(&mut self) {
        let (l, dt) = (&self.plan.layout, self.plan.dt);
        for (m, motor) in self.plan.motors.iter().enumerate() {
            let (effort, gain) = self.effort(m);
            let [saturated, held] = self.workspace.array(l.saturated + 2 * m);
            let limited = saturated.splat(0.5).lt(saturated);
            let at = l.blocks + self.plan.passives[motor.dof].diagonal;
            let sum = self.workspace.get(at) + Wide::select(limited, gain.zero(), gain) * dt;
            self.workspace.set(at, sum);
            let sum = self.workspace.get(l.smooth + motor.dof) + Wide::select(limited, held, effort) * dt;
            self.workspace.set(l.smooth + motor.dof, sum);
        }
    }

    /// Cholesky's factor of a tree's block in place, the diagonal inverted.
    #[inline(always)]
    fn factorise(&mut self, tree: &BatchTree) {
        let block = self.plan.layout.blocks + tree.block;
        let at = |i: usize, j: usize| block + i * (i + 1) / 2 + j;
        for i in 0..tree.size {
            for j in 0..=i {
                let mut sum = self.workspace.get(at(i, j));
                for k in 0..j {
                    sum = sum - self.workspace.get(at(i, k)) * self.workspace.get(at(j, k));
                }
                let factor = if i == j { sum.one() / sum.sqrt() } else { sum * self.workspace.get(at(j, j)) };
                self.workspace.set(at(i, j), factor);
            }
        }
    }

    /// `x <- L^-1 x` for `size` numbers from `x` on.
    #[inline(always)]
    fn solve_lower(&mut self, tree: &BatchTree, x: usize) {
        let block = self.plan.layout.blocks + tree.block;
        for i in 0..tree.size {
            let row = block + i * (i + 1) / 2;
            let mut sum = self.workspace.get(x + i);
            for k in 0..i {
                sum = sum - self.workspace.get(row + k) * self.workspace.get(x + k);
            }
            self.workspace.set(x + i, sum * self.workspace.get(row + i));
        }
    }

    /// `x <- L^-T x`.
    #[inline(always)]
    fn solve_upper(&mut self, tree: &BatchTree, x: usize) {
        let block = self.plan.layout.blocks + tree.block;
        for i in (0..tree.size).rev() {
            let mut sum = self.workspace.get(x + i);
            for k in i + 1..tree.size {
                sum = sum - self.workspace.get(block + k * (k + 1) / 2 + i) * self.workspace.get(x + k);
            }
            self.workspace.set(x + i, sum * self.workspace.get(block + i * (i + 3) / 2));
        }
    }

    /// Solves with a tree's factor, in place.
    #[inline(always)]
    pub fn solve(&mut self, tree: &BatchTree, x: usize) {
        self.solve_lower(tree, x);
        self.solve_upper(tree, x);
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
            let beyond = (limit * 1e-9).lt((wanted - given).abs()) & before.lt(before.splat(0.5));
            again |= beyond.any();
            self.workspace.set_array(
                l.saturated + 2 * m,
                [Wide::select(beyond, limit.one(), before), Wide::select(beyond, given, held)],
            );
        }
        again
    }
}
