//! The first iterate.

use super::{ConvexSolver, InitialGuess, SolverInfo, SolverSettings, Start, kernels};

impl ConvexSolver {
    /// Sets the first iterate to the best of the guess; returns objective and gradient there if
    /// known.
    ///
    /// Of a whole solution, the velocities are closer if surfaces hardly move relative to each
    /// other, the impulses if material flows past a tool. The start with the smaller gradient is
    /// used; the impulses are tried only if the velocities are not good enough.
    pub(super) fn start(
        &mut self,
        settings: &SolverSettings,
        guess: InitialGuess,
        info: &mut SolverInfo,
    ) -> Start {
        let InitialGuess::Solution { velocities, impulses } = guess else {
            self.start_by_line_search(guess, info);
            return Start { evaluation: None, warm_started: false };
        };
        self.set_start(velocities, impulses);
        let first = self.evaluate(settings);
        if first.record.residual < first.record.tolerance {
            return Start { evaluation: Some(first), warm_started: true };
        }
        self.other_velocity.copy_from_slice(&self.velocity);
        self.other_contact_velocity.copy_from_slice(&self.contact_velocity);
        self.start_by_line_search(InitialGuess::Impulses(impulses), info);
        let second = self.evaluate(settings);
        if second.record.residual * first.record.scale <= first.record.residual * second.record.scale {
            return Start { evaluation: Some(second), warm_started: false };
        }
        core::mem::swap(&mut self.velocity, &mut self.other_velocity);
        core::mem::swap(&mut self.contact_velocity, &mut self.other_contact_velocity);
        Start { evaluation: None, warm_started: true }
    }

    /// Starts at these velocities of the nodes, and at the bodies' response to these impulses.
    fn set_start(&mut self, velocities: &[[f64; 4]], impulses: &[[f64; 3]]) {
        if self.prepared.mobility.rank() > 0 {
            self.direct_to_impulses(impulses);
        } else {
            self.direction.fill([0.0; 4]);
        }
        self.direct_to_velocities(velocities);
        let prepared = &self.prepared;
        self.velocity.copy_from_slice(&prepared.free);
        kernels::add_scaled(1.0, &self.direction, &mut self.velocity);
        self.contact_velocity.copy_from_slice(&prepared.bias);
        prepared.gather_add(&self.velocity, &mut self.body_velocities, &mut self.contact_velocity);
    }

    /// Sets the first iterate to the best point between the free velocities and a guess of one
    /// kind.
    fn start_by_line_search(&mut self, guess: InitialGuess, info: &mut SolverInfo) {
        match guess {
            InitialGuess::Free => self.direction.fill([0.0; 4]),
            InitialGuess::Impulses(impulses) => self.direct_to_impulses(impulses),
            InitialGuess::Velocities(velocities) => {
                self.direction.fill([0.0; 4]);
                self.direct_to_velocities(velocities);
            }
            InitialGuess::Solution { .. } => {}
        }
        self.start_along(info);
    }

    /// Starts at the best point along the direction from the free velocities.
    fn start_along(&mut self, info: &mut SolverInfo) {
        let prepared = &self.prepared;
        self.velocity.copy_from_slice(&prepared.free);
        self.contact_velocity.copy_from_slice(&prepared.bias);
        prepared.gather_add(&self.velocity, &mut self.body_velocities, &mut self.contact_velocity);
        self.gradient.fill([0.0; 4]);
        // The mass term has no slope at the free velocities: the line's slope is that of the
        // contacts alone.
        let [_, mass_curvature] = kernels::slope(&prepared.mass, &self.gradient, &self.direction);
        if mass_curvature > 0.0 && mass_curvature.is_finite() {
            self.project_direction();
            let slope = kernels::along(&self.prepared.contact_models, &self.line_search_lanes, 0.0)[1];
            let step = self.line_search(slope, mass_curvature, 0.0, Some(1.0));
            info.line_search_iterations += step.evaluations + 1;
            self.advance(step.alpha);
        }
    }

    /// Directs the first step to the velocities that these impulses give nodes and bodies.
    fn direct_to_impulses(&mut self, impulses: &[[f64; 3]]) {
        let prepared = &self.prepared;
        self.contact_impulse.fill([0.0; 4]);
        for (value, g) in self.contact_impulse.iter_mut().zip(impulses).take(prepared.contacts) {
            *value = [g[0], g[1], g[2], 0.0];
        }
        self.direction.fill([0.0; 4]);
        prepared.scatter_add(&self.contact_impulse, &mut self.body_impulses, &mut self.direction);
        for (d, inverse) in self.direction.iter_mut().zip(&prepared.inverse_mass) {
            *d = d.map(|value| inverse * value);
        }
    }

    /// Directs the first step of the nodes to these velocities.
    fn direct_to_velocities(&mut self, velocities: &[[f64; 4]]) {
        let prepared = &self.prepared;
        let nodes = self.direction.iter_mut().zip(&prepared.free).zip(&prepared.mass);
        for (((d, free), mass), &node) in nodes.zip(&prepared.nodes) {
            if let Some(v) = velocities.get(node as usize)
                && *mass > 0.0
            {
                *d = [v[0] - free[0], v[1] - free[1], v[2] - free[2], 0.0];
            }
        }
    }
}
