//! A step that may be refused: its ends, and how far they are apart.

use super::energy::EnergyFlows;
use crate::multibody::{LinkId, Model, State};

/// Ends of the whole step, of its first half, and of its second, which is kept; external states of
/// the halves advance together. The trapezoid rule keeps what it corrects there, and the prediction
/// of the end in the middle.
#[derive(Clone, Debug)]
pub(super) struct TrialStep {
    /// The beginning, after the impacts that rebound there.
    pub(super) begin: State,
    pub(super) full: (State, Vec<f64>),
    pub(super) middle: State,
    pub(super) halves: (State, Vec<f64>),
    /// Work and losses of what is kept, and its impulse on what belongs to no tree \[N s\].
    pub(super) energy: EnergyFlows,
    pub(super) environment_impulse: [f64; 3],
}

impl TrialStep {
    /// Room for the ends of steps from a state.
    pub(super) fn new(state: &State, external: &[f64]) -> Self {
        let end = || (state.clone(), external.to_vec());
        Self {
            begin: state.clone(),
            full: end(),
            middle: state.clone(),
            halves: end(),
            energy: EnergyFlows::default(),
            environment_impulse: [0.0; 3],
        }
    }

    /// Largest difference of a position or external state between the whole step and what is kept,
    /// infinite where it is not finite: the published norm (CENIC, section V-E), but that a place
    /// and an orientation are compared whole, by the Euclidean norm of their difference. By their
    /// components the steps would depend on the directions of the world's axes.
    pub(super) fn difference(&self, model: &Model) -> f64 {
        let (full, kept) = (&self.full, &self.halves);
        let mut error = 0.0_f64;
        for (k, link) in model.links().iter().enumerate() {
            let mut at = model.positions_of(LinkId(k)).start;
            for &size in link.joint.places() {
                let part = at..at + size;
                at = part.end;
                let squares =
                    full.0.q[part.clone()].iter().zip(&kept.0.q[part]).map(|(a, b)| (a - b) * (a - b));
                error = max_or_infinite(error, squares.sum::<f64>().sqrt());
            }
        }
        full.1.iter().zip(&kept.1).map(|(a, b)| (a - b).abs()).fold(error, max_or_infinite)
    }
}

/// The larger of an error and another, which counts as infinite where it is not finite.
fn max_or_infinite(error: f64, other: f64) -> f64 {
    if other.is_finite() { error.max(other) } else { f64::INFINITY }
}
