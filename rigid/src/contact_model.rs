//! The contact model of particles and of rigid bodies: compliant normal force with Hunt-Crossley
//! dissipation, fully implicit, and regularised friction with a lagged normal impulse (Castro et
//! al. 2023, "A Theory of Irrotational Contact Fields", the lagged model). Both convex solvers
//! evaluate these functions, that of the particles lane by lane.
//!
//! With the overlap `-phi` and the step of length `step`, the elastic force at the end of the step
//! is `f = k (-phi - step v_n)`, and the normal impulse `gamma_n = step f (1 - d v_n)` where both
//! factors are positive, else zero. Written about the velocity at which the contact separates,
//!
//! ```text
//! v_hat = min(-phi/step, 1/d),   u = max(v_hat - v_n, 0):
//! gamma_n = u (a + b u),   l_n = u^2 (a/2 + b u/3),   a = step k |step + d phi|,   b = step^2 k d,
//! ```
//!
//! which is the same without a branch, with a potential that is zero for a separated contact
//! and never negative, and free of cancellation. It holds across a gap (`phi > 0`): there the
//! contact engages exactly when `v_n < -phi/step`.
//!
//! A contact may be bonded: particles that were pressed onto an adhesive surface hold on to it with
//! a tension of at most `f_a`, however wide the gap, until the bond ends between two steps
//! (Dugdale 1960, "Yielding of steel sheets containing slits": a constant tensile stress over a
//! range of gaps). Within a step the tension takes over where the compression ends, with the
//! stiffness of the contact up to its limit:
//!
//! ```text
//! w = max(v_n - v_hat, 0),   m = min(w, w_a),   w_a = f_a / (step k):
//! gamma_n = -step^2 k m,   l_n = step^2 k m (w - m/2).
//! ```
//!
//! `gamma_n` falls with `v_n` on all of its pieces, so the potential stays convex; it stays zero at
//! `v_hat` and never negative. The stiff start stands for a jump of the force at contact, at which
//! a potential would have no derivative.
//!
//! Friction at the slip `v_t` has the potential `F (sqrt(|v_t|^2 + v_s^2) - v_s)` with the bound `F
//! = mu gamma_n0`. Of a bonded contact the bound is `mu (gamma_n0 + step f_a)`, with the tension
//! counted in `gamma_n0`: adhesion presses the surfaces together as a load from outside would
//! (Derjaguin, Muller and Toporov 1975).

/// Potential \[J\], impulse \[N s\] and Hessian \[kg\] along the normal.
#[derive(Clone, Copy, Debug)]
pub struct NormalResponse {
    /// Not negative; zero when separated and not bonded.
    pub potential: f64,
    /// Minus the derivative of the potential; negative only for a bonded contact.
    pub impulse: f64,
    /// Not negative; zero when separated and not bonded, or at the limit of the tension.
    pub hessian: f64,
}

/// One contact at a time: a third is taken by division, and a bond is a branch.
pub const ALONE: bool = false;
/// Contacts side by side: without division, which is slow there, and without branches. Thirds
/// differ from those of [`ALONE`] in the last bit; the results of both solvers are kept to the bit.
pub const IN_LANES: bool = true;

/// The normal part of the model of one contact over one step, with its constants worked out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalContactModel {
    /// Normal velocity above which the contact gives no impulse, `v_hat` \[m/s\].
    pub release_velocity: f64,
    /// Coefficient `a` of `u` in the impulse \[kg\].
    pub linear: f64,
    /// Coefficient `b` of `u^2` in the impulse \[kg s/m\].
    pub quadratic: f64,
    /// Slope `step^2 k` of the tension of a bonded contact \[kg\]; 0 without a bond.
    pub tension_slope: f64,
    /// Velocity beyond `v_hat` at which the tension is at its limit, `w_a` \[m/s\]; 0 without a
    /// bond.
    pub tension_range: f64,
}

impl NormalContactModel {
    /// The model for a signed distance `gap` \[m\] (negative when overlapping), `stiffness`
    /// \[N/m\], `dissipation` \[s/m\] (both not negative) and the step `step` \[s\] (positive).
    #[inline(always)]
    pub fn new(gap: f64, stiffness: f64, dissipation: f64, step: f64) -> Self {
        let release_velocity = (-gap / step).min(1.0 / dissipation);
        let linear = step * stiffness * (step + dissipation * gap).abs();
        let quadratic = step * step * stiffness * dissipation;
        Self { release_velocity, linear, quadratic, tension_slope: 0.0, tension_range: 0.0 }
    }

    /// The same between rigid bodies, by the elastic force and with a branch: another rounding of
    /// [`new`](Self::new), in which the results of rigid scenes are kept to the bit.
    #[inline]
    pub(crate) fn of_rigid_bodies(gap: f64, stiffness: f64, dissipation: f64, step: f64) -> Self {
        let (k, d, f0) = (stiffness, dissipation, -stiffness * gap);
        let elastic_release = f0 / (step * k);
        let bound_release = if d > 0.0 { 1.0 / d } else { f64::INFINITY };
        // gamma_n = step (f0 - step k v)(1 - d v), about the root that comes first.
        let (release_velocity, linear) = if elastic_release <= bound_release {
            (elastic_release, step * step * k * (1.0 - d * elastic_release))
        } else {
            (bound_release, step * (d * f0 - step * k))
        };
        Self {
            release_velocity,
            linear,
            quadratic: step * step * k * d,
            tension_slope: 0.0,
            tension_range: 0.0,
        }
    }

