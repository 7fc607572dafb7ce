//! Edges of the faces and positions of their centroids; the steps of the mesh alone; then the stress
//! of the faces and the forces on their corners (see [`crate::cloth::stability`]).

use nalgebra::Vector3;
use rayon::prelude::*;

use super::ClothMeshes;
use super::arrays::{
    CsrAdjacency, FaceGroup, FaceState, GROUP_GRAIN, LaneSlot, MeshState, VERTEX_GRAIN, Vertices, Warp,
    corner,
};
use super::bending::Bending;
use super::gas::Gases;
use super::quad::F32x4;
use super::ropes::Ropes;
use crate::cloth::model::{Polar, Qr};
use crate::cloth::{ClothMaterial, ClothModel, ShearFrictionModel, Tear, TearingModel, YarnModel, stability};
use crate::tiles::ParticleStore;
use pliant_numeric::linalg::Vec3;
use pliant_numeric::scalar::Real;
use pliant_numeric::simd::{F32x16, Kernel, LANES, Lanes, Simd};

impl ClothMeshes {
    /// Computes the centroids' positions, maps the directors back, and finds the stresses, and the
    /// forces of faces, gas and hinges on the vertices, as means over a substep of `substep` \[s\] under
    /// `gravity` \[m/s^2\].
    pub(crate) fn find_forces(&mut self, store: &ParticleStore, substep: f64, gravity: Vector3<f64>) {
        self.measure_faces(store);
        self.gases.find_forces(&self.groups, &self.vertices, &self.adjacency, self.grid_spacing);
        for sheet in 0..self.spans.len() {
            self.find_stresses(sheet, substep, gravity);
        }
        self.let_go();
        self.bending.find_forces(&self.vertices, self.grid_spacing);
        self.ropes.find_forces();
        self.add_forces();
    }

    fn find_stresses(&mut self, sheet: usize, substep: f64, gravity: Vector3<f64>) {
        let (steps, length) = self.stability(sheet).mesh_substeps(substep);
        for step in 0..steps {
            let mesh = MeshStep { step, steps };
            self.step_faces(sheet, mesh);
            if !mesh.is_last() {
                // Leapfrog from rest: half a step first.
                let impulse_step = if step == 0 { 0.5 * length } else { length };
                self.move_mesh(sheet, impulse_step, length / self.grid_spacing, gravity);
            }
        }
    }

    fn step_faces(&mut self, sheet: usize, mesh: MeshStep) {
        let span = &self.spans[sheet];
        let (level, displacements) = (self.level, &self.mesh_state.displacements);
        let (material, cell) = (&self.materials[sheet], self.grid_spacing as f32);
        let (groups, warps) = (span.groups.clone(), &span.warps);
        let faces = self.states[groups.clone()].par_iter_mut().zip(&self.groups[groups]).enumerate();
        faces.with_min_len(GROUP_GRAIN).for_each(|(number, (state, group))| {
            let warp = warps.get(number);
            level.run(StepFaces { group, state, displacements, material, warp, cell, mesh });
        });
    }

    /// A leapfrog step of the mesh: velocities by `impulse_step` \[s\], positions by `step` [cells
    /// per m/s].
    fn move_mesh(&mut self, sheet: usize, impulse_step: f64, step: f64, gravity: Vector3<f64>) {
        let range = self.spans[sheet].vertices.clone();
        let (states, adjacency, gases, level) = (&self.states, &self.adjacency, &self.gases, self.level);
        let (first, of_vertices) = (range.start, &self.vertices.velocities[range.clone()]);
        let gravity_step = (gravity * impulse_step).map(|x| x as f32);
        let gravity_step = F32x4([gravity_step.x, gravity_step.y, gravity_step.z, 0.0]);
        let (impulse_step, step) = ((impulse_step * stability::MOBILITY) as f32, step as f32);
        let MeshState { displacements, velocities } = &mut self.mesh_state;
        let vertices = (
            displacements[range.clone()].par_chunks_mut(VERTEX_GRAIN),
            velocities[range].par_chunks_mut(VERTEX_GRAIN),
            of_vertices.par_chunks(VERTEX_GRAIN),
        );
        vertices.into_par_iter().enumerate().for_each(|(chunk, (displacements, velocities, of_vertices))| {
            let first = first + chunk * VERTEX_GRAIN;
            level.run(MoveVertices {
                first,
                displacements,
                velocities,
                of_vertices,
                adjacency,
                states,
                gases,
                gravity_step,
                impulse_step,
                step,
            });
        });
    }

