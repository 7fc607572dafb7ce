//! One contact of a step: its effective mass, its gains, and its impulse at given velocities.

use nalgebra::{Matrix3, Vector3};

use super::facets::Facets;
use super::settings::ComFreeSettings;
use super::trees::AxialGain;
use crate::simulation::ContactCandidate;

/// Stiction tolerance of spin over that of sliding \[rad/m\].
const SPIN_STICTION_RATIO: f64 = 10.0;

/// Tolerance of a predicted velocity, as a fraction of the velocity without contact.
const PREDICTION_TOLERANCE: f64 = 0.01;

/// Mass times the trace of the mobility of a free box's corner, whatever its sides (equation 12):
/// `3 + sum_i (r^2 - r_i^2) m/I_i`.
const CORNER: f64 = 12.0;

/// A friction cone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cone {
    /// Coefficient; of torsional and rolling friction a length \[m\].
    pub mu: f64,
    /// Stiction tolerance \[m/s, rad/s\].
    pub stiction_speed: f64,
    /// Slope of friction over velocity \[N s/(m/s), N m s/(rad/s)\].
    pub gain: f64,
    /// Whether it slides: its impulse is then at the bound.
    pub is_sliding: bool,
}

/// A contact. Velocities are those of the second body against the first, world axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ImpedanceContact {
    /// Its number in the problem.
    pub index: u32,
    pub normal: Vector3<f64>,
    pub tangents: [Vector3<f64>; 2],
    pub distance: f64,
    /// Index among the spins, if it has torsional or rolling friction.
    pub spin: Option<u32>,
    /// Linear and angular velocity without contact \[m/s, rad/s\].
    pub smooth: [Vector3<f64>; 2],
    /// `J M^-1 J^T` along the normal, in the plane (mean), about the normal and about the plane's
    /// axes (mean).
    pub mobility: [f64; 4],
    /// `m(phi)` of equation 12, or more if it may support more \[kg\].
    pub mass: f64,
    /// K \[N/m\], D \[N s/m\].
    pub stiffness: f64,
    pub damping: f64,
    /// Normal impulse `gain (target - v_n)+`.
    pub gain: f64,
    pub target: f64,
    /// Whether it is in the matrix of the trees.
    pub active: bool,
    /// Normal impulse \[N s\].
    pub normal_impulse: f64,
    /// Sliding, torsional, rolling.
    pub cones: [Cone; 3],
}

impl ImpedanceContact {
    /// The contact of the candidate numbered `index`; `friction` is the coefficient of sliding at
    /// its present slip.
    pub fn new(index: u32, candidate: &ContactCandidate, friction: f64) -> Self {
        let n = candidate.normal;
        // The first tangent is as close to x as possible: on level ground the directions are those
        // of the axes.
        let aside = if n.x.abs() < 0.9 { Vector3::x() } else { Vector3::y() };
        let first = (aside - n * n.dot(&aside)).normalize();
        let cone = |mu: f64, stiction_speed: f64| Cone { mu, stiction_speed, ..Cone::default() };
        let stiction_speed = candidate.stiction_tolerance;
        Self {
            index,
            normal: n,
            tangents: [first, n.cross(&first)],
            distance: candidate.distance,
            spin: None,
            smooth: [Vector3::zeros(); 2],
            mobility: [0.0; 4],
            mass: 0.0,
            stiffness: 0.0,
            damping: 0.0,
            gain: 0.0,
            target: 0.0,
            active: false,
            normal_impulse: 0.0,
            cones: [
                cone(friction, stiction_speed),
                cone(candidate.torsional_friction, SPIN_STICTION_RATIO * stiction_speed),
                cone(candidate.rolling_friction, SPIN_STICTION_RATIO * stiction_speed),
            ],
        }
    }

    /// Sets the linear and angular mobilities of its two sides.
    pub fn set_mobility(&mut self, linear: [Matrix3<f64>; 2], angular: [Matrix3<f64>; 2]) {
        for (kind, sides) in [linear, angular].iter().enumerate() {
            let sum = sides[0].trace() + sides[1].trace();
            let along = self.normal.dot(&((sides[0] + sides[1]) * self.normal));
            self.mobility[2 * kind] = along;
            self.mobility[2 * kind + 1] = 0.5 * (sum - along).max(0.0);
        }
    }

    /// Sets K and D of equation 11 with the trace of the mobilities of equation 12, or with the
    /// mass \[kg\] that it may support, which the two sides alone do not determine.
    pub fn set_stiffness_and_damping(
        &mut self,
        candidate: &ContactCandidate,
        settings: &ComFreeSettings,
        dt: f64,
        supported_mass: f64,
    ) {
        let [kappa, delta] = settings.gains.rates(dt);
        let trace = self.mobility[0] + 2.0 * self.mobility[1];
        // Across a gap the depth is zero.
        let ratio = candidate.impedance.ratio((-self.distance).max(0.0));
        self.mass = if trace > 0.0 { ratio * (1.0 / trace).max(supported_mass / CORNER) } else { 0.0 };
        self.stiffness = kappa * self.mass;
        self.damping = delta * self.mass;
        if trace == 0.0 {
            // Neither side can move: the material's stiffness applies.
            self.stiffness = candidate.stiffness;
        }
    }

