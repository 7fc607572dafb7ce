//! Time to tolerance of the contact solver: a block is pressed onto a plane that drags it, 257 contacts, each solve
//! started from the last one's impulses as in a run, for every direction, stiffness number and tolerance.

use std::time::Instant;

use pliant_coupling::convex::pressing::{PressingStep, pressing_sequence};
use pliant_coupling::convex::{ConvexSolver, Direction, InitialGuess, SolverSettings};
use serde_json::json;

use super::{BenchError, BenchOptions, Part, Row, Sample};

/// The part.
pub const PART: Part = Part {
    name: "tolerance",
    about: "contact solver on a pressed block: ms per solve for stiffness numbers 1 to 1000 and eps_r 1e-1 to 1e-5",
    run,
};

/// Contacts.
const CONTACTS: usize = 257;
/// Substeps of a sequence; the first ones, while the contacts form, are not timed.
const SUBSTEPS: usize = 40;
const SETTLING: usize = 10;
/// Repeats of each sequence; the least time of each solve counts.
const REPEATS: usize = 3;
/// Seconds after which a sequence is not repeated.
const PATIENCE: f64 = 5.0;
const SEED: u64 = 7;
const STIFFNESS_NUMBERS: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];
const TOLERANCES: [f64; 6] = [1e-1, 5e-2, 1e-2, 1e-3, 1e-4, 1e-5];
const DIRECTIONS: [(&str, Direction); 4] = [
    ("newton_cg", Direction::NewtonCg),
    ("lbfgs", Direction::Lbfgs { memory: 8 }),
    ("block", Direction::Block),
    ("newton_factorised", Direction::NewtonFactorised),
];

fn run(_: &BenchOptions, row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for number in STIFFNESS_NUMBERS {
        let steps = pressing_sequence(number, CONTACTS, SUBSTEPS, SEED);
        for (name, direction) in DIRECTIONS {
            for tolerance in TOLERANCES {
                row(measure(&steps, name, direction, number, tolerance));
            }
        }
    }
    Ok(())
}

fn measure(steps: &[PressingStep], name: &str, direction: Direction, number: f64, tolerance: f64) -> Row {
    let settings = SolverSettings {
        direction,
        relative_tolerance: tolerance,
        max_iterations: 5000,
        ..SolverSettings::default()
    };
    let mut times = vec![f64::INFINITY; steps.len()];
    let (mut iterations, mut products, mut not_converged) = (0, 0, 0);
    let clock = Instant::now();
    let mut repeats = 0;
    while repeats < REPEATS && (repeats == 0 || clock.elapsed().as_secs_f64() < PATIENCE) {
        let mut solver = ConvexSolver::new();
        let mut impulses: Vec<[f64; 3]> = Vec::new();
        for (k, step) in steps.iter().enumerate() {
            let guess = if k > 0 { step.carry_impulses(&steps[k - 1], &impulses) } else { Vec::new() };
            let start = Instant::now();
            let info = solver.solve(&step.problem, &settings, InitialGuess::Impulses(&guess));
            times[k] = times[k].min(start.elapsed().as_secs_f64() * 1e3);
            if repeats == 0 && k >= SETTLING {
                iterations += info.iterations;
                products += info.inner_iterations;
                not_converged += usize::from(!info.stop.is_converged());
            }
            impulses = solver.impulses().to_vec();
        }
        repeats += 1;
    }
    let solves = (steps.len() - SETTLING) as f64;
    let details = json!({
        "contacts": CONTACTS,
        "stiffness_number": number,
        "relative_tolerance": tolerance,
        "direction": name,
        "default": direction == Direction::default(),
        "solves": solves,
        "repeats_of_each": repeats,
        "iterations_mean": iterations as f64 / solves,
        "products_mean": products as f64 / solves,
        "not_converged": not_converged,
    });
    let case = format!("{name} number {number} eps_r {tolerance:e}");
    Sample { part: PART.name, case, threads: 1, precision: "f64", unit: "ms/solve" }
        .row(times.split_off(SETTLING), details)
}
