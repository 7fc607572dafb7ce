//! Boundary conditions of the grid within the contact problem.

use pliant_mpm::{Boundary, BoundaryKind};

use super::error::ContactError;
use super::exchange::DeviceExchange;
use super::registry::DeviceRegistry;
use crate::kernels::{
    ContactWall, ConvexIncidence, GRID_BARRIER_WORDS, GridNodes, Kernel, MpmPlane, WALLS_SUMS, WALLS_THREADS,
    WallsAddParameters, WallsGuessParameters, WallsImposeParameters,
};
use crate::layout::Span;
use crate::mpm::device_plane;
use crate::{Buffer, Commands, Device, Launch};

/// Nodes of a contact's stencil.
const STENCIL: usize = 27;

/// The walls of the contact problems of a registry: as `coupling/src/boundary_constraints.rs`,
/// which says why.
///
/// In a substep: [`DeviceRegistry::issue`], [`DeviceWalls::issue_add`], the solver's numbering,
/// [`DeviceWalls::issue_guess`], the solve with [`DeviceWalls::held`], [`DeviceExchange::issue`],
/// [`DeviceWalls::issue_impose`]. Nothing is kept from substep to substep: where the registry or
/// the grid has grown, another one takes its place. Without boundary conditions all of them append
/// nothing. In a substep that does not take place nothing happens.
#[derive(Debug)]
pub struct DeviceWalls {
    planes: Buffer<MpmPlane>,
    /// Coefficient of friction of each: the planes' own is in single precision.
    friction: Buffer<f64>,
    places: Buffer<u32>,
    marks: Buffer<u32>,
    walls: Buffer<ContactWall>,
    first: Buffer<u32>,
    sums: Buffer<[f64; WALLS_SUMS as usize]>,
    block_sums: Buffer<u32>,
    barrier: Buffer<u32>,
    body_count: u32,
    grid_spacing: f64,
    contacts: u32,
    blocks: u32,
}

impl DeviceWalls {
    /// Memory for as many contacts as the registry has room for, those with walls among them, on a
    /// grid of up to `nodes` nodes: 116 bytes a contact and 4 a node, and next to nothing without
    /// boundary conditions.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        device: &Device,
        boundaries: &[Boundary],
        registry: &DeviceRegistry,
        nodes: usize,
    ) -> Result<Self, ContactError> {
        let grid_spacing = registry.grid_spacing();
        let planes: Vec<_> = boundaries.iter().map(|b| device_plane(b, grid_spacing)).collect();
        let friction = |b: &Boundary| match b.kind {
            BoundaryKind::Frictional { friction } => friction,
            BoundaryKind::Slip | BoundaryKind::Sticky => 0.0,
        };
        let friction: Vec<_> = boundaries.iter().map(friction).collect();
        let (contacts, nodes) =
            if planes.is_empty() { (0, 0) } else { (registry.contacts().particle.len() as usize, nodes) };
        // A few blocks a multiprocessor keep it busy, and more of them make barriers slow.
        let resident = device
            .resident_blocks(Kernel::WallsAdd, WALLS_THREADS, 0)?
            .min(device.resident_blocks(Kernel::WallsImpose, WALLS_THREADS, 0)?)
            .min(4 * device.multiprocessors())
            .max(1);
        let tiles = contacts.div_ceil(WALLS_THREADS as usize);
        Ok(Self {
            planes: device.upload(&planes)?,
            friction: device.upload(&friction)?,
            places: device.allocate(STENCIL * contacts)?,
            marks: device.allocate(nodes)?,
            walls: device.allocate(contacts)?,
            first: device.upload(&[0])?,
            sums: device.allocate(tiles)?,
            block_sums: device.allocate(resident as usize)?,
            barrier: device.upload(&[0; GRID_BARRIER_WORDS as usize])?,
            body_count: registry.body_count(),
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

    /// For each node of the grid, [`CONVEX_HELD`](crate::kernels::CONVEX_HELD) where a sticky wall
    /// holds it in this substep's solve; empty without boundary conditions.
    pub fn held(&self) -> Span<u32> {
        self.marks.span()
    }

    /// Appends what adds the walls of the nodes that the registry's contacts touch to these
    /// contacts. `grid` has the free velocities.
    ///
    /// Where contacts are more than there is room for, the count says how many there are, and the
    /// numbering stops the substep
    /// ([`DeviceConvexSolver::follow`](crate::convex::DeviceConvexSolver::follow));
    /// [`DeviceRegistry::check`] tells it as well.
    pub fn issue_add(&self, commands: &mut Commands, registry: &DeviceRegistry, grid: &GridNodes) {
        if self.is_empty() {
            return;
        }
        let blocks = self.blocks.min((STENCIL as u32 * self.contacts).div_ceil(WALLS_THREADS).max(1));
        commands.clear(self.marks.span()).launch(
            Launch::new(blocks, WALLS_THREADS).cooperative(),
            &WallsAddParameters {
                contacts: registry.contacts(),
                grid: *grid,
                planes: self.planes.span(),
                clock: registry.clock(),
                state: registry.memories().state,
                places: self.places.span(),
                marks: self.marks.span(),
                walls: self.walls.span(),
                first: self.first.span(),
                block_sums: self.block_sums.span(),
                barrier: self.barrier.span(),
                grid_spacing: self.grid_spacing,
                body_count: self.body_count,
                unused: 0,
            },
        );
    }

    /// Appends what guesses the walls' impulses once nodes are numbered: what keeps the push of the
    /// particles' guessed impulses, and of the free velocities of `nodes`, out of the walls.
    pub fn issue_guess(
        &self,
        commands: &mut Commands,
        registry: &DeviceRegistry,
        incidence: ConvexIncidence,
        nodes: Span<[f32; 4]>,
    ) {
        if self.is_empty() {
            return;
        }
        commands.launch(
            Launch::over(self.contacts, WALLS_THREADS, WALLS_THREADS),
            &WallsGuessParameters {
                contacts: registry.contacts(),
                incidence,
                nodes,
                planes: self.planes.span(),
                clock: registry.clock(),
                walls: self.walls.span(),
                first: self.first.span(),
            },
        );
    }

    /// Appends what takes the rest of velocities into walls out of the grid's `nodes` after the
    /// exchange, and adds the walls' friction, bounded by their `impulses` in the solve. The walls'
    /// entry of the exchange's totals gets the impulses of that.
    pub fn issue_impose(
        &self,
        commands: &mut Commands,
        registry: &DeviceRegistry,
        incidence: ConvexIncidence,
        impulses: Span<[f64; 3]>,
        nodes: Span<[f32; 4]>,
        exchange: &DeviceExchange,
    ) {
        if self.is_empty() {
            return;
        }
        let blocks = self.blocks.min(self.contacts.div_ceil(WALLS_THREADS).max(1));
        commands.launch(
            Launch::new(blocks, WALLS_THREADS).cooperative(),
            &WallsImposeParameters {
                contacts: registry.contacts(),
                incidence,
                impulses,
                nodes,
                planes: self.planes.span(),
                friction: self.friction.span(),
                clock: registry.clock(),
                walls: self.walls.span(),
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
