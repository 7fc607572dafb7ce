//! Settings of the solvers.

use serde::{Deserialize, Serialize};

use super::impedance::ImpedanceCurve;
use crate::out_of_range::OutOfRange;
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

/// Stiffness K and damping D of a contact for each kilogram of `r/(1 - r)` times the mass that it
/// feels, with its impedance r (equation 12): `kappa` and `delta`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Gains {
    /// Independent of the step: `kappa = w^2`, `delta = 2 z w`.
    Physical {
        /// Frequency w, finite and positive \[rad/s\].
        #[serde(default = "usual_frequency")]
        frequency: f64,
        /// Damping ratio z, finite and not negative \[-\].
        #[serde(default = "usual_damping_ratio")]
        damping_ratio: f64,
    },
    /// As in the paper, valid for one step, 2 ms there: `kappa = k_user/dt`, `delta = d_user/dt`
    /// (equation 11).
    PerStep {
        /// k_user, finite and positive \[1/s\].
        stiffness: f64,
        /// d_user, finite and not negative \[-\].
        damping: f64,
    },
}

fn usual_frequency() -> f64 {
    400.0
}

fn usual_damping_ratio() -> f64 {
    1.0
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

/// How the closed-form solver finds contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// At the velocities that bodies would have with all contacts: they stick, carry what rests on
    /// them, and long steps are stable.
    #[default]
    Predicted,
    /// As published, equations 2 to 13. Contact acts where surfaces overlap, as with MuJoCo's margin
    /// of 0.
    Published,
}

/// Figures of the closed-form solver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ComFreeSettings {
    /// The form.
    pub form: Form,
    /// How stiff and damped contacts are against the mass they feel.
    pub gains: Gains,
    /// Directions of a sliding or rolling cone, even and at least 4. The published impedance is
    /// defined for 4; with others it is scaled.
    pub facets: usize,
    /// Largest speed \[m/s\] at which contact alone separates overlapping surfaces; finite and
    /// positive. The published form has no bound.
    pub separation_speed: f64,
    /// Impedance of joint limits, dry joints and equalities in the published form; in the other
    /// they are near-rigid. Scene files do not have it.
    #[serde(skip)]
    pub joints: ImpedanceCurve,
}

impl Default for ComFreeSettings {
    fn default() -> Self {
        Self {
            form: Form::Predicted,
            gains: Gains::Physical { frequency: usual_frequency(), damping_ratio: usual_damping_ratio() },
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
        if let Some(figure) = self.out_of_range().next() {
            return Err(SimulationError::figure("closed-form solver", figure));
        }
        self.joints.validate("closed-form solver, joints")
    }

    /// The figures that are out of range, without those of `joints`.
    pub fn out_of_range(&self) -> impl Iterator<Item = OutOfRange> {
        let gains = match self.gains {
            Gains::Physical { frequency, damping_ratio } => [
                OutOfRange::unless_positive("gains.frequency", frequency, "rad/s"),
                OutOfRange::unless_not_negative("gains.damping_ratio", damping_ratio, ""),
            ],
            Gains::PerStep { stiffness, damping } => [
                OutOfRange::unless_positive("gains.stiffness", stiffness, "1/s"),
                OutOfRange::unless_not_negative("gains.damping", damping, ""),
            ],
        };
        let facets = self.facets;
        let holds = (4..=MOST_FACETS).contains(&facets) && facets.is_multiple_of(2);
        let others = [
            OutOfRange::unless(holds, "facets", facets as f64, "", "even and in [4, 1024]"),
            OutOfRange::unless_positive("separation_speed", self.separation_speed, "m/s"),
        ];
        gains.into_iter().chain(others).flatten()
    }
}
