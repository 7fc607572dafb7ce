//! The particles of a model on the device, and the commands of their substeps.

use std::ops::Range;

use pliant_mpm::material::{Material, Model};
use pliant_mpm::{Boundary, BoundaryKind, Mpm};

use super::advance::Progress;
use super::cloth::DeviceCloth;
use super::sort::ClothPlaces;
use super::sorting::{Order, Sorts};
use super::{BlockCapacities, DeviceGrid, DeviceParticles};
use crate::kernels::{
    CLOTH_PIN_SUMS, G2P_THREADS, MPM_ACCOUNT, MPM_ACCOUNT_ROW, MPM_BLOCK_NODES, MPM_CLOSE_THREADS,
    MPM_DRUCKER_PRAGER, MPM_FIXED_COROTATED, MPM_FRICTIONAL, MPM_LINEAR_COROTATED, MPM_NEO_HOOKEAN, MPM_SLIP,
    MPM_STATUS_WORDS, MPM_STICKY, MPM_TOTAL_TILE, MPM_TOTALS, MPM_VON_MISES, MPM_WINDOW_NODES,
    MpmAtomicToGridParameters, MpmCloseAccountParameters, MpmGridParameters, MpmGridToParticlesParameters,
    MpmMaterial, MpmParticlesToGridParameters, MpmPlane, MpmSettings, P2G_THREADS,
};
use crate::layout::Span;
use crate::{Buffer, Commands, Device, DeviceError, Launch, Recording};

/// How particles add to the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// In a fixed order: the same bits whatever the schedule.
    #[default]
    Ordered,
    /// By atomic additions, after particles of one cell were added up in registers: the last bits change from run to run.
    Atomic,
}

/// Launches, clears and copies: each is a node of the recording, and takes a few microseconds on a GPU however little it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandCount {
    /// In a substep.
    pub substep: usize,
    /// In a sort, of which there is one every few substeps to every hundred.
    pub sort: usize,
    /// At the end of a step.
    pub step: usize,
}

/// What a caller adds to the commands of a substep, which it is given the number of.
pub type Between<'a> = &'a dyn Fn(&mut Commands, u32);

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
    /// None without cloth.
    pub(super) cloth: Option<DeviceCloth>,
    /// The account of the step, then the totals of the particles, then what pins of cloth did.
    pub(super) total: Buffer<f64>,
    pub(super) tile_sums: Buffer<f64>,
    pub(super) status: Buffer<u32>,
    pub(super) grid_spacing: f64,
    pub(super) order: Order,
    /// At the start of the next step [s].
    pub(super) time: f64,
    transfer: Transfer,
    /// Commands of the last kinds of steps, each with its number of substeps and its sorts; the oldest first.
    pub(super) recordings: Vec<((u32, Sorts), Recording)>,
    /// The step that is not done.
    pub(super) progress: Option<Progress>,
}

/// What the transfers leave in each particle block's window, and the grid pass in each node block's account.
#[derive(Debug)]
pub(super) struct TransferMemory {
    windows: Buffer<[f32; 4]>,
    boxes: Buffer<[i32; 6]>,
    pub(super) accounts: Buffer<f64>,
}

impl TransferMemory {
    pub(super) fn new(device: &Device, capacities: BlockCapacities) -> Result<Self, DeviceError> {
        let (blocks, slots) = (capacities.particle_blocks as usize, capacities.node_blocks as usize);
        Ok(Self {
            windows: device.allocate(blocks * MPM_WINDOW_NODES as usize)?,
            boxes: device.allocate(blocks)?,
            accounts: device.upload(&vec![0.0; slots * MPM_ACCOUNT_ROW as usize])?,
        })
    }

    pub(super) fn bytes_needed(capacities: BlockCapacities) -> u64 {
        let window = MPM_WINDOW_NODES as usize * size_of::<[f32; 4]>() + size_of::<[i32; 6]>();
        let account = MPM_ACCOUNT_ROW as usize * size_of::<f64>();
        u64::from(capacities.particle_blocks) * window as u64
            + u64::from(capacities.node_blocks) * account as u64
    }
}

/// Recordings that are kept: steps differ in their number of substeps and in their sorts.
pub(super) const RECORDINGS: usize = 4;

