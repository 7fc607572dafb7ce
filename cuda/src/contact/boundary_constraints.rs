//! Grid boundary constraints: boundary conditions as part of the contact problem.

use pliant_mpm::{Boundary, BoundaryKind};

use super::detector::DeviceContactDetector;
use super::error::ContactError;
use super::exchange::DeviceExchange;
use crate::kernels::{
    BOUNDARY_SUMS, BOUNDARY_THREADS, BoundaryAddParameters, BoundaryContact, BoundaryGuessParameters,
    BoundaryImposeParameters, ConvexIncidence, GRID_BARRIER_WORDS, GridNodes, Kernel, MpmPlane,
    STENCIL_NODES,
};
use crate::layout::Span;
use crate::mpm::device_plane;
use crate::{Buffer, Commands, Device, Launch};

/// The grid boundary constraints of the contact problems of a detector: as
/// `coupling/src/boundary_constraints.rs`, which says why.
///
/// In a substep: [`DeviceContactDetector::issue`], [`DeviceBoundaryConstraints::issue_add`], the
/// solver's numbering, [`DeviceBoundaryConstraints::issue_guess`], the solve with
/// [`DeviceBoundaryConstraints::fixed_nodes`], [`DeviceExchange::issue`],
/// [`DeviceBoundaryConstraints::issue_impose`]. Nothing is kept from substep to substep: where the
/// detector or the grid has grown, another one takes its place. Without boundary conditions all of
/// them append nothing. In a substep that does not take place nothing happens.
#[derive(Debug)]
pub struct DeviceBoundaryConstraints {
    planes: Buffer<MpmPlane>,
    /// Coefficient of friction of each: the planes' own is in single precision.
    friction: Buffer<f64>,
    places: Buffer<u32>,
    marks: Buffer<u32>,
    constraints: Buffer<BoundaryContact>,
    first: Buffer<u32>,
    sums: Buffer<[f64; BOUNDARY_SUMS as usize]>,
    block_sums: Buffer<u32>,
    barrier: Buffer<u32>,
    body_count: u32,
    grid_spacing: f64,
    contacts: u32,
    blocks: u32,
}

