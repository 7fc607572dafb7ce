//! Grid to particles: velocity, affine field, position, deformation gradient, return mapping and
//! stress.
//!
//! v_p = sum_i w_ip v_i;  C_p = (4/h^2) sum_i w_ip v_i (x_i - x_p)^T;  F <- (I + substep C_p) F;
//! x_p += substep v_p, less the grid's own displacement (Jiang et al. 2016, Hu et al. 2018).
//! Mirrors P2G: nine registers hold a cell's stencil for all of its particles, sixteen particles
//! update at once.

use crate::blocks::NodeBlock;
use crate::constitutive::{AnyModel, Constitutive, ConstitutiveResponse};
use crate::detail::{SubgridMotion, add_subgrid_motion};
use crate::dither::Dither;
use crate::gather::{affine_of, copy_nodes, gather_stencil, load_stencil};
use crate::grid::Impulse;
use crate::material::{Material, Model};
use crate::scratchpad::{HIGHEST, LOWEST, STENCIL, Scratchpad, StencilBox};
use crate::sort::NEIGHBOURS;
use crate::tiles::{
    DeformationTile, KinematicsTile, ParticleBlock, add_to_sum, deformation, kinematics, prefetch,
    store_masked,
};
use crate::weights::Stencils;
use pliant_numeric::linalg::{Mat3, Sym3};
use pliant_numeric::scalar::Real;
use pliant_numeric::simd::{F32x16, Kernel, LANES, Lanes, Simd};

/// G2P of one block.
pub(crate) struct GridToParticles<'a> {
    pub block: &'a ParticleBlock,
    /// The block's tiles.
    pub kinematics: &'a mut [KinematicsTile],
    pub deformation: &'a mut [DeformationTile],
    /// Stencil box of the particles; replaced by that after the transfer.
    pub stencil_box: &'a mut StencilBox,
    /// Node blocks around the block.
    pub around: &'a [u32; NEIGHBOURS],
    pub nodes: &'a [NodeBlock],
    /// Scratch memory.
    pub scratchpad: &'a mut Scratchpad,
    pub materials: &'a [Material],
    /// Of cloth and ropes, whose materials follow the others: fraction of the symmetric velocity gradient
    /// that is kept.
    pub kept: &'a [f32],
    /// Grid spacing h \[m\].
    pub grid_spacing: f32,
    /// Velocity of the grid \[m/s\].
    pub grid_velocity: [f32; 3],
    /// Substep \[s\].
    pub substep: f32,
    pub dither: &'a Dither,
    /// Subgrid motion, one entry per tile; empty without granular materials ([`crate::detail`]).
    pub subgrid_motions: &'a [SubgridMotion],
    /// Fraction of it.
    pub subgrid_fraction: f32,
}

/// Result of G2P for a block's particles.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockOutcome {
    /// Some particle left its block's scratchpad: sort before the next transfer.
    pub sort: bool,
    /// A particle (tile within the block, lane) that is not finite or left its neighbourhood.
    pub lost: Option<(u32, u32)>,
    /// Square of the largest speed \[m^2/s^2\].
    pub speed_squared: f32,
    /// Elastic energy dissipated by return mappings, and kinetic energy by damping \[J\].
    pub plastic: f64,
    pub damping: f64,
    /// Impulse of mass-proportional damping.
    pub drag: Impulse,
}

/// Cells beyond the scratchpad within which the sort still finds a particle.
pub(crate) const SORT_REACH: f32 = 2.0;

impl Kernel for GridToParticles<'_> {
    type Output = BlockOutcome;

    #[inline(always)]
    fn run<S: Simd>(self) -> BlockOutcome {
        copy_nodes::<S>(self.scratchpad, self.around, self.nodes, self.stencil_box);
        let mut outcome = BlockOutcome::default();
        let mut extent = PositionBounds::<S>::new();
        let mut weights = [F32x16::ZERO; LANES];
        let mut gathered = [F32x16::ZERO; LANES];
        let mut stencil = [S::splat(0.0); 9];
        let mut at = usize::MAX;
        let mut models = ModelCache::<S>::new(self.materials, self.kept);
        let mut fastest = Lanes::<S>::all(0.0);
        let tiles = self.kinematics.iter_mut().zip(self.deformation.iter_mut());
        for (t, (motion, strain)) in tiles.enumerate() {
            prefetch::<S>(strain);
            let lanes = self.block.lanes(t);
            let stencils = Stencils::<S>::of(motion);
            stencils.particle_rows(&mut weights);
            prefetch::<S>(motion);
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
            let substep = Substep {
                substep: self.substep,
                dither: self.dither,
                grid_spacing: self.grid_spacing,
                lanes,
            };
            let affine = move_particles(&stencils, motion, &gathered, self.grid_velocity, &substep);
            models.update(motion, strain, &affine, &substep, &mut outcome);
            if let Some(detail) = self.subgrid_motions.get(t) {
                add_subgrid_motion::<S>(motion, detail, self.subgrid_fraction, self.materials);
            }
            extent.include(motion);
            check_positions::<S>(motion, t, lanes, &mut outcome);
            fastest = fastest.max(speed_squared(motion));
        }
        let mut row = F32x16::ZERO;
        fastest.store(&mut row);
        outcome.speed_squared = row.0.iter().fold(0.0, |a, &b| a.max(b));
        *self.stencil_box = extent.stencil_box();
        outcome
    }
}

