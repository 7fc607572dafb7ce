//! Elastic energy of the sheets.

use super::stress::{Corners, directors};
use super::{FaceGroup, FaceState, Sheets};
use crate::cloth::model::Qr;
use crate::cloth::{ClothMaterial, ClothModel};
use crate::simd::{Kernel, LANES, Lanes, Row, Simd};
use crate::tiles::Store;

impl Sheets {
    /// Elastic energy of all sheets, that of bending included [J].
    pub(crate) fn elastic_energy(&self, store: &Store) -> f64 {
        let of = |(group, state): (&FaceGroup, &FaceState)| {
            let material = &self.materials[group.sheet as usize];
            let corners = Corners::of(group, &self.vertices, &self.slots, store);
            self.level.run(Energy { group, state, corners, material })
        };
        let faces: f64 = self.groups.iter().zip(&self.states).map(of).sum();
        faces + self.bending.energy(&self.vertices, self.grid_spacing)
    }
}

/// Energy of sixteen faces [J].
struct Energy<'a> {
    group: &'a FaceGroup,
    state: &'a FaceState,
    corners: Corners,
    material: &'a ClothMaterial,
}

impl Kernel for Energy<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self) -> f64 {
        let model = ClothModel::<Lanes<S>>::new(self.material);
        let [f1, f2] = self.corners.columns::<S>(self.group);
        let qr = Qr::new(&[f1, f2, directors::<S>(self.state)]);
        let mut row = Row::ZERO;
        (model.energy_density(&qr) * Lanes::load(&self.group.volume)).store(&mut row);
        row.0[..(self.group.lanes as usize).min(LANES)].iter().map(|&e| f64::from(e)).sum()
    }
}
