//! The convex contact solver against closed forms, differences and a dense Newton method.

use nalgebra::{DMatrix, DVector};
use pliant_coupling::convex::benchmark_problem::benchmark_sequence;
use pliant_coupling::convex::{
    ContactConstraint, ContactProblem, ConvexSolver, Direction, InitialGuess, Mobility, ProblemError,
    SettingsError, SolverSettings, StopReason,
};
use pliant_rigid::contact_model::{ALONE, NormalContactModel};
use pliant_rigid::icf::potential::ConstraintPotential;

use crate::problems::{DIRECTIONS, Random, random_problem, tight};

/// One contact with one node of mass `mass` alone.
fn single(mass: f64, free: [f64; 3], contact: ContactConstraint, substep: f64) -> ContactProblem {
    let mut node_mass = vec![0.0; 27];
    node_mass[13] = mass;
    let mut node_free_velocity = vec![[0.0; 4]; 27];
    node_free_velocity[13] = [free[0], free[1], free[2], 0.0];
    let mut weights_xy = [0.0; 9];
    weights_xy[4] = 1.0;
    let contact = ContactConstraint {
        rows: std::array::from_fn(|r| 3 * r as u32),
        weights_xy,
        weights_z: [0.0, 1.0, 0.0],
        ..contact
    };
    ContactProblem {
        node_mass,
        node_free_velocity,
        contacts: vec![contact],
        mobility: Mobility::default(),
        substep,
    }
}

fn plain_contact() -> ContactConstraint {
    ContactConstraint {
        rows: [0; 9],
        weights_xy: [0.0; 9],
        weights_z: [0.0; 3],
        normal: [0.0, 0.0, 1.0],
        body_velocity: [0.0; 3],
        gap: 0.0,
        stiffness: 1e4,
        dissipation: 0.0,
        friction: 0.0,
        stiction_tolerance: 1e-3,
        lagged_normal_impulse: 0.0,
        adhesion: 0.0,
    }
}

/// Objective, gradient and Hessian of a problem at velocities of all nodes, written out densely.
fn dense(problem: &ContactProblem, v: &DVector<f64>) -> (f64, DVector<f64>, DMatrix<f64>) {
    let nodes = problem.node_mass.len();
    let mut value = 0.0;
    let mut gradient = DVector::zeros(3 * nodes);
    let mut hessian = DMatrix::zeros(3 * nodes, 3 * nodes);
    for i in 0..nodes {
        for a in 0..3 {
            let d = v[3 * i + a] - problem.node_free_velocity[i][a];
            value += 0.5 * problem.node_mass[i] * d * d;
            gradient[3 * i + a] += problem.node_mass[i] * d;
            // Nodes without mass are held.
            hessian[(3 * i + a, 3 * i + a)] +=
                if problem.node_mass[i] > 0.0 { problem.node_mass[i] } else { 1.0 };
        }
    }
    for contact in &problem.contacts {
        let stencil: Vec<(usize, f64)> = (0..27)
            .map(|n| {
                let (r, k) = (n / 3, n % 3);
                (contact.rows[r] as usize + k, contact.weights_xy[r] * contact.weights_z[k])
            })
            .collect();
        let v_c: [f64; 3] = std::array::from_fn(|a| {
            stencil.iter().map(|&(i, w)| w * v[3 * i + a]).sum::<f64>() - contact.body_velocity[a]
        });
        let response = contact.potential(problem.substep).response(&v_c);
        value += response.potential;
        for &(i, w) in stencil.iter().filter(|(i, _)| problem.node_mass[*i] > 0.0) {
            for a in 0..3 {
                gradient[3 * i + a] -= w * response.impulse[a];
                for &(j, u) in stencil.iter().filter(|(j, _)| problem.node_mass[*j] > 0.0) {
                    for b in 0..3 {
                        hessian[(3 * i + a, 3 * j + b)] += w * u * response.hessian[a][b];
                    }
                }
            }
        }
    }
    (value, gradient, hessian)
}

fn stack(velocities: &[[f64; 4]]) -> DVector<f64> {
    DVector::from_iterator(3 * velocities.len(), velocities.iter().flat_map(|v| [v[0], v[1], v[2]]))
}