/// Lowest and highest positions of some particles, padding included.
pub(crate) struct PositionBounds<S: Simd> {
    lowest: [Lanes<S>; 3],
    highest: [Lanes<S>; 3],
}

impl<S: Simd> PositionBounds<S> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { lowest: [Lanes::all(f32::MAX); 3], highest: [Lanes::all(f32::MIN); 3] }
    }

    #[inline(always)]
    pub(crate) fn include(&mut self, motion: &KinematicsTile) {
        for d in 0..3 {
            let x = Lanes::load(&motion[kinematics::POSITION + d]);
            self.lowest[d] = self.lowest[d].min(x);
            self.highest[d] = self.highest[d].max(x);
        }
    }

    #[inline(always)]
    pub(crate) fn stencil_box(&self) -> StencilBox {
        let (mut lowest, mut highest) = ([f32::MAX; 3], [f32::MIN; 3]);
        for d in 0..3 {
            let (mut low, mut high) = (F32x16::ZERO, F32x16::ZERO);
            self.lowest[d].store(&mut low);
            self.highest[d].store(&mut high);
            for l in 0..LANES {
                lowest[d] = lowest[d].min(low.0[l]);
                highest[d] = highest[d].max(high.0[l]);
            }
        }
        StencilBox::around(lowest, highest)
    }
}

/// Finds the stencil box of a block, as G2P does.
pub(crate) struct MeasureStencilBox<'a> {
    /// The block's tiles.
    pub kinematics: &'a [KinematicsTile],
}

impl Kernel for MeasureStencilBox<'_> {
    type Output = StencilBox;

    #[inline(always)]
    fn run<S: Simd>(self) -> StencilBox {
        let mut extent = PositionBounds::<S>::new();
        for motion in self.kinematics {
            extent.include(motion);
        }
        extent.stencil_box()
    }
}

/// Velocity, affine field and position on the grid; returns the affine field.
#[inline(always)]
fn move_particles<S: Simd>(
    stencils: &Stencils<S>,
    motion: &mut KinematicsTile,
    gathered: &[F32x16; LANES],
    grid_velocity: [f32; 3],
    substep: &Substep<'_>,
) -> Mat3<Lanes<S>> {
    use kinematics::{AFFINE, POSITION, POSITION_LOW, VELOCITY};
    let (velocity, affine) = affine_of(stencils, gathered, substep.grid_spacing);
    let step = Lanes::<S>::all(substep.substep / substep.grid_spacing);
    let particles = S::mask_from_bits(u16::MAX >> (LANES - substep.lanes));
    for d in 0..3 {
        velocity[d].store(&mut motion[VELOCITY + d]);
        for e in 0..3 {
            affine.0[d][e].store(&mut motion[AFFINE + d * 3 + e]);
        }
        // Padding is at rest relative to the grid.
        let across = velocity[d] - Lanes(S::select(particles, S::splat(grid_velocity[d]), S::splat(0.0)));
        let position = [POSITION, POSITION_LOW].map(|row| Lanes::load(&motion[row + d]));
        let [high, low] = add_to_sum(position, across * step);
        high.store(&mut motion[POSITION + d]);
        low.store(&mut motion[POSITION_LOW + d]);
    }
    affine
}

/// Input of the update of a tile.
#[derive(Clone, Copy)]
struct Substep<'a> {
    /// Substep \[s\].
    substep: f32,
    dither: &'a Dither,
    /// Grid spacing h \[m\].
    grid_spacing: f32,
    /// Lanes that hold particles.
    lanes: usize,
}

/// The materials' models as lanes; the last one used is kept.
pub(crate) struct ModelCache<'a, S: Simd> {
    materials: &'a [Material],
    kept: &'a [f32],
    index: usize,
    model: Option<(AnyModel<Lanes<S>>, Lanes<S>)>,
}

impl<'a, S: Simd> ModelCache<'a, S> {
    #[inline(always)]
    pub(crate) fn new(materials: &'a [Material], kept: &'a [f32]) -> Self {
        Self { materials, kept, index: usize::MAX, model: None }
    }

