//! The contacts of a world on a device: everything between a substep's free motion and its transfer
//! back.

use nalgebra::{Isometry3, Point3};
use pliant_coupling::convex::Mobility;
use pliant_coupling::{
    BackendError, Boundary, CachedContact, ContactCacheState, ContactStatistics, Settings, SubstepPlan,
    SubstepsResult, World,
};
use pliant_rigid::{Bodies, SpatialImpulse};

use super::capacity::InitialCapacity;
use crate::contact::{
    ContactDetectionOptions, ContactTotals, DetectorCapacity, DeviceBoundaryConstraints,
    DeviceContactDetector, DeviceExchange, DeviceGeometries, DeviceStronglyCoupledBodies, StagedExchange,
};
use crate::convex::{DeviceConvexSettings, DeviceConvexSolver, DeviceGuess};
use crate::kernels::{
    self, CONTACT_NONE, ClothFaces, ContactBody, ContactState, ConvexContacts, ConvexTotals, GridNodes,
    ParticleRows,
};
use crate::layout::Span;
use crate::mpm::{DeviceMpm, StopCause, Stopped};
use crate::staging::{StagedResult, Staging};
use crate::{Commands, Device};

/// Blocks of a cooperative kernel under emulation, where each costs time at every barrier.
const EMULATED_BLOCKS: u32 = 2;

/// Geometries, contacts, their solve and what it gives back.
#[derive(Debug)]
pub(super) struct DeviceContact {
    geometries: DeviceGeometries,
    detector: DeviceContactDetector,
    solver: DeviceConvexSolver,
    boundary_constraints: DeviceBoundaryConstraints,
    exchange: DeviceExchange,
    strongly_coupled: DeviceStronglyCoupledBodies,
    /// Of the strongly coupled bodies.
    mobility: Mobility,
    device: Device,
    boundaries: Vec<Boundary>,
    /// All bodies in each substep of a step.
    bodies: Vec<ContactBody>,
    results: Option<Results>,
}

/// What a step leaves.
#[derive(Clone, Copy, Debug)]
struct Results {
    bodies: StagedResult<ContactBody>,
    contacts: StagedResult<ContactState>,
    solves: StagedResult<ConvexTotals>,
    exchange: StagedExchange,
}

impl DeviceContact {
    /// Memory for the contacts of a world; none where nothing can touch.
    pub(super) fn new(
        device: &Device,
        world: &World,
        mpm: &DeviceMpm,
        capacity: InitialCapacity,
    ) -> Result<Option<Self>, BackendError> {
        let geometries = DeviceGeometries::new(device, world.bodies()).map_err(BackendError::device)?;
        if geometries.is_empty() {
            return Ok(None);
        }
        let settings = world.settings();
        let options = ContactDetectionOptions {
            grid_spacing: settings.grid_spacing,
            radius: settings.contact.particle_radius.value(),
            stiffness: settings.contact.stiffness.value(),
            dissipation: settings.contact.dissipation,
        };
        let InitialCapacity { contacts, nodes } = capacity;
        let capacity = DetectorCapacity {
            particles: world.particle_count(),
            contacts,
            substeps: world.substeps() as usize,
        };
        let detector = DeviceContactDetector::new(device, &geometries, &options, capacity)
            .and_then(|detector| detector.with_grains(world.mpm().materials()))
            .map_err(BackendError::device)?;
        let mut solver = DeviceConvexSolver::new(device, contacts, nodes).map_err(BackendError::device)?;
        if device.is_emulated() {
            solver = solver.with_blocks(EMULATED_BLOCKS);
        }
        solver.follow(mpm.status(), detector.clock());
        let boundaries = settings.boundaries.clone();
        let boundary_constraints = boundary_constraints(device, &boundaries, &detector, mpm)?;
        let exchange =
            DeviceExchange::new(device, &geometries, contacts, nodes).map_err(BackendError::device)?;
        Ok(Some(Self {
            geometries,
            detector,
            solver,
            boundary_constraints,
            exchange,
            strongly_coupled: DeviceStronglyCoupledBodies::new(device, 0).map_err(BackendError::device)?,
            mobility: Mobility::default(),
            device: device.clone(),
            boundaries,
            bodies: Vec::new(),
            results: None,
        }))
    }

    /// Takes the friction of the bodies as it is now.
    pub(super) fn take_friction(&mut self, bodies: &Bodies) -> Result<(), BackendError> {
        self.geometries.take_friction(bodies).map_err(BackendError::device)
    }

    /// Grows the capacity for what a step stopped for.
    pub(super) fn grow_blocks(&mut self, stopped: &Stopped, mpm: &DeviceMpm) -> Result<(), BackendError> {
        let (contacts, nodes) = match stopped.cause {
            StopCause::Contacts { needed, .. } | StopCause::SolverContacts { needed, .. } => (needed, 0),
            StopCause::TouchedNodes { needed, .. } => (0, needed),
            _ => return Err(BackendError::device(*stopped)),
        };
        self.grow_for(contacts, nodes)?;
        self.follow_grid(mpm)
    }

