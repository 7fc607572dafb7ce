//! Bending on the fast path: each hinge in f64 from exact differences of positions
//! ([`crate::cloth::bending`]), with its friction.

use nalgebra::Vector3;
use rayon::prelude::*;

use super::arrays::{CsrAdjacency, Vertices};
use super::bending_friction::Friction;
use crate::cloth::bending::{self, Neighbour};
use crate::cloth::{Hinge, Sheet};

/// Smallest number of hinges in a parallel job.
const GRAIN: usize = 64;

/// The hinges of all sheets.
#[derive(Clone, Debug, Default)]
pub(super) struct Bending {
    hinges: Vec<Hinge>,
    /// Curvatures across the hinges \[1/m\].
    curvatures: Vec<f64>,
    friction: Friction,
    /// Those of sheets that can tear.
    may_be_cut: Vec<MayBeCut>,
    /// Forces on the hinges' four vertices \[N\].
    forces: Vec<[[f32; 3]; 4]>,
    /// Of each vertex: its hinges as hinge x 4 + corner.
    adjacency: CsrAdjacency,
}

/// A hinge between faces that can tear.
#[derive(Clone, Copy, Debug)]
struct MayBeCut {
    hinge: usize,
    /// Length of its edge at rest \[m\].
    length: f64,
    /// Numbers of its faces among those of all sheets.
    faces: [usize; 2],
}

impl Bending {
    /// Adds a sheet's hinges, whose vertices count from `first_vertex`.
    /// Its faces are numbered from `first_face`.
    pub(super) fn add(&mut self, sheet: &Sheet, first_vertex: u32, first_face: usize) {
        let first_hinge = self.hinges.len();
        let hinges = sheet.hinges();
        if sheet.material.tearing.is_some() {
            let inner = sheet.mesh.edges().iter().filter_map(|edge| Some([edge.face, edge.other?.0]));
            let of = |(number, (hinge, faces)): (usize, (&Hinge, [usize; 2]))| MayBeCut {
                hinge: first_hinge + number,
                length: hinge.length,
                faces: faces.map(|face| first_face + face),
            };
            self.may_be_cut.extend(hinges.iter().zip(inner).enumerate().map(of));
        }
        self.friction.add(sheet.friction_faces(), first_vertex as usize, hinges.len());
        self.hinges.extend(hinges.into_iter().map(|h| Hinge {
            vertices: h.vertices.map(|v| v + first_vertex as usize),
            neighbours:
                h.neighbours.map(|of_face| of_face.map(|n| Neighbour { hinge: n.hinge + first_hinge, ..n })),
            ..h
        }));
    }

    /// To be called after the last sheet.
    pub(super) fn finish(&mut self, vertices: usize) {
        let mut pairs = Vec::new();
        for (number, hinge) in self.hinges.iter().enumerate() {
            pairs.extend((0..4).map(|k| (hinge.vertices[k] as u32, (number * 4 + k) as u32)));
        }
        pairs.sort_unstable();
        self.adjacency = CsrAdjacency::new(vertices, &pairs);
        self.forces = vec![[[0.0; 3]; 4]; self.hinges.len()];
        self.curvatures = vec![0.0; self.hinges.len()];
    }

    /// Cuts the hinges at the edges of faces that have torn, and no others.
    pub(super) fn cut(&mut self, is_torn: impl Fn(usize) -> bool) {
        for MayBeCut { hinge, length, faces } in &self.may_be_cut {
            self.hinges[*hinge].length = *length;
            if faces.iter().any(|face| is_torn(*face)) {
                self.hinges[*hinge].cut();
            }
        }
    }

    /// Forces of all hinges.
    pub(super) fn find_forces(&mut self, vertices: &Vertices, grid_spacing: f64) {
        let curvatures = self.curvatures.par_iter_mut().zip(&self.hinges).with_min_len(GRAIN);
        curvatures.for_each(|(curvature, hinge)| {
            *curvature = hinge.curvature(&corners(hinge, vertices, grid_spacing), held(hinge, vertices));
        });
        if !self.friction.is_empty() {
            self.friction.slip(&self.curvatures, |vertex| is_held(vertices, vertex));
        }
        let (curvatures, friction) = (&self.curvatures, &self.friction);
        let hinges = self.forces.par_iter_mut().zip(&self.hinges).zip(curvatures).with_min_len(GRAIN);
        hinges.enumerate().for_each(|(number, ((forces, hinge), &own))| {
            let held = held(hinge, vertices);
            let elastic = hinge.moment(own, |other| curvatures[other], held);
            let moment = elastic + hinge.moment_of_faces(friction.at_hinge(number), held);
            let corners = corners(hinge, vertices, grid_spacing);
            *forces = bending::forces(&corners, moment).map(|f| f.map(|x| x as f32).into());
        });
    }

    /// Energy, with what friction stores \[J\].
    pub(super) fn energy(&self, vertices: &Vertices, grid_spacing: f64) -> f64 {
        let curvature =
            |hinge: &Hinge| hinge.curvature(&corners(hinge, vertices, grid_spacing), held(hinge, vertices));
        let energy = |hinge: &Hinge| {
            let of = |other: usize| curvature(&self.hinges[other]);
            let moment = hinge.moment(curvature(hinge), of, held(hinge, vertices));
            hinge.energy(&corners(hinge, vertices, grid_spacing), moment)
        };
        let friction =
            self.friction.energy(|hinge| curvature(&self.hinges[hinge]), |vertex| is_held(vertices, vertex));
        self.hinges.iter().map(energy).sum::<f64>() + friction
    }

    /// Energy that friction took in the last substep \[J\].
    pub(super) fn lost(&self) -> f64 {
        self.friction.lost()
    }

    /// Figures of friction that a state has beside the particles.
    pub(super) fn saved(&self) -> impl Iterator<Item = f64> + '_ {
        self.friction.saved()
    }

    /// Number of these figures.
    pub(super) fn saved_len(&self) -> usize {
        self.friction.saved_len()
    }

    /// Takes them back.
    pub(super) fn restore(&mut self, figures: &[f64]) {
        self.friction.restore(figures);
    }

    /// Adds the force of the hinges on a vertex \[N\].
    #[inline(always)]
    pub(super) fn add_force(&self, vertex: usize, force: &mut [f32; 4]) {
        if self.hinges.is_empty() {
            return;
        }
        for &entry in self.adjacency.of(vertex) {
            let from = &self.forces[entry as usize / 4][entry as usize % 4];
            for d in 0..3 {
                force[d] += from[d];
            }
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.hinges.capacity() * size_of::<Hinge>()
            + self.friction.memory()
            + self.curvatures.capacity() * size_of::<f64>()
            + self.may_be_cut.capacity() * size_of::<MayBeCut>()
            + self.forces.capacity() * size_of::<[[f32; 3]; 4]>()
    }
}

/// The corners of a hinge from its first one \[m\].
fn corners(hinge: &Hinge, vertices: &Vertices, grid_spacing: f64) -> [Vector3<f64>; 4] {
    let first = hinge.vertices[0];
    hinge.vertices.map(|v| vertices.difference(first, v) * grid_spacing)
}

/// Which of a hinge's vertices pins hold.
fn held(hinge: &Hinge, vertices: &Vertices) -> [bool; 4] {
    hinge.vertices.map(|v| is_held(vertices, v))
}

/// Whether a pin holds a vertex.
fn is_held(vertices: &Vertices, vertex: usize) -> bool {
    vertices.velocities[vertex].0[3] == 0.0
}