    /// Writes the rows of the vertices, with the forces of their faces, of gas, of ropes, and then of
    /// their hinges.
    fn add_forces(&mut self) {
        let Self { rows, states, adjacency, bending, gases, ropes, vertices, level, .. } = self;
        let (states, adjacency, bending, gases, ropes, vertices) =
            (&*states, &*adjacency, &*bending, &*gases, &*ropes, &*vertices);
        rows.par_chunks_mut(VERTEX_GRAIN).enumerate().for_each(|(chunk, rows)| {
            let first = chunk * VERTEX_GRAIN;
            level.run(AddForces { first, rows, states, adjacency, bending, gases, ropes, vertices });
        });
    }
}

/// Rows of the vertices from number `first` on.
struct AddForces<'a> {
    first: usize,
    rows: &'a mut [F32x16],
    states: &'a [FaceState],
    adjacency: &'a CsrAdjacency,
    bending: &'a Bending,
    gases: &'a Gases,
    ropes: &'a Ropes,
    vertices: &'a Vertices,
}

impl Kernel for AddForces<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        for (number, row) in (self.first..).zip(self.rows) {
            let mut force =
                corner_forces(self.states, self.adjacency.of(number)).plus(self.gases.force(number));
            force = force.plus(self.ropes.force(number));
            self.bending.add_force(number, &mut force.0);
            let [x, y, z, _] = self.vertices.locals[number].0;
            let [i, j, k, _] = self.vertices.lows[number].0;
            let [u, v, w, _] = self.vertices.velocities[number].0;
            let [fx, fy, fz, _] = force.0;
            row.0 = [x, y, z, u, v, w, fx, fy, fz, 0.0, 0.0, 0.0, i, j, k, 1.0];
        }
    }
}

/// Fractions of the forces on the second and the third corner that act on each corner.
const SHARES: [[f32; 2]; 3] = [[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]];

/// Sum of the corner forces of a vertex \[N\].
#[inline(always)]
fn corner_forces(states: &[FaceState], entries: &[u32]) -> F32x4 {
    let mut force = F32x4::ZERO;
    for &entry in entries {
        let (face, [of_second, of_third]) = (entry as usize / 4, SHARES[entry as usize % 4]);
        let [second, third] = states[face / LANES].forces[face % LANES];
        force = force.plus(second.times(of_second).plus(third.times(of_third)));
    }
    force
}

/// A step of the mesh within a substep.
#[derive(Clone, Copy)]
struct MeshStep {
    step: usize,
    steps: usize,
}

impl MeshStep {
    fn is_last(self) -> bool {
        self.step + 1 == self.steps
    }
}

/// Vertices of the mesh from number `first` on take a step.
struct MoveVertices<'a> {
    first: usize,
    displacements: &'a mut [F32x4],
    velocities: &'a mut [F32x4],
    of_vertices: &'a [F32x4],
    adjacency: &'a CsrAdjacency,
    states: &'a [FaceState],
    gases: &'a Gases,
    gravity_step: F32x4,
    impulse_step: f32,
    step: f32,
}

impl Kernel for MoveVertices<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let vertices = self.displacements.iter_mut().zip(self.velocities).zip(self.of_vertices);
        for (number, ((way, velocity), of_vertex)) in (self.first..).zip(vertices) {
            let inverse_mass = of_vertex.0[3];
            // Held vertices do not move.
            if inverse_mass > 0.0 {
                let force =
                    corner_forces(self.states, self.adjacency.of(number)).plus(self.gases.force(number));
                let change = force.times(self.impulse_step * inverse_mass).plus(self.gravity_step);
                *velocity = velocity.plus(change);
                *way = way.plus(velocity.times(self.step));
            }
        }
    }
}

