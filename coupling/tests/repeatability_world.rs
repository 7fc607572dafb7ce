//! Runs repeat to the bit: for any number of threads, and after saving and restoring.

use crate::common::{self, block, fixed_corotated, floor, prescribed, run_for};
use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{AutoOr, Coupling, Material, ParticleSnapshot, Settings, StateError, World};
use pliant_mpm::material::{Elastic, Model};
use pliant_rigid::{Shape, SpatialVelocity};

/// Clay, sand and rubber on a floor; a plate that comes down, and a free ball that falls in.
fn busy_world() -> World {
    let mut settings = Settings::new(0.02, 2e-3);
    // Strongly coupled bodies have more state to repeat and to keep.
    settings.coupling = Coupling::Strong;
    settings.solver.relative_tolerance = 1e-3;
    let mut builder = World::builder(settings);
    let elastic = Elastic { youngs_modulus: 2e4, poissons_ratio: 0.3 };
    let clay = Material { density: 1000.0, model: Model::VonMises { elastic, yield_stress: 500.0 } };
    let sand = Material { density: 1500.0, model: Model::DruckerPrager { elastic, friction_angle: 0.5 } };
    let materials = [clay, sand, fixed_corotated(3e4, 0.3, 800.0)].map(|m| builder.material(m));
    for (n, material) in materials.into_iter().enumerate() {
        let corner = [-0.2 + 0.13 * n as f64, -0.05, 0.0];
        builder.particles(block(material, corner, [11, 10, 6], 0.01, Vector3::new(0.3, 0.0, -0.1)));
    }
    builder.body(floor(0.5)).unwrap();
    let plate = Shape::Box { half_extents: Vector3::new(0.25, 0.1, 0.005) };
    let down = [(0.0, Vector3::new(0.0, 0.0, -0.4), Vector3::new(0.0, 0.1, 0.0))];
    builder.body(prescribed("plate", plate, Isometry3::translation(0.0, 0.0, 0.075), 0.4, &down)).unwrap();
    let velocity =
        SpatialVelocity { angular: Vector3::new(1.0, 2.0, 0.0), linear: Vector3::new(-1.5, 0.0, 0.0) };
    let ball = Shape::Sphere { radius: 0.04 };
    builder
        .body(common::free("ball", ball, Isometry3::translation(0.26, 0.0, 0.03), 0.7, 500.0, velocity))
        .unwrap();
    builder.build().unwrap()
}

/// Every bit that a step leaves behind: particles, bodies and impulses.
fn bits(world: &mut World) -> Vec<u64> {
    let mut bits = Vec::new();
    world.mpm().for_each_particle(|id, p| {
        bits.push(u64::from(id));
        let numbers = p.position.iter().chain(&p.velocity).chain(&p.affine).chain(&p.deformation_gradient);
        bits.extend(numbers.chain([&p.state]).map(|x| x.to_bits()));
    });
    for (id, _) in world.bodies().iter() {
        let (pose, velocity) = (world.bodies().pose(id), world.bodies().velocity(id));
        bits.extend(pose.translation.vector.iter().chain(pose.rotation.coords.iter()).map(|x| x.to_bits()));
        bits.extend(velocity.angular.iter().chain(&velocity.linear).map(|x| x.to_bits()));
        let impulse = world.body_impulses()[id.0];
        bits.extend(impulse.angular.iter().chain(&impulse.linear).map(|x| x.to_bits()));
    }
    let d = world.diagnostics();
    bits.extend([d.kinetic_energy, d.elastic_energy, d.dissipation].map(f64::to_bits));
    bits
}

fn in_pool<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

/// One and many threads give the same bits, since every sum has one order.
#[test]
fn threads_do_not_change_a_bit() {
    let run = |threads| {
        in_pool(threads, || {
            let mut world = busy_world();
            let mut contacts = 0.0_f64;
            run_for(&mut world, 0.1, |_, report| contacts = contacts.max(report.contacts_mean));
            assert!(contacts > 300.0, "only {contacts} contacts");
            bits(&mut world)
        })
    };
    let one = run(1);
    for threads in [2, 3] {
        assert!(one == run(threads), "{threads} threads give other bits than one");
    }
}

