//! Whole scenes, small, on a device beside the same scenes on the processor: the emulated device
//! where it was built, and a GPU where there is one. A GPU that is there and does not work is a
//! failure; where there is none, each test says on the standard error that it left it out. Without
//! the emulation nothing is left of them on a machine without a GPU: they are ignored then, and run
//! by `cargo test -- --include-ignored`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of tests fail like tests"
)]

use std::io::Write;
use std::sync::Once;

use nalgebra::{Isometry3, Vector3};
use pliant::coupling::{Balance, Material, ParticleSet, ParticleSnapshot, Settings, StepReport, World};
use pliant::cuda::backend::{self, DeviceBackend, InitialCapacity};
use pliant::cuda::mpm::CommandCount;
use pliant::cuda::{Device, DeviceError, HostCopies};
use pliant::mpm::cloth::{ClothMaterial, ClothMesh, Pin, Sheet};
use pliant::mpm::material::Elastic;
use pliant::rigid::{BodyDesc, Shape, SpatialImpulse};
use pliant::scenes::format::{Assignment, Scene};
use pliant::scenes::load::load;
use pliant::scenes::scenario::Scenario;
use pliant_testing::gpu::hidden_gpu;

/// A built-in scene with some fields changed, and how many steps of it are run.
struct Case {
    scene: &'static str,
    changes: &'static [&'static str],
    steps: usize,
}

/// What came of a run.
struct Outcome {
    particles: ParticleSnapshot,
    /// On each body, summed over the run \[N s, N m s\].
    impulses: Vec<SpatialImpulse>,
    balance: Balance,
    substeps: u32,
    contacts: f64,
    iterations: u32,
    not_converged: u32,
    /// The fewest copies between host and device that a step took.
    copies: Option<HostCopies>,
}

impl Case {
    fn scene(&self) -> Scene {
        let changes: Vec<_> = self.changes.iter().map(|text| Assignment::parse(text).unwrap()).collect();
        load(self.scene, &changes).unwrap()
    }

    /// Runs on a device, or on the processor.
    fn run(&self, device: Option<&Device>) -> Outcome {
        let scene = self.scene();
        let mut scenario = Scenario::new(&scene).unwrap();
        let world = &mut scenario.world;
        if let Some(device) = device {
            backend::attach(device, world).unwrap();
        }
        let mut impulses = vec![SpatialImpulse::zero(); world.bodies().len()];
        let mut sum = StepReport::default();
        let mut copies: Option<HostCopies> = None;
        for _ in 0..self.steps {
            let before = device.map(Device::host_copies);
            let report = scenario.step().unwrap();
            let after = device.map(Device::host_copies);
            let of_step = before.zip(after).map(|(before, after)| HostCopies {
                uploads: after.uploads - before.uploads,
                downloads: after.downloads - before.downloads,
            });
            copies = copies.into_iter().chain(of_step).min_by_key(|copies| copies.uploads + copies.downloads);
            let world = &mut scenario.world;
            for (sum, impulse) in impulses.iter_mut().zip(world.body_impulses()) {
                sum.angular += impulse.angular;
                sum.linear += impulse.linear;
            }
            sum.substeps += report.substeps;
            sum.contacts_mean += report.contacts_mean;
            sum.iterations += report.iterations;
            sum.not_converged += report.not_converged;
            world.diagnostics();
        }
        let world = &mut scenario.world;
        let mut particles = ParticleSnapshot::default();
        world.snapshot(&mut particles).unwrap();
        Outcome {
            particles,
            impulses,
            balance: world.balance(),
            substeps: sum.substeps,
            contacts: sum.contacts_mean,
            iterations: sum.iterations,
            not_converged: sum.not_converged,
            copies,
        }
    }
}

/// The first GPU, where the machine has one.
fn gpu() -> Option<Device> {
    static TOLD: Once = Once::new();
    match Device::cuda(0) {
        Ok(device) => Some(device),
        Err(error @ (DeviceError::NoDriver | DeviceError::NoSuchDevice { count: 0, .. })) => {
            if let Some(reason) = hidden_gpu() {
                panic!("there is a GPU, and it cannot be used: {error}; {reason}");
            }
            // Past the capture of the test's output, which nobody sees of what passes.
            #[expect(clippy::explicit_write, reason = "eprintln is captured in tests, and this must be seen")]
            let tell = || writeln!(std::io::stderr(), "device_parity: SKIPPED on a GPU: {error}").unwrap();
            TOLD.call_once(tell);
            None
        }
        Err(error) => panic!("there is a GPU, and it cannot be used: {error}"),
    }
}

