//! Conserved quantities of particles.

use super::particle::ReferenceParticle;
use crate::bspline::INVERSE_SECOND_MOMENT;
use nalgebra::{Matrix3, Vector3};

/// A sum whose rounding does not grow with the number of terms (Neumaier 1974), so that a drift of
/// [`ReferenceTotals`] is that of the method.
#[derive(Clone, Copy, Default)]
pub(super) struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    pub fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        self.lost += if self.sum.abs() >= x.abs() { (self.sum - sum) + x } else { (x - sum) + self.sum };
        self.sum = sum;
    }

    pub fn value(&self) -> f64 {
        self.sum + self.lost
    }
}

/// Sums of mass, the two momenta, kinetic and elastic energy, in this order.
#[derive(Clone, Copy, Default)]
pub(super) struct TotalsSum([CompensatedSum; 9]);

impl TotalsSum {
    pub fn add(&mut self, t: &ReferenceTotals) {
        let (l, a) = (t.linear_momentum, t.angular_momentum);
        let terms = [t.mass, l.x, l.y, l.z, a.x, a.y, a.z, t.kinetic_energy, t.elastic_energy];
        for (sum, term) in self.0.iter_mut().zip(terms) {
            sum.add(term);
        }
    }

    pub fn value(&self) -> ReferenceTotals {
        let [mass, lx, ly, lz, ax, ay, az, kinetic_energy, elastic_energy] = self.0.map(|s| s.value());
        let (linear_momentum, angular_momentum) = (Vector3::new(lx, ly, lz), Vector3::new(ax, ay, az));
        ReferenceTotals { mass, linear_momentum, angular_momentum, kinetic_energy, elastic_energy }
    }
}

/// Sums over all particles, or over all grid nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReferenceTotals {
    /// Mass \[kg\].
    pub mass: f64,
    /// Linear momentum \[kg m/s\].
    pub linear_momentum: Vector3<f64>,
    /// Angular momentum about the world origin \[kg m^2/s\]; of particles with the affine term
    /// (Jiang et al. 2015).
    pub angular_momentum: Vector3<f64>,
    /// Kinetic energy \[J\]; of particles with the affine term m h^2/8 |C|^2.
    pub kinetic_energy: f64,
    /// Elastic energy, with that of gas in cloth \[J\]; zero for a grid.
    pub elastic_energy: f64,
}

impl ReferenceTotals {
    /// `elastic_energy` gives the energy of one particle \[J\].
    pub(super) fn of_particles(
        particles: &[ReferenceParticle],
        grid_spacing: f64,
        elastic_energy: impl Fn(&ReferenceParticle) -> f64,
    ) -> Self {
        Self::sum(particles.iter().map(|p| Self {
            elastic_energy: elastic_energy(p),
            ..Self::of_point(p.mass, &p.position, &p.velocity, &p.affine, grid_spacing)
        }))
    }

    /// Of one particle, without elastic energy: mass \[kg\], position \[m\], velocity \[m/s\] and
    /// affine field C \[1/s\].
    pub(super) fn of_point(
        mass: f64,
        position: &Vector3<f64>,
        velocity: &Vector3<f64>,
        c: &Matrix3<f64>,
        grid_spacing: f64,
    ) -> Self {
        let moment = grid_spacing * grid_spacing / INVERSE_SECOND_MOMENT;
        // sum_i w_ip (x_i - x_p) x C (x_i - x_p) = h^2/4 sum_k e_k x C e_k.
        let spin = Vector3::new(c.m32 - c.m23, c.m13 - c.m31, c.m21 - c.m12);
        Self {
            mass,
            linear_momentum: mass * velocity,
            angular_momentum: mass * (position.cross(velocity) + moment * spin),
            kinetic_energy: 0.5 * mass * (velocity.norm_squared() + moment * c.norm_squared()),
            elastic_energy: 0.0,
        }
    }

    /// Sum of several.
    pub(super) fn sum(parts: impl Iterator<Item = Self>) -> Self {
        let mut totals = TotalsSum::default();
        for part in parts {
            totals.add(&part);
        }
        totals.value()
    }

    /// Kinetic and elastic energy \[J\].
    pub fn energy(&self) -> f64 {
        self.kinetic_energy + self.elastic_energy
    }
}