    fn grow_for(&mut self, contacts: u32, nodes: u32) -> Result<(), BackendError> {
        self.detector.grow(contacts).map_err(BackendError::device)?;
        self.solver.grow(self.detector.capacity() as u32, nodes).map_err(BackendError::device)?;
        let (contacts, nodes) = self.solver.capacity();
        self.exchange.grow(contacts as u32, nodes as u32).map_err(BackendError::device)
    }

    /// Fits the memory of the boundary constraints to a grid that has grown, or is another one.
    pub(super) fn follow_grid(&mut self, mpm: &DeviceMpm) -> Result<(), BackendError> {
        self.solver.follow(mpm.status(), self.detector.clock());
        self.boundary_constraints =
            boundary_constraints(&self.device, &self.boundaries, &self.detector, mpm)?;
        Ok(())
    }

    /// Stages where the bodies will be, and what the solves go by; true where commands are to be
    /// recorded anew.
    pub(super) fn begin_step(
        &mut self,
        staging: &mut Staging,
        plan: &SubstepPlan<'_>,
        settings: &Settings,
    ) -> Result<bool, BackendError> {
        let poses = self.detector.bodies();
        self.detector.grow_substeps(plan.substeps).map_err(BackendError::device)?;
        self.bodies.clear();
        for bodies in plan.bodies.chunks(plan.reference_points.len().max(1)) {
            let body = |(state, origin): (&pliant_coupling::SubstepBodyState, &Point3<f64>)| {
                ContactBody::new(origin, &state.pose, &state.velocity)
            };
            self.bodies.extend(bodies.iter().zip(plan.reference_points).map(body));
        }
        self.detector.begin_step(staging, plan.substep, &self.bodies).map_err(BackendError::device)?;
        let begun = self.exchange.begin_step(staging, plan.substep, plan.references);
        begun.map_err(BackendError::device)?;
        let convex = DeviceConvexSettings {
            solver: settings.solver.clone(),
            substep: plan.substep,
            dissipation: settings.contact.dissipation,
            stiction_tolerance: settings.contact.stiction_tolerance,
        };
        self.solver.begin_step(staging);
        self.solver.stage(staging, &convex, DeviceGuess::Solution).map_err(BackendError::device)?;
        let is_new = self.stage_strongly_coupled(staging, plan)?;
        Ok(is_new || self.detector.bodies().len() != poses.len())
    }

    /// Stages the strongly coupled bodies; true if commands must be recorded anew.
    fn stage_strongly_coupled(
        &mut self,
        staging: &mut Staging,
        plan: &SubstepPlan<'_>,
    ) -> Result<bool, BackendError> {
        let bodies = plan.strongly_coupled.bodies;
        let is_new = self.strongly_coupled.len() != bodies.len();
        if is_new {
            self.strongly_coupled =
                DeviceStronglyCoupledBodies::new(&self.device, bodies.len()).map_err(BackendError::device)?;
        }
        self.mobility.set(bodies.len(), plan.strongly_coupled.mobility);
        let mut places = vec![None; plan.reference_points.len()];
        for (place, id) in (0..).zip(bodies) {
            places[id.0] = Some(place);
        }
        let grew =
            self.solver.set_mobility(staging, &self.mobility, &places).map_err(BackendError::device)?;
        if !bodies.is_empty() {
            self.strongly_coupled.begin_step(staging, plan).map_err(BackendError::device)?;
        }
        Ok(is_new || grew)
    }

    /// Asks for what the next run of the step leaves.
    pub(super) fn stage_results(&mut self, staging: &mut Staging, plan: &SubstepPlan<'_>) {
        let (bodies, count) = (self.detector.bodies(), self.detector.body_count());
        self.results = Some(Results {
            bodies: staging.download(bodies.skip(count * plan.substeps).first(count)),
            contacts: staging.download(self.detector.state()),
            solves: staging.download(self.solver.totals_span()),
            exchange: self.exchange.stage_results(staging),
        });
    }

    /// Appends what substeps in a row begin with.
    pub(super) fn issue_begin(&self, commands: &mut Commands) {
        self.detector.issue_place(commands, &self.geometries);
    }

    /// Appends the launches of a substep.
    pub(super) fn issue(
        &self,
        commands: &mut Commands,
        particles: ParticleRows,
        faces: ClothFaces,
        grid: GridNodes,
        status: Span<u32>,
    ) {
        self.detector.issue(commands, &self.geometries, particles, faces, status);
        self.boundary_constraints.issue_add(commands, &self.detector, &grid);
        let contacts = self.detector.contacts();
        let convex = ConvexContacts::from(&contacts);
        self.solver.issue_number(commands, &convex, &grid);
        let incidence = self.solver.incidence();
        self.boundary_constraints.issue_guess(commands, &self.detector, incidence, grid.nodes);
        self.solver.issue_solve(
            commands,
            &convex,
            grid.nodes,
            self.boundary_constraints.fixed_nodes(),
            contacts.last_impulse,
        );
        let solution = self.solver.solution();
        self.exchange.issue(commands, &self.geometries, &self.detector, incidence, solution, grid.nodes);
        let impulses = self.solver.impulses();
        self.boundary_constraints.issue_impose(
            commands,
            &self.detector,
            incidence,
            impulses,
            grid.nodes,
            &self.exchange,
        );
        self.strongly_coupled.issue(commands, &self.geometries, &self.detector, &self.exchange);
    }

