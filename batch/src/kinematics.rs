//! Poses, axes, velocities and inertias of all bodies, outwards; then forces and the mass matrix,
//! inwards.
//!
//! All spatial vectors of a tree are about the origin of its first body at the beginning of the
//! step, as a point of the world.

use pulp::{NullaryFnOnce, Simd};

use super::layout::{INERTIA, POSE};
use super::plan::{BatchBody, BatchJoint, BatchTree, Plan};
use super::slab::LaneWorkspace;
use super::spatial::{SpatialForce, SpatialInertia, SpatialMotion};
use pliant_numeric::lanes::{F64x8, Mat3, Quat, Real, Vec3, Wide, each};

/// Data of a step and its workspace.
pub(super) struct WorldLanes<'a, 'b, S: Simd> {
    pub plan: &'a Plan,
    pub state: &'a mut [F64x8],
    pub parameters: &'a [F64x8],
    /// Index of the vector within the row.
    pub part: usize,
    pub workspace: &'a mut LaneWorkspace<'b, S>,
}

impl<S: Simd> WorldLanes<'_, '_, S> {
    #[inline(always)]
    pub fn state(&self, at: usize) -> Wide<S> {
        Wide::load(self.workspace.simd, &self.state[at], self.part)
    }

    #[inline(always)]
    pub fn parameter(&self, at: usize) -> Wide<S> {
        Wide::load(self.workspace.simd, &self.parameters[at], self.part)
    }

    #[inline(always)]
    pub fn parameters<const N: usize>(&self, at: usize) -> [Wide<S>; N] {
        let mut out = [self.workspace.splat(0.0); N];
        for i in 0..N {
            out[i] = self.parameter(at + i);
        }
        out
    }

    /// Origin of the tree's first body \[m\].
    #[inline(always)]
    pub fn reference(&self, tree: &BatchTree) -> Vec3<Wide<S>> {
        self.workspace.vector(self.plan.layout.poses + POSE * tree.bodies.start + 9)
    }
}

/// Kinematics and forces of all bodies.
pub(super) struct Kinematics<'a, 'b, 'c, S: Simd>(pub &'c mut WorldLanes<'a, 'b, S>);

impl<S: Simd> NullaryFnOnce for Kinematics<'_, '_, '_, S> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let plan = self.0.plan;
        for tree in &plan.trees {
            if let Some((inverse, _)) = &tree.floating {
                self.0.update_free_floating(tree.bodies.start, &plan.bodies[tree.bodies.start], inverse);
                continue;
            }
            for b in tree.bodies.clone() {
                self.0.place(b, &plan.bodies[b]);
                self.0.move_body(tree, b, &plan.bodies[b]);
            }
            for b in tree.bodies.clone() {
                self.0.bias_force_pass(tree, b, &plan.bodies[b]);
            }
            for b in tree.bodies.clone().rev() {
                self.0.composite_inertia_pass(tree, b, &plan.bodies[b]);
            }
        }
    }
}

impl<S: Simd> WorldLanes<'_, '_, S> {
    /// Pose of a free-floating body, and its inverse inertia.
    #[inline(always)]
    fn update_free_floating(&mut self, b: usize, body: &BatchBody, inverse: &nalgebra::Matrix3<f64>) {
        let l = &self.plan.layout;
        let q = l.positions + body.first_position;
        let rotation = Quat(each!(k in [0, 1, 2, 3] self.state(q + k))).matrix();
        let base = Vec3::splat(self.workspace.splat(1.0), &body.frame.translation.vector);
        let origin = base + Vec3(each!(k in [0, 1, 2] self.state(q + 4 + k)));
        let at = l.poses + POSE * b;
        self.workspace.set_matrix(at, &rotation);
        self.workspace.set_array(at + 9, origin.0);
        let scale = self.workspace.splat(1.0) / self.parameter(l.mass + b);
        let half = rotation.times(&Mat3::splat(scale, inverse));
        let turned = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
        let at = l.inertias + INERTIA * b;
        self.workspace.set(at, scale * (1.0 / body.mass));
        self.workspace.set_array(at + 1, rotation.apply(Vec3::splat(scale, &body.center)).0);
        for (k, (r, c)) in turned.into_iter().enumerate() {
            self.workspace.set(at + 4 + k, half.row(r).dot(rotation.row(c)) * scale);
        }
    }

    /// Pose of the joint's frame F.
    #[inline(always)]
    fn frame_of(&self, body: &BatchBody) -> (Mat3<Wide<S>>, Vec3<Wide<S>>) {
        let one = self.workspace.splat(1.0);
        let rotation = Mat3::splat(one, body.frame.rotation.to_rotation_matrix().matrix());
        let origin = Vec3::splat(one, &body.frame.translation.vector);
        match body.parent {
            None => (rotation, origin),
            Some(parent) => {
                let at = self.plan.layout.poses + POSE * parent;
                let turned = self.workspace.matrix(at);
                (turned.times(&rotation), turned.apply(origin) + self.workspace.vector(at + 9))
            }
        }
    }

