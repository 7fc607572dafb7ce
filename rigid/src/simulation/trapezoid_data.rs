//! What the trapezoid rule keeps of a step, and its weights.

use crate::multibody::{LinkId, State};
use nalgebra::Vector3;

/// Weight of the end of the step for a force of the rate `z`: as a trapezoid where it does not
/// overshoot.
pub(super) fn end_weight(z: f64) -> f64 {
    if z > 2.0 { 1.0 - 1.0 / z } else { 0.5 }
}

/// What the contacts of two links share: the rates of their normal forces and of friction, the
/// largest of both ends of the step.
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
    /// Of each degree of freedom alone, at the predicted end \[1/kg, 1/(kg m^2)\].
    pub inverse_inertia: Vec<f64>,
    /// The end of the step if nothing but gravity acted on jointed bodies, and nothing at all on
    /// free ones.
    pub free: State,
    /// Whether anything acts on a tree.
    pub touched: Vec<bool>,
    /// Velocities of the second half of the step, of trees that nothing acts on against their
    /// motion.
    pub change: Vec<f64>,
    /// Bias forces at both ends.
    pub bias: [Vec<f64>; 2],
    /// Force on the second link of each contact at the beginning, weighted.
    pub contact_forces: Vec<Vector3<f64>>,
    /// Effort of each actuator at the beginning, weighted.
    pub efforts: Vec<f64>,
}
