//! Particle layouts for tests.

use nalgebra::Vector3;
use pliant_mpm::reference::Particle;

/// Undeformed particles at the centres of `counts` cells of edge `edges` [m], the first cell's corner at `corner` [m].
pub fn lattice(corner: [f64; 3], edges: [f64; 3], counts: [usize; 3], density: f64) -> Vec<Particle> {
    let mut particles = Vec::new();
    for i in 0..counts[0] {
        for j in 0..counts[1] {
            for k in 0..counts[2] {
                let at = |axis: usize, n: usize| corner[axis] + edges[axis] * (n as f64 + 0.5);
                let position = Vector3::new(at(0, i), at(1, j), at(2, k));
                particles.push(Particle::at_rest(position, edges.iter().product(), 0, density));
            }
        }
    }
    particles
}
