//! The solver: workspace, start, iteration, end.

mod direction;
mod start;

use super::active::Active;
use super::body_block::BodyBlock;
use super::factorised::Factorisation;
use super::inner::{ConjugateGradients, Forcing};
use super::kernels::{self, LineSearchLanes, Norms, Packed, SymmetricColumns};
use super::layout::{LANES, Vector};
use super::lbfgs::History;
use super::line_search::{LineObjective, LineSearchResult, search};
use super::mobility::{Spatial, point_velocity};
use super::prepared::Prepared;
use super::problem::{ContactProblem, ProblemPart};
use super::settings::{Direction, InitialGuess, SolverInfo, SolverSettings, StopReason};
use super::solution::{Solution, SolutionPart};

/// State of one outer iteration before its step, for tests and plots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationRecord {
    /// Objective \[J\].
    pub objective: f64,
    /// `|M^-1/2 grad|` \[sqrt(J)\].
    pub residual: f64,
    /// What the residual has to be below \[sqrt(J)\].
    pub tolerance: f64,
    /// `max(|M^1/2 (v - v_mean)|, |M^-1/2 J^T gamma|)` \[sqrt(J)\], which the relative tolerance
    /// multiplies.
    pub scale: f64,
}

/// A solve that starts within this many tolerances is one of a sequence that hardly changes: it
/// continues to [`TIGHTENED_TOLERANCE`] of the tolerance. Such solves would otherwise all end just
/// below the tolerance with errors of the same sign, which add up (rolled dough at eps_r 1e-1 ended
/// 0.15 h from the converged position, with this rule 0.03 h).
const NEAR_TOLERANCE_RATIO: f64 = 10.0;

/// Rounding of the nodes' velocities, in units of their last place: no step lowers the residual
/// below it.
const ROUNDING: f64 = 16.0;

/// See [`NEAR_TOLERANCE_RATIO`].
const TIGHTENED_TOLERANCE: f64 = 0.25;

/// The workspace of the convex solver: buffers grow to the largest problem seen and are kept, so
/// that a solve allocates nothing once warm. Single-threaded and deterministic.
#[derive(Clone, Debug, Default)]
pub struct ConvexSolver {
    prepared: Prepared,
    solution: Solution,
    trace: Vec<IterationRecord>,
    // Of touched nodes and bodies:
    velocity: Vec<Vector>,
    /// The other start while one is tried.
    other_velocity: Vec<Vector>,
    impulse: Vec<Vector>,
    gradient: Vec<Vector>,
    previous_gradient: Vec<Vector>,
    direction: Vec<Vector>,
    scratch: Vec<Vector>,
    blocks: Vec<Packed>,
    bodies: BodyBlock,
    body_velocities: Vec<Spatial>,
    body_impulses: Vec<Spatial>,
    // Of contacts, padded to full lanes:
    contact_velocity: Vec<Vector>,
    other_contact_velocity: Vec<Vector>,
    contact_direction: Vec<Vector>,
    contact_impulse: Vec<Vector>,
    hessians: Vec<SymmetricColumns>,
    active: Active,
    line_search_lanes: Vec<LineSearchLanes>,
    history: History,
    conjugate_gradients: ConjugateGradients,
    factorisation: Factorisation,
}

/// Where a solve starts.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// Objective and gradient there, if known.
    evaluation: Option<Evaluation>,
    /// Whether its velocities are those of another solve. The residual is a norm over all contacts,
    /// to which a single particle among many contributes little. If warm starts were accepted
    /// without a step, its velocity would never change (sand slid for metres). So at least one step
    /// is taken.
    warm_started: bool,
}

/// What is known at an iterate.
#[derive(Clone, Copy, Debug)]
struct Evaluation {
    record: IterationRecord,
    norms: Norms,
}

