//! Gas on the fast path: volumes, pressures and the forces on vertices, in f64 from exact differences of
//! positions ([`crate::cloth::gas`]). A sheet's volume is summed group by group in their order.

use core::ops::Range;

use nalgebra::Vector3;
use rayon::prelude::*;

use super::arrays::{CsrAdjacency, FaceGroup, GROUP_GRAIN, VERTEX_GRAIN, Vertices};
use super::quad::F32x4;
use crate::cloth::GasModel;
use crate::cloth::gas::corner_area;
use pliant_numeric::simd::LANES;

/// The gas in one sheet.
#[derive(Clone, Debug)]
struct Filling {
    model: GasModel,
    vertices: Range<usize>,
    groups: Range<usize>,
    /// Volume now \[m^3\].
    volume: f64,
}

/// Corner areas of sixteen faces \[m^2\], and their part of the volume \[m^3\].
#[derive(Clone, Debug, Default)]
struct GroupShare {
    areas: [Vector3<f64>; LANES],
    volume: f64,
}

/// The gas in all sheets.
#[derive(Clone, Debug, Default)]
pub(super) struct Gases {
    fillings: Vec<Filling>,
    /// Of all groups; none without gas.
    shares: Vec<GroupShare>,
    /// Forces on all vertices \[N\]; none without gas.
    forces: Vec<F32x4>,
}

impl Gases {
    /// Fills a sheet with these vertices and groups of faces.
    pub(super) fn add(&mut self, model: GasModel, vertices: Range<usize>, groups: Range<usize>) {
        self.fillings.push(Filling { model, vertices, groups, volume: 0.0 });
    }

    /// To be called after the last sheet.
    pub(super) fn finish(&mut self, vertices: usize, groups: usize) {
        if !self.fillings.is_empty() {
            self.shares = vec![GroupShare::default(); groups];
            self.forces = vec![F32x4::ZERO; vertices];
        }
    }

    /// Measures the volumes.
    pub(super) fn measure(&mut self, groups: &[FaceGroup], vertices: &Vertices, grid_spacing: f64) {
        for filling in &mut self.fillings {
            let shares = self.shares[filling.groups.clone()].par_iter_mut();
            let origin = filling.vertices.start;
            shares
                .zip(&groups[filling.groups.clone()])
                .with_min_len(GROUP_GRAIN)
                .for_each(|(share, group)| *share = GroupShare::of(group, vertices, origin, grid_spacing));
            filling.volume = self.shares[filling.groups.clone()].iter().map(|share| share.volume).sum();
        }
    }

    /// Measures the volumes, and finds the forces on the vertices.
    pub(super) fn find_forces(
        &mut self,
        groups: &[FaceGroup],
        vertices: &Vertices,
        adjacency: &CsrAdjacency,
        grid_spacing: f64,
    ) {
        self.measure(groups, vertices, grid_spacing);
        let shares = &self.shares;
        for filling in &self.fillings {
            let pressure = filling.model.gauge_pressure(filling.volume);
            let forces = self.forces[filling.vertices.clone()].par_iter_mut();
            forces.zip(filling.vertices.clone()).with_min_len(VERTEX_GRAIN).for_each(|(force, vertex)| {
                let of = |&entry: &u32| shares[entry as usize / 4 / LANES].areas[entry as usize / 4 % LANES];
                let area: Vector3<f64> = adjacency.of(vertex).iter().map(of).sum();
                let [x, y, z] = (area * pressure).map(|f| f as f32).into();
                *force = F32x4([x, y, z, 0.0]);
            });
        }
    }

    /// Force on a vertex \[N\].
    #[inline(always)]
    pub(super) fn force(&self, vertex: usize) -> F32x4 {
        self.forces.get(vertex).copied().unwrap_or(F32x4::ZERO)
    }

    /// Energy at the measured volumes \[J\].
    pub(super) fn energy(&self) -> f64 {
        self.fillings.iter().map(|filling| filling.model.energy(filling.volume)).sum()
    }

    /// Largest substep at the measured volumes \[s\].
    pub(super) fn largest_substep(&self) -> f64 {
        let of = |filling: &Filling| filling.model.largest_substep(filling.volume);
        self.fillings.iter().map(of).fold(f64::INFINITY, f64::min)
    }

    pub(super) fn memory(&self) -> usize {
        self.fillings.capacity() * size_of::<Filling>()
            + self.shares.capacity() * size_of::<GroupShare>()
            + self.forces.capacity() * size_of::<F32x4>()
    }
}

impl GroupShare {
    /// Of a group of faces; volumes are about the vertex `origin`, which for a closed sheet makes no
    /// difference but that of rounding.
    fn of(group: &FaceGroup, vertices: &Vertices, origin: usize, grid_spacing: f64) -> Self {
        let mut share = Self::default();
        for l in 0..group.lanes as usize {
            let [a, b, c] = group.corners.map(|corner| corner[l] as usize);
            let corners = [a, b, c].map(|vertex| vertices.difference(origin, vertex) * grid_spacing);
            share.areas[l] = corner_area(corners);
            share.volume += corners[0].dot(&corners[1].cross(&corners[2])) / 6.0;
        }
        share
    }
}
