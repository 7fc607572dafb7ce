//! Whole substeps on the device, particles against a body: what stops a step leaves nothing of the
//! substep, more memory lets it go on to the same bits, and what a step reports is the sum of its
//! substeps.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod mpm_support;
mod support;

use mpm_support::{every_material, host, lattice};
use nalgebra::{Isometry3, Point3, Vector3};
use pliant_cuda::contact::{
    BodyExchange, ContactTotals, DetectorCapacity, DeviceContactDetector, DeviceExchange, DeviceGeometries,
};
use pliant_cuda::convex::{DeviceConvexSettings, DeviceConvexSolver, DeviceGuess};
use pliant_cuda::kernels::{ContactBody, ConvexContacts, ConvexReport, ConvexTotals, GridNodes};
use pliant_cuda::layout::Span;
use pliant_cuda::mpm::{
    Advance, BlockCapacities, DeviceMpm, StepMomentumBalance, StopCause, Stopped, SubstepCommands,
};
use pliant_cuda::{Commands, Device, DeviceError};
use pliant_mpm::{Mpm, ParticleRecord};
use pliant_rigid::{Bodies, Shape, SpatialVelocity};
use support::contact::{H, options};
use support::shapes::{bodies, geometry};
use support::{device_kinds, devices};

/// Below 0.4 h / c_s for E 1e5 Pa and 1e3 kg/m^3.
const DT: f64 = 3e-4;
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// Room at the start.
#[derive(Clone, Copy)]
struct InitialCapacity {
    blocks: BlockCapacities,
    contacts: usize,
    nodes: usize,
}

const NEARLY_NONE: InitialCapacity =
    InitialCapacity { blocks: BlockCapacities { particle_blocks: 1, node_blocks: 1 }, contacts: 1, nodes: 1 };
const ENOUGH: InitialCapacity = InitialCapacity {
    blocks: BlockCapacities { particle_blocks: 40, node_blocks: 300 },
    contacts: 300,
    nodes: 900,
};

/// A block of jelly and sand above a tilted box, which it meets corner first: contacts become more
/// from substep to substep.
fn falling() -> (Mpm, Bodies) {
    let mut states = lattice([-0.01, -0.01, 0.0], H / 2.0, [4, 4, 4]);
    for (k, s) in states.iter_mut().enumerate() {
        s.material = if k % 2 == 0 { 0 } else { 4 };
        s.velocity = Vector3::new(0.3, 0.1, -2.0);
    }
    (host(H, &every_material(1e5), &states, &[]), obstacle(1))
}

/// So many boxes in one place, the top 1 mm below the particles where it is nearest.
fn obstacle(stencil_boxes: usize) -> Bodies {
    let shape = Shape::Box { half_extents: Vector3::new(0.1, 0.1, 0.05) };
    let pose = Isometry3::new(Vector3::new(0.0, 0.0, -0.053), Vector3::new(0.06, 0.1, 0.0));
    bodies(vec![vec![geometry(shape, pose, false); stencil_boxes]])
}

/// All parts of a step.
struct World {
    mpm: DeviceMpm,
    geometries: DeviceGeometries,
    detector: DeviceContactDetector,
    solver: DeviceConvexSolver,
    exchange: DeviceExchange,
    /// Another grid for the numbering to find its nodes in.
    other_grid: Option<GridNodes>,
    causes: Vec<Stopped>,
}

/// What a step came to, for comparisons to the bit.
type Outcome = (StepMomentumBalance, ConvexTotals, ContactTotals, Vec<BodyExchange>);

/// Commands of a substep, or, with `true`, of what substeps in a row begin with.
struct Between<F>(F);

impl<F: Fn(&mut Commands, bool)> SubstepCommands for Between<F> {
    fn begin(&self, commands: &mut Commands) {
        self.0(commands, true);
    }

    fn add(&self, commands: &mut Commands, _: u32) {
        self.0(commands, false);
    }
}

impl World {
    fn new(
        device: &Device,
        mpm: &Mpm,
        bodies: &Bodies,
        room: InitialCapacity,
        substeps: usize,
        guess: DeviceGuess,
    ) -> Self {
        let device_mpm = DeviceMpm::new(device, mpm, &[], room.blocks).unwrap();
        let geometries = DeviceGeometries::new(device, bodies).unwrap();
        let capacity = DetectorCapacity { particles: mpm.len(), contacts: room.contacts, substeps };
        let detector = DeviceContactDetector::new(device, &geometries, &options(), capacity).unwrap();
        let mut solver = DeviceConvexSolver::new(device, room.contacts, room.nodes).unwrap();
        solver.follow(device_mpm.status(), detector.clock());
        let settings = DeviceConvexSettings {
            substep: DT,
            dissipation: 5.0,
            stiction_tolerance: 1e-4,
            ..DeviceConvexSettings::default()
        };
        solver.set(&settings, guess).unwrap();
        let mut commands = Commands::new();
        solver.issue_forget(&mut commands);
        device.submit(&commands).unwrap();
        let exchange = DeviceExchange::new(device, &geometries, room.contacts, room.nodes).unwrap();
        let (causes, other_grid) = (Vec::new(), None);
        Self { mpm: device_mpm, geometries, detector, solver, exchange, other_grid, causes }
    }

