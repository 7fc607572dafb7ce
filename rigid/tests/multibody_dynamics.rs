//! Articulated dynamics: the identities that hold between the algorithms, and closed forms.

use nalgebra::{DVector, Isometry3, Matrix3, Vector3};
use pliant_rigid::multibody::*;
use pliant_testing::Random;
use pliant_testing::mechanisms::{axis_of, inertia, mechanism, pose};

fn forces_on_links(model: &Model, random: &mut Random) -> Vec<ForceVector> {
    model.links().iter().map(|_| ForceVector::new(random.vector(), random.vector())).collect()
}

/// Largest difference, relative to the largest size.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().chain(b).fold(0.0_f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs())) / size
}

/// Twenty joints in a row lose a few digits of 16: condition numbers of these mass matrices are
/// below 1e4.
const ROUNDING: f64 = 1e-11;

// Checks: forward dynamics (articulated bodies), inverse dynamics (Newton-Euler) and the mass
// matrix (composite bodies) are three ways to M a + bias = tau + J^T f. Newton's own law ties
// inverse dynamics to the ground in the tests below.
#[test]
fn forward_inverse_and_mass_matrix_agree() {
    for seed in 0..20 {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let (model, state) = mechanism(&mut random);
        let mut kinematics = Kinematics::new(&model);
        kinematics.update(&model, &state);
        let external = forces_on_links(&model, &mut random);
        let wanted: Vec<f64> = (0..model.velocities()).map(|_| 3.0 * random.signed()).collect();
        let (mut inverse, mut forward) =
            (InverseDynamicsBuffers::default(), ForwardDynamicsBuffers::default());
        let mut forces = vec![0.0; wanted.len()];
        inverse_dynamics(&model, &kinematics, &wanted, &external, &mut inverse, &mut forces);
        let mut found = vec![0.0; wanted.len()];
        forward_dynamics(&model, &kinematics, &forces, &external, &mut forward, &mut found);
        assert!(difference(&wanted, &found) < ROUNDING, "{wanted:?}\n{found:?}");

        let mut mass = MassMatrix::default();
        mass_matrix(&model, &kinematics, &mut mass);
        let (mut inertial, mut bias) = (vec![0.0; wanted.len()], vec![0.0; wanted.len()]);
        mass.multiply(&model, &wanted, &mut inertial);
        bias_forces(&model, &kinematics, &external, &mut inverse, &mut bias);
        let sum: Vec<f64> = inertial.iter().zip(&bias).map(|(a, b)| a + b).collect();
        assert!(difference(&sum, &forces) < ROUNDING, "{sum:?}\n{forces:?}");

        mass.multiply(&model, &state.v, &mut inertial);
        let twice: f64 = inertial.iter().zip(&state.v).map(|(p, v)| p * v).sum();
        let energy = kinetic_energy(&model, &kinematics, &state);
        assert!((0.5 * twice - energy).abs() < ROUNDING * energy);
    }
}

// Checks: a Jacobian is the derivative of the pose. Central differences with a step of 1e-5: error
// about 1e-10.
#[test]
fn jacobians_are_derivatives_of_poses() {
    let mut random = Random::new(5);
    let (model, state) = mechanism(&mut random);
    let mut kinematics = Kinematics::new(&model);
    kinematics.update(&model, &state);
    for l in 0..model.links().len() {
        let link = LinkId(l);
        let local = random.vector();
        let pose = *kinematics.pose(link);
        let point = (pose * nalgebra::Point3::from(local)).coords;
        let jacobian = point_jacobian(&model, &kinematics, link, &point);
        for n in 0..model.velocities() {
            let step = 1e-5;
            let at = |sign: f64| {
                let mut v = vec![0.0; model.velocities()];
                v[n] = 1.0;
                let mut moved = state.clone();
                model.advance(&mut moved.q, &v, sign * step);
                let mut k = Kinematics::new(&model);
                k.update(&model, &moved);
                *k.pose(link)
            };
            let (after, before) = (at(1.0), at(-1.0));
            let linear = ((after * nalgebra::Point3::from(local)) - (before * nalgebra::Point3::from(local)))
                / (2.0 * step);
            let angular = (after.rotation * before.rotation.inverse()).scaled_axis() / (2.0 * step);
            let column = jacobian.column(n);
            assert!((column.fixed_rows::<3>(0) - angular).norm() < 1e-8, "{l} {n}");
            assert!((column.fixed_rows::<3>(3) - linear).norm() < 1e-8, "{l} {n}");
        }
        let velocity = jacobian * DVector::from_column_slice(&state.v);
        assert!((velocity.fixed_rows::<3>(3) - kinematics.point_velocity(link, &point)).norm() < 1e-11);
    }
}