/// A restored run continues bit for bit, in a fresh world and in one that has gone on, and saving
/// disturbs nothing.
#[test]
fn a_restored_run_continues_bit_for_bit() {
    let mut world = busy_world();
    run_for(&mut world, 0.05, |_, _| {});
    let mut saved = Vec::new();
    world.write_state(&mut saved).unwrap();
    run_for(&mut world, 0.05, |_, _| {});
    let whole = bits(&mut world);

    let mut fresh = busy_world();
    fresh.read_state(&mut saved.as_slice()).unwrap();
    assert_eq!((fresh.step_count(), fresh.time()), (25, 0.05));
    run_for(&mut fresh, 0.05, |_, _| {});
    assert!(whole == bits(&mut fresh), "restored in a fresh world");

    world.read_state(&mut saved.as_slice()).unwrap();
    let mut again = Vec::new();
    world.write_state(&mut again).unwrap();
    assert!(saved == again, "what was restored is what was saved");
    run_for(&mut world, 0.05, |_, _| {});
    assert!(whole == bits(&mut world), "restored in the world that went on");
}

/// So does a run whose particles are pressed out of the far side of a thin plate: the face they
/// came through is part of the state.
#[test]
fn a_restored_run_knows_the_faces_of_its_contacts() {
    let build = || {
        let mut settings = Settings::new(0.02, 2e-3);
        settings.contact.stiffness = AutoOr::Value(3.0);
        let mut builder = World::builder(settings);
        let rubber = builder.material(fixed_corotated(3e4, 0.3, 1000.0));
        builder.particles(block(rubber, [-0.04, -0.04, 0.006], [8, 8, 4], 0.01, Vector3::zeros()));
        let plate = Shape::Box { half_extents: Vector3::new(0.2, 0.2, 0.0005) };
        builder.body(common::fixed("plate", plate, Isometry3::identity(), 0.5)).unwrap();
        builder.build().unwrap()
    };
    let mut world = build();
    // The block sinks by 13 mm at rest, and by more on the way there.
    run_for(&mut world, 0.12, |_, _| {});
    let lowest = common::snapshot(&mut world).positions.iter().map(|p| p[2]).fold(f64::MAX, f64::min);
    assert!(lowest < -0.01, "not pressed out far enough: {lowest} m");
    let mut saved = Vec::new();
    world.write_state(&mut saved).unwrap();
    let mut fresh = build();
    fresh.read_state(&mut saved.as_slice()).unwrap();
    for world in [&mut world, &mut fresh] {
        run_for(world, 0.2, |_, _| {});
    }
    assert!(bits(&mut world) == bits(&mut fresh));
    let fallen = common::snapshot(&mut fresh).positions.iter().filter(|p| p[2] < -0.1).count();
    assert_eq!(fallen, 0, "particles fell through the plate");
}

/// Cut, altered and foreign states are typed errors, not panics.
#[test]
fn damaged_states_are_refused() {
    let mut world = busy_world();
    run_for(&mut world, 0.01, |_, _| {});
    let mut saved = Vec::new();
    world.write_state(&mut saved).unwrap();
    for length in [0, 7, 8, 100, saved.len() / 2, saved.len() - 1] {
        assert!(busy_world().read_state(&mut &saved[..length]).is_err(), "cut to {length} bytes");
    }
    let mut huge = saved.clone();
    huge[..8].fill(0xff);
    let refused = busy_world().read_state(&mut huge.as_slice());
    assert!(matches!(refused, Err(StateError::Malformed { .. })), "{refused:?}");

    let mut builder = World::builder(Settings::new(0.02, 2e-3));
    let rubber = builder.material(fixed_corotated(1e4, 0.3, 1000.0));
    builder.particles(block(rubber, [0.0; 3], [2; 3], 0.01, Vector3::zeros()));
    let mut other = builder.build().unwrap();
    let refused = other.read_state(&mut saved.as_slice());
    assert!(matches!(refused, Err(StateError::Foreign { .. })), "{refused:?}");
}

/// A snapshot has the particles in the order in which they were added, however they were sorted
/// since.
#[test]
fn snapshots_keep_the_order() {
    let mut world = busy_world();
    let mut snapshot = ParticleSnapshot::default();
    run_for(&mut world, 0.02, |_, _| {});
    world.snapshot(&mut snapshot).unwrap();
    assert_eq!(snapshot.positions.len(), 1980);
    let materials: Vec<u32> = (0..3).flat_map(|m| [m; 660]).collect();
    assert_eq!(snapshot.material, materials);
    let mut substep_states = 0;
    world.mpm().for_each_particle(|id, p| {
        assert_eq!(snapshot.positions[id as usize], <[f64; 3]>::from(p.position.coords));
        substep_states += 1;
    });
    assert_eq!(substep_states, 1980);
}
