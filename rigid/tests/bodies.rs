//! Motion of bodies against closed forms, and what is refused.

#![allow(clippy::unwrap_used)] // helpers outside of test functions

use nalgebra::{Isometry3, Matrix3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use pliant_rigid::*;
use pliant_testing::Random;
use std::f64::consts::PI;

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

fn desc(name: &str, pose: Isometry3<f64>, motion: Motion) -> BodyDesc {
    BodyDesc { name: name.into(), pose, motion, geometries: Vec::new(), appearance: Vec::new() }
}

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

fn mass(mass: f64, moments: [f64; 3]) -> MassProperties {
    MassProperties { mass, inertia: Matrix3::from_diagonal(&moments.into()) }
}

fn dynamic(parent: Option<BodyId>, joint: Joint, mass: MassProperties, velocity: SpatialVelocity) -> Motion {
    let (force, torque) = (Vector3::zeros(), Vector3::zeros());
    Motion::Dynamic { parent, joint, mass, force, torque, velocity, gravity: true }
}

fn twist(angular: [f64; 3], linear: [f64; 3]) -> SpatialVelocity {
    SpatialVelocity { angular: angular.into(), linear: linear.into() }
}

fn built(builder: BodiesBuilder) -> Bodies {
    // No step of these tests is longer.
    builder.build(GRAVITY, 1e3, &RigidSettings::default()).unwrap()
}

fn step(bodies: &mut Bodies, dt: f64) {
    let impulses = vec![SpatialImpulse::zero(); bodies.len()];
    bodies.prepare(dt);
    bodies.integrate(dt, &impulses).unwrap();
}

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

fn roller_on_handle(handle: Trajectory, damping: f64) -> (BodiesBuilder, BodyId, BodyId) {
    let mut builder = BodiesBuilder::new();
    // The cylinder's z axis lies along world y.
    let lying = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), PI / 2.0);
    let pose = Isometry3::from_parts(Translation3::new(-0.1, 0.0, 0.18), lying);
    let handle = builder.add(desc("handle", pose, Motion::Prescribed(handle))).unwrap();
    let solid = mass(0.27, [2.8e-3, 2.8e-3, 1.7e-4]);
    let joint = Joint::revolute(Vector3::z_axis(), damping);
    let offset = Isometry3::translation(0.01, 0.02, 0.1);
    let motion = dynamic(Some(handle), joint, solid, SpatialVelocity::zero());
    let roller = builder.add(desc("roller", pose * offset, motion)).unwrap();
    (builder, handle, roller)
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

/// A run that is saved, restored into fresh bodies and continued has the same bits as one that was
/// not.
#[test]
fn restored_run_continues_bit_for_bit() {
    let build = || {
        let spin = twist([0.1, 0.2, 0.3], [0.1, 0.0, 0.0]);
        let handle = Trajectory::Velocities(vec![VelocityKey { time: 0.05, velocity: spin }]);
        let (mut builder, ..) = roller_on_handle(handle, 4e-4);
        let motion = dynamic(
            None,
            Joint::free(),
            mass(1.0, [0.1, 0.2, 0.25]),
            twist([1.0, 5.0, 0.1], [1.0, 0.0, 0.0]),
        );
        builder.add(desc("free", at(0.0, 0.0, 2.0), motion)).unwrap();
        built(builder)
    };
    let run = |bodies: &mut Bodies, from: u64, to: u64| {
        for k in from..to {
            let mut random = Random::new(k);
            bodies.prepare(1e-3);
            let mut push =
                || SpatialImpulse { angular: random.vector() * 1e-4, linear: random.vector() * 1e-3 };
            let impulses = [push(), push(), push()];
            bodies.integrate(1e-3, &impulses).unwrap();
        }
    };
    let mut whole = build();
    run(&mut whole, 0, 200);
    let mut first = build();
    run(&mut first, 0, 77);
    let saved = first.save();
    let mut second = build();
    second.restore(&saved).unwrap();
    assert_eq!(second.save(), saved);
    run(&mut second, 77, 200);
    // Every f64 prints so that it reads back exactly: equal text is equal bits.
    assert_eq!(format!("{:?}", second.save()), format!("{:?}", whole.save()));
}

