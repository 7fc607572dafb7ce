//! The convex problem of a step: laws against differences, sparse against dense, the minimum,
//! extreme states.

use nalgebra::{DVector, Vector3};
use pliant_rigid::icf::potential::*;
use pliant_rigid::icf::{BlockMatrix, ConvexProblem, SolveSettings, Solver, Stop};
use pliant_rigid::multibody::*;
use pliant_testing::Random;
use pliant_testing::mechanisms::{axis_of, mechanism};

const DT: f64 = 0.01;

fn point(random: &mut Random, distance: f64) -> ContactParameters {
    ContactParameters {
        normal: axis_of(random).into_inner(),
        distance,
        stiffness: 1e4,
        dissipation: 5.0,
        static_friction: 0.8,
        dynamic_friction: 0.5,
        stiction_tolerance: 1e-2,
        mobility: 2.0,
    }
}

fn contact(random: &mut Random, distance: f64) -> ContactPotential {
    let point = point(random, distance);
    ContactPotential::new(&point, DT, point.normal_force(-0.1).max(20.0), 0.6)
}

/// Central differences of a law at random velocities; the kinks of its Hessian lie where few of
/// them meet it.
fn check<L: ConstraintPotential<N>, const N: usize>(name: &str, law: &L, random: &mut Random, scale: f64) {
    for _ in 0..50 {
        let v: [f64; N] = core::array::from_fn(|_| scale * random.signed());
        let r = law.response(&v);
        let step = 1e-5 * scale;
        let size = r.hessian.iter().flatten().fold(1e-12_f64, |m, g| m.max(g.abs())) * scale;
        for a in 0..N {
            let moved = |sign: f64| {
                let mut at = v;
                at[a] += sign * step;
                law.response(&at)
            };
            let (after, before) = (moved(1.0), moved(-1.0));
            let slope = (after.potential - before.potential) / (2.0 * step);
            let kink = after.hessian != before.hessian
                && (after.hessian[a][a] == 0.0 || before.hessian[a][a] == 0.0);
            let rounding = 1e-9 * (r.potential.abs() / step).max(size);
            assert!(
                (slope + r.impulse[a]).abs() < 1e-5 * size + rounding,
                "{name} {v:?}: {slope} {:?}",
                r.impulse
            );
            for b in 0..N {
                let second = (before.impulse[b] - after.impulse[b]) / (2.0 * step);
                assert!(kink || (second - r.hessian[a][b]).abs() < 1e-4 * size / scale, "{name} {v:?}");
                assert_eq!(r.hessian[a][b], r.hessian[b][a], "{name}");
            }
        }
        // Convex: the Hessian of every law is positive semidefinite along any direction.
        let d: [f64; N] = core::array::from_fn(|_| random.signed());
        let [l, slope, curvature] = law.along(&v, &d);
        assert!(curvature >= -1e-12 * size / scale, "{name} {curvature}");
        assert_eq!(l, r.potential, "{name}");
        let directional: f64 = d.iter().zip(&r.impulse).map(|(d, g)| -d * g).sum();
        assert!((slope - directional).abs() <= 1e-12 * (slope.abs() + size), "{name}");
    }
}

// Checks: impulse and Hessian are the first and second derivatives of the potential.
#[test]
fn laws_are_derivatives_of_their_potentials() {
    let mut random = Random::new(1);
    for distance in [-1e-3, 0.0, 1e-3, -0.1] {
        let law = contact(&mut random, distance);
        check("contact", &law, &mut random, 1.0);
        check("slow contact", &law, &mut random, 1e-2);
    }
    check("limit", &LimitPotential::new(-0.01, false, 2.0, DT), &mut random, 3.0);
    check("upper limit", &LimitPotential::new(0.01, true, 2.0, DT), &mut random, 3.0);
    check("holonomic", &HolonomicPotential::new(0.02, 0.5, DT), &mut random, 3.0);
    for (effort, gain, limit) in
        [(3.0, 2.0, 4.0), (3.0, 0.0, 4.0), (-9.0, 2.0, 4.0), (3.0, 2.0, f64::INFINITY)]
    {
        check("actuator", &ActuatorPotential { effort, gain, limit, dt: DT }, &mut random, 5.0);
    }
    check("dry joint", &JointFrictionPotential::new(2.0, 1e-2, 1.0, DT), &mut random, 1.0);
}

