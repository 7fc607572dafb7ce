//! Cloth on the device: tables of the sheets' meshes, and the launches of a substep.

use nalgebra::Vector3;
use pliant_mpm::Mpm;
use pliant_mpm::cloth::{ClothMaterial, Hinge, Pin, Sheet, Stability, stability};

use super::capacity::bytes;
use super::sort::{ClothPlaces, DeviceGrid};
use crate::kernels::{
    CLOTH_MESH_STEPS, CLOTH_NO_PIN, CLOTH_PIN_ROW, CLOTH_PIN_SUMS, CLOTH_PIN_THREADS, CLOTH_REACH,
    CLOTH_THREADS, ClothAdvanceParameters, ClothEnergyParameters, ClothFace, ClothHinge,
    ClothHoldGridParameters, ClothMeshSteps, ClothPins, ClothSheet, ClothTables, ClothTarget,
    GRID_BARRIER_WORDS, Kernel, MPM_TOTAL_THREADS, MPM_TOTAL_TILE, MpmSettings, ParticleRows,
};
use crate::layout::Span;
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
    sheets: Buffer<ClothSheet>,
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
    pub(super) substep: u32,
    /// Number of materials that are not cloth.
    pub(super) cloth_from: u32,
}

/// What a substep keeps of vertices and faces between its phases.
#[derive(Debug)]
struct Motion {
    corners: Buffer<[i32; 3]>,
    locals: Buffer<[f32; 4]>,
    velocities: Buffer<[f32; 4]>,
    ways: Buffer<[f32; 4]>,
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
    targets: Buffer<ClothTarget>,
    rows: Buffer<f64>,
    of_grid: Buffer<f64>,
    reach: Buffer<u32>,
    weights: Buffer<f64>,
    /// `targets` on the host.
    staged: Vec<ClothTarget>,
}

/// How many there are of all that sheets have.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sheets: usize,
    vertices: usize,
    faces: usize,
    hinges: usize,
    pins: usize,
}

impl Counts {
    fn of(mpm: &Mpm) -> Self {
        let mut counts = Self { sheets: mpm.sheets().len(), ..Self::default() };
        for sheet in mpm.sheets() {
            counts.vertices += sheet.mesh.vertices().len();
            counts.faces += sheet.mesh.faces().len();
            if bends(sheet) {
                counts.hinges += sheet.mesh.edges().iter().filter(|edge| edge.other.is_some()).count();
            }
            counts.pins += sheet.pins.len();
        }
        counts
    }

    fn elements(&self) -> usize {
        self.vertices + self.faces
    }

    /// Corners of faces and hinges.
    fn corners(&self) -> usize {
        3 * self.faces + 4 * self.hinges
    }

    /// Vertices with a pin or without, where there are pins.
    fn pinnable(&self) -> usize {
        if self.pins > 0 { self.vertices } else { 0 }
    }
}

fn bends(sheet: &Sheet) -> bool {
    sheet.material.bending_stiffness > 0.0
}

/// The meshes of all sheets, as the kernels take them.
#[derive(Debug, Default)]
struct Tables {
    elements: Vec<u32>,
    inverse_masses: Vec<f32>,
    sheets_of_vertices: Vec<u32>,
    faces: Vec<ClothFace>,
    hinges: Vec<ClothHinge>,
    sheets: Vec<ClothSheet>,
    pins: Vec<Pin>,
    pin_vertices: Vec<u32>,
}

impl Tables {
    fn new(mpm: &Mpm) -> Self {
        let mut tables = Self::default();
        let vertices = Counts::of(mpm).vertices as u32;
        for sheet in mpm.sheets() {
            tables.add(sheet, mpm.grid_spacing(), vertices);
        }
        tables
    }

