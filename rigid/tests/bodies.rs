//! Motion of bodies against closed forms.

use std::f64::consts::PI;

use crate::bodies_common::*;
use nalgebra::{Isometry3, Matrix3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use pliant_rigid::*;
use pliant_testing::Random;

/// What nothing touches is on its parabola.
#[test]
fn projectile() {
    let mut builder = BodiesBuilder::new();
    let start = twist([0.0; 3], [3.0, 0.0, 5.0]);
    let motion = dynamic(None, Joint::free(), mass(2.0, [1.0; 3]), start);
    let ball = builder.add(desc("ball", at(0.0, 0.0, 1.0), motion)).unwrap();
    let mut bodies = built(builder);
    let (dt, n) = (1e-3, 1000);
    for _ in 0..n {
        step(&mut bodies, dt);
    }
    let t = dt * f64::from(n);
    let exact = Vector3::new(3.0 * t, 0.0, 1.0 + 5.0 * t - 0.5 * 9.81 * t * t);
    let found = bodies.pose(ball).translation.vector;
    // A thousand sums of numbers of size 1 to 10.
    assert!((found - exact).norm() < 1e-11, "{found} {exact}");
    assert!((bodies.time() - t).abs() < 1e-12);
    assert_eq!(bodies.joint(ball).1.len(), 6);
}

/// A constant force and torque, and gravity that is off: v = F t/m, omega = T t/I about a principal
/// axis.
#[test]
fn constant_force_and_torque() {
    let mut builder = BodiesBuilder::new();
    let (force, torque) = (Vector3::new(0.0, 4.0, 0.0), Vector3::new(0.0, 0.0, 0.6));
    let mass = mass(2.0, [0.1, 0.2, 0.3]);
    let velocity = SpatialVelocity::zero();
    let motion =
        Motion::Dynamic { parent: None, joint: Joint::free(), mass, force, torque, velocity, gravity: false };
    let id = builder.add(desc("body", Isometry3::identity(), motion)).unwrap();
    let mut bodies = built(builder);
    for _ in 0..100 {
        step(&mut bodies, 0.01);
    }
    assert!((bodies.velocity(id).linear - Vector3::new(0.0, 2.0, 0.0)).norm() < 1e-13);
    assert!((bodies.velocity(id).angular - Vector3::new(0.0, 0.0, 2.0)).norm() < 1e-13);
}

/// Prescribed bodies are at the trajectory's pose after every step, at the last key bit for bit,
/// and their velocity carries them there.
#[test]
fn prescribed_bodies_arrive_exactly() {
    let seed = 31;
    let mut random = Random::new(seed);
    let mut pose = || Isometry3::from_parts(Translation3::from(random.vector()), random.rotation());
    let keys: Vec<PoseKey> =
        (0..6).map(|k| PoseKey { time: 0.1 + 0.25 * f64::from(k), pose: pose() }).collect();
    let mut builder = BodiesBuilder::new();
    let trajectory = Trajectory::Poses(keys.clone());
    let id = builder.add(desc("arm", keys[0].pose, Motion::Prescribed(trajectory))).unwrap();
    let mut bodies = built(builder);
    let dt = 0.05;
    let mut time = 0.0;
    for _ in 0..40 {
        bodies.prepare(dt);
        let arrival = bodies.pose_after(id, dt);
        bodies.integrate(dt, &[SpatialImpulse::zero()]).unwrap();
        time += dt;
        let pose = bodies.pose(id);
        assert!((arrival.translation.vector - pose.translation.vector).norm() < 1e-14, "seed {seed}");
        assert!(arrival.rotation.angle_to(&pose.rotation) < 1e-14, "seed {seed} at {time}");
        // Between keys: linear position, slerp.
        let after = keys.iter().position(|k| k.time > time).unwrap_or(keys.len());
        let expected = match after {
            0 => keys[0].pose,
            6 => keys[5].pose,
            k => {
                let u = (time - keys[k - 1].time) / (keys[k].time - keys[k - 1].time);
                keys[k - 1].pose.lerp_slerp(&keys[k].pose, u)
            }
        };
        assert!((expected.translation.vector - pose.translation.vector).norm() < 1e-14, "seed {seed}");
        assert!(expected.rotation.angle_to(&pose.rotation) < 1e-14, "seed {seed}");
    }
    assert_eq!(bodies.pose(id), keys[5].pose);
    assert_eq!(bodies.velocity(id), SpatialVelocity::zero());
}

/// Piecewise constant velocities: zero before the first key, and after ten thousand steps the pose
/// is that of the closed form, not of ten thousand sums.
#[test]
fn prescribed_velocities_do_not_drift() {
    let keys = vec![
        VelocityKey { time: 0.3, velocity: twist([0.0; 3], [0.0, 0.0, -0.5]) },
        VelocityKey { time: 0.5, velocity: twist([0.0, 0.0, PI / 3.0], [0.32, 0.0, 0.0]) },
        VelocityKey { time: 1.0, velocity: SpatialVelocity::zero() },
    ];
    let mut builder = BodiesBuilder::new();
    let motion = Motion::Prescribed(Trajectory::Velocities(keys));
    let id = builder.add(desc("pin", at(0.0, 0.0, 0.18), motion)).unwrap();
    let mut bodies = built(builder);
    for k in 0..10_000 {
        bodies.prepare(1.3e-4);
        if k < 2000 {
            assert_eq!(bodies.velocity(id), SpatialVelocity::zero());
            assert_eq!(bodies.pose(id), at(0.0, 0.0, 0.18));
        }
        bodies.integrate(1.3e-4, &[SpatialImpulse::zero()]).unwrap();
    }
    let pose = bodies.pose(id);
    assert!((pose.translation.vector - Vector3::new(0.16, 0.0, 0.08)).norm() < 1e-15, "{pose}");
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), PI / 6.0);
    assert!(pose.rotation.angle_to(&turn) < 1e-14);
}

