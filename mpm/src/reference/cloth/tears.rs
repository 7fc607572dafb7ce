//! How far faces have torn.

use crate::cloth::{Hinge, Sheet, Tear, TearingModel};

/// How far the faces of a sheet have torn.
#[derive(Clone, Debug)]
pub(super) struct Tears {
    pub(super) law: Option<TearingModel<f64>>,
    pub(super) faces: Vec<Tear<f64>>,
    /// Hinges at the edges of each face.
    pub(super) hinges: Vec<Vec<usize>>,
    /// Energy taken since the start \[J\].
    pub(super) lost: f64,
}

impl Tears {
    /// Of a whole (valid) sheet.
    pub(super) fn new(sheet: &Sheet) -> Self {
        let law = TearingModel::new(&sheet.material, 1.0);
        let faces = vec![Tear::none(); if law.is_some() { sheet.mesh.faces().len() } else { 0 }];
        let hinges = if law.is_some() { Hinge::of_faces(&sheet.mesh) } else { Vec::new() };
        Self { law, faces, hinges, lost: 0.0 }
    }

    /// What is left of a face's stresses (no unit).
    pub(super) fn left(&self, face: usize) -> f64 {
        self.faces.get(face).map_or(1.0, Tear::left)
    }

    pub(super) fn is_torn(&self, face: usize) -> bool {
        self.left(face) == 0.0
    }
}
