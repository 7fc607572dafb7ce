//! Velocities without contact: equation 2, with what is implicit in the joints.

use pulp::{NullaryFnOnce, Simd};

use super::kinematics::Worlds;
use super::plan::Tree;
use pliant_numeric::lanes::{Mask, Real, Vec3, Wide, each};

/// Times that it is made again because motors are at their limits.
const SATURATIONS: usize = 2;

/// From the mass matrix and what `Kinematics` left in the momenta.
pub(super) struct Smooth<'a, 'b, 'c, S: Simd>(pub &'c mut Worlds<'a, 'b, S>);

impl<S: Simd> NullaryFnOnce for Smooth<'_, '_, '_, S> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let worlds = self.0;
        worlds.add_momenta();
        for m in 0..worlds.plan.motors.len() {
            let zero = worlds.slab.lit(0.0);
            worlds.slab.set_array(worlds.plan.layout.saturated + 2 * m, [zero, zero]);
        }
        for round in 1..=SATURATIONS {
            worlds.begin();
            worlds.add_passive();
            worlds.add_motors();
            for tree in worlds.plan.trees.iter().filter(|tree| !tree.floats()) {
                worlds.factorise(tree);
                worlds.solve(tree, worlds.plan.layout.smooth + tree.first_velocity);
            }
            if round == SATURATIONS || !worlds.saturate() {
                break;
            }
        }
    }
}

impl<S: Simd> Worlds<'_, '_, S> {
    /// `M v`, of the bare mass matrix with the motors' own inertia.
    #[inline(always)]
    fn add_momenta(&mut self) {
        let l = &self.plan.layout;
        for passive in &self.plan.passives {
            if passive.dof.armature > 0.0 {
                let at = l.bare + passive.diagonal;
                let sum = self.slab.get(at) + passive.dof.armature;
                self.slab.set(at, sum);
            }
        }
        for tree in self.plan.trees.iter().filter(|tree| !tree.floats()) {
            let (first, block) = (tree.first_velocity, l.bare + tree.block);
            for i in 0..tree.size {
                let mut sum = self.slab.get(l.momenta + first + i);
                for j in 0..tree.size {
                    let (row, column) = if j <= i { (i, j) } else { (j, i) };
                    let m = self.slab.get(block + row * (row + 1) / 2 + column);
                    sum = sum + m * self.state(l.velocities + first + j);
                }
                self.slab.set(l.momenta + first + i, sum);
            }
        }
    }