    fn begin(&mut self, substeps: u32) {
        let body = ContactBody::new(&Point3::origin(), &Isometry3::identity(), &SpatialVelocity::zero());
        let staging = self.mpm.staging();
        self.detector.begin_step(staging, DT, &vec![body; substeps as usize]).unwrap();
        self.solver.begin_step(staging);
        self.exchange.begin_step(staging, DT, &[]).unwrap();
    }

    /// Begins a step of so many substeps, or goes on with the one that stopped.
    fn run(&mut self, substeps: Option<u32>) -> Advance {
        let Self { mpm, geometries, detector, solver, exchange, other_grid, .. } = self;
        let (particles, grid, status) = (mpm.particles().rows(), mpm.grid().nodes(), mpm.status());
        let (faces, contacts) = (mpm.cloth_faces(), detector.contacts());
        let between = Between(|commands: &mut Commands, begins: bool| {
            if begins {
                return detector.issue_place(commands, geometries);
            }
            detector.issue(commands, geometries, particles, faces, status);
            solver.issue_number(
                commands,
                &ConvexContacts::from(&contacts),
                other_grid.as_ref().unwrap_or(&grid),
            );
            solver.issue_solve(
                commands,
                &ConvexContacts::from(&contacts),
                grid.nodes,
                Span::EMPTY,
                contacts.last_impulse,
            );
            let (incidence, solution) = (solver.incidence(), solver.solution());
            exchange.issue(commands, geometries, detector, incidence, solution, grid.nodes);
        });
        match substeps {
            Some(substeps) => mpm.advance_with(substeps, DT, GRAVITY, &between).unwrap(),
            None => mpm.resume(&between).unwrap(),
        }
    }

    fn grow(&mut self, stopped: &Stopped) {
        match stopped.cause {
            StopCause::Contacts { needed, .. } => self.detector.grow(needed).unwrap(),
            StopCause::SolverContacts { needed, .. } => self.solver.grow(needed, 0).unwrap(),
            StopCause::TouchedNodes { needed, .. } => self.solver.grow(0, needed).unwrap(),
            _ => self.mpm.grow_blocks(stopped).unwrap(),
        }
        self.exchange.grow(self.detector.capacity() as u32, self.solver.capacity().1 as u32).unwrap();
        self.causes.push(*stopped);
    }

    fn step(&mut self, substeps: u32) -> Outcome {
        self.begin(substeps);
        let mut at = self.run(Some(substeps));
        loop {
            match at {
                Advance::Done(account) => {
                    let (solves, contacts) = (self.solver.totals().unwrap(), self.detector.totals().unwrap());
                    return (account, solves, contacts, self.exchange.download().unwrap());
                }
                Advance::Stopped(stopped) => self.grow(&stopped),
            }
            at = self.run(None);
        }
    }

    /// Particles in the device's order, and what contact remembers.
    fn state(&self) -> (Vec<ParticleRecord>, String) {
        (self.mpm.particles().download().unwrap(), format!("{:?}", self.detector.save().unwrap()))
    }
}

/// A world that begins with next to no memory of any kind comes to the same bits as one that had
/// enough from the start, in every part of its state and of what it reports, whatever the schedule.
#[test]
fn growth_changes_no_bit() {
    let (mpm, bodies) = falling();
    let substeps = 7;
    let mut first = None;
    for device in devices() {
        let run = |room: InitialCapacity| {
            // By the velocities of the last solve alone, so that they show.
            let guess = DeviceGuess::Velocities;
            let mut world = World::new(&device, &mpm, &bodies, room, substeps as usize, guess);
            let outcomes: Vec<String> = (0..3).map(|_| format!("{:?}", world.step(substeps))).collect();
            (outcomes, world.state(), world.causes, world.solver.totals().unwrap())
        };
        let (outcomes, state, causes, solves) = run(ENOUGH);
        assert!(causes.is_empty(), "{causes:?}");
        assert!(solves.most_contacts >= 16 && solves.not_converged == 0, "{solves:?}");
        let (again, same, causes, _) = run(NEARLY_NONE);
        for (k, (outcome, again)) in outcomes.iter().zip(&again).enumerate() {
            assert!(outcome == again, "step {k}: {outcome}\n{again}");
        }
        assert!(state == same, "{causes:?}");
        // Of every kind, and not only at once.
        let of = |kind: fn(&StopCause) -> bool| causes.iter().filter(|s| kind(&s.cause)).count();
        assert!(of(|c| matches!(c, StopCause::ParticleBlocks { .. })) >= 1, "{causes:?}");
        assert!(of(|c| matches!(c, StopCause::NodeBlocks { .. })) >= 1, "{causes:?}");
        assert!(of(|c| matches!(c, StopCause::Contacts { .. })) >= 2, "{causes:?}");
        assert!(of(|c| matches!(c, StopCause::SolverContacts { .. })) >= 2, "{causes:?}");
        assert!(of(|c| matches!(c, StopCause::TouchedNodes { .. })) >= 2, "{causes:?}");
        assert!(causes.iter().any(|s| s.substep_index > 0), "{causes:?}");
        if device.is_emulated() {
            let found = (outcomes, state, causes);
            assert!(first.get_or_insert(found.clone()) == &found, "the schedule changes the step");
        }
    }
}

