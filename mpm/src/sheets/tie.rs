//! Vertex-face constraints: every centroid moves with the mean of its vertices, by impulses between
//! them.
//!
//! The solution is the set of velocities nearest to those from the grid (in kinetic energy) that
//! satisfies the constraints. With impulses l_f, opposite at the centroid and in thirds at the
//! vertices, that is A l = v_f - mean of v, A = M_f^-1 + B M_v^-1 B^T / 9 with B the faces'
//! vertices. Because a vertex's mass is the sum of those of its faces' centroids (a quarter of each
//! face to each of the four), M_f^1/2 A M_f^1/2 = I + E with the eigenvalues of E within [0, 1/3]
//! for every mesh: B M_v^-1 B^T M_f has rows of non-negative numbers that sum to 3. (Held vertices,
//! with 1 / mass = 0, only lower them.) Chebyshev's semi-iterative method (Golub and Varga 1961)
//! with n sweeps leaves at most 1 / T_n(7) of the residual: 1 / 1351 for three. Each impulse acts
//! on both sides, so momenta are conserved to rounding after every sweep.

use rayon::prelude::*;

use super::ClothMeshes;
use super::arrays::{CsrAdjacency, FaceGroup, FaceState, GROUP_GRAIN, VERTEX_GRAIN};
use super::quad::F32x4;
use pliant_numeric::simd::{Kernel, LANES, Simd};

/// Sweeps. They leave at most 1/1351 of the residual, which is a small part of a face's velocity:
/// it gathers from the same nodes as its vertices.
const SWEEPS: usize = 3;

/// Steps of Chebyshev's method for eigenvalues within [1, 4/3]: 1 / (7/6 - cos(pi (2 k + 1) / 6) /
/// 6), k = 0, 1, 2.
const STEPS: [f32; SWEEPS] = [0.978_158_6, 0.857_142_87, 0.762_774_05];

impl ClothMeshes {
    /// Solves the constraints; vertices also move by `step` [cells per m/s] times their velocity
    /// change.
    pub(super) fn solve_vertex_face_constraints(&mut self, step: f32) {
        for relaxation in STEPS {
            let (velocities, level) = (&self.vertices.velocities, self.level);
            let faces = self.states.par_iter_mut().zip(&self.groups).with_min_len(GROUP_GRAIN);
            faces.for_each(|(state, group)| {
                level.run(CorrectCentroids { group, state, velocities, relaxation })
            });
            let (states, adjacency) = (&self.states, &self.adjacency);
            let velocities = self.vertices.velocities.par_chunks_mut(VERTEX_GRAIN);
            let locals = self.vertices.locals.par_chunks_mut(VERTEX_GRAIN);
            let lows = self.vertices.lows.par_chunks_mut(VERTEX_GRAIN);
            let vertices = velocities.zip(locals.zip(lows));
            vertices.enumerate().for_each(|(chunk, (velocities, (locals, lows)))| {
                let first = chunk * VERTEX_GRAIN;
                level.run(CorrectVertices { first, velocities, locals, lows, adjacency, states, step });
            });
            self.pins.add_vertex_face_impulses(&self.states, &self.adjacency);
        }
    }
}

/// Corrects sixteen centroids towards the mean of their vertices; the impulses on the vertices are
/// stored in `state`.
struct CorrectCentroids<'a> {
    group: &'a FaceGroup,
    state: &'a mut FaceState,
    velocities: &'a [F32x4],
    relaxation: f32,
}

impl Kernel for CorrectCentroids<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Self { group, state, velocities, relaxation } = self;
        for l in 0..LANES {
            if state.is_free(l) {
                state.impulses[l] = F32x4::ZERO;
                continue;
            }
            let [a, b, c] = [0, 1, 2].map(|k| velocities[group.corners[k][l] as usize]);
            let apart = state.velocities[l].minus(a.plus(b).plus(c).times(1.0 / 3.0));
            let change = apart.times(relaxation);
            state.velocities[l] = state.velocities[l].minus(change);
            state.impulses[l] = change.times(group.mass.0[l]);
        }
    }
}

/// Gives the vertices from number `first` on their parts of their faces' impulses.
struct CorrectVertices<'a> {
    first: usize,
    velocities: &'a mut [F32x4],
    locals: &'a mut [F32x4],
    lows: &'a mut [F32x4],
    adjacency: &'a CsrAdjacency,
    states: &'a [FaceState],
    step: f32,
}

impl Kernel for CorrectVertices<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let vertices = self.velocities.iter_mut().zip(self.locals.iter_mut().zip(self.lows));
        for (number, (velocity, (local, low))) in (self.first..).zip(vertices) {
            let mut sum = F32x4::ZERO;
            for &entry in self.adjacency.of(number) {
                let face = entry as usize / 4;
                sum = sum.plus(self.states[face / LANES].impulses[face % LANES]);
            }
            let mut change = sum.times(velocity.0[3] * (1.0 / 3.0));
            // The last entry is the inverse mass.
            change.0[3] = 0.0;
            *velocity = velocity.plus(change);
            let added = change.times(self.step).plus(*low);
            let rounded = local.plus(added);
            (*local, *low) = (rounded, added.minus(rounded.minus(*local)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps are the inverse roots of Chebyshev's polynomial of degree 3 on [1, 4/3], and the
    /// product of 1 - step x, the remaining fraction of the residual for eigenvalue x, is at most 1
    /// / T_3(7) = 1 / (4 x 343 - 21) = 1/1351 there.
    #[test]
    fn steps_are_chebyshevs() {
        for (k, step) in STEPS.into_iter().enumerate() {
            let angle = core::f64::consts::PI * (2 * k + 1) as f64 / 6.0;
            let root = 7.0 / 6.0 - angle.cos() / 6.0;
            approx::assert_relative_eq!(f64::from(step), 1.0 / root, max_relative = 1e-7);
        }
        let left = |x: f64| STEPS.iter().map(|&step| 1.0 - f64::from(step) * x).product::<f64>().abs();
        let most = (0..=1000).map(|i| left(1.0 + f64::from(i) / 3000.0)).fold(0.0, f64::max);
        approx::assert_relative_eq!(most, 1.0 / 1351.0, max_relative = 1e-3);
    }
}