/// Newton with halving, to the last digit.
fn dense_minimiser(problem: &ContactProblem) -> DVector<f64> {
    let mut v = stack(&problem.node_free_velocity);
    for _ in 0..300 {
        let (value, gradient, hessian) = dense(problem, &v);
        let Some(factor) = hessian.cholesky() else { break };
        let step = -factor.solve(&gradient);
        let slope = gradient.dot(&step);
        if slope.abs() < 1e-30 {
            break;
        }
        let mut alpha = 1.0;
        while alpha > 1e-6 && dense(problem, &(&v + alpha * &step)).0 > value + 1e-4 * alpha * slope {
            alpha *= 0.5;
        }
        v += alpha * step;
    }
    v
}

// The contact model (`docs/book/src/theory/contact.md`): gamma = delta f_e (1 - d v_n) where both
// factors are positive; the potential's derivative; the impulse's. Differences of a smooth branch
// are good to (step)^2, here 1e-9 relative to the scale.
#[test]
fn the_law_is_the_papers_and_its_derivatives_agree_with_differences() {
    let mut random = Random(1);
    for case in 0..2000 {
        let (k, substep) = (1e4, 1e-3);
        let d = if case % 3 == 0 { 0.0 } else { 2.0 + 2.0 * random.next() };
        let gap = 1e-3 * random.next();
        let v = 2.0 * random.next();
        let f_e = -k * gap - substep * k * v;
        let expected = if f_e > 0.0 && 1.0 - d * v > 0.0 { substep * f_e * (1.0 - d * v) } else { 0.0 };
        let law = NormalContactModel::new(gap, k, d, substep);
        let at = |v: f64| law.at::<ALONE>(v);
        assert!((at(v).impulse - expected).abs() <= 1e-13 * (1.0 + expected), "case {case}");
        let step = 1e-6;
        if (law.release_velocity - v).abs() < 2.0 * step {
            continue;
        }
        let slope = (at(v + step).potential - at(v - step).potential) / (2.0 * step);
        assert!((slope + at(v).impulse).abs() < 1e-7, "case {case}");
        let curve = (at(v + step).impulse - at(v - step).impulse) / (2.0 * step);
        assert!((curve + at(v).hessian).abs() < 1e-7, "case {case}");
        assert!(at(v).potential >= 0.0);
    }
}

// The law of a bonded contact (`contact_model`): compression as without the bond, tension min(k
// (phi + delta v_n), f_a) beyond it where dissipation does not release it earlier; the potential's
// derivative is the impulse, the impulse's its derivative, which is never positive: the potential
// is convex. Differences as above.
#[test]
fn a_bond_holds_up_to_its_limit_and_keeps_the_law_convex() {
    let mut random = Random(2);
    let (mut held, mut limited) = (0, 0);
    for case in 0..2000 {
        let (k, substep) = (1e4, 1e-3);
        let d = if case % 3 == 0 { 0.0 } else { 0.2 };
        let gap = 1e-3 * random.next();
        let v = 3.0 * random.next();
        let tension = 5.0 * (1.0 + random.next());
        let bare = NormalContactModel::new(gap, k, d, substep);
        let law = bare.bonded(tension, k, substep);
        let expected = bare.impulse(v) - substep * (k * (gap + substep * v)).clamp(0.0, tension);
        let at = |v: f64| law.at::<ALONE>(v);
        assert!((at(v).impulse - expected).abs() <= 1e-13 * (1.0 + expected.abs()), "case {case}");
        assert!(at(v).potential >= 0.0 && at(v).hessian >= 0.0, "case {case}");
        let step = 1e-6;
        let parting = v - law.release_velocity;
        if parting.abs() < 2.0 * step || (parting - law.tension_range).abs() < 2.0 * step {
            continue;
        }
        held += usize::from(parting > 0.0 && parting < law.tension_range);
        limited += usize::from(parting > law.tension_range);
        let slope = (at(v + step).potential - at(v - step).potential) / (2.0 * step);
        assert!((slope + at(v).impulse).abs() < 1e-7, "case {case}");
        let curve = (at(v + step).impulse - at(v - step).impulse) / (2.0 * step);
        assert!((curve + at(v).hessian).abs() < 1e-7, "case {case}");
    }
    assert!(held > 100 && limited > 100, "{held} {limited}");
    let bare = NormalContactModel::new(1e-3, 1e4, 1.0, 1e-3);
    assert_eq!(bare.bonded(0.0, 1e4, 1e-3), bare);
}

