//! Cloth on the fast path (the method and its sources: [`crate::cloth`]).
//!
//! Vertices and centroids are ordinary lanes of the tiles: they scatter and gather like all other particles, and G2P advances the
//! director with the velocity gradient as it does any deformation gradient. What only a sheet does is done here, between one
//! G2P and the next P2G, on arrays in the order of the mesh:
//!
//! 1. vertices and faces fetch from their lanes what G2P left there;
//! 2. pins put their vertices in place ([`pins`]);
//! 3. faces and their vertices agree on their velocities ([`tie`]);
//! 4. faces find their stress, with it the forces on their corners ([`stress`]), and hinges theirs ([`bending`]);
//! 5. lanes take what came of it: positions, velocities, directors, and the next substep's forces ([`scatter`]).
//!
//! Every loop is over independent elements and sums in a fixed order, so results do not depend on the number of threads.

mod bending;
mod energy;
mod pins;
mod scatter;
mod stress;
mod tie;

pub use pins::PinImpulse;
pub(crate) use scatter::Scatter;

use std::sync::Arc;

use rayon::prelude::*;

use crate::cloth::{ClothMaterial, Patch, RestFace, Sheet};
use crate::particle::ParticleState;
use crate::simd::{Detected, LANES, Row};
use crate::tiles::{BLOCK_CELLS, Store, deformation, kinematics};
use bending::Bending;
use pins::Pins;

/// Vertices that a thread takes at once, at least.
const VERTEX_GRAIN: usize = 128;

/// Groups of sixteen faces that a thread takes at once, at least.
const GROUP_GRAIN: usize = 8;

/// Rows of a deformation tile as cloth uses them.
pub(crate) mod lanes {
    use crate::tiles::deformation::GRADIENT;

    /// Force on a vertex [N]; zero for a centroid. Column 0 of where others have their deformation gradient.
    pub(crate) const FORCE: [usize; 3] = [GRADIENT, GRADIENT + 3, GRADIENT + 6];
    /// Axial vector of the skew part of a face's stress times volume [J]; zero for a vertex. Column 1.
    pub(crate) const MOMENT: [usize; 3] = [GRADIENT + 1, GRADIENT + 4, GRADIENT + 7];
    /// A face's director. Column 2.
    pub(crate) const DIRECTOR: [usize; 3] = [GRADIENT + 2, GRADIENT + 5, GRADIENT + 8];
}

/// Where a particle's lane is.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Tile x 16 + lane.
    lane: u32,
    block: u32,
}

/// A vertex in a substep.
#[derive(Clone, Copy, Debug, Default)]
struct Vertex {
    /// Its block's corner [cells].
    corner: [i32; 3],
    /// Position from there [cells].
    local: [f32; 3],
    /// [m/s]
    velocity: [f32; 3],
    /// 1 / mass; 0 where a pin holds it [1/kg].
    inverse_mass: f32,
}

/// Sixteen faces of one sheet at rest; lanes past the last repeat the first and have no volume.
#[derive(Clone, Debug)]
struct FaceGroup {
    /// Their centroids' places in [`Sheets::slots`].
    centroids: [u32; LANES],
    /// Their corners, as numbers of vertices.
    corners: [[u32; LANES]; 3],
    /// Inverse of the edges at rest: 11, 12, 22 [1/cell].
    inverse_edges: [Row; 3],
    /// Volume [m^3].
    volume: Row,
    /// Mass of the centroid [kg].
    mass: Row,
    sheet: u32,
    lanes: u32,
}

/// Sixteen faces in a substep.
#[derive(Clone, Debug)]
struct FaceState {
    /// Centroid's velocity [m/s].
    velocity: [Row; 3],
    /// Director (no unit).
    director: [Row; 3],
    /// A row a face: impulse in the tie (3) [N s].
    impulse: [[f32; 4]; LANES],
    /// A row a face: forces on its three corners (9) [N], then the axial vector of the stress's skew part (3) [J].
    forces: [Row; LANES],
    /// A row a face: centroid from its block's corner (3) [cells], velocity (3), director (3), stress times volume (6) [J], area over that at rest.
    centroid: [Row; LANES],
}

impl FaceState {
    const ZERO: Self = Self {
        velocity: [Row::ZERO; 3],
        director: [Row::ZERO; 3],
        impulse: [[0.0; 4]; LANES],
        forces: [Row::ZERO; LANES],
        centroid: [Row::ZERO; LANES],
    };
}

/// What a particle of cloth is.
#[derive(Clone, Copy, Debug)]
enum Member {
    Vertex(u32),
    /// Group x 16 + lane.
    Face(u32),
}

/// Lists of numbers, one after the other.
#[derive(Clone, Debug, Default)]
struct Lists {
    first: Vec<u32>,
    entries: Vec<u32>,
}

impl Lists {
    /// From pairs (list, entry), sorted.
    fn new(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut first = vec![0; count + 1];
        for (list, _) in pairs {
            first[*list as usize + 1] += 1;
        }
        for list in 0..count {
            first[list + 1] += first[list];
        }
        Self { first, entries: pairs.iter().map(|&(_, entry)| entry).collect() }
    }