/// Sixteen rows of three quads as columns of coordinates: of the first quad x, y, z, then of the
/// second, and of the third.
#[inline(always)]
fn coordinates<S: Simd>(rows: &[F32x16; LANES]) -> [[S::V; 3]; 3] {
    let columns = S::transpose(core::array::from_fn(|l| S::load(&rows[l].0)));
    core::array::from_fn(|k| core::array::from_fn(|d| columns[4 * k + d]))
}

/// Positions of sixteen faces' corners, from the corner of the block that their centroid is in
/// \[cells\].
#[inline(always)]
fn corners<S: Simd>(
    group: &FaceGroup,
    vertices: &Vertices,
    slots: &[LaneSlot],
    store: &ParticleStore,
) -> [[S::V; 3]; 3] {
    let mut rows = [F32x16::ZERO; LANES];
    for l in 0..LANES {
        let [x, y, z] = corner(store, slots[group.centroids[l] as usize].block);
        let own = [x, y, z, 0];
        for k in 0..3 {
            let vertex = group.corners[k][l] as usize;
            let (at, local) = (vertices.corners[vertex], vertices.locals[vertex]);
            for d in 0..4 {
                rows[l].0[4 * k + d] = (at[d].wrapping_sub(own[d])) as f32 + local.0[d];
            }
        }
    }
    coordinates::<S>(&rows)
}

/// Change of the edges of sixteen faces since the beginning of the steps of the mesh \[cells\].
#[inline(always)]
fn changes<S: Simd>(group: &FaceGroup, displacements: &[F32x4]) -> [Vec3<Lanes<S>>; 2] {
    let mut rows = [F32x16::ZERO; LANES];
    for l in 0..LANES {
        let [a, b, c] = [0, 1, 2].map(|k| displacements[group.corners[k][l] as usize]);
        rows[l].0[..4].copy_from_slice(&b.minus(a).0);
        rows[l].0[4..8].copy_from_slice(&c.minus(a).0);
    }
    let [first, second, _] = coordinates::<S>(&rows);
    [first, second].map(|edge| Vec3(edge.map(Lanes)))
}

/// Columns of F (no unit) from a face's edges \[cells\].
#[inline(always)]
pub(super) fn columns<S: Simd>(group: &FaceGroup, [d1, d2]: [Vec3<Lanes<S>>; 2]) -> [Vec3<Lanes<S>>; 2] {
    let [m11, m12, m22] = Lanes::<S>::load_all(&group.inverse_edges);
    [d1 * m11, d1.scale_add(m12, d2 * m22)]
}

/// Edges of sixteen faces \[cells\].
#[inline(always)]
pub(super) fn edges<S: Simd>(state: &FaceState) -> [Vec3<Lanes<S>>; 2] {
    [0, 1].map(|k| Vec3(Lanes::load_all(&state.edges[k])))
}

/// The directors of sixteen faces.
#[inline(always)]
pub(super) fn directors<S: Simd>(state: &FaceState) -> Vec3<Lanes<S>> {
    Vec3(Lanes::load_all(&state.director))
}

/// Edges, centroids and stretch of sixteen faces.
struct Measure<'a> {
    group: &'a FaceGroup,
    state: &'a mut FaceState,
    vertices: &'a Vertices,
    slots: &'a [LaneSlot],
    store: &'a ParticleStore,
}

impl Kernel for Measure<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let [a, b, c] = corners::<S>(self.group, self.vertices, self.slots, self.store);
        for d in 0..3 {
            S::store(&mut self.state.edges[0][d].0, S::sub(b[d], a[d]));
            S::store(&mut self.state.edges[1][d].0, S::sub(c[d], a[d]));
            let sum = S::add(S::add(a[d], b[d]), c[d]);
            S::store(&mut self.state.center[d].0, S::mul(sum, S::splat(1.0 / 3.0)));
        }
        let squares = stretches::<S>(self.group, self.state);
        // A face that has torn has no stretch.
        let torn = tear_of::<S>(self.state).left().le(Lanes::all(0.0));
        for (row, square) in self.state.stretch.iter_mut().zip(squares) {
            Lanes::<S>::select(torn, Lanes::all(1.0), square).store(row);
        }
    }
}

