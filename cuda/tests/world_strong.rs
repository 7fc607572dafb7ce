//! A world of strongly coupled bodies, on the CPU and on a device.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_coupling::{AutoOr, Coupling, GridMotion, Material, ParticleSet, Settings, World};
use pliant_cuda::backend::{DeviceBackend, InitialCapacity, attach};
use pliant_mpm::material::{Elastic, Model};
use pliant_rigid::{BodyDesc, BodyId, Geometry, Joint, MassProperties, Motion, Shape, SpatialVelocity};
use support::{device_kinds, devices};

/// Mass of the soft block, of the plate on it, and of the anvil under it [kg].
const BLOCK: f64 = 0.064;
const PLATE: f64 = 0.004;
const ANVIL: f64 = 0.5;

/// Along z [m/s^2]: strong, so that bodies fall noticeably within a step.
const GRAVITY: f64 = -50.0;

fn free(name: &str, mass: f64, half: [f64; 3], pose: [f64; 3], velocity: SpatialVelocity) -> BodyDesc {
    let [x, y, z] = half.map(|h| h * h * mass / 3.0);
    let motion = Motion::Dynamic {
        parent: None,
        joint: Joint::free(),
        mass: MassProperties { mass, inertia: Matrix3::from_diagonal(&Vector3::new(y + z, x + z, x + y)) },
        force: Vector3::zeros(),
        torque: Vector3::zeros(),
        velocity,
        gravity: true,
    };
    BodyDesc {
        name: name.into(),
        pose: Isometry3::translation(pose[0], pose[1], pose[2]),
        motion,
        geometries: vec![Geometry::new(Shape::Box { half_extents: half.into() }, 0.5)],
        appearance: Vec::new(),
    }
}

/// A soft block of 0.04 m falls onto an anvil, a light plate lies askew on it and turns; nothing
/// else is there.
fn thrown(steps_of: u32) -> World {
    let mut settings = Settings::new(0.02, 1e-3 * f64::from(steps_of));
    settings.gravity = GRAVITY * Vector3::z();
    settings.coupling = Coupling::Strong;
    settings.substeps = AutoOr::Value(steps_of);
    settings.contact.dissipation = 5.0;
    settings.solver.relative_tolerance = 1e-6;
    // A device's grid is at rest.
    settings.grid_motion = GridMotion::Fixed;
    let mut builder = World::builder(settings);
    let elastic = Elastic { youngs_modulus: 2e4, poissons_ratio: 0.3 };
    let rubber = builder.material(Material { density: 1000.0, model: Model::FixedCorotated(elastic) });
    let places = (0..64).map(|n| [n % 4, n / 4 % 4, n / 16].map(|k| 0.01 * (f64::from(k) + 0.5)));
    builder.particles(ParticleSet {
        positions: places.map(Point3::from).collect(),
        velocities: vec![Vector3::new(0.1, 0.0, -0.5); 64],
        volumes: vec![1e-6; 64],
        material: rubber,
    });
    let still = SpatialVelocity::zero();
    let falls =
        SpatialVelocity { angular: Vector3::new(0.3, 1.0, 2.0), linear: Vector3::new(0.0, 0.0, -0.6) };
    builder.body(free("anvil", ANVIL, [0.1, 0.1, 0.02], [0.02, 0.02, -0.021], still)).unwrap();
    builder.body(free("plate", PLATE, [0.03, 0.02, 0.004], [0.025, 0.02, 0.045], falls)).unwrap();
    builder.build().unwrap()
}

/// Momentum of particles and bodies.
fn momentum(world: &mut World) -> Vector3<f64> {
    world.diagnostics().linear_momentum + world.bodies().momentum().linear
}

/// How far two worlds' bodies are apart: positions [m], rotations [rad], impulses of the last step
/// [N s, N m s].
fn apart(a: &World, b: &World) -> [f64; 4] {
    let mut off = [0.0_f64; 4];
    for body in [BodyId(0), BodyId(1)] {
        let (x, y) = (a.bodies().pose(body), b.bodies().pose(body));
        let (p, q) = (a.body_impulses()[body.0], b.body_impulses()[body.0]);
        let of_body = [
            (x.translation.vector - y.translation.vector).norm(),
            x.rotation.angle_to(&y.rotation),
            (p.linear - q.linear).norm(),
            (p.angular - q.angular).norm(),
        ];
        off = std::array::from_fn(|i| off[i].max(of_body[i]));
    }
    off
}

