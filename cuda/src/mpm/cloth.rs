//! Cloth on the device: tables of the sheets' meshes, and the launches of a substep.

mod tables;

use nalgebra::Vector3;
use pliant_mpm::Mpm;
use pliant_mpm::cloth::{Pin, Stability, stability};

use tables::{Counts, Tables};

use super::capacity::bytes;
use super::sort::{ClothPlaces, DeviceGrid};
use crate::kernels::{
    CLOTH_MESH_STEPS, CLOTH_NO_PIN, CLOTH_PIN_ROW, CLOTH_PIN_SUMS, CLOTH_PIN_THREADS, CLOTH_THREADS,
    ClothAdvanceParameters, ClothEnergyParameters, ClothFace, ClothFaces, ClothHinge,
    ClothHoldGridParameters, ClothMeshSteps, ClothPins, ClothSheetMaterial, ClothTables, GRID_BARRIER_WORDS,
    Kernel, MPM_TOTAL_THREADS, MPM_TOTAL_TILE, MpmSettings, ParticleRows, PinTarget, STENCIL_NODES,
};
use crate::layout::Span;
use crate::staging::Staging;
use crate::{Buffer, Commands, Device, DeviceError, Launch};

/// The sheets of a model on a device: their meshes, and what a substep leaves of them besides their
/// particles, which are among the others.
#[derive(Debug)]
pub(super) struct DeviceCloth {
    /// Number among the elements of each particle of cloth, in the order of their ids.
    elements: Buffer<u32>,
    /// Index of each element's particle.
    places: Buffer<u32>,
    inverse_masses: Buffer<f32>,
    sheets_of_vertices: Buffer<u32>,
    around_first: Buffer<u32>,
    around: Buffer<u32>,
    faces: Buffer<ClothFace>,
    hinges: Buffer<ClothHinge>,
    sheets: Buffer<ClothSheetMaterial>,
    mesh: MeshSteps,
    motion: Motion,
    pins: HeldVertices,
    /// Of a cooperative launch.
    blocks: u32,
}

/// What the launches of a substep are given of the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClothSubstep<'a> {
    pub(super) particles: ParticleRows,
    pub(super) grid: &'a DeviceGrid,
    pub(super) settings: Span<MpmSettings>,
    /// Sums of what the pins did.
    pub(super) pin_sums: Span<f64>,
    pub(super) status: Span<u32>,
    pub(super) substep_index: u32,
    /// Number of materials that are not cloth.
    pub(super) cloth_from: u32,
}

/// What a substep keeps of vertices and faces between its phases.
#[derive(Debug)]
struct Motion {
    corners: Buffer<[i32; 3]>,
    locals: Buffer<[f32; 4]>,
    velocities: Buffer<[f32; 4]>,
    displacements: Buffer<[f32; 4]>,
    mesh_velocities: Buffer<[f32; 4]>,
    face_velocities: Buffer<[f32; 4]>,
    impulses: Buffer<[f32; 4]>,
    biot: Buffer<[f32; 4]>,
    forces: Buffer<[f32; 4]>,
    barrier: Buffer<u32>,
}

/// The steps that meshes take by themselves within a substep.
#[derive(Debug)]
struct MeshSteps {
    /// Of each sheet.
    stabilities: Vec<Stability>,
    grid_spacing: f64,
    steps: Buffer<ClothMeshSteps>,
    /// Length of the substeps \[s\] and gravity \[m/s^2\] that `steps` are for; none yet before the
    /// first step.
    made_for: Option<(f64, Vector3<f64>)>,
}

/// The pins of all sheets.
#[derive(Debug)]
struct HeldVertices {
    pins: Vec<Pin>,
    vertices: Buffer<u32>,
    of_vertices: Buffer<u32>,
    /// All pins in each substep of a step.
    targets: Buffer<PinTarget>,
    rows: Buffer<f64>,
    of_grid: Buffer<f64>,
    reach: Buffer<u32>,
    weights: Buffer<f64>,
    /// `targets` on the host.
    staged: Vec<PinTarget>,
}

