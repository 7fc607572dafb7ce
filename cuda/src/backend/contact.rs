//! The contacts of a world on a device: everything between a substep's free motion and its transfer
//! back.

use nalgebra::{Isometry3, Point3};
use pliant_coupling::convex::Mobility;
use pliant_coupling::{
    BackendError, Boundary, CachedContact, ContactCacheState, ContactStatistics, Settings, SubstepPlan,
    SubstepsResult, World,
};
use pliant_rigid::SpatialImpulse;

use super::room::Room;
use crate::contact::{
    ContactOptions, DeviceAnswering, DeviceExchange, DeviceGeometries, DeviceRegistry, DeviceWalls,
    RegistryCapacity,
};
use crate::convex::{DeviceConvexSettings, DeviceConvexSolver, DeviceGuess};
use crate::kernels::{self, CONTACT_NONE, ContactBody, ConvexContacts, GridNodes, ParticleRows};
use crate::layout::Span;
use crate::mpm::{DeviceMpm, StopCause, Stopped};
use crate::{Commands, Device};

/// Blocks of a cooperative kernel under emulation, where each costs time at every barrier.
const EMULATED_BLOCKS: u32 = 2;

/// Geometries, contacts, their solve and what it gives back.
#[derive(Debug)]
pub(super) struct DeviceContact {
    geometries: DeviceGeometries,
    registry: DeviceRegistry,
    solver: DeviceConvexSolver,
    walls: DeviceWalls,
    exchange: DeviceExchange,
    strongly_coupled: DeviceAnswering,
    /// Of the bodies that answer.
    mobility: Mobility,
    device: Device,
    boundaries: Vec<Boundary>,
    /// All bodies in each substep of a step.
    bodies: Vec<ContactBody>,
}

impl DeviceContact {
    /// Memory for the contacts of a world; none where nothing can touch.
    pub(super) fn new(
        device: &Device,
        world: &World,
        mpm: &DeviceMpm,
        room: Room,
    ) -> Result<Option<Self>, BackendError> {
        let geometries = DeviceGeometries::new(device, world.bodies()).map_err(BackendError::device)?;
        if geometries.is_empty() {
            return Ok(None);
        }
        let settings = world.settings();
        let options = ContactOptions {
            grid_spacing: settings.grid_spacing,
            radius: settings.contact.particle_radius.value(),
            stiffness: settings.contact.stiffness.value(),
            dissipation: settings.contact.dissipation,
            cloth_from: (!world.cloths().is_empty()).then(|| world.mpm().materials().len() as u32),
        };
        let Room { contacts, nodes } = room;
        let capacity = RegistryCapacity {
            particles: world.particle_count(),
            contacts,
            substeps: world.substeps() as usize,
        };
        let registry = DeviceRegistry::new(device, &geometries, &options, capacity)
            .and_then(|registry| registry.with_grains(world.mpm().materials()))
            .map_err(BackendError::device)?;
        let mut solver = DeviceConvexSolver::new(device, contacts, nodes).map_err(BackendError::device)?;
        if device.is_emulated() {
            solver = solver.with_blocks(EMULATED_BLOCKS);
        }
        solver.follow(mpm.status(), registry.clock());
        let boundaries = settings.boundaries.clone();
        let walls = walls(device, &boundaries, &registry, mpm)?;
        let exchange =
            DeviceExchange::new(device, &geometries, contacts, nodes).map_err(BackendError::device)?;
        Ok(Some(Self {
            geometries,
            registry,
            solver,
            walls,
            exchange,
            strongly_coupled: DeviceAnswering::new(device, 0).map_err(BackendError::device)?,
            mobility: Mobility::default(),
            device: device.clone(),
            boundaries,
            bodies: Vec::new(),
        }))
    }

    /// Makes room for what a step stopped for.
    pub(super) fn make_room(&mut self, stopped: &Stopped, mpm: &DeviceMpm) -> Result<(), BackendError> {
        let (contacts, nodes) = match stopped.cause {
            StopCause::Contacts { needed, .. } | StopCause::SolverContacts { needed, .. } => (needed, 0),
            StopCause::TouchedNodes { needed, .. } => (0, needed),
            _ => return Err(BackendError::device(*stopped)),
        };
        self.make_room_for(contacts, nodes)?;
        self.follow_grid(mpm)
    }

