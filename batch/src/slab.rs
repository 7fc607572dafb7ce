//! Workspace of a few worlds during a step.

use pliant_numeric::linalg::{Mat3, Sym3, Vec3};
use pliant_numeric::scalar::Real;
use pliant_numeric::simd::{F64x8, Simd, Wide};
use pliant_numeric::spatial::{ForceVector, MotionVector, RigidInertia};

/// Mass, first moment and inertia about the reference point of a tree, world axes.
pub(super) type LaneInertia<S> = RigidInertia<Vec3<Wide<S>>, Sym3<Wide<S>>>;

/// Vectors of the processor's width, by number.
pub(super) struct LaneWorkspace<'a, S: Simd> {
    values: &'a mut [Wide<S>],
}

impl<'a, S: Simd> LaneWorkspace<'a, S> {
    /// Over memory of whole rows.
    #[inline(always)]
    pub fn new(rows: &'a mut [F64x8]) -> Self {
        Self { values: bytemuck::cast_slice_mut(rows) }
    }

    /// Zeros.
    #[inline(always)]
    pub fn clear(&mut self, first: usize, count: usize) {
        self.values[first..first + count].fill(Wide::zero());
    }

    #[inline(always)]
    pub fn get(&self, at: usize) -> Wide<S> {
        self.values[at]
    }

    #[inline(always)]
    pub fn set(&mut self, at: usize, x: Wide<S>) {
        self.values[at] = x;
    }

    #[inline(always)]
    pub fn block(&mut self, at: usize, count: usize) -> &mut [Wide<S>] {
        &mut self.values[at..at + count]
    }

    /// Two blocks, the second behind the first.
    #[inline(always)]
    pub fn two_blocks(&mut self, at: [usize; 2], counts: [usize; 2]) -> (&[Wide<S>], &mut [Wide<S>]) {
        let (first, second) = self.values.split_at_mut(at[1]);
        (&first[at[0]..at[0] + counts[0]], &mut second[..counts[1]])
    }

    /// `N` numbers that follow each other.
    #[inline(always)]
    pub fn array<const N: usize>(&self, at: usize) -> [Wide<S>; N] {
        let values = &self.values[at..at + N];
        let mut out = [Wide::zero(); N];
        out.copy_from_slice(values);
        out
    }

    #[inline(always)]
    pub fn set_array<const N: usize>(&mut self, at: usize, x: [Wide<S>; N]) {
        let values = &mut self.values[at..at + N];
        values.copy_from_slice(&x);
    }

    #[inline(always)]
    pub fn vector(&self, at: usize) -> Vec3<Wide<S>> {
        Vec3(self.array(at))
    }

    #[inline(always)]
    pub fn matrix(&self, at: usize) -> Mat3<Wide<S>> {
        Mat3([self.array(at), self.array(at + 3), self.array(at + 6)])
    }

    #[inline(always)]
    pub fn set_matrix(&mut self, at: usize, m: &Mat3<Wide<S>>) {
        for r in 0..3 {
            self.set_array(at + 3 * r, m.0[r]);
        }
    }

    /// The upper triangle of a symmetric matrix, row by row.
    #[inline(always)]
    pub fn symmetric(&self, at: usize) -> Sym3<Wide<S>> {
        Sym3::from_rows(self.array(at))
    }

    #[inline(always)]
    pub fn motion(&self, at: usize) -> MotionVector<Vec3<Wide<S>>> {
        MotionVector { angular: self.vector(at), linear: self.vector(at + 3) }
    }

    #[inline(always)]
    pub fn set_motion(&mut self, at: usize, v: &MotionVector<Vec3<Wide<S>>>) {
        self.set_array(at, v.angular.0);
        self.set_array(at + 3, v.linear.0);
    }

    #[inline(always)]
    pub fn force(&self, at: usize) -> ForceVector<Vec3<Wide<S>>> {
        ForceVector { angular: self.vector(at), linear: self.vector(at + 3) }
    }

    #[inline(always)]
    pub fn set_force(&mut self, at: usize, f: &ForceVector<Vec3<Wide<S>>>) {
        self.set_array(at, f.angular.0);
        self.set_array(at + 3, f.linear.0);
    }

    #[inline(always)]
    pub fn inertia(&self, at: usize) -> LaneInertia<S> {
        RigidInertia { mass: self.get(at), moment: self.vector(at + 1), inertia: self.symmetric(at + 4) }
    }

    #[inline(always)]
    pub fn set_inertia(&mut self, at: usize, i: &LaneInertia<S>) {
        self.set(at, i.mass);
        self.set_array(at + 1, i.moment.0);
        self.set_array(at + 4, i.inertia.to_rows());
    }
}
