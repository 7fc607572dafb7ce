//! Settings of the solvers.

use super::impedance::ImpedanceCurve;
use crate::simulation::SimulationError;

/// Which solver makes the steps of a [`System`](crate::simulation::System).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RigidSolver {
    /// Irrotational contact fields: one convex problem a step, solved to a tolerance
    /// ([`icf`](crate::icf)).
    #[default]
    Icf,
    /// Contact in closed form ([`comfree`](crate::comfree)).
    ComFree(ComFreeSettings),
}

impl RigidSolver {
    /// Whether it minimises a convex function.
    pub(crate) fn is_convex(&self) -> bool {
        matches!(self, Self::Icf)
    }

    /// Whether it keeps to the published explicit step.
    pub(crate) fn is_published(&self) -> bool {
        matches!(self, Self::ComFree(ComFreeSettings { form: Form::Published, .. }))
    }
}

/// Stiffness and damping of contacts per effective mass, `K = kappa m(phi)` and `D = delta m(phi)`
/// with `m(phi)` of equation 12.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gains {
    /// Independent of the step: `kappa = w^2`, `delta = 2 z w`.
    Physical {
        /// w \[rad/s\], finite and positive.
        frequency: f64,
        /// z, finite and not negative.
        damping_ratio: f64,
    },
    /// As in the paper, valid for one step, 2 ms there: `kappa = k_user/dt`, `delta = d_user/dt`
    /// (equation 11).
    PerStep {
        /// k_user \[1/s\], finite and positive.
        stiffness: f64,
        /// d_user, finite and not negative.
        damping: f64,
    },
}

impl Gains {
    /// kappa \[1/s^2\] and delta \[1/s\] for a step of `dt` \[s\].
    pub fn rates(&self, dt: f64) -> [f64; 2] {
        match *self {
            Self::Physical { frequency, damping_ratio } => {
                [frequency * frequency, 2.0 * damping_ratio * frequency]
            }
            Self::PerStep { stiffness, damping } => [stiffness / dt, damping / dt],
        }
    }
}

/// Form of the closed-form solver; see [`comfree`](crate::comfree).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Contacts are evaluated at the predicted velocities with all contacts.
    #[default]
    Predicted,
    /// Equations 2 to 13 as printed. Only overlapping contacts act, as with MuJoCo's margin of 0.
    Published,
}

/// Settings of the closed-form solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComFreeSettings {
    /// The form.
    pub form: Form,
    /// Stiffness and damping.
    pub gains: Gains,
    /// Directions of a sliding or rolling cone, even and at least 4. The published impedance is
    /// defined for 4; with others it is scaled.
    pub facets: usize,
    /// Largest speed \[m/s\] at which contact alone separates overlapping surfaces; finite and
    /// positive. The published form has no bound.
    pub separation_speed: f64,
    /// Impedance of joint limits, dry joints and equalities in the published form; in the other
    /// they are near-rigid.
    pub joints: ImpedanceCurve,
}

impl Default for ComFreeSettings {
    fn default() -> Self {
        Self {
            form: Form::Predicted,
            gains: Gains::Physical { frequency: 400.0, damping_ratio: 1.0 },
            facets: 16,
            separation_speed: 0.5,
            joints: ImpedanceCurve::default(),
        }
    }
}

/// More facets than this are refused as a mistake.
const MOST_FACETS: usize = 1024;

impl ComFreeSettings {
    /// The published solver: k_user \[1/s\] and d_user of equation 11, four facets.
    pub fn published(stiffness: f64, damping: f64) -> Self {
        let gains = Gains::PerStep { stiffness, damping };
        Self { form: Form::Published, gains, facets: 4, ..Self::default() }
    }

    /// Checks that all values are in range.
    ///
    /// # Errors
    /// [`SimulationError::Value`] that names the setting.
    pub fn validate(&self) -> Result<(), SimulationError> {
        let fail = |field, value, unit, requirement| {
            Err(SimulationError::value("closed-form solver", field, value, unit, requirement))
        };
        let (first, second) = match self.gains {
            Gains::Physical { frequency, damping_ratio } => {
                (("frequency", frequency, "rad/s"), ("damping ratio", damping_ratio))
            }
            Gains::PerStep { stiffness, damping } => {
                (("stiffness per step", stiffness, "1/s"), ("damping per step", damping))
            }
        };
        if !(first.1.is_finite() && first.1 > 0.0) {
            return fail(first.0, first.1, first.2, "finite and positive");
        }
        if !(second.1.is_finite() && second.1 >= 0.0) {
            return fail(second.0, second.1, "", "finite and not negative");
        }
        if !(4..=MOST_FACETS).contains(&self.facets) || !self.facets.is_multiple_of(2) {
            return fail("facets", self.facets as f64, "", "even, at least 4 and at most 1024");
        }
        if !(self.separation_speed.is_finite() && self.separation_speed > 0.0) {
            return fail("separation speed", self.separation_speed, "m/s", "finite and positive");
        }
        self.joints.validate("closed-form solver, joints")
    }
}