impl ConvexSolver {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Velocities of all nodes after the last solve \[m/s\]: the last iterate. Its distance to the
    /// minimiser in the mass norm is at most the tolerance (strong convexity with modulus M), and
    /// less in stiff directions. The momentum it gives to the grid differs from the sum of the
    /// [`Self::impulses`] by the gradient; the caller that applies impulses to bodies adds that
    /// difference, so that momentum balances at any tolerance. (Velocities `v* + M^-1 J^T gamma`
    /// would balance without it, but its error in stiff directions is the tolerance times the
    /// stiffness number.)
    pub fn velocities(&self) -> &[[f64; 4]] {
        &self.solution.velocities
    }

    /// Impulse of every contact on the particles \[N s\], world axes. The body gets exactly the
    /// opposite at the contact point.
    pub fn impulses(&self) -> &[[f64; 3]] {
        &self.solution.impulses
    }

    /// Sum of the contacts' impulses on every node after the last solve \[N s\], world axes: `J^T
    /// gamma`.
    pub fn node_impulses(&self) -> &[[f64; 4]] {
        &self.solution.node_impulses
    }

    /// Velocity changes of the strongly coupled bodies in the last solve: angular \[rad/s\], linear
    /// \[m/s\], world axes.
    pub fn body_velocity_changes(&self) -> &[[f64; 6]] {
        &self.solution.body_velocity_changes
    }

    /// The iterates of the last solve, from the first to the last.
    pub fn trace(&self) -> &[IterationRecord] {
        &self.trace
    }

    /// Minimises the problem's objective. Never fails: what happened is in [`SolverInfo::stop`].
    pub fn solve(
        &mut self,
        problem: &ContactProblem,
        settings: &SolverSettings,
        guess: InitialGuess,
    ) -> SolverInfo {
        let mut solution = core::mem::take(&mut self.solution);
        solution.reset(problem);
        let info = self.solve_part(&problem.whole(), settings, guess, solution.whole());
        self.solution = solution;
        info
    }

    /// Minimises the objective of a part of a problem: guess and solution are of this part's nodes
    /// and contacts. The solution comes as [`Solution::reset`] leaves it.
    pub(crate) fn solve_part(
        &mut self,
        problem: &ProblemPart,
        settings: &SolverSettings,
        guess: InitialGuess,
        solution: SolutionPart,
    ) -> SolverInfo {
        self.trace.clear();
        // Reserved for all iterates that are likely, so that a hard step allocates nothing.
        self.trace.reserve(settings.max_iterations.saturating_add(1).min(1024));
        let mut info = SolverInfo::without_contacts(settings);
        if problem.contacts.is_empty() {
            return info;
        }
        info.stop = StopReason::NotFinite;
        if problem.validate_shape().is_err() || !(problem.substep > 0.0 && problem.substep.is_finite()) {
            return info;
        }
        self.prepared.load(problem);
        self.size_buffers();
        let start = self.start(settings, guess, &mut info);
        self.iterate(settings, start, &mut info);
        if info.stop != StopReason::NotFinite {
            self.finish(solution);
        }
        info
    }

    fn size_buffers(&mut self) {
        let (nodes, vectors) = (self.prepared.nodes.len(), self.prepared.vectors());
        for buffer in [
            &mut self.velocity,
            &mut self.other_velocity,
            &mut self.impulse,
            &mut self.gradient,
            &mut self.previous_gradient,
            &mut self.scratch,
        ] {
            buffer.resize(vectors, [0.0; 4]);
        }
        // No direction writes to nodes without mass.
        self.direction.clear();
        self.direction.resize(vectors, [0.0; 4]);
        self.blocks.resize(nodes, [0.0; 8]);
        let contacts = self.prepared.padded_contacts();
        for buffer in [
            &mut self.contact_velocity,
            &mut self.other_contact_velocity,
            &mut self.contact_direction,
            &mut self.contact_impulse,
        ] {
            buffer.resize(contacts, [0.0; 4]);
        }
        self.hessians.resize(contacts, [[0.0; 4]; 3]);
        self.line_search_lanes.resize(contacts / LANES, LineSearchLanes::default());
    }

    /// Carries the direction to the contacts and prepares their rays.
    fn project_direction(&mut self) {
        let prepared = &self.prepared;
        self.contact_direction.fill([0.0; 4]);
        prepared.gather_add(&self.direction, &mut self.body_velocities, &mut self.contact_direction);
        kernels::rays(
            &prepared.contact_models,
            &self.contact_velocity,
            &self.contact_direction,
            &mut self.line_search_lanes,
        );
    }

