//! What of a world is changed between steps, against closed forms and conservation laws.

use crate::common::{G, block, fixed, fixed_corotated, floor, run_for, snapshot};
use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{ChangeError, Settings, StepError, World};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Pin, PinError, Sheet};
use pliant_mpm::material::Elastic;
use pliant_rigid::{BodyId, Shape};

/// Coulomb: what slides has a tangential force of mu times the normal force, with the coefficient
/// of now. Sums over 0.1 s at 1 m/s and more, far above the stiction tolerance; the solver's
/// relative tolerance of 1e-4 bounds the error of the ratio, and the normal force of a substep is
/// that of the one before (bouncing of the block): 1e-3.
#[test]
fn particles_slide_with_the_present_friction() {
    let angle = 0.6_f64;
    let mut settings = Settings::new(0.02, 1e-3);
    settings.gravity = G * Vector3::new(angle.sin(), 0.0, -angle.cos());
    settings.solver.relative_tolerance = 1e-4;
    let mut builder = World::builder(settings);
    let rubber = builder.material(fixed_corotated(1e5, 0.3, 1000.0));
    builder.particles(block(rubber, [0.003, 0.002, 0.0], [8, 8, 4], 0.01, Vector3::new(1.0, 0.0, 0.0)));
    let plane = builder.body(floor(0.3)).unwrap();
    let mut world = builder.build().unwrap();
    run_for(&mut world, 0.1, |_, _| {});
    for friction in [0.1, 0.5, 0.0, 0.3] {
        world.bodies_mut().set_friction(plane, friction).unwrap();
        let mut sum = Vector3::zeros();
        run_for(&mut world, 0.1, |world, _| sum += world.body_impulses()[plane.0].linear);
        let ratio = sum.x / -sum.z;
        assert!((ratio - friction).abs() < 1e-3, "{ratio} {friction}");
    }
}

/// A napkin of 10 x 10 parts, 0.1 kg/m^2 and 0.2 m, without gravity or with it.
fn napkin(gravity: f64, pins: &[usize]) -> World {
    let mut settings = Settings::new(0.02, 1e-3);
    settings.gravity = Vector3::new(0.0, 0.0, -gravity);
    let mut builder = World::builder(settings);
    let (x, y) = (Vector3::x() * 0.2, Vector3::y() * 0.2);
    let mesh = ClothMesh::rectangle(Vector3::new(0.0, 0.0, 0.5), x, y, [10, 10]).unwrap();
    let elastic = Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 };
    let material = ClothMaterial { damping: 0.5, ..ClothMaterial::new(50.0, elastic, 0.002, 1e5) };
    let pins = pins.iter().map(|&v| Pin::fixed(v, mesh.vertices()[v]).unwrap()).collect();
    let velocity = Vector3::zeros();
    builder.cloth(Sheet { pins, velocity, ..Sheet::new(mesh, material) });
    builder.build().unwrap()
}

fn vertex(world: &mut World, v: usize) -> Vector3<f64> {
    let first = world.cloths()[0].vertices.start;
    snapshot(world).positions[first + v].into()
}

fn momentum(world: &mut World) -> Vector3<f64> {
    let s = snapshot(world);
    s.velocities.iter().zip(&s.mass).map(|(v, m)| Vector3::from(*v) * *m).sum()
}

/// A moved vertex is on the line to its goal at a constant velocity, from the pin's place or from
/// where it is, and stays there. Its position is stored in cells from the corner of a block, in
/// single precision: up to six cells, half of 2^-21 cells of 0.02 m.
#[test]
fn a_pinned_vertex_goes_where_it_is_told() {
    let mut world = napkin(G, &[0, 10]);
    let rounding = 0.02 * 2.0_f64.powi(-21);
    let (first, free) = (vertex(&mut world, 0), 115);
    run_for(&mut world, 0.05, |_, _| {});
    let sagged = vertex(&mut world, free);
    let goal = first + Vector3::new(0.02, -0.01, 0.05);
    world.move_pin(0, 0, &goal, 0.1).unwrap();
    world.move_pin(0, free, &(sagged + Vector3::z() * 0.05), 0.05).unwrap();
    for share in [0.25, 0.5, 0.75, 1.0] {
        run_for(&mut world, 0.025, |_, _| {});
        let expected = first + share * (goal - first);
        let apart = (vertex(&mut world, 0) - expected).amax();
        assert!(apart < rounding, "{apart} m at {share}");
    }
    run_for(&mut world, 0.05, |_, _| {});
    assert!((vertex(&mut world, 0) - goal).amax() < rounding);
    assert!((vertex(&mut world, free) - sagged - Vector3::z() * 0.05).amax() < rounding);
    assert!((vertex(&mut world, 10) - Vector3::new(0.0, 0.2, 0.5)).amax() < rounding, "the other pin moved");
}