impl Motion {
    fn new(device: &Device, counts: &Counts, tables: &Tables) -> Result<Self, DeviceError> {
        Ok(Self {
            corners: device.allocate(counts.vertices)?,
            locals: device.allocate(counts.vertices)?,
            // Until the first substep sets them: at rest, no vertex held.
            velocities: device.upload(&tables.rest_velocities())?,
            displacements: device.allocate(counts.vertices)?,
            mesh_velocities: device.allocate(counts.vertices)?,
            face_velocities: device.allocate(counts.faces)?,
            impulses: device.allocate(counts.faces)?,
            biot: device.allocate(counts.faces)?,
            forces: device.allocate(counts.corners())?,
            barrier: device.upload(&[0; GRID_BARRIER_WORDS as usize])?,
        })
    }

    fn bytes_needed(counts: &Counts) -> u64 {
        bytes::<[i32; 3]>(counts.vertices)
            + bytes::<[f32; 4]>(4 * counts.vertices + 3 * counts.faces + counts.corners())
            + bytes::<u32>(GRID_BARRIER_WORDS as usize)
    }
}

impl MeshSteps {
    fn new(device: &Device, mpm: &Mpm) -> Result<Self, DeviceError> {
        let grid_spacing = mpm.grid_spacing();
        let stabilities: Vec<_> =
            mpm.sheets().iter().map(|sheet| Stability::new(sheet, grid_spacing)).collect();
        let steps = device.allocate(stabilities.len())?;
        Ok(Self { stabilities, grid_spacing, steps, made_for: None })
    }

    /// Stages the steps for substeps of `substep` \[s\] under `gravity` \[m/s^2\], where they are
    /// not those of the step before.
    fn begin_step(
        &mut self,
        staging: &mut Staging,
        substep: f64,
        gravity: Vector3<f64>,
    ) -> Result<(), DeviceError> {
        if self.made_for == Some((substep, gravity)) {
            return Ok(());
        }
        let all: Vec<_> = self.stabilities.iter().map(|of_sheet| of_sheet.mesh_substeps(substep)).collect();
        let most = all.iter().map(|(steps, _)| *steps as u32).fold(1, u32::max);
        let of_sheet = |&(steps, length): &(usize, f64)| {
            let mut weights = [0.0; CLOTH_MESH_STEPS as usize];
            for (step, weight) in weights.iter_mut().enumerate().take(steps) {
                *weight = stability::weight(step, steps) as f32;
            }
            ClothMeshSteps {
                steps: steps as u32,
                most,
                step: (length / self.grid_spacing) as f32,
                impulse_step: (length * stability::MOBILITY) as f32,
                gravity_velocity_step: (gravity * length).map(|x| x as f32).into(),
                unused: 0,
                weights,
            }
        };
        staging.upload(self.steps.span(), &all.iter().map(of_sheet).collect::<Vec<_>>())?;
        self.made_for = Some((substep, gravity));
        Ok(())
    }
}

impl HeldVertices {
    fn new(device: &Device, counts: &Counts, tables: &Tables) -> Result<Self, DeviceError> {
        let mut of_vertices = vec![CLOTH_NO_PIN; counts.pinnable()];
        for (pin, vertex) in (0..).zip(&tables.pin_vertices) {
            of_vertices[*vertex as usize] = pin;
        }
        let (pins, reach) = (counts.pins, counts.pins * STENCIL_NODES as usize);
        Ok(Self {
            pins: tables.pins.clone(),
            vertices: device.upload(&tables.pin_vertices)?,
            of_vertices: device.upload(&of_vertices)?,
            targets: device.allocate(pins)?,
            rows: device.allocate(pins * CLOTH_PIN_ROW as usize)?,
            of_grid: device.allocate(CLOTH_PIN_SUMS as usize)?,
            reach: device.allocate(reach)?,
            weights: device.allocate(reach)?,
            staged: Vec::new(),
        })
    }

