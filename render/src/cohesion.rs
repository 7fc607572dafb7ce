//! Points that fill cohesive bodies where they are stretched.
//!
//! Where a body is stretched its layers part, and kernels of a fixed reach leave ridges and holes
//! between them. Kernels that are longer along the stretched directions close these (Yu and Turk,
//! "Reconstructing surfaces of particle-based fluids using anisotropic kernels", 2013). Here each is
//! a row of round ones: on the long edges of the Gabriel graph (Gabriel and Sokal, "A new statistical
//! approach to geographic variation analysis", 1969), which has an edge where the ball about it is
//! empty. A gap between two pieces that are whole up to it is a gap, and stays.

use rayon::prelude::*;

use super::neighbors::Neighbors;
use super::ray::V3;

/// Shortest and longest edge that is filled, over the spacing at rest; the longest in drafts, which are
/// too small to show all.
const EDGES: [f32; 2] = [1.5, 3.0];
const LONGEST_OF_DRAFTS: f32 = 2.4;

/// Rounds of filling: the second closes the meshes between the edges of the first.
const ROUNDS: usize = 2;
const ROUNDS_OF_DRAFTS: usize = 1;

/// A piece is whole up to an end where another point is behind it, within this distance over the
/// spacing and this cosine of the angle.
const WHOLE: (f32, f32) = (1.3, 0.7);

/// The same for edges shorter than the first number, which may cross a cell of a lattice at rest.
const DIAGONAL: f32 = 2.0;
const WHOLE_DIAGONAL: (f32, f32) = (1.1, 0.56);

/// With at most so many others nearer than the shortest edge an end is of a thin sheet that is
/// stretched, whatever is behind; within a sheet at rest there are eight.
const THIN: usize = 6;

/// A body with less than this part of its points in thin sheets or at edges longer than diagonals is
/// as at rest, and needs no filling: at its corners it would grow knobs.
const STRETCHED: f32 = 0.02;

/// A point has no edges to be filled where points nearby block all that are as long as this over the
/// spacing, in the directions that are tried.
const COVERED: f32 = 1.9;

/// Fewer points do not do that.
const FEWEST_COVERING: usize = 8;

/// Points with what is known of them.
struct Filling<'a> {
    points: &'a [[f32; 3]],
    /// Whether each of the points of rounds before is of a thin sheet.
    thin: &'a [bool],
    /// Of each point, the offsets to the points as near as the shortest edge, and their squares.
    near: Vec<Vec<(V3, f32)>>,
    /// Points as near as the longest edge.
    far: Neighbors,
    spacing: f32,
}

/// The edges of a point that are to be filled, and whether it is of a thin sheet.
#[derive(Default)]
struct Found {
    edges: Vec<[u32; 2]>,
    thin: bool,
    /// Whether one of the edges is longer than a diagonal.
    long: bool,
}

/// Points that fill what has been stretched, in an order that depends on the points alone.
pub(super) fn fillings(points: &[[f32; 3]], spacing: f32, draft: bool) -> Vec<[f32; 3]> {
    let (longest, rounds) = if draft { (LONGEST_OF_DRAFTS, ROUNDS_OF_DRAFTS) } else { (EDGES[1], ROUNDS) };
    let (mut all, mut thin) = (points.to_vec(), Vec::new());
    for _ in 0..rounds {
        let filling = Filling::new(&all, &thin, spacing, longest);
        // Later edges have a new end: an old edge that was not filled is not to be.
        let first = thin.len();
        let found: Vec<Found> = (first..all.len()).into_par_iter().map(|at| filling.found(at)).collect();
        let stretched = found.iter().filter(|found| found.thin || found.long).count();
        if first == 0 && (stretched as f32) < STRETCHED * points.len() as f32 {
            return Vec::new();
        }
        let mut edges: Vec<[u32; 2]> = found.iter().flat_map(|found| &found.edges).copied().collect();
        edges.sort_unstable();
        edges.dedup();
        let middle = |[a, b]: &[u32; 2]| {
            std::array::from_fn(|axis| (all[*a as usize][axis] + all[*b as usize][axis]) / 2.0)
        };
        let added: Vec<[f32; 3]> = edges.iter().map(middle).collect();
        thin.extend(found.iter().map(|found| found.thin));
        all.extend(added);
    }
    all.split_off(points.len())
}