impl DeviceMpm {
    /// Copies the particles of a model, with the boundary conditions that it was made with, to a device.
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
        let materials = device_materials(mpm.materials())?;
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
            total: device.allocate((MPM_ACCOUNT + MPM_TOTALS + CLOTH_PIN_SUMS) as usize)?,
            tile_sums: device.allocate(tiles * MPM_TOTALS as usize)?,
            status: device.allocate(MPM_STATUS_WORDS as usize)?,
            grid_spacing: h,
            order: Order::none(mpm.max_speed()),
            time: 0.0,
            transfer: Transfer::Ordered,
            recordings: Vec::with_capacity(RECORDINGS),
            progress: None,
            device: device.clone(),
        })
    }

    /// The particles.
    pub fn particles(&self) -> &DeviceParticles {
        &self.particles
    }

    /// The grid as it is after the last substep: velocities after free motion and boundary conditions.
    pub fn grid(&self) -> &DeviceGrid {
        &self.grid
    }

    /// Sorts every so many substeps (at least one), besides at the beginning of a step, instead of as rarely as the particles' speed
    /// allows. What comes out depends on it only by rounding.
    pub fn set_sort_interval(&mut self, substeps: u32) {
        self.order.fixed = Some(substeps.max(1));
    }

    /// Time at the start of the next step [s], by which pins of cloth move; it goes on by itself, from zero.
    pub fn set_time(&mut self, time: f64) {
        self.time = time;
    }

    /// How particles add to the grid from now on.
    pub fn set_transfer(&mut self, transfer: Transfer) {
        self.transfer = transfer;
        self.recordings.clear();
    }

    /// Status words, for kernels of others within a step: `kernels/stop.cuh` says whether a substep is to run, and stops it.
    pub fn status(&self) -> Span<u32> {
        self.status.span()
    }

    /// Has the next step recorded anew: what [`DeviceMpm::advance_with`] was given adds other commands.
    pub fn forget_recording(&mut self) {
        self.recordings.clear();
    }

    /// Appends the commands of these substeps, and their sorts. The recording ends with the
    /// particles' totals where it ends the step.
    pub(super) fn issue(
        &self,
        commands: &mut Commands,
        substeps: Range<u32>,
        sorts: Sorts,
        between: Between,
    ) {
        let places = self.cloth.as_ref().map_or(ClothPlaces::NONE, DeviceCloth::places);
        for substep in substeps.clone() {
            if sorts.are_before(substep) {
                // The sort gives the node blocks other slots.
                self.issue_close(commands, substep);
                self.grid.issue_sort(commands, &self.particles, places, self.status.span(), substep);
            }
            self.issue_to_grid(commands, substep);
            if let Some(cloth) = &self.cloth {
                cloth.issue_pins(commands, self, substep);
            }
            between(commands, substep);
            self.issue_to_particles(commands, substep);
            if let Some(cloth) = &self.cloth {
                cloth.issue_advance(commands, self, substep);
            }
        }
        self.issue_close(commands, substeps.end);
        self.issue_totals(commands);
    }

    /// What a step costs in commands, where each substep has those of `between` besides.
    pub fn count_commands(&self, between: Between) -> CommandCount {
        let count = |substeps, first| {
            let mut commands = Commands::new();
            self.issue(&mut commands, 0..substeps, Sorts { first, interval: substeps }, between);
            commands.len()
        };
        let (one, two) = (count(1, None), count(2, None));
        CommandCount { substep: two - one, step: one - (two - one), sort: count(1, Some(0)) - one }
    }

    /// Appends that the accounts of the substeps before this one are added up.
    pub(super) fn issue_close(&self, commands: &mut Commands, substep: u32) {
        commands.launch(
            Launch::new(1, MPM_CLOSE_THREADS),
            &MpmCloseAccountParameters {
                node_count: self.grid.node_count().span(),
                accounts: self.transfers.accounts.span(),
                total: self.total.span().first(MPM_ACCOUNT),
                status: self.status.span(),
                substep,
                unused: 0,
            },
        );
    }

    /// Appends a substep's transfer to the grid, free motion and boundary conditions.
    fn issue_to_grid(&self, commands: &mut Commands, substep: u32) {
        let (grid, settings, status) = (self.grid.nodes(), self.settings.span(), self.status.span());
        let boxes = self.transfers.boxes.span();
        let BlockCapacities { particle_blocks, node_blocks } = self.grid.capacities();
        let windows = match self.transfer {
            Transfer::Ordered => self.transfers.windows.span(),
            Transfer::Atomic => Span::EMPTY,
        };
        let to_grid = MpmParticlesToGridParameters {
            particles: self.particles.rows(),
            settings,
            block_count: self.grid.block_count().span(),
            block_starts: self.grid.blocks.starts.span(),
            windows,
            boxes,
            status,
            substep,
            cloth_from: self.cloth.as_ref().map_or(u32::MAX, |_| self.materials.len() as u32),
        };
        match self.transfer {
            Transfer::Ordered => {
                commands.launch(Launch::new(particle_blocks, P2G_THREADS), &to_grid);
            }
            Transfer::Atomic => {
                commands.clear(grid.nodes).launch(
                    Launch::new(particle_blocks, P2G_THREADS),
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
                windows,
                boxes,
                planes: self.planes.span(),
                accounts: self.transfers.accounts.span(),
                status,
                substep,
                unused: 0,
            },
        );
    }

    /// Appends a substep's transfer back, with motion, return mapping and stress.
    fn issue_to_particles(&self, commands: &mut Commands, substep: u32) {
        commands.launch(
            Launch::new(self.grid.capacities().particle_blocks, G2P_THREADS),
            &MpmGridToParticlesParameters {
                particles: self.particles.rows(),
                grid: self.grid.nodes(),
                settings: self.settings.span(),
                materials: self.materials.span(),
                block_count: self.grid.block_count().span(),
                block_starts: self.grid.blocks.starts.span(),
                boxes: self.transfers.boxes.span(),
                nodes_of_particles: self.grid.nodes_of_particles(),
                status: self.status.span(),
                substep,
                unused: 0,
            },
        );
    }
}

