//! The contact model of one contact.

use nalgebra::{Matrix3, Vector3};

use super::settings::{QuasiSettings, Smoothing};
use pliant_numeric::linalg::Vec3;
use pliant_numeric::scalar::Real;
use pliant_rigid::comfree::Facets;

/// Vertical component of a normal up to which its plane counts as steep.
const STEEP: f64 = 0.9;
/// Number of facets for which K is defined.
const PUBLISHED: f64 = 4.0;

/// Equations 16, 23 and 25 for one contact.
#[derive(Clone, Debug)]
pub(super) struct FacetContactModel {
    facets: Facets,
    weight: f64,
    /// K, and K + D/h \[N/m\].
    pub stiffness: f64,
    pub gain: f64,
    sharpness: Smoothing,
}

/// Tangents of the plane across a unit normal: the first level if the plane is steep, else as close
/// to y as possible.
#[inline(always)]
pub(super) fn tangents<T: Real>(n: Vec3<T>) -> [Vec3<T>; 2] {
    let [x, y, z] = n.0;
    let zero = T::zero();
    let steep = z.abs().lt(T::splat(STEEP));
    // Across the normal and z, or the normal and x.
    let aside = Vec3::select(steep, Vec3([-y, x, zero]), Vec3([zero, z, -y]));
    let first = aside * (T::one() / aside.norm());
    [first, n.cross(first)]
}

impl FacetContactModel {
    pub fn new(settings: &QuasiSettings) -> Self {
        Self {
            facets: Facets::new(settings.facets),
            weight: PUBLISHED / settings.facets as f64,
            stiffness: settings.stiffness,
            gain: settings.stiffness + settings.damping / settings.step,
            sharpness: settings.sharpness,
        }
    }

    /// Calls `visit` with each facet's row in the contact's axes (normal, tangents), `(1, -mu d)`,
    /// and its violation x \[N\].
    fn each(&self, mu: f64, distance: f64, motion: &Vector3<f64>, mut visit: impl FnMut(Vector3<f64>, f64)) {
        for d in self.facets.directions() {
            let row = Vector3::new(1.0, -mu * d[0], -mu * d[1]);
            visit(row, -self.stiffness * distance - self.gain * row.dot(motion));
        }
    }

    /// Force \[N\] on the second body in the contact's axes, if without contact the second moves by
    /// `motion` (m, the contact's axes) against the first.
    pub fn force(&self, mu: f64, distance: f64, motion: &Vector3<f64>) -> Vector3<f64> {
        let mut force = Vector3::zeros();
        self.each(mu, distance, motion, |row, x| force += row * (self.weight * self.sharpness.push(x)));
        force
    }

    /// `sum_j s'(x_j) row_j row_j^T`: the force changes by `-(K + D/h)` times this times a change
    /// of the motion, and by `-K` times its first column times a change of the distance.
    pub fn slopes(&self, mu: f64, distance: f64, motion: &Vector3<f64>) -> Matrix3<f64> {
        let mut slopes = Matrix3::zeros();
        self.each(mu, distance, motion, |row, x| {
            slopes += row * row.transpose() * (self.weight * self.sharpness.slope(x));
        });
        slopes
    }
}
