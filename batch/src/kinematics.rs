//! Poses, axes, velocities and inertias of all bodies, outwards; then forces and the mass matrix, inwards.
//!
//! All spatial vectors of a tree are about the origin of its first body at the beginning of the step, as a point of the world.

use pulp::{NullaryFnOnce, Simd};

use super::layout::{INERTIA, POSE};
use super::plan::{Body, Joint, Plan, Tree};
use super::slab::Slab;
use super::spatial::{Force, Inertia, Motion};
use pliant_numeric::lanes::{Mat3, Quat, Real, Row, Vec3, Wide, each};

/// What a step reads, and where it works.
pub(super) struct Worlds<'a, 'b, S: Simd> {
    pub plan: &'a Plan,
    pub state: &'a mut [Row],
    pub parameters: &'a [Row],
    /// Which of the row's vectors.
    pub part: usize,
    pub slab: &'a mut Slab<'b, S>,
}

impl<S: Simd> Worlds<'_, '_, S> {
    #[inline(always)]
    pub fn state(&self, at: usize) -> Wide<S> {
        Wide::load(self.slab.simd, &self.state[at], self.part)
    }

    #[inline(always)]
    pub fn parameter(&self, at: usize) -> Wide<S> {
        Wide::load(self.slab.simd, &self.parameters[at], self.part)
    }

    #[inline(always)]
    pub fn parameters<const N: usize>(&self, at: usize) -> [Wide<S>; N] {
        let mut out = [self.slab.lit(0.0); N];
        for i in 0..N {
            out[i] = self.parameter(at + i);
        }
        out
    }

    /// Origin of the tree's first body (m).
    #[inline(always)]
    pub fn reference(&self, tree: &Tree) -> Vec3<Wide<S>> {
        self.slab.vector(self.plan.layout.poses + POSE * tree.bodies.start + 9)
    }
}

/// All of it.
pub(super) struct Kinematics<'a, 'b, 'c, S: Simd>(pub &'c mut Worlds<'a, 'b, S>);

impl<S: Simd> NullaryFnOnce for Kinematics<'_, '_, '_, S> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let plan = self.0.plan;
        for tree in &plan.trees {
            if let Some((inverse, _)) = &tree.floating {
                self.0.float(tree.bodies.start, &plan.bodies[tree.bodies.start], inverse);
                continue;
            }
            for b in tree.bodies.clone() {
                self.0.place(b, &plan.bodies[b]);
                self.0.move_body(tree, b, &plan.bodies[b]);
            }
            for b in tree.bodies.clone() {
                self.0.weigh(tree, b, &plan.bodies[b]);
            }
            for b in tree.bodies.clone().rev() {
                self.0.gather(tree, b, &plan.bodies[b]);
            }
        }
    }
}

impl<S: Simd> Worlds<'_, '_, S> {
    /// Pose of a floating body, and what moves it.
    #[inline(always)]
    fn float(&mut self, b: usize, body: &Body, inverse: &nalgebra::Matrix3<f64>) {
        let l = &self.plan.layout;
        let q = l.positions + body.first_position;
        let rotation = Quat(each!(k in [0, 1, 2, 3] self.state(q + k))).matrix();
        let base = Vec3::lit(self.slab.lit(1.0), &body.frame.translation.vector);
        let origin = base + Vec3(each!(k in [0, 1, 2] self.state(q + 4 + k)));
        let at = l.poses + POSE * b;
        self.slab.set_matrix(at, &rotation);
        self.slab.set_array(at + 9, origin.0);
        let scale = self.slab.lit(1.0) / self.parameter(l.mass + b);
        let half = rotation.times(&Mat3::lit(scale, inverse));
        let turned = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
        let at = l.inertias + INERTIA * b;
        self.slab.set(at, scale * (1.0 / body.mass));
        self.slab.set_array(at + 1, rotation.apply(Vec3::lit(scale, &body.center)).0);
        for (k, (r, c)) in turned.into_iter().enumerate() {
            self.slab.set(at + 4 + k, half.row(r).dot(rotation.row(c)) * scale);
        }
    }

    /// Pose of the joint's frame F.
    #[inline(always)]
    fn frame_of(&self, body: &Body) -> (Mat3<Wide<S>>, Vec3<Wide<S>>) {
        let one = self.slab.lit(1.0);
        let rotation = Mat3::lit(one, body.frame.rotation.to_rotation_matrix().matrix());
        let origin = Vec3::lit(one, &body.frame.translation.vector);
        match body.parent {
            None => (rotation, origin),
            Some(parent) => {
                let at = self.plan.layout.poses + POSE * parent;
                let turned = self.slab.matrix(at);
                (turned.times(&rotation), turned.apply(origin) + self.slab.vector(at + 9))
            }
        }
    }

