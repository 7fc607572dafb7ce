//! The potentials of the constraints, one constraint at a time.
//!
//! A law is a convex potential of the constraint's velocity; its impulse is minus the gradient, and
//! its Hessian is positive semidefinite. All of them are finite for every finite velocity.

use core::f64::consts::PI;

use nalgebra::Vector3;

/// Potential, impulse (minus the gradient) and Hessian at a velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation<const N: usize> {
    /// Potential \[J\].
    pub potential: f64,
    /// Impulse \[N s, N m s\].
    pub impulse: [f64; N],
    /// Hessian, symmetric \[kg, kg m^2\].
    pub hessian: [[f64; N]; N],
}

/// A constraint of `N` velocities.
pub trait ConstraintPotential<const N: usize> {
    /// Potential, impulse and Hessian at the velocity `v` \[m/s, rad/s\].
    fn response(&self, v: &[f64; N]) -> Evaluation<N>;

    /// The Hessian of a quadratic that touches the potential at `v` and lies above it: for friction
    /// the secant, which accounts for the kink between sliding and sticking. By default the
    /// Hessian.
    fn secant(&self, v: &[f64; N]) -> [[f64; N]; N] {
        self.response(v).hessian
    }

    /// Potential and its first two derivatives along `dv`.
    #[inline]
    fn along(&self, v: &[f64; N], dv: &[f64; N]) -> [f64; 3] {
        let r = self.response(v);
        let mut sums = [r.potential, 0.0, 0.0];
        for a in 0..N {
            sums[1] -= r.impulse[a] * dv[a];
            for b in 0..N {
                sums[2] += dv[a] * r.hessian[a][b] * dv[b];
            }
        }
        sums
    }
}

/// Parameters of the contact of two bodies. Velocities are those of the second body against the
/// first, world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactParameters {
    /// From the first body to the second.
    pub normal: Vector3<f64>,
    /// Signed distance \[m\], negative when they overlap.
    pub distance: f64,
    /// Stiffness \[N/m\].
    pub stiffness: f64,
    /// Hunt and Crossley's dissipation \[s/m\].
    pub dissipation: f64,
    /// Static coefficient of friction.
    pub static_friction: f64,
    /// Dynamic coefficient of friction, at most the static one.
    pub dynamic_friction: f64,
    /// Stiction tolerance \[m/s\].
    pub stiction_tolerance: f64,
    /// Mobility w of the two bodies at the contact, 2.65 (1/m_A + 1/m_B) for free bodies \[1/kg\].
    pub mobility: f64,
}

impl ContactParameters {
    /// Elastic force `f_0 = -k phi` \[N\], negative across a gap.
    pub fn elastic_force(&self) -> f64 {
        -self.stiffness * self.distance
    }

    /// Hunt and Crossley's normal force \[N\] at the present overlap and the normal velocity `v_n`
    /// \[m/s\].
    pub fn normal_force(&self, v_n: f64) -> f64 {
        self.elastic_force().max(0.0) * (1.0 - self.dissipation * v_n).max(0.0)
    }

    /// Velocity \[m/s\] that regularises friction of the coefficient `friction` whose normal
    /// impulse in the step is `normal` \[N s\].
    fn regularisation(&self, friction: f64, normal: f64) -> f64 {
        self.stiction_tolerance.max(friction * SIGMA * self.mobility * normal)
    }

    /// Friction \[N\] at the velocity `v` \[m/s\] under the normal force `normal` \[N\],
    /// regularised as for a step of `dt` \[s\].
    pub fn friction_force(&self, v: &Vector3<f64>, normal: f64, friction: f64, dt: f64) -> Vector3<f64> {
        let slip = v - self.normal * self.normal.dot(v);
        slip * (-friction * normal / slip.norm().hypot(self.regularisation(friction, dt * normal)))
    }

    /// What the normal force and friction lose with velocity at `v` [N s/m]: elasticity, which acts
    /// on `dt v`, and dissipation; friction's secant.
    pub fn gains(&self, v: &Vector3<f64>, normal: f64, friction: f64, dt: f64) -> [f64; 2] {
        let slip = (v - self.normal * self.normal.dot(v)).norm();
        let damping = self.elastic_force().max(0.0) * self.dissipation;
        let secant = friction * normal / slip.hypot(self.regularisation(friction, dt * normal));
        [dt * self.stiffness + damping, secant]
    }

    /// Coefficient of friction at the slip speed `slip` [m/s]: static to some ten times the
    /// stiction tolerance, then falling to dynamic (Kurtz and Castro 2025, equation 8).
    pub fn friction_at(&self, slip: f64) -> f64 {
        let s = |y: f64| y / (1.0 + y * y).sqrt();
        let x = slip / self.stiction_tolerance;
        let fall = 0.5 * (1.0 - s(x - 10.0) / s(10.0));
        self.dynamic_friction + (self.static_friction - self.dynamic_friction) * fall
    }
}

