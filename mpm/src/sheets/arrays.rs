//! The arrays of a substep of cloth, in the order of the mesh.

use std::ops::Range;

use nalgebra::Vector3;

use super::quad::F32x4;
use crate::cloth::Stability;
use crate::tiles::{BLOCK_CELLS, ParticleStore, split};
use pliant_numeric::simd::{F32x16, LANES};

/// Smallest number of vertices in a parallel job.
pub(super) const VERTEX_GRAIN: usize = 128;

/// Smallest number of groups of sixteen faces in a parallel job.
pub(super) const GROUP_GRAIN: usize = 8;

/// Location of a particle's lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LaneSlot {
    /// Tile x 16 + lane.
    pub lane: u32,
    pub block: u32,
}

/// The vertices in a substep.
#[derive(Clone, Debug, Default)]
pub(super) struct Vertices {
    /// Their blocks' corners \[cells\]; the last entry is unused.
    pub corners: Vec<[i32; 4]>,
    /// Positions from there, rounded \[cells\]; the last entry is unused.
    pub locals: Vec<F32x4>,
    /// What rounding left of them \[cells\]; the last entry is unused.
    pub lows: Vec<F32x4>,
    /// Velocities \[m/s\], and 1 / mass \[1/kg\]; 0 where a pin holds the vertex.
    pub velocities: Vec<F32x4>,
}

impl Vertices {
    /// Position of a vertex in a grid with this origin and spacing \[m\].
    pub(super) fn position(&self, vertex: usize, (origin, spacing): (Vector3<f64>, f64)) -> Vector3<f64> {
        self.cells(vertex) * spacing + origin
    }

    /// Puts a vertex at a position \[m\].
    pub(super) fn put(&mut self, vertex: usize, at: &Vector3<f64>, (origin, spacing): (Vector3<f64>, f64)) {
        for d in 0..3 {
            self.put_along(vertex, d, (at[d] - origin[d]) / spacing);
        }
    }

    /// Puts a vertex along axis `d` at this distance from the grid's origin \[cells\].
    pub(super) fn put_along(&mut self, vertex: usize, d: usize, cells: f64) {
        let local = cells - f64::from(self.corners[vertex][d]);
        [self.locals[vertex].0[d], self.lows[vertex].0[d]] = split(local);
    }

    /// Where a vertex is, from the grid's origin \[cells\].
    pub(super) fn cells(&self, vertex: usize) -> Vector3<f64> {
        let (corner, local) = (self.corners[vertex], self.locals[vertex].vector());
        let low = self.lows[vertex].vector();
        Vector3::from_fn(|d, _| f64::from(corner[d]) + (local[d] + low[d]))
    }

    /// Displacement from one vertex to another \[cells\].
    #[inline(always)]
    pub(super) fn difference(&self, from: usize, to: usize) -> Vector3<f64> {
        Vector3::from_fn(|d, _| {
            let whole = self.corners[to][d].wrapping_sub(self.corners[from][d]);
            let local = |v: usize| f64::from(self.locals[v].0[d]) + f64::from(self.lows[v].0[d]);
            f64::from(whole) + (local(to) - local(from))
        })
    }
}

/// A sheet's part of the arrays.
#[derive(Clone, Debug)]
pub(super) struct SheetSpan {
    pub vertices: Range<usize>,
    pub groups: Range<usize>,
    pub stability: Stability,
    /// Of a woven fabric the warps of its groups; else none.
    pub warps: Vec<Warp>,
}

/// Cosine and sine of the warp's angle in the material frame of sixteen faces.
pub(super) type Warp = [F32x16; 2];

/// Sixteen faces of one sheet at rest; lanes past the last repeat the first and have no volume.
#[derive(Clone, Debug)]
pub(super) struct FaceGroup {
    /// Their centroids' indices in [`ClothMeshes::slots`].
    pub centroids: [u32; LANES],
    /// Their corners, as numbers of vertices.
    pub corners: [[u32; LANES]; 3],
    /// Inverse of the edges at rest: 11, 12, 22 \[1/cell\].
    pub inverse_edges: [F32x16; 3],
    /// Volume \[m^3\].
    pub volume: F32x16,
    /// Mass of the centroid \[kg\].
    pub mass: F32x16,
    pub lanes: u32,
}

