//! Poses, axes, velocities and inertias of all bodies, outwards; then forces and the mass matrix,
//! inwards.
//!
//! All spatial vectors of a tree are about the origin of its first body at the beginning of the
//! step, as a point of the world.

use core::marker::PhantomData;

use super::block::WorldBlock;
use super::layout::{INERTIA, POSE};
use super::plan::{BatchBody, BatchJoint, BatchTree, Plan};
use super::slab::{LaneInertia, LaneWorkspace};
use pliant_numeric::each;
use pliant_numeric::linalg::{Mat3, Sym3, Vec3};
use pliant_numeric::rotation::Quat;
use pliant_numeric::scalar::{Double, Real};
use pliant_numeric::simd::{F64x8, Kernel, Simd, Wide};
use pliant_numeric::spatial::{ForceVector, MotionVector};

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
        Wide::load(&self.state[at], self.part)
    }

    #[inline(always)]
    pub fn parameter(&self, at: usize) -> Wide<S> {
        Wide::load(&self.parameters[at], self.part)
    }

    #[inline(always)]
    pub fn parameters<const N: usize>(&self, at: usize) -> [Wide<S>; N] {
        let mut out = [Wide::zero(); N];
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

/// Part of a step, in the lanes of one vector.
pub(super) trait Phase {
    fn run<S: Simd>(worlds: &mut WorldLanes<'_, '_, S>);
}

/// A phase in all lanes of a block.
pub(super) struct AllLanes<'a, P> {
    pub plan: &'a Plan,
    pub block: &'a mut WorldBlock,
    pub scratch: &'a mut [F64x8],
    pub phase: PhantomData<P>,
}

impl<P: Phase> Kernel for AllLanes<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Self { plan, block, scratch, .. } = self;
        let part_rows = plan.layout.scratch * S::DOUBLES / F64x8::LANES;
        for (part, rows) in scratch.chunks_exact_mut(part_rows).enumerate() {
            let mut workspace = LaneWorkspace::<S>::new(rows);
            let (state, parameters) = (&mut block.state, &block.parameters);
            P::run(&mut WorldLanes { plan, state, parameters, part, workspace: &mut workspace });
        }
    }
}

/// Kinematics and forces of all bodies.
pub(super) struct Kinematics;

