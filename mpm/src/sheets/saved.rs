//! The state of ropes and sheets that is not in their particles: frames, spins and twists, and how far
//! faces have slipped and torn.

use super::ClothMeshes;
use super::ropes::Ropes;
use pliant_numeric::simd::{F32x16, LANES};

impl ClothMeshes {
    /// Its figures: frames, then faces.
    pub(crate) fn saved(&self) -> impl Iterator<Item = f64> + '_ {
        let yarns = self.sheared().flat_map(|groups| &self.states[groups]);
        let yarns = yarns.flat_map(|state| state.slipped.0).map(f64::from);
        self.ropes.saved().chain(self.bending.saved()).chain(yarns).chain(self.saved_tears())
    }

    /// Number of these figures.
    pub(crate) fn saved_len(&self) -> usize {
        let yarns: usize = self.sheared().map(|groups| groups.len() * LANES).sum();
        self.ropes.saved_len() + self.bending.saved_len() + yarns + self.saved_tears_len()
    }

    /// Checks figures, as many as there are; what is wrong with them, if anything is.
    pub(crate) fn check_saved(&self, figures: &[f64]) -> Result<(), &'static str> {
        let (frames, slipped) = figures.split_at(self.ropes.saved_len());
        if !Ropes::is_saved(frames) {
            return Err("the frame of a rope's segment is not one of unit vectors across each other");
        }
        let (slipped, tears) = slipped.split_at(slipped.len() - self.saved_tears_len());
        if !Self::are_tears(tears) {
            return Err("a face of cloth has torn by figures that are no stress over its strength");
        }
        if !slipped.iter().all(|x| x.is_finite()) {
            return Err("a curvature or shear by which a face of cloth has slipped is not finite");
        }
        Ok(())
    }

    /// Takes figures that [`check_saved`](Self::check_saved) found sound.
    pub(crate) fn restore_saved(&mut self, figures: &[f64]) {
        let (frames, slipped) = figures.split_at(self.ropes.saved_len());
        let (slipped, tears) = slipped.split_at(slipped.len() - self.saved_tears_len());
        let (bent, sheared) = slipped.split_at(self.bending.saved_len());
        self.ropes.restore(frames);
        self.bending.restore(bent);
        let groups: Vec<usize> = self.sheared().flatten().collect();
        for (group, figures) in groups.into_iter().zip(sheared.as_chunks::<LANES>().0) {
            let state = &mut self.states[group];
            (state.slipped, state.lost) = (F32x16(figures.map(|x| x as f32)), F32x16::ZERO);
        }
        self.restore_tears(tears);
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