    /// With targets for one substep.
    fn bytes_needed(counts: &Counts) -> u64 {
        let (pins, reach) = (counts.pins, counts.pins * STENCIL_NODES as usize);
        bytes::<u32>(pins + counts.pinnable() + reach)
            + bytes::<PinTarget>(pins)
            + bytes::<f64>(pins * CLOTH_PIN_ROW as usize + CLOTH_PIN_SUMS as usize + reach)
    }

    /// Stages where the pins are at the end of each substep; true where there was too little room.
    fn begin_step(
        &mut self,
        staging: &mut Staging,
        substeps: u32,
        time: f64,
        substep: f64,
    ) -> Result<bool, DeviceError> {
        self.staged.clear();
        for substep_index in 0..substeps {
            let start = time + f64::from(substep_index) * substep;
            self.staged.extend(self.pins.iter().map(|pin| PinTarget {
                position: pin.position(start + substep).into(),
                holds: u32::from(pin.holds(start)),
                unused: 0,
            }));
        }
        let grew = self.targets.grow(self.staged.len())?;
        staging.upload(self.targets.span(), &self.staged)?;
        Ok(grew)
    }
}

impl DeviceCloth {
    /// The sheets of a model; none where it has none.
    ///
    /// # Errors
    /// As [`Device::allocate`].
    pub(super) fn new(device: &Device, mpm: &Mpm) -> Result<Option<Self>, DeviceError> {
        let counts = Counts::of(mpm);
        if counts.sheets == 0 {
            return Ok(None);
        }
        let tables = Tables::new(mpm);
        let (around_first, around) = tables.around();
        let resident = device.cooperative_blocks(&[Kernel::ClothAdvance], CLOTH_THREADS)?;
        let wanted = (counts.vertices.max(counts.faces) as u32).div_ceil(CLOTH_THREADS);
        Ok(Some(Self {
            elements: device.upload(&tables.elements)?,
            places: device.upload(&tables.places(mpm))?,
            inverse_masses: device.upload(&tables.inverse_masses)?,
            sheets_of_vertices: device.upload(&tables.sheets_of_vertices)?,
            around_first: device.upload(&around_first)?,
            around: device.upload(&around)?,
            faces: device.upload(&tables.faces)?,
            hinges: device.upload(&tables.hinges)?,
            sheets: device.upload(&tables.sheets)?,
            mesh: MeshSteps::new(device, mpm)?,
            motion: Motion::new(device, &counts, &tables)?,
            pins: HeldVertices::new(device, &counts, &tables)?,
            blocks: resident.min(wanted.max(1)),
        }))
    }

    /// What [`DeviceCloth::new`] allocates, in bytes.
    pub(super) fn bytes_needed(mpm: &Mpm) -> u64 {
        let counts = Counts::of(mpm);
        if counts.sheets == 0 {
            return 0;
        }
        bytes::<u32>(2 * counts.elements() + 2 * counts.vertices + 1 + counts.corners())
            + bytes::<f32>(counts.vertices)
            + bytes::<ClothFace>(counts.faces)
            + bytes::<ClothHinge>(counts.hinges)
            + bytes::<ClothSheetMaterial>(counts.sheets)
            + bytes::<ClothMeshSteps>(counts.sheets)
            + Motion::bytes_needed(&counts)
            + HeldVertices::bytes_needed(&counts)
    }

    /// Tiles of the totals that the energies of faces and hinges take.
    pub(super) fn energy_tiles(mpm: &Mpm) -> u32 {
        let counts = Counts::of(mpm);
        ((counts.faces + counts.hinges) as u32).div_ceil(MPM_TOTAL_TILE)
    }

    /// Stages what meshes and pins do in a step of `substeps` of `substep` from `time` on \[s\]
    /// under `gravity` \[m/s^2\]; true where commands are to be recorded anew.
    pub(super) fn begin_step(
        &mut self,
        staging: &mut Staging,
        substeps: u32,
        time: f64,
        substep: f64,
        gravity: Vector3<f64>,
    ) -> Result<bool, DeviceError> {
        self.mesh.begin_step(staging, substep, gravity)?;
        if self.pins.pins.is_empty() {
            Ok(false)
        } else {
            self.pins.begin_step(staging, substeps, time, substep)
        }
    }