    fn make_room_for(&mut self, contacts: u32, nodes: u32) -> Result<(), BackendError> {
        self.registry.grow(contacts).map_err(BackendError::device)?;
        self.solver.grow(self.registry.capacity() as u32, nodes).map_err(BackendError::device)?;
        let (contacts, nodes) = self.solver.capacity();
        self.exchange.grow(contacts as u32, nodes as u32).map_err(BackendError::device)
    }

    /// Fits the walls' memory to a grid that has grown, or is another one.
    pub(super) fn follow_grid(&mut self, mpm: &DeviceMpm) -> Result<(), BackendError> {
        self.solver.follow(mpm.status(), self.registry.clock());
        self.walls = walls(&self.device, &self.boundaries, &self.registry, mpm)?;
        Ok(())
    }

    /// Uploads where the bodies will be, and what the solves go by; true where commands are to be
    /// recorded anew.
    pub(super) fn begin_step(
        &mut self,
        plan: &SubstepPlan<'_>,
        settings: &Settings,
    ) -> Result<bool, BackendError> {
        let poses = self.registry.bodies();
        self.registry.grow_substeps(plan.substeps).map_err(BackendError::device)?;
        self.bodies.clear();
        for bodies in plan.bodies.chunks(plan.reference_points.len().max(1)) {
            let body = |(substep_states, origin): (&pliant_coupling::SubstepBodyState, &Point3<f64>)| {
                ContactBody::new(origin, &substep_states.pose, &substep_states.velocity)
            };
            self.bodies.extend(bodies.iter().zip(plan.reference_points).map(body));
        }
        self.registry.begin_step(plan.substep, &self.bodies).map_err(BackendError::device)?;
        self.exchange.begin_step(plan.substep, plan.references).map_err(BackendError::device)?;
        let convex = DeviceConvexSettings {
            solver: settings.solver.clone(),
            substep: plan.substep,
            dissipation: settings.contact.dissipation,
            stiction_tolerance: settings.contact.stiction_tolerance,
        };
        self.solver.begin_step().map_err(BackendError::device)?;
        self.solver.set(&convex, DeviceGuess::Solution).map_err(BackendError::device)?;
        let is_new = self.velocity_change_at(plan)?;
        Ok(is_new || self.registry.bodies().len() != poses.len())
    }

    /// Uploads how bodies answer; true where commands are to be recorded anew.
    fn velocity_change_at(&mut self, plan: &SubstepPlan<'_>) -> Result<bool, BackendError> {
        let bodies = plan.strongly_coupled.bodies;
        let is_new = self.strongly_coupled.len() != bodies.len();
        if is_new {
            self.strongly_coupled =
                DeviceAnswering::new(&self.device, bodies.len()).map_err(BackendError::device)?;
        }
        self.mobility.set(bodies.len(), plan.strongly_coupled.mobility);
        let mut places = vec![None; plan.reference_points.len()];
        for (place, id) in (0..).zip(bodies) {
            places[id.0] = Some(place);
        }
        let grew = self.solver.set_mobility(&self.mobility, &places).map_err(BackendError::device)?;
        if !bodies.is_empty() {
            self.strongly_coupled.begin_step(plan).map_err(BackendError::device)?;
        }
        Ok(is_new || grew)
    }

    /// Appends the launches of a substep.
    pub(super) fn issue(
        &self,
        commands: &mut Commands,
        particles: ParticleRows,
        grid: GridNodes,
        status: Span<u32>,
    ) {
        self.registry.issue(commands, &self.geometries, particles, status);
        self.walls.issue_add(commands, &self.registry, &grid);
        let contacts = self.registry.contacts();
        let convex = ConvexContacts::from(&contacts);
        self.solver.issue_number(commands, &convex, &grid);
        let incidence = self.solver.incidence();
        self.walls.issue_guess(commands, &self.registry, incidence, grid.nodes);
        self.solver.issue_solve(commands, &convex, grid.nodes, self.walls.held(), contacts.last_impulse);
        let solution = self.solver.solution();
        self.exchange.issue(commands, &self.geometries, &self.registry, incidence, solution, grid.nodes);
        let impulses = self.solver.impulses();
        self.walls.issue_impose(commands, &self.registry, incidence, impulses, grid.nodes, &self.exchange);
        self.strongly_coupled.issue(commands, &self.registry, &self.exchange);
    }