    /// Pose of a body, and the axes of its joint as angular and linear part of the body at its own origin.
    #[inline(always)]
    fn place(&mut self, b: usize, body: &Body) {
        let (frame, mut origin) = self.frame_of(body);
        let l = &self.plan.layout;
        let (q, axes) = (l.positions + body.first_position, l.axes + 6 * body.first_velocity);
        let zero = Vec3::zero(self.slab.lit(0.0));
        let rotation = match body.joint {
            Joint::Revolute(axis) => {
                let angle = self.state(q);
                let axis = Vec3::lit(angle, &axis);
                self.slab.set_motion(axes, &Motion { angular: frame.apply(axis), linear: zero });
                let (sin, cos) = angle.sin_cos();
                let ([x, y, z], rest) = (axis.0, -cos + 1.0);
                let (xs, ys, zs) = (x * sin, y * sin, z * sin);
                let (xy, xz, yz) = (x * y * rest, x * z * rest, y * z * rest);
                frame.times(&Mat3([
                    [cos + x * x * rest, xy - zs, xz + ys],
                    [xy + zs, cos + y * y * rest, yz - xs],
                    [xz - ys, yz + xs, cos + z * z * rest],
                ]))
            }
            Joint::Prismatic(axis) => {
                let distance = self.state(q);
                let axis = frame.apply(Vec3::lit(distance, &axis));
                self.slab.set_motion(axes, &Motion { angular: zero, linear: axis });
                origin = origin + axis * distance;
                frame
            }
            Joint::Ball | Joint::Free => {
                for d in 0..3 {
                    let axis = frame.column(d);
                    self.slab.set_motion(axes + 6 * d, &Motion { angular: axis, linear: zero });
                    if body.joint == Joint::Free {
                        let at = axes + 6 * (d + 3);
                        self.slab.set_motion(at, &Motion { angular: zero, linear: axis });
                        origin = origin + axis * self.state(q + 4 + d);
                    }
                }
                let quaternion = Quat(each!(k in [0, 1, 2, 3] self.state(q + k)));
                frame.times(&quaternion.matrix())
            }
        };
        let at = self.plan.layout.poses + POSE * b;
        self.slab.set_matrix(at, &rotation);
        self.slab.set_array(at + 9, origin.0);
    }

    /// Axes about the reference, velocity, and acceleration at zero joint accelerations.
    #[inline(always)]
    fn move_body(&mut self, tree: &Tree, b: usize, body: &Body) {
        let l = &self.plan.layout;
        let zero = self.slab.lit(0.0);
        let lever = self.slab.vector(l.poses + POSE * b + 9) - self.reference(tree);
        let mut own = Motion::zero(zero);
        for n in body.first_velocity..body.first_velocity + body.dofs {
            let mut axis = self.slab.motion(l.axes + 6 * n);
            axis.linear = axis.linear + lever.cross(axis.angular);
            self.slab.set_motion(l.axes + 6 * n, &axis);
            own = own.plus(&axis.times(self.state(l.velocities + n)));
        }
        let (carried, inherited) = match body.parent {
            Some(parent) => {
                let at = l.motions + 12 * parent;
                (self.slab.motion(at), self.slab.motion(at + 6))
            }
            None => (Motion::zero(zero), Motion::zero(zero)),
        };
        let mut bias = carried.cross(&own);
        if body.joint == Joint::Free {
            // The axes of turning move along with the body.
            let n = l.velocities + body.first_velocity;
            let mut along = Vec3::zero(zero);
            for d in 0..3 {
                let axis = self.slab.motion(l.axes + 6 * (body.first_velocity + 3 + d));
                along = along + axis.linear * self.state(n + 3 + d);
            }
            bias.linear = bias.linear + along.cross(own.angular);
        }
        let at = l.motions + 12 * b;
        self.slab.set_motion(at, &carried.plus(&own));
        self.slab.set_motion(at + 6, &inherited.plus(&bias));
    }

    /// Inertia of the body alone and the force that it needs at zero joint accelerations.
    #[inline(always)]
    fn weigh(&mut self, tree: &Tree, b: usize, body: &Body) {
        let l = &self.plan.layout;
        let scale = self.parameter(l.mass + b);
        let at = l.poses + POSE * b;
        let rotation = self.slab.matrix(at);
        let lever = self.slab.vector(at + 9) - self.reference(tree);
        let inertia = Inertia::placed(
            scale * body.mass,
            lever + rotation.apply(Vec3::lit(scale, &body.center)),
            &rotation,
            &each!(k in [0, 1, 2, 3, 4, 5] scale * body.inertia[k]),
        );
        self.slab.set_inertia(l.inertias + INERTIA * b, &inertia);
        let gravity = Vec3(self.parameters(l.gravity));
        let (mass, moment) =
            (scale * body.weight.0, rotation.apply(Vec3::lit(scale, &body.weight.1)) * scale);
        let moment = moment + lever * mass;
        let pull = Force { angular: moment.cross(gravity), linear: gravity * mass };
        let v = self.slab.motion(l.motions + 12 * b);
        let a = self.slab.motion(l.motions + 12 * b + 6);
        let force = inertia.momentum(&a).plus(&v.cross_force(&inertia.momentum(&v))).minus(&pull);
        self.slab.set_force(l.forces + 6 * b, &force);
    }

    /// Rows of the mass matrix of the body's joint and the forces along it; then hands both to the parent.
    #[inline(always)]
    fn gather(&mut self, tree: &Tree, b: usize, body: &Body) {
        let l = &self.plan.layout;
        let inertia = self.slab.inertia(l.inertias + INERTIA * b);
        let force = self.slab.force(l.forces + 6 * b);
        for n in body.first_velocity..body.first_velocity + body.dofs {
            let axis = self.slab.motion(l.axes + 6 * n);
            self.slab.set(l.momenta + n, axis.dot(&force) * -self.plan.dt);
            let momentum = inertia.momentum(&axis);
            let own = n - tree.first_velocity;
            let row = l.bare + tree.block + own * (own + 1) / 2;
            for column in 0..=own {
                self.slab.set(row + column, momentum.linear.0[0].zero());
            }
            for &(m, within) in &body.chain {
                if m <= n {
                    let felt = self.slab.motion(l.axes + 6 * m).dot(&momentum);
                    self.slab.set(row + within, felt);
                }
            }
        }
        if let Some(parent) = body.parent {
            let (i, f) = (l.inertias + INERTIA * parent, l.forces + 6 * parent);
            let sum = self.slab.inertia(i).plus(&inertia);
            self.slab.set_inertia(i, &sum);
            let sum = self.slab.force(f).plus(&force);
            self.slab.set_force(f, &sum);
        }
    }
}