#[test]
fn bad_descriptions_are_refused() {
    let mut builder = BodiesBuilder::new();
    let table = builder.add(desc("table", Isometry3::identity(), Motion::Fixed)).unwrap();
    let ok = mass(1.0, [1.0; 3]);
    let free = dynamic(None, Joint::free(), ok, SpatialVelocity::zero());
    let ball = builder.add(desc("ball", Isometry3::identity(), free.clone())).unwrap();
    let (count, id) = (builder.len(), Isometry3::identity());
    let mut refused = |desc: BodyDesc| builder.add(desc).unwrap_err();

    assert!(matches!(refused(desc("ball", id, Motion::Fixed)), RigidError::DuplicateName { .. }));
    assert!(matches!(
        refused(desc("x", at(f64::NAN, 0.0, 0.0), Motion::Fixed)),
        RigidError::Invalid { field: "pose", .. }
    ));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let motion = dynamic(None, Joint::free(), mass(bad, [1.0; 3]), SpatialVelocity::zero());
        assert!(matches!(refused(desc("x", id, motion)), RigidError::Value { field: "mass", .. }));
    }
    for moments in [[1.0, 1.0, 2.1], [1.0, -1.0, 1.0], [0.0, 1.0, 1.0], [f64::NAN, 1.0, 1.0]] {
        let motion = dynamic(None, Joint::free(), mass(1.0, moments), SpatialVelocity::zero());
        assert!(matches!(refused(desc("x", id, motion)), RigidError::Inertia { .. }), "{moments:?}");
    }
    let mut skew = ok;
    skew.inertia[(0, 1)] = 0.1;
    let motion = dynamic(None, Joint::free(), skew, SpatialVelocity::zero());
    assert!(matches!(
        refused(desc("x", id, motion)),
        RigidError::Inertia { reason: "it is not symmetric", .. }
    ));

    let axis = Vector3::z_axis();
    for damping in [-1e-9, f64::NAN] {
        for joint in [Joint::revolute(axis, damping), Joint::prismatic(axis, damping)] {
            let motion = dynamic(None, joint, ok, SpatialVelocity::zero());
            assert!(matches!(
                refused(desc("x", id, motion)),
                RigidError::Value { field: "joint damping", .. }
            ));
        }
    }
    let hinge = Joint::revolute(axis, 0.0);
    for (parent, joint) in [(BodyId(99), hinge), (table, Joint::free())] {
        let motion = dynamic(Some(parent), joint, ok, SpatialVelocity::zero());
        assert!(matches!(refused(desc("x", id, motion)), RigidError::Parent { .. }), "{parent:?}");
    }
    let spin = twist([f64::NAN, 0.0, 0.0], [0.0; 3]);
    let motion = dynamic(None, Joint::free(), ok, spin);
    assert!(matches!(refused(desc("x", id, motion)), RigidError::Invalid { field: "angular velocity", .. }));

    let geometry = |radius, friction| BodyDesc {
        geometries: vec![Geometry::new(Shape::Sphere { radius }, friction)],
        ..desc("x", id, Motion::Fixed)
    };
    assert!(matches!(refused(geometry(0.0, 0.5)), RigidError::Geometry { geometry: 0, .. }));
    assert!(matches!(refused(geometry(1.0, -0.5)), RigidError::Value { field: "dynamic_friction", .. }));

    let pose_key = |time, angle| PoseKey { time, pose: Isometry3::rotation(Vector3::z() * angle) };
    let follow = |keys| desc("x", id, Motion::Prescribed(Trajectory::Poses(keys)));
    let key = |error| match error {
        RigidError::Trajectory { key, .. } => key,
        other => panic!("{other}"),
    };
    assert_eq!(key(refused(follow(vec![]))), 0);
    assert_eq!(key(refused(follow(vec![pose_key(0.0, 0.0), pose_key(1.0, 0.1), pose_key(1.0, 0.2)]))), 2);
    assert_eq!(key(refused(follow(vec![pose_key(0.0, 0.0), pose_key(f64::NAN, 0.1)]))), 1);
    assert_eq!(key(refused(follow(vec![pose_key(0.0, 0.0), pose_key(1.0, PI)]))), 1);
    assert_eq!(key(refused(follow(vec![pose_key(0.0, 0.0), pose_key(1.0, f64::NAN)]))), 1);
    // The trajectory does not start where the body is.
    assert_eq!(key(refused(follow(vec![pose_key(0.0, 0.5)]))), 0);
    let early = VelocityKey { time: -0.1, velocity: SpatialVelocity::zero() };
    let motion = Motion::Prescribed(Trajectory::Velocities(vec![early]));
    assert_eq!(key(refused(desc("x", id, motion))), 0);

    assert_eq!(builder.len(), count);
    assert_eq!(builder.find("ball"), Some(ball));
    assert_eq!(builder.find("x"), None);
    step(&mut built(builder), 0.1);
}

