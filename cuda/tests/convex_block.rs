//! The block directions on the device against those of the CPU, on the same problems.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod convex_support;
mod support;

use convex_support::{
    cpu, distance, random_problem, random_problem_in, settings, single, solve, solve_with, solver_for,
};
use pliant_coupling::convex::{
    Attachment, ContactProblem, Direction, InitialGuess, SolverSettings, StopReason,
};
use pliant_cuda::convex::{ConvexError, DeviceConvexSettings, DeviceGuess};
use support::{Random, devices};

fn by(direction: Direction, relative_tolerance: f64) -> SolverSettings {
    SolverSettings { direction, ..settings(relative_tolerance) }
}

/// The same with two strongly coupled bodies of about `mass` kg, on which two of three contacts are.
fn coupled(mut problem: ContactProblem, seed: u64, mass: f64) -> ContactProblem {
    let mut random = Random(seed);
    let diagonal = |at: usize| if at.is_multiple_of(13) { 1.0 / mass } else { 0.0 };
    problem.mobility.set(2, &(0..144).map(diagonal).collect::<Vec<_>>());
    assert_eq!(problem.mobility.rank(), 12);
    for c in 0..problem.contacts.len() {
        let body = (c % 3 != 2).then_some((c % 2) as u32);
        let lever = std::array::from_fn(|_| single(0.3 * random.signed()));
        problem.mobility.attach(Attachment { body, lever });
    }
    problem
}

// The objective is strongly convex with modulus one in the norm of the masses, so that two iterates
// are within the sum of their residuals of one another. The lines are searched until 2 % of their
// slope is left, and rounding decides where a search that bisects ends; so there are as many
// iterations as the CPU's but for a tenth. No products, as there.
#[test]
fn block_directions_reach_the_cpus_solution_in_as_many_iterations() {
    for device in devices() {
        for direction in [Direction::Block, Direction::LumpedBlock] {
            for (seed, contacts, number, bodies) in
                [(51, 40, 1.0, false), (52, 120, 5.0, false), (53, 530, 1.0, false), (54, 60, 3.0, true)]
            {
                let mut problem = random_problem(seed, contacts, number);
                if bodies {
                    problem = coupled(problem, seed, 1e-1);
                }
                let settings = by(direction, 1e-6);
                let (right, info) = cpu(&problem, &settings, InitialGuess::Free);
                let found = solve(&device, &problem, &settings, InitialGuess::Free);
                let case =
                    format!("{}, problem {seed}, {direction:?}: {:?} {info:?}", device.name(), found.report);
                assert_eq!(found.info.stop, StopReason::Converged, "{case}");
                let bound = found.info.residual + info.residual;
                assert!(distance(&problem, &found.velocities, right.velocities()) <= bound, "{case}");
                assert!((found.info.objective - info.objective).abs() <= 1e-9 * info.objective, "{case}");
                let apart = found.info.iterations.abs_diff(info.iterations);
                assert!(apart <= info.iterations / 10 + 1, "{case}");
                assert_eq!((found.info.inner_iterations, info.inner_iterations), (0, 0), "{case}");
            }
        }
    }
}

/// The change of the velocities, as a vector of length one in the norm of the masses.
fn way(problem: &ContactProblem, velocities: &[[f64; 4]]) -> Vec<[f64; 4]> {
    let length = distance(problem, velocities, &problem.node_free_velocity);
    let changes = velocities.iter().zip(&problem.node_free_velocity);
    changes.map(|(v, free)| std::array::from_fn(|a| (v[a] - free[a]) / length)).collect()
}

// A step by the true blocks and one by the lumped blocks lead elsewhere, each where the CPU's does.
// How far is left to the line search. The CPU's blocks are f32, and these have condition numbers of
// about ten.
#[test]
fn the_first_step_goes_the_cpus_way() {
    for device in devices() {
        let problem = random_problem(55, 30, 2.0);
        let ways = [Direction::Block, Direction::LumpedBlock].map(|direction| {
            let once = SolverSettings { max_iterations: 1, ..by(direction, 1e-12) };
            let (right, _) = cpu(&problem, &once, InitialGuess::Free);
            let right = way(&problem, right.velocities());
            let found = solve(&device, &problem, &once, InitialGuess::Free);
            let found = way(&problem, &found.velocities);
            let apart = distance(&problem, &found, &right);
            assert!(apart <= 1e-6, "{direction:?}: {apart}");
            found
        });
        assert!(distance(&problem, &ways[0], &ways[1]) > 1e-2);
    }
}

// Above 1024 touched nodes several blocks work: the same bits for any number of them.
#[test]
fn the_number_of_blocks_changes_no_bit() {
    for device in devices().into_iter().take(1) {
        let problem = random_problem_in(12, 56, 560, 2.0);
        let found = [1, 3].map(|blocks| {
            let mut solver = solver_for(&device, &problem).with_blocks(blocks);
            solve_with(&mut solver, &device, &problem, &by(Direction::Block, 1e-3), InitialGuess::Free)
        });
        assert!(found[0].report.grid_barriers == 0 && found[1].report.grid_barriers > 0);
        assert_eq!(found[0].velocities, found[1].velocities);
        assert_eq!(found[0].trace, found[1].trace);
    }
}

#[test]
fn other_directions_are_refused() {
    let device = &devices()[0];
    let mut solver = solver_for(device, &random_problem(57, 3, 1.0));
    for direction in [Direction::NewtonFactorised, Direction::Lbfgs { memory: 4 }] {
        let settings =
            DeviceConvexSettings { solver: by(direction, 1e-3), ..DeviceConvexSettings::default() };
        assert_eq!(solver.set(&settings, DeviceGuess::Free), Err(ConvexError::Direction { direction }));
    }
}
