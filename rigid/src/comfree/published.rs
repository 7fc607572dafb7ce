//! The published form: the impulse of every facet and every joint is computed independently.

use nalgebra::Vector3;

use super::contact::ImpedanceContact;
use super::facets::ConeImpulse;
use super::islands::Island;
use super::solver::{ComFreeSolver, StepInputs};
use crate::icf::ConvexProblem;

impl ComFreeSolver {
    /// Equations 5 to 9.
    pub(super) fn solve_published_form(
        &mut self,
        step: &StepInputs<'_>,
        problem: &mut ConvexProblem,
        island: &Island<'_>,
    ) {
        let dt = step.dt;
        for c in 0..self.contacts.len() {
            let ImpedanceContact {
                normal, stiffness, damping, distance, spin, cones, smooth: [v, w], ..
            } = self.contacts[c];
            let gain = dt * (stiffness * dt + damping);
            let (mut impulse, mut moment) = (Vector3::zeros(), Vector3::zeros());
            if distance < 0.0 {
                let violation = -dt * stiffness * distance - gain * normal.dot(&v);
                let slope = |slip: [f64; 2], mu: f64| slip.map(|x| gain * mu * x);
                let contact = &self.contacts[c];
                let plane = |x: [f64; 2]| contact.tangents[0] * x[0] + contact.tangents[1] * x[1];
                let mu = cones[0].mu;
                let sliding = self.facets.sum(violation, &slope(contact.in_plane(&v), mu), mu);
                impulse = normal * sliding.normal + plane(sliding.tangential);
                if spin.is_some() {
                    let [_, torsion, rolling] = cones;
                    if torsion.mu > 0.0 {
                        let slope = gain * torsion.mu * normal.dot(&w);
                        let [with, against] = [slope, -slope].map(|s| (violation + s).max(0.0));
                        impulse += normal * (with + against);
                        moment += normal * (torsion.mu * (against - with));
                    }
                    if rolling.mu > 0.0 {
                        let slope = slope(contact.in_plane(&w), rolling.mu);
                        let ConeImpulse { normal: normal_impulse, tangential } =
                            self.facets.sum(violation, &slope, rolling.mu);
                        impulse += normal * normal_impulse;
                        moment += plane(tangential);
                    }
                }
            }
            self.contacts[c].normal_impulse = normal.dot(&impulse);
            self.apply_contact_impulse(c, problem, impulse, moment);
        }
        self.solve_joints_published_form(step, problem, island);
    }

    /// Equalities on both sides, limits on one, dry joints up to their bound: the same impedance in
    /// one dimension.
    fn solve_joints_published_form(
        &mut self,
        step: &StepInputs<'_>,
        problem: &mut ConvexProblem,
        island: &Island<'_>,
    ) {
        let (dt, curve) = (step.dt, &step.settings.joints);
        let [kappa, delta] = step.settings.gains.rates(dt);
        let normal_impulse = |error: f64, v: f64, mobility: f64| {
            let mass = if mobility > 0.0 { curve.ratio(error) / mobility } else { 0.0 };
            -dt * mass * (kappa * error + (kappa * dt + delta) * v)
        };
        for &row in island.rows {
            let row = row as usize;
            let [[[a]], [[b]]] = self.smooth.mobilities(&problem.equalities, row);
            let [v] = problem.equalities.velocity_of(row, &self.v_smooth);
            let impulse = normal_impulse(problem.equalities.potentials()[row].error(), v, a + b);
            problem.equalities.set_impulse(row, [impulse]);
            problem.equalities.add_impulse(row, &[impulse], &mut self.load);
        }
        for &i in island.limits {
            let i = i as usize;
            let (potential, n) = problem.limits.at(i);
            let (sign, gap, mobility) = (potential.sign(), potential.gap(), potential.mobility());
            let impulse = if gap < 0.0 {
                sign * normal_impulse(gap, sign * self.v_smooth[n], mobility).max(0.0)
            } else {
                0.0
            };
            problem.limits.set_impulse(i, impulse);
            self.load[n] += impulse;
        }
        for &i in island.dry_joints {
            let i = i as usize;
            let (potential, n) = problem.dry_joints.at(i);
            let bound = potential.bound();
            let impulse = normal_impulse(0.0, self.v_smooth[n], potential.mobility()).clamp(-bound, bound);
            problem.dry_joints.set_impulse(i, impulse);
            self.load[n] += impulse;
        }
    }
}
