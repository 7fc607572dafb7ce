//! Cloth and ropes on the fast path (the methods and their sources: [`crate::cloth`], [`crate::rope`]).
//!
//! Vertices and centroids are ordinary lanes of the tiles: they scatter and gather like all other
//! particles, and G2P advances the director with the velocity gradient as it does any deformation
//! gradient. The parts that only sheets have are computed here, between one G2P and the next P2G,
//! on arrays in the order of the mesh:
//!
//! 1. vertices and faces read their lanes after G2P; 2. pins set their vertices' positions
//!    ([`pins`]);
//! 3. the vertex-face constraints are solved ([`solve_vertex_face_constraints`]);
//! 4. at the end of a step, layers that would pass through each other are kept apart ([`layers`]);
//! 5. strands of ropes are kept apart ([`strands`]);
//! 6. the stress of faces is computed, in a long substep as a mean over several steps of the mesh,
//!    and the forces on their corners ([`stress`]), faces tear ([`tearing`]), then those of hinges
//!    ([`bending`]) and of gas ([`gas`]); frames and forces of ropes, whose vertices follow those of the
//!    sheets ([`ropes`]);
//! 7. the results are written to the lanes: positions, velocities, directors, and the next
//!    substep's forces ([`scatter`]).
//!
//! Every loop is over independent elements and sums in a fixed order, so results do not depend on
//! the number of threads.

mod arrays;
mod bending;
mod bending_friction;
mod contact;
mod energy;
mod gas;
pub(crate) mod lanes;
mod layers;
mod pin_changes;
mod pins;
mod quad;
mod rope_positions;
mod ropes;
mod saved;
mod scatter;
mod strands;
mod stress;
mod stretch;
mod tearing;
mod tie;

pub use pins::PinImpulse;
pub(crate) use scatter::Scatter;

use std::sync::Arc;

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::blocks::{NodeBlock, Topology};
use crate::cloth::{ClothMaterial, RestFace, Sheet, SheetParticles, Stability};
use crate::particle::ParticleState;
use crate::rope::{Rope, RopeInternals};
use crate::tiles::kinematics::{POSITION, POSITION_LOW, VELOCITY};
use crate::tiles::{ParticleStore, kinematics};
use arrays::{
    CsrAdjacency, FaceGroup, FaceState, GROUP_GRAIN, LaneSlot, Member, MeshState, SheetSpan, VERTEX_GRAIN,
    Vertices, Warp, corner,
};
use bending::Bending;
use gas::Gases;
use layers::Layers;
use pins::{Grid, Pins};
use pliant_numeric::simd::{Detected, F32x16, LANES};
use quad::F32x4;
use ropes::Ropes;
use strands::Strands;

/// The warps of the groups of a (valid) sheet, if it is woven.
fn warps(sheet: &Sheet) -> Vec<Warp> {
    let faces = sheet.warps().ok().flatten().unwrap_or_default();
    let of = |faces: &[[f64; 2]]| {
        // Lanes past the last repeat the first.
        let lane = |k: usize| F32x16(core::array::from_fn(|l| faces.get(l).unwrap_or(&faces[0])[k] as f32));
        [lane(0), lane(1)]
    };
    faces.chunks(LANES).map(of).collect()
}

/// All sheets and ropes of a model.
#[derive(Clone, Debug)]
pub(crate) struct ClothMeshes {
    /// As they were given.
    pub sources: Arc<[Sheet]>,
    pub patches: Vec<SheetParticles>,
    pub materials: Vec<ClothMaterial>,
    pub ropes: Ropes,
    /// Of each sheet and then of each rope: fraction of the symmetric velocity gradient that a substep
    /// keeps.
    pub kept: Vec<f32>,
    grid_spacing: f64,
    level: Detected,
    /// Id of the first particle of cloth; they are the last of all.
    first: usize,
    spans: Vec<SheetSpan>,
    members: Vec<Member>,
    slots: Vec<LaneSlot>,
    /// Indices of the vertices in `slots`.
    places: Vec<u32>,
    /// 1 / mass \[1/kg\].
    inverse_masses: Vec<f32>,
    vertices: Vertices,
    mesh_state: MeshState,
    /// Rows for the vertices' lanes: position from the block's corner (3) \[cells\], velocity (3),
    /// force (3) \[N\], zero (3), what rounding left of the position (3) \[cells\], area (1).
    rows: Vec<F32x16>,
    /// Of each vertex: its faces as face x 4 + corner.
    adjacency: CsrAdjacency,
    groups: Vec<FaceGroup>,
    states: Vec<FaceState>,
    bending: Bending,
    gases: Gases,
    pins: Pins,
    layers: Layers,
    strands: Strands,
    /// Whether some sheet resists shear across it.
    has_shear_stiffness: bool,
    /// Whether some sheet can tear.
    can_tear: bool,
    /// Energy of bending that went in the last substep with the faces that have torn \[J\].
    lost_to_cuts: f64,
}