// The bodies' own steps and the particles' substeps are the CPU's, and so are the contact problems
// up to rounding of the particles' numbers to f32 in another order (2^-24 of them, which the
// stiffness of contacts and the substeps let grow) and the solves' tolerance of 1e-6. Measured of
// the 0.05 N s that the bodies get: impulses within 3e-7 N s, so that the plate of 4 g is within
// 1e-6 m. What the particles lose the bodies get, beside the weight of all and to the rounding of
// velocities to f32 in each substep: 24 times 2^-24 of 0.08 N s at most. Measured: 1.3e-8 N s, and
// 7e-9 J of work.
#[test]
fn bodies_that_answer_do_what_they_do_on_the_cpu() {
    for device in devices() {
        let (mut host, mut world) = (thrown(8), thrown(8));
        assert_eq!(world.strongly_coupled().count(), 2);
        attach(&device, &mut world).unwrap();
        let start = momentum(&mut world);
        let (mut given, mut contacts) = (0.0, 0);
        for step in 0..3 {
            let (right, found) = (host.step().unwrap(), world.step().unwrap());
            let off = apart(&host, &world);
            let weight = (BLOCK + PLATE + ANVIL) * GRAVITY * world.time() * Vector3::z();
            let lost = (momentum(&mut world) - start - weight).norm();
            let energy = (host.diagnostics().dissipation - world.diagnostics().dissipation).abs();
            let case = format!("{} {step}: {off:?} {lost} {energy} {found:?}, not {right:?}", device.name());
            assert!(off[0] < 1e-6 && off[1] < 2e-5 && off[2] < 2e-6 && off[3] < 4e-8, "{case}");
            assert!(lost < 1.2e-7 && energy < 1e-7, "{case}");
            assert!(found.iterations.abs_diff(right.iterations) <= right.iterations / 10 + 1, "{case}");
            assert_eq!((found.not_converged, found.contacts_max), (0, right.contacts_max), "{case}");
            // Nothing but particles touches them: their steps are as linear as they were taken for.
            assert!(found.coupling_excess <= right.coupling_excess.max(1.0), "{case}");
            contacts = contacts.max(found.contacts_max);
            given += world.body_impulses().iter().map(|impulse| impulse.linear.norm()).sum::<f64>();
        }
        assert!(given > 0.5 * (BLOCK + PLATE) * 0.5, "{given} N s: they must really meet");
        assert!(contacts > 0, "nothing touches");
    }
}

// What the device does not measure is absent, not zero: what particles lose at boundaries, in
// contact, and to plastic flow.
#[test]
fn losses_that_are_not_measured_are_absent() {
    for device in device_kinds() {
        let mut world = thrown(4);
        attach(&device, &mut world).unwrap();
        world.step().unwrap();
        let particles = world.energy().particles.unwrap();
        let flows = particles.flows;
        let unknown =
            [flows.dynamic, flows.prescribed, flows.boundaries, flows.contact_normal, flows.contact_friction];
        assert_eq!((unknown, flows.plastic, particles.imbalance), ([None; 5], None, None));
        assert!(flows.bodies != 0.0);
    }
}

// Memory that grows in the middle of a step changes nothing, to the bit: nor does it where bodies
// are strongly coupled.
#[test]
fn room_that_grows_changes_nothing() {
    for device in device_kinds() {
        let run = |room: InitialCapacity| {
            let mut world = thrown(4);
            let backend = DeviceBackend::new(&device, &mut world, room).unwrap();
            world.attach("cuda", Box::new(backend)).unwrap();
            world.step().unwrap();
            assert!(world.body_impulses()[0].linear.norm() > 0.0, "nothing touches");
            (world.body_impulses().to_vec(), [0, 1].map(|body| world.bodies().pose(BodyId(body))))
        };
        assert!(run(InitialCapacity { contacts: 1, nodes: 1 }) == run(InitialCapacity::default()));
    }
}

// A state says where contact saw the bodies last, also that of a device: another world goes on from
// it as the one on the device does, to what rounding does in one step. Without that pose, contact
// would see the plate jump by dt dV/2, of 1e-3 m.
#[test]
fn a_state_from_a_device_goes_on_elsewhere() {
    for device in device_kinds() {
        let mut world = thrown(8);
        attach(&device, &mut world).unwrap();
        world.step().unwrap();
        let mut state = Vec::new();
        world.write_state(&mut state).unwrap();
        let mut resumed = thrown(8);
        resumed.read_state(&mut state.as_slice()).unwrap();
        world.step().unwrap();
        resumed.step().unwrap();
        let off = apart(&world, &resumed);
        assert!(off[0] < 1e-6 && off[1] < 2e-5 && off[2] < 2e-6 && off[3] < 4e-8, "{off:?}");
    }
}
