//! Sine and cosine in sums and products.

use crate::scalar::Double;

/// What rounds to a whole number when it is added and taken away again (of numbers below 2^51).
const WHOLE: f64 = 6_755_399_441_055_744.0;
/// pi/2 in two parts: the first has 33 bits, so that its products with whole numbers below 2^20 are
/// exact (fdlibm, `__ieee754_rem_pio2`).
const HALF_PI: [f64; 2] = [1.570_796_326_734_125_6, 6.077_100_506_506_192e-11];

#[inline(always)]
fn whole<T: Double>(x: T) -> T {
    (x + WHOLE) - WHOLE
}

/// `c_0 + c_1 z + ... + c_5 z^5`.
#[inline(always)]
fn polynomial<T: Double>(z: T, c: [f64; 6]) -> T {
    let mut sum = T::splat(c[5]);
    for n in 0..5 {
        sum = sum * z + c[4 - n];
    }
    sum
}

/// Sine and cosine of an angle \[rad\] below 10^6, within 2^-51 of it: the series of Chebyshev type
/// of fdlibm (`__kernel_sin`, `__kernel_cos`) on [-pi/4, pi/4] after the nearest multiple of pi/2
/// was taken away.
#[inline(always)]
pub fn sin_cos<T: Double>(x: T) -> (T, T) {
    let k = whole(x * core::f64::consts::FRAC_2_PI);
    let r = x - k * HALF_PI[0] - k * HALF_PI[1];
    let z = r.squared();
    let sin = r + r
        * z
        * polynomial(
            z,
            [
                -1.666_666_666_666_663_2e-1,
                8.333_333_333_322_49e-3,
                -1.984_126_982_985_795e-4,
                2.755_731_370_707_006_8e-6,
                -2.505_076_025_340_686_3e-8,
                1.589_690_995_211_55e-10,
            ],
        );
    let cos = (z
        * z
        * polynomial(
            z,
            [
                4.166_666_666_666_66e-2,
                -1.388_888_888_887_411e-3,
                2.480_158_728_947_673e-5,
                -2.755_731_435_139_066_3e-7,
                2.087_572_321_298_175e-9,
                -1.135_964_755_778_819_5e-11,
            ],
        )
        - z * 0.5)
        + 1.0;
    // The quadrant, k mod 4 in [-2, 2).
    let quadrant = k - whole((k - 0.5) * 0.25) * 4.0;
    let odd = (quadrant.abs() - 1.0).abs().lt(T::splat(0.5));
    let (s, c) = (T::select(odd, cos, sin), T::select(odd, sin, cos));
    // Sine changes its sign in the quadrants 2 and 3, which are -2 and -1 (or 2); cosine in 1 and
    // 2.
    let low = quadrant.lt(T::splat(-0.5)) | T::splat(1.5).lt(quadrant);
    let shifted = quadrant + 1.0;
    let turned = shifted.lt(T::splat(-0.5)) | T::splat(1.5).lt(shifted);
    (T::select(low, -s, s), T::select(turned, -c, c))
}

impl Double for f64 {
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        sin_cos(self)
    }
}

/// Sine and cosine of half of an angle whose square is `square` \[rad^2\], the sine divided by the
/// angle, which may be 0.
#[inline(always)]
pub fn turn_terms<T: Double>(square: T) -> (T, T) {
    // Below this sin(x/2)/x is 1/2 - x^2/48 to the last bit.
    let small = square.lt(T::splat(1e-7));
    let angle = T::select(small, T::one(), square).sqrt();
    let (sin, cos) = (angle * 0.5).sin_cos();
    let series = (square * (-1.0 / 48.0) + 0.5, (square * (1.0 / 384.0) - 0.125) * square + 1.0);
    (T::select(small, series.0, sin / angle), T::select(small, series.1, cos))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the standard library's, at half a million angles in both directions and at multiples
    /// of pi/4.
    #[test]
    fn sines_are_those_of_the_library() {
        let mut worst: f64 = 0.0;
        for i in -250_000..250_000 {
            for x in [f64::from(i) * 1.234_567e-4, f64::from(i) * core::f64::consts::FRAC_PI_4] {
                let ((s, c), (sin, cos)) = (sin_cos(x), f64::sin_cos(x));
                worst = worst.max((s - sin).abs()).max((c - cos).abs());
            }
        }
        // Two roundings of a number up to 1, and 2^-86 of pi/2 that is left out up to 250 000
        // times.
        assert!(worst <= 4.0 * f64::EPSILON / 2.0 + 250_000.0 * 2f64.powi(-86), "{worst:e}");
    }

    #[test]
    fn small_turns_are_as_large_ones() {
        for square in [0.0, 1e-12, 9.999e-8, 1.001e-7, 0.3, 9.0] {
            let (s, c) = turn_terms(square);
            let angle = f64::sqrt(square);
            let expected = if angle > 0.0 { (0.5 * angle).sin() / angle } else { 0.5 };
            assert!((s - expected).abs() < 4e-16 && (c - (0.5 * angle).cos()).abs() < 4e-16, "{square}");
        }
    }
}
