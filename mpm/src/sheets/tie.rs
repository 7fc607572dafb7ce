//! Faces and their vertices agree on their velocities, by impulses between them.
//!
//! Wanted: the velocities nearest to those that came from the grid (in kinetic energy) at which every centroid moves with the mean of
//! its vertices. With impulses l_f, opposite at the centroid and in thirds at the vertices, that is A l = v_f - mean of v, A = M_f^-1 +
//! B M_v^-1 B^T / 9 with B the faces' vertices. Because a vertex's mass is the sum of those of its faces' centroids (a quarter of
//! each face to each of the four), M_f^1/2 A M_f^1/2 = I + E with the eigenvalues of E within [0, 1/3] for every mesh: B M_v^-1 B^T M_f
//! has rows of non-negative numbers that sum to 3. (Held vertices, with 1 / mass = 0, only lower them.) Chebyshev's semi-iterative method
//! (Golub and Varga 1961) with n sweeps leaves at most 1 / T_n(7) of the disagreement: 1 / 1351 for three. Whatever is
//! left, each impulse is exchanged in full, so momenta are kept to rounding after every sweep.

use rayon::prelude::*;

use super::{FaceGroup, FaceState, GROUP_GRAIN, Sheets, VERTEX_GRAIN, Vertex};
use crate::simd::{Kernel, LANES, Lanes, Row, Simd};

/// Sweeps. What they leave of a disagreement is at most 1/1351, and a face disagrees by little of its velocity: it gathers from the same
/// nodes as its vertices.
const SWEEPS: usize = 3;

/// Steps of Chebyshev's method for eigenvalues within [1, 4/3]: 1 / (7/6 - cos(pi (2 k + 1) / 6) / 6), k = 0, 1, 2.
const STEPS: [f32; SWEEPS] = [0.978_158_6, 0.857_142_87, 0.762_774_05];

impl Sheets {
    /// The tie; vertices also move by `step` [cells per m/s] times what their velocities change by.
    pub(super) fn tie(&mut self, step: f32) {
        for relaxation in STEPS {
            let (vertices, level) = (&self.vertices, self.level);
            let faces = self.states.par_iter_mut().zip(&self.groups).with_min_len(GROUP_GRAIN);
            faces.for_each(|(state, group)| level.run(PullFaces { group, state, vertices, relaxation }));
            let (states, around) = (&self.states, &self.around);
            let vertices = self.vertices.par_iter_mut().enumerate().with_min_len(VERTEX_GRAIN);
            vertices.for_each(|(number, vertex)| {
                let third = vertex.inverse_mass * (1.0 / 3.0);
                let mut sum = [0.0; 3];
                for &entry in around.of(number) {
                    let face = entry as usize / 4;
                    let impulse = &states[face / LANES].impulse[face % LANES];
                    for d in 0..3 {
                        sum[d] += impulse[d];
                    }
                }
                for d in 0..3 {
                    let change = sum[d] * third;
                    vertex.velocity[d] += change;
                    vertex.local[d] += step * change;
                }
            });
            self.pins.add_tie(&self.states, &self.around);
        }
    }
}

/// Pulls sixteen centroids towards the mean of their vertices; the vertices' impulses are left in `state`.
struct PullFaces<'a> {
    group: &'a FaceGroup,
    state: &'a mut FaceState,
    vertices: &'a [Vertex],
    relaxation: f32,
}

impl Kernel for PullFaces<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let [a, b, c] = &self.group.corners;
        let relaxation = Lanes::<S>::all(self.relaxation);
        let mass = Lanes::<S>::load(&self.group.mass);
        let mut impulse = [Row::ZERO; 3];
        for d in 0..3 {
            let mut sum = Row::ZERO;
            for l in 0..LANES {
                let of = |corner: &[u32; LANES]| self.vertices[corner[l] as usize].velocity[d];
                sum.0[l] = of(a) + of(b) + of(c);
            }
            let velocity = Lanes::<S>::load(&self.state.velocity[d]);
            let apart = velocity - Lanes::load(&sum) * Lanes::all(1.0 / 3.0);
            let change = relaxation * apart;
            (velocity - change).store(&mut self.state.velocity[d]);
            (mass * change).store(&mut impulse[d]);
        }
        for l in 0..LANES {
            self.state.impulse[l] = [impulse[0].0[l], impulse[1].0[l], impulse[2].0[l], 0.0];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps are the inverse roots of Chebyshev's polynomial of degree 3 on [1, 4/3], and the product of 1 - step x, which is what the sweeps
    /// leave of the part with eigenvalue x, is at most 1 / T_3(7) = 1 / (4 x 343 - 21) = 1/1351 there.
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