/// Materials' parameters in f32, as `pliant_mpm::constitutive` derives them.
///
/// # Errors
/// [`DeviceError::NoSuchModel`] for granular flow.
pub fn device_materials(materials: &[Material]) -> Result<Vec<MpmMaterial>, DeviceError> {
    let missing = |index| DeviceError::NoSuchModel { index, model: "granular" };
    let of = |(index, material)| device_material(material).ok_or_else(|| missing(index));
    materials.iter().enumerate().map(of).collect()
}

/// A material's parameters; none for a model without a kernel.
fn device_material(material: &Material) -> Option<MpmMaterial> {
    let elastic = material.model.elastic();
    let (mu, lambda) = (elastic.shear_modulus(), elastic.lame_lambda());
    let (model, yield_strain) = match material.model {
        Model::FixedCorotated(_) => (MPM_FIXED_COROTATED, 0.0),
        Model::NeoHookean(_) => (MPM_NEO_HOOKEAN, 0.0),
        Model::LinearCorotated(_) => (MPM_LINEAR_COROTATED, 0.0),
        // sqrt(2/3) sigma_Y / (2 mu): Simo and Hughes, box 9.1.
        Model::VonMises { yield_stress, .. } => {
            (MPM_VON_MISES, (2.0_f64 / 3.0).sqrt() * yield_stress / (2.0 * mu))
        }
        // alpha (3 lambda + 2 mu) / (2 mu): Klar et al. 2016.
        Model::DruckerPrager { friction_angle, .. } => {
            let sine = friction_angle.sin();
            let alpha = (2.0_f64 / 3.0).sqrt() * 2.0 * sine / (3.0 - sine);
            (MPM_DRUCKER_PRAGER, alpha * (3.0 * lambda + 2.0 * mu) / (2.0 * mu))
        }
        Model::Granular(_) => return None,
    };
    Some(MpmMaterial { model, mu: mu as f32, lambda: lambda as f32, yield_strain: yield_strain as f32 })
}

/// A boundary condition in cells, as `pliant_mpm` has it for its grid pass.
pub(crate) fn device_plane(boundary: &Boundary, grid_spacing: f64) -> MpmPlane {
    let normal = boundary.normal.into_inner();
    let (kind, friction) = match boundary.kind {
        BoundaryKind::Sticky => (MPM_STICKY, 0.0),
        BoundaryKind::Slip => (MPM_SLIP, 0.0),
        BoundaryKind::Frictional { friction } => (MPM_FRICTIONAL, friction),
    };
    MpmPlane {
        normal_f64: normal.into(),
        offset: normal.dot(&boundary.point.coords) / grid_spacing,
        normal: normal.map(|n| n as f32).into(),
        friction: friction as f32,
        kind,
        unused: 0,
    }
}
