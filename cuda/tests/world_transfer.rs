//! The choice of how particles add to the grid, of a whole world.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use nalgebra::{Point3, Vector3};
use pliant_coupling::{Material, ParticleSet, Settings, Transfer, World};
use pliant_cuda::backend::{DeviceBackend, InitialCapacity, attach};
use pliant_mpm::material::{Elastic, Model};
use support::devices;

/// A cube of jelly of 64 particles that flies and turns.
fn jelly(transfer: Transfer) -> World {
    let mut settings = Settings::new(0.02, 2e-3);
    settings.transfer = transfer;
    let mut builder = World::builder(settings);
    let elastic = Elastic { youngs_modulus: 3e4, poissons_ratio: 0.3 };
    let material = builder.material(Material { density: 1000.0, model: Model::FixedCorotated(elastic) });
    let places = (0..64).map(|n| [n % 4, n / 4 % 4, n / 16].map(|k| 0.01 * (f64::from(k) + 0.5)));
    let positions: Vec<_> = places.map(Point3::from).collect();
    builder.particles(ParticleSet {
        velocities: positions.iter().map(|x| Vector3::new(1.0, 40.0 * x.z, -40.0 * x.y)).collect(),
        volumes: vec![1e-6; positions.len()],
        positions,
        material,
    });
    builder.build().unwrap()
}

/// Where the particles are after some steps [m].
fn places(mut world: World) -> Vec<Point3<f64>> {
    for _ in 0..4 {
        world.step().unwrap();
    }
    world.refresh().unwrap();
    world.mpm().particles().iter().map(|particle| particle.position).collect()
}

/// The setting reaches the device: atomic additions take a clear more, and move particles as the
/// ordered ones do, to the roundings of about 100 substeps of numbers below 1 m.
#[test]
fn a_world_is_stepped_by_the_transfer_it_asks_for() {
    for device in devices().into_iter().take(1) {
        let [ordered, atomic] = [Transfer::Ordered, Transfer::Atomic].map(|transfer| {
            let mut world = jelly(transfer);
            let backend = DeviceBackend::new(&device, &mut world, InitialCapacity::default()).unwrap();
            attach(&device, &mut world).unwrap();
            (backend.count_commands().substep, places(world))
        });
        assert_eq!(atomic.0, ordered.0 + 1);
        let farthest = ordered.1.iter().zip(&atomic.1).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(farthest < 100.0 * f64::from(f32::EPSILON), "{farthest} m");
    }
}

/// The processor has the ordered transfer alone, and refuses the other by its field.
#[test]
fn the_processor_refuses_atomic_additions() {
    jelly(Transfer::Ordered).check_processor().unwrap();
    let mut world = jelly(Transfer::Atomic);
    let refused = world.check_processor().unwrap_err().to_string();
    assert!(refused.contains("cpu") && refused.contains("transfer: atomic"), "{refused}");
    let stopped = world.step().unwrap_err().to_string();
    assert!(stopped.contains("transfer: atomic"), "{stopped}");
}
