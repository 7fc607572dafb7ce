//! The two bodies of a contact: velocities, mobility, and impulses.

use super::kinematics::WorldLanes;
use super::layout::{INERTIA, POSE};
use super::plan::{CollisionPair, Plan};
use pliant_numeric::cholesky;
use pliant_numeric::linalg::{Sym3, Vec3};
use pliant_numeric::scalar::Real;
use pliant_numeric::simd::{Simd, Wide};

/// A body of a contact that moves.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    /// Static, or included in the other side.
    Static,
    /// A free-floating body.
    FreeFloating {
        body: usize,
        /// 1 for the second body, -1 for the first.
        sign: f64,
    },
    /// A jointed body, or both bodies if they are of one tree.
    Jointed {
        tree: usize,
        /// The body of each sign.
        bodies: [Option<usize>; 2],
        /// First of its columns.
        columns: usize,
    },
}

impl Plan {
    /// The sides of a pair.
    pub(super) fn sides(&self, pair: &CollisionPair) -> [Side; 2] {
        let bodies = [0, 1].map(|k: usize| self.geometries[pair.geometries[k]].body);
        let tree = |k: usize| bodies[k].map(|body| self.bodies[body].tree);
        [0, 1].map(|k: usize| match (bodies[k], tree(k)) {
            (Some(body), Some(t)) if self.trees[t].is_free_floating() => {
                Side::FreeFloating { body, sign: if k == 0 { -1.0 } else { 1.0 } }
            }
            (Some(_), Some(_)) if k == 1 && tree(0) == tree(1) => Side::Static,
            (Some(body), Some(tree_of)) => {
                let columns = self.layout.columns + 6 * k * self.layout.largest;
                let both = if tree(0) == tree(1) { bodies } else { [None; 2] };
                let alone = if k == 0 { [Some(body), None] } else { [None, Some(body)] };
                Side::Jointed { tree: tree_of, bodies: if both[0].is_some() { both } else { alone }, columns }
            }
            _ => Side::Static,
        })
    }
}

/// Inertia of a free-floating body: the inverse mass \[1/kg\], the centre of mass from the body's
/// origin \[m\] and the inverse inertia about it \[1/(kg m^2)\], world axes.
pub(super) struct FreeFloatingInertia<T> {
    pub inverse_mass: T,
    pub lever: Vec3<T>,
    pub inverse: Sym3<T>,
}

impl<S: Simd> WorldLanes<'_, '_, S> {
    #[inline(always)]
    pub fn floating(&self, body: usize) -> FreeFloatingInertia<Wide<S>> {
        let at = self.plan.layout.inertias + INERTIA * body;
        FreeFloatingInertia {
            inverse_mass: self.workspace.get(at),
            lever: self.workspace.vector(at + 1),
            inverse: self.workspace.symmetric(at + 4),
        }
    }

    /// From the origin of a body \[m\].
    #[inline(always)]
    fn lever_at(&self, body: usize, point: Vec3<Wide<S>>) -> Vec3<Wide<S>> {
        point - self.workspace.vector(self.plan.layout.poses + POSE * body + 9)
    }

    /// Writes the columns of the joints' sides: the velocity of the second point against the
    /// first's, then the angular velocity, six numbers per degree of freedom.
    #[inline(always)]
    pub fn write_columns(&mut self, sides: &[Side; 2], point: Vec3<Wide<S>>) {
        let plan = self.plan;
        let zero = [Wide::zero(); 6];
        for side in sides {
            let Side::Jointed { tree, bodies, columns } = side else { continue };
            let tree = &plan.trees[*tree];
            for i in 0..tree.size {
                self.workspace.set_array(columns + 6 * i, zero);
            }
            let lever = point - self.reference(tree);
            for (body, sign) in bodies.iter().zip([-1.0, 1.0]) {
                let Some(body) = *body else { continue };
                for &(n, within) in &plan.bodies[body].chain {
                    let axis = self.workspace.motion(plan.layout.axes + 6 * n);
                    let at = columns + 6 * within;
                    let linear = self.workspace.vector(at) + axis.at(lever) * Wide::splat(sign);
                    let angular = self.workspace.vector(at + 3) + axis.angular * Wide::splat(sign);
                    self.workspace.set_array(at, linear.0);
                    self.workspace.set_array(at + 3, angular.0);
                }
            }
        }
    }

    /// Velocity of the second body's point against the first's without contact \[m/s\].
    #[inline(always)]
    pub fn velocity_at(&self, sides: &[Side; 2], point: Vec3<Wide<S>>) -> Vec3<Wide<S>> {
        let l = &self.plan.layout;
        let mut sum = Vec3::zero();
        for side in sides {
            match side {
                Side::Static => {}
                Side::FreeFloating { body, sign } => {
                    let at = l.smooth + self.plan.bodies[*body].first_velocity;
                    let v = self.workspace.motion(at).at(self.lever_at(*body, point));
                    sum += v * Wide::splat(*sign);
                }
                Side::Jointed { tree, columns, .. } => sum += self.through(*tree, *columns),
            }
        }
        sum
    }

