//! Friction in bending on the fast path ([`crate::cloth::bending_friction`]): each face in f64.

use rayon::prelude::*;

use crate::cloth::bending_friction::{FrictionFace, InPlane};

/// Smallest number of faces in a parallel job.
const GRAIN: usize = 64;

/// The faces of all sheets with friction.
#[derive(Clone, Debug, Default)]
pub(super) struct Friction {
    faces: Vec<FrictionFace>,
    states: Vec<State>,
    /// Of each hinge its places in its two faces, as face x 3 + edge; none of a sheet without friction.
    places: Vec<[Option<u32>; 2]>,
}

/// A face in a substep.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Curvature by which it has slipped \[1/m\].
    slipped: InPlane,
    /// Moment per width \[N\].
    moment: InPlane,
    /// Energy lost in the last substep \[J\].
    lost: f64,
}

impl Friction {
    /// Adds a sheet's faces; their vertices and hinges, `hinges` many, follow those of the sheets
    /// before.
    pub(super) fn add(&mut self, faces: Vec<FrictionFace>, first_vertex: usize, hinges: usize) {
        let first_hinge = self.places.len();
        self.places.resize(first_hinge + hinges, [None; 2]);
        for mut face in faces {
            face.vertices = face.vertices.map(|v| v + first_vertex);
            for (edge, (hinge, _)) in face.edges.iter_mut().flatten().enumerate() {
                *hinge += first_hinge;
                let place = self.places[*hinge].iter_mut().find(|place| place.is_none());
                if let Some(free) = place {
                    *free = Some((self.faces.len() * 3 + edge) as u32);
                }
            }
            self.faces.push(face);
        }
        self.states.resize(self.faces.len(), State::default());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.faces.is_empty()
    }

    /// Slips, and finds the moments, of the curvatures across the hinges \[1/m\].
    pub(super) fn slip(&mut self, across: &[f64], held: impl Fn(usize) -> bool + Sync) {
        let faces = self.states.par_iter_mut().zip(&self.faces).with_min_len(GRAIN);
        faces.for_each(|(state, face)| {
            (state.moment, state.lost) = ([0.0; 3], 0.0);
            if face.bends(&held) {
                let curvature = face.curvature(|hinge| across[hinge]);
                state.lost = face.area * face.law.slip(&curvature, &mut state.slipped);
                state.moment = face.law.moment(&curvature, &state.slipped);
            }
        });
    }

    /// What the moments of its faces do at a hinge \[N m^2\]; see
    /// [`moment_of_faces`](crate::cloth::Hinge::moment_of_faces).
    pub(super) fn at_hinge(&self, hinge: usize) -> f64 {
        let at = |place: u32| {
            let (face, edge) = (place as usize / 3, place as usize % 3);
            self.faces[face].at_edge(edge, &self.states[face].moment)
        };
        self.places[hinge].into_iter().flatten().map(at).sum()
    }

    /// Energy stored \[J\].
    pub(super) fn energy(&self, across: impl Fn(usize) -> f64, held: impl Fn(usize) -> bool) -> f64 {
        let bent = self.faces.iter().zip(&self.states).filter(|(face, _)| face.bends(&held));
        let of = |(face, state): (&FrictionFace, &State)| {
            face.area * face.law.energy(&face.curvature(&across), &state.slipped)
        };
        bent.map(of).sum()
    }

    /// Energy that slip took in the last substep \[J\].
    pub(super) fn lost(&self) -> f64 {
        self.states.iter().map(|state| state.lost).sum()
    }

    /// How far the faces have slipped.
    pub(super) fn saved(&self) -> impl Iterator<Item = f64> + '_ {
        self.states.iter().flat_map(|state| state.slipped)
    }

    pub(super) fn saved_len(&self) -> usize {
        3 * self.states.len()
    }

    pub(super) fn restore(&mut self, figures: &[f64]) {
        for (state, slipped) in self.states.iter_mut().zip(figures.as_chunks::<3>().0) {
            *state = State { slipped: *slipped, ..State::default() };
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.faces.capacity() * size_of::<FrictionFace>()
            + self.states.capacity() * size_of::<State>()
            + self.places.capacity() * size_of::<[Option<u32>; 2]>()
    }
}
