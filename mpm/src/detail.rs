//! Subgrid motion: motion of granular particles that the grid does not resolve, kept through the
//! transfers (Fei et al. 2021, AFLIP).
//!
//! The transfer to the grid and back loses the motion of the particles of a cell beyond their
//! affine field. Every substep loses a part, so the loss grows with the number of substeps,
//! whatever their length: sand behaves as if it were viscous, thin layers stop, and stiffer sand
//! stops sooner because its substeps are shorter. Here a granular particle gets the lost motion
//! back,
//!
//! v_p = sum_i w_ip v_i + k (v_p' - sum_i w_ip v_i'),  C_p = C(v_i) + k (C_p' - C(v_i')),
//!
//! where v_p', C_p' are the particle's before the substep and v_i' the grid velocity from granular
//! particles alone without forces, so that the sum of the subgrid motion has neither momentum nor
//! angular momentum, whatever else is in the same cells. Particles move and deform with the grid's
//! velocity v; because the subgrid motion does not move them, the angular momentum changes by the
//! sum of substep m v x (subgrid velocity), the same in every inertial frame. Nothing resists the
//! subgrid motion, so it has to decay: k = exp(-[`DECAY`] sqrt(g/h) substep), within about the time
//! in which a grain falls by a cell. Without gravity none is kept.

use crate::blocks::NodeBlock;
use crate::gather::{affine_of, copy_nodes, gather_stencil, load_stencil};
use crate::material::{Material, Model};
use crate::scratchpad::{STENCIL, Scratchpad, StencilBox};
use crate::sort::NEIGHBOURS;
use crate::tiles::{KinematicsTile, ParticleBlock, kinematics, store_masked};
use crate::weights::Stencils;
use pliant_numeric::scalar::Real;
use pliant_numeric::simd::{F32x16, Kernel, LANES, Lanes, Simd};

/// Decay rate of the subgrid motion, in units of sqrt(g/h) (no unit).
pub const DECAY: f64 = 1.0;

/// Rows of a tile's subgrid motion: velocity \[m/s\], then affine field \[1/s\].
pub(crate) const ROWS: usize = 12;

/// Subgrid motion of sixteen particles.
pub(crate) type SubgridMotion = [F32x16; ROWS];

/// Fraction of the subgrid motion that remains after `substep` \[s\] under the gravity `g`
/// \[m/s^2\] on a grid of spacing `grid_spacing` \[m\].
pub fn subgrid_retention(g: f64, grid_spacing: f64, substep: f64) -> f64 {
    if g > 0.0 { (-DECAY * (g / grid_spacing).sqrt() * substep).exp() } else { 0.0 }
}

/// Whether particles of this material keep their subgrid motion.
pub fn has_subgrid_motion(material: &Material) -> bool {
    matches!(material.model, Model::Granular(_))
}

/// Lanes of a tile whose particles keep their subgrid motion, as bits.
#[inline(always)]
pub(crate) fn granular_lanes(motion: &KinematicsTile, materials: &[Material]) -> u16 {
    let material = &motion[kinematics::MATERIAL].0;
    let mut lanes = 0;
    for l in 0..LANES {
        let keeps = materials.get(material[l].to_bits() as usize).is_some_and(has_subgrid_motion);
        lanes |= u16::from(keeps) << l;
    }
    lanes
}

/// Finds the subgrid motion of a block's particles, before the substep after which it is added.
pub(crate) struct FindSubgridMotion<'a> {
    pub block: &'a ParticleBlock,
    pub kinematics: &'a [KinematicsTile],
    /// Of the block's tiles.
    pub subgrid_motions: &'a mut [SubgridMotion],
    pub stencil_box: &'a StencilBox,
    /// Node blocks around the block.
    pub around: &'a [u32; NEIGHBOURS],
    /// With the grid velocities from granular particles alone, without forces.
    pub nodes: &'a [NodeBlock],
    /// Scratch memory.
    pub scratchpad: &'a mut Scratchpad,
    /// Grid spacing h \[m\].
    pub grid_spacing: f32,
}

impl Kernel for FindSubgridMotion<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        copy_nodes::<S>(self.scratchpad, self.around, self.nodes, self.stencil_box);
        let mut weights = [F32x16::ZERO; LANES];
        let mut gathered = [F32x16::ZERO; LANES];
        let mut stencil = [S::splat(0.0); 9];
        let mut at = usize::MAX;
        for (t, (motion, detail)) in self.kinematics.iter().zip(self.subgrid_motions).enumerate() {
            let lanes = self.block.lanes(t);
            let stencils = Stencils::<S>::of(motion);
            stencils.particle_rows(&mut weights);
            let indices = stencils.scratchpad_indices();
            for l in 0..lanes {
                if indices[l] != at {
                    at = indices[l];
                    stencil = load_stencil::<S>(&self.scratchpad.values[at..at + STENCIL]);
                }
                gather_stencil::<S>(&stencil, &weights[l], &mut gathered[l]);
            }
            for row in &mut gathered[lanes..] {
                *row = F32x16::ZERO;
            }
            let (velocity, affine) = affine_of(&stencils, &gathered, self.grid_spacing);
            for d in 0..3 {
                let own = Lanes::<S>::load(&motion[kinematics::VELOCITY + d]);
                (own - velocity[d]).store(&mut detail[d]);
                for e in 0..3 {
                    let own = Lanes::<S>::load(&motion[kinematics::AFFINE + d * 3 + e]);
                    (own - affine.0[d][e]).store(&mut detail[3 + d * 3 + e]);
                }
            }
        }
    }
}

/// Adds the subgrid motion to the particles of a tile: the fraction `subgrid_retention`, in the
/// lanes of granular materials.
#[inline(always)]
pub(crate) fn add_subgrid_motion<S: Simd>(
    motion: &mut KinematicsTile,
    detail: &SubgridMotion,
    kept: f32,
    materials: &[Material],
) {
    let mask = S::mask_from_bits(granular_lanes(motion, materials));
    for (n, row) in detail.iter().enumerate() {
        let row_of_tile = &mut motion[kinematics::VELOCITY + n];
        let sum = Lanes::<S>::load(row).mul_add(Lanes::all(kept), Lanes::load(row_of_tile));
        store_masked::<S>(row_of_tile, mask, sum);
    }
}

const _: () = assert!(kinematics::AFFINE == kinematics::VELOCITY + 3);
