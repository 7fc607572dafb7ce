//! Quadratic B-spline weights (Steffen et al. 2008; Jiang et al. 2016, equation 123).

use pliant_numeric::scalar::Real;

/// Inverse of the weights' second moment: sum_i w_ip (x_i - x_p)(x_i - x_p)^T = h^2/4 I at every
/// position, so this over h^2.
pub const INVERSE_SECOND_MOMENT: f64 = 4.0;

/// Weights of the three nodes of one axis around a particle.
///
/// `fx` is the particle's coordinate relative to the first of them in grid spacings, within [0.5,
/// 1.5): `fx = x/h - base` with `base = floor(x/h - 0.5)`. The weights sum to one and have mean
/// `fx`.
#[inline(always)]
pub fn quadratic_weights<T: Real>(fx: T) -> [T; 3] {
    let half = T::splat(0.5);
    let (left, middle, right) = (T::splat(1.5) - fx, fx - T::splat(1.0), fx - half);
    [half * left * left, T::splat(0.75) - middle * middle, half * right * right]
}

/// First of the three nodes of one axis and the coordinate relative to it, both in grid spacings,
/// from `x / h`.
pub fn base_node(x_over_h: f64) -> (i32, f64) {
    let base = (x_over_h - 0.5).floor();
    (base as i32, x_over_h - base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_testing::random::Random;

    /// Moments of the quadratic B-spline: sum w = 1, sum w x_i = x, sum w (x_i - x)^2 = 1/4, to
    /// rounding.
    #[test]
    fn moments() {
        let mut random = Random(41);
        for _ in 0..1000 {
            let x = random.uniform(-20.0, 20.0);
            let (base, fx) = base_node(x);
            assert!((0.5..1.5).contains(&fx));
            let w = quadratic_weights(fx);
            let moment =
                |k: i32| -> f64 { (0..3).map(|i| w[i as usize] * (f64::from(i) - fx).powi(k)).sum() };
            assert!((moment(0) - 1.0).abs() < 4.0 * f64::EPSILON);
            assert!(moment(1).abs() < 4.0 * f64::EPSILON);
            assert!((moment(2) * INVERSE_SECOND_MOMENT - 1.0).abs() < 8.0 * f64::EPSILON);
            assert!((f64::from(base) + fx - x).abs() < 1e-14);
            let narrow = quadratic_weights(fx as f32);
            assert!((0..3).all(|i| (f64::from(narrow[i]) - w[i]).abs() < 2e-7));
        }
    }
}
