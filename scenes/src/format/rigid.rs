//! Integrator and contact of rigid bodies.

use pliant_rigid::comfree::ComFreeSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rigid bodies and robots: integrator, and default contact parameters between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rigid {
    /// The integrator.
    pub integrator: Integrator,
    /// Stiffness of a surface; two in contact are springs in series [N/m].
    pub stiffness: f64,
    /// Hunt-Crossley dissipation of a surface [s/m].
    pub dissipation: f64,
    /// Coefficient of restitution of a surface, in [0, 1] [-]; by default 1 without dissipation,
    /// else 0.
    pub restitution: Option<f64>,
    /// Stiction tolerance: the slip velocity below which regularised friction counts as sticking
    /// [m/s].
    pub stiction_tolerance: f64,
    /// Whether a step is solved again with the new normal forces if the lagged ones that bounded
    /// friction were wrong.
    pub refresh_friction: bool,
    /// The closed-form solver, where `rigid_solver` chooses it.
    pub comfree: ComFreeSettings,
}

impl Default for Rigid {
    fn default() -> Self {
        Self {
            integrator: Integrator::Fixed { step: None },
            stiffness: 1e6,
            dissipation: 10.0,
            restitution: None,
            stiction_tolerance: 1e-4,
            refresh_friction: true,
            comfree: ComFreeSettings::default(),
        }
    }
}

/// Solver of contact between rigid bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RigidSolver {
    /// One convex problem per step, solved to a tolerance (irrotational contact fields, Castro et
    /// al. 2023).
    #[default]
    Icf,
    /// Every contact in closed form (ComFree-Sim, Borse et al. 2026), for throughput. The published
    /// form has no iterations; the default takes a fixed number of passes over trees and contacts.
    Comfree,
}

/// What chooses the steps of rigid bodies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Integrator {
    /// Implicit Euler with fixed steps.
    Fixed {
        /// The step, at most the scene's `dt`; left out, it is `dt` [s].
        #[serde(default)]
        step: Option<f64>,
    },
    /// Implicit trapezoid rule with fixed steps: second order without contact.
    Trapezoid {
        /// The step, at most the scene's `dt`; left out, it is `dt` [s].
        #[serde(default)]
        step: Option<f64>,
    },
    /// Error control: steps as long as an accuracy allows (CENIC, Kurtz and Castro 2025).
    ErrorControlled {
        /// Largest error of a position in a step [rad, m].
        #[serde(default = "usual_accuracy")]
        accuracy: f64,
        /// Longest step [s].
        #[serde(default = "longest_step")]
        max_step: f64,
        /// Order of the steps; left out, first. The closed-form solver has no other. Second order
        /// is more accurate without contact and takes longer steps, in which motors lag more and
        /// joint limits yield more.
        #[serde(default)]
        order: Option<Order>,
    },
}

/// Order of error-controlled steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Step doubling: one whole step and two halves, which are kept: three solves.
    First,
    /// An implicit trapezoidal step corrects one of first order: two solves, three with holonomic
    /// constraints.
    Second,
}

fn usual_accuracy() -> f64 {
    1e-3
}

fn longest_step() -> f64 {
    0.1
}
