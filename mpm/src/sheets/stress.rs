//! Stress of the faces, the forces on their corners, and where their centroids are.

use rayon::prelude::*;

use super::{FaceGroup, FaceState, GROUP_GRAIN, Sheets, Slot, VERTEX_GRAIN, Vertex, corner};
use crate::cloth::ClothModel;
use crate::cloth::model::Qr;
use crate::linalg::Vec3;
use crate::scalar::Real;
use crate::simd::{Kernel, LANES, Lanes, Row, Simd};
use crate::tiles::Store;

impl Sheets {
    /// Places the centroids, maps the directors back, and finds the stresses, and the forces of faces and hinges on the vertices.
    pub(crate) fn find_forces(&mut self, store: &Store) {
        let (vertices, slots, level) = (&self.vertices, &self.slots, self.level);
        let (materials, cell) = (&self.materials, self.grid_spacing as f32);
        let faces = self.states.par_iter_mut().zip(&self.groups).with_min_len(GROUP_GRAIN);
        faces.for_each(|(state, group)| {
            let corners = Corners::of(group, vertices, slots, store);
            let material = &materials[group.sheet as usize];
            level.run(FindStress { group, state, corners, material, cell });
        });
        self.bending.find_forces(&self.vertices, self.grid_spacing);
        self.add_forces();
    }

    /// What the vertices' lanes take, with the forces of their faces and then of their hinges.
    fn add_forces(&mut self) {
        let (states, around, bending, vertices) = (&self.states, &self.around, &self.bending, &self.vertices);
        let rows = self.rows.par_iter_mut().enumerate().with_min_len(VERTEX_GRAIN);
        rows.for_each(|(number, row)| {
            let mut force = [0.0; 3];
            for &entry in around.of(number) {
                let (face, k) = (entry as usize / 4, entry as usize % 4);
                let forces = &states[face / LANES].forces[face % LANES].0;
                for d in 0..3 {
                    force[d] += forces[3 * k + d];
                }
            }
            bending.add_force(number, &mut force);
            let Vertex { local: [x, y, z], velocity: [u, v, w], .. } = vertices[number];
            let [fx, fy, fz] = force;
            row.0 = [x, y, z, u, v, w, fx, fy, fz, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        });
    }
}

/// Positions of sixteen faces' corners, from the corner of the block that their centroid is in [cells].
pub(super) struct Corners([[Row; 3]; 3]);

impl Corners {
    pub(super) fn of(group: &FaceGroup, vertices: &[Vertex], slots: &[Slot], store: &Store) -> Self {
        let mut corners = [[Row::ZERO; 3]; 3];
        for l in 0..LANES {
            let own = corner(store, slots[group.centroids[l] as usize].block);
            for (numbers, rows) in group.corners.iter().zip(&mut corners) {
                let vertex = &vertices[numbers[l] as usize];
                for d in 0..3 {
                    rows[d].0[l] = (vertex.corner[d].wrapping_sub(own[d])) as f32 + vertex.local[d];
                }
            }
        }
        Self(corners)
    }

    /// Edges' columns of F (no unit).
    #[inline(always)]
    pub(super) fn columns<S: Simd>(&self, group: &FaceGroup) -> [Vec3<Lanes<S>>; 2] {
        let [m11, m12, m22] = Lanes::<S>::load_all(&group.inverse_edges);
        let a = Vec3(Lanes::<S>::load_all(&self.0[0]));
        let d1 = Vec3(Lanes::load_all(&self.0[1])) - a;
        let d2 = Vec3(Lanes::load_all(&self.0[2])) - a;
        [d1.scale(m11), d1.scale_add(m12, d2.scale(m22))]
    }

    /// Coordinate `d` of the centroids [cells].
    #[inline(always)]
    fn centroid<S: Simd>(&self, d: usize) -> Lanes<S> {
        let [a, b, c] = [&self.0[0][d], &self.0[1][d], &self.0[2][d]];
        (Lanes::<S>::load(a) + Lanes::load(b) + Lanes::load(c)) * Lanes::all(1.0 / 3.0)
    }
}

/// The directors of sixteen faces.
#[inline(always)]
pub(super) fn directors<S: Simd>(state: &FaceState) -> Vec3<Lanes<S>> {
    Vec3(Lanes::load_all(&state.director))
}

/// Return mapping, stress and forces of sixteen faces.
struct FindStress<'a> {
    group: &'a FaceGroup,
    state: &'a mut FaceState,
    corners: Corners,
    material: &'a crate::cloth::ClothMaterial,
    /// Grid spacing h [m].
    cell: f32,
}

impl Kernel for FindStress<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let (group, state) = (self.group, self.state);
        let model = ClothModel::<Lanes<S>>::new(self.material);
        let [f1, f2] = self.corners.columns::<S>(group);
        let trial = Qr::new(&[f1, f2, directors::<S>(state)]);
        let mapped = model.return_mapping(&trial);
        let stress = model.first_piola(&mapped);
        let volume = Lanes::<S>::load(&group.volume);
        let director = mapped.director();
        for d in 0..3 {
            director.0[d].store(&mut state.director[d]);
        }
        let (p, d) = (stress[2].scale(volume * Lanes::all(0.5)).0, director.0);
        write_forces(group, state, &stress, volume * Lanes::all(1.0 / self.cell), p, d);
        let mut columns = [S::splat(0.0); LANES];
        for k in 0..3 {
            columns[k] = self.corners.centroid::<S>(k).0;
            columns[3 + k] = S::load(&state.velocity[k].0);
            columns[6 + k] = d[k].0;
        }
        // The symmetric part of V p3 d3^T.
        for (n, (i, j)) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
            columns[9 + n] = p[i].mul_add(d[j], p[j] * d[i]).0;
        }
        columns[15] = (mapped.plane[0] * mapped.plane[2]).0;
        store_transposed::<S>(&mut state.centroid, columns);
    }
}

/// Forces on the corners, by the chain rule from F = d D^-1, and the axial vector of the skew part of V p3 d3^T; `volume` is over the
/// grid spacing [m^2], `p` is V p3 / 2 [J], `d` the director.
#[inline(always)]
fn write_forces<S: Simd>(
    group: &FaceGroup,
    state: &mut FaceState,
    stress: &[Vec3<Lanes<S>>; 3],
    volume: Lanes<S>,
    p: [Lanes<S>; 3],
    d: [Lanes<S>; 3],
) {
    let [m11, m12, m22] = Lanes::<S>::load_all(&group.inverse_edges);
    let of_d1 = stress[0].scale(m11).0;
    let mut columns = [S::splat(0.0); LANES];
    for k in 0..3 {
        let first = volume * stress[1].0[k].mul_add(m12, of_d1[k]);
        let second = volume * stress[1].0[k] * m22;
        columns[k] = (first + second).0;
        columns[3 + k] = (-first).0;
        columns[6 + k] = (-second).0;
        // S x = moment x x: entry (z, y) less entry (y, z), and so on around.
        let (i, j) = ((k + 2) % 3, (k + 1) % 3);
        columns[9 + k] = (p[i] * d[j] - p[j] * d[i]).0;
    }
    store_transposed::<S>(&mut state.forces, columns);
}

/// Stores columns as rows.
#[inline(always)]
fn store_transposed<S: Simd>(rows: &mut [Row; LANES], columns: [S::V; LANES]) {
    let transposed = S::transpose(columns);
    for l in 0..LANES {
        S::store(&mut rows[l].0, transposed[l]);
    }
}