    /// Pose of a body, and the axes of its joint as angular and linear part of the body at its own
    /// origin.
    #[inline(always)]
    fn place(&mut self, b: usize, body: &BatchBody) {
        let (frame, mut origin) = self.frame_of(body);
        let l = &self.plan.layout;
        let (q, axes) = (l.positions + body.first_position, l.axes + 6 * body.first_velocity);
        let zero = Vec3::zero(self.workspace.splat(0.0));
        let rotation = match body.joint {
            BatchJoint::Revolute(axis) => {
                let angle = self.state(q);
                let axis = Vec3::splat(angle, &axis);
                self.workspace.set_motion(axes, &SpatialMotion { angular: frame.apply(axis), linear: zero });
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
            BatchJoint::Prismatic(axis) => {
                let distance = self.state(q);
                let axis = frame.apply(Vec3::splat(distance, &axis));
                self.workspace.set_motion(axes, &SpatialMotion { angular: zero, linear: axis });
                origin = origin + axis * distance;
                frame
            }
            BatchJoint::Ball | BatchJoint::Free => {
                for d in 0..3 {
                    let axis = frame.column(d);
                    self.workspace.set_motion(axes + 6 * d, &SpatialMotion { angular: axis, linear: zero });
                    if body.joint == BatchJoint::Free {
                        let at = axes + 6 * (d + 3);
                        self.workspace.set_motion(at, &SpatialMotion { angular: zero, linear: axis });
                        origin = origin + axis * self.state(q + 4 + d);
                    }
                }
                let quaternion = Quat(each!(k in [0, 1, 2, 3] self.state(q + k)));
                frame.times(&quaternion.matrix())
            }
        };
        let at = self.plan.layout.poses + POSE * b;
        self.workspace.set_matrix(at, &rotation);
        self.workspace.set_array(at + 9, origin.0);
    }

    /// Axes about the reference, velocity, and acceleration at zero joint accelerations.
    #[inline(always)]
    fn move_body(&mut self, tree: &BatchTree, b: usize, body: &BatchBody) {
        let l = &self.plan.layout;
        let zero = self.workspace.splat(0.0);
        let lever = self.workspace.vector(l.poses + POSE * b + 9) - self.reference(tree);
        let mut own = SpatialMotion::zero(zero);
        for n in body.first_velocity..body.first_velocity + body.dofs {
            let mut axis = self.workspace.motion(l.axes + 6 * n);
            axis.linear = axis.linear + lever.cross(axis.angular);
            self.workspace.set_motion(l.axes + 6 * n, &axis);
            own = own.plus(&axis.times(self.state(l.velocities + n)));
        }
        let (carried, inherited) = match body.parent {
            Some(parent) => {
                let at = l.motions + 12 * parent;
                (self.workspace.motion(at), self.workspace.motion(at + 6))
            }
            None => (SpatialMotion::zero(zero), SpatialMotion::zero(zero)),
        };
        let mut bias = carried.cross(&own);
        if body.joint == BatchJoint::Free {
            // The rotation axes move with the body.
            let n = l.velocities + body.first_velocity;
            let mut along = Vec3::zero(zero);
            for d in 0..3 {
                let axis = self.workspace.motion(l.axes + 6 * (body.first_velocity + 3 + d));
                along = along + axis.linear * self.state(n + 3 + d);
            }
            bias.linear = bias.linear + along.cross(own.angular);
        }
        let at = l.motions + 12 * b;
        self.workspace.set_motion(at, &carried.plus(&own));
        self.workspace.set_motion(at + 6, &inherited.plus(&bias));
    }

    /// Inertia of the body alone and the force that it needs at zero joint accelerations.
    #[inline(always)]
    fn bias_force_pass(&mut self, tree: &BatchTree, b: usize, body: &BatchBody) {
        let l = &self.plan.layout;
        let scale = self.parameter(l.mass + b);
        let at = l.poses + POSE * b;
        let rotation = self.workspace.matrix(at);
        let lever = self.workspace.vector(at + 9) - self.reference(tree);
        let inertia = SpatialInertia::placed(
            scale * body.mass,
            lever + rotation.apply(Vec3::splat(scale, &body.center)),
            &rotation,
            &each!(k in [0, 1, 2, 3, 4, 5] scale * body.inertia[k]),
        );
        self.workspace.set_inertia(l.inertias + INERTIA * b, &inertia);
        let gravity = Vec3(self.parameters(l.gravity));
        let (mass, moment) =
            (scale * body.weight.0, rotation.apply(Vec3::splat(scale, &body.weight.1)) * scale);
        let moment = moment + lever * mass;
        let pull = SpatialForce { angular: moment.cross(gravity), linear: gravity * mass };
        let v = self.workspace.motion(l.motions + 12 * b);
        let a = self.workspace.motion(l.motions + 12 * b + 6);
        let force = inertia.momentum(&a).plus(&v.cross_force(&inertia.momentum(&v))).minus(&pull);
        self.workspace.set_force(l.forces + 6 * b, &force);
    }

    /// Rows of the mass matrix of the body's joint and the forces along it; then adds both to the
    /// parent's.
    #[inline(always)]
    fn composite_inertia_pass(&mut self, tree: &BatchTree, b: usize, body: &BatchBody) {
        let l = &self.plan.layout;
        let inertia = self.workspace.inertia(l.inertias + INERTIA * b);
        let force = self.workspace.force(l.forces + 6 * b);
        for n in body.first_velocity..body.first_velocity + body.dofs {
            let axis = self.workspace.motion(l.axes + 6 * n);
            self.workspace.set(l.momenta + n, axis.dot(&force) * -self.plan.dt);
            let momentum = inertia.momentum(&axis);
            let own = n - tree.first_velocity;
            let row = l.bare + tree.block + own * (own + 1) / 2;
            for column in 0..=own {
                self.workspace.set(row + column, momentum.linear.0[0].zero());
            }
            for &(m, within) in &body.chain {
                if m <= n {
                    let contact_gains = self.workspace.motion(l.axes + 6 * m).dot(&momentum);
                    self.workspace.set(row + within, contact_gains);
                }
            }
        }
        if let Some(parent) = body.parent {
            let (i, f) = (l.inertias + INERTIA * parent, l.forces + 6 * parent);
            let sum = self.workspace.inertia(i).plus(&inertia);
            self.workspace.set_inertia(i, &sum);
            let sum = self.workspace.force(f).plus(&force);
            self.workspace.set_force(f, &sum);
        }
    }
}