    /// The model and the volume per mass of material `index`.
    #[inline(always)]
    pub(crate) fn get(&mut self, index: usize) -> (AnyModel<Lanes<S>>, Lanes<S>) {
        match self.model {
            Some(cached) if self.index == index => cached,
            _ => {
                let material = &self.materials[index];
                let fresh = (AnyModel::new(&material.model), Lanes::splat(1.0 / material.density));
                self.index = index;
                self.model = Some(fresh);
                fresh
            }
        }
    }

    /// Deformation gradient, return mapping and stress of a tile.
    #[inline(always)]
    fn update(
        &mut self,
        motion: &mut KinematicsTile,
        strain: &mut DeformationTile,
        affine: &Mat3<Lanes<S>>,
        substep: &Substep<'_>,
        outcome: &mut BlockOutcome,
    ) {
        use deformation::{MASS, STATE};
        let step = Lanes::<S>::all(substep.substep);
        let f = load_gradient::<S>(strain);
        let state = Lanes::<S>::load(&strain[STATE]);
        let material = motion[kinematics::MATERIAL].0;
        let mut todo: u16 = u16::MAX;
        while todo != 0 {
            let bits = material[todo.trailing_zeros() as usize].to_bits();
            let same = (0..LANES).fold(0, |m: u16, l| m | (u16::from(material[l].to_bits() == bits) << l));
            if let Some(sheet) = (bits as usize).checked_sub(self.materials.len()) {
                store_director(strain, &f, affine, substep, same);
                let kept = self.kept[sheet];
                let inertia = Lanes::all(substep.grid_spacing * substep.grid_spacing / 8.0);
                let lost = damp(motion, affine, kept, same) * inertia * Lanes::load(&strain[MASS]);
                outcome.damping += sum_of(lost, same, substep.lanes);
            } else {
                let (model, volume_per_mass) = self.get(bits as usize);
                // Strain of grains that slide past each other does not add up: it is renewed in every substep.
                let is_granular = matches!(self.materials[bits as usize].model, Model::Granular(_));
                let dither = if is_granular { &Dither::NONE } else { substep.dither };
                let trial = trial_gradient(&f, affine, step, dither);
                let response = model.update(trial, state, step);
                if model.is_plastic() {
                    let volume = volume_per_mass * Lanes::load(&strain[MASS]);
                    outcome.plastic += sum_of(response.dissipated * volume, same, substep.lanes);
                }
                store_response(strain, &response, volume_per_mass, same);
            }
            todo &= !same;
        }
    }
}

/// (I + step C) F, before the return mapping.
#[inline(always)]
fn trial_gradient<S: Simd>(
    f: &Mat3<Lanes<S>>,
    affine: &Mat3<Lanes<S>>,
    step: Lanes<S>,
    dither: &Dither,
) -> Mat3<Lanes<S>> {
    let mut trial = *f;
    for i in 0..3 {
        for j in 0..3 {
            let mut change = affine.0[i][0] * f.0[0][j];
            change = affine.0[i][1].mul_add(f.0[1][j], change);
            change = affine.0[i][2].mul_add(f.0[2][j], change);
            trial.0[i][j] = dither.of_gradient(i, j).add(f.0[i][j], step, change);
        }
    }
    trial
}

/// Moves the directors of the cloth in `lanes` with the affine field, to second order ([`crate::cloth`],
/// "Directors"). They are the last columns of its deformation gradients `f`; the others are written by its
/// own step.
#[inline(always)]
fn store_director<S: Simd>(
    strain: &mut DeformationTile,
    f: &Mat3<Lanes<S>>,
    affine: &Mat3<Lanes<S>>,
    substep: &Substep<'_>,
    lanes: u16,
) {
    let (mask, step) = (S::mask_from_bits(lanes), Lanes::<S>::all(substep.substep));
    let carried = |d: &[Lanes<S>; 3], i: usize| {
        let change = affine.0[i][1].mul_add(d[1], affine.0[i][0] * d[0]);
        affine.0[i][2].mul_add(d[2], change)
    };
    let director = f.0.map(|row| row[2]);
    let half = step * Lanes::all(0.5);
    let half_way = core::array::from_fn(|i| half.mul_add(carried(&director, i), director[i]));
    for i in 0..3 {
        let moved = substep.dither.of_gradient(i, 2).add(director[i], step, carried(&half_way, i));
        store_masked::<S>(&mut strain[deformation::GRADIENT + i * 3 + 2], mask, moved);
    }
}

/// The deformation gradients of a tile.
#[inline(always)]
pub(crate) fn load_gradient<S: Simd>(strain: &DeformationTile) -> Mat3<Lanes<S>> {
    let mut f = Mat3([[Lanes::all(0.0); 3]; 3]);
    for i in 0..3 {
        for j in 0..3 {
            f.0[i][j] = Lanes::load(&strain[deformation::GRADIENT + i * 3 + j]);
        }
    }
    f
}

