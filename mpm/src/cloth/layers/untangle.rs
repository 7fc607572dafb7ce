//! Layers that cross at the start of a step are drawn apart, so that the contour in which they
//! intersect becomes shorter (after Volino and Magnenat-Thalmann, "Resolving surface collisions through
//! intersection contour minimization", 2006). No side has to be known.
//!
//! Where an edge of unit direction E passes through a face of normal N, the contour runs on along R_i in
//! the plane of each face i of the edge. A displacement D of the edge moves the place where it passes
//! through by D - E (D . N) / (E . N), which shortens the contour by g . D with
//! g = sum_i (R_i - (R_i . E) / (E . N) N). Along a straight piece of the contour the two faces' parts
//! cancel: it shrinks from its ends and its curves.

use nalgebra::Vector3;

use crate::cloth::crossings::Crossing;

type V3 = Vector3<f64>;

/// Where an edge has no second face.
const NONE: u32 = u32::MAX;

/// Least |E . N| with which an edge passes through a face: below, the place would move by much more
/// than the edge.
const LEAST_SLOPE: f64 = 0.1;

/// Size of g below which it is followed by less than the whole displacement \[-\].
const SLOW: f64 = 0.2;

/// The vertex of each face of an edge that is not on it.
#[derive(Clone, Debug)]
pub(super) struct EdgeFaces {
    opposite: Vec<[u32; 2]>,
}

impl EdgeFaces {
    /// Of these sorted edges.
    pub fn new(faces: &[[u32; 3]], edges: &[[u32; 2]]) -> Self {
        let mut opposite = vec![[NONE; 2]; edges.len()];
        for [a, b, c] in faces {
            for (from, to, third) in [(a, b, c), (b, c, a), (c, a, b)] {
                if let Ok(edge) = edges.binary_search(&[*from.min(to), *from.max(to)]) {
                    let places = &mut opposite[edge];
                    places[usize::from(places[0] != NONE)] = *third;
                }
            }
        }
        Self { opposite }
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.opposite.capacity() * size_of::<[u32; 2]>()
    }

    /// Moves the `ends` of the vertices of crossings, found where `starts` are, by up to `length` \[m\];
    /// opposite on the edge and the face, so that the centre of mass stays.
    pub fn draw_apart(
        &self,
        crossings: &[Crossing],
        edges: &[[u32; 2]],
        (starts, ends): (&[V3], &mut [V3]),
        inverse_masses: &[f64],
        length: f64,
    ) {
        for crossing in crossings {
            let Ok(edge) = edges.binary_search(&crossing.edge) else { continue };
            let Some((gradient, weights)) = contour_gradient(crossing, self.opposite[edge], starts) else {
                continue;
            };
            let size = gradient.norm();
            let wanted = gradient * (length / size.hypot(SLOW));
            let [p, q] = crossing.edge;
            let [a, b, c] = crossing.face;
            let vertices = [p, q, a, b, c].map(|v| v as usize);
            let mobility: f64 = vertices.iter().zip(weights).map(|(v, w)| w * w * inverse_masses[*v]).sum();
            if mobility > 0.0 {
                for (v, weight) in vertices.into_iter().zip(weights) {
                    ends[v] += wanted * (weight * inverse_masses[v] / mobility);
                }
            }
        }
    }
}

/// The direction in which an edge moves past a face so that the contour becomes shorter, and the weights
/// of the place where it passes through, those of the face negative.
fn contour_gradient(crossing: &Crossing, opposite: [u32; 2], x: &[V3]) -> Option<(V3, [f64; 5])> {
    let [p, q] = crossing.edge.map(|v| x[v as usize]);
    let [a, b, c] = crossing.face.map(|v| x[v as usize]);
    let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
    let along = (q - p).try_normalize(0.0)?;
    let slope = along.dot(&normal);
    let slope = if slope.abs() < LEAST_SLOPE { LEAST_SLOPE.copysign(slope) } else { slope };
    let (above, below) = ((q - a).dot(&normal), (p - a).dot(&normal));
    let on_edge = (below / (below - above)).clamp(0.0, 1.0);
    let place = p + (q - p) * on_edge;
    let mut gradient = V3::zeros();
    for third in opposite.into_iter().filter(|third| *third != NONE) {
        let inwards = x[third as usize] - place;
        let inwards = inwards - along * inwards.dot(&along);
        let of_face = along.cross(&inwards).try_normalize(0.0)?;
        let Some(contour) = normal.cross(&of_face).try_normalize(1e-9) else { continue };
        let contour = if contour.dot(&inwards) < 0.0 { -contour } else { contour };
        gradient += contour - normal * (contour.dot(&along) / slope);
    }
    let area = (b - a).cross(&(c - a));
    let part = |from: V3, to: V3| (from - place).cross(&(to - place)).dot(&area) / area.norm_squared();
    let of_face = [part(b, c), part(c, a), part(a, b)];
    Some((gradient, [1.0 - on_edge, on_edge, -of_face[0], -of_face[1], -of_face[2]]))
}
