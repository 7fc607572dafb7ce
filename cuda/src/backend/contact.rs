//! The contacts of a world on a device: everything between a substep's free motion and its transfer back.

use nalgebra::Point3;
use pliant_coupling::{
    BackendError, ContactMemory, ParticleRadius, RememberedContact, Settings, Stiffness, SubstepPlan,
    SubstepsDone, World,
};
use pliant_rigid::SpatialImpulse;

use crate::contact::{ContactOptions, DeviceExchange, DeviceGeometries, DeviceRegistry, RegistryCapacity};
use crate::convex::{DeviceConvexSettings, DeviceConvexSolver, DeviceGuess};
use crate::kernels::{self, ContactBody, ConvexContacts, GridNodes, ParticleRows};
use crate::layout::Span;
use crate::{Commands, Device};

/// Contacts that there is room for at first, and touched nodes.
const FIRST_CONTACTS: usize = 1 << 10;
const FIRST_NODES: usize = 1 << 12;

/// Geometries, contacts, their solve and what it gives back.
#[derive(Debug)]
pub(super) struct DeviceContact {
    geometries: DeviceGeometries,
    registry: DeviceRegistry,
    solver: DeviceConvexSolver,
    exchange: DeviceExchange,
    /// All bodies in each substep of a step.
    bodies: Vec<ContactBody>,
}

impl DeviceContact {
    /// Memory for the contacts of a world; none where nothing can touch.
    pub(super) fn new(device: &Device, world: &World) -> Result<Option<Self>, BackendError> {
        let geometries = DeviceGeometries::new(device, world.bodies()).map_err(BackendError::device)?;
        if geometries.is_empty() {
            return Ok(None);
        }
        let settings = world.settings();
        let options = ContactOptions {
            grid_spacing: settings.grid_spacing,
            radius: match settings.contact.particle_radius {
                ParticleRadius::Fixed(radius) => Some(radius),
                ParticleRadius::Auto => None,
            },
            stiffness: match settings.contact.stiffness {
                Stiffness::Fixed(stiffness) => Some(stiffness),
                Stiffness::Auto => None,
            },
            dissipation: settings.contact.dissipation,
        };
        let contacts = FIRST_CONTACTS.max(world.particle_count());
        let nodes = FIRST_NODES.max(8 * contacts);
        let capacity = RegistryCapacity {
            particles: world.particle_count(),
            contacts,
            substeps: 4 * world.substeps() as usize + 16,
        };
        let registry =
            DeviceRegistry::new(device, &geometries, &options, capacity).map_err(BackendError::device)?;
        let solver = DeviceConvexSolver::new(device, contacts, nodes).map_err(BackendError::device)?;
        let exchange =
            DeviceExchange::new(device, &geometries, contacts, nodes).map_err(BackendError::device)?;
        Ok(Some(Self { geometries, registry, solver, exchange, bodies: Vec::new() }))
    }

    /// Uploads where the bodies will be, and what the solves go by.
    pub(super) fn begin_step(
        &mut self,
        plan: &SubstepPlan<'_>,
        settings: &Settings,
    ) -> Result<(), BackendError> {
        self.bodies.clear();
        for bodies in plan.bodies.chunks(plan.origins.len().max(1)) {
            let body = |(seen, origin): (&pliant_coupling::SeenBody, &Point3<f64>)| {
                ContactBody::new(origin, &seen.pose, &seen.velocity)
            };
            self.bodies.extend(bodies.iter().zip(plan.origins).map(body));
        }
        self.registry.begin_step(plan.delta, &self.bodies).map_err(BackendError::device)?;
        self.exchange.begin_step().map_err(BackendError::device)?;
        let convex = DeviceConvexSettings {
            solver: settings.solver.clone(),
            substep: plan.delta,
            dissipation: settings.contact.dissipation,
            stiction_tolerance: settings.contact.stiction_tolerance,
        };
        self.solver.set(&convex, DeviceGuess::Solution).map_err(BackendError::device)
    }

    /// Appends the launches of a substep.
    pub(super) fn issue(
        &self,
        commands: &mut Commands,
        particles: ParticleRows,
        grid: GridNodes,
        status: Span<u32>,
    ) {
        self.registry.issue(commands, &self.geometries, particles, status.first(1));
        let contacts = self.registry.contacts();
        self.solver.issue(commands, &ConvexContacts::from(&contacts), &grid, contacts.last_impulse);
        let solution = self.solver.solution();
        let incidence = self.solver.incidence();
        self.exchange.issue(commands, &self.geometries, &self.registry, incidence, solution, grid.nodes);
    }

    /// Adds what the bodies got.
    pub(super) fn end_step(
        &mut self,
        impulses: &mut [SpatialImpulse],
        done: &mut SubstepsDone,
    ) -> Result<(), BackendError> {
        let exchanged = self.exchange.download().map_err(BackendError::device)?;
        for (sum, body) in impulses.iter_mut().zip(&exchanged) {
            sum.angular += body.impulse.angular;
            sum.linear += body.impulse.linear;
        }
        done.work = exchanged.iter().map(|body| body.work).sum();
        Ok(())
    }

    /// What contact remembers.
    pub(super) fn memory(&self) -> Result<ContactMemory, BackendError> {
        let contacts = self.registry.save().map_err(BackendError::device)?;
        Ok(ContactMemory { contacts: contacts.iter().map(on_host).collect(), velocities: Vec::new() })
    }

    /// Remembers this and nothing else.
    pub(super) fn remember(&mut self, memory: &ContactMemory) -> Result<(), BackendError> {
        let contacts: Vec<_> = memory.contacts.iter().map(on_device).collect();
        self.registry.restore(&contacts).map_err(BackendError::device)
    }
}

fn on_host(memory: &kernels::ContactMemory) -> RememberedContact {
    RememberedContact {
        particle: memory.particle,
        geometry: memory.geometry,
        feature: memory.feature,
        normal_impulse: f64::from(memory.normal_impulse),
        bonded: memory.bonded != 0,
        impulse: memory.impulse.map(f64::from),
        distance: f64::from(memory.distance),
        pressed_out: f64::from(memory.pressed_out),
    }
}

fn on_device(memory: &RememberedContact) -> kernels::ContactMemory {
    kernels::ContactMemory {
        particle: memory.particle,
        geometry: memory.geometry,
        feature: memory.feature,
        bonded: u32::from(memory.bonded),
        impulse: memory.impulse.map(|x| x as f32),
        normal_impulse: memory.normal_impulse as f32,
        distance: memory.distance as f32,
        pressed_out: memory.pressed_out as f32,
        unused: [0; 2],
    }
}
