//! Momentum of particles and free bodies together, which nothing outside can change, and what
//! solver tolerance does to results.

use crate::common::{self, block, fixed_corotated, run_for};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::{AutoOr, Coupling, Settings, World};
use pliant_rigid::simulation::Integrator;
use pliant_rigid::{Shape, SpatialVelocity};

/// Linear [N s] and angular [N m s] momentum of everything about the world's origin, and the sum of
/// the parts' magnitudes.
fn momentum(world: &mut World) -> (Vector3<f64>, Vector3<f64>, f64, f64) {
    let particles = world.diagnostics();
    let bodies = world.bodies().momentum();
    let linear = particles.linear_momentum + bodies.linear;
    let angular = particles.angular_momentum + bodies.angular;
    (
        linear,
        angular,
        particles.linear_momentum.norm() + bodies.linear.norm(),
        particles.angular_momentum.norm() + bodies.angular.norm(),
    )
}

/// A soft block caught between two heavy free bodies that come together, turning, off its centre:
/// about 0.5 s of contact (half a period of the bodies on the block), with friction. Without the
/// anvil the block is hit by the ball alone, and impulses on two bodies cannot cancel each other's
/// errors.
fn collision(
    coupling: Coupling,
    integrator: Option<Integrator>,
    relative_tolerance: f64,
    anvil: bool,
) -> World {
    moving_collision(coupling, integrator, relative_tolerance, anvil, None)
}

/// The same in a frame that moves at minus this velocity \[m/s\], with a plate behind the anvil that touches
/// it.
fn moving_collision(
    coupling: Coupling,
    integrator: Option<Integrator>,
    relative_tolerance: f64,
    anvil: bool,
    with_plate: Option<Vector3<f64>>,
) -> World {
    let boost = with_plate.unwrap_or_default();
    let mut settings = Settings::new(0.02, 2e-3);
    settings.gravity = Vector3::zeros();
    settings.coupling = coupling;
    settings.rigid.integrator = integrator;
    settings.solver.relative_tolerance = relative_tolerance;
    if with_plate.is_some() {
        settings.substeps = AutoOr::Value(8);
    }
    let mut builder = World::builder(settings);
    let rubber = builder.material(fixed_corotated(2e3, 0.3, 1000.0));
    builder.particles(block(
        rubber,
        [-0.04, -0.04, -0.04],
        [8; 3],
        0.01,
        Vector3::new(0.03, 0.015, 0.0) + boost,
    ));
    let turned = UnitQuaternion::from_euler_angles(0.1, -0.05, 0.3);
    let spin = SpatialVelocity {
        angular: Vector3::new(0.1, 0.2, -0.15),
        linear: Vector3::new(0.1, 0.03, 0.006) + boost,
    };
    let shape = Shape::Box { half_extents: Vector3::new(0.05, 0.1, 0.1) };
    let ball = Shape::Sphere { radius: 0.08 };
    let left = Isometry3::from_parts(Translation3::new(-0.115, 0.01, 0.0), turned);
    if with_plate.is_some() {
        // Half a millimetre behind the anvil, moving with it, until the block slows the anvil down.
        let behind = left * Isometry3::translation(-0.0705, 0.0, 0.0);
        let plate = Shape::Box { half_extents: Vector3::new(0.02, 0.1, 0.1) };
        let lever = behind.translation.vector - left.translation.vector;
        let moving = SpatialVelocity { linear: spin.linear + spin.angular.cross(&lever), ..spin };
        builder.body(common::free("plate", plate, behind, 0.5, 2000.0, moving)).unwrap();
    }
    if anvil {
        builder.body(common::free("anvil", shape, left, 0.5, 2000.0, spin)).unwrap();
    }
    let spin = SpatialVelocity {
        angular: Vector3::new(0.0, 0.6, 0.3),
        linear: Vector3::new(-0.08, 0.0, 0.03) + boost,
    };
    let right = Isometry3::translation(0.125, -0.01, 0.015);
    builder.body(common::free("ball", ball, right, 0.8, 2000.0, spin)).unwrap();
    builder.build().unwrap()
}

