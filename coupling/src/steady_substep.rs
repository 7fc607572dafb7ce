//! The substep's limit over the last substeps.
//!
//! Leapfrog keeps the energy of a vibration as long as its step does not change. A step that changes in
//! phase with the vibration feeds it, however far each step is from the limit of stability (Skeel 1993,
//! "Variable step size destabilizes the Stoermer/leapfrog/Verlet method"). And automatic substeps follow
//! speeds and strains, which vibrate. So their number rises at once, and falls only where a smaller one,
//! with [`SPARE`], was enough for [`HELD`] substeps.

use serde::{Deserialize, Serialize};

/// Substeps for which a limit holds at least: tens of periods of the grid's shortest waves.
const HELD: u32 = 100;

/// How far below their smaller number what the limit asks for must be, for the substeps to become fewer. So a
/// limit that hovers at the edge between two numbers does not change them.
const SPARE: f64 = 0.2;

/// The limit that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SteadySubstep {
    /// It \[s\]; none before the first step.
    held: Option<f64>,
    /// The smallest of the limits since then \[s\].
    since: Option<f64>,
    /// Substeps since then.
    age: u32,
}

impl SteadySubstep {
    /// The limit \[s\] of a coupling step that by itself would have this one.
    pub(crate) fn limit(&self, own: f64) -> f64 {
        self.held.map_or(own, |held| held.min(own))
    }

    /// Begins a coupling step of `coupling_step` \[s\] that by itself would have this limit \[s\].
    pub(crate) fn begin(&mut self, own: f64, coupling_step: f64) {
        let asked = |limit: f64| coupling_step / limit;
        let now = asked(self.limit(own)).ceil();
        let since = self.since.map_or(own, |since| since.min(own));
        // Counts beyond the range are refused (`MOST_SUBSTEPS`).
        let age = self.age.saturating_add(now as u32);
        *self = if self.limit(own) == own {
            Self { held: Some(own), since: None, age: 0 }
        } else if age >= HELD {
            let falls = (asked(since) + SPARE).ceil() < now;
            Self { held: if falls { Some(since) } else { self.held }, since: None, age: 0 }
        } else {
            Self { since: Some(since), age, ..*self }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of substeps, of coupling steps that by themselves would ask for these.
    fn taken(asked: impl IntoIterator<Item = f64>) -> Vec<f64> {
        let mut steady = SteadySubstep::default();
        let next = |asked: f64| {
            steady.begin(1.0 / asked, 1.0);
            (1.0 / steady.limit(1.0 / asked)).ceil()
        };
        asked.into_iter().map(next).collect()
    }

    // The law: a number that is asked for is taken at once, and becomes smaller only after HELD substeps that
    // would all have done with fewer.
    #[test]
    fn a_number_rises_at_once_and_falls_late() {
        let steps = HELD as usize / 10;
        let mut asked = vec![2.5, 9.5, 3.5];
        asked.resize(1 + steps, 2.5);
        asked.extend([2.5, 2.5, 5.5]);
        let mut expected = vec![3.0];
        expected.resize(1 + steps, 10.0);
        expected.extend([4.0, 4.0, 6.0]);
        assert_eq!(taken(asked), expected);
    }

    // The law: what hovers at the edge between two numbers, however slowly, changes them once.
    #[test]
    fn the_edge_between_two_numbers_is_crossed_once() {
        let asked = (1..30 * HELD).map(|step| 3.0 + 0.15 * (f64::from(step) / f64::from(HELD)).sin());
        let taken = taken(asked);
        assert!(taken.iter().all(|number| *number == 4.0), "{taken:?}");
    }
}
