//! What a step did, and the totals of the particles.

use nalgebra::Vector3;
use pliant_mpm::{Impulse, LastSubstep, PinImpulse, Totals};

use super::DeviceMpm;
use crate::kernels::{
    MPM_BALANCE, MPM_STATUS_SPEED, MPM_TOTAL_THREADS, MPM_TOTAL_TILE, MPM_TOTALS, MpmTotalTilesParameters,
    MpmTotalsParameters,
};
use crate::{Commands, DeviceError, Launch};

/// Lanes that sum an entry of the tiles' totals.
const LANES: u32 = 32;

/// What the free motion of a step did to the momentum of all particles, in the world frame, angular
/// parts about the world's origin.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepMomentumBalance {
    /// Mass on the grid in the last substep \[kg\].
    pub mass: f64,
    /// Impulse of gravity.
    pub gravity: Impulse,
    /// Impulse of the boundary conditions on the particles.
    pub boundary: Impulse,
    /// Work of gravity and of the boundary conditions \[J\].
    pub work: f64,
    /// What the pins of cloth did.
    pub pins: PinImpulse,
    /// Grid nodes that carried mass in the last substep.
    pub active_nodes: usize,
    /// Largest speed of a particle after the last substep \[m/s\].
    pub max_speed: f64,
    /// Totals of the particles after the last substep.
    pub totals: Totals,
    /// Sorts within the step that were not planned, because a particle drifted too far.
    pub extra_sorts: u32,
}

impl DeviceMpm {
    /// Appends the two launches that sum the particles' totals, which end every step.
    pub fn issue_totals(&self, commands: &mut Commands) {
        let particles = self.particles.rows();
        let tiles = particles.count.div_ceil(MPM_TOTAL_TILE).max(1);
        let tile_sums = self.tile_sums.span();
        let of_cloth = self.cloth.as_ref().map_or(0, |cloth| {
            cloth.issue_energy(commands, particles, tile_sums.skip(tiles * MPM_TOTALS), self.grid_spacing)
        });
        commands
            .launch(
                Launch::new(tiles, MPM_TOTAL_THREADS),
                &MpmTotalTilesParameters {
                    particles,
                    materials: self.materials.span(),
                    tile_sums,
                    grid_spacing: self.grid_spacing,
                },
            )
            .launch(
                Launch::new(1, MPM_TOTALS * LANES),
                &MpmTotalsParameters {
                    tile_sums,
                    totals: self.total.span().skip(MPM_BALANCE).first(MPM_TOTALS),
                    tiles: tiles + of_cloth,
                    unused: 0,
                },
            );
    }

    /// Totals of the particles as they are, as [`pliant_mpm::Mpm::totals`]: sums in f64 in an order
    /// that follows from that of the particles in memory, elastic energies of f32. After a step
    /// they are in its balance already.
    ///
    /// # Errors
    /// Those of the device.
    pub fn totals(&self) -> Result<Totals, DeviceError> {
        let mut commands = Commands::new();
        self.issue_totals(&mut commands);
        self.device.submit(&commands)?;
        let mut entries = [0.0; MPM_TOTALS as usize];
        self.total.download_at(MPM_BALANCE as usize, &mut entries)?;
        Ok(totals_of(&entries, &self.last_substep))
    }
}

/// The balance of a step that left these sums and status words.
pub(super) fn balance_of(
    entries: &[f64],
    status: &[u32],
    extra_sorts: u32,
    last_substep: &LastSubstep,
) -> StepMomentumBalance {
    StepMomentumBalance {
        mass: entries[0],
        gravity: Impulse { linear: vector(&entries[1..]), angular: vector(&entries[4..]) },
        boundary: Impulse { linear: vector(&entries[7..]), angular: vector(&entries[10..]) },
        work: entries[13],
        pins: pins_of(&entries[(MPM_BALANCE + MPM_TOTALS) as usize..]),
        active_nodes: entries[14] as usize,
        max_speed: f64::from(f32::from_bits(status[MPM_STATUS_SPEED as usize])).sqrt(),
        totals: totals_of(&entries[MPM_BALANCE as usize..], last_substep),
        extra_sorts,
    }
}

fn vector(entries: &[f64]) -> Vector3<f64> {
    Vector3::from_column_slice(&entries[..3])
}

fn pins_of(entries: &[f64]) -> PinImpulse {
    PinImpulse {
        impulse: Impulse { linear: vector(entries), angular: vector(&entries[3..]) },
        work: entries[6],
    }
}

fn totals_of(entries: &[f64], last_substep: &LastSubstep) -> Totals {
    let linear_momentum = vector(&entries[4..]);
    Totals {
        mass: entries[0],
        first_moment: vector(&entries[1..]),
        linear_momentum,
        angular_momentum: vector(&entries[7..]),
        kinetic_energy: entries[10],
        kinetic_lag: last_substep.kinetic_lag(entries[11], &linear_momentum),
        elastic_energy: entries[12],
        // A device refuses gas in cloths.
        gas_energy: 0.0,
    }
}
