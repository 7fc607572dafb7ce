//! The particles of a model on the device, and the commands of their substeps.

use std::ops::Range;

use bytemuck::Zeroable;
use pliant_coupling::Transfer;
use pliant_mpm::{Boundary, LastSubstep, Mpm, detail};
use pliant_rigid::StepWatch;

use super::cloth::{ClothSubstep, DeviceCloth};
use super::material::{device_materials, device_plane};
use super::particles::stride_of;
use super::sort::ClothPlaces;
use super::sort_schedule::{Progress, SortSchedule, SortState};
use super::{BlockCapacities, DeviceGrid, DeviceParticles};
use crate::kernels::{
    CLOTH_PIN_SUMS, ClothFaces, G2P_THREADS, MPM_BALANCE, MPM_BALANCE_ROW, MPM_BALANCE_THREADS,
    MPM_BLOCK_NODES, MPM_SCRATCHPAD_NODES, MPM_STATUS_WORDS, MPM_SUBGRID_ROWS, MPM_TOTAL_TILE, MPM_TOTALS,
    MpmAtomicToGridParameters, MpmFindSubgridMotionParameters, MpmGridParameters,
    MpmGridToParticlesParameters, MpmMaterial, MpmParticlesToGridParameters, MpmPlane, MpmSettings,
    MpmSumBalanceParameters, P2G_ATOMIC_THREADS, P2G_THREADS,
};
use crate::layout::Span;
use crate::staging::Staging;
use crate::{Buffer, Commands, Device, DeviceError, Launch, Recording};

/// Launches, clears and copies: each is a node of the recording, and takes a few microseconds on a
/// GPU however little it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandCount {
    /// In a substep.
    pub substep: usize,
    /// In a sort, of which there is one every few substeps to every hundred.
    pub sort: usize,
    /// Once a step, at its beginning and end.
    pub step: usize,
}

/// What a caller adds to the commands of a step's substeps: nothing is `()`, and a function is what
/// it adds to each.
pub trait SubstepCommands {
    /// Appends what substeps in a row begin with.
    fn begin(&self, _commands: &mut Commands) {}

    /// Appends what substep `substep_index` has between its free motion and its transfer back.
    fn add(&self, commands: &mut Commands, substep_index: u32);
}

impl SubstepCommands for () {
    fn add(&self, _commands: &mut Commands, _substep_index: u32) {}
}

impl<F: Fn(&mut Commands, u32)> SubstepCommands for F {
    fn add(&self, commands: &mut Commands, substep_index: u32) {
        self(commands, substep_index);
    }
}

/// See [`DeviceMpm::advance_with`].
pub type SubstepHook<'a> = &'a dyn SubstepCommands;

/// Numbers that the details of a model's particles take.
pub(super) fn detail_count(mpm: &Mpm) -> usize {
    let keeps = mpm.materials().iter().any(detail::has_subgrid_motion);
    if keeps { MPM_SUBGRID_ROWS as usize * stride_of(mpm.len()) } else { 0 }
}

/// What goes to the grid.
#[derive(Clone, Copy)]
enum TransferredParticles {
    /// All particles, with their forces.
    All,
    /// Granular particles alone, without forces, gravity and boundary conditions.
    Granular,
}

/// The particles of a model on a device, and all that steps them.
#[derive(Debug)]
pub struct DeviceMpm {
    pub(super) device: Device,
    pub(super) particles: DeviceParticles,
    pub(super) grid: DeviceGrid,
    pub(super) settings: Buffer<MpmSettings>,
    pub(super) materials: Buffer<MpmMaterial>,
    planes: Buffer<MpmPlane>,
    pub(super) transfers: TransferMemory,
    /// What granular particles are to get back, by rows; empty where no material is granular.
    subgrid_motions: Buffer<f32>,
    /// Whether the substeps of the step keep it: they do under gravity.
    pub(super) keeps_details: bool,
    /// None without cloth.
    pub(super) cloth: Option<DeviceCloth>,
    /// The balance of the step, then the totals of the particles, then what pins of cloth did.
    pub(super) total: Buffer<f64>,
    pub(super) tile_sums: Buffer<f64>,
    pub(super) status: Buffer<u32>,
    pub(super) grid_spacing: f64,
    pub(super) order: SortState,
    /// At the start of the next step \[s\].
    pub(super) time: f64,
    /// Before the next step.
    pub(super) last_substep: LastSubstep,
    transfer: Transfer,
    /// Commands of the last kinds of steps, each with its number of substeps and its sorts; the
    /// least recently used first.
    pub(super) recordings: Vec<((u32, SortSchedule), Recording)>,
    /// What the next run gets from the host, and leaves to it.
    pub(super) staging: Staging,
    /// The step that is not done.
    pub(super) progress: Option<Progress>,
    pub(super) watch: StepWatch,
}