/// Relative regularisation of friction against the mobility. Castro et al. (2023) have 1e-3, with
/// which a light body in a strong grip creeps at long steps: a peg of 8 g between fingers crept by
/// 0.23 mm/s at an accuracy of 1e-3, with a stiction tolerance of 0.1 mm/s.
const SIGMA: f64 = 1e-5;

/// The law of a contact over one step: Hunt and Crossley's normal force, implicit in the velocity,
/// and friction whose bound is lagged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPotential {
    normal: Vector3<f64>,
    /// The normal velocity at which the force ends.
    release: f64,
    /// `gamma_n = u (a + b u)` with u the velocity below release.
    linear: f64,
    quadratic: f64,
    /// `mu n_0` \[N s\].
    friction_bound: f64,
    /// Velocity that regularises friction \[m/s\].
    regularisation: f64,
}

impl ContactPotential {
    /// The law of `point` over a step of `dt` \[s\]. `lagged_force` is the normal force f_n0 \[N\]
    /// that bounds friction and `friction` the coefficient, both as at the start of the step.
    pub fn new(point: &ContactParameters, dt: f64, lagged_force: f64, friction: f64) -> Self {
        let (k, d, f0) = (point.stiffness, point.dissipation, point.elastic_force());
        let elastic_release = f0 / (dt * k);
        let bound_release = if d > 0.0 { 1.0 / d } else { f64::INFINITY };
        // gamma_n = dt (f0 - dt k v)(1 - d v), about the root that comes first.
        let (release, linear) = if elastic_release <= bound_release {
            (elastic_release, dt * dt * k * (1.0 - d * elastic_release))
        } else {
            (bound_release, dt * (d * f0 - dt * k))
        };
        let n0 = dt * lagged_force;
        let regularisation = point.regularisation(friction, n0);
        Self {
            normal: point.normal,
            release,
            linear,
            quadratic: dt * dt * k * d,
            friction_bound: friction * n0,
            regularisation,
        }
    }

    /// The same with the normal impulse and friction weighted.
    pub fn weighted(self, [normal, friction]: [f64; 2]) -> Self {
        Self {
            linear: normal * self.linear,
            quadratic: normal * self.quadratic,
            friction_bound: friction * self.friction_bound,
            ..self
        }
    }

    /// Normal impulse \[N s\] at the normal velocity `v_n` \[m/s\].
    pub fn normal_impulse(&self, v_n: f64) -> f64 {
        let u = (self.release - v_n).max(0.0);
        u * (self.linear + self.quadratic * u)
    }

    /// Normal, from the first body to the second.
    pub(crate) fn normal(&self) -> &Vector3<f64> {
        &self.normal
    }

    /// The secant of friction at the velocity `v` [m/s]: its impulse is this times the slip \[kg\].
    pub(crate) fn friction_secant(&self, v: &[f64; 3]) -> f64 {
        if self.friction_bound == 0.0 {
            return 0.0;
        }
        let v = Vector3::from(*v);
        let slip = v - self.normal * self.normal.dot(&v);
        self.friction_bound / slip.norm().hypot(self.regularisation)
    }
}

impl ContactPotential {
    /// Response with the part of friction's Hessian that lowers it along the slip scaled by
    /// `hessian_blend`: 1 gives the Hessian, 0 the secant.
    #[inline]
    fn blended_hessian(&self, v: &[f64; 3], hessian_blend: f64) -> Evaluation<3> {
        let (n, v) = (&self.normal, Vector3::from(*v));
        let v_n = n.dot(&v);
        let t = v - n * v_n;
        let eps = self.regularisation;
        let slip = t.norm_squared();
        let s = (slip + eps * eps).sqrt();
        let c = self.friction_bound / s;
        let u = (self.release - v_n).max(0.0);
        let gamma_n = u * (self.linear + self.quadratic * u);
        let k_n = if u > 0.0 { self.linear + 2.0 * self.quadratic * u } else { 0.0 };
        // The slip's direction before its square: c/s^2 alone overflows at no slip.
        let e = t / s;
        let mut hessian = [[0.0; 3]; 3];
        for a in 0..3 {
            for b in 0..3 {
                hessian[a][b] = (k_n - c) * (n[a] * n[b]) - hessian_blend * c * (e[a] * e[b]);
            }
            hessian[a][a] += c;
        }
        Evaluation {
            potential: u * u * (0.5 * self.linear + self.quadratic * u / 3.0)
                + self.friction_bound * slip / (s + eps),
            impulse: (n * gamma_n - t * c).into(),
            hessian,
        }
    }
}

impl ConstraintPotential<3> for ContactPotential {
    fn response(&self, v: &[f64; 3]) -> Evaluation<3> {
        self.blended_hessian(v, 1.0)
    }