impl Phase for Kinematics {
    #[inline(always)]
    fn run<S: Simd>(worlds: &mut WorldLanes<'_, '_, S>) {
        let plan = worlds.plan;
        for tree in &plan.trees {
            if let Some((inverse, _)) = &tree.floating {
                worlds.update_free_floating(tree.bodies.start, &plan.bodies[tree.bodies.start], inverse);
                continue;
            }
            for b in tree.bodies.clone() {
                worlds.place(b, &plan.bodies[b]);
                worlds.move_body(tree, b, &plan.bodies[b]);
            }
            for b in tree.bodies.clone() {
                worlds.bias_force_pass(tree, b, &plan.bodies[b]);
            }
            for b in tree.bodies.clone().rev() {
                worlds.composite_inertia_pass(tree, b, &plan.bodies[b]);
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
        let base = Vec3::from(body.frame.translation.vector);
        let origin = base + Vec3(each!(k in [0, 1, 2] self.state(q + 4 + k)));
        let at = l.poses + POSE * b;
        self.workspace.set_matrix(at, &rotation);
        self.workspace.set_array(at + 9, origin.0);
        let scale = Wide::one() / self.parameter(l.mass + b);
        let half = rotation.times(&Mat3::from(*inverse));
        let turned = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
        let at = l.inertias + INERTIA * b;
        self.workspace.set(at, scale * (1.0 / body.mass));
        self.workspace.set_array(at + 1, rotation.apply(Vec3::from(body.center)).0);
        for (k, (r, c)) in turned.into_iter().enumerate() {
            self.workspace.set(at + 4 + k, half.row(r).dot(rotation.row(c)) * scale);
        }
    }

    /// Pose of the joint's frame F.
    #[inline(always)]
    fn frame_of(&self, body: &BatchBody) -> (Mat3<Wide<S>>, Vec3<Wide<S>>) {
        let rotation = Mat3::from(body.frame.rotation.to_rotation_matrix().into_inner());
        let origin = Vec3::from(body.frame.translation.vector);
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
        let zero = Vec3::zero();
        let rotation = match body.joint {
            BatchJoint::Revolute(axis) => {
                let angle = self.state(q);
                let axis = Vec3::from(axis);
                self.workspace.set_motion(axes, &MotionVector::new(frame.apply(axis), zero));
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
                let axis = frame.apply(Vec3::from(axis));
                self.workspace.set_motion(axes, &MotionVector::new(zero, axis));
                origin += axis * distance;
                frame
            }
            BatchJoint::Ball | BatchJoint::Free => {
                for d in 0..3 {
                    let axis = frame.column(d);
                    self.workspace.set_motion(axes + 6 * d, &MotionVector::new(axis, zero));
                    if body.joint == BatchJoint::Free {
                        let at = axes + 6 * (d + 3);
                        self.workspace.set_motion(at, &MotionVector::new(zero, axis));
                        origin += axis * self.state(q + 4 + d);
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
        let lever = self.workspace.vector(l.poses + POSE * b + 9) - self.reference(tree);
        let mut own = MotionVector::zero();
        for n in body.first_velocity..body.first_velocity + body.dofs {
            let mut axis = self.workspace.motion(l.axes + 6 * n);
            axis.linear += lever.cross(axis.angular);
            self.workspace.set_motion(l.axes + 6 * n, &axis);
            own += axis * self.state(l.velocities + n);
        }
        let (carried, inherited) = match body.parent {
            Some(parent) => {
                let at = l.motions + 12 * parent;
                (self.workspace.motion(at), self.workspace.motion(at + 6))
            }
            None => (MotionVector::zero(), MotionVector::zero()),
        };
        let mut bias = carried.cross(&own);
        if body.joint == BatchJoint::Free {
            // The rotation axes move with the body.
            let n = l.velocities + body.first_velocity;
            let mut along = Vec3::zero();
            for d in 0..3 {
                let axis = self.workspace.motion(l.axes + 6 * (body.first_velocity + 3 + d));
                along += axis.linear * self.state(n + 3 + d);
            }
            bias.linear += along.cross(own.angular);
        }
        let at = l.motions + 12 * b;
        self.workspace.set_motion(at, &(carried + own));
        self.workspace.set_motion(at + 6, &(inherited + bias));
    }

    /// Inertia of the body alone and the force that it needs at zero joint accelerations.
    #[inline(always)]
    fn bias_force_pass(&mut self, tree: &BatchTree, b: usize, body: &BatchBody) {
        let l = &self.plan.layout;
        let scale = self.parameter(l.mass + b);
        let at = l.poses + POSE * b;
        let rotation = self.workspace.matrix(at);
        let lever = self.workspace.vector(at + 9) - self.reference(tree);
        let inertia = placed(
            scale * body.mass,
            lever + rotation.apply(Vec3::from(body.center)),
            &rotation,
            each!(k in [0, 1, 2, 3, 4, 5] scale * body.inertia[k]),
        );
        self.workspace.set_inertia(l.inertias + INERTIA * b, &inertia);
        let gravity = Vec3(self.parameters(l.gravity));
        let (mass, moment) = (scale * body.weight.0, rotation.apply(Vec3::from(body.weight.1)) * scale);
        let moment = moment + lever * mass;
        let pull = ForceVector::new(moment.cross(gravity), gravity * mass);
        let v = self.workspace.motion(l.motions + 12 * b);
        let a = self.workspace.motion(l.motions + 12 * b + 6);
        let force = inertia.momentum(&a) + v.cross_force(&inertia.momentum(&v)) - pull;
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
                self.workspace.set(row + column, Wide::zero());
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
            let mut sum = self.workspace.inertia(i);
            sum += inertia;
            self.workspace.set_inertia(i, &sum);
            let sum = self.workspace.force(f) + force;
            self.workspace.set_force(f, &sum);
        }
    }
}

/// Of a body of `mass`, its centre at `center` from the reference, its inertia about the centre
/// `inertia` (upper triangle, row by row) in the axes of `rotation`.
#[inline(always)]
fn placed<S: Simd>(
    mass: Wide<S>,
    center: Vec3<Wide<S>>,
    rotation: &Mat3<Wide<S>>,
    inertia: [Wide<S>; 6],
) -> LaneInertia<S> {
    let half = rotation.times(&Sym3::from_rows(inertia).to_mat3());
    let turned = |a: usize, b: usize| half.row(a).dot(rotation.row(b));
    let [x, y, z] = center.0;
    let shift = [y * y + z * z, -(x * y), -(x * z), x * x + z * z, -(y * z), x * x + y * y];
    let about = [turned(0, 0), turned(0, 1), turned(0, 2), turned(1, 1), turned(1, 2), turned(2, 2)];
    let inertia = Sym3::from_rows(each!(k in [0, 1, 2, 3, 4, 5] about[k] + shift[k] * mass));
    LaneInertia { mass, moment: center * mass, inertia }
}
