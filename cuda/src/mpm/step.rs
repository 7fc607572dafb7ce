//! Steps of the material point method on the device.

use std::ops::Range;

use nalgebra::Vector3;
use pliant_mpm::material::{Material, Model};
use pliant_mpm::{Boundary, BoundaryKind, Impulse, Mpm, MpmError};

use super::{BlockCapacities, DeviceGrid, DeviceMpmError, DeviceParticles};
use crate::kernels::{
    G2P_THREADS, MPM_ACCOUNT, MPM_BLOCK_NODES, MPM_CLOSE_THREADS, MPM_DRUCKER_PRAGER, MPM_FIXED_COROTATED,
    MPM_FRICTIONAL, MPM_KEY_LIMIT, MPM_LINEAR_COROTATED, MPM_LOST, MPM_NEO_HOOKEAN, MPM_OUT_OF_RANGE,
    MPM_SLIP, MPM_STATUS_FLAGS, MPM_STATUS_LIMIT, MPM_STATUS_LOST, MPM_STATUS_SPEED, MPM_STATUS_WORDS,
    MPM_STICKY, MPM_TOO_MANY_NODE_BLOCKS, MPM_TOO_MANY_PARTICLE_BLOCKS, MPM_VON_MISES, MPM_WINDOW_NODES,
    MpmAtomicToGridParameters, MpmCloseAccountParameters, MpmGridParameters, MpmGridToParticlesParameters,
    MpmMaterial, MpmParticlesToGridParameters, MpmPlane, MpmSettings, P2G_THREADS,
};
use crate::layout::Span;
use crate::{Buffer, Commands, Device, DeviceError, Launch, Recording};

/// What the free motion of a step did to the momentum of all particles, in the world frame, angular parts about the world's origin.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepAccount {
    /// Mass on the grid in the last substep [kg].
    pub mass: f64,
    /// Impulse of gravity.
    pub gravity: Impulse,
    /// Impulse of the boundary conditions on the particles.
    pub boundary: Impulse,
    /// Work of gravity and of the boundary conditions [J].
    pub work: f64,
    /// Largest speed of a particle after the last substep [m/s].
    pub max_speed: f64,
    /// Sorts within the step that were not planned, because a particle drifted too far.
    pub extra_sorts: u32,
}

/// How particles add to the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// In a fixed order: the same bits whatever the schedule.
    #[default]
    Ordered,
    /// By atomic additions, after particles of one cell were added up in registers: the last bits change from run to run.
    Atomic,
}

/// What a caller adds to the commands of a substep, which it is given the number of.
pub type Between<'a> = &'a dyn Fn(&mut Commands, u32);

/// The particles of a model on a device, and all that steps them.
#[derive(Debug)]
pub struct DeviceMpm {
    device: Device,
    particles: DeviceParticles,
    grid: DeviceGrid,
    settings: Buffer<MpmSettings>,
    materials: Buffer<MpmMaterial>,
    planes: Buffer<MpmPlane>,
    windows: Buffer<[f32; 4]>,
    boxes: Buffer<[i32; 6]>,
    accounts: Buffer<f64>,
    total: Buffer<f64>,
    status: Buffer<u32>,
    grid_spacing: f64,
    sort_interval: u32,
    transfer: Transfer,
    /// The last step's commands, and its number of substeps.
    recording: Option<(u32, Recording)>,
}

/// Substeps from one sort to the next, unless told otherwise. A particle that moves 0.4 cells a substep, the most that is stable
/// ([`pliant_mpm::stable_step::COURANT_NUMBER`]), moves 2 cells in five of them, which windows allow for.
const SORT_INTERVAL: u32 = 5;