// Checks: the power of the joint forces and external forces is the rate of kinetic and potential
// energy. It fails for any wrong Coriolis, gyroscopic or gravity term that does work, and for a
// wrong pose of any joint. Central differences, 1e-5.
#[test]
fn energy_changes_by_the_power_of_the_forces() {
    for seed in 0..10 {
        println!("seed {seed}");
        let mut random = Random::new(100 + seed);
        let (model, state) = mechanism(&mut random);
        let mut kinematics = Kinematics::new(&model);
        kinematics.update(&model, &state);
        let external = forces_on_links(&model, &mut random);
        let forces: Vec<f64> = (0..model.velocities()).map(|_| 10.0 * random.signed()).collect();
        let mut a = vec![0.0; forces.len()];
        forward_dynamics(
            &model,
            &kinematics,
            &forces,
            &external,
            &mut ForwardDynamicsBuffers::default(),
            &mut a,
        );
        let mut power: f64 = forces.iter().zip(&state.v).map(|(f, v)| f * v).sum();
        for (l, force) in external.iter().enumerate() {
            power += kinematics.velocity(LinkId(l)).dot(force);
        }
        let step = 1e-5;
        let energy = |sign: f64| {
            let mut moved = state.clone();
            // Positions to second order: the velocity halfway.
            let halfway: Vec<f64> = state.v.iter().zip(&a).map(|(v, a)| v + 0.5 * sign * step * a).collect();
            model.advance(&mut moved.q, &halfway, sign * step);
            moved.v.iter_mut().zip(&a).for_each(|(v, a)| *v += sign * step * a);
            let mut k = Kinematics::new(&model);
            k.update(&model, &moved);
            kinetic_energy(&model, &k, &moved) + potential_energy(&model, &k, &moved)
        };
        let rate = (energy(1.0) - energy(-1.0)) / (2.0 * step);
        let scale = kinetic_energy(&model, &kinematics, &state) + power.abs();
        assert!((rate - power).abs() < 1e-6 * scale, "{rate} {power}");
    }
}

// The law (Newton, Euler): without gravity and outer forces the linear momentum of a floating tree
// and its angular momentum about a fixed point do not change, whatever its joints do.
#[test]
fn a_floating_tree_keeps_its_momentum() {
    for seed in 0..10 {
        println!("seed {seed}");
        let mut random = Random::new(200 + seed);
        let mut builder = ModelBuilder::new(Vector3::zeros());
        let mut parent = None;
        let kinds = [
            JointKind::Free,
            JointKind::Revolute { axis: axis_of(&mut random) },
            JointKind::Ball,
            JointKind::Universal { first: axis_of(&mut random), second: axis_of(&mut random) },
            JointKind::Planar,
            JointKind::Prismatic { axis: axis_of(&mut random) },
        ];
        for (i, joint) in kinds.into_iter().enumerate() {
            let (frame, inertia) = (pose(&mut random), inertia(&mut random));
            let link =
                Link { name: i.to_string(), parent, joint, frame, inertia, gravity: true, dofs: Vec::new() };
            parent = Some(builder.add(link).unwrap());
        }
        let model = builder.build().unwrap();
        let mut state = model.zero_configuration();
        let kick: Vec<f64> = (0..model.velocities()).map(|_| random.signed()).collect();
        model.advance(&mut state.q, &kick, 1.0);
        state.v.iter_mut().for_each(|x| *x = random.signed());
        let mut kinematics = Kinematics::new(&model);
        kinematics.update(&model, &state);
        let mut forces: Vec<f64> = (0..model.velocities()).map(|_| random.signed()).collect();
        forces[..6].fill(0.0);
        let mut a = vec![0.0; forces.len()];
        forward_dynamics(&model, &kinematics, &forces, &[], &mut ForwardDynamicsBuffers::default(), &mut a);
        let momentum = |step: f64| {
            let mut moved = state.clone();
            let halfway: Vec<f64> = state.v.iter().zip(&a).map(|(v, a)| v + 0.5 * step * a).collect();
            model.advance(&mut moved.q, &halfway, step);
            moved.v.iter_mut().zip(&a).for_each(|(v, a)| *v += step * a);
            let mut k = Kinematics::new(&model);
            k.update(&model, &moved);
            let mut total = ForceVector::zero();
            for (l, link) in model.links().iter().enumerate() {
                let pose = k.pose(LinkId(l));
                let own = link.inertia.rotated(pose).momentum(k.velocity(LinkId(l)));
                total += own.shifted(&-pose.translation.vector);
            }
            total.to_vector()
        };
        // Richardson: the second-order error of the differences cancels; some of these light links
        // spin up quickly.
        let slope = |step: f64| (momentum(step) - momentum(-step)) / (2.0 * step);
        let rate = (slope(5e-6) * 4.0 - slope(1e-5)) / 3.0;
        let scale = momentum(0.0).norm();
        assert!(rate.norm() < 1e-7 * scale, "{rate} {scale}");
    }
}

