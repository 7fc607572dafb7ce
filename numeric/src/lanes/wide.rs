//! As many numbers as the processor has lanes.

use core::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

use pulp::Simd;

use super::{F64x8, Mask, Real};

/// One number of each of `S::F64_LANES` worlds.
#[derive(Clone, Copy, Debug)]
pub struct Wide<S: Simd>(S, S::f64s);

/// Truth values of as many.
#[derive(Clone, Copy, Debug)]
pub struct WideMask<S: Simd>(S, S::m64s);

impl<S: Simd> Wide<S> {
    /// The same number in all lanes.
    #[inline(always)]
    pub fn splat(simd: S, x: f64) -> Self {
        Self(simd, simd.splat_f64s(x))
    }

    /// A vector of the processor.
    #[inline(always)]
    pub fn of(simd: S, lanes: S::f64s) -> Self {
        Self(simd, lanes)
    }

    /// The same back.
    #[inline(always)]
    pub fn lanes(self) -> S::f64s {
        self.1
    }

    /// The `part`-th vector of a row.
    #[inline(always)]
    pub fn load(simd: S, row: &F64x8, part: usize) -> Self {
        Self(simd, S::as_simd_f64s(&row.0).0[part])
    }

    /// Writes it back.
    #[inline(always)]
    pub fn store(self, row: &mut F64x8, part: usize) {
        S::as_mut_simd_f64s(&mut row.0).0[part] = self.1;
    }

    /// Every lane by itself, for what the processor has no instruction for.
    #[inline(always)]
    pub fn each(self, f: impl Fn(f64) -> f64) -> Self {
        let mut lanes = self.1;
        for x in bytemuck::cast_slice_mut::<S::f64s, f64>(core::slice::from_mut(&mut lanes)) {
            *x = f(*x);
        }
        Self(self.0, lanes)
    }
}

macro_rules! operator {
    ($operator:ident, $method:ident, $instruction:ident) => {
        impl<S: Simd> $operator for Wide<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0, self.0.$instruction(self.1, other.1))
            }
        }

        impl<S: Simd> $operator<f64> for Wide<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                Self(self.0, self.0.$instruction(self.1, self.0.splat_f64s(other)))
            }
        }
    };
}

operator!(Add, add, add_f64s);
operator!(Sub, sub, sub_f64s);
operator!(Mul, mul, mul_f64s);
operator!(Div, div, div_f64s);

impl<S: Simd> Neg for Wide<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0, self.0.neg_f64s(self.1))
    }
}

impl<S: Simd> BitAnd for WideMask<S> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0, self.0.and_m64s(self.1, other.1))
    }
}

impl<S: Simd> BitOr for WideMask<S> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0, self.0.or_m64s(self.1, other.1))
    }
}

impl<S: Simd> Mask for WideMask<S> {
    #[inline(always)]
    fn any(self) -> bool {
        self.0.first_true_m64s(self.1) < S::F64_LANES
    }
}

impl<S: Simd> Real for Wide<S> {
    type Mask = WideMask<S>;

    #[inline(always)]
    fn splat(self, x: f64) -> Self {
        Self::splat(self.0, x)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0, self.0.sqrt_f64s(self.1))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0, self.0.abs_f64s(self.1))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other), self, other)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.lt(self), self, other)
    }

    #[inline(always)]
    fn lt(self, other: Self) -> WideMask<S> {
        WideMask(self.0, self.0.less_than_f64s(self.1, other.1))
    }

    #[inline(always)]
    fn select(mask: WideMask<S>, then: Self, otherwise: Self) -> Self {
        Self(then.0, then.0.select_f64s(mask.1, then.1, otherwise.1))
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        super::angle::sin_cos(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{LANES, Quat, Vec3};

    struct Formulas<'a>(&'a [F64x8; 6], &'a mut [F64x8; 4]);

    /// One of everything: products, roots, quotients, comparisons, sines.
    fn formula<T: Real>(x: [T; 6]) -> [T; 4] {
        let n = Vec3([x[0], x[1], x[2]]);
        let n = n * (n.norm() + 0.1);
        let [s, t] = n.tangents();
        let q = Quat([x[3], x[4], x[5], x[0]]).normalised().turned(s);
        let r = q.matrix().apply(t.cross(n));
        let low = T::select(x[0].lt(x[1]) | x[2].lt(x[3]), r.0[0].min(r.0[1]), r.0[2].max(x[5]));
        [low.clamp(-low.one(), low.one()), r.0[0], r.0[1].abs() / x[4], (r.0[2] * 7.0).sin_cos().0]
    }

    impl pulp::WithSimd for Formulas<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            for part in 0..LANES / S::F64_LANES {
                let x = self.0.each_ref().map(|row| Wide::load(simd, row, part));
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
            let mut y = [F64x8::ZERO; 4];
            pulp::Arch::new().dispatch(Formulas(&x, &mut y));
            for lane in 0..LANES {
                let single = formula(x.each_ref().map(|row| row.0[lane]));
                assert_eq!(y.each_ref().map(|row| row.0[lane].to_bits()), single.map(f64::to_bits), "{x:?}");
            }
        }
    }
}