/// A step that fails leaves the bodies as they were.
#[test]
fn bad_steps_are_refused_and_change_nothing() {
    let mut builder = BodiesBuilder::new();
    let free = dynamic(None, Joint::free(), mass(1.0, [1.0; 3]), SpatialVelocity::zero());
    builder.add(desc("a", Isometry3::identity(), free.clone())).unwrap();
    builder.add(desc("b", Isometry3::identity(), free)).unwrap();
    let mut bodies = built(builder);
    let none = [SpatialImpulse::zero(); 2];
    let before = bodies.save();
    assert!(matches!(bodies.integrate(0.1, &none), Err(RigidError::StepNotPrepared { .. })));
    for dt in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        bodies.prepare(dt);
        assert!(bodies.integrate(dt, &none).is_err());
    }
    bodies.prepare(0.1);
    assert!(matches!(bodies.integrate(0.2, &none), Err(RigidError::StepNotPrepared { .. })));
    assert!(matches!(bodies.integrate(0.1, &none[..1]), Err(RigidError::Count { .. })));
    let blown = SpatialImpulse { linear: Vector3::new(f64::NAN, 0.0, 0.0), angular: Vector3::zeros() };
    assert!(matches!(bodies.integrate(0.1, &[none[0], blown]), Err(RigidError::Simulation(_))));
    assert_eq!(bodies.save(), before);
    bodies.prepare(0.1);
    bodies.integrate(0.1, &none).unwrap();
    let mut shorter = before.clone();
    shorter.state.q.pop();
    assert!(bodies.restore(&shorter).is_err());
    let mut broken = before;
    broken.state.q[4] = f64::NAN;
    assert!(bodies.restore(&broken).is_err());
}

// The law: a point of a body moves with v + w x r. The tips of a bar that turns about its middle
// are its fastest points: w L/2, here of a bar of 0.5 m at 100 to 200 rad/s whose middle stands
// still; seen from a frame that moves along x, at most that and the frame's speed. The bound is by
// the ball around the bar, so it may be above by the bar's slenderness.
#[test]
fn the_fastest_surface_is_that_of_the_tips() {
    let half = Vector3::new(0.25, 0.005, 0.005);
    for spin in [100.0, 150.0, 200.0] {
        let turning = twist([0.0, 0.0, spin], [0.0; 3]);
        let key = VelocityKey { time: 0.0, velocity: turning };
        let path = Motion::Prescribed(Trajectory::Velocities(vec![key]));
        let free = dynamic(None, Joint::free(), mass(1.0, [1.0; 3]), turning);
        for motion in [path, free] {
            let mut builder = BodiesBuilder::new();
            let geometries = vec![Geometry::new(Shape::Box { half_extents: half }, 0.5)];
            builder.add(BodyDesc { geometries, ..desc("bar", Isometry3::identity(), motion) }).unwrap();
            let bodies = built(builder);
            for frame in [0.0, 5.0] {
                let fastest = bodies.fastest_surface(0.0, 1e-3, &Vector3::new(frame, 0.0, 0.0));
                let tips = spin * 0.25;
                // The ball is 4e-4 wider than the bar is long.
                assert!(fastest >= tips + frame, "{fastest} m/s, the tips {tips}, the frame {frame}");
                assert!(fastest <= 1.001 * (tips + frame), "{fastest} m/s, the tips {tips}");
            }
        }
    }
}