/// Squares of the largest principal stretch, and of the area over that at rest, of sixteen faces (no
/// unit).
#[inline(always)]
fn stretches<S: Simd>(group: &FaceGroup, state: &FaceState) -> [Lanes<S>; 2] {
    let [f1, f2] = columns(group, edges::<S>(state));
    let [along, across, both] = [f1.fused_norm_squared(), f2.fused_norm_squared(), f1.fused_dot(f2)];
    let half = Lanes::<S>::all(0.5);
    let (mean, deviation) = ((along + across) * half, (along - across) * half);
    let length = mean + deviation.mul_add(deviation, both * both).sqrt();
    [length, f1.cross(f2).fused_norm_squared()]
}

impl ClothMeshes {
    /// Computes edges, centroids and volumes from the vertices, and the torques of ropes from their frames.
    pub(crate) fn measure(&mut self, store: &ParticleStore) {
        self.measure_faces(store);
        self.gases.measure(&self.groups, &self.vertices, self.grid_spacing);
        self.ropes.find_forces();
    }

    fn measure_faces(&mut self, store: &ParticleStore) {
        let (vertices, slots, level) = (&self.vertices, &self.slots, self.level);
        let faces = self.states.par_iter_mut().zip(&self.groups).with_min_len(GROUP_GRAIN);
        faces.for_each(|(state, group)| level.run(Measure { group, state, vertices, slots, store }));
    }
}

/// A step of the mesh for sixteen faces; the last one is the substep's: return mapping, stress and
/// forces.
struct StepFaces<'a> {
    group: &'a FaceGroup,
    state: &'a mut FaceState,
    displacements: &'a [F32x4],
    material: &'a ClothMaterial,
    /// Of a woven fabric.
    warp: Option<&'a Warp>,
    /// Grid spacing h \[m\].
    cell: f32,
    mesh: MeshStep,
}

impl Kernel for StepFaces<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Self { group, state, displacements, material, warp, cell, mesh } = self;
        let mut law = PlaneLaw::<S> {
            model: ClothModel::new(material),
            yarns: YarnModel::new(material).zip(warp.map(Lanes::load_all)),
            friction: None,
            left: Lanes::all(1.0),
        };
        if let (Some((_, warp)), Some(friction)) = (&law.yarns, ShearFrictionModel::new(material)) {
            if mesh.step == 0 {
                slip(&friction, *warp, group, state);
            }
            law.friction = Some((friction, Lanes::load(&state.slipped)));
        }
        if let Some(tearing) = TearingModel::new(material, f64::from(cell)) {
            if mesh.step == 0 {
                tear(&law, &tearing, group, state);
            }
            law.left = tear_of::<S>(state).left();
        }
        let mut biot = [Lanes::<S>::all(0.0); 3];
        if mesh.steps > 1 {
            biot = step_mesh(&law, group, state, displacements, mesh, cell);
        }
        if mesh.is_last() {
            finish(&law, group, state, (mesh.steps > 1).then_some(biot), cell);
        }
    }
}

/// Yarns of sixteen faces, and cosine and sine of the warp's angle in them.
type Yarns<S> = (YarnModel<Lanes<S>>, [Lanes<S>; 2]);

/// The law of sixteen faces; with their yarns and the direction of the warp if the fabric is woven.
struct PlaneLaw<S: Simd> {
    model: ClothModel<Lanes<S>>,
    yarns: Option<Yarns<S>>,
    /// Their friction, and by how much they have slipped (no unit).
    friction: Option<(ShearFrictionModel<Lanes<S>>, Lanes<S>)>,
    /// What is left of their stresses as they tear (no unit).
    left: Lanes<S>,
}