    fn of(&self, list: usize) -> &[u32] {
        &self.entries[self.first[list] as usize..self.first[list + 1] as usize]
    }
}

/// All sheets of a model.
#[derive(Clone, Debug)]
pub(crate) struct Sheets {
    /// As they were given.
    pub sources: Arc<[Sheet]>,
    pub patches: Vec<Patch>,
    pub materials: Vec<ClothMaterial>,
    grid_spacing: f64,
    level: Detected,
    /// Id of the first particle of cloth; they are the last of all.
    first: usize,
    members: Vec<Member>,
    slots: Vec<Slot>,
    /// Of the vertices: their places in `slots`.
    places: Vec<u32>,
    /// 1 / mass [1/kg].
    inverse_masses: Vec<f32>,
    vertices: Vec<Vertex>,
    /// What the vertices' lanes take: position from the block's corner (3) [cells], velocity (3), force (3) [N], stress (6), area (1).
    rows: Vec<Row>,
    /// Of each vertex: its faces as face x 4 + corner.
    around: Lists,
    groups: Vec<FaceGroup>,
    states: Vec<FaceState>,
    bending: Bending,
    pins: Pins,
    /// Whether some sheet resists shear across it.
    shears: bool,
}

impl Sheets {
    /// Of sheets that are checked, in a grid of spacing `grid_spacing` [m], with ids from `first` on.
    pub(crate) fn new(sheets: &[Sheet], first: usize, grid_spacing: f64, level: Detected) -> Self {
        let mut all = Self {
            sources: sheets.into(),
            patches: Vec::new(),
            materials: sheets.iter().map(|sheet| sheet.material).collect(),
            grid_spacing,
            level,
            first,
            members: Vec::new(),
            slots: Vec::new(),
            places: Vec::new(),
            inverse_masses: Vec::new(),
            vertices: Vec::new(),
            rows: Vec::new(),
            around: Lists::default(),
            groups: Vec::new(),
            states: Vec::new(),
            bending: Bending::default(),
            pins: Pins::default(),
            shears: sheets.iter().any(|sheet| sheet.material.shear_stiffness > 0.0),
        };
        let mut around = Vec::new();
        for (index, sheet) in sheets.iter().enumerate() {
            let first_vertex = all.vertices.len() as u32;
            all.pins.add(sheet, first_vertex);
            all.bending.add(sheet, first_vertex);
            all.add_vertices(sheet);
            all.add_faces(index, sheet, first_vertex, &mut around);
        }
        around.sort_unstable();
        all.around = Lists::new(all.vertices.len(), &around);
        all.bending.finish(all.vertices.len());
        all.rows = vec![Row::ZERO; all.vertices.len()];
        all.slots = vec![Slot::default(); all.members.len()];
        all.states = vec![FaceState::ZERO; all.groups.len()];
        all
    }

    fn add_vertices(&mut self, sheet: &Sheet) {
        for volume in sheet.volumes().0 {
            self.members.push(Member::Vertex(self.vertices.len() as u32));
            self.places.push(self.members.len() as u32 - 1);
            let mass = volume * sheet.material.density;
            self.inverse_masses.push((1.0 / mass) as f32);
            self.vertices.push(Vertex::default());
        }
    }

    fn add_faces(&mut self, index: usize, sheet: &Sheet, first_vertex: u32, around: &mut Vec<(u32, u32)>) {
        let id = (self.first + self.members.len()) as u32;
        let vertices = id as usize - sheet.mesh.vertices().len()..id as usize;
        let centroids = id as usize..id as usize + sheet.mesh.faces().len();
        let faces = sheet.mesh.faces().iter().map(|f| f.map(|v| (vertices.start + v) as u32)).collect();
        self.patches.push(Patch { vertices, centroids, faces });
        for (chunk, faces) in sheet.mesh.faces().chunks(LANES).enumerate() {
            let mut group = FaceGroup {
                centroids: [self.members.len() as u32; LANES],
                corners: faces[0].map(|v| [first_vertex + v as u32; LANES]),
                inverse_edges: [Row::ZERO; 3],
                volume: Row::ZERO,
                mass: Row::ZERO,
                sheet: index as u32,
                lanes: faces.len() as u32,
            };
            for (l, corners) in faces.iter().enumerate() {
                let number = (self.groups.len() * LANES + l) as u32;
                group.centroids[l] = self.members.len() as u32;
                self.members.push(Member::Face(number));
                for (k, &corner) in corners.iter().enumerate() {
                    group.corners[k][l] = first_vertex + corner as u32;
                    around.push((group.corners[k][l], number * 4 + k as u32));
                }
                let RestFace { inverse_edges, volume, .. } = sheet.rest_face(chunk * LANES + l);
                let per_cell = inverse_edges * self.grid_spacing;
                for (row, value) in
                    group.inverse_edges.iter_mut().zip([per_cell.m11, per_cell.m12, per_cell.m22])
                {
                    row.0[l] = value as f32;
                }
                group.volume.0[l] = volume as f32;
                group.mass.0[l] = (0.25 * volume * sheet.material.density) as f32;
            }
            for row in &mut group.inverse_edges {
                let first = row.0[0];
                row.0[faces.len()..].fill(first);
            }
            self.groups.push(group);
        }
    }

