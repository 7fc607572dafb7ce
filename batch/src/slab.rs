//! Workspace of a few worlds during a step.

use pulp::Simd;

use super::spatial::{SpatialForce, SpatialInertia, SpatialMotion};
use pliant_numeric::lanes::{F64x8, Mat3, Vec3, Wide};

/// Vectors of the processor's width, by number.
pub(super) struct LaneWorkspace<'a, S: Simd> {
    pub simd: S,
    values: &'a mut [S::f64s],
}

impl<'a, S: Simd> LaneWorkspace<'a, S> {
    /// Over memory of whole rows.
    #[inline(always)]
    pub fn new(simd: S, rows: &'a mut [F64x8]) -> Self {
        Self { simd, values: bytemuck::cast_slice_mut(bytemuck::cast_slice_mut::<F64x8, f64>(rows)) }
    }

    /// Zeros.
    #[inline(always)]
    pub fn clear(&mut self, first: usize, count: usize) {
        self.values[first..first + count].fill(self.simd.splat_f64s(0.0));
    }

    #[inline(always)]
    pub fn splat(&self, x: f64) -> Wide<S> {
        Wide::splat(self.simd, x)
    }

    #[inline(always)]
    pub fn get(&self, at: usize) -> Wide<S> {
        Wide::of(self.simd, self.values[at])
    }

    #[inline(always)]
    pub fn set(&mut self, at: usize, x: Wide<S>) {
        self.values[at] = x.lanes();
    }

    /// `N` numbers that follow each other.
    #[inline(always)]
    pub fn array<const N: usize>(&self, at: usize) -> [Wide<S>; N] {
        let values = &self.values[at..at + N];
        let mut out = [self.splat(0.0); N];
        for i in 0..N {
            out[i] = Wide::of(self.simd, values[i]);
        }
        out
    }

    #[inline(always)]
    pub fn set_array<const N: usize>(&mut self, at: usize, x: [Wide<S>; N]) {
        let values = &mut self.values[at..at + N];
        for i in 0..N {
            values[i] = x[i].lanes();
        }
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

    #[inline(always)]
    pub fn motion(&self, at: usize) -> SpatialMotion<Wide<S>> {
        SpatialMotion { angular: self.vector(at), linear: self.vector(at + 3) }
    }

    #[inline(always)]
    pub fn set_motion(&mut self, at: usize, v: &SpatialMotion<Wide<S>>) {
        self.set_array(at, v.angular.0);
        self.set_array(at + 3, v.linear.0);
    }

    #[inline(always)]
    pub fn force(&self, at: usize) -> SpatialForce<Wide<S>> {
        SpatialForce { angular: self.vector(at), linear: self.vector(at + 3) }
    }

    #[inline(always)]
    pub fn set_force(&mut self, at: usize, f: &SpatialForce<Wide<S>>) {
        self.set_array(at, f.angular.0);
        self.set_array(at + 3, f.linear.0);
    }

    #[inline(always)]
    pub fn inertia(&self, at: usize) -> SpatialInertia<Wide<S>> {
        SpatialInertia { mass: self.get(at), moment: self.vector(at + 1), inertia: self.array(at + 4) }
    }

    #[inline(always)]
    pub fn set_inertia(&mut self, at: usize, i: &SpatialInertia<Wide<S>>) {
        self.set(at, i.mass);
        self.set_array(at + 1, i.moment.0);
        self.set_array(at + 4, i.inertia);
    }
}
