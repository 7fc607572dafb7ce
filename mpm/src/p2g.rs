//! Particles to grid: mass, momentum and internal force (MLS-MPM, Hu et al. 2018, with APIC, Jiang
//! et al. 2015).
//!
//! (m v)_i += w_ip [ m_p (v_p + C_p (x_i - x_p)) - kick V_p (4/h^2) tau_p (x_i - x_p) ].
//!
//! Sixteen particles at a time compute their contributions; then, particle by particle, a vector
//! holds three nodes of a z-run, and nine accumulators hold the whole stencil in registers for as
//! long as the cell stays the same.

use crate::detail::granular_lanes;
use crate::material::Material;
use crate::scratchpad::{STENCIL, STRIDE_X, STRIDE_Y, Scratchpad, StencilBox};
use crate::sheets::lanes::{self, is_cloth};
use crate::tiles::{DeformationTile, KinematicsTile, ParticleBlock, deformation, kinematics, prefetch};
use crate::weights::Stencils;
use pliant_numeric::simd::{F32x16, Kernel, LANES, Lanes, Simd};

/// P2G of one block into its stencil box; returns the number of runs of particles in the same cell.
pub(crate) struct ParticlesToGrid<'a> {
    pub block: &'a ParticleBlock,
    /// The block's tiles.
    pub kinematics: &'a [KinematicsTile],
    pub deformation: &'a [DeformationTile],
    /// Their stencil box.
    pub stencil_box: &'a StencilBox,
    /// The rows of the stencil box.
    pub rows: &'a mut [F32x16],
    /// Scratch memory.
    pub scratchpad: &'a mut Scratchpad,
    /// Grid spacing h \[m\].
    pub grid_spacing: f32,
    /// Time over which internal forces act \[s\], see [`LastSubstep::kick`](crate::LastSubstep::kick).
    pub kick: f32,
    /// Number of materials that are not cloth, if there is cloth.
    pub cloth_from: Option<usize>,
    /// The materials, where only the granular particles are to be transferred.
    pub granular_of: Option<&'a [Material]>,
}

/// Momentum polynomials of a tile, one row per particle: (m0, mass), c0, c1, c2, so that node
/// (i, j, k) of the stencil gets w (m0 + i c0 + j c1 + k c2).
#[inline(always)]
fn momenta<S: Simd>(
    stencils: &Stencils<S>,
    motion: &KinematicsTile,
    strain: &DeformationTile,
    grid_spacing: f32,
    force: f32,
    cloth_impulses: Option<&ClothImpulses<S>>,
    granular_of: Option<&[Material]>,
    rows: &mut [F32x16; LANES],
) {
    use deformation::{MASS, STRESS_VOLUME};
    use kinematics::{AFFINE, VELOCITY};
    let mut mass = Lanes::<S>::load(&strain[MASS]);
    if let Some(materials) = granular_of {
        let mask = S::mask_from_bits(granular_lanes(motion, materials));
        mass = Lanes(S::select(mask, mass.0, S::splat(0.0)));
    }
    let mass_h = mass * Lanes::all(grid_spacing);
    let force = Lanes::all(force);
    // Row d, column e of the symmetric stress among xx, yy, zz, xy, xz, yz.
    const SYMMETRIC: [[usize; 3]; 3] = [[0, 3, 4], [3, 1, 5], [4, 5, 2]];
    let mut columns = [S::splat(0.0); LANES];
    for d in 0..3 {
        let mut at_base = mass * Lanes::load(&motion[VELOCITY + d]);
        if let Some(cloth_impulses) = cloth_impulses {
            at_base += cloth_impulses.impulse[d];
        }
        for e in 0..3 {
            let stress = Lanes::load(&strain[STRESS_VOLUME + SYMMETRIC[d][e]]);
            let mut slope = mass_h * Lanes::load(&motion[AFFINE + d * 3 + e]) + force * stress;
            if let Some(cloth_impulses) = cloth_impulses {
                slope = cloth_impulses.add_moment(slope, force, d, e);
            }
            at_base -= slope * stencils.offset[e];
            columns[4 + e * 4 + d] = slope.0;
        }
        columns[d] = at_base.0;
    }
    columns[3] = mass.0;
    let transposed = S::transpose(columns);
    for l in 0..LANES {
        S::store(&mut rows[l].0, transposed[l]);
    }
}

/// Contribution of cloth to a tile's momentum polynomials: zero in the lanes of others.
struct ClothImpulses<S: Simd> {
    /// Impulse of the forces on vertices \[N s\].
    impulse: [Lanes<S>; 3],
    /// Axial vector of the skew part of a face's stress times volume \[J\].
    moment: [Lanes<S>; 3],
}

