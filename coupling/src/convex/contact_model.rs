//! The contact law of one contact: compliant normal force with Hunt-Crossley dissipation, fully
//! implicit, and regularised friction with a lagged normal impulse (Castro et al. 2023, "A Theory
//! of Irrotational Contact Fields", the lagged model).
//!
//! With the overlap `-phi`, the elastic force at the end of the substep is `f = k (-phi - substep
//! v_n)`, and the normal impulse `gamma_n = substep f (1 - d v_n)` where both factors are positive,
//! else zero. Written about the velocity at which the contact lets go,
//!
//! ```text
//! v_hat = min(-phi/delta, 1/d),   u = max(v_hat - v_n, 0):
//! gamma_n = u (a + b u),   l_n = u^2 (a/2 + b u/3),   a = delta k |delta + d phi|,   b = delta^2 k d,
//! ```
//!
//! which is the same law without a branch, with a potential that is zero for a separated contact
//! and never negative, and free of cancellation. It holds across a gap (`phi > 0`): there the
//! contact engages exactly when `v_n < -phi/substep`.
//!
//! A contact may be bonded: particles that were pressed onto an adhesive surface hold on to it with
//! a tension of at most `f_a`, however wide the gap, until the bond ends between two substeps
//! (Dugdale 1960, "Yielding of steel sheets containing slits": a constant tensile stress over a
//! range of gaps). Within a substep the tension takes over where the compression ends, with the
//! stiffness of the contact up to its limit:
//!
//! ```text
//! w = max(v_n - v_hat, 0),   m = min(w, w_a),   w_a = f_a / (delta k):
//! gamma_n = -delta^2 k m,   l_n = delta^2 k m (w - m/2).
//! ```
//!
//! `gamma_n` falls with `v_n` on all of its pieces, so the potential stays convex; it stays zero at
//! `v_hat` and never negative. The stiff start stands for a jump of the force at contact, at which
//! a potential would have no derivative. Friction of a bonded contact is bounded by `mu (gamma_n0 +
//! substep f_a)`, with the tension counted in `gamma_n0`: adhesion presses the surfaces together as
//! a load from outside would (Derjaguin, Muller and Toporov 1975).

/// The normal part of the law of one contact over one substep, with its constants worked out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalContactModel {
    /// Normal velocity above which the contact gives no impulse, `v_hat` \[m/s\].
    pub release_velocity: f64,
    /// Coefficient `a` of `u` in the impulse \[kg\].
    pub linear: f64,
    /// Coefficient `b` of `u^2` in the impulse \[kg s/m\].
    pub quadratic: f64,
    /// Slope `substep^2 k` of the tension of a bonded contact \[kg\]; 0 without a bond.
    pub tension_slope: f64,
    /// Velocity beyond `v_hat` at which the tension is at its limit, `w_a` \[m/s\]; 0 without a
    /// bond.
    pub tension_range: f64,
}

impl NormalContactModel {
    /// The law for a signed distance `gap` \[m\] (negative when overlapping), `stiffness` \[N/m\],
    /// `dissipation` \[s/m\] (both not negative) and the substep \[s\] (positive).
    #[inline(always)]
    pub fn new(gap: f64, stiffness: f64, dissipation: f64, substep: f64) -> Self {
        let release_velocity = (-gap / substep).min(1.0 / dissipation);
        let linear = substep * stiffness * (substep + dissipation * gap).abs();
        let quadratic = substep * substep * stiffness * dissipation;
        Self { release_velocity, linear, quadratic, tension_slope: 0.0, tension_range: 0.0 }
    }

    /// The same law of a bonded contact, which carries tensions up to `tension` \[N\] (not
    /// negative; 0 for no bond); `stiffness` \[N/m\] and the substep \[s\] are those of the law.
    #[inline(always)]
    pub fn bonded(self, tension: f64, stiffness: f64, substep: f64) -> Self {
        if tension > 0.0 && stiffness > 0.0 {
            let tension_slope = substep * substep * stiffness;
            Self { tension_slope, tension_range: tension / (substep * stiffness), ..self }
        } else {
            self
        }
    }

    /// The normal impulse \[N s\] at the normal velocity `v_n` \[m/s\] (positive separates).
    /// Negative only for a bonded contact.
    pub fn impulse(&self, normal_velocity: f64) -> f64 {
        let approach = (self.release_velocity - normal_velocity).max(0.0);
        let (_, held) = self.parting(normal_velocity);
        approach * (self.linear + self.quadratic * approach) - self.tension_slope * held
    }

    /// How much faster than `v_hat` the contact parts, and the part of that over which the tension
    /// grows \[m/s\].
    fn parting(&self, normal_velocity: f64) -> (f64, f64) {
        let parting = (normal_velocity - self.release_velocity).max(0.0);
        (parting, parting.min(self.tension_range))
    }

