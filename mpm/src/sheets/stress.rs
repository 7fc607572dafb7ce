//! Stress of the faces, the forces on their corners, and where their centroids are.

use rayon::prelude::*;

use super::{FaceGroup, FaceState, GROUP_GRAIN, Sheets, Slot, Vertex, corner, way};
use crate::cloth::ClothModel;
use crate::cloth::model::Qr;
use crate::linalg::Vec3;
use crate::scalar::Real;
use crate::simd::{Kernel, LANES, Lanes, Row, Simd};
use crate::tiles::Store;

impl Sheets {
    /// Places the centroids, maps the directors back, and finds the stresses and forces of faces and hinges.
    pub(crate) fn find_forces(&mut self, store: &Store) {
        let (vertices, slots, level) = (&self.vertices, &self.slots, self.level);
        let (materials, cell) = (&self.materials, self.grid_spacing as f32);
        let faces = self.states.par_iter_mut().zip(&self.groups).with_min_len(GROUP_GRAIN);
        faces.for_each(|(state, group)| {
            place_centroids(group, state, vertices, slots, store);
            let material = &materials[group.sheet as usize];
            level.run(FindStress { group, state, vertices, material, cell });
        });
        self.bending.find_forces(&self.vertices, self.grid_spacing);
    }
}

/// Means of the vertices, from the corners of the centroids' blocks.
fn place_centroids(
    group: &FaceGroup,
    state: &mut FaceState,
    vertices: &[Vertex],
    slots: &[Slot],
    store: &Store,
) {
    let [a, b, c] = &group.corners;
    for l in 0..LANES {
        let own = corner(store, slots[group.centroids[l] as usize].block);
        let of = |corner: &[u32; LANES]| &vertices[corner[l] as usize];
        let (a, b, c) = (of(a), of(b), of(c));
        for d in 0..3 {
            // Small numbers first: blocks' corners differ by few cells.
            let near = |v: &Vertex| (v.corner[d].wrapping_sub(own[d])) as f32 + v.local[d];
            state.centroid[l].0[d] = (near(a) + near(b) + near(c)) * (1.0 / 3.0);
        }
    }
}

/// Edges' columns of F of sixteen faces (no unit).
#[inline(always)]
pub(super) fn columns<S: Simd>(group: &FaceGroup, vertices: &[Vertex]) -> [Vec3<Lanes<S>>; 2] {
    let [a, b, c] = &group.corners;
    let mut edges = [[Row::ZERO; 3]; 2];
    for l in 0..LANES {
        let of = |corner: &[u32; LANES]| &vertices[corner[l] as usize];
        let (a, b, c) = (of(a), of(b), of(c));
        for d in 0..3 {
            edges[0][d].0[l] = way(a, b, d);
            edges[1][d].0[l] = way(a, c, d);
        }
    }
    let [d1, d2] = [Vec3(Lanes::<S>::load_all(&edges[0])), Vec3(Lanes::load_all(&edges[1]))];
    let [m11, m12, m22] = Lanes::<S>::load_all(&group.inverse_edges);
    [d1.scale(m11), d1.scale_add(m12, d2.scale(m22))]
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
    vertices: &'a [Vertex],
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
        let [f1, f2] = columns::<S>(group, self.vertices);
        let trial = Qr::new(&[f1, f2, directors::<S>(state)]);
        let mapped = model.return_mapping(&trial);
        let stress = model.first_piola(&mapped);
        let volume = Lanes::<S>::load(&group.volume);
        let director = mapped.director();
        for d in 0..3 {
            director.0[d].store(&mut state.director[d]);
        }
        write_forces(group, state, &stress, volume * Lanes::all(1.0 / self.cell));
        write_centroids(state, &stress[2], volume, &director, mapped.plane[0] * mapped.plane[2]);
    }
}

/// Forces on the corners, by the chain rule from F = d D^-1; `volume` is over the grid spacing [m^2].
#[inline(always)]
fn write_forces<S: Simd>(
    group: &FaceGroup,
    state: &mut FaceState,
    stress: &[Vec3<Lanes<S>>; 3],
    volume: Lanes<S>,
) {
    let [m11, m12, m22] = Lanes::<S>::load_all(&group.inverse_edges);
    let of_d1 = stress[0].scale(m11).0;
    let mut columns = [S::splat(0.0); LANES];
    for d in 0..3 {
        let first = volume * stress[1].0[d].mul_add(m12, of_d1[d]);
        let second = volume * stress[1].0[d] * m22;
        columns[d] = (first + second).0;
        columns[3 + d] = (-first).0;
        columns[6 + d] = (-second).0;
    }
    let transposed = S::transpose(columns);
    for l in 0..LANES {
        S::store(&mut state.forces[l].0, transposed[l]);
    }
}

/// What the centroids' lanes take: velocity, director, stress V p3 d3^T by its symmetric and its skew part, area over that at rest.
#[inline(always)]
fn write_centroids<S: Simd>(
    state: &mut FaceState,
    normal_stress: &Vec3<Lanes<S>>,
    volume: Lanes<S>,
    director: &Vec3<Lanes<S>>,
    area: Lanes<S>,
) {
    let (p, d) = (normal_stress.scale(volume * Lanes::all(0.5)).0, director.0);
    let mut rows = [Row::ZERO; LANES];
    for k in 0..3 {
        rows[k] = state.velocity[k];
        d[k].store(&mut rows[3 + k]);
        // S x = moment x x: entry (z, y) less entry (y, z), and so on around.
        let (i, j) = ((k + 2) % 3, (k + 1) % 3);
        (p[i] * d[j] - p[j] * d[i]).store(&mut rows[13 + k]);
    }
    for (n, (i, j)) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
        p[i].mul_add(d[j], p[j] * d[i]).store(&mut rows[6 + n]);
    }
    area.store(&mut rows[12]);
    for l in 0..LANES {
        let values = &mut state.centroid[l].0;
        for k in 0..13 {
            values[3 + k] = rows[k].0[l];
        }
        for k in 0..3 {
            state.forces[l].0[9 + k] = rows[13 + k].0[l];
        }
    }
}