    /// Where a sort writes the particles' indices.
    pub(super) fn places(&self) -> ClothPlaces {
        ClothPlaces { elements: self.elements.span(), places: self.places.span() }
    }

    /// What contact needs of the meshes.
    pub(super) fn faces(&self) -> ClothFaces {
        ClothFaces { elements: self.elements.span(), places: self.places.span(), faces: self.faces.span() }
    }

    fn tables(&self) -> ClothTables {
        ClothTables {
            places: self.places.span(),
            inverse_masses: self.inverse_masses.span(),
            sheets_of_vertices: self.sheets_of_vertices.span(),
            around_first: self.around_first.span(),
            around: self.around.span(),
            faces: self.faces.span(),
            hinges: self.hinges.span(),
            sheets: self.sheets.span(),
        }
    }

    fn held(&self, pin_sums: Span<f64>) -> ClothPins {
        ClothPins {
            vertices: self.pins.vertices.span(),
            of_vertices: self.pins.of_vertices.span(),
            targets: self.pins.targets.span(),
            rows: self.pins.rows.span(),
            of_grid: self.pins.of_grid.span(),
            total: pin_sums,
        }
    }

    /// Appends what lets pins act on the grid after the free motion of a substep.
    pub(super) fn issue_pins(&self, commands: &mut Commands, of: ClothSubstep<'_>) {
        if self.pins.pins.is_empty() {
            return;
        }
        commands.launch(
            Launch::new(1, CLOTH_PIN_THREADS),
            &ClothHoldGridParameters {
                particles: of.particles,
                grid: of.grid.nodes(),
                settings: of.settings,
                tables: self.tables(),
                pins: self.held(of.pin_sums),
                reach: self.pins.reach.span(),
                weights: self.pins.weights.span(),
                nodes_of_particles: of.grid.nodes_of_particles(),
                status: of.status,
                substep_index: of.substep_index,
                unused: 0,
            },
        );
    }

    /// Appends what ends a substep of cloth after the transfer to the particles.
    pub(super) fn issue_advance(&self, commands: &mut Commands, of: ClothSubstep<'_>) {
        commands.launch(
            Launch::new(self.blocks, CLOTH_THREADS).cooperative(),
            &ClothAdvanceParameters {
                particles: of.particles,
                settings: of.settings,
                tables: self.tables(),
                pins: self.held(of.pin_sums),
                corners: self.motion.corners.span(),
                locals: self.motion.locals.span(),
                velocities: self.motion.velocities.span(),
                mesh: self.mesh.steps.span(),
                displacements: self.motion.displacements.span(),
                mesh_velocities: self.motion.mesh_velocities.span(),
                biot: self.motion.biot.span(),
                face_velocities: self.motion.face_velocities.span(),
                impulses: self.motion.impulses.span(),
                forces: self.motion.forces.span(),
                barrier: self.motion.barrier.span(),
                status: of.status,
                substep_index: of.substep_index,
                cloth_from: of.cloth_from,
            },
        );
    }

    /// Appends the sums of the energies of faces and hinges; returns how many tiles they are.
    pub(super) fn issue_energy(
        &self,
        commands: &mut Commands,
        particles: ParticleRows,
        tile_sums: Span<f64>,
        grid_spacing: f64,
    ) -> u32 {
        let tiles = self.faces.span().len() + self.hinges.span().len();
        let tiles = tiles.div_ceil(MPM_TOTAL_TILE);
        commands.launch(
            Launch::new(tiles, MPM_TOTAL_THREADS),
            &ClothEnergyParameters {
                particles,
                tables: self.tables(),
                velocities: self.motion.velocities.span(),
                tile_sums,
                grid_spacing,
            },
        );
        tiles
    }
}
