//! What the convex contact solve on the device does where there is nothing to solve, or nothing
//! that can be.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod convex_support;
mod support;

use convex_support::{cpu, distance, random_problem, settings, solve, solver_for};
use pliant_coupling::convex::{ContactProblem, InitialGuess, SettingsError, SolverSettings, StopReason};
use pliant_cuda::convex::{
    ConvexError, DeviceContactProblem, DeviceConvexSettings, DeviceConvexSolver, DeviceGuess,
};
use support::{device_kinds, devices};

#[test]
fn without_contacts_velocities_are_free() {
    for device in devices() {
        let problem = ContactProblem { contacts: Vec::new(), ..random_problem(31, 10, 1.0) };
        let found = solve(&device, &problem, &settings(1e-8), InitialGuess::Free);
        assert_eq!(found.info.stop, StopReason::NoContacts);
        assert_eq!(found.velocities, problem.node_free_velocity);
        assert!(found.impulses.is_empty() && found.trace.is_empty());
    }
}

// One number that is not finite, wherever it is, ends the solve with the free velocities and no
// impulses, as on the CPU.
#[test]
fn what_is_not_finite_is_reported() {
    let spoil: [fn(&mut ContactProblem); 8] = [
        |p| p.node_free_velocity[p.contacts[3].rows[4] as usize + 1][2] = f64::NAN,
        |p| p.node_mass[p.contacts[3].rows[4] as usize + 1] = f64::NAN,
        |p| p.node_mass[p.contacts[0].rows[4] as usize] = f64::INFINITY,
        |p| p.contacts[5].normal[1] = f64::NAN,
        |p| p.contacts[5].body_velocity[0] = f64::INFINITY,
        |p| p.contacts[7].stiffness = f64::NAN,
        |p| p.contacts[7].lagged_normal_impulse = f64::NAN,
        |p| p.substep = f64::NAN,
    ];
    for device in devices() {
        for (n, spoil) in spoil.iter().enumerate() {
            let mut problem = random_problem(32, 20, 10.0);
            spoil(&mut problem);
            let found = solve(&device, &problem, &settings(1e-8), InitialGuess::Free);
            assert_eq!(
                cpu(&problem, &settings(1e-8), InitialGuess::Free).1.stop,
                StopReason::NotFinite,
                "{n}"
            );
            assert_eq!(found.info.stop, StopReason::NotFinite, "{n}: {:?}", found.info);
            assert!(found.impulses.iter().flatten().all(|g| *g == 0.0), "{n}");
            let kept = found.velocities.iter().zip(&problem.node_free_velocity);
            assert!(
                kept.flat_map(|(v, free)| v.iter().zip(free)).all(|(v, free)| v == free || free.is_nan()),
                "{n}"
            );
        }
        // A guess that is none.
        let problem = random_problem(32, 20, 10.0);
        let guess = InitialGuess::Velocities(&[[f64::NAN; 4]; 216]);
        let found = solve(&device, &problem, &settings(1e-8), guess);
        let same = cpu(&problem, &settings(1e-8), guess).1;
        assert_eq!(found.info.stop, same.stop);
    }
}

// After one iteration from the same start the two solves are apart by what each may leave open: a
// line search ends where the slope is 0.02 of the first one (`SLOPE_REDUCTION` in
// `coupling/src/convex/line_search.rs`), and the objective is at least as curved as its mass term,
// so that a step is within 0.02 |M^-1/2 g| of the minimum along its direction. The directions have
// f32's rounding, 2^-24 times the condition number of their system: the stiffness number of 100 over
// the stiction tolerance of 1e-2 m/s where speeds are about 1 m/s. Where that ends the solution of
// the system an iteration earlier or later, each leaves up to 0.2 of its residual (`Forcing` in
// `coupling/src/convex/inner.rs`). After two iterations only the law of every iterate is left: it is
// within its residual of the minimum, for the same reason.
#[test]
fn the_iteration_limit_is_kept() {
    for device in devices() {
        let mut worst = [0.0_f64; 2];
        for seed in 0..16 {
            let problem = random_problem(seed, 100, 100.0);
            for limit in [1, 2] {
                let limited = SolverSettings { max_iterations: limit, ..settings(1e-12) };
                let found = solve(&device, &problem, &limited, InitialGuess::Free);
                let (right, info) = cpu(&problem, &limited, InitialGuess::Free);
                assert_eq!((found.info.stop, found.info.iterations), (StopReason::IterationLimit, limit));
                assert_eq!((info.stop, info.iterations), (StopReason::IterationLimit, limit));
                let moved = distance(&problem, right.velocities(), &problem.node_free_velocity);
                let off = distance(&problem, &found.velocities, right.velocities());
                let inner = (found.info.inner_iterations, info.inner_iterations);
                let same =
                    if inner.0 == inner.1 { 2.0 * 100.0 / 1e-2 * 2.0_f64.powi(-24) } else { 2.0 * 0.2 };
                let bound = match limit {
                    1 => same * moved + 2.0 * 0.02 * found.trace[0][1],
                    _ => found.info.residual + info.residual,
                };
                worst[limit - 1] = worst[limit - 1].max(off / bound);
                assert!(off <= bound, "seed {seed}, limit {limit}: {off:e} of {bound:e}, {inner:?}");
            }
            let limited = SolverSettings { max_inner_iterations: 3, ..settings(1e-8) };
            let found = solve(&device, &problem, &limited, InitialGuess::Free);
            assert!(found.info.inner_iterations <= 3 * found.info.iterations, "{:?}", found.info);
        }
        println!("{}: 16 problems, off by {worst:?} of the bounds", device.name());
    }
}

