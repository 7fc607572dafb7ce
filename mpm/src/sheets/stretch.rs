//! How far the sheets are stretched, and what follows for their substeps.

use super::ClothMeshes;
use super::arrays::{FaceState, SheetSpan};
use crate::cloth::{SheetStretch, Stability, Stretch};
use pliant_numeric::simd::LANES;

impl ClothMeshes {
    /// Limits of the substeps of a sheet as it is stretched.
    pub(super) fn stability(&self, sheet: usize) -> Stability {
        let SheetSpan { groups, stability, .. } = &self.spans[sheet];
        let faces = Stretch::of_squares(largest(self.states[groups.clone()].iter()));
        // The mean around a vertex is not above the largest of a face.
        if stability.keeps(&faces) {
            return *stability;
        }
        stability.stretched(&SheetStretch { faces, vertices: self.around_vertices(sheet) })
    }

    /// The most of the root mean squares over the faces around a vertex, of those without a pin.
    fn around_vertices(&self, sheet: usize) -> Stretch {
        let mut most = [1.0_f64; 2];
        for vertex in self.spans[sheet].vertices.clone() {
            // Known without the time, so that a run that goes on from a checkpoint finds the same.
            if self.pins.has_pin(vertex) {
                continue;
            }
            let (mut volume, mut sums) = (0.0, [0.0; 2]);
            for entry in self.adjacency.of(vertex) {
                let (group, lane) = (*entry as usize / 4 / LANES, *entry as usize / 4 % LANES);
                if self.states[group].is_torn(lane) {
                    continue;
                }
                let own = f64::from(self.groups[group].volume.0[lane]);
                volume += own;
                for (sum, squares) in sums.iter_mut().zip(&self.states[group].stretch) {
                    *sum += own * f64::from(squares.0[lane]);
                }
            }
            if volume > 0.0 {
                most = [0, 1].map(|k| most[k].max(sums[k] / volume));
            }
        }
        Stretch::of_squares(most)
    }
}

/// The largest squares of faces, at least 1.
fn largest<'a>(states: impl Iterator<Item = &'a FaceState>) -> [f64; 2] {
    let mut most = [1.0_f32; 2];
    for state in states {
        most = [0, 1].map(|k| state.stretch[k].0.iter().fold(most[k], |a, b| a.max(*b)));
    }
    most.map(f64::from)
}
