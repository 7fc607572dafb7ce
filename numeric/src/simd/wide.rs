//! The doubles of a register as a scalar type, for the worlds of a batch.

use core::fmt;
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, MulAssign, Neg, Not, Sub, SubAssign};

use super::{F64x8, SimdDoubles};
use crate::angle;
use crate::scalar::{Double, Mask, Real};

/// One number of each of [`SimdDoubles::DOUBLES`] worlds.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Wide<S: SimdDoubles>(S::D);

// SAFETY: the same memory as `D`, for which these hold. (The derives would ask them of `S`.)
unsafe impl<S: SimdDoubles> bytemuck::Zeroable for Wide<S> {}
// SAFETY: as above.
unsafe impl<S: SimdDoubles> bytemuck::Pod for Wide<S> {}

/// As many truth values.
#[derive(Clone, Copy)]
pub struct WideMask<S: SimdDoubles>(S::DMask);

impl<S: SimdDoubles> fmt::Debug for Wide<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        bytemuck::cast_slice::<Self, f64>(core::slice::from_ref(self)).fmt(f)
    }
}

impl<S: SimdDoubles> Wide<S> {
    /// The `part`-th vector of a row.
    #[inline(always)]
    pub fn load(row: &F64x8, part: usize) -> Self {
        bytemuck::cast_slice(core::slice::from_ref(row))[part]
    }

    /// Writes it back.
    #[inline(always)]
    pub fn store(self, row: &mut F64x8, part: usize) {
        bytemuck::cast_slice_mut(core::slice::from_mut(row))[part] = self;
    }

    /// Applies a scalar function to each lane, for operations without an instruction.
    #[inline(always)]
    pub fn each(mut self, f: impl Fn(f64) -> f64) -> Self {
        for x in bytemuck::cast_slice_mut::<Self, f64>(core::slice::from_mut(&mut self)) {
            *x = f(*x);
        }
        self
    }
}

operators! { Wide<SimdDoubles>:
    Add(add, o) = add_f64;
    Sub(sub, o) = sub_f64;
    Mul(mul, o) = mul_f64;
    Div(div, o) = div_f64;
    Neg(neg) = neg_f64;
}

assignments! { Wide<SimdDoubles>:
    AddAssign(add_assign) = add_f64;
    SubAssign(sub_assign) = sub_f64;
    MulAssign(mul_assign) = mul_f64;
}

operators! { WideMask<SimdDoubles>:
    BitAnd(bitand, o) = and_f64;
    BitOr(bitor, o) = or_f64;
    Not(not) = not_f64;
}

/// Operators with a constant on the right.
macro_rules! constants {
    ($($trait:ident($method:ident);)*) => {
        $(impl<S: SimdDoubles> $trait<f64> for Wide<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: f64) -> Self {
                $trait::$method(self, Self::splat(o))
            }
        })*
    };
}

constants! { Add(add); Sub(sub); Mul(mul); }

impl<S: SimdDoubles> Mask for WideMask<S> {
    #[inline(always)]
    fn any(self) -> bool {
        S::bits_f64(self.0) != 0
    }
    #[inline(always)]
    fn all(self) -> bool {
        usize::from(S::bits_f64(self.0)) == (1 << S::DOUBLES) - 1
    }
}

impl<S: SimdDoubles> Real for Wide<S> {
    type Mask = WideMask<S>;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self(S::splat_f64(x))
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self * a + b
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(S::sqrt_f64(self.0))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(S::abs_f64(self.0))
    }
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        Self(S::min_f64(self.0, o.0))
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        Self(S::max_f64(self.0, o.0))
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.each(f64::ln)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        self.each(f64::exp)
    }
    #[inline(always)]
    fn lt(self, o: Self) -> WideMask<S> {
        WideMask(S::lt_f64(self.0, o.0))
    }
    #[inline(always)]
    fn le(self, o: Self) -> WideMask<S> {
        WideMask(S::le_f64(self.0, o.0))
    }
    #[inline(always)]
    fn select(mask: WideMask<S>, if_true: Self, if_false: Self) -> Self {
        Self(S::select_f64(mask.0, if_true.0, if_false.0))
    }
    #[inline(always)]
    fn epsilon() -> f64 {
        f64::EPSILON
    }
    #[inline(always)]
    fn jacobi_sweeps() -> usize {
        f64::jacobi_sweeps()
    }
}

impl<S: SimdDoubles> Double for Wide<S> {
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        angle::sin_cos(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Vec3;
    use crate::rotation::Quat;
    use crate::simd::tests::levels;
    use crate::simd::{Kernel, Simd};

    struct Formulas<'a>(&'a [F64x8; 6], &'a mut [F64x8; 4]);

    /// One of everything: products, roots, quotients, comparisons, sines.
    fn formula<T: Double>(x: [T; 6]) -> [T; 4] {
        let n = Vec3([x[0], x[1], x[2]]);
        let n = n * (n.norm() + 0.1);
        let [s, t] = n.tangents();
        let q = Quat([x[3], x[4], x[5], x[0]]).normalised().turned(s);
        let r = q.matrix().apply(t.cross(n));
        let low = T::select(x[0].lt(x[1]) | x[2].lt(x[3]), r.0[0].min(r.0[1]), r.0[2].max(x[5]));
        [low.clamp(-T::one(), T::one()), r.0[0], r.0[1].abs() / x[4], (r.0[2] * 7.0).sin_cos().0]
    }

    impl Kernel for Formulas<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self) {
            for part in 0..F64x8::LANES / S::DOUBLES {
                let x = self.0.each_ref().map(|row| Wide::<S>::load(row, part));
                for (row, y) in self.1.iter_mut().zip(formula(x)) {
                    y.store(row, part);
                }
            }
        }
    }

    /// IEEE operations that are not fused: bit for bit the same however many are done at once.
    #[test]
    fn lanes_have_the_bits_of_single_numbers() {
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / 2f64.powi(52) - 1.0
        };
        for _ in 0..2000 {
            let x: [F64x8; 6] = core::array::from_fn(|_| F64x8(core::array::from_fn(|_| random())));
            for level in levels() {
                let mut y = [F64x8::ZERO; 4];
                level.run(Formulas(&x, &mut y));
                for lane in 0..F64x8::LANES {
                    let single = formula(x.each_ref().map(|row| row.0[lane])).map(f64::to_bits);
                    let lanes = y.each_ref().map(|row| row.0[lane].to_bits());
                    assert_eq!(lanes, single, "{:?} {x:?}", level.level());
                }
            }
        }
    }
}