    fn secant(&self, v: &[f64; 3]) -> [[f64; 3]; 3] {
        self.blended_hessian(v, 0.0).hessian
    }

    /// Without the Hessian: along a line, dot products are enough.
    #[inline]
    fn along(&self, v: &[f64; 3], dv: &[f64; 3]) -> [f64; 3] {
        let (n, v, dv) = (&self.normal, Vector3::from(*v), Vector3::from(*dv));
        let (v_n, dv_n) = (n.dot(&v), n.dot(&dv));
        let (t, dt) = (v - n * v_n, dv - n * dv_n);
        let (slip, cross) = (t.norm_squared(), t.dot(&dt));
        let eps = self.regularisation;
        let s = (slip + eps * eps).sqrt();
        let inverse = 1.0 / s;
        let (c, turned) = (self.friction_bound * inverse, cross * inverse);
        let u = (self.release - v_n).max(0.0);
        let k_n = if u > 0.0 { self.linear + 2.0 * self.quadratic * u } else { 0.0 };
        [
            u * u * (0.5 * self.linear + self.quadratic * u / 3.0) + self.friction_bound * slip / (s + eps),
            c * cross - u * (self.linear + self.quadratic * u) * dv_n,
            k_n * dv_n * dv_n + c * (dt.norm_squared() - turned * turned).max(0.0),
        ]
    }
}

/// Fraction of the step that a near-rigid constraint's period is (Castro et al. 2022).
const BETA: f64 = 0.1;
/// Steps shorter than this make a constraint no stiffer \[s\].
const SHORTEST: f64 = 1e-4;

/// Time scale tau \[s\] and regularisation R \[1/kg\] of a near-rigid constraint of mobility `w`
/// \[1/kg\] over a step.
fn near_rigid(dt: f64, mobility: f64) -> (f64, f64) {
    let bounded = dt.max(SHORTEST);
    let tau = BETA * bounded / PI;
    (tau, (BETA * bounded).powi(2) * mobility / (4.0 * PI * PI * dt * (dt + tau)))
}

/// A joint beyond a limit returns with the speed `min(x/T, s)` at a distance x [rad, m]: time
/// constant T \[s\] and speed s \[rad/s, m/s\].
const RETURN_TIME: f64 = 0.1;
const RETURN_SPEED: f64 = 0.5;
/// Up to here beyond a limit a joint rests on it [rad, m]: near-rigid limits give far less under
/// any load. Farther out it cannot have got by a step.
const RESTING_DEPTH: f64 = 1e-3;

/// A joint limit: near-rigid, one-sided. A joint farther beyond it than any load would press it
/// started there: it returns at a bounded speed and cannot move faster, so that it comes to rest at
/// the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitPotential {
    /// 1 at a lower limit, -1 at an upper one.
    sign: f64,
    target: f64,
    /// Whether the joint is led back: two-sided.
    is_recovering: bool,
    stiffness: f64,
    gap: f64,
    mobility: f64,
}

impl LimitPotential {
    /// `gap` \[rad, m\] is how far the joint is from the limit, negative beyond it; `mobility`
    /// \[1/(kg m^2), 1/kg\] the inverse of the inertia it feels.
    pub fn new(gap: f64, upper: bool, mobility: f64, dt: f64) -> Self {
        let (tau, r) = near_rigid(dt, mobility);
        let sign = if upper { -1.0 } else { 1.0 };
        let (at_once, beyond) = (-gap / (dt + tau), -gap);
        let target = at_once.min((beyond.max(RESTING_DEPTH) / RETURN_TIME).min(RETURN_SPEED));
        // As stiff against a load as at once: slower coming back is not softer.
        let stiffer = if beyond > 0.0 { at_once / target } else { 1.0 };
        Self { sign, target, is_recovering: beyond > RESTING_DEPTH, stiffness: stiffer / r, gap, mobility }
    }

    /// 1 at a lower limit, -1 at an upper one.
    pub(crate) fn sign(&self) -> f64 {
        self.sign
    }

    /// How far the joint is from the limit \[rad, m\].
    pub(crate) fn gap(&self) -> f64 {
        self.gap
    }

    /// The inverse of the inertia it feels \[1/(kg m^2), 1/kg\].
    pub(crate) fn mobility(&self) -> f64 {
        self.mobility
    }

    /// Velocity away from the limit \[rad/s, m/s\] below which it pushes.
    pub(crate) fn target(&self) -> f64 {
        self.target
    }

    /// Impulse against the velocity below that \[N m s/(rad/s), N s/(m/s)\].
    pub(crate) fn stiffness(&self) -> f64 {
        self.stiffness
    }

