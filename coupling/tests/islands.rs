//! Contacts that share no unknown do not see each other.

use crate::common::{G, block, fixed_corotated, floor, free, prescribed, run_for, slope, snapshot};
use nalgebra::{Isometry3, Point3, Vector3};
use pliant_coupling::{AutoOr, Coupling, Material, ParticleSet, Settings, World};
use pliant_mpm::material::{Elastic, Model};
use pliant_rigid::{Shape, SpatialVelocity};

/// Speed at which the grain starts [m/s].
const SPEED: f64 = 0.1;
const FRICTION: f64 = 0.5;
const DT: f64 = 1e-3;

/// A grain of 0.512 mg that slides on a floor, and beside it, far beyond the reach of its stencil,
/// a block a million times as heavy, at rest or (`heavy` false) not there at all.
fn grain(relative_tolerance: f64, heavy: bool) -> World {
    let mut settings = Settings::new(0.02, DT);
    settings.substeps = AutoOr::Value(1);
    settings.solver.relative_tolerance = relative_tolerance;
    let mut builder = World::builder(settings);
    let material = builder.material(fixed_corotated(2e4, 0.3, 1000.0));
    let volume = 5.12e-10_f64;
    let grain = ParticleSet {
        positions: vec![Point3::new(0.307, 0.013, 0.5 * volume.cbrt())],
        velocities: vec![Vector3::x() * SPEED],
        volumes: vec![volume],
        material,
    };
    builder.particles(grain);
    if heavy {
        builder.particles(block(material, [0.0; 3], [8; 3], 0.01, Vector3::zeros()));
    }
    builder.body(floor(FRICTION)).unwrap();
    builder.build().unwrap()
}

/// Coulomb: the grain slows down by mu g, whatever lies beside it. The solver may leave a velocity
/// off by eps_r |v| a substep in the mass norm (its modulus of convexity; the scale is the grain's
/// own momentum), which against mu g dt is eps_r v/(mu g dt): 20 eps_r at the start, so 20 % at
/// 1e-2 and 2 % at 1e-3, and least-squares over the whole way makes no more of it. The law's
/// regularisation takes 1 - v/sqrt(v^2 + v_s^2): 0.1 % at 20 mm/s, where the fit ends.
#[test]
fn a_grain_slides_beside_a_heavy_block() {
    for eps in [1e-2, 1e-3, 1e-4] {
        let mut world = grain(eps, true);
        let mut speeds = Vec::new();
        run_for(&mut world, 0.016, |world, _| {
            speeds.push((world.time(), snapshot(world).velocities[0][0]));
        });
        let deceleration = -slope(&speeds[2..]);
        let off = deceleration / (FRICTION * G) - 1.0;
        let largest = eps * SPEED / (FRICTION * G * DT) + 1e-3;
        println!("eps_r {eps:.0e}: {deceleration:.4} m/s^2, off by {off:.2e} of {largest:.2e}");
        assert!(off.abs() < largest, "eps_r {eps}: off by {off}");
    }
}

/// Numbers of the first particles, to the bit.
fn bits(world: &mut World, particles: usize) -> Vec<u64> {
    let now = snapshot(world);
    let numbers = now.positions[..particles].iter().chain(&now.velocities[..particles]).flatten();
    numbers.map(|x| x.to_bits()).collect()
}

