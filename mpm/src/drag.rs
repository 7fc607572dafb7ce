//! Mass-proportional damping, the first part of Rayleigh's (Rayleigh 1877, "The Theory of Sound",
//! section 81; Bathe, "Finite Element Procedures", section 9.3.3): a force -alpha m v on every
//! particle, with v its velocity field v + C (x - x_p) in the world frame.
//!
//! A mode of angular frequency omega then has the damping ratio alpha / (2 omega), so that slow motion
//! decays fastest, and rest is not changed. After every substep velocities are multiplied by exp(-alpha
//! substep), which is stable for every alpha. The force is one from outside the world, like that of a
//! medium at rest: its impulse is part of the balance of momentum, and a free body slows down.
//!
//! The other part, stiffness-proportional damping, is absent: an explicit substep would have to be at
//! most (largest undamped substep)^2 / (2 beta), and so for a strip of a hundred cells ten thousand times
//! shorter for the same damping of the slowest mode.

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::engine::Mpm;
use crate::error::MpmError;
use crate::g2p::BlockOutcome;
use crate::grid::Impulse;
use crate::material::unless;
use crate::tiles::kinematics::{AFFINE, MATERIAL, VELOCITY};
use pliant_numeric::simd::LANES;

/// Impulse and loss of energy by damping in a block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drag {
    /// About the world's origin.
    pub impulse: Impulse,
    /// Kinetic energy that is lost \[J\].
    pub lost: f64,
}

/// Checks rates \[1/s\].
pub(crate) fn check(rates: &[f64]) -> Result<(), MpmError> {
    let bad = |(index, rate): (usize, &f64)| {
        let holds = *rate >= 0.0 && rate.is_finite();
        unless(holds, "mass_damping", *rate, "1/s", "finite and not negative")
            .map(|source| MpmError::Material { index, source })
    };
    rates.iter().enumerate().find_map(bad).map_or(Ok(()), Err)
}

impl Mpm {
    /// Damps the particles of each material, then of each sheet and each rope, at a rate alpha \[1/s\]; the rates
    /// that are left out are zero.
    ///
    /// # Errors
    /// A rate that is negative or not finite, with the number of its material.
    pub fn set_mass_damping(&mut self, rates: Vec<f64>) -> Result<(), MpmError> {
        check(&rates)?;
        self.mass_damping = rates;
        Ok(())
    }

    /// Rates of mass-proportional damping, by material, then by sheet and by rope \[1/s\].
    pub fn mass_damping(&self) -> &[f64] {
        &self.mass_damping
    }

    /// Damps velocities after a substep of `substep` \[s\].
    pub(crate) fn damp_velocities(&mut self, substep: f64) {
        if self.mass_damping.iter().all(|rate| *rate == 0.0) {
            return;
        }
        let mut outcomes = core::mem::take(&mut self.outcomes);
        outcomes.par_iter_mut().enumerate().for_each(|(b, outcome)| self.measure_drag(b, substep, outcome));
        self.outcomes = outcomes;
        self.damp_spins(substep);
        let rates = &self.mass_damping;
        self.store.kinematics.par_iter_mut().for_each(|tile| {
            for l in 0..LANES {
                let material = tile[MATERIAL].0[l].to_bits() as usize;
                let kept = kept(rates, material, substep);
                for row in (VELOCITY..VELOCITY + 3).chain(AFFINE..AFFINE + 9) {
                    tile[row].0[l] *= kept;
                }
            }
        });
    }

    /// Damps the spins of ropes, whose loss joins that of the first block.
    fn damp_spins(&mut self, substep: f64) {
        let first = self.materials.len() + self.sheet_materials().len();
        let (Some(sheets), Some(outcome)) = (&mut self.sheets, self.outcomes.first_mut()) else { return };
        for rope in 0..sheets.ropes.materials.len() {
            let kept = f64::from(kept(&self.mass_damping, first + rope, substep));
            let (impulse, lost) = sheets.damp_spins(rope, kept);
            outcome.drag.angular += impulse;
            outcome.damping += lost;
        }
    }

    /// What damping takes from a block.
    fn measure_drag(&self, b: usize, substep: f64, outcome: &mut BlockOutcome) {
        let view = self.block(b);
        let inertia = self.grid_spacing * self.grid_spacing / 4.0;
        let mut drag = Drag::default();
        for i in 0..view.len() {
            let (m, x, v, c) = (view.mass(i), view.position(i).coords, view.velocity(i), view.affine(i));
            let kept = f64::from(kept(&self.mass_damping, view.material(i), substep));
            let axial = Vector3::new(c[(2, 1)] - c[(1, 2)], c[(0, 2)] - c[(2, 0)], c[(1, 0)] - c[(0, 1)]);
            let taken = m * (kept - 1.0);
            drag.impulse.linear += taken * v;
            drag.impulse.angular += taken * (x.cross(&v) + inertia * axial);
            let energy = 0.5 * m * (v.norm_squared() + inertia * c.norm_squared());
            drag.lost += (1.0 - kept * kept) * energy;
        }
        outcome.drag = drag.impulse;
        outcome.damping += drag.lost;
    }
}

/// Part of a particle's velocity that a substep \[s\] keeps.
fn kept(rates: &[f64], material: usize, substep: f64) -> f32 {
    rates.get(material).map_or(1.0, |rate| (-rate * substep).exp() as f32)
}