/// At least one, a GPU first.
fn devices() -> Vec<Device> {
    let emulated = Device::IS_EMULATION_BUILT.then(|| Device::emulated(11).unwrap());
    let devices: Vec<Device> = gpu().into_iter().chain(emulated).collect();
    assert!(!devices.is_empty(), "there is no device to test: no GPU, and the emulation was not built");
    devices
}

/// Largest difference of a coordinate.
fn apart(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let of = |(a, b): (&[f64; 3], &[f64; 3])| (0..3).map(|d| (a[d] - b[d]).abs()).fold(0.0, f64::max);
    a.iter().zip(b).map(of).fold(0.0, f64::max)
}

/// Checks: both paths are one algorithm, so what is between them is rounding. A substep rounds a
/// position, up to six cells from the corner of its block, to 2^-22 cells, and a velocity that
/// moves it by at most 0.4 cells by less than that, on each path: 2^-20 cells a substep at most,
/// which add up. Contact forces follow the positions through the stiffness, and the solves stop
/// within their tolerance.
fn agree(case: &Case, force_tolerance: f64) {
    let spacing = case.scene().grid_spacing.unwrap();
    let host = case.run(None);
    let touches = host.impulses.iter().any(|p| p.linear.norm() > 0.0);
    assert!(touches || host.impulses.is_empty(), "nothing touches");
    // Without bodies there is nothing to touch.
    let has_contacts = |outcome: &Outcome| outcome.contacts > 0.0 || outcome.impulses.is_empty();
    assert!(has_contacts(&host), "no contacts on the processor");
    for device in devices() {
        let there = case.run(Some(&device));
        let cells = apart(&host.particles.positions, &there.particles.positions) / spacing;
        let limit = f64::from(host.substeps) * 2.0_f64.powi(-20);
        eprintln!(
            "{} on {}: {cells:.1e} cells apart (limit {limit:.1e}), contacts {} and {}, iterations {} and {}, {:?}",
            case.scene,
            device.name(),
            host.contacts,
            there.contacts,
            host.iterations,
            there.iterations,
            there.balance,
        );
        assert_eq!(there.substeps, host.substeps);
        assert!(has_contacts(&there), "no contacts on {}", device.name());
        // The same pairs but for a few that begin or end within rounding of a substep, as of
        // iterations below.
        let more = (there.contacts - host.contacts).abs();
        assert!(more <= 0.1 * host.contacts, "{} and {} contacts", host.contacts, there.contacts);
        assert!(cells < limit, "{cells} cells apart");
        let scale = host.impulses.iter().map(|p| p.linear.norm()).fold(0.0, f64::max);
        for (host, there) in host.impulses.iter().zip(&there.impulses) {
            let off = (there.linear - host.linear).norm();
            eprintln!("  impulse {:.4e} N s, off by {off:.1e}", host.linear.norm());
            assert!(off <= force_tolerance * scale, "{off} of {scale} N s");
        }
        // All that a step gets and leaves, as one image each way.
        assert_eq!(there.copies, Some(HostCopies { uploads: 1, downloads: 1 }));
        assert_eq!(there.not_converged, 0);
        // A few more or fewer where a residual ends near its tolerance.
        let (fewer, more) = (host.iterations.min(there.iterations), host.iterations.max(there.iterations));
        assert!(more - fewer <= 2 + more / 10, "{fewer} and {more} iterations");
        for error in [there.balance.mass, there.balance.linear_momentum, there.balance.angular_momentum] {
            assert!(error < 1e-6, "{:?}", there.balance);
        }
    }
}

#[test]
#[cfg_attr(not(feature = "emulation"), ignore = "needs a GPU")]
fn an_elastic_cube_hits_a_table() {
    agree(
        &Case {
            scene: "elastic-drop",
            changes: &[
                "grid_spacing=0.04",
                "soft.0.pose.position=[0,0,0.1]",
                "solver.relative_tolerance=1e-5",
            ],
            steps: 20,
        },
        1e-4,
    );
}

// Two panels hold a cube by friction: contact on both sides of light bodies that forces move.
#[test]
#[cfg_attr(not(feature = "emulation"), ignore = "needs a GPU")]
fn panels_hold_a_cube() {
    agree(
        &Case {
            scene: "hold",
            changes: &[
                "grid_spacing=0.04",
                "soft.0.sampling.counts=[5,5,5]",
                "solver.relative_tolerance=1e-5",
            ],
            steps: 60,
        },
        1e-4,
    );
}