    /// The bare matrix and the momenta, to be added to.
    #[inline(always)]
    fn begin(&mut self) {
        let l = &self.plan.layout;
        for tree in &self.plan.trees {
            let first = tree.first_velocity;
            match tree.floating {
                // It falls, and turns on as it did: what turns it without forces comes with its flight.
                Some((_, weight)) => {
                    let gravity = Vec3(self.parameters(l.gravity));
                    let v = Vec3(each!(k in [0, 1, 2] self.state(l.velocities + first + 3 + k)));
                    let w = each!(k in [0, 1, 2] self.state(l.velocities + first + k));
                    self.slab.set_array(l.smooth + first, w);
                    let fall = gravity * self.slab.lit(weight * self.plan.dt);
                    self.slab.set_array(l.smooth + first + 3, (v + fall).0);
                }
                None => {
                    for n in first..first + tree.size {
                        let momentum = self.slab.get(l.momenta + n);
                        self.slab.set(l.smooth + n, momentum);
                    }
                }
            }
        }
        for i in 0..l.blocks - l.bare {
            let m = self.slab.get(l.bare + i);
            self.slab.set(l.blocks + i, m);
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
                let sum = self.slab.get(at) + gain;
                self.slab.set(at, sum);
            }
            if let (Some(q), true) = (passive.position, dof.stiffness > 0.0) {
                let pull = (-self.state(l.positions + q) + dof.reference) * (dt * dof.stiffness);
                let sum = self.slab.get(l.smooth + n) + pull;
                self.slab.set(l.smooth + n, sum);
            }
        }
    }

    /// Effort of a motor at no velocity, and the gain with which it falls.
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

    /// Motors; those at their limits give what they can.
    #[inline(always)]
    fn add_motors(&mut self) {
        let (l, dt) = (&self.plan.layout, self.plan.dt);
        for (m, motor) in self.plan.motors.iter().enumerate() {
            let (effort, gain) = self.effort(m);
            let [saturated, held] = self.slab.array(l.saturated + 2 * m);
            let limited = saturated.lit(0.5).lt(saturated);
            let at = l.blocks + self.plan.passives[motor.dof].diagonal;
            let sum = self.slab.get(at) + Wide::pick(limited, gain.zero(), gain) * dt;
            self.slab.set(at, sum);
            let sum = self.slab.get(l.smooth + motor.dof) + Wide::pick(limited, held, effort) * dt;
            self.slab.set(l.smooth + motor.dof, sum);
        }
    }

    /// Cholesky's factor of a tree's block in place, the diagonal inverted.
    #[inline(always)]
    fn factorise(&mut self, tree: &Tree) {
        let block = self.plan.layout.blocks + tree.block;
        let at = |i: usize, j: usize| block + i * (i + 1) / 2 + j;
        for i in 0..tree.size {
            for j in 0..=i {
                let mut sum = self.slab.get(at(i, j));
                for k in 0..j {
                    sum = sum - self.slab.get(at(i, k)) * self.slab.get(at(j, k));
                }
                let factor = if i == j { sum.one() / sum.sqrt() } else { sum * self.slab.get(at(j, j)) };
                self.slab.set(at(i, j), factor);
            }
        }
    }

    /// `x <- L^-1 x` for `size` numbers from `x` on.
    #[inline(always)]
    fn solve_lower(&mut self, tree: &Tree, x: usize) {
        let block = self.plan.layout.blocks + tree.block;
        for i in 0..tree.size {
            let row = block + i * (i + 1) / 2;
            let mut sum = self.slab.get(x + i);
            for k in 0..i {
                sum = sum - self.slab.get(row + k) * self.slab.get(x + k);
            }
            self.slab.set(x + i, sum * self.slab.get(row + i));
        }
    }

    /// `x <- L^-T x`.
    #[inline(always)]
    fn solve_upper(&mut self, tree: &Tree, x: usize) {
        let block = self.plan.layout.blocks + tree.block;
        for i in (0..tree.size).rev() {
            let mut sum = self.slab.get(x + i);
            for k in i + 1..tree.size {
                sum = sum - self.slab.get(block + k * (k + 1) / 2 + i) * self.slab.get(x + k);
            }
            self.slab.set(x + i, sum * self.slab.get(block + i * (i + 3) / 2));
        }
    }

    /// Solves with a tree's factor, in place.
    #[inline(always)]
    pub fn solve(&mut self, tree: &Tree, x: usize) {
        self.solve_lower(tree, x);
        self.solve_upper(tree, x);
    }

    /// Holds at their limits the motors that the velocities would have beyond them. Whether any was not before.
    #[inline(always)]
    fn saturate(&mut self) -> bool {
        let l = &self.plan.layout;
        let mut again = false;
        for m in 0..self.plan.motors.len() {
            let (effort, gain) = self.effort(m);
            let limit = self.parameter(l.motors + 3 * m + 2);
            let wanted = effort - gain * self.slab.get(l.smooth + self.plan.motors[m].dof);
            let given = wanted.clamp(-limit, limit);
            let [before, held] = self.slab.array(l.saturated + 2 * m);
            // Rounding is not beyond a limit.
            let beyond = (limit * 1e-9).lt((wanted - given).abs()) & before.lt(before.lit(0.5));
            again |= beyond.any();
            self.slab.set_array(
                l.saturated + 2 * m,
                [Wide::pick(beyond, limit.one(), before), Wide::pick(beyond, given, held)],
            );
        }
        again
    }
}
