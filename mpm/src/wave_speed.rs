//! The fastest wave of the present state, and the largest stable substep for it.

use rayon::prelude::*;

use crate::constitutive::Constitutive;
use crate::engine::Mpm;
use crate::g2p::{ModelCache, load_gradient};
use crate::material::Material;
use crate::stable_step::{COURANT_NUMBER, SPEED_MARGIN, largest_stable_substep};
use crate::tiles::{DeformationTile, KinematicsTile, ParticleBlock, kinematics};
use pliant_numeric::simd::{F32x16, Kernel, LANES, Simd};

impl Mpm {
    /// Largest stable substep for particles that move at up to `max_speed` [m/s], of solids and sheets
    /// as they are deformed now: [`largest_stable_substep`], for waves beyond [`SPEED_MARGIN`] with
    /// their speed ([`Constitutive::wave_modulus`]), and
    /// [`Stability::largest_substep`](crate::cloth::Stability::largest_substep) \[s\].
    pub fn largest_stable_substep(&self, max_speed: f64) -> f64 {
        let of_sheets =
            self.sheets.as_ref().map_or(f64::INFINITY, |sheets| sheets.largest_substep(max_speed));
        let beyond = self.fastest_wave() / SPEED_MARGIN;
        largest_stable_substep(self.grid_spacing, &self.materials, max_speed)
            .min(COURANT_NUMBER * self.grid_spacing / (beyond + max_speed))
            .min(of_sheets)
    }

    /// Largest stable substep of solids and sheets that neither move nor are deformed \[s\].
    pub fn stable_substep_at_rest(&self) -> f64 {
        let of_sheets = self.sheets.as_ref().map_or(f64::INFINITY, |sheets| sheets.largest_substep_at_rest());
        largest_stable_substep(self.grid_spacing, &self.materials, 0.0).min(of_sheets)
    }

    /// Speed of the fastest wave in a solid as it is deformed now, an upper bound; zero without solids
    /// that stay elastic \[m/s\].
    pub fn fastest_wave(&self) -> f64 {
        let store = &self.store;
        let of_block = |block: &ParticleBlock| {
            self.level.run(FastestWave {
                kinematics: &store.kinematics[block.range()],
                deformation: &store.deformation[block.range()],
                materials: &self.materials,
            })
        };
        if !self.materials.iter().any(|material| material.model.is_elastic()) {
            return 0.0;
        }
        f64::from(store.blocks.par_iter().map(of_block).reduce(|| 0.0, f32::max)).sqrt()
    }
}

/// Square of the speed of the fastest wave in the particles of a block \[m^2/s^2\].
struct FastestWave<'a> {
    kinematics: &'a [KinematicsTile],
    deformation: &'a [DeformationTile],
    materials: &'a [Material],
}

impl Kernel for FastestWave<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<S: Simd>(self) -> f32 {
        let mut models = ModelCache::<S>::new(self.materials, &[]);
        let mut fastest = 0.0_f32;
        for (motion, strain) in self.kinematics.iter().zip(self.deformation) {
            let material = motion[kinematics::MATERIAL].0;
            let f = load_gradient::<S>(strain);
            let mut todo: u16 = u16::MAX;
            while todo != 0 {
                let bits = material[todo.trailing_zeros() as usize].to_bits();
                let same =
                    (0..LANES).fold(0, |m: u16, l| m | (u16::from(material[l].to_bits() == bits) << l));
                todo &= !same;
                if (bits as usize) < self.materials.len() {
                    let (model, volume_per_mass) = models.get(bits as usize);
                    let mut row = F32x16::ZERO;
                    (model.wave_modulus(&f) * volume_per_mass).store(&mut row);
                    // Padding is at rest: its deformation gradient is the identity.
                    let lanes = (0..LANES).filter(|l| same >> l & 1 == 1);
                    fastest = lanes.fold(fastest, |most, l| most.max(row.0[l]));
                }
            }
        }
        fastest
    }
}
