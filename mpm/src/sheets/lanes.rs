//! Rows of a deformation tile as cloth uses them.

use crate::tiles::deformation::{self, GRADIENT};

/// Force on a vertex \[N\]; zero for a centroid. Column 0 of the deformation gradient of other
/// particles.
pub(crate) const FORCE: [usize; 3] = [GRADIENT, GRADIENT + 3, GRADIENT + 6];
/// Axial vector of the skew part of a face's stress times volume \[J\]; zero for a vertex. Column
/// 1.
pub(crate) const MOMENT: [usize; 3] = [GRADIENT + 1, GRADIENT + 4, GRADIENT + 7];
/// A face's director. Column 2.
pub(crate) const DIRECTOR: [usize; 3] = [GRADIENT + 2, GRADIENT + 5, GRADIENT + 8];

/// Rows that P2G reads besides those of all particles.
#[inline(always)]
pub(crate) fn is_cloth(material_bits: f32, materials: usize) -> bool {
    material_bits.to_bits() as usize >= materials
}

const _: () = assert!(deformation::GRADIENT == 0);
