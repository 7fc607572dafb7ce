//! Copies of free bodies.

use super::Check;
use crate::format::Scene;
use crate::format::spread::is_free;

impl Check {
    pub(super) fn copies(&mut self, scene: &Scene) {
        let Some(copies) = &scene.copies else { return };
        if copies.count == 0 {
            self.problem("copies.count", "0 must be at least 1");
        }
        self.positive("copies.pitch", copies.pitch, "m");
        self.non_negative("copies.velocity_deviation", copies.velocity_deviation, "m/s");
        if !scene.bodies.iter().any(is_free) {
            self.problem("copies", "there is no free body to copy");
        }
    }
}