    /// Adds what the bodies got, and says where their points and the strongly coupled ones are
    /// left.
    pub(super) fn end_step(
        &mut self,
        staging: &Staging,
        plan: &SubstepPlan<'_>,
        impulses: &mut [SpatialImpulse],
        points: &mut [Point3<f64>],
        left: &mut [Isometry3<f64>],
        done: &mut SubstepsResult,
    ) {
        let Some(results) = self.results.take() else { return };
        let bodies = staging.result(&results.bodies);
        for (point, body) in points.iter_mut().zip(bodies) {
            *point = body.origin.into();
        }
        for (pose, id) in left.iter_mut().zip(plan.strongly_coupled.bodies) {
            *pose = bodies[id.0].pose();
        }
        let exchanged = || DeviceExchange::results(staging, &results.exchange);
        for (sum, body) in impulses.iter_mut().zip(exchanged()) {
            sum.angular += body.impulse.angular;
            sum.linear += body.impulse.linear;
        }
        if let Some(grid) = exchanged().last() {
            done.boundary_constraints.angular = -grid.impulse.angular;
            done.boundary_constraints.linear = -grid.impulse.linear;
        }
        done.moment_of_travel = exchanged().map(|body| body.moment_of_travel).sum();
        done.work = exchanged().map(|body| body.work).sum();
        let contacts = ContactTotals::from(&staging.result(&results.contacts)[0]);
        let solves = staging.result(&results.solves)[0];
        done.contacts = ContactStatistics {
            deepest: None,
            layers: None,
            strands: None,
            contacts: contacts.sum,
            contacts_max: contacts.most as usize,
            iterations: u32::try_from(solves.iterations).unwrap_or(u32::MAX),
            iterations_max: solves.most_iterations,
            residual: solves.residual,
            not_converged: solves.not_converged,
        };
    }

    /// The contact cache.
    pub(super) fn cache(&self) -> Result<ContactCacheState, BackendError> {
        let contacts = self.detector.save().map_err(BackendError::device)?;
        // Grid boundary constraints have none.
        let of_particles = contacts.iter().filter(|contact| contact.particle != CONTACT_NONE);
        let contacts = of_particles.map(on_host).collect();
        let velocities = self.solver.save_velocities().map_err(BackendError::device)?;
        Ok(ContactCacheState { contacts, velocities })
    }

    /// Fills the contact cache with this and nothing else.
    pub(super) fn remember(
        &mut self,
        cache: &ContactCacheState,
        mpm: &DeviceMpm,
    ) -> Result<(), BackendError> {
        let contacts: Vec<_> = cache.contacts.iter().map(on_device).collect();
        self.grow_for(contacts.len() as u32, cache.velocities.len() as u32)?;
        self.follow_grid(mpm)?;
        self.detector.restore(&contacts).map_err(BackendError::device)?;
        self.solver.restore_velocities(&cache.velocities).map_err(BackendError::device)
    }
}

fn boundary_constraints(
    device: &Device,
    boundaries: &[Boundary],
    detector: &DeviceContactDetector,
    mpm: &DeviceMpm,
) -> Result<DeviceBoundaryConstraints, BackendError> {
    let nodes = mpm.grid().nodes().nodes.len() as usize;
    let constraints =
        DeviceBoundaryConstraints::new(device, boundaries, detector, nodes).map_err(BackendError::device)?;
    Ok(if device.is_emulated() { constraints.with_blocks(EMULATED_BLOCKS) } else { constraints })
}

fn on_host(cache: &kernels::DeviceCachedContact) -> CachedContact {
    CachedContact {
        particle: cache.particle,
        geometry: cache.geometry,
        feature: cache.feature,
        normal_impulse: f64::from(cache.normal_impulse),
        bonded: cache.bonded != 0,
        impulse: cache.impulse.map(f64::from),
        distance: f64::from(cache.distance),
        exit_distance: f64::from(cache.exit_distance),
    }
}

fn on_device(cache: &CachedContact) -> kernels::DeviceCachedContact {
    kernels::DeviceCachedContact {
        particle: cache.particle,
        geometry: cache.geometry,
        feature: cache.feature,
        bonded: u32::from(cache.bonded),
        impulse: cache.impulse.map(|x| x as f32),
        normal_impulse: cache.normal_impulse as f32,
        distance: cache.distance as f32,
        exit_distance: cache.exit_distance as f32,
        unused: [0; 2],
    }
}