    /// Finds the gain of the step and its target velocity.
    pub fn set_gain_and_target(&mut self, dt: f64) {
        self.gain = dt * (self.stiffness * dt + self.damping);
        self.target = if self.distance > 0.0 {
            // The gap may close, but not become negative.
            -self.distance / dt
        } else if self.gain > 0.0 {
            -self.distance * self.stiffness * dt / self.gain
        } else {
            0.0
        };
    }

    /// Lowers the target so that the surfaces separate at `most` \[m/s\] at most, where their
    /// normal velocity \[m/s\] is `smooth` without and `predicted` with contacts. A contact that
    /// carries a load does not separate them.
    pub fn bound_separation(&mut self, smooth: f64, predicted: f64, most: f64) {
        if predicted > most && self.target > 0.0 {
            // Linear in the target: `smooth + part (target - smooth)`.
            let part = (predicted - smooth) / (self.target - smooth);
            let allowed = if part > 0.0 { (most - smooth * (1.0 - part)) / part } else { 0.0 };
            self.target = allowed.clamp(0.0, self.target);
        }
    }

    /// Tolerance of its predicted velocity \[m/s\].
    pub fn velocity_tolerance(&self) -> f64 {
        self.cones[0].stiction_speed.max(PREDICTION_TOLERANCE * self.smooth[0].norm())
    }

    /// Whether a prediction includes its normal impulse or its friction.
    pub fn acts(&self) -> bool {
        self.active || self.cones[0].gain > 0.0
    }

    /// Whether a prediction includes its torsional and rolling friction.
    pub fn resists_turning(&self) -> bool {
        self.cones[1].gain + self.cones[2].gain > 0.0
    }

    /// Gain of the velocity of the point: normal and in the plane.
    pub fn linear_gain(&self) -> AxialGain {
        self.gain_of(if self.active { self.gain } else { 0.0 }, self.cones[0].gain)
    }

    /// Gain of the angular velocity: about the normal and about the plane's axes.
    pub fn angular_gain(&self) -> AxialGain {
        self.gain_of(self.cones[1].gain, self.cones[2].gain)
    }

    fn gain_of(&self, along: f64, across: f64) -> AxialGain {
        AxialGain { axis: self.normal.into(), along, across }
    }

    /// Impulse \[N s\] of the linearised contact model at the velocity `v` \[m/s\].
    pub fn linear_impulse(&self, v: &Vector3<f64>) -> Vector3<f64> {
        let v_n = self.normal.dot(v);
        let normal_impulse = if self.active { self.gain * (self.target - v_n) } else { 0.0 };
        self.normal * (normal_impulse + self.cones[0].gain * v_n) - v * self.cones[0].gain
    }

    /// Moment \[N m s\] of the linearised contact model at the angular velocity `w` \[rad/s\].
    pub fn angular_impulse(&self, w: &Vector3<f64>) -> Vector3<f64> {
        let about = self.normal * self.normal.dot(w);
        -about * self.cones[1].gain - (w - about) * self.cones[2].gain
    }

    /// Normal impulse \[N s\] at the normal velocity `v_n` \[m/s\]. A contact outside the trees'
    /// matrix resists with its own mobility.
    pub fn normal_impulse_at(&self, v_n: f64) -> f64 {
        let implicit = if self.active { 1.0 } else { 1.0 + self.gain * self.mobility[0] };
        self.gain / implicit * (self.target - v_n).max(0.0)
    }

    /// Slip in the plane \[m/s\], about the normal and about the plane's axes \[rad/s\].
    pub fn slips(&self, v: &Vector3<f64>, w: &Vector3<f64>) -> [f64; 3] {
        let n = &self.normal;
        let across = |x: &Vector3<f64>| (x - n * n.dot(x)).norm();
        [across(v), n.dot(w).abs(), across(w)]
    }

    /// Components of a vector in the plane.
    pub fn in_plane(&self, x: &Vector3<f64>) -> [f64; 2] {
        self.tangents.map(|t| t.dot(x))
    }

    /// Linear impulse and moment at the velocities `v` and `w`, within the cones of the normal
    /// impulse `normal_impulse`.
    pub fn impulse(
        &self,
        v: &Vector3<f64>,
        w: &Vector3<f64>,
        facets: &Facets,
    ) -> (Vector3<f64>, Vector3<f64>) {
        let n = self.normal;
        let plane = |x: [f64; 2]| self.tangents[0] * x[0] + self.tangents[1] * x[1];
        let [sliding, torsion, rolling] = &self.cones;
        let linear =
            n * self.normal_impulse + plane(sliding.resist(self.in_plane(v), self.normal_impulse, facets));
        if self.spin.is_none() {
            return (linear, Vector3::zeros());
        }
        let about = torsion.gain * -n.dot(w);
        let bound = torsion.mu * self.normal_impulse;
        let about = if torsion.is_sliding { bound.copysign(about) } else { about.clamp(-bound, bound) };
        (linear, n * about + plane(rolling.resist(self.in_plane(w), self.normal_impulse, facets)))
    }
}

impl Cone {
    /// Impulse against the slip `v`, within the polygon of the normal impulse `normal_impulse`.
    fn resist(&self, v: [f64; 2], normal_impulse: f64, facets: &Facets) -> [f64; 2] {
        let bound = self.mu * normal_impulse;
        let speed = v[0].hypot(v[1]);
        if bound <= 0.0 || speed == 0.0 {
            return [0.0; 2];
        }
        let factor = if self.is_sliding { -bound / speed.max(self.stiction_speed) } else { -self.gain };
        facets.clip(v.map(|x| factor * x), bound)
    }
}
