//! Contact between layers of cloth and between strands of ropes, as the engine asks for it.

use nalgebra::Vector3;

use super::{ClothMeshes, pins};
use crate::cloth::LayerReport;
use crate::rope::StrandReport;
use crate::tiles::ParticleStore;

impl ClothMeshes {
    /// Begins a step: from here on layers are to be kept from passing through each other.
    pub(crate) fn begin_layer_contact(&mut self, store: &ParticleStore, origin: Vector3<f64>) {
        let (slots, spacing) = (&self.slots, self.grid_spacing);
        let position = |place: &u32| pins::place(slots[*place as usize], store, origin, spacing).2;
        // As many as there are vertices of sheets.
        self.layers.begin(self.places.iter().map(position));
    }

    /// The next substep is the last of the step that has begun.
    pub(crate) fn end_layer_contact(&mut self) {
        self.layers.end();
    }

    /// What contact between layers came to in the last step.
    pub(crate) fn layer_report(&self) -> LayerReport {
        self.layers.report
    }

    /// The particles were put elsewhere.
    pub(crate) fn forget_contact(&mut self) {
        self.layers.forget();
        self.strands.forget();
    }

    /// Whether strands of ropes are kept apart from here on.
    pub(crate) fn keep_strands_apart(&mut self, is_on: bool) {
        self.strands.is_on = is_on;
    }

    /// What contact between strands came to in the last substep; none where they are not kept apart.
    pub(crate) fn strand_report(&self) -> Option<StrandReport> {
        (self.strands.is_on && self.ropes.len() > 0).then_some(self.strands.report)
    }
}