// A tolerance that f64 cannot reach ends where rounding is all that is left.
#[test]
fn a_tolerance_of_nothing_ends_at_rounding() {
    for device in devices() {
        let problem = random_problem(34, 30, 3.0);
        let none = SolverSettings { absolute_tolerance: 0.0, max_iterations: 100, ..settings(0.0) };
        let found = solve(&device, &problem, &none, InitialGuess::Free);
        assert!(found.info.stop.is_converged(), "{:?}", found.info);
    }
}

// Stiffness beyond what single precision is trusted with: the same minimiser by double precision.
#[test]
fn stiff_systems_are_solved_in_double_precision() {
    for device in devices() {
        let problem = random_problem(35, 3, 1e6);
        let (right, info) = cpu(&problem, &settings(1e-8), InitialGuess::Free);
        let found = solve(&device, &problem, &settings(1e-8), InitialGuess::Free);
        assert!(found.report.double_systems > 0, "{:?}", found.report);
        assert!(found.info.stop.is_converged(), "{:?}", found.report);
        let bound = found.info.residual + info.residual;
        assert!(distance(&problem, &found.velocities, right.velocities()) <= bound, "{:?}", found.report);
    }
}

// A contact of one node alone, as a wall makes one.
#[test]
fn contacts_of_a_node_are_solved() {
    for device in devices() {
        let mut problem = random_problem(36, 20, 10.0);
        for c in &mut problem.contacts[4..8] {
            c.weights_xy = std::array::from_fn(|r| f64::from(u8::from(r == 5)));
            c.weights_z = [0.0, 0.0, 1.0];
        }
        let (right, info) = cpu(&problem, &settings(1e-8), InitialGuess::Free);
        let found = solve(&device, &problem, &settings(1e-8), InitialGuess::Free);
        let bound = found.info.residual + info.residual;
        assert!(distance(&problem, &found.velocities, right.velocities()) <= bound, "{:?}", found.report);
    }
}

#[test]
fn what_cannot_be_solved_here_is_refused() {
    for device in device_kinds() {
        let upload = |problem: &ContactProblem| {
            DeviceContactProblem::upload(&device, problem, InitialGuess::Free, |_| [0; 3])
        };
        let mut problem = random_problem(37, 9, 1.0);
        problem.contacts[6].weights_z = [0.2, 0.2, 0.6];
        assert!(matches!(upload(&problem), Err(ConvexError::Stencil { contact: 6 })));
        let mut problem = random_problem(37, 9, 1.0);
        problem.contacts[2].rows[8] = 216;
        assert!(matches!(upload(&problem), Err(ConvexError::Shape { contact: 2 })));
        let problem = random_problem(37, 9, 1.0);
        let on_device = upload(&problem).unwrap();
        let mut small = DeviceConvexSolver::new(&device, 8, 216).unwrap();
        let capacity_exceeded = ConvexError::CapacityExceeded { contact_capacity: 8, node_capacity: 216 };
        assert_eq!(small.number(&on_device), Err(capacity_exceeded));
        let bad = DeviceConvexSettings {
            solver: SolverSettings { max_iterations: 0, ..SolverSettings::default() },
            ..DeviceConvexSettings::default()
        };
        let refused = solver_for(&device, &problem).set(&bad, DeviceGuess::Free);
        let count = SettingsError::Count { field: "max_iterations" };
        assert_eq!(refused, Err(ConvexError::Settings(count)));
    }
}
