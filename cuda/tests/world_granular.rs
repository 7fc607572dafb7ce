//! A world of sand on bodies, on the CPU and on a device: contact at the grains' surface, and rough
//! walls.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use nalgebra::{Isometry3, Matrix3, Point3, Unit, Vector3};
use pliant_coupling::{
    AutoOr, Boundary, BoundaryKind, Coupling, GridMotion, Material, ParticleSet, Settings, World,
};
use pliant_cuda::backend::{DeviceBackend, InitialCapacity, attach};
use pliant_mpm::material::{Elastic, GranularFlow, GranularWalls, Model};
use pliant_rigid::{BodyDesc, BodyId, Geometry, Joint, MassProperties, Motion, Shape, SpatialVelocity};
use support::device_kinds;

/// Mass of the plate on the sand [kg].
const PLATE: f64 = 0.05;
/// Of particles and plate at the start, about [N s].
const MOMENTUM: f64 = 0.05;
/// Coefficient of friction of all bodies: below that of rough walls.
const FRICTION: f64 = 0.1;

fn body(name: &str, half: [f64; 3], height: f64, motion: Motion) -> BodyDesc {
    BodyDesc {
        name: name.into(),
        // Askew, so that no number of the way from particle to surface is zero.
        pose: Isometry3::new(Vector3::new(0.021, 0.018, height), Vector3::new(0.05, -0.04, 0.1)),
        motion,
        geometries: vec![Geometry::new(Shape::Box { half_extents: half.into() }, FRICTION)],
        appearance: Vec::new(),
    }
}

/// Two layers of sand and jelly, side by side, slide over a floor that is a body, pressed on by a
/// plate that answers, towards a grid boundary constraint.
fn pressed(walls: GranularWalls) -> World {
    let mut settings = Settings::new(0.02, 2e-3);
    settings.coupling = Coupling::Strong;
    settings.substeps = AutoOr::Value(6);
    settings.contact.dissipation = 5.0;
    settings.solver.relative_tolerance = 1e-6;
    // A device's grid is at rest.
    settings.grid_motion = GridMotion::Fixed;
    let normal = Unit::new_normalize(-Vector3::x());
    settings.boundaries.push(Boundary {
        point: Point3::new(0.045, 0.0, 0.0),
        normal,
        kind: BoundaryKind::Slip,
    });
    let mut builder = World::builder(settings);
    let elastic = Elastic { youngs_modulus: 3e4, poissons_ratio: 0.3 };
    let flow = GranularFlow {
        elastic,
        friction_angle: 0.5,
        fast_friction_angle: 0.6,
        inertial_number: 0.3,
        grain_diameter: 1e-3,
        grain_density: 2500.0,
        walls,
    };
    let models = [Model::FixedCorotated(elastic), Model::Granular(flow)];
    for (half, model) in models.into_iter().enumerate() {
        let material = builder.material(Material { density: 1000.0, model });
        let places = (0..16).map(|n| [n % 4, 2 * half + n / 4 % 2, n / 8].map(|k| 0.01 * (k as f64 + 0.5)));
        builder.particles(ParticleSet {
            positions: places.map(Point3::from).collect(),
            velocities: vec![Vector3::new(0.5, 0.1, -0.2); 16],
            volumes: vec![1e-6; 16],
            material,
        });
    }
    builder.body(body("floor", [0.2, 0.2, 0.02], -0.022, Motion::Fixed)).unwrap();
    let falls =
        SpatialVelocity { angular: Vector3::new(0.3, 1.0, 2.0), linear: Vector3::new(0.0, 0.0, -0.6) };
    let motion = Motion::Dynamic {
        parent: None,
        joint: Joint::free(),
        mass: MassProperties { mass: PLATE, inertia: Matrix3::from_diagonal_element(2e-5) },
        force: Vector3::zeros(),
        torque: Vector3::zeros(),
        velocity: falls,
        gravity: true,
    };
    builder.body(body("plate", [0.04, 0.04, 0.004], 0.0254, motion)).unwrap();
    builder.build().unwrap()
}

