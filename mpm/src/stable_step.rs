//! The largest stable substep of explicit elasticity.

use crate::material::Material;

/// Courant number c of [`largest_stable_substep`].
///
/// Measured on the f64 reference (a free 8x8x8-cell block, 8 particles a cell, nu 0.3, 2000 substeps with 1 % random velocity):
/// energy first grows at c = COURANT_LIMIT. This is kept well below it, because a particle layout coarser or more deformed than
/// that one, and compression, which stiffens, lower the limit.
pub const COURANT_NUMBER: f64 = 0.4;

/// Largest substep [s] for grid spacing `h` [m] and particles that move at up to `max_speed` [m/s]:
/// `c h / (c_s + max_speed)`, with c_s the fastest pressure wave sqrt((lambda + 2 mu) / rho) among the materials
/// (Courant, Friedrichs and Lewy 1928). Infinite where nothing moves and there is no material.
pub fn largest_stable_substep(h: f64, materials: &[Material], max_speed: f64) -> f64 {
    let fastest = materials.iter().map(Material::pressure_wave_speed).fold(0.0, f64::max);
    COURANT_NUMBER * h / (fastest + max_speed)
}
