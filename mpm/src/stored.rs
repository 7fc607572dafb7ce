//! Particles as the fast path stores them.

use crate::tiles::{deformation, kinematics};

/// A particle as the fast path stores it, in f32, for exchange with other implementations of the
/// same step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleRecord {
    /// The order in which it was added.
    pub id: u32,
    /// Index of its material.
    pub material: u32,
    /// Its block of 4x4x4 cells, whose lowest corner is at `4 * block` cells from the grid's
    /// origin.
    pub block: [i32; 3],
    /// Position, cells from that corner.
    pub position: [f32; 3],
    /// What rounding left of it \[cells\]: the particle is at their sum.
    pub position_low: [f32; 3],
    /// Velocity, world frame \[m/s\].
    pub velocity: [f32; 3],
    /// Affine velocity field C by rows \[1/s\].
    pub affine: [f32; 9],
    /// Elastic deformation gradient by rows (no unit).
    pub deformation_gradient: [f32; 9],
    /// Kirchhoff stress times rest volume \[J\]: xx, yy, zz, xy, xz, yz.
    pub stress_volume: [f32; 6],
    /// Mass \[kg\].
    pub mass: f32,
    /// The model's history variable.
    pub history: f32,
}

impl ParticleRecord {
    /// Its values by rows of the two halves.
    pub(crate) fn rows(&self) -> ([f32; kinematics::ROWS], [f32; deformation::ROWS]) {
        let (mut motion, mut strain) = ([0.0; kinematics::ROWS], [0.0; deformation::ROWS]);
        motion[kinematics::POSITION_LOW..][..3].copy_from_slice(&self.position_low);
        motion[kinematics::POSITION..][..3].copy_from_slice(&self.position);
        motion[kinematics::VELOCITY..][..3].copy_from_slice(&self.velocity);
        motion[kinematics::AFFINE..][..9].copy_from_slice(&self.affine);
        motion[kinematics::ID] = f32::from_bits(self.id);
        motion[kinematics::MATERIAL] = f32::from_bits(self.material);
        strain[deformation::GRADIENT..][..9].copy_from_slice(&self.deformation_gradient);
        strain[deformation::STRESS_VOLUME..][..6].copy_from_slice(&self.stress_volume);
        strain[deformation::MASS] = self.mass;
        strain[deformation::STATE] = self.history;
        (motion, strain)
    }
}
