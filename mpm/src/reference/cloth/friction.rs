//! Friction within the fabric: faces slip.

use super::ReferenceCloth;
use crate::cloth::ShearFrictionModel;
use crate::cloth::model::{Polar, Qr};

impl ReferenceCloth {
    /// Energy that friction in bending took since the start \[J\].
    pub fn lost_to_bending_friction(&self) -> f64 {
        self.friction.lost
    }

    /// Energy that friction in shear took since the start \[J\].
    pub fn lost_to_shear_friction(&self) -> f64 {
        self.lost_to_shear_friction
    }

    /// Lets the yarns of all faces slip.
    pub(super) fn slip_yarns(&mut self) {
        let (Some((_, warps)), Some((model, mut slipped))) = (&self.weave, self.shear_friction.take()) else {
            return;
        };
        let mut lost = 0.0;
        for (index, slipped) in slipped.iter_mut().enumerate() {
            let polar = Polar::new(&Qr::new(&self.columns(&self.faces[index])));
            let (now, density) = model.slip(ShearFrictionModel::shear(&polar, warps[index]), *slipped);
            *slipped = now;
            lost += self.faces[index].volume * density;
        }
        self.lost_to_shear_friction += lost;
        self.shear_friction = Some((model, slipped));
    }
}
