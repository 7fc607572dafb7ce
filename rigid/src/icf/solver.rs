//! Newton's method with exact line search on block-sparse factorisations.

use super::block_cholesky::BlockCholesky;
use super::block_matrix::BlockMatrix;
use super::line_search::search;
use super::problem::ConvexProblem;
use super::stop::Stop;
use crate::multibody::Model;

/// When a solve ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveSettings {
    /// Relative tolerance: the scaled gradient and the estimated error of the velocities are below
    /// it times the larger of `|D r|` and `|D^-1 v|`, so that a scene of grains is solved as well
    /// as one of boulders. An absolute bound would be in units: large against a gram, nothing
    /// against a ton.
    pub tolerance: f64,
    /// Most Newton iterations.
    pub max_iterations: usize,
    /// Whether a factorisation may serve several iterations.
    pub reuse_hessian: bool,
    /// Whether to factorise densely: for checking.
    pub dense: bool,
}

impl Default for SolveSettings {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_iterations: 100, reuse_hessian: true, dense: false }
    }
}

/// Report of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveSummary {
    /// Newton iterations.
    pub iterations: usize,
    /// Factorisations of the Hessian.
    pub factorisations: usize,
    /// Evaluations in line searches.
    pub line_search: usize,
    /// Norm of the scaled gradient at the end.
    pub residual: f64,
    /// Why it ended.
    pub stop: Stop,
}

/// Buffers of the solver. Keeps its factorisation for the next solve of a problem with the same
/// couplings.
#[derive(Clone, Debug, Default)]
pub struct Solver {
    gradient: Vec<f64>,
    direction: Vec<f64>,
    inertial: Vec<f64>,
    hessian: BlockMatrix,
    cholesky: BlockCholesky,
}

/// Of ten iterations, how many may pass with one Hessian before its slow convergence must have paid
/// (Hairer and Wanner 1996, section IV.8).
const REUSES: i32 = 10;

/// Scaled gradient, as a part of its scale, above which friction's secant takes the place of its
/// Hessian, whose steps overshoot the kink between sliding and sticking.
const SECANT_RESIDUAL: f64 = 0.05;

/// An iteration that leaves more than this fraction of the gradient makes no progress: the secant
/// converges slowly near a stiff contact that is about to close, the Hessian oscillates across the
/// kink.
const PROGRESS_RATIO: f64 = 0.6;

/// Scaled gradient, as a part of its scale, that may be left where velocities are found to the tolerance:
/// momentum that no impulse accounts for. A contact of stiffness k turns an error of a velocity into k dt^2 / m
/// times as much. More is left only where rounding leaves it.
const IMPULSE_RESIDUAL: f64 = 1e-6;

/// A step of Newton's method.
struct Step {
    /// Scaled size.
    size: f64,
    /// Whether the line search left it as it was.
    is_full: bool,
    /// Evaluations it took.
    evaluations: usize,
}

impl Solver {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Minimises from the velocities in `v`, which become the solution.
    pub fn solve(
        &mut self,
        model: &Model,
        problem: &mut ConvexProblem,
        settings: &SolveSettings,
        v: &mut [f64],
    ) -> SolveSummary {
        let n = v.len();
        for buffer in [&mut self.gradient, &mut self.direction, &mut self.inertial] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        let given = scaled_norm(&problem.momentum, &problem.scale);
        let mut summary = SolveSummary {
            iterations: 0,
            factorisations: 0,
            line_search: 0,
            residual: f64::INFINITY,
            stop: Stop::Iterations,
        };
        let mut fresh = false;
        let mut last_step = f64::NAN;
        let mut need_factor = true;
        // What the last factorisation was of, and the residual there.
        let (mut secant, mut before) = (false, 0.0);
        loop {
            let cost = problem.evaluate(model, v, &mut self.gradient);
            summary.residual = scaled_norm(&self.gradient, &problem.scale);
            let scale = given.max(unscaled_norm(v, &problem.scale));
            let target = settings.tolerance * scale;
            if !(cost.is_finite() && summary.residual.is_finite()) {
                summary.stop = Stop::NotFinite;
                return summary;
            }
            if summary.residual <= target {
                summary.stop = Stop::Gradient;
                return summary;
            }
            if summary.iterations == settings.max_iterations {
                return summary;
            }
            if need_factor || !settings.reuse_hessian {
                // Hessian and secant alternate whenever one of them makes no progress.
                let makes_progress = summary.residual < PROGRESS_RATIO * before;
                secant = summary.residual > SECANT_RESIDUAL * scale && (secant == makes_progress);
                before = summary.residual;
                fresh = self.factorise(model, problem, secant, settings.dense);
                summary.factorisations += 1;
                if !fresh {
                    summary.stop = Stop::NotFinite;
                    return summary;
                }
            }
            let slope = self.newton_direction();
            if slope >= 0.0 || -slope <= f64::EPSILON * cost.abs() {
                // The Hessian may be out of date; with a fresh one only rounding remains.
                if fresh {
                    summary.stop = Stop::Rounding;
                    return summary;
                }
                need_factor = true;
                continue;
            }
            let step = self.step(model, problem, cost, slope, v);
            summary.line_search += step.evaluations;
            summary.iterations += 1;
            // Steps that the line search cut at a kink say nothing of the rate.
            let size = if step.is_full { step.size } else { f64::NAN };
            let theta = size / last_step;
            if theta < 1.0 {
                if theta / (1.0 - theta) * size < target {
                    let former = summary.residual;
                    problem.evaluate(model, v, &mut self.gradient);
                    summary.residual = scaled_norm(&self.gradient, &problem.scale);
                    if summary.residual <= IMPULSE_RESIDUAL * scale || summary.residual > 0.5 * former {
                        summary.stop = Stop::Error;
                        return summary;
                    }
                }
                let left = (REUSES - summary.iterations as i32).max(1);
                need_factor = theta.powi(left) / (1.0 - theta) * size > target;
            } else {
                need_factor = true;
            }
            fresh = false;
            last_step = size;
        }
    }

