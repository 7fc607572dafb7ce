//! Writes the results of the sheets to their lanes.

use super::ClothMeshes;
use super::arrays::Member;
use super::lanes::{self as lanes_of, is_cloth};
use crate::g2p::{BlockOutcome, PositionBounds, check_positions, speed_squared};
use crate::scratchpad::StencilBox;
use crate::tiles::{DeformationTile, KinematicsTile, ParticleBlock, deformation, kinematics, store_masked};
use pliant_numeric::scalar::Real;
use pliant_numeric::simd::{F32x16, Kernel, LANES, Lanes, Simd};

impl ClothMeshes {
    /// The row of a particle's lane, whether it is a face's, and whether nothing holds that.
    fn row(&self, id: usize) -> (&F32x16, bool, bool) {
        match self.members[id - self.first] {
            Member::Vertex(number) => (&self.rows[number as usize], false, false),
            Member::Face(number) => {
                let (state, lane) = (&self.states[number as usize / LANES], number as usize % LANES);
                (&state.centroid[lane], true, state.is_free(lane))
            }
        }
    }
}

/// Writes the lanes of cloth in one tile; false where it has none. Entries that stay zero (forces
/// on centroids, directors of vertices) are not written: G2P keeps them zero.
#[inline(always)]
fn write_tile<S: Simd>(
    sheets: &ClothMeshes,
    materials: usize,
    lanes: usize,
    motion: &mut KinematicsTile,
    strain: &mut DeformationTile,
) -> bool {
    let (mut cloth, mut faces, mut free) = (0, 0, 0);
    let mut rows = [S::splat(0.0); LANES];
    for l in 0..lanes {
        if is_cloth(motion[kinematics::MATERIAL].0[l], materials) {
            let (row, is_face, is_free) = sheets.row(motion[kinematics::ID].0[l].to_bits() as usize);
            rows[l] = S::load(&row.0);
            cloth |= 1 << l;
            faces |= u16::from(is_face) << l;
            free |= u16::from(is_free) << l;
        }
    }
    if cloth == 0 {
        return false;
    }
    let columns = S::transpose(rows);
    // The particle of a face that has torn goes where G2P puts it.
    let [all, held, of_faces, of_vertices] =
        [cloth, cloth & !free, faces, cloth & !faces].map(S::mask_from_bits);
    for d in 0..3 {
        store_masked::<S>(&mut motion[kinematics::POSITION + d], held, Lanes(columns[d]));
        store_masked::<S>(&mut motion[kinematics::POSITION_LOW + d], held, Lanes(columns[12 + d]));
        store_masked::<S>(&mut motion[kinematics::VELOCITY + d], held, Lanes(columns[3 + d]));
        store_masked::<S>(&mut strain[lanes_of::FORCE[d]], of_vertices, Lanes(columns[6 + d]));
        store_masked::<S>(&mut strain[lanes_of::DIRECTOR[d]], of_faces, Lanes(columns[6 + d]));
    }
    // V p3 / 2 and d3 give the stress; a vertex has none.
    let [half, director] = [9, 6].map(|row| [0, 1, 2].map(|d| Lanes::<S>(columns[row + d])));
    for (n, (i, j)) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
        let symmetric = half[i].mul_add(director[j], half[j] * director[i]);
        store_masked::<S>(&mut strain[deformation::STRESS_VOLUME + n], all, symmetric);
    }
    store_masked::<S>(&mut strain[deformation::STATE], all, Lanes(columns[15]));
    if sheets.has_shear_stiffness {
        // Axial vector of the skew part, S x = moment x x: entry (z, y) less entry (y, z), and so
        // on around.
        for k in 0..3 {
            let (i, j) = ((k + 2) % 3, (k + 1) % 3);
            let moment = half[i] * director[j] - half[j] * director[i];
            store_masked::<S>(&mut strain[lanes_of::MOMENT[k]], of_faces, moment);
        }
    }
    true
}

/// Writes the lanes of cloth in one block, and updates the block's stencil box and outcome.
pub(crate) struct Scatter<'a> {
    pub sheets: &'a ClothMeshes,
    /// Number of materials that are not cloth.
    pub materials: usize,
    pub block: &'a ParticleBlock,
    pub kinematics: &'a mut [KinematicsTile],
    pub deformation: &'a mut [DeformationTile],
    pub stencil_box: &'a mut StencilBox,
}

impl Kernel for Scatter<'_> {
    type Output = Option<BlockOutcome>;

    /// None where the block has no cloth.
    #[inline(always)]
    fn run<S: Simd>(self) -> Option<BlockOutcome> {
        let mut any = false;
        for (t, (motion, strain)) in self.kinematics.iter_mut().zip(self.deformation.iter_mut()).enumerate() {
            let lanes = self.block.lanes(t);
            any |= write_tile::<S>(self.sheets, self.materials, lanes, motion, strain);
            // Padding has the position of the first lane.
            for row in &mut motion[kinematics::POSITION..][..3] {
                let first = row.0[0];
                row.0[lanes..].fill(first);
            }
        }
        if !any {
            return None;
        }
        let mut outcome = BlockOutcome::default();
        let mut extent = PositionBounds::<S>::new();
        let mut fastest = Lanes::<S>::all(0.0);
        for (t, motion) in self.kinematics.iter().enumerate() {
            extent.include(motion);
            check_positions::<S>(motion, t, self.block.lanes(t), &mut outcome);
            fastest = fastest.max(speed_squared(motion));
        }
        let mut row = F32x16::ZERO;
        fastest.store(&mut row);
        outcome.speed_squared = row.0.iter().fold(0.0, |a, &b| a.max(b));
        *self.stencil_box = extent.stencil_box();
        Some(outcome)
    }
}
