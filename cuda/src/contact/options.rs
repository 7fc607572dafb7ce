//! How particles touch bodies on a device.

use pliant_coupling::{DETECTION_MARGIN, NEAR_RIGID_STIFFNESS_NUMBER};
use pliant_mpm::cloth::mesh::LONGEST_EDGE;

use crate::kernels::ContactRules;

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
}

impl ContactDetectionOptions {
    pub(super) fn rules(&self) -> ContactRules {
        ContactRules {
            grid_spacing: self.grid_spacing,
            margin: (DETECTION_MARGIN * self.grid_spacing) as f32,
            // Zero is a radius: particles that touch with their centres.
            radius: self.radius.unwrap_or(-1.0) as f32,
            stiffness: self.stiffness.unwrap_or(0.0) as f32,
            near_rigid: NEAR_RIGID_STIFFNESS_NUMBER as f32,
            dissipation: self.dissipation as f32,
            vertex_reach: (LONGEST_EDGE * self.grid_spacing) as f32,
        }
    }
}