    /// Factorises the problem's Hessian at the velocities `v`, for
    /// [`apply_inverse_hessian`](Self::apply_inverse_hessian). False where it is not finite.
    #[must_use]
    pub fn linearise(&mut self, model: &Model, problem: &mut ConvexProblem, v: &[f64]) -> bool {
        self.gradient.resize(v.len(), 0.0);
        problem.evaluate(model, v, &mut self.gradient);
        self.factorise(model, problem, false, false)
    }

    /// `x = H^-1 x` with the factor of the last [`linearise`](Self::linearise).
    pub fn apply_inverse_hessian(&self, x: &mut [f64]) {
        self.cholesky.solve(x);
    }

    fn factorise(&mut self, model: &Model, problem: &mut ConvexProblem, secant: bool, dense: bool) -> bool {
        problem.hessian(model, &mut self.hessian, secant);
        if !dense {
            return self.cholesky.factorise(&self.hessian);
        }
        // The dense factor takes the place of the sparse one: one tree of everything.
        let all = self.hessian.to_dense();
        let mut single = BlockMatrix::default();
        single.shape(&[all.nrows()], &mut Vec::new());
        single.add_diagonal_block(0, all.as_view());
        self.cholesky.factorise(&single)
    }

    /// `-H^-1 g`; returns its slope.
    fn newton_direction(&mut self) -> f64 {
        self.direction.iter_mut().zip(&self.gradient).for_each(|(d, g)| *d = -g);
        self.cholesky.solve(&mut self.direction);
        self.direction.iter().zip(&self.gradient).map(|(d, g)| d * g).sum()
    }

    /// Goes along the direction to the least cost.
    fn step(
        &mut self,
        model: &Model,
        problem: &mut ConvexProblem,
        cost: f64,
        slope: f64,
        v: &mut [f64],
    ) -> Step {
        problem.inertia.multiply(model, &self.direction, &mut self.inertial);
        let curvature: f64 = self.direction.iter().zip(&self.inertial).map(|(d, a)| d * a).sum();
        for pool in problem.pools_mut() {
            pool.start_line(&self.direction);
        }
        let at_start = constraints_along(problem, 0.0);
        // What is not of the constraints is a parabola, known from its start.
        let (smooth, smooth_slope) = (cost - at_start[0], slope - at_start[1]);
        let mut along = |alpha: f64| {
            let c = constraints_along(problem, alpha);
            [
                smooth + alpha * (smooth_slope + 0.5 * alpha * curvature) + c[0],
                smooth_slope + alpha * curvature + c[1],
                curvature + c[2],
            ]
        };
        let found = search(&mut along, cost, slope);
        v.iter_mut().zip(&self.direction).for_each(|(v, d)| *v += found.alpha * d);
        let size = found.alpha.abs() * unscaled_norm(&self.direction, &problem.scale);
        Step { size, is_full: found.alpha == 1.0, evaluations: found.evaluations + 1 }
    }
}

/// `|D^-1 v|`: of velocities.
fn unscaled_norm(v: &[f64], scale: &[f64]) -> f64 {
    v.iter().zip(scale).map(|(v, d)| (v / d).powi(2)).sum::<f64>().sqrt()
}

fn constraints_along(problem: &ConvexProblem, alpha: f64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for pool in problem.pools() {
        let terms = pool.along(alpha);
        for k in 0..3 {
            sums[k] += terms[k];
        }
    }
    sums
}

fn scaled_norm(x: &[f64], scale: &[f64]) -> f64 {
    x.iter().zip(scale).map(|(x, d)| (x * d).powi(2)).sum::<f64>().sqrt()
}
