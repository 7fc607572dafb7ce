//! The balance of energy of whole worlds: closed forms of what is lost to friction and plastic flow
//! and of work, and parts that sum.

use crate::common::{self, G, block, fixed_corotated, floor, prescribed, run_for};
use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{Coupling, EnergyBalance, Material, Settings, World};
use pliant_mpm::material::{Elastic, Model};
use pliant_rigid::{Shape, SpatialVelocity};

fn settings(dt: f64) -> Settings {
    let mut settings = Settings::new(0.02, dt);
    settings.solver.relative_tolerance = 1e-4;
    settings
}

/// Runs for `time` (s), looking at the balance after every step as a run does.
fn run(world: &mut World, time: f64) -> EnergyBalance {
    run_for(world, time, |world, _| {
        world.diagnostics();
    });
    world.energy()
}

// Coulomb: a block that slides over a floor loses mu m g times its way to friction, whether the
// floor stands and the block had the energy, or the floor moves and does the work. 1 % for the
// settling of the start, which adds weight to the normal force for a while.
#[test]
fn a_sliding_block_loses_its_way_times_friction() {
    let (friction, mass, time) = (0.2, 256.0 * 1e-3, 0.25);
    for (moving, speed) in [(false, 1.5), (true, 1.5)] {
        let mut builder = World::builder(settings(1e-3));
        let material = builder.material(fixed_corotated(1e5, 0.3, 1000.0));
        let velocity = Vector3::x() * if moving { 0.0 } else { speed };
        builder.particles(block(material, [0.003, 0.002, 0.0], [8, 8, 4], 0.01, velocity));
        if moving {
            let keys = [(0.0, Vector3::x() * -speed, Vector3::zeros())];
            let pose = Isometry3::identity();
            builder.body(prescribed("floor", Shape::HalfSpace, pose, friction, &keys)).unwrap();
        } else {
            builder.body(floor(friction)).unwrap();
        }
        let mut world = builder.build().unwrap();
        let energy = run(&mut world, time);
        let flows = energy.particles.unwrap().flows;
        let way = speed * time - 0.5 * friction * G * time * time;
        let exact = friction * mass * G * way;
        let lost = flows.contact_friction.unwrap();
        let work = if moving { friction * mass * G * speed * time } else { 0.0 };
        println!("{lost} of {exact} J, work {:?} of {work} J; {energy:?}", flows.prescribed);
        assert!((lost / exact - 1.0).abs() < 0.01, "{lost} J, not {exact}");
        assert!(
            (flows.prescribed.unwrap() - work).abs() < 0.01 * exact,
            "{:?} J, not {work}",
            flows.prescribed
        );
        assert!(flows.dynamic == Some(0.0) && energy.bodies.is_none());
        assert!(energy.imbalance.unwrap().abs() < 0.02 * exact, "{energy:?}");
    }
}

// Uniaxial compression of perfect plasticity without friction: the plastic work is sigma_Y V
// (ln(h0/h) - sigma_Y/E), the elastic energy sigma_Y^2 V/(2 E), and the plate's work is
// both. Floor and plate hold the end layers at their centres, which are a spacing closer than the
// faces: h0 is 7 cm. 5 %: the end layers strain less than the others; inertia, waves of the start.
#[test]
fn the_work_of_a_press_is_plastic_and_elastic() {
    let mut settings = settings(2e-3);
    settings.gravity = Vector3::zeros();
    let mut builder = World::builder(settings);
    let (youngs_modulus, yield_stress) = (1e5, 2e3);
    let elastic = Elastic { youngs_modulus, poissons_ratio: 0.3 };
    let material = Material { density: 1000.0, model: Model::VonMises { elastic, yield_stress } };
    let dough = builder.material(material);
    builder.particles(block(dough, [-0.04, -0.04, 0.0], [8, 8, 8], 0.01, Vector3::zeros()));
    builder.body(floor(0.0)).unwrap();
    let keys = [(0.0, Vector3::z() * -0.05, Vector3::zeros())];
    let plate = Shape::Box { half_extents: Vector3::new(0.2, 0.2, 0.02) };
    builder.body(prescribed("plate", plate, Isometry3::translation(0.0, 0.0, 0.1), 0.0, &keys)).unwrap();
    let mut world = builder.build().unwrap();
    let energy = run(&mut world, 0.4);
    let particles = energy.particles.unwrap();
    let volume = 512.0 * 1e-6;
    let strain = (0.07_f64 / 0.05).ln();
    let exact = yield_stress * volume * (strain - yield_stress / youngs_modulus);
    let stored = yield_stress.powi(2) * volume / (2.0 * youngs_modulus);
    let (plastic, work) = (particles.flows.plastic.unwrap(), particles.flows.prescribed.unwrap());
    println!(
        "plastic {plastic} of {exact}, elastic {} of {stored}, work {work}; {particles:?}",
        particles.elastic
    );
    assert!((plastic / exact - 1.0).abs() < 0.05, "{plastic} J, not {exact}");
    assert!((particles.elastic / stored - 1.0).abs() < 0.2, "{} J, not {stored}", particles.elastic);
    assert!((work / (exact + stored) - 1.0).abs() < 0.05, "{work} J, not {}", exact + stored);
    assert!(energy.imbalance.unwrap().abs() < 0.05 * work, "{energy:?}");
}