// The law (math: Hunt and Crossley, fully implicit): gamma_n = dt (f_0 - dt k v)(1 - d v) where
// both factors are positive, else 0.
#[test]
fn the_normal_impulse_is_hunt_and_crossley() {
    for distance in [-2e-3, 0.0, 5e-4, -0.9] {
        for v in [-2.0, -0.1, 0.0, 0.1, 0.3, 5.0] {
            let (k, d) = (1e4, 5.0);
            let point = ContactParameters {
                normal: Vector3::z(),
                distance,
                stiffness: k,
                dissipation: d,
                static_friction: 0.0,
                dynamic_friction: 0.0,
                stiction_tolerance: 1e-4,
                mobility: 1.0,
            };
            let law = ContactPotential::new(&point, DT, 0.0, 0.0);
            let (elastic, damping) = (-k * distance - DT * k * v, 1.0 - d * v);
            let exact = if elastic > 0.0 && damping > 0.0 { DT * elastic * damping } else { 0.0 };
            let found = law.response(&[0.0, 0.0, v]).impulse[2];
            assert!((found - exact).abs() < 1e-12 * (exact.abs() + 1.0), "{distance} {v}: {found} {exact}");
        }
    }
}

/// A problem of two trees with contacts within each, between them and with the world, and a law of
/// every other kind.
fn problem(model: &Model, state: &State, random: &mut Random, violence: f64) -> ConvexProblem {
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, state);
    let mut p = ConvexProblem::default();
    mass_matrix(model, &kinematics, &mut p.inertia);
    p.momentum = vec![0.0; model.velocities()];
    p.inertia.multiply(model, &state.v, &mut p.momentum);
    for tree in 0..model.trees().len() {
        let block = p.inertia.block(tree);
        p.scale.extend((0..block.nrows()).map(|i| 1.0 / block[(i, i)].sqrt()));
    }
    let moving: Vec<LinkId> =
        (0..model.links().len()).map(LinkId).filter(|&l| model.tree_of(l).is_some()).collect();
    for c in 0..12 {
        let a = moving[c % moving.len()];
        let b = moving[(c * 5 + 3) % moving.len()];
        let other = (model.tree_of(a) != model.tree_of(b) && c % 3 != 0).then_some(b);
        let at = random.vector();
        let mut sides = [None, None];
        for (k, (link, sign)) in [(Some(a), -1.0), (other, 1.0)].into_iter().enumerate() {
            let Some(link) = link else { continue };
            let t = model.tree_of(link).unwrap();
            let tree = &model.trees()[t];
            let (side, columns) = p.contacts.add_columns(t, tree.first_velocity, tree.velocities);
            for_each_axis(model, &kinematics, link, &at, |n, axis| {
                columns[n - tree.first_velocity] = (axis.linear * sign).into();
            });
            sides[k] = Some(side);
        }
        let law = contact(random, -1e-3 * violence);
        p.contacts.push(law, sides, random.vector().into());
    }
    for n in 0..4 {
        let first = model.trees()[0].first_velocity;
        p.limits.push(LimitPotential::new(-0.01 * violence, n % 2 == 0, 1.0, DT), first + n, 0, n);
        p.actuators.push(
            ActuatorPotential { effort: 50.0 * violence, gain: 20.0, limit: 30.0, dt: DT },
            first + n,
            0,
            n,
        );
        p.dry_joints.push(JointFrictionPotential::new(3.0, 1e-3, 1.0, DT), first + n, 0, n);
    }
    p
}

