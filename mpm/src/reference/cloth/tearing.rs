//! Faces that soften and let go.

use nalgebra::Vector3;

use super::ReferenceCloth;
use crate::cloth::Tear;
use crate::cloth::model::{Polar, Qr};

impl ReferenceCloth {
    /// Energy that tearing took since the start \[J\].
    pub fn lost_to_tearing(&self) -> f64 {
        self.tears.lost
    }

    /// How far a face has torn.
    pub fn tear_of(&self, face: usize) -> Tear<f64> {
        self.tears.faces.get(face).copied().unwrap_or_else(Tear::none)
    }

    /// Softens the faces that are pulled beyond their strength; those that have torn let go.
    pub(super) fn tear(&mut self) {
        let Some(law) = self.tears.law else { return };
        let bending = self.bending_energy();
        let mut tears = self.tears.faces.clone();
        let mut lost = 0.0;
        for (index, tear) in tears.iter_mut().enumerate() {
            let face = &self.faces[index];
            let qr = Qr::new(&self.columns(face));
            let inverse = &face.inverse_rest;
            let (biot, density) = self.whole(index, &qr);
            let now = law.advance(biot, density, [inverse.m11, inverse.m12, inverse.m22], *tear);
            lost += face.volume * now.lost(tear, self.energy_density(index));
            if now.left() == 0.0 && tear.left() > 0.0 {
                self.tears.hinges[index].iter().for_each(|hinge| {
                    // There are none where the fabric does not bend.
                    if let Some(hinge) = self.hinges.get_mut(*hinge) {
                        hinge.cut();
                    }
                });
                self.faces[index].director = Vector3::z();
            }
            *tear = now;
        }
        self.tears.faces = tears;
        self.tears.lost += lost + bending - self.bending_energy();
    }

    /// Biot stress \[Pa\] and energy density in the plane \[J/m^3\] of the whole fabric, without friction.
    fn whole(&self, face: usize, qr: &Qr<f64>) -> ([f64; 3], f64) {
        let polar = Polar::new(qr);
        let plane = Qr { shear: [0.0; 2], normal: 1.0, ..*qr };
        let (mut biot, mut density) = (self.model.biot(&polar), self.model.energy_density(&plane));
        if let Some((yarns, warps)) = &self.weave {
            let of_yarns = yarns.biot(&polar, warps[face]);
            biot = core::array::from_fn(|n| biot[n] + of_yarns[n]);
            density += yarns.energy_density(&polar, warps[face]);
        }
        (biot, density)
    }
}