/// A prescribed spin of more than half a turn a step keeps its velocity: the logarithm of the pose
/// would alias it.
#[test]
fn fast_prescribed_spin_is_not_aliased() {
    let velocity = twist([0.0, 0.0, 100.0], [0.0; 3]);
    let motion = Motion::Prescribed(Trajectory::Velocities(vec![VelocityKey { time: 0.0, velocity }]));
    let mut builder = BodiesBuilder::new();
    let id = builder.add(desc("wheel", Isometry3::identity(), motion)).unwrap();
    let mut bodies = built(builder);
    bodies.prepare(0.1);
    assert_eq!(bodies.velocity(id), velocity);
}

/// Implicit damping: omega_n = omega_0/(1 + dt d/I)^n, which tends to omega_0 exp(-d t/I).
#[test]
fn revolute_and_prismatic_damping_decay() {
    let (dt, d, inertia) = (1e-3, 4e-4, 1.7e-4);
    let axis = Unit::new_normalize(Vector3::new(1.0, 2.0, -2.0));
    let spin = SpatialVelocity { angular: axis.into_inner() * 20.0, linear: axis.into_inner() * 3.0 };
    let mut builder = BodiesBuilder::new();
    let roller = MassProperties { mass: inertia, inertia: Matrix3::identity() * inertia };
    let still = |joint| match dynamic(None, joint, roller, spin) {
        Motion::Dynamic { parent, joint, mass, force, torque, velocity, .. } => {
            Motion::Dynamic { parent, joint, mass, force, torque, velocity, gravity: false }
        }
        other => other,
    };
    let turn = builder.add(desc("roller", at(1.0, 0.0, 0.0), still(Joint::revolute(axis, d)))).unwrap();
    let slide = builder.add(desc("slide", at(1.0, 0.0, 0.0), still(Joint::prismatic(axis, d)))).unwrap();
    let mut bodies = built(builder);
    let n = 500;
    for _ in 0..n {
        step(&mut bodies, dt);
    }
    let decay = (1.0 + dt * d / inertia).powi(-n);
    assert!((bodies.velocity(turn).angular - spin.angular * decay).norm() < 1e-12);
    assert_eq!(bodies.velocity(turn).linear, Vector3::zeros());
    assert!((bodies.velocity(slide).linear - spin.linear * decay).norm() < 1e-12);
    // Coordinates are the sums of the steps' mean rates, of the end's u r and half of what damping
    // leaves of the step's change, u (1 - r) r/2.
    let r = 1.0 / (1.0 + dt * d / inertia);
    let sum = (r + 0.5 * r * (1.0 - r)) * (1.0 - r.powi(n)) / (1.0 - r);
    let (q, rate) = bodies.joint(turn);
    assert!((q[0] - 20.0 * dt * sum).abs() < 1e-12 && (rate[0] - 20.0 * decay).abs() < 1e-12);
    let expected = Vector3::new(1.0, 0.0, 0.0) + axis.into_inner() * (3.0 * dt * sum);
    assert!((bodies.pose(slide).translation.vector - expected).norm() < 1e-13);
    // A damping that is stiff for the step still only decays.
    let mut builder = BodiesBuilder::new();
    let stiff = Joint::revolute(axis, 1e3);
    let turn = builder.add(desc("stiff", Isometry3::identity(), still(stiff))).unwrap();
    let mut bodies = built(builder);
    step(&mut bodies, dt);
    let rate = bodies.joint(turn).1[0];
    // What is left of 20 rad/s, to the rounding of that.
    assert!((rate - 20.0 / (1.0 + dt * 1e3 / inertia)).abs() < 2.0 * 20.0 * f64::EPSILON, "{rate}");
}