impl ClothMeshes {
    /// Meshes of checked sheets, and checked ropes, in a grid of spacing `grid_spacing` \[m\], with ids from
    /// `first` on.
    pub(crate) fn new(
        (sheets, ropes): (&[Sheet], &[Rope]),
        first: usize,
        grid_spacing: f64,
        level: Detected,
    ) -> Self {
        let damping = sheets.iter().map(|sheet| sheet.material.damping);
        let mut all = Self {
            sources: sheets.into(),
            patches: Vec::new(),
            materials: sheets.iter().map(|sheet| sheet.material).collect(),
            ropes: Ropes::default(),
            kept: damping.chain(ropes.iter().map(|rope| rope.material.damping)).map(|v| v as f32).collect(),
            spans: Vec::new(),
            grid_spacing,
            level,
            first,
            members: Vec::new(),
            slots: Vec::new(),
            places: Vec::new(),
            inverse_masses: Vec::new(),
            vertices: Vertices::default(),
            mesh_state: MeshState::default(),
            rows: Vec::new(),
            adjacency: CsrAdjacency::default(),
            groups: Vec::new(),
            states: Vec::new(),
            bending: Bending::default(),
            gases: Gases::default(),
            pins: Pins::default(),
            layers: Layers::new(Vec::new(), 0, grid_spacing),
            strands: Strands::new(&[], 0, grid_spacing),
            has_shear_stiffness: sheets.iter().any(|sheet| sheet.material.shear_stiffness > 0.0),
            can_tear: sheets.iter().any(|sheet| sheet.material.tearing.is_some()),
            lost_to_cuts: 0.0,
        };
        let mut adjacency = Vec::new();
        for sheet in sheets {
            let (first_vertex, first_group) = (all.places.len() as u32, all.groups.len());
            all.pins.add(&sheet.pins, first_vertex);
            all.bending.add(sheet, first_vertex, all.groups.len() * LANES);
            all.add_vertices(&sheet.volumes().0, sheet.material.density);
            all.add_faces(sheet, first_vertex, &mut adjacency);
            let (vertices, groups) = (first_vertex as usize..all.places.len(), first_group..all.groups.len());
            // Checked sheets hold their gas.
            if let Ok(Some(model)) = sheet.gas_model() {
                all.gases.add(model, vertices.clone(), groups.clone());
            }
            let (stability, warps) = (Stability::new(sheet, grid_spacing), warps(sheet));
            all.spans.push(SheetSpan { vertices, groups, stability, warps });
        }
        let of_sheets = all.places.len();
        all.ropes = Ropes::new(ropes, grid_spacing, of_sheets, first + all.members.len());
        for rope in ropes {
            all.pins.add(&rope.pins, all.places.len() as u32);
            all.add_vertices(&rope.volumes(), rope.material.density);
        }
        adjacency.sort_unstable();
        let vertices = all.places.len();
        all.adjacency = CsrAdjacency::new(vertices, &adjacency);
        all.bending.finish(vertices);
        all.gases.finish(vertices, all.groups.len());
        all.vertices = Vertices {
            corners: vec![[0; 4]; vertices],
            locals: vec![F32x4::ZERO; vertices],
            lows: vec![F32x4::ZERO; vertices],
            velocities: vec![F32x4::ZERO; vertices],
        };
        all.mesh_state =
            MeshState { displacements: vec![F32x4::ZERO; vertices], velocities: vec![F32x4::ZERO; vertices] };
        all.rows = vec![F32x16::ZERO; vertices];
        all.slots = vec![LaneSlot::default(); all.members.len()];
        all.states = vec![FaceState::ZERO; all.groups.len()];
        all.layers = Layers::new(all.vertex_faces(), of_sheets, grid_spacing);
        all.strands = Strands::new(ropes, of_sheets, grid_spacing);
        if all.can_tear {
            // Takes the memory that steps need.
            all.leave_torn();
        }
        all
    }

