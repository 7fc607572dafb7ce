//! Polyhedral friction cones.

use core::f64::consts::PI;

/// Number of facets for which the published impedance is defined.
const PUBLISHED: f64 = 4.0;

/// Impulse of one cone of a contact: along the normal, and in the tangential plane (of rolling
/// friction a moment).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ConeImpulse {
    /// Along the normal \[N s\].
    pub normal: f64,
    /// In the plane \[N s, N m s\].
    pub tangential: [f64; 2],
}

/// The directions `d_j` of a plane cone, evenly round the circle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facets {
    directions: Vec<[f64; 2]>,
}

impl Facets {
    /// `count` directions, the first along the first axis.
    pub fn new(count: usize) -> Self {
        let mut facets = Self::default();
        facets.reset(count);
        facets
    }

    /// Becomes `count` directions.
    pub fn reset(&mut self, count: usize) {
        if self.directions.len() != count {
            self.directions.clear();
            self.directions.extend((0..count).map(|j| {
                let (sin, cos) = (2.0 * PI * j as f64 / count as f64).sin_cos();
                [cos, sin]
            }));
        }
    }

    /// The directions.
    pub fn directions(&self) -> &[[f64; 2]] {
        &self.directions
    }

    /// Impulse \[N s\] of the facet in direction `d`: `(violation + slope . d)+`, scaled to four
    /// facets (equation 8, times dt). `violation` \[N s\] is `-dt (K phi + (K dt + D) v_n)`,
    /// `slope` \[N s\] `dt (K dt + D) mu` times the slip.
    pub fn facet(&self, d: &[f64; 2], violation: f64, slope: &[f64; 2]) -> f64 {
        let weight = PUBLISHED / self.directions.len() as f64;
        weight * (violation + slope[0] * d[0] + slope[1] * d[1]).max(0.0)
    }

    /// The sum over all facets, `sum_j lambda_j (n - mu d_j)`, with `mu` the coefficient (of
    /// rolling a length, m).
    pub fn sum(&self, violation: f64, slope: &[f64; 2], mu: f64) -> ConeImpulse {
        let mut sum = ConeImpulse::default();
        for d in &self.directions {
            let lambda = self.facet(d, violation, slope);
            sum.normal += lambda;
            sum.tangential[0] -= mu * lambda * d[0];
            sum.tangential[1] -= mu * lambda * d[1];
        }
        sum
    }

    /// Distance from the middle to the edge of the polygon of the directions, along `x`.
    pub fn radius(&self, x: &[f64; 2]) -> f64 {
        let half = PI / self.directions.len() as f64;
        let within = x[1].atan2(x[0]).rem_euclid(2.0 * half);
        half.cos() / (within - half).cos()
    }

    /// `tangential` \[N s, N m s\], or the largest part of it that the facets can bear with the
    /// impulse `bound` \[N s, N m s\], which is mu times the normal one.
    pub fn clip(&self, tangential: [f64; 2], bound: f64) -> [f64; 2] {
        let size = tangential[0].hypot(tangential[1]);
        // The polygon is within the circle and around half of it.
        if size <= 0.5 * bound {
            return tangential;
        }
        let most = bound * self.radius(&tangential);
        if size <= most {
            return tangential;
        }
        tangential.map(|x| x * (most / size))
    }

    /// The impulses of the facets, none negative, that have the sum `normal` \[N s\] and together
    /// give `tangential` with the coefficient `mu`: possible for every result of
    /// [`clip`](Self::clip).
    pub fn share(&self, normal: f64, tangential: &[f64; 2], mu: f64, out: &mut Vec<f64>) {
        out.clear();
        let count = self.directions.len();
        let along = tangential.map(|x| -x / mu);
        let size = along[0].hypot(along[1]);
        let edge = if size > 0.0 { size / self.radius(&along) } else { 0.0 };
        out.resize(count, (normal - edge) / count as f64);
        if edge == 0.0 {
            return;
        }
        let step = 2.0 * PI / count as f64;
        let angle = along[1].atan2(along[0]).rem_euclid(2.0 * PI);
        let first = ((angle / step) as usize).min(count - 1);
        let (a, b) = (&self.directions[first], &self.directions[(first + 1) % count]);
        let det = a[0] * b[1] - a[1] * b[0];
        out[first] += (along[0] * b[1] - along[1] * b[0]) / det;
        out[(first + 1) % count] += (a[0] * along[1] - a[1] * along[0]) / det;
    }
}

/// Limit of [`Facets::sum`] for many facets: `4/(2 pi)` times the integral over all directions. The
/// difference is of second order in `1/count` where some facets push and some do not, and rounding
/// where all do.
pub fn many_facets(violation: f64, slope: &[f64; 2], mu: f64) -> ConeImpulse {
    let b = slope[0].hypot(slope[1]);
    let (normal, along) = if violation >= b {
        (PUBLISHED * violation, 0.5 * PUBLISHED * b)
    } else if violation <= -b {
        return ConeImpulse::default();
    } else {
        let end = (-violation / b).acos();
        let (sin, cos) = end.sin_cos();
        let scale = PUBLISHED / PI;
        (scale * (violation * end + b * sin), scale * (violation * sin + 0.5 * b * (end + sin * cos)))
    };
    let tangential = if b > 0.0 { slope.map(|x| -mu * along * x / b) } else { [0.0; 2] };
    ConeImpulse { normal, tangential }
}
