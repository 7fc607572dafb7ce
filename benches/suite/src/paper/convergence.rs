//! Residual and cost of the contact problem over the iterations of each direction, from cold starts.
//!
//! Yu et al. 2025 prove (their appendix, eq. 11) that a quasi-Newton method with exact line search on a
//! strongly convex cost converges from any start, and that the distance of the cost from its minimum
//! falls by a constant factor at least: the cost never rises, and every solve reaches its tolerance.

use std::path::Path;

use pliant_coupling::convex::benchmark_problem::benchmark_sequence;
use pliant_coupling::convex::{
    ContactProblem, ConvexSolver, Direction, InitialGuess, IterationRecord, SolverSettings,
};
use pliant_numeric::random::SplitMix64;
use pliant_render::plot::{Figure, Plot, PlotError, Series};

/// The directions, by name.
pub const DIRECTIONS: [(&str, Direction); 4] = [
    ("block", Direction::Block),
    ("lbfgs", Direction::Lbfgs { memory: 8 }),
    ("newton_cg", Direction::NewtonCg),
    ("newton_factorised", Direction::NewtonFactorised),
];

/// Relative tolerance of the solves.
pub const TOLERANCE: f64 = 1e-8;

/// Substeps after which the contacts of a sequence have formed.
const SUBSTEPS: usize = 15;
/// Most iterations of a solve.
const MOST_ITERATIONS: usize = 50_000;
/// Speed of random starts \[m/s\]: three times that of the dragging plane.
const START_SPEED: f64 = 1.0;

/// A random problem with a start.
#[derive(Clone, Debug)]
pub struct ColdStart {
    /// Seed of the problem and of its start.
    pub seed: u64,
    problem: ContactProblem,
    /// Random velocities \[m/s\]; none starts at the free ones.
    start: Option<Vec<[f64; 4]>>,
    /// The least cost, of a solve to rounding \[J\].
    minimum: f64,
}

impl ColdStart {
    /// Problems of these seeds with this stiffness number and this many contacts, every other one from
    /// random velocities of the nodes.
    pub fn draw(number: f64, contacts: usize, seeds: std::ops::Range<u64>) -> Vec<Self> {
        let mut solver = ConvexSolver::new();
        let of = |seed: u64| {
            let problem = benchmark_sequence(number, contacts, SUBSTEPS, seed).pop()?.problem;
            let start = (seed % 2 == 1).then(|| {
                let mut random = SplitMix64::new(seed);
                let mut speed = || random.uniform_in(-START_SPEED, START_SPEED);
                problem.node_mass.iter().map(|_| [speed(), speed(), speed(), 0.0]).collect()
            });
            let settings = SolverSettings {
                direction: Direction::NewtonFactorised,
                relative_tolerance: 0.0,
                absolute_tolerance: 0.0,
                ..SolverSettings::default()
            };
            let minimum = solver.solve(&problem, &settings, InitialGuess::Free).objective;
            Some(Self { seed, problem, start, minimum })
        };
        seeds.filter_map(of).collect()
    }

    /// Solves it along a direction.
    pub fn solve(&self, direction: Direction) -> Solve {
        let settings = SolverSettings {
            direction,
            relative_tolerance: TOLERANCE,
            max_iterations: MOST_ITERATIONS,
            ..SolverSettings::default()
        };
        let mut solver = ConvexSolver::new();
        let guess = match &self.start {
            None => InitialGuess::Free,
            Some(velocities) => InitialGuess::Velocities(velocities),
        };
        let info = solver.solve(&self.problem, &settings, guess);
        let terms = self.problem.node_mass.len() + self.problem.contacts.len();
        Solve {
            seed: self.seed,
            records: solver.trace().to_vec(),
            converged: info.stop.is_converged(),
            minimum: self.minimum,
            rounding: terms as f64 * f64::EPSILON,
        }
    }
}

/// The iterates of a solve.
#[derive(Clone, Debug)]
pub struct Solve {
    /// Seed of its problem.
    pub seed: u64,
    /// Cost and residual of each iterate.
    pub records: Vec<IterationRecord>,
    /// Whether it reached the tolerance.
    pub converged: bool,
    /// The least cost \[J\].
    pub minimum: f64,
    /// Relative rounding error of a cost: each of its terms is positive and adds at most one.
    pub rounding: f64,
}

impl Solve {
    /// Iterations.
    pub fn iterations(&self) -> usize {
        self.records.len().saturating_sub(1)
    }

    /// The largest rise of the cost from an iterate to the next, beyond rounding, relative to the cost.
    pub fn rise(&self) -> f64 {
        let rise = |pair: &[IterationRecord]| {
            let (before, after) = (pair[0].objective, pair[1].objective);
            (after - before) / before.abs().max(f64::MIN_POSITIVE) - self.rounding
        };
        self.records.windows(2).map(rise).fold(0.0, f64::max)
    }

    /// The factor by which the cost's distance from its minimum falls in an iteration, geometric mean
    /// over those whose distance is a hundred times its rounding; `None` if there is no such pair.
    pub fn factor(&self) -> Option<f64> {
        let floor = 100.0 * self.rounding * self.minimum.abs();
        let off: Vec<f64> = self.records.iter().map(|r| r.objective - self.minimum).collect();
        let last = off.iter().rposition(|distance| *distance > floor)?;
        (last > 0).then(|| (off[last] / off[0]).powf(1.0 / last as f64))
    }
}

/// The least, median and greatest relative residual at each iteration, of the solves that still run.
fn band(solves: &[Solve]) -> [Vec<(f64, f64)>; 3] {
    let mut curves = [Vec::new(), Vec::new(), Vec::new()];
    for k in 0..solves.iter().map(|s| s.records.len()).max().unwrap_or(0) {
        let at = |solve: &Solve| solve.records.get(k).map(|r| r.residual / r.scale);
        let mut residuals: Vec<f64> = solves.iter().filter_map(at).collect();
        residuals.sort_by(f64::total_cmp);
        let ends = [0, residuals.len() / 2, residuals.len() - 1];
        for (curve, at) in curves.iter_mut().zip(ends) {
            curve.push((k as f64, residuals[at]));
        }
    }
    curves
}

/// Draws a panel for each direction: relative residual over iterations.
///
/// # Errors
/// The plot cannot be drawn or written.
pub fn draw(title: &str, of: &[(&str, Vec<Solve>)], path: &Path) -> Result<(), PlotError> {
    let panel = |(name, solves): &(&str, Vec<Solve>)| {
        let named = band(solves).into_iter().zip(["least", "median", "greatest"]);
        Plot {
            title: format!("{name}, {} problems", solves.len()),
            x_label: "iteration [-]".to_owned(),
            y_label: "relative residual [-]".to_owned(),
            log_y: true,
            series: named
                .map(|(points, name)| Series { name: name.to_owned(), points, ..Series::default() })
                .collect(),
            hlines: vec![(TOLERANCE, "tolerance".to_owned())],
            ..Plot::default()
        }
    };
    Figure { title: title.to_owned(), panels: of.iter().map(panel).collect() }.write_svg(path)
}