/// An impulse changes the velocity by M^-1 J: J/m, the inverse inertia in the world frame, and the
/// projections of both on a joint. The rotation of the step is left out by a tiny step.
#[test]
fn impulses_change_velocities_by_the_inverse_mass_matrix() {
    let seed = 41;
    let mut random = Random::new(seed);
    let pose = Isometry3::from_parts(Translation3::from(random.vector()), random.rotation());
    let inertia = Matrix3::new(0.5, 0.05, -0.02, 0.05, 0.6, 0.03, -0.02, 0.03, 0.7);
    let solid = MassProperties { mass: 3.0, inertia };
    let axis = Unit::new_normalize(random.vector());
    let mut builder = BodiesBuilder::new();
    let joints = [Joint::free(), Joint::revolute(axis, 0.0), Joint::prismatic(axis, 0.0), Joint::fixed()];
    for (k, joint) in joints.into_iter().enumerate() {
        let motion = dynamic(None, joint, solid, SpatialVelocity::zero());
        builder.add(desc(&format!("{k}"), pose, motion)).unwrap();
    }
    let mut bodies = builder.build(Vector3::zeros(), 1e3, &RigidSettings::default()).unwrap();
    let point = Point3::from(random.vector());
    let push = random.vector();
    let mut impulse = SpatialImpulse::zero();
    impulse.add_at(&pose.translation.vector.into(), &point, &push);
    assert_eq!(impulse.angular, (point.coords - pose.translation.vector).cross(&push));
    let dt = 1e-11;
    bodies.prepare(dt);
    bodies.integrate(dt, &[impulse; 4]).unwrap();
    let v = |k: usize| bodies.velocity(BodyId(k));
    let turn = pose.rotation.to_rotation_matrix();
    let world = turn.matrix() * inertia * turn.matrix().transpose();
    let free = world.try_inverse().unwrap() * impulse.angular;
    assert!((v(0).angular - free).norm() < 1e-10 && (v(0).linear - push / 3.0).norm() < 1e-14, "seed {seed}");
    let a = pose.rotation * axis.into_inner();
    let rate = a.dot(&impulse.angular) / a.dot(&(world * a));
    assert!((v(1).angular - a * rate).norm() < 1e-10 && v(1).linear.norm() == 0.0, "seed {seed}");
    assert!(
        (v(2).linear - a * (a.dot(&push) / 3.0)).norm() < 1e-14 && v(2).angular.norm() == 0.0,
        "seed {seed}"
    );
    assert_eq!(v(3), SpatialVelocity::zero());
}

/// Torque-free tumbling about the unstable middle axis for 100 s at 5 ms (20,000 steps, some 160
/// turns). Bounds: the angular momentum and energy, which the midpoint rule conserves, change only
/// by rounding, a few units in the last place a step: 20,000 times 2 epsilon (measured 2e-12); the
/// length of the quaternion stays within 1e-15 of 1.
#[test]
fn tumbling_conserves_angular_momentum_and_energy() {
    let mut builder = BodiesBuilder::new();
    let solid = mass(1.0, [0.1, 0.2, 0.25]);
    let spin = twist([0.05, 10.0, 0.02], [0.0; 3]);
    let pose = Isometry3::from_parts(Translation3::identity(), Random::new(5).rotation());
    let motion = match dynamic(None, Joint::free(), solid, twist([0.0; 3], [0.0; 3])) {
        Motion::Dynamic { parent, joint, mass, force, torque, .. } => {
            let velocity =
                SpatialVelocity { angular: pose.rotation * spin.angular, linear: Vector3::zeros() };
            Motion::Dynamic { parent, joint, mass, force, torque, velocity, gravity: false }
        }
        other => other,
    };
    let id = builder.add(desc("book", pose, motion)).unwrap();
    let mut bodies = built(builder);
    let (momentum, energy) = (bodies.momentum().angular, bodies.kinetic_energy());
    let (mut worst_momentum, mut worst_energy, mut lowest) = (0.0_f64, 0.0_f64, f64::MAX);
    for _ in 0..20_000 {
        step(&mut bodies, 5e-3);
        worst_momentum = worst_momentum.max((bodies.momentum().angular - momentum).norm() / momentum.norm());
        worst_energy = worst_energy.max((bodies.kinetic_energy() / energy - 1.0).abs());
        let middle = bodies.pose(id).rotation.inverse() * bodies.velocity(id).angular;
        lowest = lowest.min(middle.y);
        assert!((bodies.pose(id).rotation.norm() - 1.0).abs() < 1e-15);
    }
    let rounding = 20_000.0 * 2.0 * f64::EPSILON;
    assert!(worst_momentum < rounding, "angular momentum {worst_momentum:e}");
    assert!(worst_energy < rounding, "energy {worst_energy:e}");
    assert!(lowest < -9.0, "it never flipped: {lowest}");
}

