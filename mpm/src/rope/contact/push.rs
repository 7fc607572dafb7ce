//! Strands that are too near, at the start of a run or by rounding, are pushed apart slowly, by their positions
//! alone: a velocity would shoot them apart.

use nalgebra::Vector3;

use super::pair::Pair;
use super::{StrandContact, StrandReport};
use crate::cloth::layers::distance::Closest;

/// Part of what is missing of a distance that a push adds, and its most over the sum of the radii \[-\]: strands
/// that start inside each other come apart in some ten thousand substeps, at a ten-thousandth of the speed of waves.
/// It is more than rounding takes away in a substep.
const PUSH: f64 = 0.1;
const LONGEST_PUSH: f64 = 1e-4;

/// Overlap of strands that is counted, over the sum of their radii \[-\].
const COUNTED_OVERLAP: f64 = 0.01;

/// Largest cosine of the angle between a push and a strand \[-\]: where strands that cross are inside each other,
/// segments beside the crossing are too near as well, but along the strands.
const ALONG: f64 = 0.5;

impl StrandContact {
    /// Pushes strands apart that are too near at the end of the substep.
    pub(super) fn push_slowly(&mut self, report: &mut StrandReport) {
        for pair in &self.pairs {
            let (from, to) = (pair.points(&self.starts), pair.points(&self.ends));
            if pair.is_far(&from, &to) {
                continue;
            }
            let closest = Closest::of(pair.kind, &to);
            let distance = closest.apart.norm();
            let missing = pair.reach - distance;
            if missing <= 0.0 {
                continue;
            }
            report.overlap = report.overlap.max(missing / pair.reach);
            report.overlapping += usize::from(missing > COUNTED_OVERLAP * pair.reach);
            let Some(normal) = self.across(pair, &to, &closest) else { continue };
            let weights = pair.vertices.iter().zip(closest.weights);
            let mobility: f64 = weights.clone().map(|(v, w)| w * w * self.inverse_masses[*v as usize]).sum();
            if mobility > 0.0 {
                let push = (PUSH * missing).min(LONGEST_PUSH * pair.reach) / mobility;
                for (&v, w) in weights {
                    self.ends[v as usize] += normal * (push * w * self.inverse_masses[v as usize]);
                }
            }
        }
    }

    /// The direction from the second to the first of two segments, if it is across both, or from the end of a
    /// rope; of lines that cross, that of their common perpendicular.
    fn across(&self, pair: &Pair, points: &[Vector3<f64>; 4], closest: &Closest) -> Option<Vector3<f64>> {
        let along = [points[1] - points[0], points[3] - points[2]];
        let Some(normal) = closest.apart.try_normalize(0.0) else {
            return along[0].cross(&along[1]).try_normalize(0.0);
        };
        let is_across = |side: usize| {
            let at_end = (2 * side..2 * side + 2)
                .any(|k| closest.weights[k].abs() == 1.0 && self.is_end[pair.vertices[k] as usize]);
            at_end || normal.dot(&along[side]).abs() <= ALONG * along[side].norm()
        };
        (is_across(0) && is_across(1)).then_some(normal)
    }
}
