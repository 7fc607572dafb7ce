//! Steps that find their own error: by step doubling, and by the trapezoid rule.

use super::advance_summary::AdvanceSummary;
use super::contact::ContactSource;
use super::divergence;
use super::error::SimulationError;
use super::integrate::Simulation;
use super::trial_step::TrialStep;

impl<S: ContactSource> Simulation<S> {
    /// Goes on from the end of the step of `dt` \[s\] that was tried.
    pub(super) fn keep_trial(
        &mut self,
        dt: f64,
        summary: &mut AdvanceSummary,
    ) -> Result<(), SimulationError> {
        divergence::check(&self.system.model, &self.trial.halves.0, dt)?;
        core::mem::swap(&mut self.state, &mut self.trial.halves.0);
        core::mem::swap(&mut self.external, &mut self.trial.halves.1);
        self.meter.keep(&mut self.trial.energy);
        self.contact_sums.keep();
        summary.energy.add(&self.trial.energy);
        summary.add_environment_impulse(&self.trial.environment_impulse);
        Ok(())
    }

    /// Makes a step whole and in halves; returns the largest difference of a position or external
    /// state. What is not finite counts as an infinite error.
    pub(super) fn try_step(
        &mut self,
        dt: f64,
        tolerance: f64,
        summary: &mut AdvanceSummary,
    ) -> Result<f64, SimulationError> {
        let Self { system, source, state, external, stepper, trial, meter, contact_sums, .. } = self;
        let TrialStep {
            begin,
            full: (full, full_x),
            middle,
            halves: (halves, halves_x),
            energy,
            environment_impulse,
        } = trial;
        stepper.prepare(system, source, state, dt);
        begin.copy_from(state);
        let mut gap = stepper.apply_impacts(system, begin, dt);
        full.v.copy_from_slice(&begin.v);
        full_x.copy_from_slice(external);
        summary.solver.add(&stepper.solve(system, begin, dt, tolerance, &mut full.v, full_x)?);
        stepper.place(system, begin, dt, full);

        let half = 0.5 * dt;
        if gap.is_some() {
            begin.copy_from(state);
            stepper.prepare(system, source, state, half);
            gap = farther(gap, stepper.apply_impacts(system, begin, half));
        }
        let start = begin.v.iter().zip(&full.v);
        middle.v.iter_mut().zip(start).for_each(|(m, (a, b))| *m = 0.5 * (a + b));
        halves_x.copy_from_slice(external);
        summary.solver.add(&stepper.solve(system, begin, half, tolerance, &mut middle.v, halves_x)?);
        meter.begin();
        *energy = meter.measure(system, None, stepper, begin, &middle.v);
        *environment_impulse = stepper.environment_impulse(system, None);
        contact_sums.begin();
        contact_sums.measure(None, stepper);
        stepper.place(system, begin, half, middle);

        if !middle.q.iter().chain(&middle.v).all(|x| x.is_finite()) {
            return Ok(f64::INFINITY);
        }
        stepper.prepare(system, source, middle, half);
        let again = stepper.apply_impacts(system, middle, half);
        halves.v.copy_from_slice(if again.is_some() { &middle.v } else { &full.v });
        summary.solver.add(&stepper.solve(system, middle, half, tolerance, &mut halves.v, halves_x)?);
        energy.add(&meter.measure(system, None, stepper, middle, &halves.v));
        environment_impulse
            .iter_mut()
            .zip(stepper.environment_impulse(system, None))
            .for_each(|(sum, impulse)| *sum += impulse);
        contact_sums.measure(None, stepper);
        stepper.place(system, middle, half, halves);

        // Surfaces that rebound apart from each other are off by that.
        Ok(farther(gap, again).unwrap_or(0.0).max(trial.difference(&system.model)))
    }

    /// Makes a first-order step and corrects it; returns the largest difference of a position,
    /// infinite where something is not finite.
    pub(super) fn try_trapezoid(
        &mut self,
        dt: f64,
        tolerance: f64,
        summary: &mut AdvanceSummary,
    ) -> Result<f64, SimulationError> {
        let Self {
            system,
            source,
            state,
            external,
            stepper,
            corrector: Some(corrector),
            trial,
            meter,
            contact_sums,
            ..
        } = self
        else {
            return Ok(f64::INFINITY);
        };
        let TrialStep {
            begin,
            full: (full, full_x),
            middle: predicted,
            halves: (end, end_x),
            energy,
            environment_impulse,
        } = trial;
        stepper.prepare(system, source, state, dt);
        begin.copy_from(state);
        let gap = stepper.apply_impacts(system, begin, dt);
        let state = &*begin;
        full.v.copy_from_slice(&state.v);
        full_x.copy_from_slice(external);
        summary.solver.add(&stepper.solve(system, state, dt, tolerance, &mut full.v, full_x)?);
        stepper.place(system, state, dt, full);
        end.v.copy_from_slice(&full.v);
        end.q.copy_from_slice(&full.q);
        end.time = state.time + dt;
        // The first-order step's velocity is tangent to the holonomic constraints where the step
        // begins, not where it ends: off by the first order. The first correction removes that
        // error, a second one makes use of it.
        let corrections = if system.equalities.is_empty() { 1 } else { 2 };
        for _ in 0..corrections {
            if !end.q.iter().chain(&end.v).all(|x| x.is_finite()) {
                return Ok(f64::INFINITY);
            }
            predicted.q.copy_from_slice(&end.q);
            predicted.v.copy_from_slice(&end.v);
            predicted.time = end.time;
            corrector.prepare(system, source, predicted, dt);
            end_x.copy_from_slice(external);
            let ends = (state, &*predicted);
            let step = corrector.correct(stepper, system, ends, dt, tolerance, &mut end.v, end_x)?;
            summary.solver.add(&step);
            corrector.place_corrected(system, state, dt, end);
        }
        *energy = meter.measure(system, Some(stepper), corrector, state, &end.v);
        *environment_impulse = corrector.environment_impulse(system, Some(stepper));
        contact_sums.begin();
        contact_sums.measure(Some(stepper), corrector);
        Ok(gap.unwrap_or(0.0).max(trial.difference(&system.model)))
    }
}

fn farther(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::max)
}