    fn line_search(
        &self,
        slope: f64,
        mass_curvature: f64,
        term_magnitude: f64,
        trial: Option<f64>,
    ) -> LineSearchResult {
        search(&LineObjective {
            contact_models: &self.prepared.contact_models,
            line_search_lanes: &self.line_search_lanes,
            slope,
            mass_curvature,
            term_magnitude,
            trial,
        })
    }

    /// Moves the iterate along the direction, in nodes and in contacts.
    fn advance(&mut self, alpha: f64) {
        kernels::add_scaled(alpha, &self.direction, &mut self.velocity);
        kernels::add_scaled(alpha, &self.contact_direction, &mut self.contact_velocity);
    }

    /// Iterates from the start.
    fn iterate(&mut self, settings: &SolverSettings, start: Start, info: &mut SolverInfo) {
        let mut forcing = Forcing::new();
        match settings.direction {
            Direction::Lbfgs { memory } => self.history.reset(memory),
            Direction::NewtonCg => self.conjugate_gradients.begin(),
            _ => {}
        }
        let Start { mut evaluation, warm_started } = start;
        let (mut last_alpha, mut aim) = (0.0, 1.0);
        loop {
            let evaluation = evaluation.take().unwrap_or_else(|| self.evaluate(settings));
            let record = evaluation.record;
            info.objective = record.objective;
            info.residual = record.residual;
            info.tolerance = record.tolerance;
            if !(record.objective.is_finite() && record.residual.is_finite()) {
                info.stop = StopReason::NotFinite;
                return;
            }
            self.trace.push(record);
            let reached = record.residual < aim * record.tolerance || record.residual == 0.0;
            let settling = warm_started && info.iterations == 0 && reached && record.residual > 0.0;
            if reached && !settling {
                info.stop = StopReason::Converged;
                return;
            }
            if info.iterations == settings.max_iterations {
                let converged = record.residual < record.tolerance;
                info.stop = if converged { StopReason::Converged } else { StopReason::IterationLimit };
                return;
            }
            if last_alpha > 0.0 && matches!(settings.direction, Direction::Lbfgs { .. }) {
                self.history.push(last_alpha, &self.direction, &self.previous_gradient, &self.gradient);
            }
            if info.iterations == 0 && record.residual < NEAR_TOLERANCE_RATIO * record.tolerance {
                aim = TIGHTENED_TOLERANCE;
            }
            if settling {
                self.relaxation_direction();
            } else {
                let goal = aim * record.tolerance;
                info.inner_iterations += self.find_direction(settings, &record, goal, &mut forcing);
            }
            let [slope, mass_curvature] =
                kernels::slope(&self.prepared.mass, &self.gradient, &self.direction);
            let term_magnitude = (mass_curvature * evaluation.norms.deviation).sqrt()
                + (mass_curvature * evaluation.norms.impulse).sqrt();
            if -slope <= 64.0 * f64::EPSILON * term_magnitude && record.residual <= self.rounding_floor() {
                info.stop = StopReason::StagnatedAtRounding;
                return;
            }
            self.project_direction();
            let step = self.line_search(slope, mass_curvature, term_magnitude, None);
            info.line_search_iterations += step.evaluations;
            if matches!(settings.direction, Direction::Lbfgs { .. }) {
                self.previous_gradient.copy_from_slice(&self.gradient);
            }
            self.advance(step.alpha);
            last_alpha = step.alpha;
            info.iterations += 1;
        }
    }