impl<S: Simd> ClothImpulses<S> {
    /// None for a tile without cloth; materials of cloth are numbered from `from`.
    #[inline(always)]
    fn of(motion: &KinematicsTile, strain: &DeformationTile, from: usize, kick: f32) -> Option<Self> {
        let material = &motion[kinematics::MATERIAL].0;
        let mut cloth = 0;
        for l in 0..LANES {
            cloth |= u16::from(is_cloth(material[l], from)) << l;
        }
        if cloth == 0 {
            return None;
        }
        let (mask, zero) = (S::mask_from_bits(cloth), S::splat(0.0));
        let mut cloth_impulses = Self { impulse: [Lanes::all(0.0); 3], moment: [Lanes::all(0.0); 3] };
        for d in 0..3 {
            let force = S::select(mask, S::load(&strain[lanes::FORCE[d]].0), zero);
            cloth_impulses.impulse[d] = Lanes(force) * Lanes::all(kick);
            cloth_impulses.moment[d] = Lanes(S::select(mask, S::load(&strain[lanes::MOMENT[d]].0), zero));
        }
        Some(cloth_impulses)
    }

    /// Adds `factor` times entry (d, e) of the skew stress: -m_z for (x, y), m_y for (x, z), and so
    /// on around.
    #[inline(always)]
    fn add_moment(&self, slope: Lanes<S>, factor: Lanes<S>, d: usize, e: usize) -> Lanes<S> {
        match (e + 3 - d) % 3 {
            1 => slope - factor * self.moment[3 - d - e],
            2 => slope + factor * self.moment[3 - d - e],
            _ => slope,
        }
    }
}

/// The four quarters of a row.
#[inline(always)]
fn quad(row: &F32x16, q: usize) -> &[f32; 4] {
    let (quads, _) = row.0.as_chunks::<4>();
    &quads[q]
}

impl Kernel for ParticlesToGrid<'_> {
    type Output = u32;

    #[inline(always)]
    fn run<S: Simd>(self) -> u32 {
        let force = -self.kick * 4.0 / self.grid_spacing;
        let node_index = S::load(&[0., 0., 0., 0., 1., 1., 1., 1., 2., 2., 2., 2., 0., 0., 0., 0.]);
        let nodes = self.scratchpad.rows_mut();
        self.stencil_box.for_each_row(
            #[inline(always)]
            |_, a| S::store(&mut nodes[a], S::splat(0.0)),
        );
        let values = &mut self.scratchpad.values;
        let mut weights = [F32x16::ZERO; LANES];
        let mut momentum = [F32x16::ZERO; LANES];
        let mut sums = [S::splat(0.0); 9];
        let mut at = usize::MAX;
        let mut cell_runs = 0;
        for (t, (motion, strain)) in self.kinematics.iter().zip(self.deformation).enumerate() {
            if let (Some(motion), Some(strain)) = (self.kinematics.get(t + 1), self.deformation.get(t + 1)) {
                prefetch::<S>(&motion[..kinematics::ID]);
                prefetch::<S>(&strain[deformation::STRESS_VOLUME..=deformation::MASS]);
            }
            let stencils = Stencils::<S>::of(motion);
            stencils.particle_rows(&mut weights);
            let cloth_impulses = match self.cloth_from {
                Some(from) => ClothImpulses::of(motion, strain, from, self.kick),
                None => None,
            };
            let (grid_spacing, granular_of) = (self.grid_spacing, self.granular_of);
            momenta(
                &stencils,
                motion,
                strain,
                grid_spacing,
                force,
                cloth_impulses.as_ref(),
                granular_of,
                &mut momentum,
            );
            let indices = stencils.scratchpad_indices();
            for l in 0..self.block.lanes(t) {
                if indices[l] != at {
                    if at != usize::MAX {
                        flush::<S>(values, at, &sums);
                    }
                    sums = [S::splat(0.0); 9];
                    at = indices[l];
                    cell_runs += 1;
                }
                let row = &weights[l];
                let along_z = S::spread_z_weights(&row.0);
                let polynomial = &momentum[l];
                let constant = S::mul_add(
                    node_index,
                    S::broadcast_quad(quad(polynomial, 3)),
                    S::broadcast_quad(quad(polynomial, 0)),
                );
                let mut in_x = S::mul(constant, along_z);
                let step_x = S::mul(S::broadcast_quad(quad(polynomial, 1)), along_z);
                let step_y = S::mul(S::broadcast_quad(quad(polynomial, 2)), along_z);
                for i in 0..3 {
                    let mut in_y = in_x;
                    for j in 0..3 {
                        let n = i * 3 + j;
                        sums[n] = S::mul_add(S::splat(row.0[n]), in_y, sums[n]);
                        in_y = S::add(in_y, step_y);
                    }
                    in_x = S::add(in_x, step_x);
                }
            }
        }
        if at != usize::MAX {
            flush::<S>(values, at, &sums);
        }
        let nodes = self.scratchpad.rows();
        self.stencil_box.for_each_row(
            #[inline(always)]
            |w, a| S::store(&mut self.rows[w].0, S::load(&nodes[a])),
        );
        cell_runs
    }
}

/// Adds a cell's sums to the scratchpad.
#[inline(always)]
fn flush<S: Simd>(values: &mut [f32], at: usize, sums: &[S::V; 9]) {
    let stencil_box = &mut values[at..at + STENCIL];
    for i in 0..3 {
        for j in 0..3 {
            let row = &mut stencil_box[i * STRIDE_X + j * STRIDE_Y..][..LANES];
            let sum = S::add(S::load_slice(row), sums[i * 3 + j]);
            S::store_slice(row, sum);
        }
    }
}