// Cost, gradient and Hessian agree by differences.
#[test]
fn cost_gradient_and_hessian_agree_with_differences() {
    let problem = random_problem(3, 12, 5.0);
    let mut random = Random(4);
    let v = stack(&problem.node_free_velocity);
    let direction =
        DVector::from_fn(v.len(), |i, _| if problem.node_mass[i / 3] > 0.0 { random.next() } else { 0.0 });
    let (_, gradient, hessian) = dense(&problem, &v);
    let step = 1e-6;
    let (ahead, behind) =
        (dense(&problem, &(&v + step * &direction)), dense(&problem, &(&v - step * &direction)));
    let slope = (ahead.0 - behind.0) / (2.0 * step);
    assert!((slope - gradient.dot(&direction)).abs() < 1e-7 * gradient.norm() * direction.norm());
    let curve = (ahead.1 - behind.1) / (2.0 * step);
    assert!((&curve - &hessian * &direction).norm() < 1e-5 * curve.norm());
}

// One particle against a plane, the post-contact normal velocity solves a v^2 + b v + c = 0 with a
// = k d delta^2, b = -m - k delta (delta + d phi0), c = k delta phi0 + m v*, the root with v < 1/d;
// 1e-10.
#[test]
fn one_particle_against_a_plane_meets_the_closed_form() {
    let mut random = Random(5);
    for direction in DIRECTIONS {
        let mut solver = ConvexSolver::new();
        for case in 0..200 {
            let (m, substep) = (1e-2, 1e-3);
            let k = 10f64.powf(3.5 + 1.5 * random.next());
            let d = 1.0 + random.next();
            let overlap = 5e-4 * (1.0 + random.next());
            let free = random.next();
            let contact = ContactConstraint {
                gap: -overlap,
                stiffness: k,
                dissipation: d,
                normal: random.unit(),
                ..plain_contact()
            };
            let problem = single(m, contact.normal.map(|n| n * free), contact, substep);
            let (a, b, c) = (
                k * d * substep * substep,
                -m - k * substep * (substep + d * overlap),
                k * substep * overlap + m * free,
            );
            let root = (-b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a);
            // Where the particle leaves the law's domain there is no force.
            let expected = if overlap / substep <= free || 1.0 / d <= free { free } else { root };
            let info = solver.solve(&problem, &tight(direction), InitialGuess::Free);
            assert!(info.stop.is_converged(), "{direction:?} case {case}: {info:?}");
            let v = solver.velocities()[13];
            let v_n: f64 = (0..3).map(|l| v[l] * contact.normal[l]).sum();
            assert!((v_n - expected).abs() < 1e-10, "{direction:?} case {case}: {v_n} {expected}");
        }
    }
}

// The minimiser equals a dense Newton's to 1e-8 and every variant reaches the same point; the
// objective falls monotonically (to the rounding of its sum).
#[test]
fn every_direction_reaches_the_dense_minimiser_and_falls_monotonically() {
    for (seed, contacts, stiffness_number) in [(11, 5, 1.0), (12, 12, 10.0), (13, 30, 10.0), (14, 12, 1000.0)]
    {
        let problem = random_problem(seed, contacts, stiffness_number);
        problem.validate().expect("a valid problem");
        let expected = dense_minimiser(&problem);
        for direction in DIRECTIONS {
            let mut solver = ConvexSolver::new();
            let info = solver.solve(&problem, &tight(direction), InitialGuess::Free);
            assert!(info.stop.is_converged(), "{direction:?} seed {seed}: {info:?}");
            let error = (stack(solver.velocities()) - &expected).amax();
            assert!(error < 1e-8, "{direction:?} seed {seed}: {error}, {info:?}");
            for pair in solver.trace().windows(2) {
                let slack = 1e-13 * pair[0].objective.abs();
                assert!(
                    pair[1].objective <= pair[0].objective + slack,
                    "{direction:?} seed {seed}: {pair:?}"
                );
            }
        }
    }
}

