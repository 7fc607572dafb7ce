//! Strong coupling in the convex solver: bodies whose velocities are unknowns too, against closed
//! forms and a dense Newton method in the coordinates of the mechanism.

use crate::problems::{DIRECTIONS, Random, random_problem, tight};
use nalgebra::{DMatrix, DVector, Vector3};
use pliant_coupling::convex::{
    Attachment, ContactConstraint, ContactProblem, ConvexSolver, InitialGuess, StopReason,
};
use pliant_rigid::icf::potential::{ConstraintPotential, Evaluation};

/// Bodies with the coordinates q of a mechanism: its mass matrix A, and the Jacobian J from q to
/// the bodies' velocities.
struct Mechanism {
    mass: DMatrix<f64>,
    jacobian: DMatrix<f64>,
}

impl Mechanism {
    /// `bodies` bodies on `coordinates` coordinates, of about this mass [kg].
    fn random(random: &mut Random, bodies: usize, coordinates: usize, mass: f64) -> Self {
        let root = DMatrix::from_fn(coordinates, coordinates, |_, _| random.next());
        let inertia = (&root * root.transpose() + DMatrix::identity(coordinates, coordinates)) * mass;
        let jacobian = DMatrix::from_fn(6 * bodies, coordinates, |_, _| random.next());
        Self { mass: inertia, jacobian }
    }

    /// `W = J A^-1 J^T`, row by row.
    fn mobility(&self) -> Vec<f64> {
        let inverse = self.mass.clone().cholesky().expect("positive definite").inverse();
        let w = &self.jacobian * inverse * self.jacobian.transpose();
        w.transpose().as_slice().to_vec()
    }
}

/// A random problem with bodies, and on which each contact is.
fn coupled(
    seed: u64,
    number: f64,
    bodies: usize,
    coordinates: usize,
    mass: f64,
) -> (ContactProblem, Mechanism) {
    let mut problem = random_problem(seed, 14, number);
    let mut random = Random(seed + 100);
    let mechanism = Mechanism::random(&mut random, bodies, coordinates, mass);
    problem.mobility.set(bodies, &mechanism.mobility());
    for c in 0..problem.contacts.len() {
        // Every fourth contact is on something that keeps its velocity.
        let body = (c % 4 != 3).then_some((c % bodies) as u32);
        problem.mobility.attach(Attachment { body, lever: random.vector().map(|x| 0.3 * x) });
    }
    (problem, mechanism)
}

/// The relative velocity at contact `c` at unknowns (v, q): a row of weights for each, and its
/// response.
fn see(
    problem: &ContactProblem,
    mechanism: &Mechanism,
    levers: &[Option<(usize, Vector3<f64>)>],
    c: usize,
    x: &DVector<f64>,
) -> (DMatrix<f64>, Evaluation<3>) {
    let contact = &problem.contacts[c];
    let nodes = problem.node_mass.len();
    let mut rows = DMatrix::zeros(3, x.len());
    for n in 0..27 {
        let weight = contact.weights_xy[n / 3] * contact.weights_z[n % 3];
        for a in 0..3 {
            rows[(a, 3 * (contact.rows[n / 3] as usize + n % 3) + a)] += weight;
        }
    }
    if let Some((body, lever)) = levers[c] {
        let j = mechanism.jacobian.rows(6 * body, 6);
        for q in 0..j.ncols() {
            let (w, v) = (
                Vector3::new(j[(0, q)], j[(1, q)], j[(2, q)]),
                Vector3::new(j[(3, q)], j[(4, q)], j[(5, q)]),
            );
            let point = v + w.cross(&lever);
            for a in 0..3 {
                rows[(a, 3 * nodes + q)] -= point[a];
            }
        }
    }
    let v = &rows * x;
    let v_c = std::array::from_fn(|a| v[a] - contact.body_velocity[a]);
    (rows, contact.potential(problem.substep).response(&v_c))
}

