//! A world whose grid has walls, on the CPU and on a device: the walls and the body give the
//! particles the same.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use nalgebra::{Isometry3, Point3, Unit, Vector3};
use pliant_coupling::{Boundary, BoundaryKind, Material, ParticleSet, Settings, World};
use pliant_cuda::backend::attach;
use pliant_mpm::material::{Elastic, Model};
use pliant_rigid::{BodyDesc, Geometry, Motion, Shape, SpatialVelocity, Trajectory, VelocityKey};
use support::device_kinds;

/// Two layers of particles in an edge of two walls, under a plate that presses and drags them. All
/// contacts share nodes with the walls.
fn squeezed(kind: BoundaryKind) -> World {
    let mut settings = Settings::new(0.02, 2e-3);
    settings.solver.relative_tolerance = 1e-6;
    for normal in [Vector3::z(), Vector3::x()] {
        let normal = Unit::new_normalize(normal);
        settings.boundaries.push(Boundary { point: Point3::origin(), normal, kind });
    }
    let mut builder = World::builder(settings);
    let elastic = Elastic { youngs_modulus: 3e4, poissons_ratio: 0.3 };
    let material = builder.material(Material { density: 1000.0, model: Model::FixedCorotated(elastic) });
    let places = (0..32).map(|n| [n % 4, n / 4 % 4, n / 16].map(|k| 0.01 * (f64::from(k) + 0.5)));
    builder.particles(ParticleSet {
        positions: places.map(Point3::from).collect(),
        velocities: vec![Vector3::zeros(); 32],
        volumes: vec![1e-6; 32],
        material,
    });
    let velocity = SpatialVelocity { linear: Vector3::new(-0.1, 0.1, -0.1), angular: Vector3::zeros() };
    let motion = Motion::Prescribed(Trajectory::Velocities(vec![VelocityKey { time: 0.0, velocity }]));
    let shape = Shape::Box { half_extents: Vector3::new(0.1, 0.1, 0.01) };
    let plate = BodyDesc {
        name: "plate".into(),
        pose: Isometry3::translation(0.02, 0.02, 0.03),
        motion,
        geometries: vec![Geometry::new(shape, 0.5)],
        appearance: Vec::new(),
    };
    builder.body(plate).unwrap();
    builder.build().unwrap()
}

// Both solve the same problems to 1e-6, and round the particles' numbers to f32 in their own order.
// Measured in the impulses of a step: up to 2e-5. Without the slip walls' contacts in the device's
// solve it is 0.3, without the friction that is imposed after it 0.1.
#[test]
fn walls_of_a_world_give_what_they_give_on_the_cpu() {
    for device in device_kinds() {
        for kind in [BoundaryKind::Sticky, BoundaryKind::Slip, BoundaryKind::Frictional { friction: 0.3 }] {
            let (mut host, mut world) = (squeezed(kind), squeezed(kind));
            attach(&device, &mut world).unwrap();
            for step in 0..4 {
                let (right, found) = (host.step().unwrap(), world.step().unwrap());
                assert_eq!(found.contacts_max, right.contacts_max, "{kind:?}, step {step}");
                assert!(found.contacts_max > 0, "nothing touches");
                let (right, found) = (host.boundary_impulse(), world.boundary_impulse());
                let size = right.linear.norm();
                let off = (right.linear - found.linear).norm() / size;
                let turned = (right.angular - found.angular).norm() / right.angular.norm();
                let (right, found) = (host.body_impulses()[0], world.body_impulses()[0]);
                let body = (right.linear - found.linear).norm() / size;
                println!("{kind:?} {step}: {size:.3e} {off:.1e} {turned:.1e} {body:.1e}");
                assert!(
                    off <= 1e-4 && turned <= 1e-4 && body <= 1e-4,
                    "{kind:?}, step {step}: {found:?}, not {right:?}"
                );
            }
        }
    }
}