/// Sixteen faces in a substep.
#[derive(Clone, Debug)]
pub(super) struct FaceState {
    /// Director (no unit).
    pub director: [F32x16; 3],
    /// From the first corner to the others \[cells\].
    pub edges: [[F32x16; 3]; 2],
    /// Squares of the largest principal stretch, and of the area over that at rest (no unit).
    pub stretch: [F32x16; 2],
    /// Centroid from its block's corner \[cells\].
    pub center: [F32x16; 3],
    /// By how much the yarns have slipped (no unit), and the energy that this took in the last substep
    /// \[J\]; zero without friction in shear.
    pub slipped: F32x16,
    pub lost: F32x16,
    /// How far they have torn ([`crate::cloth::Tear`]), the energy that this took in the last substep
    /// \[J\]; then, one bit a face, which have torn, and which had before this substep: nothing holds
    /// their particles.
    pub tear: [F32x16; 2],
    pub lost_to_tearing: F32x16,
    pub torn: u16,
    pub free: u16,
    /// Mean of the Biot stresses so far, where the mesh takes steps: 11, 12, 22 \[Pa\].
    pub biot: [F32x16; 3],
    /// Centroids' velocities \[m/s\]; the last entry is unused.
    pub velocities: [F32x4; LANES],
    /// Impulses of the vertex-face constraints \[N s\]; the last entry is unused.
    pub impulses: [F32x4; LANES],
    /// Forces on the second and the third corner \[N\]; that on the first is opposite to their sum.
    pub forces: [[F32x4; 2]; LANES],
    /// One row per face: centroid (3) \[cells\], velocity (3), director (3), V p3 / 2 (3) \[J\],
    /// area over that at rest.
    pub centroid: [F32x16; LANES],
}

impl FaceState {
    /// Whether a face has torn.
    #[inline(always)]
    pub(super) fn is_torn(&self, lane: usize) -> bool {
        self.torn >> lane & 1 == 1
    }

    /// Whether nothing holds a face's particle.
    #[inline(always)]
    pub(super) fn is_free(&self, lane: usize) -> bool {
        self.free >> lane & 1 == 1
    }

    pub(super) const ZERO: Self = Self {
        director: [F32x16::ZERO; 3],
        edges: [[F32x16::ZERO; 3]; 2],
        stretch: [F32x16::ZERO; 2],
        center: [F32x16::ZERO; 3],
        slipped: F32x16::ZERO,
        lost: F32x16::ZERO,
        tear: [F32x16([1.0; LANES]), F32x16::ZERO],
        lost_to_tearing: F32x16::ZERO,
        torn: 0,
        free: 0,
        biot: [F32x16::ZERO; 3],
        velocities: [F32x4::ZERO; LANES],
        impulses: [F32x4::ZERO; LANES],
        forces: [[F32x4::ZERO; 2]; LANES],
        centroid: [F32x16::ZERO; LANES],
    };
}

/// Kind of a particle of cloth.
#[derive(Clone, Copy, Debug)]
pub(super) enum Member {
    Vertex(u32),
    /// Group x 16 + lane.
    Face(u32),
}

/// Lists of numbers, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct CsrAdjacency {
    pub first: Vec<u32>,
    pub entries: Vec<u32>,
}

impl CsrAdjacency {
    /// From pairs (list, entry), sorted.
    pub(super) fn new(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut first = vec![0; count + 1];
        for (list, _) in pairs {
            first[*list as usize + 1] += 1;
        }
        for list in 0..count {
            first[list + 1] += first[list];
        }
        Self { first, entries: pairs.iter().map(|&(_, entry)| entry).collect() }
    }

    #[inline(always)]
    pub(super) fn of(&self, list: usize) -> &[u32] {
        &self.entries[self.first[list] as usize..self.first[list + 1] as usize]
    }
}

/// A block's corner \[cells\].
pub(super) fn corner(store: &ParticleStore, block: u32) -> [i32; 3] {
    store.blocks[block as usize].key.map(|k| k.wrapping_mul(BLOCK_CELLS))
}

/// The vertices in the steps of the mesh.
#[derive(Clone, Debug, Default)]
pub(super) struct MeshState {
    /// Displacements since the end of the substep \[cells\].
    pub displacements: Vec<F32x4>,
    /// \[m/s\]
    pub velocities: Vec<F32x4>,
}
