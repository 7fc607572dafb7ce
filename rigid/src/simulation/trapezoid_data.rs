//! Data of the trapezoid rule for a step, and its weights.

use crate::multibody::{LinkId, State};
use nalgebra::Vector3;

/// Weight of the end of the step for a force of the rate `z`: that of the trapezoid rule if it does
/// not overshoot.
pub(super) fn end_weight(z: f64) -> f64 {
    if z > 2.0 { 1.0 - 1.0 / z } else { 0.5 }
}

/// Largest rates of the normal forces and of friction of the contacts of two links, over both ends
/// of the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairRates {
    pub links: [Option<LinkId>; 2],
    pub normal: f64,
    pub friction: f64,
}

/// Buffers of the corrector.
#[derive(Clone, Debug, Default)]
pub(super) struct Trapezoid {
    pub pairs: Vec<PairRates>,
    /// Inverse inertia of each degree of freedom alone, at the predicted end
    /// \[1/kg, 1/(kg m^2)\].
    pub inverse_inertia: Vec<f64>,
    /// The end of the step under gravity alone for jointed bodies, and without forces for free
    /// ones.
    pub free: State,
    /// Whether forces act on a tree.
    pub touched: Vec<bool>,
    /// Velocity change in the second half of the step, of trees without forces.
    pub change: Vec<f64>,
    /// Bias forces at both ends.
    pub bias: [Vec<f64>; 2],
    /// Force on the second link of each contact at the beginning, weighted.
    pub contact_forces: Vec<Vector3<f64>>,
    /// Effort of each actuator at the beginning, weighted.
    pub efforts: Vec<f64>,
}