    fn add_vertices(&mut self, volumes: &[f64], density: f64) {
        for volume in volumes {
            self.members.push(Member::Vertex(self.places.len() as u32));
            self.places.push(self.members.len() as u32 - 1);
            let mass = volume * density;
            self.inverse_masses.push((1.0 / mass) as f32);
        }
    }

    fn add_faces(&mut self, sheet: &Sheet, first_vertex: u32, adjacency: &mut Vec<(u32, u32)>) {
        let id = (self.first + self.members.len()) as u32;
        let vertices = id as usize - sheet.mesh.vertices().len()..id as usize;
        let centroids = id as usize..id as usize + sheet.mesh.faces().len();
        let faces = sheet.mesh.faces().iter().map(|f| f.map(|v| (vertices.start + v) as u32)).collect();
        let at = |vertex: usize| sheet.mesh.vertices()[vertex];
        let lengths =
            |[a, b, c]: [usize; 3]| [[a, b], [b, c], [c, a]].map(|[from, to]| (at(to) - at(from)).norm());
        let rest_edges = sheet.mesh.faces().iter().map(|face| lengths(*face)).collect();
        self.patches.push(SheetParticles { vertices, centroids, faces, rest_edges });
        for (chunk, faces) in sheet.mesh.faces().chunks(LANES).enumerate() {
            let mut group = FaceGroup {
                centroids: [self.members.len() as u32; LANES],
                corners: faces[0].map(|v| [first_vertex + v as u32; LANES]),
                inverse_edges: [F32x16::ZERO; 3],
                volume: F32x16::ZERO,
                mass: F32x16::ZERO,
                lanes: faces.len() as u32,
            };
            for (l, corners) in faces.iter().enumerate() {
                let number = (self.groups.len() * LANES + l) as u32;
                group.centroids[l] = self.members.len() as u32;
                self.members.push(Member::Face(number));
                for (k, &corner) in corners.iter().enumerate() {
                    group.corners[k][l] = first_vertex + corner as u32;
                    adjacency.push((group.corners[k][l], number * 4 + k as u32));
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

    /// The faces, by the numbers of their vertices.
    fn vertex_faces(&self) -> Vec<[u32; 3]> {
        let of = |group: &FaceGroup| {
            let corners = group.corners;
            (0..group.lanes as usize).map(move |l| corners.map(|corner| corner[l]))
        };
        self.groups.iter().flat_map(of).collect()
    }

    /// Id of the first particle of cloth.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// The sheet of a particle, or the rope, which are numbered after the sheets.
    pub(crate) fn sheet_of(&self, id: usize) -> Option<usize> {
        let patch = |patch: &SheetParticles| (patch.vertices.start..patch.centroids.end).contains(&id);
        let rope = || Some(self.patches.len() + self.ropes.rope_of(id)?);
        self.patches.iter().position(patch).or_else(rope)
    }

    /// The particles of the sheets and of the ropes at the start; their materials are numbered from
    /// `materials`.
    pub(crate) fn particles(sheets: &[Sheet], ropes: &[Rope], materials: usize) -> Vec<ParticleState> {
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
        for (index, rope) in ropes.iter().enumerate() {
            let material = materials + sheets.len() + index;
            let vertices = rope.vertices.iter().zip(rope.volumes());
            particles.extend(vertices.map(|(&x, volume)| ParticleState {
                deformation_gradient: nalgebra::Matrix3::zeros(),
                ..ParticleState::new(x.into(), rope.velocity, volume, material)
            }));
        }
        particles
    }

    /// Finds the lanes of all particles of cloth, after a sort.
    pub(crate) fn locate(&mut self, store: &ParticleStore) {
        for (b, block) in store.blocks.iter().enumerate() {
            for (t, tile) in store.kinematics[block.range()].iter().enumerate() {
                for l in 0..block.lanes(t) {
                    let id = tile[kinematics::ID].0[l].to_bits() as usize;
                    if let Some(place) = id.checked_sub(self.first) {
                        let lane = (block.first_tile as usize + t) * LANES + l;
                        self.slots[place] = LaneSlot { lane: lane as u32, block: b as u32 };
                    }
                }
            }
        }
    }

    /// Block and index within it of the vertices of the face whose centroid is particle `id`; none if
    /// it is no centroid, or of a face that has torn.
    pub(crate) fn corners_of(&self, store: &ParticleStore, id: u32) -> Option<[(usize, usize); 3]> {
        let member = (id as usize).checked_sub(self.first)?;
        let Member::Face(face) = *self.members.get(member)? else { return None };
        let (group, l) = (&self.groups[face as usize / LANES], face as usize % LANES);
        if self.states[face as usize / LANES].is_torn(l) {
            return None;
        }
        Some(group.corners.map(|corners| {
            let LaneSlot { lane, block } = self.slots[self.places[corners[l] as usize] as usize];
            let first = store.blocks[block as usize].first_tile as usize * LANES;
            (block as usize, lane as usize - first)
        }))
    }

    /// Fetches vertices and faces from their lanes.
    pub(crate) fn fetch(&mut self, store: &ParticleStore) {
        let slots = &self.slots;
        let Vertices { corners, locals, lows, velocities } = &mut self.vertices;
        let MeshState { displacements, velocities: mesh_velocities } = &mut self.mesh_state;
        let vertices = (
            corners,
            (locals, lows),
            velocities,
            displacements,
            mesh_velocities,
            &self.places,
            &self.inverse_masses,
        );
        vertices.into_par_iter().with_min_len(VERTEX_GRAIN).for_each(
            |(at, (local, low), velocity, displacement, mesh_velocity, &place, &inverse_mass)| {
                let LaneSlot { lane, block } = slots[place as usize];
                let (tile, l) = (&store.kinematics[lane as usize / LANES], lane as usize % LANES);
                let of = |row: usize| tile[row].0[l];
                let [x, y, z] = corner(store, block);
                *at = [x, y, z, 0];
                let three = |row: usize| F32x4([of(row), of(row + 1), of(row + 2), 0.0]);
                (*local, *low) = (three(POSITION), three(POSITION_LOW));
                *velocity = F32x4([of(VELOCITY), of(VELOCITY + 1), of(VELOCITY + 2), inverse_mass]);
                (*displacement, *mesh_velocity) = (F32x4::ZERO, F32x4::ZERO);
            },
        );
        let faces = self.states.par_iter_mut().zip(&self.groups).with_min_len(GROUP_GRAIN);
        faces.for_each(|(state, group)| {
            state.free = state.torn;
            for l in 0..LANES {
                let lane = slots[group.centroids[l] as usize].lane as usize;
                let (tile, strain) = (&store.kinematics[lane / LANES], &store.deformation[lane / LANES]);
                let of = |row: usize| tile[row].0[lane % LANES];
                state.velocities[l] = F32x4([of(VELOCITY), of(VELOCITY + 1), of(VELOCITY + 2), 0.0]);
                for d in 0..3 {
                    state.director[d].0[l] = strain[lanes::DIRECTOR[d]].0[lane % LANES];
                }
            }
        });
    }

    /// The step of the sheets after G2P, except for writing the lanes, over `substep` \[s\], in which
    /// torques act for a time of `kick` \[s\], under `gravity` \[m/s^2\]; `origins` are those of the grid at
    /// its start and its end \[m\].
    pub(crate) fn advance(
        &mut self,
        store: &ParticleStore,
        [before, origin]: [Vector3<f64>; 2],
        [kick, substep]: [f64; 2],
        gravity: Vector3<f64>,
    ) {
        self.strands.begin(&self.ropes.positions, (before, self.grid_spacing));
        self.fetch(store);
        let step = substep / self.grid_spacing;
        self.ropes.positions.follow(&self.vertices, (origin - before) / self.grid_spacing, step);
        self.pins.apply_pins_to_vertices(
            &mut self.vertices,
            &self.inverse_masses,
            (origin, self.grid_spacing),
        );
        self.pins.hold_positions(&mut self.ropes.positions, (origin, self.grid_spacing));
        self.solve_vertex_face_constraints(step as f32);
        let grid = (origin, self.grid_spacing);
        self.layers.keep_apart(&mut self.vertices, &mut self.pins.applied, grid);
        let contact = (&mut self.ropes.positions, &mut self.vertices);
        self.strands.keep_apart(contact, &mut self.pins.applied, substep, grid);
        self.ropes.advance(&mut self.vertices, &mut self.pins.applied, [kick, substep], grid);
        self.find_forces(store, substep, gravity);
    }

    /// Makes the grid move with the pins' vertices in the substep of `substep` from `time` \[s\]
    /// on.
    pub(crate) fn apply_pins_to_grid(
        &mut self,
        store: &ParticleStore,
        topology: &Topology,
        nodes: &mut [NodeBlock],
        origin: Vector3<f64>,
        (time, substep): (f64, f64),
    ) {
        self.ropes.begin(time, substep);
        let (slots, places) = (&self.slots, &self.places);
        let grid = Grid { topology, nodes, origin, spacing: self.grid_spacing };
        self.pins.begin(|vertex| slots[places[vertex as usize] as usize], store, grid, time, substep);
        self.pins.apply_pins_to_grid(nodes, topology, (origin, self.grid_spacing));
    }

    /// Velocity at which a pin holds particle `id` in this substep; none for one that is not held \[m/s\].
    pub(crate) fn held_velocity(&self, id: u32) -> Option<Vector3<f64>> {
        match self.members.get((id as usize).checked_sub(self.first)?)? {
            Member::Vertex(vertex) => self.pins.held_velocity(*vertex as usize),
            Member::Face(_) => None,
        }
    }

    /// Impulse of the pins in the last substep.
    pub(crate) fn pin_impulse(&self) -> PinImpulse {
        self.pins.applied
    }

    /// Largest stable substep for particles that move at up to `max_speed` \[m/s\] \[s\].
    pub(crate) fn largest_substep(&self, max_speed: f64) -> f64 {
        let of_sheets = (0..self.spans.len()).map(|sheet| self.stability(sheet).largest_substep(max_speed));
        of_sheets.fold(self.gases.largest_substep(), f64::min).min(self.ropes.largest_substep(max_speed))
    }

    /// Largest stable substep of sheets and ropes at rest, gas at its present volume \[s\].
    pub(crate) fn largest_substep_at_rest(&self) -> f64 {
        let of_sheets = self.spans.iter().map(|span| span.stability.largest_substep(0.0));
        let of_ropes = self.ropes.largest_substep_at_rest();
        of_sheets.fold(self.gases.largest_substep(), f64::min).min(of_ropes)
    }

    /// What is inside a rope.
    pub(crate) fn rope_internals(&self, rope: usize) -> Option<RopeInternals> {
        self.ropes.internals(rope)
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
            + bytes(&self.vertices.corners)
            + bytes(&self.vertices.locals)
            + bytes(&self.vertices.lows)
            + bytes(&self.vertices.velocities)
            + bytes(&self.mesh_state.displacements)
            + bytes(&self.mesh_state.velocities)
            + bytes(&self.rows)
            + bytes(&self.adjacency.first)
            + bytes(&self.adjacency.entries)
            + bytes(&self.groups)
            + bytes(&self.states)
            + self.spans.iter().map(|span| bytes(&span.warps)).sum::<usize>()
            + self.bending.memory()
            + self.gases.memory()
            + self.ropes.memory()
            + self.layers.memory()
            + self.strands.memory()
    }
}
