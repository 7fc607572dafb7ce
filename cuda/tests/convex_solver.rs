//! The convex contact solve on the device against the one on the CPU, on the same problems, whose
//! numbers are those of f32.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod convex_support;
mod support;

use convex_support::{
    cpu, distance, random_problem, random_problem_in, rounded, settings, solve, solve_with, solver_for,
};
use pliant_coupling::convex::benchmark_problem::benchmark_sequence;
use pliant_coupling::convex::{ContactProblem, ConvexSolver, InitialGuess, StopReason};
use support::{device_kinds, devices};

// The objective is strongly convex with modulus M, so that an iterate is no further from the
// minimiser in the norm of M than its residual in that of M^-1: two solutions are within the sum of
// their residuals. Of 1e-8 of the scale rounding of f64 is no part.
#[test]
fn velocities_are_the_cpus_within_the_bound_of_strong_convexity() {
    for device in devices() {
        for (seed, contacts, number) in
            [(1, 1, 1.0), (2, 7, 0.1), (3, 40, 5.0), (4, 120, 30.0), (5, 300, 1000.0)]
        {
            let problem = random_problem(seed, contacts, number);
            let (right, info) = cpu(&problem, &settings(1e-8), InitialGuess::Free);
            let found = solve(&device, &problem, &settings(1e-8), InitialGuess::Free);
            let case = format!("{}, problem {seed}: {:?} {info:?}", device.name(), found.report);
            assert_eq!(found.info.stop, StopReason::Converged, "{case}");
            assert!(found.info.residual < found.info.tolerance && found.info.tolerance > 0.0, "{case}");
            let bound = found.info.residual + info.residual;
            assert!(distance(&problem, &found.velocities, right.velocities()) <= bound, "{case}");
            assert!((found.info.objective - info.objective).abs() <= 1e-9 * info.objective, "{case}");
            assert!((found.info.tolerance - info.tolerance).abs() <= 1e-6 * info.tolerance, "{case}");
        }
    }
}

// Each step is along a direction of descent and ends where the objective is lower; it may rise by
// the rounding of its own sum.
#[test]
fn the_objective_falls_with_every_step() {
    for device in devices() {
        let problem = random_problem(11, 150, 100.0);
        let found = solve(&device, &problem, &settings(1e-10), InitialGuess::Free);
        assert!(found.trace.len() >= 4, "{:?}", found.report);
        for step in found.trace.windows(2) {
            assert!(step[1][0] <= step[0][0] * (1.0 + 1e-14), "{:?}", found.trace);
        }
        // And it is the one that the CPU goes down from.
        let (right, _) = cpu(&problem, &settings(1e-10), InitialGuess::Free);
        let first = right.trace()[0];
        assert!((found.trace[0][0] - first.objective).abs() <= 1e-12 * first.objective);
        assert!((found.trace[0][1] - first.residual).abs() <= 1e-12 * first.residual);
    }
}

// The weights of a stencil sum to one: the contacts' impulses and those of the nodes have the same
// sum, and what the nodes have gained but for the gradient that is left. Sums of a few hundred
// terms in f64.
#[test]
fn momentum_is_that_of_the_impulses() {
    for device in devices() {
        let problem = random_problem(12, 200, 20.0);
        let found = solve(&device, &problem, &settings(1e-12), InitialGuess::Free);
        for a in 0..3 {
            let impulses: f64 = found.impulses.iter().map(|g| g[a]).sum();
            let size: f64 = found.impulses.iter().map(|g| g[a].abs()).sum();
            let on_nodes: f64 = found.node_impulses.iter().map(|g| g[a]).sum();
            assert!((impulses - on_nodes).abs() <= 1e-13 * size, "{impulses} {on_nodes}");
            let nodes = problem.node_mass.iter().zip(&found.velocities).zip(&problem.node_free_velocity);
            let gained: f64 = nodes.map(|((m, v), free)| m * (v[a] - free[a])).sum();
            // sum |g_i| <= sqrt(sum m) |M^-1/2 g|.
            let mass: f64 = problem.node_mass.iter().sum();
            let rest = mass.sqrt() * found.info.residual;
            assert!((gained - impulses).abs() <= rest + 1e-13 * size, "{gained} {impulses} {rest}");
        }
    }
}