/// A box that falls at `speed` (m/s) on a mat of `thickness` (in cm) on a floor.
fn dropped(dt: f64, speed: f64, thickness: usize, coupling: Coupling) -> World {
    let mut settings = settings(dt);
    settings.coupling = coupling;
    let mut builder = World::builder(settings);
    let rubber = builder.material(fixed_corotated(1e5, 0.3, 1000.0));
    builder.particles(block(rubber, [-0.1, -0.1, 0.0], [20, 20, thickness], 0.01, Vector3::zeros()));
    builder.body(floor(0.3)).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, 0.01 * thickness as f64 + 0.07);
    let shape = Shape::Box { half_extents: Vector3::repeat(0.05) };
    let velocity = SpatialVelocity { linear: Vector3::z() * -speed, angular: Vector3::zeros() };
    builder.body(common::free("box", shape, pose, 0.3, 800.0, velocity)).unwrap();
    builder.build().unwrap()
}

// The balance is a sum: energies now less those of the start, less work, with losses. Its terms sum
// to the imbalances of particles, bodies and their exchange, to rounding; and with short steps all
// of them are small compared with the energies involved.
#[test]
fn the_parts_sum() {
    for coupling in [Coupling::Weak, Coupling::Strong] {
        let mut world = dropped(2e-4, 1.0, 5, coupling);
        let start = world.energy();
        let end = run(&mut world, 0.12);
        let [p0, p] = [&start, &end].map(|e| e.particles.unwrap());
        let f = p.flows;
        let change = p.kinetic + p.elastic + p.gravitational - p0.kinetic - p0.elastic - p0.gravitational;
        let lost = f.contact_normal.unwrap().max(0.0) + f.contact_friction.unwrap().max(0.0);
        let of_particles = change - f.dynamic.unwrap() - f.prescribed.unwrap() + lost;
        let [b0, b] = [&start, &end].map(|e| e.bodies.unwrap());
        let change = b.stored.kinetic + b.stored.gravitational - b0.stored.kinetic - b0.stored.gravitational;
        let of_bodies = change - b.flows.exchanged;
        let exchange = f.dynamic.unwrap() + b.flows.exchanged;
        let scale = b0.stored.kinetic;
        println!("{coupling:?}: {of_particles:e}, {of_bodies:e}, {exchange:e} of {scale} J; {end:?}");
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * scale;
        assert!(near(of_particles, p.imbalance.unwrap()) && near(of_bodies, b.imbalance), "{end:?}");
        assert!(near(exchange, end.exchange.unwrap()), "{end:?}");
        let sum = of_particles + of_bodies + exchange;
        assert!(near(sum, end.imbalance.unwrap()), "{end:?}");
        assert!(b.flows.exchanged < -0.2 * scale, "the mat stopped it: {end:?}");
        // Bodies that keep their velocity through a step give more than they lose where they touch
        // the mat: 1/2 m dV^2 in that step.
        assert!(of_bodies.abs() < 1e-6 * scale && exchange.abs() < 0.1 * scale, "{end:?}");
        assert!(end.gain.unwrap().relative() < 0.01, "{end:?}");
    }
}

// A world that is saved and restored continues the same balance.
#[test]
fn a_restored_world_has_the_account() {
    let mut world = dropped(1e-3, 1.0, 5, Coupling::Auto);
    run(&mut world, 0.06);
    let mut saved = Vec::new();
    world.write_state(&mut saved).unwrap();
    let mut other = dropped(1e-3, 1.0, 5, Coupling::Auto);
    other.read_state(&mut &saved[..]).unwrap();
    let [a, b] = [run(&mut world, 0.03), run(&mut other, 0.03)];
    assert_eq!(a, b);
    assert!(a.bodies.unwrap().flows.exchanged != 0.0 && a.gain.unwrap().gained > 0.0, "{a:?}");
}