/// Newton's second law: once it is released, only its weight changes the momentum of the cloth,
/// m g t, to the rounding of velocities in single precision; while it hangs, pins bear it.
#[test]
fn a_released_cloth_falls() {
    let mut world = napkin(G, &[0, 10]);
    let mass = 0.1 * 0.04;
    run_for(&mut world, 0.1, |_, _| {});
    assert!(world.boundary_impulse().linear.z > 0.0);
    world.release_pin(0, 0).unwrap();
    world.release_pin(0, 10).unwrap();
    // One that nothing holds stays as it is.
    world.release_pin(0, 5).unwrap();
    let before = momentum(&mut world);
    run_for(&mut world, 0.1, |world, _| {
        assert_eq!(world.boundary_impulse().linear, Vector3::zeros());
    });
    let gained = momentum(&mut world) - before;
    let expected = Vector3::new(0.0, 0.0, -mass * G * 0.1);
    assert!((gained - expected).norm() < 1e-5 * expected.norm(), "{gained} {expected}");
}

/// The balance of momentum has the impulses of pins that are set while the cloth moves.
#[test]
fn the_momentum_of_caught_cloth_balances() {
    let mut world = napkin(G, &[]);
    run_for(&mut world, 0.1, |_, _| {});
    let (p, mut given) = (momentum(&mut world), Vector3::zeros());
    let at = vertex(&mut world, 60);
    world.move_pin(0, 60, &at, 1e-3).unwrap();
    run_for(&mut world, 0.1, |world, _| given += world.boundary_impulse().linear);
    let gained = momentum(&mut world) - p;
    let expected = given + Vector3::new(0.0, 0.0, -0.1 * 0.04 * G * 0.1);
    assert!(given.z > 0.01 * p.norm());
    assert!((gained - expected).norm() < 1e-5 * p.norm(), "{gained} {expected}");
    assert!(world.balance().linear_momentum < 1e-6, "{:?}", world.balance());
}

/// A state holds the pins as they are now: another world of the same model goes on with the same
/// bits, and so does a branch.
#[test]
fn moved_pins_are_part_of_the_state() {
    let bits = |world: &mut World| {
        let mut bits = Vec::new();
        world.write_state(&mut bits).unwrap();
        bits
    };
    let go_on = |mut world: World| {
        run_for(&mut world, 0.02, |_, _| {});
        bits(&mut world)
    };
    let mut world = napkin(G, &[0, 10]);
    run_for(&mut world, 0.02, |_, _| {});
    world.move_pin(0, 0, &Vector3::new(0.01, 0.0, 0.52), 0.03).unwrap();
    world.move_pin(0, 77, &Vector3::new(0.1, 0.1, 0.5), 0.03).unwrap();
    world.release_pin(0, 10).unwrap();
    run_for(&mut world, 0.01, |_, _| {});
    let saved = bits(&mut world);
    let mut other = napkin(G, &[0, 10]);
    other.read_state(&mut &saved[..]).unwrap();
    assert!(bits(&mut other) == saved);
    let branch = world.branch().unwrap();
    let expected = go_on(world);
    assert!(go_on(other) == expected, "a restored world differs");
    assert!(go_on(branch) == expected, "a branch differs");
}

/// Mistakes are named, and nothing changes.
#[test]
fn pins_that_cannot_be_are_refused() {
    let mut world = napkin(G, &[0]);
    let refused = [
        (world.move_pin(1, 0, &Vector3::zeros(), 1.0), "sheet: 1 is not one of the 1 sheets"),
        (world.move_pin(0, 121, &Vector3::zeros(), 1.0), "vertex: 121 is not one of the 121 vertices"),
        (world.move_pin(0, 0, &Vector3::zeros(), 0.0), "within: 0 s"),
        (world.move_pin(0, 0, &Vector3::new(f64::NAN, 0.0, 0.0), 1.0), "finite"),
        (world.release_pin(0, 121), "vertex: 121"),
    ];
    for (result, part) in refused {
        let error = result.unwrap_err();
        assert!(matches!(error, ChangeError::Pin(_)) && error.to_string().contains(part), "{error}");
    }
    assert_eq!(world.mpm().pins().count(), 1);
    let mut builder = World::builder(Settings::new(0.02, 1e-3));
    builder.body(floor(0.5)).unwrap();
    let mut bare = builder.build().unwrap();
    let error = bare.move_pin(0, 0, &Vector3::zeros(), 1.0).unwrap_err();
    assert!(matches!(error, ChangeError::Pin(PinError::NoSuchSheet { count: 0, .. })), "{error}");
}