// The third law and momentum: sum m (v - v*) - sum gamma is the sum of the gradient, which the
// residual bounds (Cauchy-Schwarz: |sum_i g_i| <= sqrt(sum m) |M^-1/2 g|), besides rounding of the
// sums.
#[test]
fn momentum_given_to_the_grid_is_the_sum_of_the_impulses() {
    let problem = random_problem(21, 60, 10.0);
    for direction in DIRECTIONS {
        for relative_tolerance in [1e-1, 1e-6, 1e-13] {
            let settings = SolverSettings { relative_tolerance, max_iterations: 100_000, ..tight(direction) };
            let mut solver = ConvexSolver::new();
            let info = solver.solve(&problem, &settings, InitialGuess::Free);
            let bound = problem.node_mass.iter().sum::<f64>().sqrt() * info.residual;
            for a in 0..3 {
                let gained: f64 = (0..problem.node_mass.len())
                    .map(|i| {
                        problem.node_mass[i] * (solver.velocities()[i][a] - problem.node_free_velocity[i][a])
                    })
                    .sum();
                let given: f64 = solver.impulses().iter().map(|gamma| gamma[a]).sum();
                let size: f64 = solver.impulses().iter().map(|gamma| gamma[a].abs()).sum();
                assert!(
                    (gained - given).abs() < bound + 1e-13 * size,
                    "{direction:?}: {gained} {given} {bound}"
                );
            }
        }
    }
}

// Speculative contacts: across a gap the contact engages exactly when v_n < -phi/delta.
#[test]
fn a_contact_across_a_gap_engages_when_it_would_be_crossed() {
    let (gap, substep) = (1e-3, 1e-3);
    for (free, engages) in [(-0.999_999, false), (-1.000_001, true), (-3.0, true), (0.5, false)] {
        let contact = ContactConstraint { gap, stiffness: 1e6, dissipation: 1.0, ..plain_contact() };
        let problem = single(1e-2, [0.0, 0.0, free], contact, substep);
        let mut solver = ConvexSolver::new();
        solver.solve(&problem, &tight(Direction::NewtonCg), InitialGuess::Free);
        assert_eq!(solver.impulses()[0][2] > 0.0, engages, "{free}");
        // A stiff contact stops the particle at the surface: v_n near -phi/delta.
        if engages {
            assert!(solver.velocities()[13][2] < -1.0 && solver.velocities()[13][2] > -1.05);
        } else {
            assert_eq!(solver.velocities()[13][2], free);
        }
    }
}

// Same input, same bits, also in a workspace that has solved something else; guesses only change
// the way.
#[test]
fn the_same_problem_gives_the_same_bits() {
    let problem = random_problem(31, 50, 10.0);
    let other = random_problem(32, 80, 100.0);
    for direction in DIRECTIONS {
        let settings = SolverSettings { direction, relative_tolerance: 1e-4, ..SolverSettings::default() };
        let mut fresh = ConvexSolver::new();
        let first = fresh.solve(&problem, &settings, InitialGuess::Free);
        let mut used = ConvexSolver::new();
        used.solve(&other, &settings, InitialGuess::Free);
        let second = used.solve(&problem, &settings, InitialGuess::Free);
        assert_eq!(first, second);
        assert_eq!(fresh.velocities(), used.velocities());
        assert_eq!(fresh.impulses(), used.impulses());
    }
}

