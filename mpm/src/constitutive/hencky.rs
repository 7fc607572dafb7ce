//! StVK-Hencky elasticity on principal stretches, shared by the plastic models.

use pliant_numeric::linalg::{Mat3, Sym3, Vec3};
use pliant_numeric::scalar::{Mask, Real};
use pliant_numeric::svd::{Svd, svd};

/// Smallest principal stretch; smaller ones are replaced by it, see the notes on J <= 0 in
/// [`crate::constitutive`].
pub const SMALLEST_STRETCH: f64 = 0.05;

/// Elastic constants of psi = mu |e|^2 + lambda/2 tr(e)^2 over the Hencky strain e = ln sigma.
#[derive(Clone, Copy, Debug)]
pub struct Hencky<T> {
    /// Shear modulus \[Pa\].
    pub mu: T,
    /// First Lame parameter \[Pa\].
    pub lambda: T,
}

/// A trial deformation gradient on its principal axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Principal<T: Real> {
    pub axes: Svd<T>,
    /// Hencky strain ln max(sigma, smallest stretch).
    pub strain: Vec3<T>,
    /// Lanes with a stretch below the smallest.
    pub collapsed: T::Mask,
}

impl<T: Real> Hencky<T> {
    /// Principal Kirchhoff stress 2 mu e + lambda tr(e).
    #[inline(always)]
    pub fn principal_stress(&self, strain: Vec3<T>) -> Vec3<T> {
        let pressure = self.lambda * strain.sum();
        let twice_mu = self.mu + self.mu;
        strain.map(
            #[inline(always)]
            |e| twice_mu.mul_add(e, pressure),
        )
    }

    /// Energy per rest volume.
    #[inline(always)]
    pub fn energy_density(&self, f: &Mat3<T>) -> T {
        self.energy(principal(f).strain)
    }

    /// Energy per rest volume at principal strains.
    #[inline(always)]
    pub fn energy(&self, strain: Vec3<T>) -> T {
        let trace = strain.sum();
        self.mu * strain.fused_norm_squared() + T::splat(0.5) * self.lambda * trace * trace
    }
}

/// Principal axes and Hencky strain of a deformation gradient.
#[inline(always)]
pub(super) fn principal<T: Real>(f: &Mat3<T>) -> Principal<T> {
    let axes = svd(f);
    let smallest = T::splat(SMALLEST_STRETCH);
    let strain = axes.sigma.map(
        #[inline(always)]
        |s| s.max(smallest).ln(),
    );
    let [a, b, c] = axes.sigma.0;
    let collapsed = a.lt(smallest) | b.lt(smallest) | c.lt(smallest);
    Principal { axes, strain, collapsed }
}

impl<T: Real> Principal<T> {
    /// `(mean, deviator)` of a strain; the mean is a third of the trace.
    #[inline(always)]
    pub fn split(strain: Vec3<T>) -> (T, Vec3<T>) {
        let mean = strain.sum() * T::splat(1.0 / 3.0);
        (
            mean,
            strain.map(
                #[inline(always)]
                |e| e - mean,
            ),
        )
    }

    /// The deformation gradient U exp(strain) V^T where the mask holds; elsewhere `trial` itself,
    /// untouched by rounding.
    #[inline(always)]
    pub fn recompose(&self, changed: T::Mask, strain: Vec3<T>, trial: &Mat3<T>) -> Mat3<T> {
        if !changed.any() {
            return *trial;
        }
        let returned = self
            .axes
            .u
            .scale_columns(strain.map(
                #[inline(always)]
                |e| e.exp(),
            ))
            .mul_transpose(&self.axes.v);
        Mat3::<T>::select(changed, returned, *trial)
    }

    /// The symmetric tensor with these principal values on the left principal axes.
    #[inline(always)]
    pub fn on_left_axes(&self, values: Vec3<T>) -> Sym3<T> {
        Sym3::from_eigen(&self.axes.u, values)
    }
}