    /// Id of the first particle of cloth.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// The sheet of a particle of cloth.
    pub(crate) fn sheet_of(&self, id: usize) -> Option<usize> {
        self.patches.iter().position(|patch| (patch.vertices.start..patch.centroids.end).contains(&id))
    }

    /// The particles of the sheets as they start; materials count on from `materials`.
    pub(crate) fn particles(sheets: &[Sheet], materials: usize) -> Vec<ParticleState> {
        let mut particles = Vec::new();
        for (index, sheet) in sheets.iter().enumerate() {
            let (of_vertices, of_faces) = sheet.volumes();
            let at = |x: nalgebra::Vector3<f64>, volume| ParticleState {
                deformation_gradient: nalgebra::Matrix3::zeros(),
                ..ParticleState::new(x.into(), sheet.velocity, volume, materials + index)
            };
            particles.extend(sheet.mesh.vertices().iter().zip(of_vertices).map(|(&x, volume)| at(x, volume)));
            particles.extend(of_faces.into_iter().enumerate().map(|(face, volume)| {
                let rest = sheet.rest_face(face);
                let mut particle = at(rest.centroid, volume);
                particle.deformation_gradient.set_column(2, &rest.normal);
                particle
            }));
        }
        particles
    }

    /// Finds the lanes of all particles of cloth, after they were put in a new order.
    pub(crate) fn locate(&mut self, store: &Store) {
        for (b, block) in store.blocks.iter().enumerate() {
            for (t, tile) in store.kinematics[block.range()].iter().enumerate() {
                for l in 0..block.lanes(t) {
                    let id = tile[kinematics::ID].0[l].to_bits() as usize;
                    if let Some(place) = id.checked_sub(self.first) {
                        let lane = (block.first_tile as usize + t) * LANES + l;
                        self.slots[place] = Slot { lane: lane as u32, block: b as u32 };
                    }
                }
            }
        }
    }

    /// Fetches vertices and faces from their lanes.
    pub(crate) fn fetch(&mut self, store: &Store) {
        let slots = &self.slots;
        let vertices = self.vertices.par_iter_mut().zip(&self.places).zip(&self.inverse_masses);
        vertices.with_min_len(VERTEX_GRAIN).for_each(|((vertex, &place), &inverse_mass)| {
            let Slot { lane, block } = slots[place as usize];
            let (tile, l) = (&store.kinematics[lane as usize / LANES], lane as usize % LANES);
            *vertex = Vertex {
                corner: corner(store, block),
                local: core::array::from_fn(|d| tile[kinematics::POSITION + d].0[l]),
                velocity: core::array::from_fn(|d| tile[kinematics::VELOCITY + d].0[l]),
                inverse_mass,
            };
        });
        let faces = self.states.par_iter_mut().zip(&self.groups).with_min_len(GROUP_GRAIN);
        faces.for_each(|(state, group)| {
            for l in 0..LANES {
                let lane = slots[group.centroids[l] as usize].lane as usize;
                let (motion, strain) = (&store.kinematics[lane / LANES], &store.deformation[lane / LANES]);
                for d in 0..3 {
                    state.velocity[d].0[l] = motion[kinematics::VELOCITY + d].0[lane % LANES];
                    state.director[d].0[l] = strain[lanes::DIRECTOR[d]].0[lane % LANES];
                }
            }
        });
    }

    /// All that a sheet does after G2P but for writing it to the lanes: `dt` is the substep [s].
    pub(crate) fn advance(&mut self, store: &Store, dt: f64) {
        self.fetch(store);
        let step = (dt / self.grid_spacing) as f32;
        self.pins.hold_vertices(&mut self.vertices, &self.inverse_masses, self.grid_spacing);
        self.tie(step);
        self.find_forces(store);
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        fn bytes<T>(v: &Vec<T>) -> usize {
            v.capacity() * size_of::<T>()
        }
        bytes(&self.members)
            + bytes(&self.slots)
            + bytes(&self.places)
            + bytes(&self.inverse_masses)
            + bytes(&self.vertices)
            + bytes(&self.rows)
            + bytes(&self.around.first)
            + bytes(&self.around.entries)
            + bytes(&self.groups)
            + bytes(&self.states)
            + self.bending.memory()
    }
}

/// A block's corner [cells].
fn corner(store: &Store, block: u32) -> [i32; 3] {
    store.blocks[block as usize].key.map(|k| k.wrapping_mul(BLOCK_CELLS))
}

/// The way from one vertex's position to another's along axis `d` [cells]: exact but for one rounding.
#[inline(always)]
fn way(from: &Vertex, to: &Vertex, d: usize) -> f32 {
    (to.corner[d].wrapping_sub(from.corner[d])) as f32 + (to.local[d] - from.local[d])
}

/// Rows that P2G reads besides those of all particles.
#[inline(always)]
pub(crate) fn is_cloth(material_bits: f32, materials: usize) -> bool {
    material_bits.to_bits() as usize >= materials
}

const _: () = assert!(deformation::GRADIENT == 0);