/// What the transfers leave in each particle block's scratchpad, and the grid pass in each node
/// block's balance.
#[derive(Debug)]
pub(super) struct TransferMemory {
    scratchpads: Buffer<[f32; 4]>,
    stencil_boxes: Buffer<[i32; 6]>,
    pub(super) balances: Buffer<f64>,
}

impl TransferMemory {
    pub(super) fn new(device: &Device, capacities: BlockCapacities) -> Result<Self, DeviceError> {
        let (blocks, slots) = (capacities.particle_blocks as usize, capacities.node_blocks as usize);
        Ok(Self {
            scratchpads: device.allocate(blocks * MPM_SCRATCHPAD_NODES as usize)?,
            stencil_boxes: device.allocate(blocks)?,
            balances: device.upload(&vec![0.0; slots * MPM_BALANCE_ROW as usize])?,
        })
    }

    pub(super) fn bytes_needed(capacities: BlockCapacities) -> u64 {
        let window = MPM_SCRATCHPAD_NODES as usize * size_of::<[f32; 4]>() + size_of::<[i32; 6]>();
        let balance = MPM_BALANCE_ROW as usize * size_of::<f64>();
        u64::from(capacities.particle_blocks) * window as u64
            + u64::from(capacities.node_blocks) * balance as u64
    }
}

/// Recordings that are kept: steps differ in their number of substeps and in their sorts.
pub(super) const RECORDINGS: usize = 4;

impl DeviceMpm {
    /// Copies the particles of a model, with the boundary conditions that it was made with, to a
    /// device.
    ///
    /// # Errors
    /// [`DeviceError::ModelTooLarge`], before anything is allocated; as [`Device::allocate`].
    pub fn new(
        device: &Device,
        mpm: &Mpm,
        boundaries: &[Boundary],
        capacities: BlockCapacities,
    ) -> Result<Self, DeviceError> {
        Self::check_room(device, mpm, boundaries, capacities)?;
        let h = mpm.grid_spacing();
        let particles = DeviceParticles::new(device, mpm, capacities.particle_blocks as usize)?;
        let materials = device_materials(mpm.materials());
        let subgrid_motions = device.allocate(detail_count(mpm))?;
        let planes: Vec<_> = boundaries.iter().map(|b| device_plane(b, h)).collect();
        let tiles = particles.len().div_ceil(MPM_TOTAL_TILE as usize).max(1)
            + DeviceCloth::energy_tiles(mpm) as usize;
        Ok(Self {
            grid: DeviceGrid::new(device, &particles, capacities)?,
            cloth: DeviceCloth::new(device, mpm)?,
            particles,
            settings: device.allocate(1)?,
            materials: device.upload(&materials)?,
            planes: device.upload(&planes)?,
            transfers: TransferMemory::new(device, capacities)?,
            keeps_details: !subgrid_motions.is_empty(),
            subgrid_motions,
            total: device.allocate((MPM_BALANCE + MPM_TOTALS + CLOTH_PIN_SUMS) as usize)?,
            tile_sums: device.allocate(tiles * MPM_TOTALS as usize)?,
            status: device.allocate(MPM_STATUS_WORDS as usize)?,
            grid_spacing: h,
            order: SortState::none(mpm.max_speed()),
            time: 0.0,
            last_substep: mpm.last_substep(),
            transfer: Transfer::Ordered,
            recordings: Vec::with_capacity(RECORDINGS),
            staging: Staging::new(device)?,
            progress: None,
            watch: StepWatch::default(),
            device: device.clone(),
        })
    }

    /// The particles.
    pub fn particles(&self) -> &DeviceParticles {
        &self.particles
    }

    /// The grid as it is after the last substep: velocities after free motion and boundary
    /// conditions.
    pub fn grid(&self) -> &DeviceGrid {
        &self.grid
    }