    /// The potential \[J\] whose negative derivative by the normal velocity is the impulse; zero
    /// when separated and not bonded.
    pub fn potential(&self, normal_velocity: f64) -> f64 {
        let approach = (self.release_velocity - normal_velocity).max(0.0);
        let (parting, held) = self.parting(normal_velocity);
        approach * approach * (0.5 * self.linear + self.quadratic * approach / 3.0)
            + self.tension_slope * held * (parting - 0.5 * held)
    }

    /// The derivative of the impulse by the normal velocity \[kg\]: not positive; zero when
    /// separated and not bonded, or at the limit of the tension.
    pub fn impulse_derivative(&self, normal_velocity: f64) -> f64 {
        let approach = self.release_velocity - normal_velocity;
        if approach > 0.0 {
            -(self.linear + 2.0 * self.quadratic * approach)
        } else if approach < 0.0 && -approach < self.tension_range {
            -self.tension_slope
        } else {
            0.0
        }
    }
}

/// The normal impulse \[N s\] of a contact: see [`NormalContactModel`]. Used at the velocity of the
/// start of a substep it is the lagged impulse of the friction law.
///
/// `v_n` \[m/s\] positive separates, `gap` \[m\] negative overlaps, `k` \[N/m\], `d` \[s/m\],
/// `substep` \[s\].
pub fn normal_impulse(v_n: f64, gap: f64, k: f64, d: f64, substep: f64) -> f64 {
    NormalContactModel::new(gap, k, d, substep).impulse(v_n)
}

/// The potential \[J\] of [`normal_impulse`], zero when separated: `gamma_n = -d potential/d v_n`.
pub fn normal_potential(v_n: f64, gap: f64, k: f64, d: f64, substep: f64) -> f64 {
    NormalContactModel::new(gap, k, d, substep).potential(v_n)
}

/// The derivative \[kg\] of [`normal_impulse`] by the normal velocity.
pub fn normal_impulse_derivative(v_n: f64, gap: f64, k: f64, d: f64, substep: f64) -> f64 {
    NormalContactModel::new(gap, k, d, substep).impulse_derivative(v_n)
}

/// The smallest stiction tolerance \[m/s\] that the law resolves: below it friction is as good as
/// Coulomb's and its Hessian would overflow.
pub const SMALLEST_STICTION_TOLERANCE: f64 = 1e-12;

/// Potential \[J\], impulse on the particle \[N s\] and Hessian \[kg\] of one contact at a relative
/// velocity, in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactResponse {
    /// `l_c`, not negative.
    pub potential: f64,
    /// `gamma = -d l_c/d v_c`.
    pub impulse: [f64; 3],
    /// `G = d^2 l_c/d v_c^2`, symmetric positive semidefinite.
    pub hessian: [[f64; 3]; 3],
}

/// The whole law of one contact at the relative velocity `v_c` \[m/s\] (world axes): `normal` is a
/// unit vector, `friction_bound = mu gamma_n0` \[N s\], `stiction_tolerance` \[m/s\]. This is the
/// plain form; the solver's vectorised kernels are tested against it.
pub fn linearise_response(
    law: &NormalContactModel,
    normal: [f64; 3],
    friction_bound: f64,
    stiction_tolerance: f64,
    relative_velocity: [f64; 3],
) -> ContactResponse {
    let v = relative_velocity;
    let v_n = v[0] * normal[0] + v[1] * normal[1] + v[2] * normal[2];
    let v_t: [f64; 3] = std::array::from_fn(|a| v[a] - v_n * normal[a]);
    let v_s = stiction_tolerance.max(SMALLEST_STICTION_TOLERANCE);
    let slip_squared = v_t[0] * v_t[0] + v_t[1] * v_t[1] + v_t[2] * v_t[2];
    let s = (slip_squared + v_s * v_s).sqrt();
    let gamma_n = law.impulse(v_n);
    let stiffness_n = -law.impulse_derivative(v_n);
    let mut hessian = [[0.0; 3]; 3];
    for a in 0..3 {
        for b in 0..3 {
            let identity = f64::from(u8::from(a == b));
            let tangent = identity - normal[a] * normal[b] - v_t[a] * v_t[b] / (s * s);
            hessian[a][b] = friction_bound / s * tangent + stiffness_n * normal[a] * normal[b];
        }
    }
    ContactResponse {
        potential: law.potential(v_n) + friction_bound * slip_squared / (s + v_s),
        impulse: std::array::from_fn(|a| gamma_n * normal[a] - friction_bound * v_t[a] / s),
        hessian,
    }
}