impl DeviceMpm {
    /// Copies the particles of a model, with the boundary conditions that it was made with, to a device.
    ///
    /// # Errors
    /// As [`Device::allocate`].
    pub fn new(
        device: &Device,
        mpm: &Mpm,
        boundaries: &[Boundary],
        capacities: BlockCapacities,
    ) -> Result<Self, DeviceError> {
        let h = mpm.grid_spacing();
        let particles = DeviceParticles::new(device, mpm, capacities.particle_blocks as usize)?;
        let (blocks, slots) = (capacities.particle_blocks as usize, capacities.node_blocks as usize);
        let materials: Vec<_> = mpm.materials().iter().map(device_material).collect();
        let planes: Vec<_> = boundaries.iter().map(|b| device_plane(b, h)).collect();
        Ok(Self {
            grid: DeviceGrid::new(device, &particles, capacities)?,
            particles,
            settings: device.allocate(1)?,
            materials: device.upload(&materials)?,
            planes: device.upload(&planes)?,
            windows: device.allocate(blocks * MPM_WINDOW_NODES as usize)?,
            boxes: device.allocate(blocks)?,
            accounts: device.upload(&vec![0.0; slots * MPM_ACCOUNT as usize])?,
            total: device.allocate(MPM_ACCOUNT as usize)?,
            status: device.allocate(MPM_STATUS_WORDS as usize)?,
            grid_spacing: h,
            sort_interval: SORT_INTERVAL,
            transfer: Transfer::Ordered,
            recording: None,
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

    /// Sorts every so many substeps (at least one), besides at the beginning of a step. What comes out depends on it only by rounding.
    pub fn set_sort_interval(&mut self, substeps: u32) {
        self.sort_interval = substeps.max(1);
        self.recording = None;
    }

    /// How particles add to the grid from now on.
    pub fn set_transfer(&mut self, transfer: Transfer) {
        self.transfer = transfer;
        self.recording = None;
    }

    /// Status words, for kernels of others within a step: `is_stopped` of `kernels/mpm.cuh` says whether a substep is to run.
    pub fn status(&self) -> Span<u32> {
        self.status.span()
    }

    /// Has the next step recorded anew: what [`DeviceMpm::advance_with`] was given adds other commands.
    pub fn forget_recording(&mut self) {
        self.recording = None;
    }

    /// Moves the particles by `substeps` substeps of `delta` [s] under `gravity` [m/s^2], without a word to the host until they are done.
    ///
    /// # Errors
    /// [`DeviceMpmError::Mpm`] with the particle that was lost, after which the particles are as after that substep;
    /// [`DeviceMpmError::TooManyBlocks`], [`DeviceMpmError::OutOfRange`], and those of the device.
    pub fn advance(
        &mut self,
        substeps: u32,
        delta: f64,
        gravity: Vector3<f64>,
    ) -> Result<StepAccount, DeviceMpmError> {
        self.advance_with(substeps, delta, gravity, &|_, _| {})
    }

    /// As [`DeviceMpm::advance`], with the commands of `between` run between each substep's free motion and its transfer back to the
    /// particles. It is called when commands are recorded, which is not in every step: see [`DeviceMpm::forget_recording`]. Its kernels
    /// must do nothing where the substep is stopped ([`DeviceMpm::status`]).
    ///
    /// # Errors
    /// As [`DeviceMpm::advance`].
    pub fn advance_with(
        &mut self,
        substeps: u32,
        delta: f64,
        gravity: Vector3<f64>,
        between: Between,
    ) -> Result<StepAccount, DeviceMpmError> {
        self.settings.upload(&[MpmSettings {
            gravity_step: (gravity * delta).into(),
            grid_spacing_f64: self.grid_spacing,
            grid_spacing: self.grid_spacing as f32,
            delta: delta as f32,
        }])?;
        self.total.fill(0.0)?;
        let mut done = 0;
        let mut extra_sorts = 0;
        loop {
            let mut status = [0; MPM_STATUS_WORDS as usize];
            status[MPM_STATUS_LIMIT as usize] = u32::MAX;
            self.status.upload(&status)?;
            self.run(done..substeps, between)?;
            self.status.download_at(0, &mut status)?;
            done = status[MPM_STATUS_LIMIT as usize].min(substeps);
            self.check(&status, done)?;
            if done == substeps {
                return self.account(&status, extra_sorts);
            }
            // A particle is about to leave its window: what is left begins with a sort.
            extra_sorts += 1;
        }
    }

    /// Runs the commands of these substeps of a step.
    fn run(&mut self, substeps: Range<u32>, between: Between) -> Result<(), DeviceError> {
        if substeps.start > 0 {
            // A rest, of which there are many lengths.
            let mut commands = Commands::new();
            self.issue(&mut commands, substeps, between);
            return self.device.submit(&commands);
        }
        match &self.recording {
            Some((recorded, recording)) if *recorded == substeps.end => recording.run(),
            _ => {
                let end = substeps.end;
                let recording = self.device.record(|commands| self.issue(commands, substeps, between))?;
                recording.run()?;
                self.recording = Some((end, recording));
                Ok(())
            }
        }
    }

    /// Appends the commands of these substeps.
    fn issue(&self, commands: &mut Commands, substeps: Range<u32>, between: Between) {
        for substep in substeps.clone() {
            let since_sort = (substep - substeps.start) % self.sort_interval;
            if since_sort == 0 {
                self.grid.issue_sort(commands, &self.particles, self.status.span(), substep);
            }
            self.issue_to_grid(commands, substep);
            between(commands, substep);
            self.issue_to_particles(commands, substep);
            if since_sort + 1 == self.sort_interval || substep + 1 == substeps.end {
                // The next sort gives the node blocks other slots.
                commands.launch(
                    Launch::new(1, MPM_CLOSE_THREADS),
                    &MpmCloseAccountParameters {
                        node_count: self.grid.node_count().span(),
                        accounts: self.accounts.span(),
                        total: self.total.span(),
                    },
                );
            }
        }
    }

    /// Appends a substep's transfer to the grid, free motion and boundary conditions.
    fn issue_to_grid(&self, commands: &mut Commands, substep: u32) {
        let (grid, settings, status) = (self.grid.nodes(), self.settings.span(), self.status.span());
        let boxes = self.boxes.span();
        let BlockCapacities { particle_blocks, node_blocks } = self.grid.capacities();
        let windows = match self.transfer {
            Transfer::Ordered => self.windows.span(),
            Transfer::Atomic => Span::EMPTY,
        };
        let to_grid = MpmParticlesToGridParameters {
            particles: self.particles.rows(),
            settings,
            block_count: self.grid.block_count().span(),
            block_starts: self.grid.block_starts.span(),
            windows,
            boxes,
            status,
            substep,
            unused: 0,
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
                        nodes_of_particles: self.grid.nodes_of_particles.span(),
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
                particles_of_nodes: self.grid.particles_of_nodes.span(),
                windows,
                boxes,
                planes: self.planes.span(),
                accounts: self.accounts.span(),
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
                block_starts: self.grid.block_starts.span(),
                boxes: self.boxes.span(),
                nodes_of_particles: self.grid.nodes_of_particles.span(),
                status: self.status.span(),
                substep,
                unused: 0,
            },
        );
    }

    /// Whether a step that stopped after `substeps` substeps can go on: it can where a particle only drifted.
    fn check(&self, status: &[u32], substeps: u32) -> Result<(), DeviceMpmError> {
        let flags = status[MPM_STATUS_FLAGS as usize];
        let BlockCapacities { particle_blocks, node_blocks } = self.grid.capacities();
        if flags & MPM_LOST != 0 {
            return Err(self.lost_particle(u32::MAX - status[MPM_STATUS_LOST as usize])?.into());
        }
        if flags & MPM_OUT_OF_RANGE != 0 {
            return Err(DeviceMpmError::OutOfRange { limit: MPM_KEY_LIMIT, substeps });
        }
        let full = [
            (MPM_TOO_MANY_PARTICLE_BLOCKS, "particle", self.grid.block_count(), particle_blocks),
            (MPM_TOO_MANY_NODE_BLOCKS, "node", self.grid.node_count(), node_blocks),
        ];
        for (flag, what, counted, capacity) in full {
            if flags & flag != 0 {
                // Where even the table was full, nobody counted.
                let needed = counted.download()?[0].max(capacity + 1);
                return Err(DeviceMpmError::TooManyBlocks { what, needed, capacity, substeps });
            }
        }
        Ok(())
    }

    fn lost_particle(&self, id: u32) -> Result<MpmError, DeviceError> {
        let all = self.particles.download()?;
        let found = all.iter().find(|particle| particle.id == id);
        let [position, velocity] = found.map_or([Vector3::repeat(f64::NAN); 2], |p| {
            let cells = |d: usize, _| 4.0 * f64::from(p.block[d]) + f64::from(p.position[d]);
            [Vector3::from_fn(cells) * self.grid_spacing, Vector3::from(p.velocity).map(f64::from)]
        });
        Ok(MpmError::LostParticle { id, position, velocity })
    }

    fn account(&self, status: &[u32], extra_sorts: u32) -> Result<StepAccount, DeviceMpmError> {
        let entries = self.total.download()?;
        let vector = |first: usize| Vector3::from_column_slice(&entries[first..first + 3]);
        Ok(StepAccount {
            mass: entries[0],
            gravity: Impulse { linear: vector(1), angular: vector(4) },
            boundary: Impulse { linear: vector(7), angular: vector(10) },
            work: entries[13],
            max_speed: f64::from(f32::from_bits(status[MPM_STATUS_SPEED as usize])).sqrt(),
            extra_sorts,
        })
    }
}

/// A material's parameters in f32, as `pliant_mpm::constitutive` derives them.
pub fn device_material(material: &Material) -> MpmMaterial {
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
    };
    MpmMaterial { model, mu: mu as f32, lambda: lambda as f32, yield_strain: yield_strain as f32 }
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