    /// Adds a sheet; faces are numbered after all `vertices`.
    fn add(&mut self, sheet: &Sheet, grid_spacing: f64, vertices: u32) {
        let (first, first_face) = (self.inverse_masses.len() as u32, self.faces.len() as u32);
        let moved = |vertex: usize| first + vertex as u32;
        let (of_vertices, _) = sheet.volumes();
        let count = of_vertices.len() as u32;
        self.elements.extend(first..first + count);
        let density = sheet.material.density;
        self.inverse_masses.extend(of_vertices.iter().map(|volume| (1.0 / (volume * density)) as f32));
        let index = self.sheets.len() as u32;
        self.sheets_of_vertices.extend(of_vertices.iter().map(|_| index));
        let face = |(number, corners): (usize, &[usize; 3])| {
            let rest = sheet.rest_face(number);
            let per_cell = rest.inverse_edges * grid_spacing;
            ClothFace {
                corners: corners.map(moved),
                sheet: index,
                inverse_edges: [per_cell.m11, per_cell.m12, per_cell.m22].map(|x| x as f32),
                volume: rest.volume as f32,
                mass: (0.25 * rest.volume * density) as f32,
                unused: [0; 3],
            }
        };
        self.faces.extend(sheet.mesh.faces().iter().enumerate().map(face));
        self.elements.extend((first_face..self.faces.len() as u32).map(|face| vertices + face));
        if bends(sheet) {
            let hinges = Hinge::all(&sheet.mesh, sheet.material.bending_stiffness);
            self.hinges.extend(hinges.into_iter().map(|hinge| ClothHinge {
                vertices: hinge.vertices.map(moved),
                rest_angle: hinge.rest_angle,
                stiffness: hinge.stiffness,
            }));
        }
        self.sheets.push(device_sheet(&sheet.material));
        self.pin_vertices.extend(sheet.pins.iter().map(|pin| moved(pin.vertex())));
        self.pins.extend(sheet.pins.iter().cloned());
    }

    /// For each vertex where its list of corners begins, and the lists: of faces, then of hinges,
    /// each in rising order.
    fn around(&self) -> (Vec<u32>, Vec<u32>) {
        let of_faces = self.faces.iter().flat_map(|face| face.corners);
        let of_hinges = self.hinges.iter().flat_map(|hinge| hinge.vertices);
        let mut corners: Vec<_> = of_faces.chain(of_hinges).zip(0_u32..).collect();
        corners.sort_unstable();
        let first = |vertex: u32| corners.partition_point(|(v, _)| *v < vertex) as u32;
        let firsts = (0..=self.inverse_masses.len() as u32).map(first).collect();
        (firsts, corners.into_iter().map(|(_, corner)| corner).collect())
    }

    /// Index of each element's particle in the model's order.
    fn places(&self, mpm: &Mpm) -> Vec<u32> {
        let first = mpm.len() - self.elements.len();
        let mut places = vec![0; self.elements.len()];
        let ids = (0..mpm.block_count()).flat_map(|b| {
            let view = mpm.block(b);
            (0..view.len()).map(move |i| view.id(i) as usize)
        });
        for (at, id) in (0..).zip(ids) {
            if let Some(number) = id.checked_sub(first) {
                places[self.elements[number] as usize] = at;
            }
        }
        places
    }
}

/// What a sheet is made of, in f32.
fn device_sheet(material: &ClothMaterial) -> ClothSheet {
    ClothSheet {
        mu: material.elastic.shear_modulus() as f32,
        lambda: material.plane_lambda() as f32,
        normal_stiffness: material.normal_stiffness as f32,
        shear_stiffness: material.shear_stiffness as f32,
        friction: material.friction as f32,
        damping: material.damping as f32,
    }
}

