//! Checks of the end of a step.

use super::error::SimulationError;
use crate::multibody::{LinkId, Model, State};

/// Largest velocity \[m/s, rad/s\] of a mechanism: a faster one has diverged.
pub const FASTEST: f64 = 1e6;

/// Largest distance of a free body or a slider from the world's origin \[m\]. Double precision
/// resolves a tenth of a micrometre there, as contact requires.
pub const FARTHEST: f64 = 1e9;

/// Refuses the end of a step of `dt` \[s\] if something is not finite or out of range.
pub(super) fn check(model: &Model, end: &State, dt: f64) -> Result<(), SimulationError> {
    // One pass for the usual case; the body is identified only in case of an error.
    let fine = |x: &f64, most: f64| x.abs() < most;
    if end.v.iter().all(|v| fine(v, FASTEST)) && end.q.iter().all(|q| fine(q, FARTHEST)) {
        return Ok(());
    }
    for (l, link) in model.links().iter().enumerate() {
        let (q, v) = (model.positions_of(LinkId(l)), model.velocities_of(LinkId(l)));
        let velocity = end.v[v].iter().find(|v| !fine(v, FASTEST)).map(|v| ("velocity", v, "m/s or rad/s"));
        let position = || end.q[q].iter().find(|q| !fine(q, FARTHEST)).map(|q| ("position", q, "m or rad"));
        if let Some((quantity, value, unit)) = velocity.or_else(position) {
            let body = link.name.clone();
            return Err(SimulationError::Diverged {
                time: end.time,
                step: dt,
                body,
                quantity,
                value: *value,
                unit,
            });
        }
    }
    Ok(())
}