impl<S: Simd> PlaneLaw<S> {
    /// Biot stress of the whole fabric without friction: 11, 12, 22 \[Pa\].
    #[inline(always)]
    fn elastic_biot(&self, polar: &Polar<Lanes<S>>) -> [Lanes<S>; 3] {
        let sheet = self.model.biot(polar);
        let Some((yarns, warp)) = &self.yarns else { return sheet };
        let of_yarns = yarns.biot(polar, *warp);
        core::array::from_fn(|n| sheet[n] + of_yarns[n])
    }

    /// Biot stress of the whole fabric: 11, 12, 22 \[Pa\].
    #[inline(always)]
    fn biot(&self, polar: &Polar<Lanes<S>>) -> [Lanes<S>; 3] {
        let woven = self.elastic_biot(polar);
        let (Some((_, warp)), Some((friction, slipped))) = (&self.yarns, &self.friction) else {
            return woven;
        };
        let of_friction = friction.biot(ShearFrictionModel::shear(polar, *warp), *slipped, *warp);
        core::array::from_fn(|n| woven[n] + of_friction[n])
    }
}

/// Lets the yarns of sixteen faces slip.
#[inline(always)]
fn slip<S: Simd>(
    friction: &ShearFrictionModel<Lanes<S>>,
    warp: [Lanes<S>; 2],
    group: &FaceGroup,
    state: &mut FaceState,
) {
    let [f1, f2] = columns(group, edges::<S>(state));
    let polar = Polar::new(&Qr::new(&[f1, f2, f1]));
    let shear = ShearFrictionModel::shear(&polar, warp);
    let (slipped, lost) = friction.slip(shear, Lanes::load(&state.slipped));
    slipped.store(&mut state.slipped);
    (lost * Lanes::load(&group.volume)).store(&mut state.lost);
}

/// How far sixteen faces have torn.
#[inline(always)]
pub(super) fn tear_of<S: Simd>(state: &FaceState) -> Tear<Lanes<S>> {
    let [reached, end] = Lanes::load_all(&state.tear);
    Tear { reached, end }
}

/// Lets sixteen faces tear.
#[inline(always)]
fn tear<S: Simd>(
    law: &PlaneLaw<S>,
    tearing: &TearingModel<Lanes<S>>,
    group: &FaceGroup,
    state: &mut FaceState,
) {
    let [f1, f2] = columns(group, edges::<S>(state));
    let qr = law.model.return_mapping(&Qr::new(&[f1, f2, directors::<S>(state)]));
    let polar = Polar::new(&qr);
    let zero = Lanes::<S>::all(0.0);
    let plane = Qr { shear: [zero; 2], normal: Lanes::all(1.0), ..qr };
    let (mut in_plane, mut all) = (law.model.energy_density(&plane), law.model.energy_density(&qr));
    if let Some((yarns, warp)) = &law.yarns {
        let of_yarns = yarns.energy_density(&polar, *warp);
        (in_plane, all) = (in_plane + of_yarns, all + of_yarns);
        if let Some((friction, slipped)) = &law.friction {
            all += friction.energy_density(ShearFrictionModel::shear(&polar, *warp), *slipped);
        }
    }
    let before = tear_of::<S>(state);
    let inverse_edges = Lanes::load_all(&group.inverse_edges);
    let after = tearing.advance(law.elastic_biot(&polar), in_plane, inverse_edges, before);
    after.reached.store(&mut state.tear[0]);
    after.end.store(&mut state.tear[1]);
    (after.lost(&before, all) * Lanes::load(&group.volume)).store(&mut state.lost_to_tearing);
}