// Any guess leads to the same minimiser; a terrible one is not taken; a perfect one needs none of
// Newton's steps.
#[test]
fn guesses_change_the_way_and_not_the_end() {
    let problem = random_problem(41, 30, 10.0);
    let settings = tight(Direction::NewtonCg);
    let mut solver = ConvexSolver::new();
    solver.solve(&problem, &settings, InitialGuess::Free);
    let (velocities, impulses) = (solver.velocities().to_vec(), solver.impulses().to_vec());
    let start = solver.trace()[0].objective;
    let terrible: Vec<[f64; 3]> = impulses.iter().map(|g| g.map(|x| -1e6 * x)).collect();
    let doubled: Vec<[f64; 3]> = impulses.iter().map(|g| g.map(|x| 2.0 * x)).collect();
    let reversed: Vec<[f64; 4]> = velocities.iter().map(|v| v.map(|x| -x)).collect();
    for guess in [
        InitialGuess::Impulses(&terrible),
        InitialGuess::Impulses(&doubled),
        InitialGuess::Impulses(&impulses[..7]),
        InitialGuess::Velocities(&[]),
        InitialGuess::Solution { velocities: &[], impulses: &terrible },
        InitialGuess::Solution { velocities: &reversed, impulses: &impulses[..7] },
    ] {
        let info = solver.solve(&problem, &settings, guess);
        assert!(info.stop.is_converged());
        assert!(solver.trace()[0].objective <= start * (1.0 + 1e-13), "{guess:?}");
        assert!((stack(solver.velocities()) - stack(&velocities)).amax() < 1e-9, "{guess:?}");
    }
    let coarse = SolverSettings { relative_tolerance: 1e-6, ..settings };
    // Of a whole solution either half will do; velocities that are taken over from it get a step
    // all the same.
    for (guess, steps) in [
        (InitialGuess::Impulses(&impulses), 0),
        (InitialGuess::Velocities(&velocities), 0),
        (InitialGuess::Solution { velocities: &velocities, impulses: &terrible }, 1),
        (InitialGuess::Solution { velocities: &reversed, impulses: &impulses }, 0),
    ] {
        let info = solver.solve(&problem, &coarse, guess);
        assert_eq!(info.iterations, steps, "{info:?}");
    }
}

// Extreme parameters never give a number that is not finite, in any direction.
#[test]
fn extreme_parameters_stay_finite() {
    for direction in DIRECTIONS {
        let mut solver = ConvexSolver::new();
        for k in [1e-3, 1e4, 1e12] {
            for d in [0.0, 1e4] {
                for mu in [0.0, 10.0] {
                    for v_s in [0.0, 1e-3] {
                        let mut problem = random_problem(51, 20, 1.0);
                        for contact in &mut problem.contacts {
                            (contact.stiffness, contact.dissipation) = (k, d);
                            (contact.friction, contact.stiction_tolerance) = (mu, v_s);
                        }
                        let settings =
                            SolverSettings { direction, max_iterations: 200, ..SolverSettings::default() };
                        let info = solver.solve(&problem, &settings, InitialGuess::Free);
                        assert_ne!(info.stop, StopReason::NotFinite, "{direction:?} {k} {d} {mu} {v_s}");
                        // Newton also converges within these few iterations, unless no stiction
                        // tolerance or a stiffness or dissipation beyond what the step resolves (by
                        // 1e8) leaves the objective as good as not smooth.
                        let newton = matches!(direction, Direction::NewtonCg | Direction::NewtonFactorised)
                            && v_s > 0.0
                            && k <= 1e4
                            && d <= 1.0;
                        assert!(
                            !newton || info.stop.is_converged(),
                            "{direction:?} {k} {d} {mu} {v_s} {info:?}"
                        );
                        assert!(solver.velocities().iter().flatten().all(|x| x.is_finite()));
                        assert!(solver.impulses().iter().flatten().all(|x| x.is_finite()));
                    }
                }
            }
        }
    }
}

// Nothing to do, and what cannot be done.
#[test]
fn no_contacts_and_bad_problems_leave_the_free_velocities() {
    let mut solver = ConvexSolver::new();
    let settings = SolverSettings::default();
    let mut problem = random_problem(61, 10, 1.0);
    let contacts = std::mem::take(&mut problem.contacts);
    let info = solver.solve(&problem, &settings, InitialGuess::Free);
    assert_eq!(info.stop, StopReason::NoContacts);
    assert_eq!(solver.velocities(), problem.node_free_velocity);
    assert!(solver.impulses().is_empty());

    problem.contacts = contacts;
    problem.contacts[3].gap = f64::NAN;
    assert!(matches!(problem.validate(), Err(ProblemError::Value { field: "contacts.gap", index: 3, .. })));
    problem.contacts[3].gap = 0.0;
    problem.contacts[3].normal[1] = f64::NAN;
    assert_eq!(solver.solve(&problem, &settings, InitialGuess::Free).stop, StopReason::NotFinite);
    assert_eq!(solver.velocities(), problem.node_free_velocity);
    problem.contacts[3].normal[1] = 0.0;
    problem.contacts[4].rows[8] = 123;
    assert_eq!(problem.validate(), Err(ProblemError::RowOutOfRange { contact: 4, node: 123, nodes: 125 }));
    assert_eq!(solver.solve(&problem, &settings, InitialGuess::Free).stop, StopReason::NotFinite);
    assert_eq!(solver.velocities(), problem.node_free_velocity);
    assert!(solver.impulses().iter().flatten().all(|&x| x == 0.0));
}

