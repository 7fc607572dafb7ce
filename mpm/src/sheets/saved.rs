//! The state of ropes that is not in their particles: frames, spins and twists.

use super::ClothMeshes;
use super::ropes::Ropes;

impl ClothMeshes {
    /// Figures of the frames.
    pub(crate) fn saved_frames(&self) -> impl Iterator<Item = f64> + '_ {
        self.ropes.saved()
    }

    /// Number of these figures.
    pub(crate) fn saved_frames_len(&self) -> usize {
        self.ropes.saved_len()
    }

    /// Whether figures, as many as there are, are those of frames.
    pub(crate) fn are_frames(&self, figures: &[f64]) -> bool {
        Ropes::is_saved(figures)
    }

    /// Takes figures that are those of frames.
    pub(crate) fn restore_frames(&mut self, figures: &[f64]) {
        self.ropes.restore(figures);
    }

    /// Takes the frames to the vertices as they are now.
    pub(crate) fn place_ropes(&mut self) {
        self.ropes.place(&self.vertices, self.grid_spacing);
    }

    /// Multiplies the spins of a rope by `kept`; returns the change of their angular momentum \[N m s\] and the
    /// loss of their energy \[J\].
    pub(crate) fn damp_spins(&mut self, rope: usize, kept: f64) -> (nalgebra::Vector3<f64>, f64) {
        self.ropes.damp(rope, kept)
    }
}