/// Precession of a symmetric top (Goldstein, 5.6): the spin axis turns about L at |L|/I_1. After
/// one period the axis is back; the error of the midpoint rule falls with dt^2.
#[test]
fn symmetric_top_precesses_with_second_order() {
    let (i1, i3) = (0.2, 0.3);
    let error = |steps: i32| {
        let mut builder = BodiesBuilder::new();
        let spin = twist([1.0, 0.0, 8.0], [0.0; 3]);
        let motion = dynamic(None, Joint::free(), mass(1.0, [i1, i1, i3]), spin);
        let id = builder.add(desc("top", Isometry3::identity(), motion)).unwrap();
        let mut bodies = built(builder);
        let momentum = Vector3::new(i1 * 1.0, 0.0, i3 * 8.0).norm();
        let period = 2.0 * PI * i1 / momentum;
        for _ in 0..steps {
            step(&mut bodies, period / f64::from(steps));
        }
        (bodies.pose(id).rotation * Vector3::z() - Vector3::z()).norm()
    };
    // Steps that turn less than the internal substep of a quarter radian.
    let (coarse, fine) = (error(64), error(128));
    assert!(coarse < 1e-3, "{coarse:e}");
    assert!((coarse / fine - 4.0).abs() < 0.1, "order: {coarse:e} {fine:e}");
}

/// However fast it spins for its step, a body keeps its angular momentum and stays finite.
#[test]
fn absurd_spin_keeps_angular_momentum() {
    let mut builder = BodiesBuilder::new();
    let motion = dynamic(None, Joint::free(), mass(1.0, [0.1, 0.2, 0.25]), twist([3e5, 1e5, 2e5], [0.0; 3]));
    builder.add(desc("spinner", Isometry3::identity(), motion)).unwrap();
    let mut bodies = built(builder);
    let before = bodies.momentum().angular;
    for _ in 0..100 {
        step(&mut bodies, 0.01);
    }
    assert!((bodies.momentum().angular - before).norm() < 1e-13 * before.norm());
}

/// A roller stays on its handle through any motion of the handle, and only turns about the axis.
#[test]
fn roller_stays_on_its_handle() {
    let velocity = |time: f64, v: SpatialVelocity| VelocityKey { time, velocity: v };
    let handle = Trajectory::Velocities(vec![
        velocity(0.1, twist([0.0; 3], [0.0, 0.0, -0.5])),
        velocity(0.3, twist([0.0; 3], [0.32, 0.0, 0.0])),
        velocity(0.7, twist([0.1, 0.4, PI / 3.0], [0.1, -0.2, 0.0])),
    ]);
    let (builder, handle, roller) = roller_on_handle(handle, 4e-4);
    let mut bodies = built(builder);
    let mut random = Random::new(51);
    for _ in 0..1000 {
        bodies.prepare(1e-3);
        let push = SpatialImpulse { angular: random.vector() * 1e-4, linear: random.vector() * 1e-2 };
        // Within the step both move on lines: what turning does to the lever is of second order, (w
        // s)^2 r/2.
        for s in [0.0, 4e-4, 1e-3] {
            let relative = bodies.pose_after(handle, s).inverse() * bodies.pose_after(roller, s);
            let turned = bodies.velocity(handle).angular.norm() * s;
            let apart = (relative.translation.vector - Vector3::new(0.01, 0.02, 0.1)).norm();
            assert!(apart < 1e-14 + 0.5 * turned * turned * 0.11, "{apart:e} after {s} s");
        }
        // The velocity is that of the handle at the roller, plus the spin.
        let origin = |id| Point3::from(bodies.pose(id).translation.vector);
        let carried = bodies.velocity(handle).at(&origin(handle), &origin(roller));
        assert!((bodies.velocity(roller).linear - carried).norm() < 1e-14);
        let axis = bodies.pose(handle).rotation * Vector3::z();
        let spin = bodies.velocity(roller).angular - bodies.velocity(handle).angular;
        assert!(spin.cross(&axis).norm() < 1e-13);
        bodies.integrate(1e-3, &[SpatialImpulse::zero(), push]).unwrap();
        let relative = bodies.pose(handle).inverse() * bodies.pose(roller);
        assert!((relative.translation.vector - Vector3::new(0.01, 0.02, 0.1)).norm() < 1e-14);
        assert!((relative.rotation * Vector3::z() - Vector3::z()).norm() < 1e-14);
        let (q, _) = bodies.joint(roller);
        let turned = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), q[0]);
        assert!(relative.rotation.angle_to(&turned) < 1e-13);
    }
    assert!(bodies.joint(roller).0[0].abs() > 1e-2, "the pushes did turn it");
}