/// Offsets to the points nearby, and their squares.
fn nearby(near: &Neighbors, points: &[[f32; 3]], point: &[f32; 3]) -> Vec<(V3, f32)> {
    let here = V3::from(*point);
    let mut found = Vec::with_capacity(32);
    near.visit(point, |other, squared| {
        if squared > 0.0 {
            found.push((V3::from(points[other]) - here, squared));
        }
        true
    });
    found
}

impl<'a> Filling<'a> {
    fn new(points: &'a [[f32; 3]], thin: &'a [bool], spacing: f32, longest: f32) -> Self {
        let near = Neighbors::new(points, EDGES[0] * spacing);
        let near = points.par_iter().map(|point| nearby(&near, points, point)).collect();
        // Two rings look at half as many points as one.
        let far = Neighbors::with_rings(points, longest * spacing, 2);
        Self { points, thin, near, far, spacing }
    }

    fn is_thin(&self, at: usize) -> bool {
        match self.thin.get(at) {
            Some(thin) => *thin,
            None => self.near[at].len() <= THIN,
        }
    }

    fn found(&self, at: usize) -> Found {
        let nearby = &self.near[at][..];
        if self.is_covered(nearby) {
            return Found::default();
        }
        let thin = nearby.len() <= THIN;
        let here = V3::from(self.points[at]);
        let shortest = (EDGES[0] * self.spacing).powi(2);
        // Whether a point is in the ball whose diameter is the edge.
        let blocks = |(offset, squared): &(V3, f32), edge: &V3| *squared < offset.dot(edge);
        let (mut open, mut all) = (Vec::new(), Vec::new());
        self.far.visit(&self.points[at], |other, squared| {
            if squared > shortest {
                let edge = V3::from(self.points[other]) - here;
                all.push((edge, squared));
                if !nearby.iter().any(|near| blocks(near, &edge)) {
                    open.push((edge, squared, other));
                }
            }
            true
        });
        open.retain(|(edge, ..)| !all.iter().any(|far| blocks(far, edge)));
        let is_filled = |(edge, squared, other): &(V3, f32, usize)| {
            thin || self.is_thin(*other)
                || !self.is_whole(nearby, edge, *squared)
                || !self.is_whole(&self.near[*other], &-edge, *squared)
        };
        let ends = |(.., other): &(V3, f32, usize)| [at.min(*other) as u32, at.max(*other) as u32];
        open.retain(is_filled);
        let diagonal = (DIAGONAL * self.spacing).powi(2);
        let long = open.iter().any(|(_, squared, _)| *squared > diagonal);
        Found { edges: open.iter().map(ends).collect(), thin, long }
    }

    /// Whether the piece with the points `nearby` is whole up to the end of an edge.
    fn is_whole(&self, nearby: &[(V3, f32)], edge: &V3, length: f32) -> bool {
        let is_diagonal = length < (DIAGONAL * self.spacing).powi(2);
        let (reach, cosine) = if is_diagonal { WHOLE_DIAGONAL } else { WHOLE };
        let reach = (reach * self.spacing).powi(2);
        nearby.iter().any(|(offset, squared)| {
            *squared <= reach && offset.dot(edge) < -cosine * (squared * length).sqrt()
        })
    }

    /// Whether points `nearby` block edges in all directions: those of the faces, edges and corners
    /// of a cube.
    fn is_covered(&self, nearby: &[(V3, f32)]) -> bool {
        let length = COVERED * self.spacing;
        nearby.len() >= FEWEST_COVERING
            && (0..27).filter(|n| *n != 13).all(|n| {
                let direction = V3::new((n % 3 - 1) as f32, (n / 3 % 3 - 1) as f32, (n / 9 - 1) as f32);
                let edge = direction * (length / direction.norm());
                nearby.iter().any(|(offset, squared)| *squared < offset.dot(&edge))
            })
    }
}