fn bits(problem: &ContactProblem, found: &pliant_cuda::convex::DeviceSolution) -> Vec<u64> {
    assert_eq!(found.velocities.len(), problem.node_mass.len());
    let numbers = found.velocities.iter().chain(&found.node_impulses).chain(&found.trace).flatten();
    let mut bits: Vec<u64> = numbers.chain(found.impulses.iter().flatten()).map(|x| x.to_bits()).collect();
    bits.extend([found.report.inner_iterations, found.report.line_search_iterations].map(u64::from));
    bits
}

// Every sum has an order that only its number of terms decides. Several tiles of contacts and of
// nodes.
#[test]
fn neither_the_schedule_nor_the_number_of_blocks_changes_a_bit() {
    let problem = random_problem_in(12, 13, 600, 50.0);
    let mut first: Option<Vec<u64>> = None;
    for device in devices() {
        let emulated = device.is_emulated();
        let mut of_device = None;
        for blocks in [1, 2, 3, 7] {
            let mut solver = solver_for(&device, &problem).with_blocks(blocks);
            let found = solve_with(&mut solver, &device, &problem, &settings(1e-8), InitialGuess::Free);
            assert_eq!(found.info.stop, StopReason::Converged);
            assert_eq!(found.report.grid_barriers > 0, blocks > 1, "{:?}", found.report);
            let found = bits(&problem, &found);
            assert!(of_device.get_or_insert(found.clone()) == &found, "{} {blocks}", device.name());
            // Again, with the memory of the solve before.
            let again = solve_with(&mut solver, &device, &problem, &settings(1e-8), InitialGuess::Free);
            assert!(bits(&problem, &again) == found, "{} {blocks}", device.name());
            // A GPU fuses and rounds in its own way.
            assert!(!emulated || first.get_or_insert(found.clone()) == &found, "{} {blocks}", device.name());
        }
    }
}

// One block does a solve of up to 1024 contacts and nodes by itself. Above, a product costs one barrier of
// the grid, and besides: 1 for the start; of each iterate 2 for objective and gradient; of each step
// 1 for the Hessians, 1 to begin its system, 1 for the slope, 1 for the line, and 1 for each
// evaluation along it (one less than counted: the first is that of the line).
#[test]
fn a_product_costs_one_barrier_of_the_grid_and_small_solves_none() {
    for device in devices() {
        for (side, contacts, is_small) in [(9, 1024, true), (9, 1025, false), (12, 1024, false)] {
            let problem = random_problem_in(side, 17, contacts, 20.0);
            let mut solver = solver_for(&device, &problem).with_blocks(3);
            let found = solve_with(&mut solver, &device, &problem, &settings(1e-6), InitialGuess::Free);
            let report = found.report;
            assert_eq!(found.info.stop, StopReason::Converged);
            assert_eq!(report.nodes <= 1024, side == 9, "{report:?}");
            assert!(report.inner_iterations > report.iterations, "{report:?}");
            let others = 3 + 5 * report.iterations + report.line_search_iterations;
            let expected = if is_small { 0 } else { report.inner_iterations + others };
            assert_eq!(report.grid_barriers, expected, "{report:?}");
        }
    }
}

// More tiles of 32 nodes than a warp has lanes to add them up: contacts over a wide grid.
#[test]
fn many_tiles_are_summed() {
    let problem = random_problem_in(20, 14, 700, 0.5);
    let (right, info) = cpu(&problem, &settings(1e-3), InitialGuess::Free);
    for device in device_kinds() {
        let found = solve(&device, &problem, &settings(1e-3), InitialGuess::Free);
        assert!(found.report.nodes > 32 * 32, "{:?}", found.report);
        let bound = found.info.residual + info.residual;
        assert!(
            distance(&problem, &found.velocities, right.velocities()) <= bound,
            "{:?} {info:?}",
            found.report
        );
    }
}