/// Adds to the means of the Biot stresses, and finds the forces of the plane unless it is the last
/// step. Returns the means.
#[inline(always)]
fn step_mesh<S: Simd>(
    law: &PlaneLaw<S>,
    group: &FaceGroup,
    state: &mut FaceState,
    displacements: &[F32x4],
    mesh: MeshStep,
    cell: f32,
) -> [Lanes<S>; 3] {
    let mut edges = edges::<S>(state);
    if mesh.step > 0 {
        let [first, second] = changes::<S>(group, displacements);
        edges = [edges[0] + first, edges[1] + second];
    }
    let [f1, f2] = columns(group, edges);
    // The in-plane stress does not depend on the director.
    let qr = Qr::new(&[f1, f2, f1]);
    let polar = Polar::new(&qr);
    let biot = law.biot(&polar);
    let weight = Lanes::<S>::all(stability::weight(mesh.step, mesh.steps) as f32);
    let mut mean = biot.map(|stress| weight * stress);
    if mesh.step > 0 {
        let before = Lanes::<S>::load_all(&state.biot);
        mean = core::array::from_fn(|n| before[n] + mean[n]);
    }
    for n in 0..3 {
        mean[n].store(&mut state.biot[n]);
    }
    if !mesh.is_last() {
        let volume = Lanes::<S>::load(&group.volume) * law.left * Lanes::all(1.0 / cell);
        write_forces(group, state, &polar.plane_piola(&qr, biot), volume);
    }
    mean
}

/// Return mapping, stress and forces of sixteen faces, with the means of their Biot stresses if
/// there are any.
#[inline(always)]
fn finish<S: Simd>(
    law: &PlaneLaw<S>,
    group: &FaceGroup,
    state: &mut FaceState,
    mean: Option<[Lanes<S>; 3]>,
    cell: f32,
) {
    let [f1, f2] = columns(group, edges::<S>(state));
    let trial = Qr::new(&[f1, f2, directors::<S>(state)]);
    let mapped = law.model.return_mapping(&trial);
    let polar = Polar::new(&mapped);
    let biot = mean.unwrap_or_else(|| law.biot(&polar));
    let [p1, p2, p3] = law.model.first_piola_with(&mapped, &polar, biot);
    let volume = Lanes::<S>::load(&group.volume) * law.left;
    // A face that has torn has no director that could grow, and the area of one at rest.
    let torn = law.left.le(Lanes::all(0.0));
    let up = [0.0, 0.0, 1.0].map(Lanes::<S>::all);
    let director = mapped.director().0;
    let director = Vec3(core::array::from_fn(|d| Lanes::select(torn, up[d], director[d])));
    let area = Lanes::select(torn, Lanes::all(1.0), polar.area);
    for d in 0..3 {
        director.0[d].store(&mut state.director[d]);
    }
    let half = (p3 * (volume * Lanes::all(0.5))).0;
    write_forces(group, state, &[p1, p2], volume * Lanes::all(1.0 / cell));
    let mut columns = [S::splat(0.0); LANES];
    for k in 0..3 {
        columns[k] = S::load(&state.center[k].0);
        columns[6 + k] = director.0[k].0;
        columns[9 + k] = half[k].0;
    }
    columns[15] = area.0;
    let rows = S::transpose(columns);
    for l in 0..LANES {
        let row = &mut state.centroid[l].0;
        S::store(row, rows[l]);
        row[3..6].copy_from_slice(&state.velocities[l].0[..3]);
    }
}

/// Writes the forces on the second and the third corner, by the chain rule from F = d D^-1;
/// `volume` is over the grid spacing \[m^2\].
#[inline(always)]
fn write_forces<S: Simd>(
    group: &FaceGroup,
    state: &mut FaceState,
    stress: &[Vec3<Lanes<S>>; 2],
    volume: Lanes<S>,
) {
    let [m11, m12, m22] = Lanes::<S>::load_all(&group.inverse_edges);
    let of_d1 = (stress[0] * m11).0;
    let mut columns = [S::splat(0.0); LANES];
    for k in 0..3 {
        columns[k] = (-(volume * stress[1].0[k].mul_add(m12, of_d1[k]))).0;
        columns[4 + k] = (-(volume * stress[1].0[k] * m22)).0;
    }
    let rows = S::transpose(columns);
    for l in 0..LANES {
        let mut row = F32x16::ZERO;
        S::store(&mut row.0, rows[l]);
        for k in 0..2 {
            state.forces[l][k].0.copy_from_slice(&row.0[4 * k..4 * k + 4]);
        }
    }
}