impl DeviceBoundaryConstraints {
    /// Memory for as many contacts as the capacity of the detector, those with boundaries among
    /// them, on a grid of up to `nodes` nodes: 116 bytes a contact and 4 a node, and next to
    /// nothing without boundary conditions.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        device: &Device,
        boundaries: &[Boundary],
        detector: &DeviceContactDetector,
        nodes: usize,
    ) -> Result<Self, ContactError> {
        let grid_spacing = detector.grid_spacing();
        let planes: Vec<_> = boundaries.iter().map(|b| device_plane(b, grid_spacing)).collect();
        let friction = |b: &Boundary| match b.kind {
            BoundaryKind::Frictional { friction } => friction,
            BoundaryKind::Slip | BoundaryKind::Sticky => 0.0,
        };
        let friction: Vec<_> = boundaries.iter().map(friction).collect();
        let (contacts, nodes) =
            if planes.is_empty() { (0, 0) } else { (detector.contacts().particle.len() as usize, nodes) };
        let kernels = [Kernel::BoundaryAdd, Kernel::BoundaryImpose];
        let resident = device.cooperative_blocks(&kernels, BOUNDARY_THREADS)?;
        let tiles = contacts.div_ceil(BOUNDARY_THREADS as usize);
        Ok(Self {
            planes: device.upload(&planes)?,
            friction: device.upload(&friction)?,
            places: device.allocate(STENCIL_NODES as usize * contacts)?,
            marks: device.allocate(nodes)?,
            constraints: device.allocate(contacts)?,
            first: device.upload(&[0])?,
            sums: device.allocate(tiles)?,
            block_sums: device.allocate(resident as usize)?,
            barrier: device.upload(&[0; GRID_BARRIER_WORDS as usize])?,
            body_count: detector.body_count(),
            grid_spacing,
            contacts: contacts as u32,
            blocks: resident,
        })
    }

    /// With another number of blocks, at least one and at most what the device holds at once. The
    /// results do not depend on it.
    #[must_use]
    pub fn with_blocks(self, blocks: u32) -> Self {
        let most = self.block_sums.len() as u32;
        Self { blocks: blocks.clamp(1, most), ..self }
    }

    /// Whether there are no boundary conditions.
    pub fn is_empty(&self) -> bool {
        self.planes.is_empty()
    }

    /// For each node of the grid, [`CONVEX_FIXED`](crate::kernels::CONVEX_FIXED) where a sticky
    /// boundary holds it in this substep's solve; empty without boundary conditions.
    pub fn fixed_nodes(&self) -> Span<u32> {
        self.marks.span()
    }

    /// Appends what adds the boundary constraints of the nodes that the detector's contacts touch
    /// to these contacts. `grid` has the free velocities.
    ///
    /// Where contacts are more than the capacity, the count says how many there are, and the
    /// numbering stops the substep
    /// ([`DeviceConvexSolver::follow`](crate::convex::DeviceConvexSolver::follow));
    /// [`DeviceContactDetector::check`] tells it as well.
    pub fn issue_add(&self, commands: &mut Commands, detector: &DeviceContactDetector, grid: &GridNodes) {
        if self.is_empty() {
            return;
        }
        let blocks = self.blocks.min((STENCIL_NODES * self.contacts).div_ceil(BOUNDARY_THREADS).max(1));
        commands.clear(self.marks.span()).launch(
            Launch::new(blocks, BOUNDARY_THREADS).cooperative(),
            &BoundaryAddParameters {
                contacts: detector.contacts(),
                grid: *grid,
                planes: self.planes.span(),
                clock: detector.clock(),
                state: detector.contact_cache().state,
                places: self.places.span(),
                marks: self.marks.span(),
                constraints: self.constraints.span(),
                first: self.first.span(),
                block_sums: self.block_sums.span(),
                barrier: self.barrier.span(),
                grid_spacing: self.grid_spacing,
                body_count: self.body_count,
                unused: 0,
            },
        );
    }

    /// Appends what guesses the impulses of the boundary constraints once nodes are numbered: what
    /// keeps the push of the particles' guessed impulses, and of the free velocities of `nodes`,
    /// out of the boundaries.
    pub fn issue_guess(
        &self,
        commands: &mut Commands,
        detector: &DeviceContactDetector,
        incidence: ConvexIncidence,
        nodes: Span<[f32; 4]>,
    ) {
        if self.is_empty() {
            return;
        }
        commands.launch(
            Launch::over(self.contacts, BOUNDARY_THREADS, BOUNDARY_THREADS),
            &BoundaryGuessParameters {
                contacts: detector.contacts(),
                incidence,
                nodes,
                planes: self.planes.span(),
                clock: detector.clock(),
                constraints: self.constraints.span(),
                first: self.first.span(),
            },
        );
    }

    /// Appends what takes the rest of velocities into the boundaries out of the grid's `nodes`
    /// after the exchange, and adds the boundaries' friction, bounded by their `impulses` in the
    /// solve. The grid's entry of the exchange's totals gets the impulses of that.
    pub fn issue_impose(
        &self,
        commands: &mut Commands,
        detector: &DeviceContactDetector,
        incidence: ConvexIncidence,
        impulses: Span<[f64; 3]>,
        nodes: Span<[f32; 4]>,
        exchange: &DeviceExchange,
    ) {
        if self.is_empty() {
            return;
        }
        let blocks = self.blocks.min(self.contacts.div_ceil(BOUNDARY_THREADS).max(1));
        commands.launch(
            Launch::new(blocks, BOUNDARY_THREADS).cooperative(),
            &BoundaryImposeParameters {
                contacts: detector.contacts(),
                incidence,
                impulses,
                nodes,
                planes: self.planes.span(),
                friction: self.friction.span(),
                clock: detector.clock(),
                constraints: self.constraints.span(),
                first: self.first.span(),
                sums: self.sums.span(),
                totals: exchange.totals(),
                barrier: self.barrier.span(),
                grid_spacing: self.grid_spacing,
                body_count: self.body_count,
                unused: 0,
            },
        );
    }
}