impl Motion {
    fn new(device: &Device, counts: &Counts) -> Result<Self, DeviceError> {
        Ok(Self {
            corners: device.allocate(counts.vertices)?,
            locals: device.allocate(counts.vertices)?,
            velocities: device.allocate(counts.vertices)?,
            ways: device.allocate(counts.vertices)?,
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

    /// Uploads the steps for substeps of `delta` \[s\] under `gravity` \[m/s^2\], where they are
    /// not those of the step before.
    fn begin_step(&mut self, delta: f64, gravity: Vector3<f64>) -> Result<(), DeviceError> {
        if self.made_for == Some((delta, gravity)) {
            return Ok(());
        }
        let all: Vec<_> = self.stabilities.iter().map(|of_sheet| of_sheet.mesh_substeps(delta)).collect();
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
                kick: (length * stability::MOBILITY) as f32,
                fall: (gravity * length).map(|x| x as f32).into(),
                unused: 0,
                weights,
            }
        };
        self.steps.upload(&all.iter().map(of_sheet).collect::<Vec<_>>())?;
        self.made_for = Some((delta, gravity));
        Ok(())
    }
}

impl HeldVertices {
    fn new(device: &Device, counts: &Counts, tables: &Tables) -> Result<Self, DeviceError> {
        let mut of_vertices = vec![CLOTH_NO_PIN; counts.pinnable()];
        for (pin, vertex) in (0..).zip(&tables.pin_vertices) {
            of_vertices[*vertex as usize] = pin;
        }
        let (pins, reach) = (counts.pins, counts.pins * CLOTH_REACH as usize);
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
        let (pins, reach) = (counts.pins, counts.pins * CLOTH_REACH as usize);
        bytes::<u32>(pins + counts.pinnable() + reach)
            + bytes::<ClothTarget>(pins)
            + bytes::<f64>(pins * CLOTH_PIN_ROW as usize + CLOTH_PIN_SUMS as usize + reach)
    }

    /// Uploads where the pins are at the end of each substep; true where there was too little room.
    fn begin_step(&mut self, substeps: u32, time: f64, delta: f64) -> Result<bool, DeviceError> {
        self.staged.clear();
        for substep in 0..substeps {
            let start = time + f64::from(substep) * delta;
            self.staged.extend(self.pins.iter().map(|pin| ClothTarget {
                position: pin.position(start + delta).into(),
                holds: u32::from(pin.holds(start)),
                unused: 0,
            }));
        }
        let grew = self.targets.grow(self.staged.len())?;
        self.targets.upload(&self.staged)?;
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
        // A few blocks a multiprocessor keep it busy, and more of them make barriers slow.
        let resident =
            device.resident_blocks(Kernel::ClothAdvance, CLOTH_THREADS, 0)?.min(4 * device.multiprocessors());
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
            motion: Motion::new(device, &counts)?,
            pins: HeldVertices::new(device, &counts, &tables)?,
            blocks: wanted.min(resident).max(1),
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
            + bytes::<ClothSheet>(counts.sheets)
            + bytes::<ClothMeshSteps>(counts.sheets)
            + Motion::bytes_needed(&counts)
            + HeldVertices::bytes_needed(&counts)
    }

    /// Tiles of the totals that the energies of faces and hinges take.
    pub(super) fn energy_tiles(mpm: &Mpm) -> u32 {
        let counts = Counts::of(mpm);
        ((counts.faces + counts.hinges) as u32).div_ceil(MPM_TOTAL_TILE)
    }

    /// Uploads what meshes and pins do in a step of `substeps` of `delta` from `time` on \[s\]
    /// under `gravity` \[m/s^2\]; true where commands are to be recorded anew.
    pub(super) fn begin_step(
        &mut self,
        substeps: u32,
        time: f64,
        delta: f64,
        gravity: Vector3<f64>,
    ) -> Result<bool, DeviceError> {
        self.mesh.begin_step(delta, gravity)?;
        if self.pins.pins.is_empty() { Ok(false) } else { self.pins.begin_step(substeps, time, delta) }
    }

    /// Where a sort writes the particles' indices.
    pub(super) fn places(&self) -> ClothPlaces {
        ClothPlaces { elements: self.elements.span(), places: self.places.span() }
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
                substep: of.substep,
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
                ways: self.motion.ways.span(),
                mesh_velocities: self.motion.mesh_velocities.span(),
                biot: self.motion.biot.span(),
                face_velocities: self.motion.face_velocities.span(),
                impulses: self.motion.impulses.span(),
                forces: self.motion.forces.span(),
                barrier: self.motion.barrier.span(),
                status: of.status,
                substep: of.substep,
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
            &ClothEnergyParameters { particles, tables: self.tables(), tile_sums, grid_spacing },
        );
        tiles
    }
}
