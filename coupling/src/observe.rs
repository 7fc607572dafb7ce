//! Reading a world: diagnostics, balances, particles.

use nalgebra::Vector3;
use pliant_mpm::Totals;

use crate::backend::BackendError;
use crate::momentum_balance::dynamic_body_energy;
use crate::report::{Balance, Diagnostics, EnergyBalance, ParticleSnapshot};
use crate::world::World;

impl World {
    /// Totals of the particles and the present energy balance. Energy gains are exact only if this
    /// is called after every step.
    pub fn diagnostics(&mut self) -> Diagnostics {
        let totals = self.totals();
        self.balance_tracker.diagnostics(&totals, dynamic_body_energy(&self.bodies), self.time)
    }

    /// The present energy balance. Its gain takes all steps since the last [`World::diagnostics`] as one.
    pub fn energy(&mut self) -> EnergyBalance {
        let totals = self.totals();
        self.balance_tracker.energy(&totals, dynamic_body_energy(&self.bodies))
    }

    /// Angular momentum about the world's origin that free bodies did not get of what particles gave
    /// them since the start \[kg m^2/s\]: in steps in which other bodies touch them they move along their
    /// final velocity instead of the way of the substeps. Counted on the processor, and where the bodies'
    /// own step is one of implicit Euler; part of [`Balance::angular_momentum`].
    pub fn missed_angular_momentum(&self) -> Vector3<f64> {
        self.balance_tracker.missed()
    }

    /// Relative errors of the balances since the start.
    pub fn balance(&mut self) -> Balance {
        let totals = self.totals();
        self.balance_tracker.balance(&totals, dynamic_body_energy(&self.bodies))
    }

    fn totals(&mut self) -> Totals {
        self.backend.totals(&self.mpm, &mut self.scratch)
    }

    /// Writes the particles, in the order in which they were added, into `snapshot`.
    ///
    /// # Errors
    /// [`BackendError`] where a backend steps the particles and cannot return them.
    pub fn snapshot(&mut self, snapshot: &mut ParticleSnapshot) -> Result<(), BackendError> {
        self.refresh()?;
        let n = self.mpm.len();
        snapshot.positions.resize(n, [0.0; 3]);
        snapshot.velocities.resize(n, [0.0; 3]);
        snapshot.j.resize(n, 0.0);
        snapshot.state.resize(n, 0.0);
        snapshot.stress_norm.resize(n, 0.0);
        snapshot.volume.resize(n, 0.0);
        snapshot.mass.resize(n, 0.0);
        snapshot.affine.resize(n, [0.0; 9]);
        snapshot.material.resize(n, 0);
        for b in 0..self.mpm.block_count() {
            let view = self.mpm.block(b);
            for i in 0..view.len() {
                let id = view.id(i) as usize;
                let volume = view.volume(i);
                let [xx, yy, zz, xy, xz, yz] = view.stress_volume(i);
                let norm = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz);
                snapshot.positions[id] = view.position(i).into();
                snapshot.velocities[id] = view.velocity(i).into();
                let cloth = view.is_cloth(i);
                let j = if cloth { view.history(i) } else { view.deformation_gradient(i).determinant() };
                snapshot.j[id] = j as f32;
                let meshed = cloth || view.is_rope(i);
                snapshot.state[id] = if meshed { 0.0 } else { view.history(i) as f32 };
                snapshot.stress_norm[id] = (norm.sqrt() / volume) as f32;
                snapshot.volume[id] = volume;
                snapshot.mass[id] = view.mass(i);
                snapshot.affine[id] = view.stored_affine(i);
                snapshot.material[id] = view.material(i) as u32;
            }
        }
        Ok(())
    }
}
