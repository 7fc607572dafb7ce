//! When particles are sorted: as rarely as their speed allows, for a sort takes ten times the
//! launches of a substep.

use std::ops::Range;

/// Cells that a particle may drift before the next sort; scratchpads hold two, and the speed is
/// only known from the step before. One that drifts farther stops the step, which costs a word with
/// the host.
const DRIFT: f64 = 1.5;

/// Substeps after which particles are sorted however slow they are: neighbours in memory should be
/// neighbours in space.
const MAX_SORT_INTERVAL: u32 = 100;

/// The sorts of a step: before the substep `first`, and every `interval` after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SortSchedule {
    pub(super) first: Option<u32>,
    pub(super) interval: u32,
}

impl SortSchedule {
    pub(super) fn are_before(&self, substep_index: u32) -> bool {
        self.first.is_some_and(|first| {
            substep_index.checked_sub(first).is_some_and(|since| since.is_multiple_of(self.interval))
        })
    }

    /// The last of them in these substeps.
    fn last(&self, substeps: Range<u32>) -> Option<u32> {
        substeps.rev().find(|substep_index| self.are_before(*substep_index))
    }
}

/// What is known of the order of the particles between steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortState {
    /// Substeps from one sort to the next, where somebody chose.
    pub(super) fixed: Option<u32>,
    /// How far particles may have drifted since the last sort \[cells\], and how many substeps ago
    /// that was; without, there is no order.
    since: Option<(f64, u32)>,
    /// Largest speed of a particle after the last step \[m/s\].
    speed: f64,
}

impl SortState {
    /// Before the first sort of particles of at most this speed \[m/s\].
    pub(super) fn none(speed: f64) -> Self {
        Self { fixed: None, since: None, speed }
    }

    /// The order is gone: the next step begins with a sort.
    pub(super) fn forget(&mut self) {
        self.since = None;
    }

    /// The sorts of a step of `substeps`, in each of which a particle moves by `cells_per_speed`
    /// [cells/\[m/s\]] times its speed, and gains `gain` \[m/s\].
    pub(super) fn plan(&self, substeps: u32, cells_per_speed: f64, gain: f64) -> SortSchedule {
        if let Some(interval) = self.fixed {
            return SortSchedule { first: Some(0), interval };
        }
        let drift = self.drift(self.speed + gain * f64::from(substeps), cells_per_speed);
        match self.since {
            Some((before, age))
                if age + substeps <= MAX_SORT_INTERVAL && before + drift * f64::from(substeps) <= DRIFT =>
            {
                SortSchedule { first: None, interval: substeps }
            }
            // Beyond the step's end there is no difference between intervals: steps alike have the
            // same commands.
            _ => SortSchedule {
                first: Some(0),
                interval: ((DRIFT / drift) as u32).clamp(1, MAX_SORT_INTERVAL.min(substeps.max(1))),
            },
        }
    }

    /// Cells that a particle of this speed may move in a substep.
    fn drift(&self, speed: f64, cells_per_speed: f64) -> f64 {
        (speed * cells_per_speed).max(f64::MIN_POSITIVE)
    }

    /// A step of `substeps` with these sorts has run, after which no particle is faster than
    /// `speed` \[m/s\]; `cells_per_speed` as above.
    pub(super) fn follow(&mut self, sorts: &SortSchedule, substeps: u32, cells_per_speed: f64, speed: f64) {
        let of = |substeps: u32| self.drift(speed.max(self.speed), cells_per_speed) * f64::from(substeps);
        self.since = match (sorts.last(0..substeps), self.since) {
            (Some(last), _) => Some((of(substeps - last), substeps - last)),
            (None, Some((drift, age))) => Some((drift + of(substeps), age + substeps)),
            (None, None) => None,
        };
        self.speed = speed;
    }
}

/// How far a step is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) substeps: u32,
    pub(super) done: u32,
    pub(super) sorts: SortSchedule,
    /// Length of a substep over the grid spacing \[s/m\].
    pub(super) cells_per_speed: f64,
    pub(super) extra_sorts: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest drift \[cells\] and age [substeps] between two sorts of steps of ten substeps at
    /// this speed, in cells a substep.
    fn worst(speed: f64) -> (f64, u32) {
        let mut order = SortState::none(speed);
        let (mut since, mut worst) = (0, 0);
        for step in 0..50 {
            let sorts = order.plan(10, 1.0, 0.0);
            assert!(step > 0 || sorts.are_before(0), "the first step begins with a sort");
            for substep_index in 0..10 {
                since = if sorts.are_before(substep_index) { 0 } else { since };
                since += 1;
                worst = worst.max(since);
            }
            order.follow(&sorts, 10, 1.0, speed);
        }
        (speed * f64::from(worst), worst)
    }

    // The law: between two sorts a particle of steady speed drifts by less than what scratchpads
    // hold, and as many substeps pass as that allows, up to the whole steps that fit.
    #[test]
    fn sorts_are_as_rare_as_speed_allows() {
        for speed in [0.0, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.4, 1.4] {
            let (drift, age) = worst(speed);
            assert!(drift <= DRIFT && age <= MAX_SORT_INTERVAL, "{speed}: {drift} cells, {age} substeps");
            let allowed = (DRIFT / speed.max(1e-9)).min(f64::from(MAX_SORT_INTERVAL));
            assert!(
                f64::from(age) > (allowed - 10.0).max(allowed / 2.0),
                "{speed}: {age} of {allowed} substeps"
            );
        }
    }

    // The law: where somebody chose an interval, every step begins with a sort.
    #[test]
    fn a_chosen_interval_is_kept() {
        let mut order = SortState::none(0.0);
        order.fixed = Some(4);
        let sorts = order.plan(10, 1.0, 0.0);
        let before: Vec<u32> = (0..10).filter(|substep_index| sorts.are_before(*substep_index)).collect();
        assert_eq!(before, [0, 4, 8]);
    }
}