// Checks: the block-sparse factorisation and the dense one lead to the same velocities; there the
// gradient is that of the cost and vanishes; the Hessian is the gradient's derivative.
#[test]
fn sparse_and_dense_newton_reach_the_minimum() {
    for seed in 0..20 {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let (model, state) = mechanism(&mut random);
        let mut p = problem(&model, &state, &mut random, 1.0);
        let n = model.velocities();
        let mut found = Vec::new();
        for (dense, reuse_hessian) in [(false, true), (false, false), (true, false)] {
            let settings =
                SolveSettings { dense, reuse_hessian, tolerance: 1e-10, ..SolveSettings::default() };
            let mut v = state.v.clone();
            let summary = Solver::new().solve(&model, &mut p, &settings, &mut v);
            assert!(summary.stop.is_converged(), "{summary:?}");
            found.push(DVector::from_vec(v));
        }
        for other in &found[1..] {
            assert!((&found[0] - other).norm() < 1e-7 * found[0].norm(), "{seed}");
        }
        let (mut g, mut after, mut before) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let v = &state.v;
        p.evaluate(&model, v, &mut g);
        let mut matrix = BlockMatrix::default();
        p.hessian(&model, &mut matrix, false);
        let dense = matrix.to_dense();
        let d: Vec<f64> = (0..n).map(|_| random.signed()).collect();
        let step = 1e-7;
        let moved = |s: f64| v.iter().zip(&d).map(|(v, d)| v + s * step * d).collect::<Vec<_>>();
        let rise =
            p.evaluate(&model, &moved(1.0), &mut after) - p.evaluate(&model, &moved(-1.0), &mut before);
        let slope: f64 = g.iter().zip(&d).map(|(g, d)| g * d).sum();
        assert!((rise / (2.0 * step) - slope).abs() < 1e-4 * slope.abs().max(1.0), "{rise} {slope}");
        let bend = DVector::from_iterator(n, after.iter().zip(&before).map(|(a, b)| (a - b) / (2.0 * step)));
        let exact = dense * DVector::from_vec(d);
        assert!((&bend - &exact).norm() < 1e-4 * exact.norm(), "{}", (&bend - &exact).norm() / exact.norm());
    }
}

// Checks: whatever the state, a result or a stop that says what is wrong; never NaN, never an
// endless loop. Bodies metres inside each other at up to 1e6 m/s still have their unique minimum.
#[test]
fn extreme_states_never_give_nan() {
    for seed in 0..20 {
        println!("seed {seed}");
        let mut random = Random::new(50 + seed);
        let (model, mut state) = mechanism(&mut random);
        state.v.iter_mut().for_each(|v| *v *= 1e6);
        let mut p = problem(&model, &state, &mut random, 3e3);
        let mut v = state.v.clone();
        let summary = Solver::new().solve(&model, &mut p, &SolveSettings::default(), &mut v);
        assert!(summary.stop.is_converged(), "{summary:?}");
        assert!(v.iter().all(|x| x.is_finite()));
    }
    let mut random = Random::new(7);
    let (model, mut state) = mechanism(&mut random);
    state.v[2] = f64::NAN;
    let mut p = problem(&model, &state, &mut random, 1.0);
    let mut v = state.v.clone();
    assert_eq!(Solver::new().solve(&model, &mut p, &SolveSettings::default(), &mut v).stop, Stop::NotFinite);
}

// What the trapezoid rule asks of contacts: the forces at a state are those of the law over a step,
// friction is the same friction, weights weigh, and the gains are the law's slopes where it is
// linear: at no normal velocity, and friction's secant.
#[test]
fn forces_at_a_state_are_those_of_the_contact_law() {
    let mut random = Random::new(77);
    for _ in 0..50 {
        let point = point(&mut random, -2e-3);
        let (normal_force, friction) = (20.0, 0.6);
        let law = ContactPotential::new(&point, DT, normal_force, friction);
        let v = random.vector() * 0.02;
        let v = v - point.normal * point.normal.dot(&v);
        let impulse = Vector3::from(law.response(&v.into()).impulse);
        let tangential = impulse - point.normal * point.normal.dot(&impulse);
        let force = point.friction_force(&v, normal_force, friction, DT);
        assert!((tangential - force * DT).norm() < 1e-12, "{tangential} {force}");
        // A step so short that it is a state: what the elastic force changes by along it is one
        // part in a million.
        let short = 1e-8;
        let at_state =
            ContactPotential::new(&point, short, normal_force, friction).normal_impulse(-0.1) / short;
        assert!((at_state / point.normal_force(-0.1) - 1.0).abs() < 2e-6, "{at_state}");

        let weights = [0.3, 0.7];
        let weighted = Vector3::from(law.weighted(weights).response(&v.into()).impulse);
        let parts = (impulse - tangential) * weights[0] + tangential * weights[1];
        assert!((weighted - parts).norm() < 1e-12, "{weighted} {parts}");

        let [along, across] = point.gains(&v, normal_force, friction, DT);
        let slope = (law.normal_impulse(-1e-6) - law.normal_impulse(1e-6)) / 2e-6 / DT;
        assert!((along / slope - 1.0).abs() < 1e-6, "{along} {slope}");
        assert!((across * v.norm() - force.norm()).abs() < 1e-12 * force.norm().max(1.0), "{across}");
    }
}