    /// The same of a bonded contact, which carries tensions up to `tension` \[N\] (not negative; 0
    /// for no bond); `stiffness` \[N/m\] and the step `step` \[s\] are those of the model.
    #[inline(always)]
    pub fn bonded(self, tension: f64, stiffness: f64, step: f64) -> Self {
        if tension > 0.0 && stiffness > 0.0 {
            let tension_slope = step * step * stiffness;
            Self { tension_slope, tension_range: tension / (step * stiffness), ..self }
        } else {
            self
        }
    }

    /// The response at the normal velocity `v_n` \[m/s\] (positive separates).
    #[inline(always)]
    pub fn at<const LANES: bool>(&self, v_n: f64) -> NormalResponse {
        let Self { release_velocity, linear, quadratic, tension_slope, tension_range } = *self;
        let u = (release_velocity - v_n).max(0.0);
        let cubic = if LANES { quadratic * u * (1.0 / 3.0) } else { quadratic * u / 3.0 };
        let mut response = NormalResponse {
            potential: u * u * (0.5 * linear + cubic),
            impulse: u * (linear + quadratic * u),
            hessian: if u > 0.0 { linear + 2.0 * quadratic * u } else { 0.0 },
        };
        if LANES || tension_slope > 0.0 {
            // The tension grows over `m` of `w`.
            let w = (v_n - release_velocity).max(0.0);
            let m = w.min(tension_range);
            let tension = tension_slope * m;
            response.potential += tension * (w - 0.5 * m);
            response.impulse -= tension;
            response.hessian += if w > 0.0 && w < tension_range { tension_slope } else { 0.0 };
        }
        response
    }

    /// The normal impulse \[N s\] at the normal velocity `v_n` \[m/s\].
    #[inline(always)]
    pub fn impulse(&self, v_n: f64) -> f64 {
        self.at::<ALONE>(v_n).impulse
    }
}

/// The normal impulse \[N s\] of a contact: see [`NormalContactModel`]. Used at the velocity of the
/// start of a step it is the lagged impulse of friction.
///
/// `v_n` \[m/s\] positive separates, `gap` \[m\] negative overlaps, `k` \[N/m\], `d` \[s/m\],
/// `step` \[s\].
pub fn normal_impulse(v_n: f64, gap: f64, k: f64, d: f64, step: f64) -> f64 {
    NormalContactModel::new(gap, k, d, step).impulse(v_n)
}

/// The smallest stiction tolerance \[m/s\] that the model resolves: below it friction is as good as
/// Coulomb's and its Hessian would overflow.
pub const SMALLEST_STICTION_TOLERANCE: f64 = 1e-12;

/// Friction of one contact over one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegularisedFriction {
    /// `F = mu gamma_n0` \[N s\].
    pub bound: f64,
    /// Slip that counts as sticking, `v_s` \[m/s\], positive.
    pub regularisation: f64,
}

impl RegularisedFriction {
    /// Potential \[J\] and secant \[kg\] at the square of the slip \[m^2/s^2\]: the impulse is
    /// minus the secant times the slip. The last is the root `s` of `|v_t|^2 + v_s^2` \[m/s\].
    #[inline(always)]
    pub fn at(&self, slip_squared: f64) -> [f64; 3] {
        let s = self.root(slip_squared);
        [self.potential(slip_squared, s), self.bound / s, s]
    }

    /// The secant and `1/s`, with one division.
    #[inline(always)]
    pub fn secant_and_inverse(&self, slip_squared: f64) -> [f64; 2] {
        let inverse = 1.0 / self.root(slip_squared);
        [self.bound * inverse, inverse]
    }

    /// The secant at a slip \[m/s\] whose square may overflow.
    #[inline]
    pub fn secant(&self, slip: f64) -> f64 {
        self.bound / slip.hypot(self.regularisation)
    }

    #[inline(always)]
    fn root(&self, slip_squared: f64) -> f64 {
        (slip_squared + self.regularisation * self.regularisation).sqrt()
    }

    #[inline(always)]
    fn potential(&self, slip_squared: f64, s: f64) -> f64 {
        self.bound * slip_squared / (s + self.regularisation)
    }
}

/// Where a contact is on a line of velocities, and how these change along it.
#[derive(Clone, Copy, Debug)]
pub struct LinePoint {
    /// Normal velocity \[m/s\], and its change.
    pub v_n: f64,
    /// See above.
    pub dv_n: f64,
    /// `|v_t|^2`, `v_t . dv_t` and `|dv_t|^2` \[m^2/s^2\].
    pub slip_squared: f64,
    /// See above.
    pub cross: f64,
    /// See above.
    pub change_squared: f64,
}

/// The potential of a contact \[J\] and its first two derivatives along a line. No matrix is needed
/// for them.
#[inline(always)]
pub fn along<const LANES: bool>(
    normal: &NormalContactModel,
    friction: &RegularisedFriction,
    at: &LinePoint,
) -> [f64; 3] {
    let response = normal.at::<LANES>(at.v_n);
    let s = friction.root(at.slip_squared);
    let inverse = 1.0 / s;
    let (secant, parallel) = (friction.bound * inverse, at.cross * inverse);
    [
        response.potential + friction.potential(at.slip_squared, s),
        secant * at.cross - response.impulse * at.dv_n,
        response.hessian * at.dv_n * at.dv_n + secant * (at.change_squared - parallel * parallel).max(0.0),
    ]
}