/// A step's reports are the sums and maxima of those of its substeps, each run as a step of its
/// own; substeps without contacts are none.
#[test]
fn a_step_reports_the_sum_of_its_substeps() {
    let (mpm, bodies) = falling();
    let substeps = 12;
    for device in device_kinds() {
        let mut whole = World::new(&device, &mpm, &bodies, ENOUGH, substeps as usize, DeviceGuess::Solution);
        let (account, solves, contacts, _) = whole.step(substeps);
        let mut single = World::new(&device, &mpm, &bodies, ENOUGH, 1, DeviceGuess::Solution);
        let mut sum = nothing();
        let mut reported = ContactTotals::default();
        // Sorts of each substep do not change these counts, but the last bits of residuals.
        for _ in 0..substeps {
            let (_, one, of_one, _) = single.step(1);
            let report: ConvexReport = single.solver.report().unwrap();
            let found = single.detector.download().unwrap().len() as u32;
            assert_eq!((of_one.sum, of_one.most), (u64::from(found), found));
            reported.sum += of_one.sum;
            reported.most = reported.most.max(of_one.most);
            assert_eq!(one.solves, u32::from(found > 0));
            if found > 0 {
                assert_eq!((one.contacts, one.iterations), (u64::from(found), u64::from(report.iterations)));
                assert_eq!(one.residual, report.residual / report.tolerance);
                sum.solves += 1;
                sum.contacts += one.contacts;
                sum.most_contacts = sum.most_contacts.max(one.most_contacts);
            }
        }
        assert!(solves.solves > 3 && solves.solves < substeps, "some substeps have contacts: {solves:?}");
        assert_eq!((solves.solves, solves.contacts), (sum.solves, sum.contacts));
        assert_eq!((solves.most_contacts, solves.not_converged), (sum.most_contacts, 0));
        assert_eq!(contacts, reported);
        assert_eq!(contacts.sum, solves.contacts);
        assert!(solves.residual <= 1.0 && solves.residual > 0.0, "{solves:?}");
        assert!(u64::from(solves.most_iterations) <= solves.iterations, "{solves:?}");
        // Nodes with mass, as they can be counted after the step.
        assert_eq!(account.active_nodes, whole.mpm.grid().download().unwrap().len());
    }
}

fn nothing() -> ConvexTotals {
    ConvexTotals {
        residual: 0.0,
        contacts: 0,
        iterations: 0,
        inner_iterations: 0,
        unresolved_systems: 0,
        solves: 0,
        most_contacts: 0,
        most_iterations: 0,
        not_converged: 0,
    }
}