    /// Whether it acts at the velocity `v` \[rad/s, m/s\].
    pub(crate) fn is_reached(&self, v: f64) -> bool {
        self.is_recovering || self.sign * v < self.target
    }
}

impl ConstraintPotential<1> for LimitPotential {
    fn response(&self, v: &[f64; 1]) -> Evaluation<1> {
        let reached = self.is_reached(v[0]);
        let below = if reached { self.target - self.sign * v[0] } else { 0.0 };
        let hessian = if reached { self.stiffness } else { 0.0 };
        Evaluation {
            potential: 0.5 * self.stiffness * below * below,
            impulse: [self.sign * self.stiffness * below],
            hessian: [[hessian]],
        }
    }
}

/// A holonomic constraint, one row: near-rigid, two-sided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HolonomicPotential {
    target: f64,
    stiffness: f64,
    error: f64,
}

impl HolonomicPotential {
    /// `error` \[m, rad\] is the constraint's value, which should be 0; `mobility` as in
    /// [`LimitPotential::new`].
    pub fn new(error: f64, mobility: f64, dt: f64) -> Self {
        let (tau, r) = near_rigid(dt, mobility);
        Self { target: -error / (dt + tau), stiffness: 1.0 / r, error }
    }

    /// The constraint's value \[m, rad\].
    pub(crate) fn error(&self) -> f64 {
        self.error
    }

    /// The same with an error greater by `more` \[m, rad\].
    pub fn shifted(self, more: f64, dt: f64) -> Self {
        let (tau, _) = near_rigid(dt, 1.0);
        Self { target: self.target - more / (dt + tau), error: self.error + more, ..self }
    }
}

impl ConstraintPotential<1> for HolonomicPotential {
    fn response(&self, v: &[f64; 1]) -> Evaluation<1> {
        let short = self.target - v[0];
        Evaluation {
            potential: 0.5 * self.stiffness * short * short,
            impulse: [self.stiffness * short],
            hessian: [[self.stiffness]],
        }
    }
}

/// An actuator whose effort falls linearly with the velocity, `clamp(b - K v, +-e)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActuatorPotential {
    /// Effort at no velocity, b \[N m, N\].
    pub effort: f64,
    /// K, at least 0 \[N m s, N s/m\].
    pub gain: f64,
    /// Largest effort e \[N m, N\]; infinite where there is no limit.
    pub limit: f64,
    /// The step \[s\].
    pub dt: f64,
}

impl ConstraintPotential<1> for ActuatorPotential {
    fn response(&self, v: &[f64; 1]) -> Evaluation<1> {
        let wanted = self.effort - self.gain * v[0];
        let given = wanted.clamp(-self.limit, self.limit);
        let inside = wanted == given;
        let potential = if self.gain > 0.0 {
            // dt y^2 / 2K inside, continued by a line outside; less its value at rest, so that
            // small gains do not drown it.
            self.dt * given * (wanted - 0.5 * given) / self.gain - self.dt * self.rest_potential()
        } else {
            -self.dt * given * v[0]
        };
        let hessian = if inside { self.dt * self.gain } else { 0.0 };
        Evaluation { potential, impulse: [self.dt * given], hessian: [[hessian]] }
    }
}

impl ActuatorPotential {
    fn rest_potential(&self) -> f64 {
        let given = self.effort.clamp(-self.limit, self.limit);
        given * (self.effort - 0.5 * given) / self.gain
    }
}

/// Dry friction of a joint, with the same regularisation as that of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointFrictionPotential {
    bound: f64,
    regularisation: f64,
    mobility: f64,
}

impl JointFrictionPotential {
    /// `force` is the largest it resists with \[N m, N\], `tolerance` the rate that still counts as
    /// rest \[rad/s, m/s\].
    pub fn new(force: f64, tolerance: f64, mobility: f64, dt: f64) -> Self {
        let bound = force * dt;
        Self { bound, regularisation: tolerance.max(SIGMA * mobility * bound), mobility }
    }

    /// Largest impulse it resists with \[N m s, N s\].
    pub(crate) fn bound(&self) -> f64 {
        self.bound
    }

    /// The inverse of the inertia it feels \[1/(kg m^2), 1/kg\].
    pub(crate) fn mobility(&self) -> f64 {
        self.mobility
    }
}

impl ConstraintPotential<1> for JointFrictionPotential {
    fn secant(&self, v: &[f64; 1]) -> [[f64; 1]; 1] {
        [[self.bound / v[0].hypot(self.regularisation)]]
    }

    fn response(&self, v: &[f64; 1]) -> Evaluation<1> {
        let eps = self.regularisation;
        let s = v[0].hypot(eps);
        let (c, e) = (self.bound / s, eps / s);
        Evaluation {
            potential: self.bound * v[0] * (v[0] / (s + eps)),
            impulse: [-c * v[0]],
            hessian: [[c * e * e]],
        }
    }
}