    /// Objective and gradient at the iterate.
    fn evaluate(&mut self, settings: &SolverSettings) -> Evaluation {
        let prepared = &self.prepared;
        let potential = kernels::linearise_response(
            &prepared.contact_models,
            &self.contact_velocity,
            &mut self.contact_impulse,
        );
        self.impulse.fill([0.0; 4]);
        prepared.scatter_add(&self.contact_impulse, &mut self.body_impulses, &mut self.impulse);
        let norms = kernels::gradient(
            prepared.nodes.len(),
            &prepared.mass,
            &prepared.inverse_mass,
            &self.velocity,
            &prepared.free,
            &self.impulse,
            &mut self.gradient,
        );
        let scale = norms.momentum.max(norms.impulse).sqrt();
        let record = IterationRecord {
            objective: 0.5 * norms.deviation + potential,
            residual: norms.gradient.sqrt(),
            tolerance: settings.absolute_tolerance
                + settings.relative_tolerance * scale
                + ROUNDING * f64::EPSILON * norms.squares.sqrt(),
            scale,
        };
        Evaluation { record, norms }
    }

    /// A bound on the rounding error of the residual's norm \[sqrt(J)\]. Each node's gradient is a
    /// sum of about 30 terms, so its error is within a few eps of the terms' sizes; and the contact
    /// velocities, sums of 27 terms themselves, carry an error of a few eps of the velocities that
    /// enter them, which the Hessian multiplies. A residual below this has no correct digit left,
    /// and no iteration can lower it.
    fn rounding_floor(&mut self) -> f64 {
        const TERMS: f64 = 8.0;
        let prepared = &self.prepared;
        self.contact_direction.fill([0.0; 4]);
        for (size, v) in self.scratch.iter_mut().zip(&self.velocity) {
            *size = [v[0].abs(), v[1].abs(), v[2].abs(), 0.0];
        }
        kernels::gather_add(&prepared.groups, &prepared.weights, &self.scratch, &mut self.contact_direction);
        let (nodes, mobility) = (prepared.nodes.len(), &prepared.mobility);
        let y = &self.velocity[nodes..];
        mobility.velocities(|j| y[j / 3][j % 3], &mut self.body_velocities);
        for c in 0..prepared.contacts {
            let (sizes, bias) = (self.contact_direction[c], prepared.bias[c]);
            let moved =
                mobility.on(c).map_or([0.0; 3], |(body, r)| point_velocity(&self.body_velocities[body], &r));
            let velocity: f64 = (0..3).map(|a| sizes[a] + bias[a].abs() + moved[a].abs()).sum();
            let (gamma, g) = (self.contact_impulse[c], self.hessians[c]);
            let impulse: f64 = gamma.iter().map(|value| value.abs()).sum();
            let stiffness = g[0][0] + g[1][1] + g[2][2];
            self.contact_direction[c] = [impulse + stiffness * velocity, 0.0, 0.0, 0.0];
        }
        self.scratch.fill([0.0; 4]);
        kernels::scatter_add(&prepared.groups, &prepared.weights, &self.contact_direction, &mut self.scratch);
        let mut squares = 0.0;
        mobility.add_sizes(&self.contact_direction, &mut self.body_impulses, &mut self.scratch[nodes..]);
        for (i, size) in self.scratch.iter().enumerate() {
            let (v, free) = (self.velocity[i], prepared.free[i]);
            let inertia: f64 = (0..3).map(|a| v[a].abs() + free[a].abs()).sum();
            let term = prepared.mass[i] * inertia + size[0] + size[1] + size[2];
            squares += term * term * prepared.inverse_mass[i];
        }
        TERMS * f64::EPSILON * squares.sqrt()
    }

    /// Writes the impulses and the velocities.
    fn finish(&mut self, solution: SolutionPart) {
        let prepared = &self.prepared;
        for (out, gamma) in solution.impulses.iter_mut().zip(&self.contact_impulse) {
            *out = [gamma[0], gamma[1], gamma[2]];
        }
        for ((velocity, impulse), &node) in self.velocity.iter().zip(&self.impulse).zip(&prepared.nodes) {
            solution.velocities[node as usize] = *velocity;
            solution.node_impulses[node as usize] = *impulse;
        }
        let y = &self.velocity[prepared.nodes.len()..];
        prepared.mobility.velocities(|j| y[j / 3][j % 3], &mut self.body_velocities);
        for (out, answer) in solution.body_velocity_changes.iter_mut().zip(&self.body_velocities) {
            *out = *answer;
        }
    }
}