/// A block that rests on a thin plate is mirrored to its other side. The plate has no face there that
/// could hold it: it falls at least as fast as freely, m g t, as the plate can but push. The change is
/// counted as impulse and work from outside, so that the balances stay at rounding, 1e-6, and no energy
/// is created by it.
#[test]
fn particles_that_are_set_elsewhere_forget_their_contacts_and_are_counted() {
    let mut settings = Settings::new(0.02, 1e-3);
    settings.gravity = Vector3::new(0.0, 0.0, -G);
    let mut builder = World::builder(settings);
    let rubber = builder.material(fixed_corotated(1e5, 0.3, 1000.0));
    builder.particles(block(rubber, [0.003, 0.002, 0.001], [8, 8, 4], 0.01, Vector3::zeros()));
    let plate = Shape::Box { half_extents: Vector3::new(0.2, 0.2, 0.001) };
    builder.body(fixed("plate", plate, Isometry3::translation(0.04, 0.04, 0.0), 0.5)).unwrap();
    let mut world = builder.build().unwrap();
    run_for(&mut world, 0.1, |_, _| {});
    let mass = world.diagnostics().mass;
    assert!(world.diagnostics().linear_momentum.norm() < 0.05 * mass * G * 0.1, "it rests on the plate");

    let created = world.energy().gain.unwrap().gained;
    let mut particles: Vec<_> = world.mpm().stored_particles().collect();
    for particle in &mut particles {
        let height = -(4.0 * particle.block[2] as f32 + particle.position[2]);
        particle.block[2] = (height / 4.0).floor() as i32;
        particle.position[2] = height - 4.0 * particle.block[2] as f32;
        (particle.velocity, particle.affine) = ([0.0; 3], [0.0; 9]);
    }
    world.set_particles(&particles).unwrap();
    let start = world.diagnostics();
    assert!(start.linear_momentum.norm() < 1e-9 * mass * G);
    run_for(&mut world, 0.05, |_, _| {});
    let end = world.diagnostics();
    let falling = -mass * G * 0.05;
    assert!(end.linear_momentum.z < (1.0 - 1e-4) * falling, "{}", end.linear_momentum);
    let balance = world.balance();
    assert!(balance.linear_momentum < 1e-6 && balance.angular_momentum < 1e-6, "{balance:?}");
    let gained = world.energy().gain.unwrap().gained - created;
    assert!(gained < 1e-6 * mass * G * 0.04, "{gained} J");
}

/// A world that failed stays so: its pins are not changed, and its steps are refused.
#[test]
fn pins_of_a_failed_world_are_refused() {
    let mut world = napkin(G, &[0]);
    world.watch().stop();
    world.step().unwrap_err();
    // A stop before a step changes nothing; a vertex that is torn away breaks the world.
    world.set_watch(pliant_coupling::StepWatch::default());
    world.move_pin(0, 60, &Vector3::new(1e6, 0.0, 0.0), 1e-9).unwrap();
    world.step().unwrap_err();
    for result in [world.move_pin(0, 0, &Vector3::zeros(), 1.0), world.release_pin(0, 0)] {
        assert!(matches!(result.unwrap_err(), ChangeError::Failed { .. }));
    }
    assert!(matches!(world.step().unwrap_err(), StepError::Failed { .. }));
}

/// Before the first step nothing was measured; afterwards the wrench is the impulse over the step.
#[test]
fn a_wrench_is_absent_before_the_first_step() {
    let mut builder = World::builder(Settings::new(0.02, 2e-3));
    let rubber = builder.material(fixed_corotated(1e5, 0.3, 1000.0));
    builder.particles(block(rubber, [0.0; 3], [6, 6, 6], 0.01, Vector3::zeros()));
    builder.body(floor(0.5)).unwrap();
    let mut world = builder.build().unwrap();
    assert_eq!(world.contact_wrench(BodyId(0)), None);
    run_for(&mut world, 0.01, |_, _| {});
    let wrench = world.contact_wrench(BodyId(0)).unwrap();
    assert_eq!(wrench.force, world.body_impulses()[0].linear / 2e-3);
    let arm = Vector3::new(0.1, 0.2, 0.3);
    assert_eq!(wrench.about(&arm).torque, wrench.torque - arm.cross(&wrench.force));
}