/// What lies beside it does not change a bit of a region: a grain's way, with a rubber block beside
/// it and without.
#[test]
fn a_region_does_not_see_another() {
    let path = |heavy| {
        let mut world = grain(1e-2, heavy);
        run_for(&mut world, 0.06, |_, _| {});
        bits(&mut world, 1)
    };
    assert!(path(true) == path(false));
    // And a block that is pressed, with another one beside it that is pressed faster, and without.
    let path = |both| {
        let mut settings = Settings::new(0.02, DT);
        settings.substeps = AutoOr::Value(1);
        settings.solver.relative_tolerance = 1e-2;
        let mut builder = World::builder(settings);
        let rubber = builder.material(fixed_corotated(2e4, 0.3, 1000.0));
        for n in 0..if both { 2 } else { 1 } {
            let corner = [0.3 * f64::from(n), 0.0, 0.0];
            builder.particles(block(rubber, corner, [6, 6, 4 + n as usize], 0.01, Vector3::zeros()));
        }
        builder.body(floor(FRICTION)).unwrap();
        for n in 0..2 {
            let pose =
                Isometry3::translation(0.03 + 0.3 * f64::from(n), 0.03, 0.06 + 0.01 * f64::from(n) - 0.0175);
            let down = [(0.0, Vector3::new(0.02, 0.0, -0.05 * f64::from(n + 1)), Vector3::zeros())];
            let plate = Shape::Box { half_extents: Vector3::new(0.05, 0.05, 0.0025) };
            builder.body(prescribed(&format!("plate {n}"), plate, pose, 0.5, &down)).unwrap();
        }
        let mut world = builder.build().unwrap();
        let mut contacts = 0.0_f64;
        run_for(&mut world, 0.04, |_, report| contacts = contacts.max(report.contacts_mean));
        let impulses: Vec<u64> = world.body_impulses()[1].linear.iter().map(|x| x.to_bits()).collect();
        (bits(&mut world, 6 * 6 * 4), impulses, contacts)
    };
    let (with, without) = (path(true), path(false));
    assert!(with.2 > without.2 + 50.0 && without.2 >= 72.0, "{} and {} contacts", with.2, without.2);
    assert!(with.0 == without.0, "the particles differ");
    assert!(with.1 == without.1, "the plate's impulses differ");
}

/// Several regions on several threads give the same bits as on one: clay under plates, a free,
/// strongly coupled ball on rubber, and loose grains.
#[test]
fn threads_do_not_change_a_bit_of_many_regions() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut settings = Settings::new(0.02, 2e-3);
            settings.coupling = Coupling::Strong;
            let mut builder = World::builder(settings);
            let elastic = Elastic { youngs_modulus: 2e4, poissons_ratio: 0.3 };
            let clay = Material { density: 1000.0, model: Model::VonMises { elastic, yield_stress: 500.0 } };
            let clay = builder.material(clay);
            let rubber = builder.material(fixed_corotated(3e4, 0.3, 800.0));
            let push = Vector3::new(0.2, 0.0, 0.0);
            for n in 0..3 {
                let corner = [0.25 * f64::from(n), 0.0, 0.0];
                builder.particles(block(clay, corner, [8 + n as usize, 8, 4], 0.01, push * f64::from(n)));
            }
            builder.particles(block(rubber, [0.0, 0.3, 0.0], [8, 8, 4], 0.01, Vector3::zeros()));
            let positions: Vec<_> = (0..40)
                .map(|n| Point3::new(0.1 * f64::from(n % 10), 0.5 + 0.1 * f64::from(n / 10), 0.005))
                .collect();
            let velocities = (0..40).map(|n| Vector3::new(0.01 * f64::from(n), 0.1, 0.0)).collect();
            let volumes = vec![1e-6; 40];
            builder.particles(ParticleSet { positions, velocities, volumes, material: rubber });
            builder.body(floor(FRICTION)).unwrap();
            for n in 0..3 {
                let pose = Isometry3::translation(0.04 + 0.25 * f64::from(n), 0.04, 0.0425);
                let down = [(0.0, Vector3::new(0.1, 0.0, -0.05), Vector3::zeros())];
                let plate = Shape::Box { half_extents: Vector3::new(0.06, 0.06, 0.0025) };
                builder.body(prescribed(&format!("plate {n}"), plate, pose, 0.5, &down)).unwrap();
            }
            let velocity = SpatialVelocity { angular: Vector3::y(), linear: Vector3::new(0.0, 0.0, -0.5) };
            let pose = Isometry3::translation(0.04, 0.34, 0.07);
            builder.body(free("ball", Shape::Sphere { radius: 0.03 }, pose, 0.5, 500.0, velocity)).unwrap();
            let mut world = builder.build().unwrap();
            let mut contacts = 0.0_f64;
            run_for(&mut world, 0.05, |_, report| contacts = contacts.max(report.contacts_mean));
            assert!(contacts > 500.0, "only {contacts} contacts");
            let particles = world.particle_count();
            let mut bits = bits(&mut world, particles);
            for impulse in world.body_impulses() {
                bits.extend(impulse.angular.iter().chain(&impulse.linear).map(|x| x.to_bits()));
            }
            bits
        })
    };
    let one = run(1);
    for threads in [2, 3] {
        assert!(one == run(threads), "{threads} threads give other bits than one");
    }
}