// Checks: a compound pendulum falls with a = -m g d sin(angle) / I, I about the pivot.
#[test]
fn a_pendulum_falls_by_its_inertia_about_the_pivot() {
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -9.81));
    let (mass, d, about_center) = (2.0, 0.7, 0.05);
    let inertia = RigidInertia::at_center(
        mass,
        Vector3::new(0.0, 0.0, -d),
        Matrix3::from_diagonal_element(about_center),
    );
    let joint = JointKind::Revolute { axis: Vector3::y_axis() };
    let frame = Isometry3::translation(3.0, 1.0, 5.0);
    let rod =
        Link { name: "rod".into(), parent: None, joint, frame, inertia, gravity: true, dofs: Vec::new() };
    builder.add(rod).unwrap();
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    state.q[0] = 0.6;
    state.v[0] = 1.3;
    let mut kinematics = Kinematics::new(&model);
    kinematics.update(&model, &state);
    let mut a = [0.0];
    forward_dynamics(&model, &kinematics, &[0.0], &[], &mut ForwardDynamicsBuffers::default(), &mut a);
    let exact = -mass * 9.81 * d * 0.6_f64.sin() / (about_center + mass * d * d);
    assert!((a[0] - exact).abs() < 1e-13 * exact.abs(), "{} {exact}", a[0]);
}

// Bad input: what describes no mechanism is refused by name.
#[test]
fn models_that_are_none_are_refused() {
    let link = |name: &str| Link {
        name: name.into(),
        parent: None,
        joint: JointKind::Revolute { axis: Vector3::z_axis() },
        frame: Isometry3::identity(),
        inertia: RigidInertia::at_center(1.0, Vector3::zeros(), Matrix3::identity()),
        gravity: true,
        dofs: Vec::new(),
    };
    type Spoil = fn(&mut Link);
    let cases: [(Spoil, &str); 8] = [
        (|l| l.name = "first".into(), "'first'"),
        (|l| l.parent = Some(LinkId(7)), "parent"),
        (|l| l.frame.translation.x = f64::NAN, "frame"),
        (|l| l.inertia.mass = -1.0, "mass"),
        (|l| l.inertia.inertia[(0, 0)] = f64::NAN, "inertia"),
        (|l| l.dofs = vec![Dof { damping: -1.0, ..Dof::default() }], "damping"),
        (|l| l.dofs = vec![Dof { limits: [1.0, -1.0], ..Dof::default() }], "lower limit"),
        (|l| l.dofs = vec![Dof { stiffness: f64::NAN, ..Dof::default() }], "stiffness"),
    ];
    for (spoil, word) in cases {
        let mut builder = ModelBuilder::new(Vector3::zeros());
        builder.add(link("first")).unwrap();
        let mut second = link("second");
        spoil(&mut second);
        let error = builder.add(second).unwrap_err();
        assert!(error.to_string().contains(word), "{word}: {error}");
    }
    let mut builder = ModelBuilder::new(Vector3::zeros());
    builder.add(Link { inertia: RigidInertia::zero(), ..link("ghost") }).unwrap();
    let error = builder.build().unwrap_err();
    assert!(error.to_string().contains("'ghost'") && error.to_string().contains("revolute"), "{error}");
}

// Bad input: the inertia that counts is that of a link with all that is fixed to it. One that makes
// the kinetic energy negative is refused always, one that only no body has unless it is accepted,
// and so is a mass matrix that is positive on each axis alone but not definite.
#[test]
fn inertias_of_no_body_are_refused() {
    let model = |moments: [f64; 3], held: [f64; 3], any: bool| {
        let mut builder = ModelBuilder::new(Vector3::zeros());
        if any {
            builder.accept_any_moments();
        }
        let link = |name: &str, parent, joint, moments: [f64; 3]| Link {
            name: name.into(),
            parent,
            joint,
            frame: Isometry3::identity(),
            inertia: RigidInertia::at_center(1.0, Vector3::zeros(), Matrix3::from_diagonal(&moments.into())),
            gravity: true,
            dofs: Vec::new(),
        };
        let root = builder.add(link("root", None, JointKind::Free, moments)).unwrap();
        builder.add(link("held", Some(root), JointKind::Fixed, held)).unwrap();
        builder.build().map(|_| ()).map_err(|error| error.to_string())
    };
    let said = |result: Result<(), String>| result.unwrap_err();
    assert!(said(model([1.0, 1.0, 3.0], [0.0; 3], false)).contains("sum of the two others"));
    assert_eq!(model([1.0, 1.0, 3.0], [0.0; 3], true), Ok(()));
    assert_eq!(model([1.0, 1.0, 3.0], [1.0, 1.0, 0.0], false), Ok(()));
    assert!(said(model([1.0, 1.0, -3.0], [0.0; 3], true)).contains("positive semidefinite"));
    assert_eq!(model([1.0, 1.0, -3.0], [0.0, 0.0, 4.0], false), Ok(()));
    // A point mass off the centre of a ball joint: it has no inertia about the line to the centre,
    // which is no coordinate axis.
    let mut builder = ModelBuilder::new(Vector3::zeros());
    builder
        .add(Link {
            name: "bob".into(),
            parent: None,
            joint: JointKind::Ball,
            frame: Isometry3::identity(),
            inertia: RigidInertia::at_center(1.0, Vector3::new(0.3, 0.5, -0.7), Matrix3::zeros()),
            gravity: true,
            dofs: Vec::new(),
        })
        .unwrap();
    let error = builder.build().unwrap_err().to_string();
    assert!(error.contains("'bob'") && error.contains("moves no inertia"), "{error}");
}
