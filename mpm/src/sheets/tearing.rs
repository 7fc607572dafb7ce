//! Faces that have torn are left by all that goes through them: bending, contact between layers, and
//! what shows the sheet ([`crate::cloth::tear`]).

use std::ops::Range;

use super::ClothMeshes;
use super::arrays::FaceState;
use crate::cloth::Tear;
use pliant_numeric::simd::{F32x16, LANES};

/// Whether a face has torn, of its state, as it is kept.
fn torn_bits(state: &FaceState) -> u16 {
    let torn = |l: usize| {
        let tear = Tear { reached: state.tear[0].0[l], end: state.tear[1].0[l] };
        u16::from(tear.left() == 0.0) << l
    };
    (0..LANES).fold(0, |bits, l| bits | torn(l))
}

impl ClothMeshes {
    /// Groups of faces of the sheets that can tear.
    fn tearing(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let sheets = self.spans.iter().zip(&self.materials);
        sheets.filter(|(_, material)| material.tearing.is_some()).map(|(span, _)| span.groups.clone())
    }

    /// Lets go of the faces that have torn in this substep.
    pub(super) fn let_go(&mut self) {
        self.lost_to_cuts = 0.0;
        if !self.can_tear {
            return;
        }
        let mut has_changed = false;
        for sheet in 0..self.spans.len() {
            if self.materials[sheet].tearing.is_some() {
                for state in &mut self.states[self.spans[sheet].groups.clone()] {
                    let bits = torn_bits(state);
                    has_changed |= bits != state.torn;
                    state.torn = bits;
                }
            }
        }
        if has_changed {
            let before = self.bending.energy(&self.vertices, self.grid_spacing);
            self.leave_torn();
            self.lost_to_cuts = before - self.bending.energy(&self.vertices, self.grid_spacing);
        }
    }

    /// Takes the faces that have torn out of all that goes through faces.
    pub(super) fn leave_torn(&mut self) {
        let Self { states, spans, patches, sources, layers, bending, .. } = self;
        let is_torn = |number: usize| states[number / LANES].is_torn(number % LANES);
        for ((span, patch), sheet) in spans.iter().zip(patches).zip(sources.iter()) {
            let first = span.groups.start * LANES;
            for (face, (shown, whole)) in patch.faces.iter_mut().zip(sheet.mesh.faces()).enumerate() {
                let corner = |v: usize| (patch.vertices.start + v) as u32;
                let [a, b, c] = whole.map(corner);
                *shown = if is_torn(first + face) { [a; 3] } else { [a, b, c] };
            }
        }
        let faces = spans.iter().zip(sources.iter()).flat_map(|(span, sheet)| {
            let first = span.groups.start * LANES;
            (0..sheet.mesh.faces().len()).map(move |face| is_torn(first + face))
        });
        layers.set_torn(faces);
        bending.cut(is_torn);
    }

    /// Energy that tearing took in the last substep \[J\].
    pub(crate) fn lost_to_tearing(&self) -> f64 {
        // Lanes past the last have no volume.
        let of = |state: &FaceState| state.lost_to_tearing.0.iter().map(|&lost| f64::from(lost)).sum::<f64>();
        self.lost_to_cuts
            + self.tearing().map(|groups| self.states[groups].iter().map(of).sum::<f64>()).sum::<f64>()
    }

    /// Number of faces of each sheet that have torn.
    pub(crate) fn torn_faces(&self) -> impl Iterator<Item = usize> + '_ {
        self.spans.iter().map(|span| {
            let groups = self.groups[span.groups.clone()].iter().zip(&self.states[span.groups.clone()]);
            groups.map(|(group, state)| (0..group.lanes as usize).filter(|l| state.is_torn(*l)).count()).sum()
        })
    }

    /// How far the faces have torn, of the sheets that can.
    pub(super) fn saved_tears(&self) -> impl Iterator<Item = f64> + '_ {
        let rows = self.tearing().flat_map(|groups| &self.states[groups]).flat_map(|state| &state.tear);
        rows.flat_map(|row| row.0).map(f64::from)
    }

    /// Number of these figures.
    pub(super) fn saved_tears_len(&self) -> usize {
        self.tearing().map(|groups| 2 * groups.len() * LANES).sum()
    }

    /// Whether figures are such.
    pub(super) fn are_tears(figures: &[f64]) -> bool {
        let mut rows = figures.chunks(LANES);
        let mut is_next =
            |least: f64| rows.next().is_some_and(|row| row.iter().all(|x| *x >= least && x.is_finite()));
        (0..figures.len() / (2 * LANES)).all(|_| is_next(1.0) && is_next(0.0))
    }

    /// Takes them back.
    pub(super) fn restore_tears(&mut self, figures: &[f64]) {
        if !self.can_tear {
            return;
        }
        let groups: Vec<usize> = self.tearing().flatten().collect();
        for (group, rows) in groups.into_iter().zip(figures.chunks(2 * LANES)) {
            let state = &mut self.states[group];
            for (row, figures) in state.tear.iter_mut().zip(rows.as_chunks::<LANES>().0) {
                *row = F32x16(figures.map(|x| x as f32));
            }
            state.torn = torn_bits(state);
            state.free = state.torn;
            state.lost_to_tearing = F32x16::ZERO;
        }
        self.lost_to_cuts = 0.0;
        self.leave_torn();
    }
}