/// Stores the deformation gradients of the lanes in `lanes`.
#[inline(always)]
fn store_gradient<S: Simd>(strain: &mut DeformationTile, gradient: &Mat3<Lanes<S>>, lanes: u16) {
    let mask = S::mask_from_bits(lanes);
    for i in 0..3 {
        for j in 0..3 {
            store_masked::<S>(&mut strain[deformation::GRADIENT + i * 3 + j], mask, gradient.0[i][j]);
        }
    }
}

/// Sum over the lanes of a mask, of the first `count`, in f64.
#[inline(always)]
fn sum_of<S: Simd>(values: Lanes<S>, mask: u16, count: usize) -> f64 {
    let mut row = F32x16::ZERO;
    values.store(&mut row);
    let mut sum = 0.0;
    for l in 0..count {
        if mask >> l & 1 == 1 {
            sum += f64::from(row.0[l]);
        }
    }
    sum
}

/// Damping of cloth: of the symmetric part of C only the fraction `kept` remains, C <- (V+1)/2 C +
/// (V-1)/2 C^T. Returns the loss of |C|^2.
#[inline(always)]
fn damp<S: Simd>(motion: &mut KinematicsTile, affine: &Mat3<Lanes<S>>, kept: f32, lanes: u16) -> Lanes<S> {
    let mask = S::mask_from_bits(lanes);
    let (own, other) = (Lanes::<S>::all(0.5 * (kept + 1.0)), Lanes::<S>::all(0.5 * (kept - 1.0)));
    let mut lost = Lanes::<S>::all(0.0);
    for i in 0..3 {
        for j in 0..3 {
            let damped = own.mul_add(affine.0[i][j], other * affine.0[j][i]);
            store_masked::<S>(&mut motion[kinematics::AFFINE + i * 3 + j], mask, damped);
            let symmetric = Lanes::<S>::all(0.5) * (affine.0[i][j] + affine.0[j][i]);
            lost = symmetric.mul_add(symmetric, lost);
        }
    }
    lost * Lanes::all(1.0 - kept * kept)
}

/// Stores the response of the lanes in `lanes`.
#[inline(always)]
fn store_response<S: Simd>(
    strain: &mut DeformationTile,
    r: &ConstitutiveResponse<Lanes<S>>,
    volume_per_mass: Lanes<S>,
    lanes: u16,
) {
    use deformation::{MASS, STATE, STRESS_VOLUME};
    let volume = volume_per_mass * Lanes::load(&strain[MASS]);
    let Sym3 { xx, yy, zz, xy, xz, yz } = r.kirchhoff_stress;
    let mask = S::mask_from_bits(lanes);
    store_gradient(strain, &r.deformation_gradient, lanes);
    let stress = [xx, yy, zz, xy, xz, yz];
    for n in 0..6 {
        store_masked::<S>(&mut strain[STRESS_VOLUME + n], mask, stress[n] * volume);
    }
    store_masked::<S>(&mut strain[STATE], mask, r.state);
}

/// Lanes with `low <= x < high`, as bits; NaN is not within.
#[inline(always)]
fn lanes_within<S: Simd>(x: S::V, low: f32, high: f32) -> u16 {
    S::mask_bits(S::mask_and(S::le(S::splat(low), x), S::lt(x, S::splat(high))))
}

/// Squares of the speeds of a tile's particles \[m^2/s^2\].
#[inline(always)]
pub(crate) fn speed_squared<S: Simd>(motion: &KinematicsTile) -> Lanes<S> {
    let mut sum = Lanes::<S>::all(0.0);
    for d in 0..3 {
        let v = Lanes::load(&motion[kinematics::VELOCITY + d]);
        sum += v * v;
    }
    sum
}

/// Records particles that left the scratchpad.
#[inline(always)]
pub(crate) fn check_positions<S: Simd>(
    motion: &KinematicsTile,
    t: usize,
    lanes: usize,
    outcome: &mut BlockOutcome,
) {
    let mut here = u16::MAX;
    let mut near = u16::MAX;
    for d in 0..3 {
        let x = S::load(&motion[kinematics::POSITION + d].0);
        here &= lanes_within::<S>(x, LOWEST, HIGHEST);
        near &= lanes_within::<S>(x, LOWEST - SORT_REACH, HIGHEST + SORT_REACH);
    }
    if here == u16::MAX {
        return;
    }
    let valid = (u32::from(u16::MAX) >> (LANES - lanes)) as u16;
    outcome.sort |= !here & valid != 0;
    let lost = !near & valid;
    if lost != 0 && outcome.lost.is_none() {
        outcome.lost = Some((t as u32, lost.trailing_zeros()));
    }
}
