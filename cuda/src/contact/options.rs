//! How particles touch bodies on a device.

use std::f64::consts::PI;

use pliant_mpm::cloth::mesh::LONGEST_EDGE;

use crate::kernels::ContactRules;

/// Gap below which a pair is detected at any velocity, in grid spacings: as on the CPU.
const MARGIN: f64 = 0.02;

/// How far from a granular particle its contact may act at most [cells]: as on the CPU.
pub(super) const LONGEST_ARM: f64 = 0.5;

/// Stiffness number `substep^2 k / m` of a contact as stiff as the substep can resolve: as
/// `NEAR_RIGID_NUMBER` on the CPU.
const NEAR_RIGID: f64 = 4.0 * PI * PI;

/// How particles touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactDetectionOptions {
    /// Grid spacing \[m\].
    pub grid_spacing: f64,
    /// Radius of every particle \[m\]; without, half the edge of the cube of each one's volume.
    pub radius: Option<f64>,
    /// Stiffness of every contact \[N/m\]; without, as stiff as the substep can resolve.
    pub stiffness: Option<f64>,
    /// Hunt-Crossley dissipation \[s/m\].
    pub dissipation: f64,
    /// Number of materials that are not cloth, if there is cloth.
    pub cloth_from: Option<u32>,
}

impl ContactDetectionOptions {
    pub(super) fn rules(&self) -> ContactRules {
        ContactRules {
            grid_spacing: self.grid_spacing,
            margin: (MARGIN * self.grid_spacing) as f32,
            // Zero is a radius: particles that touch with their centres.
            radius: self.radius.unwrap_or(-1.0) as f32,
            stiffness: self.stiffness.unwrap_or(0.0) as f32,
            near_rigid: NEAR_RIGID as f32,
            dissipation: self.dissipation as f32,
            vertex_reach: (LONGEST_EDGE * self.grid_spacing) as f32,
            cloth_from: self.cloth_from.unwrap_or(u32::MAX),
            unused: 0,
        }
    }
}