/// Causes that more memory does not remove stop the step as well; particles and contact caches are
/// as before the substep.
#[test]
fn what_cannot_be_mended_stops_a_step_before_it_moves_anything() {
    let (mpm, bodies) = falling();
    for device in device_kinds() {
        let substeps = 12;
        let stop = |world: &mut World| {
            // Substeps without contact come first.
            world.begin(substeps);
            match world.run(Some(substeps)) {
                Advance::Stopped(stopped) => stopped,
                Advance::Done(account) => panic!("{account:?}"),
            }
        };
        let before = |at: u32| {
            let mut world =
                World::new(&device, &mpm, &bodies, ENOUGH, substeps as usize, DeviceGuess::Solution);
            if at > 0 {
                world.step(at);
            }
            world.state()
        };
        let mut at = None;
        // Nine boxes in one place.
        let mut crowded =
            World::new(&device, &mpm, &obstacle(9), ENOUGH, substeps as usize, DeviceGuess::Solution);
        let stopped = stop(&mut crowded);
        assert_eq!(stopped.cause, StopCause::TooManyGeometries { geometries: 9, most: 8 });
        assert!(stopped.substep_index > 0 && !stopped.cause.is_room());
        assert!(crowded.state() == before(stopped.substep_index));
        at.get_or_insert(stopped.substep_index);
        // A grid without nodes.
        let mut lost = World::new(&device, &mpm, &bodies, ENOUGH, substeps as usize, DeviceGuess::Solution);
        let table = (device.upload(&[0_u64; 64]).unwrap(), device.upload(&[0_u32; 64]).unwrap());
        lost.other_grid = Some(GridNodes {
            table_keys: table.0.span(),
            table_slots: table.1.span(),
            ..lost.mpm.grid().nodes()
        });
        let stopped = stop(&mut lost);
        assert_eq!((stopped.cause, Some(stopped.substep_index)), (StopCause::MissingNode, at));
        assert!(lost.state() == before(stopped.substep_index));
        // Mended, it goes on, and where it stops is told again until then.
        assert!(matches!(lost.run(None), Advance::Stopped(again) if again == stopped));
        lost.other_grid = None;
        assert!(matches!(lost.run(None), Advance::Done(_)));
        // A solve that no number comes out of.
        let mut failing =
            World::new(&device, &mpm, &bodies, ENOUGH, substeps as usize, DeviceGuess::Solution);
        let settings = DeviceConvexSettings { substep: f64::NAN, ..DeviceConvexSettings::default() };
        failing.solver.set(&settings, DeviceGuess::Solution).unwrap();
        let stopped = stop(&mut failing);
        assert_eq!((stopped.cause, Some(stopped.substep_index)), (StopCause::NotFinite, at));
        assert!(failing.state() == before(stopped.substep_index));
        assert_eq!(failing.exchange.download().unwrap()[0].work, 0.0);
    }
}

/// The figures of a whole model are what its parts allocate, to the byte, and a model larger than
/// the device is refused before any is.
#[test]
fn memory_is_known_before_it_is_taken() {
    let (mpm, bodies) = falling();
    // A GPU's allocations are rounded up, and others may use it.
    for device in devices().into_iter().filter(Device::is_emulated).take(1) {
        let taken = |free: u64| free - device.memory().unwrap().free;
        let free = || device.memory().unwrap().free;
        for (contacts, nodes, blocks) in [(1, 1, 1), (700, 3000, 90)] {
            let capacities = BlockCapacities { particle_blocks: blocks, node_blocks: 7 * blocks };
            let start = free();
            let needed = DeviceMpm::bytes_needed(&mpm, &[], capacities);
            let device_mpm = DeviceMpm::new(&device, &mpm, &[], capacities).unwrap();
            assert_eq!(needed, taken(start));
            let geometries = DeviceGeometries::new(&device, &bodies).unwrap();
            let start = free();
            let capacity = DetectorCapacity { particles: mpm.len(), contacts, substeps: 5 };
            let detector = DeviceContactDetector::new(&device, &geometries, &options(), capacity).unwrap();
            assert_eq!(DeviceContactDetector::bytes_needed(&geometries, capacity), taken(start));
            let start = free();
            let solver = DeviceConvexSolver::new(&device, contacts, nodes).unwrap();
            assert_eq!(DeviceConvexSolver::bytes_needed(&device, contacts, nodes).unwrap(), taken(start));
            let start = free();
            let exchange = DeviceExchange::new(&device, &geometries, contacts, nodes).unwrap();
            assert_eq!(DeviceExchange::bytes_needed(1, contacts, nodes), taken(start));
            drop((device_mpm, detector, solver, exchange));
        }
        let start = free();
        let huge = BlockCapacities { particle_blocks: 1 << 20, node_blocks: 1 << 21 };
        match DeviceMpm::new(&device, &mpm, &[], huge).map(|_| ()) {
            Err(DeviceError::ModelTooLarge { needed, particles: 64, particle_blocks, free, .. }) => {
                assert!(needed > free && particle_blocks == huge.particle_blocks);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(free(), start);
        // Growth that there is no memory for leaves everything as it was.
        let mut world = World::new(&device, &mpm, &bodies, ENOUGH, 3, DeviceGuess::Solution);
        world.step(3);
        let (state, start) = (world.state(), free());
        let refused = world.mpm.grow(BlockCapacities { particle_blocks: 1 << 20, node_blocks: 0 });
        assert!(matches!(refused, Err(DeviceError::CannotGrow { from: 340, .. })), "{refused:?}");
        let refused = world.solver.grow(0, 1 << 24).map_err(|e| e.to_string());
        assert!(
            refused.as_ref().is_err_and(|e| e.contains("out of device memory: asked for")),
            "{refused:?}"
        );
        let refused = world.detector.grow(1 << 26);
        assert!(refused.is_err(), "{refused:?}");
        assert!(world.state() == state && free() == start);
        world.step(3);
    }
}