/// How deep a box is in what it stands on is told in half thicknesses of the thinner: `m g/k` of
/// each of its four contacts over its half height, on a half-space and on a thicker box, at rest.
#[test]
fn how_deep_bodies_are_in_each_other_is_told() {
    let mut random = Random::new(31);
    for on_box in [false, true] {
        for draw in 0..10 {
            let half = 0.01 * (2.0 + random.signed());
            let part = 0.75 * (1.0 + random.signed()) + 0.05;
            let weight = 9.81;
            // Two surfaces in series, four corners.
            let stiffness = 2.0 * weight / (4.0 * part * half);
            let geometry = |shape: Shape| {
                let mut geometry = Geometry::new(shape, 0.5);
                geometry.material.stiffness = stiffness;
                vec![geometry]
            };
            let mut builder = BodiesBuilder::new();
            let thick = Shape::Box { half_extents: Vector3::new(1.0, 1.0, 0.5) };
            let (floor, low) = if on_box { (thick, -0.5) } else { (Shape::HalfSpace, 0.0) };
            let floor =
                BodyDesc { geometries: geometry(floor), ..desc("floor", at(0.0, 0.0, low), Motion::Fixed) };
            builder.add(floor).unwrap();
            let slab = Shape::Box { half_extents: Vector3::new(0.2, 0.2, half) };
            let moments = [4.0 / 300.0; 3];
            let motion = dynamic(None, Joint::free(), mass(1.0, moments), SpatialVelocity::zero());
            let pose = at(0.0, 0.0, half - part * half);
            builder.add(BodyDesc { geometries: geometry(slab), ..desc("slab", pose, motion) }).unwrap();
            let mut bodies = built(builder);
            bodies.prepare(1e-3);
            let told = bodies.integrate(1e-3, &[SpatialImpulse::zero(); 2]).unwrap().solver.max_overlap_ratio;
            assert!(
                (told - part).abs() < 1e-9,
                "draw {draw}, on a box {on_box}: {told}, not {part} of {half} m"
            );
        }
    }
}

/// Newton's third law: two free bodies that meet askew, with friction and spin, keep momentum and
/// angular momentum to rounding, at fixed steps.
#[test]
fn bodies_that_meet_keep_their_angular_momentum() {
    let mut random = Random::new(600);
    for draw in 0..20 {
        let mut builder = BodiesBuilder::new();
        let mut add = |name: &str, z: f64, speed: f64| {
            let radius = 0.1 * (1.0 + 0.5 * random.signed());
            let kilograms = 2.0 + random.signed();
            let moments = [0.4 * kilograms * radius * radius; 3];
            let velocity = SpatialVelocity {
                angular: random.vector() * 10.0,
                linear: Vector3::new(0.1, 0.2, 1.0) * speed,
            };
            let motion = dynamic(None, Joint::free(), mass(kilograms, moments), velocity);
            let pose = at(0.05 * random.signed(), 0.05 * random.signed(), z);
            let geometries = vec![Geometry::new(Shape::Sphere { radius }, 0.8)];
            builder.add(BodyDesc { geometries, ..desc(name, pose, motion) }).unwrap();
        };
        add("low", 0.0, 1.0);
        add("high", 0.35, -1.0);
        let mut bodies = builder.build(Vector3::zeros(), 1e3, &RigidSettings::default()).unwrap();
        let (before, dt) = (bodies.momentum(), 2e-3 + 1e-3 * f64::from(draw % 5));
        let mut met = false;
        for _ in 0..100 {
            bodies.prepare(dt);
            let done = bodies.integrate(dt, &[SpatialImpulse::zero(); 2]).unwrap();
            met |= done.solver.contacts > 0;
        }
        let after = bodies.momentum();
        let off = (after.linear - before.linear).norm().max((after.angular - before.angular).norm());
        println!("draw {draw}: met {met}, off by {off:e}");
        assert!(met && off < 1e-9, "draw {draw}: met {met}, {off:e}");
    }
}