/// An undamped axle passes no torque: when the handle starts to spin about it, the roller does not.
/// With damping d the difference of the spins decays with I/d.
#[test]
fn axle_passes_only_damping() {
    // About world -y, the handle's z axis.
    let spin = twist([0.0, -3.0, 0.0], [0.0; 3]);
    let handle = Trajectory::Velocities(vec![VelocityKey { time: 0.0, velocity: spin }]);
    let (builder, _, roller) = roller_on_handle(handle.clone(), 0.0);
    let mut bodies = built(builder);
    for _ in 0..100 {
        step(&mut bodies, 1e-3);
        assert!(bodies.velocity(roller).angular.norm() < 1e-12);
    }
    let (builder, _, roller) = roller_on_handle(handle, 4e-4);
    let mut bodies = built(builder);
    for k in 1..=100 {
        step(&mut bodies, 1e-3);
        let left = (1.0 + 1e-3 * 4e-4 / 1.7e-4_f64).powi(-k);
        let expected = spin.angular * (1.0 - left);
        assert!((bodies.velocity(roller).angular - expected).norm() < 1e-12, "step {k}");
    }
}

/// A bead on a rod that turns at w: r'' = w^2 r, so r = r0 cosh(w t) from rest on the rod. Its
/// motion is found to 1e-9 of its speed a step.
#[test]
fn bead_on_a_turning_rod() {
    let error = |n: i32| {
        let w = 2.0;
        let mut builder = BodiesBuilder::new();
        let spin = twist([0.0, 0.0, w], [0.0; 3]);
        let rod = Motion::Prescribed(Trajectory::Velocities(vec![VelocityKey { time: 0.0, velocity: spin }]));
        let rod = builder.add(desc("rod", Isometry3::identity(), rod)).unwrap();
        let joint = Joint::prismatic(Vector3::x_axis(), 0.0);
        let motion = dynamic(Some(rod), joint, mass(0.5, [1.0; 3]), SpatialVelocity::zero());
        let bead = builder.add(desc("bead", at(0.3, 0.0, 0.0), motion)).unwrap();
        let mut bodies = built(builder);
        for _ in 0..n {
            step(&mut bodies, 1.0 / f64::from(n));
        }
        0.3 + bodies.joint(bead).0[0] - 0.3 * w.cosh()
    };
    let (coarse, fine) = (error(1000), error(2000));
    assert!(coarse.abs() < 2e-6 && fine.abs() < 2e-6, "{coarse:e} {fine:e}");
}

/// A body fixed to a moving one moves with it.
#[test]
fn fixed_joint_moves_with_its_parent() {
    let spin = twist([0.3, 0.0, 1.0], [0.2, 0.0, 0.0]);
    let handle = Trajectory::Velocities(vec![VelocityKey { time: 0.0, velocity: spin }]);
    let mut builder = BodiesBuilder::new();
    let arm = builder.add(desc("arm", at(1.0, 0.0, 0.0), Motion::Prescribed(handle))).unwrap();
    let motion = dynamic(Some(arm), Joint::fixed(), mass(1.0, [1.0; 3]), SpatialVelocity::zero());
    let tool = builder.add(desc("tool", at(1.0, 0.5, 0.0), motion)).unwrap();
    let mut bodies = built(builder);
    for _ in 0..100 {
        step(&mut bodies, 0.01);
        let relative = bodies.pose(arm).inverse() * bodies.pose(tool);
        assert!((relative.translation.vector - Vector3::new(0.0, 0.5, 0.0)).norm() < 1e-14);
        let lever = bodies.pose(tool).translation.vector - bodies.pose(arm).translation.vector;
        let expected = spin.linear + spin.angular.cross(&lever);
        assert!((bodies.velocity(tool).linear - expected).norm() < 1e-13);
    }
}