#[test]
fn settings_name_what_is_wrong() {
    assert_eq!(SolverSettings::default().validate(), Ok(()));
    let bad = SolverSettings { relative_tolerance: -1.0, ..SolverSettings::default() };
    assert_eq!(
        bad.validate(),
        Err(SettingsError::Tolerance { field: "relative_tolerance", value: -1.0, unit: "" })
    );
    let bad = SolverSettings { direction: Direction::Lbfgs { memory: 0 }, ..SolverSettings::default() };
    assert_eq!(bad.validate(), Err(SettingsError::Count { field: "direction.lbfgs.memory" }));
}

// Pressing sequences: every solve converges at every tolerance, warm-started as in a run, for the
// Newton directions; the generator is repeatable and presses all its contacts.
#[test]
fn pressing_converges_at_every_stiffness_and_tolerance() {
    for stiffness_number in [1.0, 10.0, 100.0, 1000.0] {
        let steps = benchmark_sequence(stiffness_number, 64, 25, 7);
        assert_eq!(steps, benchmark_sequence(stiffness_number, 64, 25, 7));
        for direction in [Direction::NewtonCg, Direction::NewtonFactorised] {
            for relative_tolerance in [1e-1, 5e-2, 1e-3, 1e-5] {
                let settings = SolverSettings { direction, relative_tolerance, ..SolverSettings::default() };
                let mut solver = ConvexSolver::new();
                let mut impulses = Vec::new();
                for (k, step) in steps.iter().enumerate() {
                    let velocities = solver.velocities().to_vec();
                    let guess = match k.checked_sub(1) {
                        Some(earlier) => step.carry_impulses(&steps[earlier], &impulses),
                        None => Vec::new(),
                    };
                    let guess = InitialGuess::Solution { velocities: &velocities, impulses: &guess };
                    let info = solver.solve(&step.problem, &settings, guess);
                    assert_eq!(
                        info.stop,
                        StopReason::Converged,
                        "{stiffness_number} {settings:?} {k} {info:?}"
                    );
                    impulses = solver.impulses().to_vec();
                }
                // The stiffer the contacts, the fewer carry the block on its uneven surface.
                let pressed = impulses.iter().filter(|g| g.iter().any(|&x| x != 0.0)).count();
                assert!(pressed > 8, "{pressed} of {} contacts press", impulses.len());
            }
        }
    }
}

// Nodes far lighter than the contacts they carry: the system's condition is then that ratio times
// the stiffness number, far beyond f32. Newton with conjugate gradients still converges, and to the
// factorised direction's point. Strong convexity (modulus M) puts each within its residual of the
// minimiser in the mass norm.
#[test]
fn light_nodes_between_stiff_contacts_do_not_stop_newton() {
    for stiffness_number in [10.0, 1000.0] {
        let steps = benchmark_sequence(stiffness_number, 64, 8, 7);
        for ratio in [1e-3, 1e-7, 1e-12] {
            let mut problem = steps[7].problem.clone();
            problem.node_mass.iter_mut().step_by(5).for_each(|mass| *mass *= ratio);
            let solve = |direction| {
                let settings =
                    SolverSettings { direction, relative_tolerance: 1e-4, ..SolverSettings::default() };
                let mut solver = ConvexSolver::new();
                let info = solver.solve(&problem, &settings, InitialGuess::Free);
                assert_eq!(info.stop, StopReason::Converged, "{stiffness_number} {ratio:e} {info:?}");
                (solver.velocities().to_vec(), info)
            };
            let (newton, info) = solve(Direction::NewtonCg);
            let (factorised, other) = solve(Direction::NewtonFactorised);
            let squares = newton.iter().zip(&factorised).zip(&problem.node_mass);
            let distance: f64 =
                squares.map(|((a, b), m)| (0..3).map(|l| m * (a[l] - b[l]).powi(2)).sum::<f64>()).sum();
            assert!(
                distance.sqrt() <= info.residual + other.residual,
                "{stiffness_number} {ratio:e}: {} {info:?} {other:?}",
                distance.sqrt()
            );
        }
    }
}