    /// Sorts every so many substeps (at least one), besides at the beginning of a step, instead of
    /// as rarely as the particles' speed allows. What comes out depends on it only by rounding.
    pub fn set_sort_interval(&mut self, substeps: u32) {
        self.order.fixed = Some(substeps.max(1));
    }

    /// Time at the start of the next step \[s\], by which pins of cloth move; it goes on by itself,
    /// from zero.
    pub fn set_time(&mut self, time: f64) {
        self.time = time;
    }

    /// The last substep before the next step.
    pub fn last_substep(&self) -> LastSubstep {
        self.last_substep
    }

    /// Counts the substeps of the next steps, and may stop them.
    pub fn set_watch(&mut self, watch: StepWatch) {
        self.watch = watch;
    }

    /// How particles add to the grid from now on.
    pub fn set_transfer(&mut self, transfer: Transfer) {
        self.transfer = transfer;
        self.recordings.clear();
    }

    /// Faces of the cloth among the particles, for contact.
    pub fn cloth_faces(&self) -> ClothFaces {
        self.cloth.as_ref().map_or_else(ClothFaces::zeroed, DeviceCloth::faces)
    }

    /// Status words, for kernels of others within a step: `kernels/stop.cuh` says whether a substep
    /// is to run, and stops it.
    pub fn status(&self) -> Span<u32> {
        self.status.span()
    }

    /// What others have staged goes to the device with the next step's own inputs, and what they ask
    /// for comes back with its results, until that step is done or has stopped.
    pub fn staging(&mut self) -> &mut Staging {
        &mut self.staging
    }

    /// Has the next step recorded anew: what [`DeviceMpm::advance_with`] was given adds other
    /// commands.
    pub fn forget_recording(&mut self) {
        self.recordings.clear();
    }

    /// Appends the commands of these substeps, and their sorts. The recording ends with the
    /// particles' totals where it ends the step.
    pub(super) fn issue(
        &self,
        commands: &mut Commands,
        substeps: Range<u32>,
        sorts: SortSchedule,
        hook: SubstepHook,
    ) {
        self.staging.issue_inputs(commands);
        hook.begin(commands);
        let places = self.cloth.as_ref().map_or(ClothPlaces::NONE, DeviceCloth::places);
        for substep_index in substeps.clone() {
            if sorts.are_before(substep_index) {
                // The sort gives the node blocks other slots.
                self.issue_close(commands, substep_index);
                self.grid.issue_sort(commands, &self.particles, places, self.status.span(), substep_index);
            }
            self.issue_subgrid_motion(commands, substep_index);
            self.issue_to_grid(commands, substep_index);
            if let Some(cloth) = &self.cloth {
                cloth.issue_pins(commands, self.of_cloth(substep_index));
            }
            hook.add(commands, substep_index);
            self.issue_to_particles(commands, substep_index);
            if let Some(cloth) = &self.cloth {
                cloth.issue_advance(commands, self.of_cloth(substep_index));
            }
        }
        self.issue_close(commands, substeps.end);
        self.issue_totals(commands);
        self.staging.issue_results(commands);
    }

