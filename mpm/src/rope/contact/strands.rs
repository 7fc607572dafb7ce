//! What may touch: segments of ropes, and which pairs of them are looked at.

use core::f64::consts::PI;

use super::super::line::Rope;

/// A segment of a rope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strand {
    /// Its vertices.
    pub vertices: [u32; 2],
    /// Radius of the rope \[m\].
    pub radius: f64,
    rope: u32,
    /// Where it begins and ends along the rope at rest \[m\].
    arc: [f64; 2],
}

impl Strand {
    /// Whether contact between two segments is looked for.
    ///
    /// Between segments of one rope that are nearer than pi r along the rope at rest it is not: a line whose
    /// curvature is at most 1 / r has chords of at least 2 r sin(s / (2 r)) over an arc s (Schur's theorem on
    /// chords, against a circle of radius r), which reach 2 r at s = pi r. So of a rope that bends no more
    /// sharply than its own radius, what is left out may be nearer than 2 r, and what is looked at is not, unless
    /// strands that are apart along the rope touch. What bends more sharply resists by its bending stiffness.
    pub fn may_touch(&self, other: &Self) -> bool {
        let along = (other.arc[0] - self.arc[1]).max(self.arc[0] - other.arc[1]);
        self.rope != other.rope || along >= PI * self.radius
    }
}

/// The segments of ropes whose vertices are numbered from `first` on, one rope after the other.
pub(super) fn strands(ropes: &[Rope], first: usize) -> Vec<Strand> {
    let (mut all, mut vertex) = (Vec::new(), first as u32);
    for (rope, source) in ropes.iter().enumerate() {
        let mut arc = 0.0;
        for edge in source.edges() {
            let end = arc + edge.norm();
            all.push(Strand {
                vertices: [vertex, vertex + 1],
                radius: source.material.radius,
                rope: rope as u32,
                arc: [arc, end],
            });
            (arc, vertex) = (end, vertex + 1);
        }
        vertex += 1;
    }
    all
}
