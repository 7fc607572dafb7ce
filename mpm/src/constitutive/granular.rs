//! Dense granular flow: a Matsuoka-Nakai cone whose friction follows mu(I), without cohesion.

use super::hencky::{Hencky, Principal, principal};
use super::{Constitutive, ConstitutiveResponse};
use crate::material::GranularFlow;
use pliant_numeric::linalg::{Mat3, Vec3};
use pliant_numeric::scalar::Real;

/// Newton steps for [`lode_cosine`]: two leave 1e-7 of it, three 1e-14.
const NEWTON_STEPS: usize = 3;

/// Granular flow between two cones of Matsuoka and Nakai 1974, by the inertial number I (Jop,
/// Forterre and Pouliquen 2006).
///
/// With p = -tr(tau)/3, T = sqrt(J2) of the stress and r = T/p, a cone is I1 I2/I3 = 9 + 6
/// m^2/[1 - m^2]: m is the ratio r in simple shear, where J3 = 0. In slow flow m = mu_s, in fast
/// flow mu_2, and between them r = r_s + (r_2 - r_s) I/(I_0 + I), which in simple shear is mu(I).
/// The return keeps the volume and the direction of the deviator. Without pressure there is no
/// stress at all; the volume gained then is stored in the history variable and must be lost again
/// before the grains resist (Tampubolon et al. 2017).
#[derive(Clone, Copy, Debug)]
pub struct Granular<T> {
    /// Elastic response inside the cone.
    pub elastic: Hencky<T>,
    /// The cone of slow flow.
    pub slow: Cone<T>,
    /// The cone of fast flow.
    pub fast: Cone<T>,
    /// mu I_0 / (d sqrt(rho_s)), so that `substep` times this times sqrt(p) is the stress that
    /// relaxes in a substep at I = I_0 (sqrt(Pa)/s).
    pub relaxation: T,
}

/// A cone of Matsuoka and Nakai.
#[derive(Clone, Copy, Debug)]
pub struct Cone<T> {
    /// sqrt(3)/2 times the ratio sqrt(J2)/p in simple shear, m (no unit).
    ratio: T,
    /// m (3 - m^2)/2: how far the section is from a circle (0) towards a triangle (1).
    triangularity: T,
}

impl<T: Real> Cone<T> {
    #[inline(always)]
    fn new(simple_shear: f64) -> Self {
        let m = simple_shear;
        Self { ratio: T::splat(0.75_f64.sqrt() * m), triangularity: T::splat(0.5 * m * (3.0 - m * m)) }
    }

    /// The ratio sqrt(J2)/p on the cone where cos(3 theta) = 3 sqrt(3)/2 J3/J2^(3/2) of the stress,
    /// compression positive: 1 in triaxial compression.
    ///
    /// With u = 1/r the cone is u^3 m^2 - u + (3 - m^2) cos(3 theta)/(3 sqrt(3)) = 0, whose largest
    /// root is 2/(sqrt(3) m) cos(acos(-m (3 - m^2)/2 cos(3 theta))/3).
    #[inline(always)]
    fn radius(&self, cosine: T) -> T {
        self.ratio / lode_cosine(self.triangularity * cosine)
    }
}

/// cos(acos(-x)/3) for |x| < 1: the root within (1/2, 1) of 4 y^3 - 3 y + x, by Newton's iteration
/// from a polynomial.
#[inline(always)]
fn lode_cosine<T: Real>(x: T) -> T {
    let (half, one) = (T::splat(0.5), T::splat(1.0));
    // y = cos(pi/3 - 2/3 asin(s)): value and slope at s = 0, values at 1/2 and 1.
    let s = ((one - x) * half).max(T::splat(1e-6)).sqrt();
    let mut y =
        T::splat(0.02638).mul_add(s, T::splat(-0.10373)).mul_add(s, T::splat(0.57735)).mul_add(s, half);
    for _ in 0..NEWTON_STEPS {
        let square = y * y;
        y = (T::splat(8.0) * square * y - x) / (T::splat(12.0) * square - T::splat(3.0));
    }
    y
}

impl<T: Real> Granular<T> {
    /// From its parameters.
    #[inline(always)]
    pub fn new(flow: &GranularFlow) -> Self {
        let (mu, lambda) = (flow.elastic.shear_modulus(), flow.elastic.lame_lambda());
        let relaxation = mu * flow.inertial_number / (flow.grain_diameter * flow.grain_density.sqrt());
        Self {
            elastic: Hencky { mu: T::splat(mu), lambda: T::splat(lambda) },
            slow: Cone::new(flow.friction_angle.tan()),
            fast: Cone::new(flow.fast_friction_angle.tan()),
            relaxation: T::splat(relaxation),
        }
    }
}

impl<T: Real> Constitutive<T> for Granular<T> {
    #[inline(always)]
    fn update(&self, trial: Mat3<T>, state: T, substep: T) -> ConstitutiveResponse<T> {
        let (zero, one) = (T::splat(0.0), T::splat(1.0));
        let axes = principal(&trial);
        let gained = state * T::splat(1.0 / 3.0);
        let (mean, deviator) = Principal::split(axes.strain.map(
            #[inline(always)]
            |e| e + gained,
        ));
        let trace = mean * T::splat(3.0);
        let tension = zero.le(trace);
        let bulk = self.elastic.lambda + self.elastic.mu * T::splat(2.0 / 3.0);
        let pressure = (-bulk * trace).max(zero);

        let norm = deviator.fused_norm_squared().sqrt().max(T::splat(1e-30));
        let [a, b, c] = deviator
            .map(
                #[inline(always)]
                |e| e / norm,
            )
            .0;
        let cosine = (a * b * c * T::splat(-3.0 * 6.0_f64.sqrt())).max(T::splat(-1.0)).min(one);
        let shear = self.elastic.mu * norm * T::splat(2.0_f64.sqrt());
        let slow = pressure * self.slow.radius(cosine);
        let fast = pressure * self.fast.radius(cosine);
        // T^2 - T (fast + shear + a) + fast shear + slow a = 0: T = shear - mu substep rate, I from
        // the rate (Dunatunga and Kamrin 2015).
        let a = self.relaxation * substep * pressure.sqrt();
        let sum = fast + shear + a;
        let product = fast.mul_add(shear, slow * a);
        let root = (sum * sum - product * T::splat(4.0)).max(zero).sqrt();
        let flowing = (product + product) / (sum + root).max(T::splat(1e-30));
        let slides = slow.lt(shear);
        let factor = T::select(slides, (flowing / shear.max(T::splat(1e-30))).min(one), one);
        let in_cone = deviator.map(
            #[inline(always)]
            |e| factor.mul_add(e, mean),
        );
        let strain = Vec3::<T>::select(tension, Vec3::zero(), in_cone);

        let no_volume = zero.le(state) & state.le(zero);
        let changed = tension | slides | axes.collapsed | !no_volume;
        ConstitutiveResponse {
            deformation_gradient: axes.recompose(changed, strain, &trial),
            kirchhoff_stress: axes.on_left_axes(self.elastic.principal_stress(strain)),
            state: T::select(tension, trace, zero),
            dissipated: T::select(
                changed,
                self.elastic.energy(axes.strain) - self.elastic.energy(strain),
                zero,
            ),
        }
    }

    #[inline(always)]
    fn energy_density(&self, deformation_gradient: &Mat3<T>, _state: T) -> T {
        self.elastic.energy_density(deformation_gradient)
    }
}