/// How far two worlds' bodies are apart: position [m] and rotation [rad] of the plate, impulses of
/// the last step on both [N s, N m s].
fn apart(a: &World, b: &World) -> [f64; 4] {
    let [x, y] = [a, b].map(|world| world.bodies().pose(BodyId(1)));
    let pairs = || a.body_impulses().iter().zip(b.body_impulses());
    [
        (x.translation.vector - y.translation.vector).norm(),
        x.rotation.angle_to(&y.rotation),
        pairs().map(|(p, q)| (p.linear - q.linear).norm()).fold(0.0, f64::max),
        pairs().map(|(p, q)| (p.angular - q.angular).norm()).fold(0.0, f64::max),
    ]
}

/// Momentum of particles and plate.
fn momentum(world: &mut World) -> Vector3<f64> {
    world.diagnostics().linear_momentum + world.bodies().momentum().linear
}

// Both solve the same contact problems to 1e-6 and round the particles' numbers to f32 in their own
// order (2^-24 of them, which stiff contacts and substeps let grow). What the particles lose the
// bodies and the wall get, to the rounding of velocities to f32 in each of 24 substeps. Measured:
// impulses within 7e-5 of them, 3e-9 N s lost.
#[test]
fn sand_does_on_bodies_what_it_does_on_the_cpu() {
    for device in device_kinds() {
        let mut given = Vec::new();
        for walls in [GranularWalls::Rough, GranularWalls::Smooth] {
            let (mut host, mut world) = (pressed(walls), pressed(walls));
            attach(&device, &mut world).unwrap();
            let start = momentum(&mut world);
            let mut got = Vector3::zeros();
            let mut along = 0.0;
            for step in 0..4 {
                let (right, found) = (host.step().unwrap(), world.step().unwrap());
                got += world.boundary_impulse().linear - world.body_impulses()[0].linear;
                along -= world.body_impulses()[0].linear.x;
                let weight = (32e-3 + PLATE) * world.settings().gravity * world.time();
                let lost = (momentum(&mut world) - start - weight - got).norm();
                let off = apart(&host, &world);
                let size = world.body_impulses()[1].linear.norm();
                println!("{walls:?} {step}: {off:?} of {size:.2e} N s, {lost:.1e} N s lost");
                assert!(
                    off[0] < 1e-6 && off[1] < 5e-5 && off[2] < 2e-4 * size && off[3] < 5e-6 * size,
                    "{off:?} {size}"
                );
                assert!(lost < 24.0 * 2.0_f64.powi(-24) * MOMENTUM, "{lost} N s");
                assert_eq!((found.not_converged, found.contacts_max), (0, right.contacts_max));
                assert!(found.contacts_max > 0, "nothing touches");
            }
            given.push(along);
        }
        // The sand half of it is held by its own friction and not by the floor's.
        assert!(given[0].abs() > 1.5 * given[1].abs(), "{given:?}");
    }
}

// Room for contacts that grows in the middle of a step changes nothing, to the bit, also where
// contacts act beside their particles.
#[test]
fn room_that_grows_changes_nothing() {
    for device in device_kinds() {
        let run = |room: InitialCapacity| {
            let mut world = pressed(GranularWalls::Rough);
            let backend = DeviceBackend::new(&device, &mut world, room).unwrap();
            world.attach("cuda", Box::new(backend)).unwrap();
            (0..2).for_each(|_| _ = world.step().unwrap());
            assert!(world.body_impulses()[1].linear.norm() > 0.0, "nothing touches");
            (world.body_impulses().to_vec(), world.bodies().pose(BodyId(1)))
        };
        assert!(run(InitialCapacity { contacts: 1, nodes: 1 }) == run(InitialCapacity::default()));
    }
}
