//! The largest stable substep of explicit elasticity, and what of the last one the next depends on.

use nalgebra::Vector3;

use crate::material::Material;

/// Courant number c of [`largest_stable_substep`].
///
/// Measured on the f64 reference near rest: energy of a free block with 2 % random velocities first
/// grows at substep c_s / h between 0.9 (nu 0.45, one particle a cell) and 1.25 (nu 0, eight), and
/// then without bound. Stretching lowers the limit, see [`SPEED_MARGIN`].
pub const COURANT_NUMBER: f64 = 0.4;

/// How much faster than at rest waves may be within [`COURANT_NUMBER`]: those of a fixed corotated
/// material that is stretched by 1.5 in all directions, at nu = 0, are at 0.4 sqrt(3) = 0.69 of the
/// 0.9 where energy first grows. Faster ones shorten the substep.
pub const SPEED_MARGIN: f64 = 1.5;

/// Largest substep in s for a grid spacing `grid_spacing` in m and particles that move at up to
/// `max_speed` in m/s: `c grid_spacing / (c_s + max_speed)`, with c_s the fastest pressure wave
/// sqrt((lambda + 2 mu) / rho) among the materials at rest (Courant, Friedrichs and Lewy 1928).
/// Infinite if nothing moves and there is no material.
pub fn largest_stable_substep(grid_spacing: f64, materials: &[Material], max_speed: f64) -> f64 {
    let fastest = materials.iter().map(Material::pressure_wave_speed).fold(0.0, f64::max);
    COURANT_NUMBER * grid_spacing / (fastest + max_speed)
}

/// The last substep of particles: their velocities are half of it behind their positions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LastSubstep {
    /// Its length; zero before the first \[s\].
    pub length: f64,
    /// Gravity in it, world frame \[m/s^2\].
    pub gravity: Vector3<f64>,
    /// Substeps from the start to its end.
    pub count: u64,
}

impl LastSubstep {
    /// Time over which internal forces act on the velocities at the beginning of a substep of `substep` \[s\] that
    /// follows: velocities are half a substep behind the positions, and are to be half of this one before them
    /// (leapfrog with steps of any length). With the substep alone, velocities at a change of length would belong
    /// to another time, which brings energy if substeps are shorter whenever something is compressed: a
    /// bag of gas gained 60 % so in seven breaths.
    ///
    /// The whole substep where there was none before; at most twice the substep, so that one that falls at once does
    /// not get a kick that is far too long for it.
    pub fn kick(&self, substep: f64) -> f64 {
        if self.length > 0.0 { (0.5 * (self.length + substep)).min(2.0 * substep) } else { substep }
    }

    /// [`Totals::kinetic_lag`](crate::Totals::kinetic_lag) \[J\] of particles whose internal forces have this power on
    /// their velocities \[W\] and that have this momentum \[N s\].
    pub fn kinetic_lag(&self, internal_power: f64, linear_momentum: &Vector3<f64>) -> f64 {
        0.5 * self.length * (internal_power + self.gravity.dot(linear_momentum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{Elastic, Model};

    /// For nu = 0 the pressure wave speed is sqrt(E / rho): 10 and 20 m/s here, and the faster
    /// material decides.
    #[test]
    fn fastest_material_and_speed_decide() {
        let of = |youngs_modulus: f64| Material {
            density: 1.0,
            model: Model::NeoHookean(Elastic { youngs_modulus, poissons_ratio: 0.0 }),
        };
        let substep = largest_stable_substep(0.1, &[of(100.0), of(400.0)], 5.0);
        approx::assert_relative_eq!(substep, COURANT_NUMBER * 0.1 / 25.0, max_relative = 1e-14);
    }
}
