//! Energy of the sheets and ropes.

use std::ops::Range;

use nalgebra::Vector3;

use super::ClothMeshes;
use super::arrays::{FaceGroup, FaceState, Warp};
use super::stress::{columns, directors, edges, tear_of};
use crate::cloth::model::{Polar, Qr};
use crate::cloth::{ClothMaterial, ClothModel, ShearFrictionModel, YarnModel};
use pliant_numeric::simd::{F32x16, Kernel, LANES, Lanes, Simd};

impl ClothMeshes {
    /// Elastic energy of all sheets and ropes, those of bending and of gas included \[J\].
    pub(crate) fn elastic_energy(&self) -> f64 {
        let mut faces = 0.0;
        for (span, material) in self.spans.iter().zip(&self.materials) {
            let groups = self.groups[span.groups.clone()].iter().zip(&self.states[span.groups.clone()]);
            let of = |(number, (group, state))| {
                self.level.run(Energy { group, state, material, warp: span.warps.get(number) })
            };
            faces += groups.enumerate().map(of).sum::<f64>();
        }
        faces
            + self.bending.energy(&self.vertices, self.grid_spacing)
            + self.gas_energy()
            + self.ropes.elastic_energy()
    }

    /// Angular momentum \[N m s\] and kinetic energy \[J\] of the spins of ropes, which are not in the
    /// particles.
    pub(crate) fn spin_totals(&self) -> (Vector3<f64>, f64) {
        self.ropes.spin_totals()
    }

    /// Power of the torques on the spins of ropes \[W\].
    pub(crate) fn spin_power(&self) -> f64 {
        self.ropes.spin_power()
    }

    /// Energy that friction in bending and in shear took in the last substep \[J\].
    pub(crate) fn lost_to_friction(&self) -> f64 {
        // Lanes past the last have no volume.
        let of = |state: &FaceState| state.lost.0.iter().map(|&lost| f64::from(lost)).sum::<f64>();
        let in_shear: f64 =
            self.sheared().map(|groups| self.states[groups].iter().map(of).sum::<f64>()).sum();
        self.bending.lost() + in_shear
    }

    /// Groups of faces of the sheets with friction in shear.
    pub(super) fn sheared(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let has =
            |material: &ClothMaterial| material.weave.is_some_and(|weave| weave.shear_friction.is_some());
        let sheets = self.spans.iter().zip(&self.materials);
        sheets.filter(move |(_, material)| has(material)).map(|(span, _)| span.groups.clone())
    }

    /// The part of the gas in closed sheets \[J\].
    pub(crate) fn gas_energy(&self) -> f64 {
        self.gases.energy()
    }
}

/// Energy of sixteen faces \[J\].
struct Energy<'a> {
    group: &'a FaceGroup,
    state: &'a FaceState,
    material: &'a ClothMaterial,
    /// Of a woven fabric.
    warp: Option<&'a Warp>,
}

impl Kernel for Energy<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self) -> f64 {
        let model = ClothModel::<Lanes<S>>::new(self.material);
        let [f1, f2] = columns(self.group, edges::<S>(self.state));
        let qr = Qr::new(&[f1, f2, directors::<S>(self.state)]);
        let mut row = F32x16::ZERO;
        let mut density = model.energy_density(&qr);
        if let (Some(warp), Some(yarns)) = (self.warp, YarnModel::<Lanes<S>>::new(self.material)) {
            let (polar, warp) = (Polar::new(&qr), Lanes::load_all(warp));
            density += yarns.energy_density(&polar, warp);
            if let Some(friction) = ShearFrictionModel::new(self.material) {
                let shear = ShearFrictionModel::shear(&polar, warp);
                density += friction.energy_density(shear, Lanes::load(&self.state.slipped));
            }
        }
        let left = tear_of::<S>(self.state).left();
        (density * left * Lanes::load(&self.group.volume)).store(&mut row);
        row.0[..(self.group.lanes as usize).min(LANES)].iter().map(|&e| f64::from(e)).sum()
    }
}