    /// Angular velocity of the second body against the first without contact \[rad/s\].
    #[inline(always)]
    pub fn turning(&self, sides: &[Side; 2]) -> Vec3<Wide<S>> {
        let l = &self.plan.layout;
        let mut sum = Vec3::zero();
        for side in sides {
            match side {
                Side::Static => {}
                Side::FreeFloating { body, sign } => {
                    let at = l.smooth + self.plan.bodies[*body].first_velocity;
                    sum += self.workspace.vector(at) * Wide::splat(*sign);
                }
                Side::Jointed { tree, columns, .. } => sum += self.through(*tree, *columns + 3),
            }
        }
        sum
    }

    #[inline(always)]
    fn through(&self, tree: usize, columns: usize) -> Vec3<Wide<S>> {
        let tree = &self.plan.trees[tree];
        let smooth = self.plan.layout.smooth + tree.first_velocity;
        let mut sum = Vec3::zero();
        for i in 0..tree.size {
            sum += self.workspace.vector(columns + 6 * i) * self.workspace.get(smooth + i);
        }
        sum
    }

    /// Trace of `J M^-1 J^T` of both sides (equation 12).
    #[inline(always)]
    pub fn trace(&mut self, sides: &[Side; 2], point: Vec3<Wide<S>>) -> Wide<S> {
        let mut sum = Wide::zero();
        for side in sides {
            match side {
                Side::Static => {}
                Side::FreeFloating { body, .. } => {
                    // tr([r] W [r]^T) = tr(W) r^2 - r . W r.
                    let body_ = self.floating(*body);
                    let r = self.lever_at(*body, point) - body_.lever;
                    let w = &body_.inverse;
                    let spread = w.trace();
                    sum = sum + body_.inverse_mass * 3.0 + spread * r.norm_squared() - r.dot(*w * r);
                }
                Side::Jointed { tree, columns, .. } => sum += self.trace_of(*tree, *columns),
            }
        }
        sum
    }

    #[inline(always)]
    fn trace_of(&mut self, tree: usize, columns: usize) -> Wide<S> {
        let (plan, work) = (self.plan, self.plan.layout.work);
        let tree = &plan.trees[tree];
        for i in 0..tree.size {
            let column = self.workspace.array::<3>(columns + 6 * i);
            self.workspace.set_array(work + 3 * i, column);
        }
        // L^-1 of the three rows at once.
        let at = [plan.layout.blocks + tree.block, work];
        let (factor, x) = self.workspace.two_blocks(at, [tree.entries(), 3 * tree.size]);
        let x = x.as_chunks_mut::<3>().0;
        cholesky::solve_lower(factor, cholesky::packed, x);
        let mut sum = Wide::zero();
        for row in x {
            sum += Vec3(*row).norm_squared();
        }
        sum
    }

    /// Applies an impulse at a point \[N s\] to both sides, the opposite to the first.
    #[inline(always)]
    pub fn apply_impulse(&mut self, sides: &[Side; 2], point: Vec3<Wide<S>>, impulse: Vec3<Wide<S>>) {
        let plan = self.plan;
        for side in sides {
            match side {
                Side::Static => {}
                Side::FreeFloating { body, sign } => {
                    let impulse = impulse * Wide::splat(*sign);
                    let at = plan.layout.loads + plan.bodies[*body].first_velocity;
                    let lever = self.workspace.vector(plan.layout.inertias + INERTIA * body + 1);
                    let r = self.lever_at(*body, point) - lever;
                    let moment = self.workspace.vector(at) + r.cross(impulse);
                    let linear = self.workspace.vector(at + 3) + impulse;
                    self.workspace.set_array(at, moment.0);
                    self.workspace.set_array(at + 3, linear.0);
                }
                Side::Jointed { tree, columns, .. } => self.load(*tree, *columns, impulse),
            }
        }
    }

    /// Applies a moment \[N m s\] to both sides.
    #[inline(always)]
    pub fn apply_moment(&mut self, sides: &[Side; 2], moment: Vec3<Wide<S>>) {
        let plan = self.plan;
        for side in sides {
            match side {
                Side::Static => {}
                Side::FreeFloating { body, sign } => {
                    let at = plan.layout.loads + plan.bodies[*body].first_velocity;
                    let sum = self.workspace.vector(at) + moment * Wide::splat(*sign);
                    self.workspace.set_array(at, sum.0);
                }
                Side::Jointed { tree, columns, .. } => self.load(*tree, *columns + 3, moment),
            }
        }
    }

    #[inline(always)]
    fn load(&mut self, tree: usize, columns: usize, impulse: Vec3<Wide<S>>) {
        let tree = &self.plan.trees[tree];
        for i in 0..tree.size {
            let at = self.plan.layout.loads + tree.first_velocity + i;
            let sum = self.workspace.get(at) + self.workspace.vector(columns + 6 * i).dot(impulse);
            self.workspace.set(at, sum);
        }
    }
}
