//! A rope's mechanics apart from any grid: serial, in f64.

use nalgebra::Vector3;

use super::bend::{Bend, BendForces};
use super::line::Rope;
use super::segment::Segment;

/// A segment at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestSegment {
    /// Length \[m\].
    pub length: f64,
    /// E A: force over strain \[N\].
    pub stiffness: f64,
    /// Moment of inertia about the tangent \[kg m^2\].
    pub inertia: f64,
}

impl RestSegment {
    /// Derivative of the stretch energy with respect to the edge \[N\].
    pub fn pull(&self, segment: &Segment) -> Vector3<f64> {
        segment.tangent * (self.stiffness * (segment.length / self.length - 1.0))
    }

    /// Energy of stretch \[J\].
    pub fn energy(&self, segment: &Segment) -> f64 {
        let strain = segment.length / self.length - 1.0;
        0.5 * self.stiffness * self.length * strain * strain
    }
}

/// A (valid) rope at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Rod {
    /// Its segments; number k is from vertex k to the next.
    pub segments: Vec<RestSegment>,
    /// Bends at the inner vertices; number k is at vertex k + 1.
    pub bends: Vec<Bend>,
    /// Masses of the vertices \[kg\].
    pub masses: Vec<f64>,
}

/// Frames of a rope.
#[derive(Clone, Debug, PartialEq)]
pub struct RodFrames {
    /// Its segments as they are now.
    pub segments: Vec<Segment>,
    /// Twists at the inner vertices \[rad\].
    pub twists: Vec<f64>,
}

/// Forces of a rope.
#[derive(Clone, Debug, PartialEq)]
pub struct RodForces {
    /// On the vertices \[N\].
    pub on_vertices: Vec<Vector3<f64>>,
    /// On the segments' cross-sections, about their tangents \[N m\].
    pub torques: Vec<f64>,
}

impl Rod {
    /// A rope at rest, and its frames at the start: of a naturally curved rope the line at the start has
    /// no bending energy, of others a straight one.
    pub fn new(rope: &Rope) -> (Self, RodFrames) {
        let material = &rope.material;
        let edges: Vec<_> = rope.edges().collect();
        let segments: Vec<_> = edges
            .iter()
            .map(|edge| RestSegment {
                length: edge.norm(),
                stiffness: material.youngs_modulus * material.area(),
                inertia: material.density * material.polar_moment() * edge.norm(),
            })
            .collect();
        let masses = rope.volumes().into_iter().map(|volume| volume * material.density).collect();
        let lengths: Vec<f64> =
            segments.windows(2).map(|pair| 0.5 * (pair[0].length + pair[1].length)).collect();
        let whole: f64 = lengths.iter().sum();
        let twists: Vec<f64> = lengths.iter().map(|length| rope.twist * length / whole).collect();
        let untwisted = RodFrames::along(&edges, &vec![0.0; twists.len()]);
        let bend = |(k, length): (usize, &f64)| {
            let pair = [&untwisted.segments[k], &untwisted.segments[k + 1]];
            let natural = if rope.is_naturally_curved { Bend::angles(pair, 0.0) } else { [0.0; 2] };
            Bend { length: *length, bending: material.bending(), twist: material.twist(), natural }
        };
        let bends = lengths.iter().enumerate().map(bend).collect();
        (Self { segments, bends, masses }, RodFrames::along(&edges, &twists))
    }

    /// Responses of the bends.
    pub fn bend_forces(&self, frames: &RodFrames) -> Vec<BendForces> {
        let of = |(k, bend): (usize, &Bend)| bend.forces(frames.pair(k), frames.twists[k]);
        self.bends.iter().enumerate().map(of).collect()
    }

    /// Forces and torques, minus the gradient of the energy.
    pub fn forces(&self, frames: &RodFrames) -> RodForces {
        let mut of_edges: Vec<_> =
            self.segments.iter().zip(&frames.segments).map(|(rest, now)| rest.pull(now)).collect();
        let mut torques = vec![0.0; self.segments.len()];
        for (k, bend) in self.bend_forces(frames).into_iter().enumerate() {
            for side in 0..2 {
                of_edges[k + side] += bend.on_edges[side];
                torques[k + side] += bend.torques[side];
            }
        }
        let mut on_vertices = vec![Vector3::zeros(); self.masses.len()];
        for (k, force) in of_edges.into_iter().enumerate() {
            on_vertices[k] += force;
            on_vertices[k + 1] -= force;
        }
        RodForces { on_vertices, torques }
    }

    /// Elastic energy \[J\].
    pub fn elastic_energy(&self, frames: &RodFrames) -> f64 {
        let stretch =
            self.segments.iter().zip(&frames.segments).map(|(rest, now)| rest.energy(now)).sum::<f64>();
        stretch + self.bend_forces(frames).iter().map(|bend| bend.energy).sum::<f64>()
    }

    /// Kinetic energy of the spins \[J\].
    pub fn spin_energy(&self, frames: &RodFrames) -> f64 {
        let of = |(rest, now): (&RestSegment, &Segment)| 0.5 * rest.inertia * now.spin * now.spin;
        self.segments.iter().zip(&frames.segments).map(of).sum()
    }

    /// Angular momentum of the spins \[N m s\].
    pub fn spin_momentum(&self, frames: &RodFrames) -> Vector3<f64> {
        let of = |(rest, now): (&RestSegment, &Segment)| now.tangent * (rest.inertia * now.spin);
        self.segments.iter().zip(&frames.segments).map(of).sum()
    }

    /// Takes the frames to new positions of the vertices \[m\], turned by the spins over `substep` \[s\].
    /// Returns the impulses that turn the spins' momenta back on the vertices \[N s\].
    pub fn carry(
        &self,
        frames: &mut RodFrames,
        positions: &[Vector3<f64>],
        substep: f64,
    ) -> Vec<Vector3<f64>> {
        let mut impulses = vec![Vector3::zeros(); positions.len()];
        let before: Vec<f64> = frames.segments.iter().map(|segment| segment.spin).collect();
        for (k, rest) in self.segments.iter().enumerate() {
            let segment = &mut frames.segments[k];
            let edge = positions[k + 1] - positions[k];
            let (carried, left) = segment.carried(edge, rest.length, substep * segment.spin);
            *segment = carried;
            let impulse = segment.couple(&(rest.inertia * left));
            impulses[k] -= impulse;
            impulses[k + 1] += impulse;
        }
        for k in 0..frames.twists.len() {
            let guess = frames.twists[k] + substep * (before[k + 1] - before[k]);
            frames.twists[k] = frames.segments[k].twist_to(&frames.segments[k + 1], guess);
        }
        impulses
    }
}

impl RodFrames {
    /// Frames along edges \[m\] with these twists at the inner vertices \[rad\].
    fn along(edges: &[Vector3<f64>], twists: &[f64]) -> Self {
        let mut segments: Vec<Segment> = Vec::with_capacity(edges.len());
        for (k, edge) in edges.iter().enumerate() {
            let twist = if k == 0 { 0.0 } else { twists[k - 1] };
            segments.push(Segment::after(segments.last(), *edge, twist));
        }
        Self { segments, twists: twists.to_vec() }
    }

    /// The segments on both sides of the bend number `bend`.
    pub fn pair(&self, bend: usize) -> [&Segment; 2] {
        [&self.segments[bend], &self.segments[bend + 1]]
    }
}