    fn of_cloth(&self, substep_index: u32) -> ClothSubstep<'_> {
        ClothSubstep {
            particles: self.particles.rows(),
            grid: &self.grid,
            settings: self.settings.span(),
            pin_sums: self.total.span().skip(MPM_BALANCE + MPM_TOTALS),
            status: self.status.span(),
            substep_index,
            cloth_from: self.materials.len() as u32,
        }
    }

    /// What a step costs in commands, where each substep has those of `hook` besides.
    pub fn count_commands(&self, hook: SubstepHook) -> CommandCount {
        let count = |substeps, first| {
            let mut commands = Commands::new();
            self.issue(&mut commands, 0..substeps, SortSchedule { first, interval: substeps }, hook);
            commands.len()
        };
        let (one, two) = (count(1, None), count(2, None));
        CommandCount { substep: two - one, step: one - (two - one), sort: count(1, Some(0)) - one }
    }

    /// Appends that the balances of the substeps before this one are added up.
    pub(super) fn issue_close(&self, commands: &mut Commands, substep_index: u32) {
        commands.launch(
            Launch::new(1, MPM_BALANCE_THREADS),
            &MpmSumBalanceParameters {
                node_count: self.grid.node_count().span(),
                balances: self.transfers.balances.span(),
                total: self.total.span().first(MPM_BALANCE),
                status: self.status.span(),
                substep_index,
                unused: 0,
            },
        );
    }

    /// Lets the next substeps keep this fraction of what granular particles do beside the grid;
    /// other commands are to be recorded where that begins or ends.
    pub(super) fn keep_details(&mut self, kept: f32) {
        let keeps = kept > 0.0 && !self.subgrid_motions.is_empty();
        if keeps != self.keeps_details {
            self.recordings.clear();
        }
        self.keeps_details = keeps;
    }

    /// Appends that a substep's details are found, which only granular materials have.
    fn issue_subgrid_motion(&self, commands: &mut Commands, substep_index: u32) {
        if !self.keeps_details {
            return;
        }
        self.issue_scatter(commands, substep_index, TransferredParticles::Granular);
        let transfer = self.to_particles(substep_index);
        let launch = Launch::new(self.grid.capacities().particle_blocks, G2P_THREADS);
        commands.launch(launch, &MpmFindSubgridMotionParameters { transfer });
    }

    /// Appends a substep's transfer to the grid, free motion and boundary conditions.
    fn issue_to_grid(&self, commands: &mut Commands, substep_index: u32) {
        self.issue_scatter(commands, substep_index, TransferredParticles::All);
    }

    /// Appends a transfer to the grid, and what makes velocities of it.
    fn issue_scatter(&self, commands: &mut Commands, substep_index: u32, sent: TransferredParticles) {
        let (grid, settings, status) = (self.grid.nodes(), self.settings.span(), self.status.span());
        let stencil_boxes = self.transfers.stencil_boxes.span();
        let BlockCapacities { particle_blocks, node_blocks } = self.grid.capacities();
        let (planes, balances) = (self.planes.span(), self.transfers.balances.span());
        let (granular_of, planes, balances) = match sent {
            TransferredParticles::All => (Span::EMPTY, planes, balances),
            TransferredParticles::Granular => (self.materials.span(), Span::EMPTY, Span::EMPTY),
        };
        let scratchpads = match self.transfer {
            Transfer::Ordered => self.transfers.scratchpads.span(),
            Transfer::Atomic => Span::EMPTY,
        };
        let to_grid = MpmParticlesToGridParameters {
            particles: self.particles.rows(),
            settings,
            block_count: self.grid.block_count().span(),
            block_starts: self.grid.blocks.starts.span(),
            scratchpads,
            stencil_boxes,
            status,
            granular_of,
            substep_index,
            cloth_from: self.cloth.as_ref().map_or(u32::MAX, |_| self.materials.len() as u32),
        };
        match self.transfer {
            Transfer::Ordered => {
                commands.launch(Launch::new(particle_blocks, P2G_THREADS), &to_grid);
            }
            Transfer::Atomic => {
                commands.clear(grid.nodes).launch(
                    Launch::new(particle_blocks, P2G_ATOMIC_THREADS),
                    &MpmAtomicToGridParameters {
                        transfer: to_grid,
                        nodes: grid.nodes,
                        nodes_of_particles: self.grid.nodes_of_particles(),
                    },
                );
            }
        }
        commands.launch(
            Launch::new(node_blocks, MPM_BLOCK_NODES),
            &MpmGridParameters {
                grid,
                settings,
                node_count: self.grid.node_count().span(),
                particles_of_nodes: self.grid.blocks.particles_of_nodes.span(),
                scratchpads,
                stencil_boxes,
                planes,
                balances,
                status,
                substep_index,
                unused: 0,
            },
        );
    }

    /// Appends a substep's transfer back, with motion, return mapping and stress.
    fn issue_to_particles(&self, commands: &mut Commands, substep_index: u32) {
        let launch = Launch::new(self.grid.capacities().particle_blocks, G2P_THREADS);
        commands.launch(launch, &self.to_particles(substep_index));
    }

    fn to_particles(&self, substep_index: u32) -> MpmGridToParticlesParameters {
        MpmGridToParticlesParameters {
            particles: self.particles.rows(),
            grid: self.grid.nodes(),
            settings: self.settings.span(),
            materials: self.materials.span(),
            block_count: self.grid.block_count().span(),
            block_starts: self.grid.blocks.starts.span(),
            stencil_boxes: self.transfers.stencil_boxes.span(),
            nodes_of_particles: self.grid.nodes_of_particles(),
            subgrid_motions: if self.keeps_details { self.subgrid_motions.span() } else { Span::EMPTY },
            status: self.status.span(),
            substep_index,
            unused: 0,
        }
    }
}
