//! Time to tolerance. First the scene `dough-rolling` at every tolerance (see `dough.rs`). Then the
//! contact solver alone: a block is pressed onto a plane that drags it, 257 contacts, each solve
//! started from the last one's impulses as in a run, for every direction, stiffness number and
//! tolerance. The directions alternate on the same sequence, so that a change of the machine's
//! speed affects all of them; their times are compared within a run.

use std::time::Instant;

use pliant_coupling::convex::benchmark_problem::{BenchmarkSubstep, benchmark_sequence};
use pliant_coupling::convex::{ConvexSolver, Direction, InitialGuess, SolverSettings};
use serde_json::json;

use super::part::{BenchError, BenchOptions, BenchPart, Measurement, RowContext};
use pliant_runner::machine::OpenBackend;

/// The part.
pub const PART: BenchPart = BenchPart {
    name: "tolerance",
    about: "dough-rolling and a pressed block at eps_r 1e-1 to 1e-5: wall time, real-time rate, ms per solve; plots",
    run,
};

/// Contacts.
const CONTACTS: usize = 257;
/// Substeps of a sequence; the first ones, while the contacts form, are not timed.
const SUBSTEPS: usize = 40;
const SETTLING: usize = 10;
/// Repeats of each sequence; the least time of each solve counts.
const REPEATS: usize = 5;
const SEED: u64 = 7;
const STIFFNESS_NUMBERS: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];
pub(super) const TOLERANCES: [f64; 6] = [1e-1, 5e-2, 1e-2, 1e-3, 1e-4, 1e-5];
const DIRECTIONS: [(&str, Direction); 4] = [
    ("newton_cg", Direction::NewtonCg),
    ("lbfgs", Direction::Lbfgs { memory: 8 }),
    ("block", Direction::Block),
    ("newton_factorised", Direction::NewtonFactorised),
];

fn run(options: &BenchOptions, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    super::dough::run(PART.name, options, &TOLERANCES, row)?;
    for number in STIFFNESS_NUMBERS {
        let steps = benchmark_sequence(number, CONTACTS, SUBSTEPS, SEED);
        for tolerance in TOLERANCES {
            let mut measured = DIRECTIONS.map(|(name, direction)| Measured::new(name, direction));
            for _ in 0..REPEATS {
                for direction in &mut measured {
                    direction.pass(&steps, tolerance);
                }
            }
            let of_block = measured.iter().find(|m| m.direction == Direction::Block).map(Measured::total);
            for direction in measured {
                row(direction.row(number, tolerance, of_block));
            }
        }
    }
    Ok(())
}

/// Measurements of one direction on a sequence.
struct Measured {
    name: &'static str,
    direction: Direction,
    /// Least time of each solve \[ms\].
    times: [f64; SUBSTEPS],
    // Of one pass, without the settling substeps:
    iterations: usize,
    products: usize,
    not_converged: usize,
}

impl Measured {
    fn new(name: &'static str, direction: Direction) -> Self {
        let times = [f64::INFINITY; SUBSTEPS];
        Self { name, direction, times, iterations: 0, products: 0, not_converged: 0 }
    }

    /// Solves the sequence once.
    fn pass(&mut self, steps: &[BenchmarkSubstep], tolerance: f64) {
        let settings = SolverSettings {
            direction: self.direction,
            relative_tolerance: tolerance,
            max_iterations: 5000,
            ..SolverSettings::default()
        };
        (self.iterations, self.products, self.not_converged) = (0, 0, 0);
        let mut solver = ConvexSolver::new();
        let mut impulses: Vec<[f64; 3]> = Vec::new();
        for (k, step) in steps.iter().enumerate() {
            let guess = if k > 0 { step.carry_impulses(&steps[k - 1], &impulses) } else { Vec::new() };
            let velocities = solver.velocities().to_vec();
            let guess = InitialGuess::Solution { velocities: &velocities, impulses: &guess };
            let start = Instant::now();
            let info = solver.solve(&step.problem, &settings, guess);
            self.times[k] = self.times[k].min(start.elapsed().as_secs_f64() * 1e3);
            if k >= SETTLING {
                self.iterations += info.iterations;
                self.products += info.inner_iterations;
                self.not_converged += usize::from(!info.stop.is_converged());
            }
            impulses = solver.impulses().to_vec();
        }
    }

    /// Time of the sequence \[ms\].
    fn total(&self) -> f64 {
        self.times[SETTLING..].iter().sum()
    }

    fn row(self, number: f64, tolerance: f64, of_block: Option<f64>) -> Measurement {
        let solves = (SUBSTEPS - SETTLING) as f64;
        let details = json!({
            "contacts": CONTACTS,
            "stiffness_number": number,
            "relative_tolerance": tolerance,
            "direction": self.name,
            "default": self.direction == Direction::default(),
            "solves": solves,
            "repeats_of_each": REPEATS,
            "iterations_mean": self.iterations as f64 / solves,
            "products_mean": self.products as f64 / solves,
            "not_converged": self.not_converged,
            "times_faster_than_block": of_block.map(|block| block / self.total()),
        });
        let case = format!("{} number {number} eps_r {tolerance:e}", self.name);
        RowContext {
            machine: &OpenBackend::processor(),
            part: PART.name,
            case,
            threads: 1,
            precision: "f64",
            unit: "ms/solve",
        }
        .row(self.times[SETTLING..].to_vec(), details)
    }
}