// A run's own problems, each started from the last one's solution: as many iterations as the CPU's,
// which takes the same turns. Of single steps one more or less is rounding at the edge of a
// tolerance; of the products of f32 systems a tenth.
#[test]
fn starts_from_the_last_solution_take_as_many_iterations_as_the_cpus() {
    for device in devices() {
        for number in [1.0, 30.0] {
            let sequence = benchmark_sequence(number, 60, 6, 21);
            let (mut of_cpu, mut of_device) = ([0_usize; 3], [0_usize; 3]);
            let mut last: Option<ConvexSolver> = None;
            for (k, step) in sequence.iter().enumerate() {
                let problem = rounded(&step.problem);
                let guess = last.as_ref().map(|solver| {
                    let moment_of_travel = step.carry_impulses(&sequence[k - 1], solver.impulses());
                    let velocities = solver.velocities().to_vec();
                    let single = convex_support::single;
                    (velocities, moment_of_travel.iter().map(|g| g.map(single)).collect::<Vec<_>>())
                });
                let guess = guess.as_ref().map_or(InitialGuess::Free, |(velocities, impulses)| {
                    InitialGuess::Solution { velocities, impulses }
                });
                let (right, info) = cpu(&problem, &settings(1e-3), guess);
                let found = solve(&device, &problem, &settings(1e-3), guess);
                let case = format!("{} {number} {k}: {:?} {info:?}", device.name(), found.info);
                assert!(found.info.stop.is_converged(), "{case}");
                assert!(found.info.iterations.abs_diff(info.iterations) <= 1, "{case}");
                for (sums, info) in [(&mut of_cpu, &info), (&mut of_device, &found.info)] {
                    sums[0] += info.iterations;
                    sums[1] += info.inner_iterations;
                    sums[2] += info.line_search_iterations;
                }
                last = Some(right);
            }
            let case = format!("{} {number}: {of_device:?} {of_cpu:?}", device.name());
            println!("{case}");
            for n in 0..3 {
                assert!(of_device[n].abs_diff(of_cpu[n]) <= of_cpu[n] / 10 + 1, "{case}");
            }
        }
    }
}

// Each start leads to the same minimiser; a start at the solution stays there.
#[test]
fn every_start_reaches_the_minimiser() {
    let problem = random_problem(15, 80, 20.0);
    let (right, info) = cpu(&problem, &settings(1e-10), InitialGuess::Free);
    // As the device gets them.
    let velocities = right.velocities();
    let impulses: Vec<_> = right.impulses().iter().map(|g| g.map(convex_support::single)).collect();
    let impulses = &impulses[..];
    for device in devices() {
        for guess in [
            InitialGuess::Free,
            InitialGuess::Impulses(impulses),
            InitialGuess::Impulses(&impulses[..40]),
            InitialGuess::Velocities(velocities),
            InitialGuess::Solution { velocities, impulses },
            InitialGuess::Solution { velocities: &velocities[..100], impulses: &[] },
        ] {
            let found = solve(&device, &problem, &settings(1e-8), guess);
            let same = cpu(&problem, &settings(1e-8), guess).1;
            let case = format!("{:?} {same:?}", found.info);
            assert_eq!(found.info.stop, StopReason::Converged, "{case}");
            assert!(found.info.iterations.abs_diff(same.iterations) <= 1, "{case}");
            let bound = found.info.residual + info.residual;
            assert!(distance(&problem, &found.velocities, right.velocities()) <= bound, "{case}");
        }
        // f32's rounding of the guess is far below this tolerance: the settling step is the only
        // one.
        let guess = InitialGuess::Solution { velocities, impulses };
        let found = solve(&device, &problem, &settings(1e-3), guess);
        assert_eq!((found.info.iterations, found.info.inner_iterations), (1, 0), "{:?}", found.info);
    }
}
