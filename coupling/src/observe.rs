//! Reading a world: diagnostics, balances, particles.

use crate::convex::SolverInfo;
use crate::report::{Balance, Diagnostics, ParticleSnapshot, StepReport};
use crate::world::World;

impl StepReport {
    /// Adds a substep's solve of `contacts` contacts.
    pub(crate) fn add(&mut self, contacts: usize, info: &SolverInfo) {
        self.contacts_mean += contacts as f64;
        self.contacts_max = self.contacts_max.max(contacts);
        self.iterations += info.iterations as u32;
        self.iterations_max = self.iterations_max.max(info.iterations as u32);
        self.not_converged += u32::from(!info.stop.is_converged());
        if info.tolerance > 0.0 {
            self.residual = self.residual.max(info.residual / info.tolerance);
        }
    }
}

impl World {
    /// Totals of the particles now. To be called after every step if [`World::balance`] is to know how much energy
    /// was ever created.
    pub fn diagnostics(&mut self) -> Diagnostics {
        let totals = self.mpm.totals(&mut self.scratch);
        self.account.diagnose(&totals, self.time)
    }

    /// Relative errors of the balances since the start.
    pub fn balance(&mut self) -> Balance {
        let totals = self.mpm.totals(&mut self.scratch);
        self.account.balance(&totals)
    }

    /// Writes the particles, in the order in which they were added, into `snapshot`.
    pub fn snapshot(&self, snapshot: &mut ParticleSnapshot) {
        let n = self.mpm.len();
        snapshot.positions.resize(n, [0.0; 3]);
        snapshot.velocities.resize(n, [0.0; 3]);
        snapshot.j.resize(n, 0.0);
        snapshot.state.resize(n, 0.0);
        snapshot.stress_norm.resize(n, 0.0);
        snapshot.volume.resize(n, 0.0);
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
                snapshot.j[id] = view.deformation_gradient(i).determinant() as f32;
                snapshot.state[id] = view.history(i) as f32;
                snapshot.stress_norm[id] = (norm.sqrt() / volume) as f32;
                snapshot.volume[id] = volume;
                snapshot.material[id] = view.material(i) as u32;
            }
        }
    }
}