/// Minimises over nodes and coordinates by Newton with halving.
fn dense_minimiser(
    problem: &ContactProblem,
    mechanism: &Mechanism,
    levers: &[Option<(usize, Vector3<f64>)>],
) -> DVector<f64> {
    let (nodes, coordinates) = (problem.node_mass.len(), mechanism.mass.nrows());
    let size = 3 * nodes + coordinates;
    let mut free = DVector::zeros(size);
    let mut mass = DMatrix::identity(size, size);
    for i in 0..nodes {
        for a in 0..3 {
            free[3 * i + a] = problem.node_free_velocity[i][a];
            mass[(3 * i + a, 3 * i + a)] =
                if problem.node_mass[i] > 0.0 { problem.node_mass[i] } else { 1.0 };
        }
    }
    mass.view_mut((3 * nodes, 3 * nodes), (coordinates, coordinates)).copy_from(&mechanism.mass);
    let evaluate = |x: &DVector<f64>| {
        let d = x - &free;
        let mut gradient = &mass * &d;
        let mut value = 0.5 * d.dot(&gradient);
        let mut bends = Vec::new();
        for c in 0..problem.contacts.len() {
            let (rows, response) = see(problem, mechanism, levers, c, x);
            value += response.potential;
            gradient -= rows.transpose() * DVector::from_row_slice(&response.impulse);
            bends.push((rows, DMatrix::from_fn(3, 3, |a, b| response.hessian[a][b])));
        }
        (value, gradient, bends)
    };
    let mut x = free.clone();
    for _ in 0..300 {
        let (value, gradient, bends) = evaluate(&x);
        let mut hessian = mass.clone();
        for (rows, g) in bends {
            let touched: Vec<usize> =
                (0..size).filter(|&i| rows.column(i).iter().any(|w| *w != 0.0)).collect();
            let rows = rows.select_columns(&touched);
            let bend = rows.transpose() * g * &rows;
            for (k, &i) in touched.iter().enumerate() {
                for (l, &j) in touched.iter().enumerate() {
                    hessian[(i, j)] += bend[(k, l)];
                }
            }
        }
        let step = -hessian.cholesky().expect("convex").solve(&gradient);
        let slope = gradient.dot(&step);
        // The error left is its root over that of the least mass: below 1e-10 m/s.
        if slope.abs() < 1e-26 {
            break;
        }
        let mut alpha = 1.0;
        while alpha > 1e-6 && evaluate(&(&x + alpha * &step)).0 > value + 1e-4 * alpha * slope {
            alpha *= 0.5;
        }
        x += alpha * step;
    }
    x
}

// Every direction reaches the dense minimiser over nodes and the mechanism's coordinates to 1e-8,
// for light and heavy bodies, with as many coordinates as components, fewer (an arm), and one
// (a slide).
#[test]
fn every_direction_reaches_the_dense_minimiser_with_bodies() {
    // Levers are drawn again as in `coupled`.
    for (seed, number, bodies, coordinates, mass) in [
        (21, 1.0, 2, 12, 1.0),
        (22, 3.0, 3, 7, 1e-3),
        (23, 30.0, 1, 1, 1e-4),
        (24, 10.0, 2, 5, 1e3),
        (25, 300.0, 2, 12, 1e-5),
    ] {
        let (problem, mechanism) = coupled(seed, number, bodies, coordinates, mass);
        assert!(problem.mobility.rank() == coordinates, "seed {seed}: rank {}", problem.mobility.rank());
        let levers = levers_of(seed, bodies, coordinates, mass, problem.contacts.len());
        let expected = dense_minimiser(&problem, &mechanism, &levers);
        let nodes = problem.node_mass.len();
        let body_velocity_changes = &mechanism.jacobian * expected.rows(3 * nodes, coordinates);
        // The block directions take tens of thousands of iterations beyond this stiffness number.
        for direction in DIRECTIONS.into_iter().skip(if number > 10.0 { 2 } else { 0 }) {
            let mut solver = ConvexSolver::new();
            let info = solver.solve(&problem, &tight(direction), InitialGuess::Free);
            assert!(info.stop.is_converged(), "seed {seed} {direction:?}: {info:?}");
            for i in (0..nodes).filter(|&i| problem.node_mass[i] > 0.0) {
                for a in 0..3 {
                    let error = (solver.velocities()[i][a] - expected[3 * i + a]).abs();
                    assert!(error < 1e-8, "seed {seed} {direction:?} node {i}: {error:e}");
                }
            }
            for (d, value) in solver.body_velocity_changes().as_flattened().iter().enumerate() {
                let error = (value - body_velocity_changes[d]).abs();
                assert!(error < 1e-8, "seed {seed} {direction:?} component {d}: {error:e}");
            }
            let falls = solver
                .trace()
                .windows(2)
                .all(|w| w[1].objective <= w[0].objective + 1e-12 * w[0].objective.abs().max(1.0));
            assert!(falls, "seed {seed} {direction:?}: the objective rises");
        }
    }
}

/// The same numbers as in `coupled`.
fn levers_of(
    seed: u64,
    bodies: usize,
    coordinates: usize,
    mass: f64,
    contacts: usize,
) -> Vec<Option<(usize, Vector3<f64>)>> {
    let mut random = Random(seed + 100);
    let _ = Mechanism::random(&mut random, bodies, coordinates, mass);
    (0..contacts)
        .map(|c| {
            let lever = Vector3::from(random.vector().map(|x| 0.3 * x));
            (c % 4 != 3).then_some((c % bodies, lever))
        })
        .collect()
}