// Sand on a sticky floor: plastic flow, a boundary condition of the grid, no bodies.
#[test]
#[cfg_attr(not(feature = "emulation"), ignore = "needs a GPU")]
fn a_column_of_sand_collapses() {
    agree(&Case { scene: "sand-column", changes: &["grid_spacing=0.04"], steps: 25 }, 0.0);
}

/// Brings the roller of `dough-pin` onto a coarser dough at once.
const HANDLE_PATH: &str = "bodies.0.motion.keyframes=[{\"time\":0,\"position\":[0,0,0.121]},{\"time\":0.1,\"position\":[0.03,0,0.101]}]";
const ROLLER_PLACE: &str = "bodies.1.motion.pose.position=[0,0,0.121]";

// A roller on dough that lies on a rough boundary: contact with walls in the solve, and a light
// body that rolls.
#[test]
#[cfg_attr(not(feature = "emulation"), ignore = "needs a GPU")]
fn dough_is_rolled() {
    agree(
        &Case {
            scene: "dough-pin",
            changes: &[
                "grid_spacing=0.04",
                "soft.0.sampling.counts=[18,8,5]",
                "solver.relative_tolerance=1e-5",
                HANDLE_PATH,
                ROLLER_PLACE,
                "coupling=weak",
                "dt=0.001",
            ],
            steps: 40,
        },
        1e-4,
    );
}

// The same at the scene's own step of 10 ms, which needs a strongly coupled roller. The step is not
// split: the host does not know a backend's particles, so it cannot measure how far bodies move
// past them, and would split less.
#[test]
#[cfg_attr(not(feature = "emulation"), ignore = "needs a GPU")]
fn dough_is_rolled_by_a_roller_that_answers() {
    agree(
        &Case {
            scene: "dough-pin",
            changes: &[
                "grid_spacing=0.04",
                "soft.0.sampling.counts=[18,8,5]",
                "solver.relative_tolerance=1e-5",
                HANDLE_PATH,
                ROLLER_PLACE,
                "coupling=strong",
                "coupling_step=fixed",
            ],
            steps: 5,
        },
        1e-4,
    );
}

/// A world that went on for some steps from what another wrote.
fn gone_on(case: &Case, device: Option<&Device>, saved: &[u8], steps: usize) -> Vec<[f64; 3]> {
    let mut scenario = Scenario::new(&case.scene()).unwrap();
    let world = &mut scenario.world;
    if let Some(device) = device {
        backend::attach(device, world).unwrap();
    }
    world.read_state(&mut &saved[..]).unwrap();
    for _ in 0..steps {
        world.step().unwrap();
    }
    let mut particles = ParticleSnapshot::default();
    world.snapshot(&mut particles).unwrap();
    particles.positions
}

// Checks: a state is all there is. What a device saved in the middle of contact goes on on a device
// and on the processor as if it had not been interrupted, up to the rounding of the sums that
// another order of the particles in memory gives.
#[test]
#[cfg_attr(not(feature = "emulation"), ignore = "needs a GPU")]
fn a_saved_state_goes_on_here_and_there() {
    let case = Case {
        scene: "hold",
        changes: &["grid_spacing=0.04", "soft.0.sampling.counts=[5,5,5]", "solver.relative_tolerance=1e-5"],
        steps: 0,
    };
    for device in devices() {
        let mut scenario = Scenario::new(&case.scene()).unwrap();
        let world = &mut scenario.world;
        backend::attach(&device, world).unwrap();
        let mut saved = Vec::new();
        for step in 0..40 {
            if step == 20 {
                world.write_state(&mut saved).unwrap();
            }
            world.step().unwrap();
        }
        let mut whole = ParticleSnapshot::default();
        world.snapshot(&mut whole).unwrap();
        for next in [Some(&device), None] {
            let cells = apart(&whole.positions, &gone_on(&case, next, &saved, 20)) / 0.04;
            let name = next.map_or("the processor", Device::name);
            eprintln!("gone on with {name}: {cells:.1e} cells apart");
            assert!(cells < 20.0 * 2.0_f64.powi(-20), "{cells} cells apart");
        }
    }
}