/// Newton's third law: a closed system keeps linear and angular momentum, however loosely the
/// contacts are solved. Tolerance: 1e-6 of the sum of the parts' momenta over 1 s (velocities are
/// f32 on the grid; measured: 8e-8).
#[test]
fn closed_system_keeps_its_momentum_at_any_tolerance() {
    let cases = [(0.5, true), (5e-2, true), (1e-6, true), (0.5, false), (5e-2, false), (1e-6, false)];
    let both = [Coupling::Weak, Coupling::Strong];
    // Steps of the bodies that are shorter than the world's, and of lengths of their own.
    let controlled = Integrator::ErrorControlled { accuracy: 1e-6, max_step: 7e-4 };
    let plain = both.into_iter().flat_map(|c| cases.map(|case| (c, None, case)));
    let controlled = both.map(|c| (c, Some(controlled), (5e-2, true)));
    for (coupling, integrator, (tolerance, anvil)) in plain.chain(controlled) {
        let mut world = collision(coupling, integrator, tolerance, anvil);
        let (linear, angular, linear_scale, angular_scale) = momentum(&mut world);
        let (mut worst_linear, mut worst_angular, mut touching, mut exchanged) = (0.0_f64, 0.0_f64, 0, 0.0);
        run_for(&mut world, 1.0, |world, report| {
            touching += u32::from(report.contacts_max > 0);
            exchanged += world.body_impulses().iter().map(|i| i.linear.norm()).sum::<f64>();
            let (now, turning, ..) = momentum(world);
            worst_linear = worst_linear.max((now - linear).norm() / linear_scale);
            worst_angular = worst_angular.max((turning - angular).norm() / angular_scale);
        });
        let balance = world.balance();
        println!(
            "{coupling:?}, {integrator:?}, eps_r {tolerance}: linear {worst_linear:.2e}, angular {worst_angular:.2e}, {touching} of 500 steps touching, \
             {exchanged:.3} N s exchanged of {linear_scale:.3}; {balance:?}"
        );
        assert!(
            touching > if anvil { 200 } else { 50 } && exchanged > 0.1 * linear_scale,
            "the bodies must really meet"
        );
        assert!(worst_linear < 1e-6, "eps_r {tolerance}: linear momentum off by {worst_linear}");
        assert!(worst_angular < 1e-6, "eps_r {tolerance}: angular momentum off by {worst_angular}");
        // The particles' own balance, relative to the impulses that they got, which are small
        // compared with the bodies' momenta (measured: 7e-7).
        assert!(balance.linear_momentum < 1e-6 && balance.angular_momentum < 3e-6, "{balance:?}");
        assert!(balance.mass < 1e-6, "{balance:?}");
    }
}

/// What a closed system loses of its angular momentum is what the world says that bodies missed: a body
/// that particles and another body touch is moved along its final velocity, and at 10 m/s the place of
/// an impulse within the step matters. What is not told is at most a hundredth of it: the slip between
/// the bodies within a step, and the rounding of f32.
#[test]
fn missed_angular_momentum_is_told() {
    for coupling in [Coupling::Weak, Coupling::Strong] {
        let boost = Vector3::new(3.0, -10.0, 5.0);
        let mut world = moving_collision(coupling, None, 1e-6, true, Some(boost));
        let (linear, angular, linear_scale, angular_scale) = momentum(&mut world);
        let (mut largest, mut worst, mut touched) = (0.0_f64, 0.0_f64, 0);
        run_for(&mut world, 1.0, |world, _| {
            let both = world.contact_impulses()[0].linear.norm() > 0.0
                && world.body_impulses()[1].linear.norm() > 0.0;
            touched += u32::from(both);
            let (_, turning, ..) = momentum(world);
            largest = largest.max((turning - angular).norm() / angular_scale);
            worst = worst.max((turning - angular + world.missed_angular_momentum()).norm() / angular_scale);
        });
        let (now, ..) = momentum(&mut world);
        println!(
            "{coupling:?}: {largest:.2e} of angular momentum lost, {worst:.2e} untold, {touched} of 500 steps"
        );
        assert!((now - linear).norm() < 1e-6 * linear_scale);
        assert!(largest > 1e-4, "nothing to tell: {largest}");
        assert!(worst < 0.01 * largest, "{worst} of {largest}");
    }
}

/// Steps of the bodies that are shorter than the world's move them otherwise: nothing is counted then,
/// and less is lost than of one step of implicit Euler (7e-4).
#[test]
fn shorter_steps_of_the_bodies_raise_no_false_alarm() {
    let boost = Vector3::new(3.0, -10.0, 5.0);
    let controlled = Integrator::ErrorControlled { accuracy: 1e-6, max_step: 7e-4 };
    let mut world = moving_collision(Coupling::Weak, Some(controlled), 1e-6, true, Some(boost));
    let (_, angular, _, scale) = momentum(&mut world);
    run_for(&mut world, 1.0, |_, _| {});
    let (_, now, ..) = momentum(&mut world);
    println!("{:.2e} of angular momentum lost", (now - angular).norm() / scale);
    assert_eq!(world.missed_angular_momentum(), Vector3::zeros());
    assert!((now - angular).norm() < 1e-4 * scale);
}

/// Collision of a block with a free body: the energy that goes into the contact does not come out
/// larger. Tolerance: 1e-4 of the energy (explicit elasticity in f32).
#[test]
fn collision_creates_no_energy() {
    for coupling in [Coupling::Weak, Coupling::Strong] {
        let mut world = collision(coupling, None, 1e-4, true);
        let total = |world: &mut World| {
            let d = world.diagnostics();
            d.kinetic_energy + d.elastic_energy + world.bodies().kinetic_energy()
        };
        let start = total(&mut world);
        let mut last = start;
        let mut rise = 0.0_f64;
        run_for(&mut world, 1.0, |world, _| {
            let now = total(world);
            rise = rise.max(now - last);
            last = last.min(now);
        });
        println!(
            "energy {start:.5} J to {last:.5} J, largest rise above the least so far {:.2e}",
            rise / start
        );
        assert!(last < start && rise < 1e-4 * start, "energy rose by {rise} J of {start} J");
    }
}