    /// Adds what the bodies got, and says where their points and those that answer are left.
    pub(super) fn end_step(
        &mut self,
        plan: &SubstepPlan<'_>,
        impulses: &mut [SpatialImpulse],
        points: &mut [Point3<f64>],
        left: &mut [Isometry3<f64>],
        done: &mut SubstepsResult,
    ) -> Result<(), BackendError> {
        let bodies = self.registry.bodies_after(plan.substeps).map_err(BackendError::device)?;
        for (point, body) in points.iter_mut().zip(&bodies) {
            *point = body.origin.into();
        }
        for (pose, id) in left.iter_mut().zip(plan.strongly_coupled.bodies) {
            *pose = bodies[id.0].pose();
        }
        let exchanged = self.exchange.download().map_err(BackendError::device)?;
        for (sum, body) in impulses.iter_mut().zip(&exchanged) {
            sum.angular += body.impulse.angular;
            sum.linear += body.impulse.linear;
        }
        if let Some(walls) = exchanged.last() {
            done.boundary_constraints.angular = -walls.impulse.angular;
            done.boundary_constraints.linear = -walls.impulse.linear;
        }
        done.moment_of_travel = exchanged.iter().map(|body| body.moment_of_travel).sum();
        done.work = exchanged.iter().map(|body| body.work).sum();
        let contacts = self.registry.totals().map_err(BackendError::device)?;
        let solves = self.solver.totals().map_err(BackendError::device)?;
        done.contacts = ContactStatistics {
            deepest: None,
            contacts: contacts.sum,
            contacts_max: contacts.most as usize,
            iterations: u32::try_from(solves.iterations).unwrap_or(u32::MAX),
            iterations_max: solves.most_iterations,
            residual: solves.residual,
            not_converged: solves.not_converged,
        };
        Ok(())
    }

    /// What contact remembers.
    pub(super) fn memory(&self) -> Result<ContactCacheState, BackendError> {
        let contacts = self.registry.save().map_err(BackendError::device)?;
        // Walls of the grid have none.
        let of_particles = contacts.iter().filter(|contact| contact.particle != CONTACT_NONE);
        let contacts = of_particles.map(on_host).collect();
        let velocities = self.solver.save_velocities().map_err(BackendError::device)?;
        Ok(ContactCacheState { contacts, velocities })
    }

    /// Remembers this and nothing else.
    pub(super) fn remember(
        &mut self,
        memory: &ContactCacheState,
        mpm: &DeviceMpm,
    ) -> Result<(), BackendError> {
        let contacts: Vec<_> = memory.contacts.iter().map(on_device).collect();
        self.make_room_for(contacts.len() as u32, memory.velocities.len() as u32)?;
        self.follow_grid(mpm)?;
        self.registry.restore(&contacts).map_err(BackendError::device)?;
        self.solver.restore_velocities(&memory.velocities).map_err(BackendError::device)
    }
}

fn walls(
    device: &Device,
    boundaries: &[Boundary],
    registry: &DeviceRegistry,
    mpm: &DeviceMpm,
) -> Result<DeviceWalls, BackendError> {
    let nodes = mpm.grid().nodes().nodes.len() as usize;
    let walls = DeviceWalls::new(device, boundaries, registry, nodes).map_err(BackendError::device)?;
    Ok(if device.is_emulated() { walls.with_blocks(EMULATED_BLOCKS) } else { walls })
}

fn on_host(memory: &kernels::ContactMemory) -> CachedContact {
    CachedContact {
        particle: memory.particle,
        geometry: memory.geometry,
        feature: memory.feature,
        normal_impulse: f64::from(memory.normal_impulse),
        bonded: memory.bonded != 0,
        impulse: memory.impulse.map(f64::from),
        distance: f64::from(memory.distance),
        exit_distance: f64::from(memory.pressed_out),
    }
}

fn on_device(memory: &CachedContact) -> kernels::ContactMemory {
    kernels::ContactMemory {
        particle: memory.particle,
        geometry: memory.geometry,
        feature: memory.feature,
        bonded: u32::from(memory.bonded),
        impulse: memory.impulse.map(|x| x as f32),
        normal_impulse: memory.normal_impulse as f32,
        distance: memory.distance as f32,
        pressed_out: memory.exit_distance as f32,
        unused: [0; 2],
    }
}
