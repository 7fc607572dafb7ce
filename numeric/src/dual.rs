//! Numbers that carry their derivatives.

use core::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::scalar::{Double, Real};

/// A number and its derivatives with respect to `N` others (forward mode: Griewank and Walther
/// 2008, section 3.1).
///
/// Comparisons go by the value alone and choices take the derivatives of what they take: at a kink,
/// those of one side, as [`Real`] says which.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<const N: usize> {
    /// The value.
    pub value: f64,
    /// Its derivatives with respect to `N` numbers.
    pub rates: [f64; N],
}

impl<const N: usize> Dual<N> {
    /// The function value `value` of it, where the function has the derivative `slope`.
    // Never forced inline, nor the next: contact of two boxes in 12 derivatives then took 9 minutes
    // to compile.
    #[inline]
    fn through(self, value: f64, slope: f64) -> Self {
        Self { value, rates: self.rates.map(|r| slope * r) }
    }

    /// The function value `value` of both, where the function has these derivatives by them.
    #[inline]
    fn with(self, other: Self, value: f64, slopes: [f64; 2]) -> Self {
        let mut rates = [0.0; N];
        for (k, rate) in rates.iter_mut().enumerate() {
            *rate = slopes[0] * self.rates[k] + slopes[1] * other.rates[k];
        }
        Self { value, rates }
    }
}

impl<const N: usize> Add for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, self.value + other.value, [1.0, 1.0])
    }
}

impl<const N: usize> Sub for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, self.value - other.value, [1.0, -1.0])
    }
}

impl<const N: usize> Mul for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.with(other, self.value * other.value, [other.value, self.value])
    }
}

impl<const N: usize> Div for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        self.with(other, value, [1.0 / other.value, -value / other.value])
    }
}

impl<const N: usize> Neg for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.through(-self.value, -1.0)
    }
}

impl<const N: usize> Add<f64> for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: f64) -> Self {
        Self { value: self.value + other, ..self }
    }
}

impl<const N: usize> Sub<f64> for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: f64) -> Self {
        Self { value: self.value - other, ..self }
    }
}

impl<const N: usize> Mul<f64> for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: f64) -> Self {
        self.through(self.value * other, other)
    }
}

macro_rules! assign {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl<const N: usize> $trait for Dual<N> {
            #[inline(always)]
            fn $method(&mut self, other: Self) {
                *self = *self $operator other;
            }
        }
    };
}

assign!(AddAssign, add_assign, +);
assign!(SubAssign, sub_assign, -);
assign!(MulAssign, mul_assign, *);

impl<const N: usize> Real for Dual<N> {
    type Mask = bool;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self { value: x, rates: [0.0; N] }
    }

    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self * a + b
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.through(root, 0.5 / root)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        if self.value < 0.0 { -self } else { self }
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if self.value < other.value { self } else { other }
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self.value > other.value { self } else { other }
    }

    #[inline(always)]
    fn ln(self) -> Self {
        self.through(self.value.ln(), 1.0 / self.value)
    }

    #[inline(always)]
    fn exp(self) -> Self {
        let value = self.value.exp();
        self.through(value, value)
    }

    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self.value < other.value
    }

    #[inline(always)]
    fn le(self, other: Self) -> bool {
        self.value <= other.value
    }

    #[inline(always)]
    fn select(mask: bool, if_true: Self, if_false: Self) -> Self {
        if mask { if_true } else { if_false }
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

impl<const N: usize> Double for Dual<N> {
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = Double::sin_cos(self.value);
        (self.through(sin, cos), self.through(cos, -sin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::angle::turn_terms;
    use crate::linalg::Vec3;
    use crate::random::SplitMix64;
    use crate::rotation::Quat;

    /// One of everything that has a derivative, of three numbers.
    fn formula<T: Double>([x, y, z]: [T; 3]) -> [T; 6] {
        let (sin, cos) = (x * y).sin_cos();
        let (s, c) = turn_terms(x * x + 0.1);
        let q = Quat([x, y, z, T::one()]).normalised().turned(Vec3([z, x, y * 0.5]));
        let low = (x * y).min(z).max(x - 0.3).clamp(T::splat(-0.7), T::one());
        [sin / (cos + 2.0), s * c - 0.5, q.0[1], -low, (x - y).abs() * (z * z + 1.0).sqrt(), z.sign() * y]
    }

    /// Central differences of step h are off by h^2 times a third derivative and by rounding over
    /// h: at h = 1e-5 by some 1e-10 of numbers near 1.
    #[test]
    fn formulas_have_the_slopes_of_differences() {
        let (seed, h) = (21, 1e-5);
        let mut random = SplitMix64::new(seed);
        for _ in 0..1000 {
            let x: [f64; 3] = core::array::from_fn(|_| random.uniform_in(-1.0, 1.0));
            let dual = formula(core::array::from_fn(|k| {
                let mut number = Dual::<3>::splat(x[k]);
                number.rates[k] = 1.0;
                number
            }));
            assert_eq!(dual.map(|d| d.value.to_bits()), formula(x).map(f64::to_bits), "{x:?}");
            for k in 0..3 {
                let at = |step: f64| {
                    let mut moved = x;
                    moved[k] += step;
                    formula(moved)
                };
                let (there, half) = ([at(h), at(-h)], [at(0.5 * h), at(-0.5 * h)]);
                for i in 0..6 {
                    let difference = (there[0][i] - there[1][i]) / (2.0 * h);
                    // A kink within the step.
                    if (difference - (half[0][i] - half[1][i]) / h).abs() > 1e-7 {
                        continue;
                    }
                    let error = (dual[i].rates[k] - difference).abs();
                    assert!(error < 1e-8, "seed {seed}: {i} by {k} at {x:?}: {error:e}");
                }
            }
        }
    }
}