/// Positions after a run in which friction changes and pins of cloth are moved, set and released.
fn changed_between_steps(device: Option<&Device>) -> Vec<[f64; 3]> {
    let mut settings = Settings::new(0.04, 2e-3);
    settings.gravity = Vector3::new(4.0, 0.0, -9.0);
    settings.solver.relative_tolerance = 1e-5;
    let mut builder = World::builder(settings);
    let rubber = builder.material(Material::elastic(1000.0, 5e4, 0.3));
    let cube = Shape::Box { half_extents: Vector3::repeat(0.05) };
    let place = Isometry3::translation(0.0, 0.0, 0.05);
    builder.particles(ParticleSet::filling(cube, &place, 0.02, rubber).unwrap());
    let floor = builder.body(BodyDesc::fixed("floor", Shape::HalfSpace).friction(0.05)).unwrap();
    let (corner, x, y) = (Vector3::new(0.0, 0.0, 0.5), Vector3::x() * 0.12, Vector3::y() * 0.12);
    let mesh = ClothMesh::rectangle(corner, x, y, [4, 4]).unwrap();
    let elastic = Elastic { youngs_modulus: 1e4, poissons_ratio: 0.3 };
    let pins = vec![Pin::fixed(0, mesh.vertices()[0]).unwrap()];
    let material = ClothMaterial::new(100.0, elastic, 0.002, 1e4);
    builder.cloth(Sheet { pins, ..Sheet::new(mesh, material) });
    let mut world = builder.build().unwrap();
    if let Some(device) = device {
        backend::attach(device, &mut world).unwrap();
    }
    for step in 0..24 {
        match step {
            6 => world.bodies_mut().set_friction(floor, 0.8).unwrap(),
            8 => {
                world.move_pin(0, 0, &Vector3::new(0.0, 0.0, 0.52), 0.02).unwrap();
                world.move_pin(0, 12, &Vector3::new(0.05, 0.05, 0.5), 0.02).unwrap();
            }
            16 => world.release_pin(0, 0).unwrap(),
            _ => {}
        }
        world.step().unwrap();
    }
    let mut particles = ParticleSnapshot::default();
    world.snapshot(&mut particles).unwrap();
    particles.positions
}

// Checks: what changes between steps reaches the device: the same as on the processor, up to the
// rounding of each substep (see `agree`), of which there are fewer than 100 a step.
#[test]
#[cfg_attr(not(feature = "emulation"), ignore = "needs a GPU")]
fn what_changes_between_steps_reaches_the_device() {
    let host = changed_between_steps(None);
    for device in devices() {
        let cells = apart(&host, &changed_between_steps(Some(&device))) / 0.04;
        eprintln!("changed on {}: {cells:.1e} cells apart", device.name());
        assert!(cells < 24.0 * 100.0 * 2.0_f64.powi(-20), "{cells} cells apart");
    }
}

// Checks: memory that grows in the middle of a step changes nothing, to the bit.
#[test]
#[cfg_attr(not(feature = "emulation"), ignore = "needs a GPU")]
fn room_that_grows_changes_nothing() {
    let case =
        Case { scene: "hold", changes: &["grid_spacing=0.04", "soft.0.sampling.counts=[5,5,5]"], steps: 0 };
    let run = |device: &Device, room: InitialCapacity| {
        let mut scenario = Scenario::new(&case.scene()).unwrap();
        let world = &mut scenario.world;
        let backend = DeviceBackend::new(device, world, room).unwrap();
        world.attach("cuda", Box::new(backend)).unwrap();
        for _ in 0..10 {
            world.step().unwrap();
        }
        let mut particles = ParticleSnapshot::default();
        world.snapshot(&mut particles).unwrap();
        (particles.positions, world.body_impulses().to_vec())
    };
    for device in devices() {
        let tight = InitialCapacity { contacts: 1, nodes: 1 };
        assert!(run(&device, tight) == run(&device, InitialCapacity::default()), "{}", device.name());
    }
}

// Checks: what the README says of the number of commands, from which it predicts times on a GPU. No
// number but these is in that prediction's table.
#[test]
#[cfg_attr(not(feature = "emulation"), ignore = "needs a GPU")]
fn commands_are_as_many_as_the_readme_says() {
    for device in devices() {
        let count = |scene: &str| {
            let mut scenario = Scenario::new(&load(scene, &[]).unwrap()).unwrap();
            DeviceBackend::new(&device, &mut scenario.world, InitialCapacity::default())
                .unwrap()
                .count_commands()
        };
        let readme = include_str!("../cuda/README.md");
        for (what, scene) in
            [("no bodies", "sand-column"), ("bodies", "hold"), ("bodies and boundaries", "dough-pin")]
        {
            let CommandCount { substep, sort, step } = count(scene);
            let row = format!("| {what} | {substep} | {sort} | {step} |");
            assert!(readme.contains(&row), "cuda/README.md does not have\n{row}");
        }
    }
}