// Two bodies in a head-on contact without friction: the law of one body against a plane with the
// reduced mass m M/(m + M), and what one loses of momentum the other gains, to rounding.
#[test]
fn one_particle_against_a_free_body_is_the_law_with_the_reduced_mass() {
    let mut random = Random(7);
    for direction in DIRECTIONS {
        let mut solver = ConvexSolver::new();
        for case in 0..50 {
            let (m, substep) = (1e-2, 1e-3);
            let body = 10f64.powf(3.0 * random.next() - 2.0);
            let (k, d, overlap, approach) =
                (10f64.powf(3.5 + random.next()), 1.0 + random.next(), 5e-4, 1.0 + random.next());
            let normal = random.unit();
            let mut problem = ContactProblem { substep, ..ContactProblem::default() };
            problem.node_mass = vec![0.0; 27];
            problem.node_mass[13] = m;
            problem.node_free_velocity = vec![[0.0; 4]; 27];
            for a in 0..3 {
                problem.node_free_velocity[13][a] = -approach * normal[a];
            }
            let mut weights_xy = [0.0; 9];
            weights_xy[4] = 1.0;
            problem.contacts.push(ContactConstraint {
                rows: std::array::from_fn(|r| 3 * r as u32),
                weights_xy,
                weights_z: [0.0, 1.0, 0.0],
                normal,
                body_velocity: [0.0; 3],
                gap: -overlap,
                stiffness: k,
                dissipation: d,
                friction: 0.0,
                stiction_tolerance: 1e-3,
                lagged_normal_impulse: 0.0,
                adhesion: 0.0,
            });
            let mut mobility = [0.0; 36];
            for a in 0..6 {
                mobility[7 * a] = if a < 3 { 1e-9 } else { 1.0 / body };
            }
            problem.mobility.set(1, &mobility);
            problem.mobility.attach(Attachment { body: Some(0), lever: [0.0; 3] });
            let info = solver.solve(&problem, &tight(direction), InitialGuess::Free);
            assert!(info.stop.is_converged(), "{direction:?} case {case}: {info:?}");
            // The same closed form with the reduced mass and the relative velocity.
            let reduced = m * body / (m + body);
            let (a, b, c) = (
                k * d * substep * substep,
                -reduced - k * substep * (substep + d * overlap),
                k * substep * overlap - reduced * approach,
            );
            let expected = (-b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a);
            let dot = |v: &[f64]| (0..3).map(|l| v[l] * normal[l]).sum::<f64>();
            let (particle, answer) =
                (dot(&solver.velocities()[13]), dot(&solver.body_velocity_changes()[0][3..]));
            assert!((particle - answer - expected).abs() < 1e-10, "{direction:?} case {case}");
            let momentum = m * (particle + approach) + body * answer;
            assert!(momentum.abs() < 1e-12 * m * approach, "{direction:?} case {case}: {momentum:e}");
        }
    }
}

// A mobility of zero is a body that keeps its velocity: the same bits as without any.
#[test]
fn a_body_that_cannot_move_is_one_that_keeps_its_velocity() {
    let plain = random_problem(31, 14, 10.0);
    let mut held = plain.clone();
    held.mobility.set(1, &[0.0; 36]);
    for _ in 0..held.contacts.len() {
        held.mobility.attach(Attachment { body: Some(0), lever: [0.1, 0.2, 0.3] });
    }
    for direction in DIRECTIONS {
        let (mut a, mut b) = (ConvexSolver::new(), ConvexSolver::new());
        a.solve(&plain, &tight(direction), InitialGuess::Free);
        b.solve(&held, &tight(direction), InitialGuess::Free);
        assert_eq!(a.velocities(), b.velocities(), "{direction:?}");
        assert_eq!(a.impulses(), b.impulses(), "{direction:?}");
    }
}

// Bad input: a mobility that is not finite, or a contact on a body that does not exist, changes
// nothing.
#[test]
fn attachments_to_bodies_that_are_not_there_are_refused() {
    let (mut problem, _) = coupled(41, 1.0, 2, 6, 1.0);
    problem.mobility.detach();
    problem.mobility.attach(Attachment { body: Some(2), lever: [0.0; 3] });
    assert!(problem.validate().is_err());
    let info = ConvexSolver::new().solve(&problem, &tight(DIRECTIONS[3]), InitialGuess::Free);
    assert_eq!(info.stop, StopReason::NotFinite);
}
