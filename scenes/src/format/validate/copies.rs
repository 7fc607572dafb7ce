//! Copies of free bodies.

use super::Check;
use crate::format::Scene;
use crate::format::spread::is_free;

/// More copies than this are refused as a mistake.
const MOST: u32 = 100_000;

impl Check {
    pub(super) fn copies(&mut self, scene: &Scene) {
        let Some(copies) = &scene.copies else { return };
        if !(1..=MOST).contains(&copies.count) {
            self.problem("copies.count", format!("{} must be at least 1 and at most {MOST}", copies.count));
        }
        self.positive("copies.pitch", copies.pitch, "m");
        self.non_negative("copies.velocity_deviation", copies.velocity_deviation, "m/s");
        if !scene.bodies.iter().any(is_free) {
            self.problem("copies", "there is no free body to copy");
        }
    }
}
