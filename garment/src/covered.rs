//! Area of the floor that a cloth covers.

use nalgebra::Vector3;

/// Most strip segments: more would fill the memory.
const MOST_SPANS: f64 = 1e8;

/// Why an area was not measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CoveredError {
    /// The width of the strips is not a length.
    #[error("cell: {0} m must be positive and finite")]
    Cell(f64),
    /// A face refers to a vertex that does not exist.
    #[error("faces[{face}]: {corners:?} are not all among the {count} positions")]
    NoSuchVertex {
        /// Index of the face.
        face: usize,
        /// The vertices it names.
        corners: [usize; 3],
        /// How many positions there are.
        count: usize,
    },
    /// A vertex that is not finite.
    #[error("faces[{face}]: its vertices must be finite")]
    NotFinite {
        /// Index of the face.
        face: usize,
    },
    /// The strips are too narrow for triangles of this size.
    #[error(
        "cell: {cell} m is too small: {spans} strip segments would be counted, at most \
         {MOST_SPANS} are allowed"
    )]
    TooFine {
        /// The width given \[m\].
        cell: f64,
        /// The number of segments needed.
        spans: f64,
    },
}

/// Area of the floor z = 0 \[m^2\] under triangles with these `positions` (m, world frame), where
/// layers count once. The floor is cut into strips along x that are `cell` \[m\] wide; along the
/// middle of each, the covered length is summed exactly. So the error is at most half a cell along
/// borders of the covered part across the strips, and of second order in the cell otherwise.
///
/// # Errors
/// A cell that is not positive or far too fine, a face whose vertices do not exist or are not
/// finite.
pub fn covered_area(
    positions: &[Vector3<f64>],
    faces: &[[usize; 3]],
    cell: f64,
) -> Result<f64, CoveredError> {
    if !(cell > 0.0 && cell.is_finite()) {
        return Err(CoveredError::Cell(cell));
    }
    let triangles = corners(positions, faces)?;
    let spans: f64 = triangles.iter().map(|triangle| height(triangle) / cell + 1.0).sum();
    if spans.is_nan() || spans > MOST_SPANS {
        return Err(CoveredError::TooFine { cell, spans });
    }
    let mut covered: Vec<(i64, f64, f64)> = Vec::with_capacity(spans as usize);
    for triangle in &triangles {
        let [low, high] = range(triangle, 1);
        // The middle of strip k is at (k + 1/2) cells.
        for strip in (low / cell - 0.5).ceil() as i64..=(high / cell - 0.5).floor() as i64 {
            if let Some((from, to)) = span(triangle, (strip as f64 + 0.5) * cell) {
                covered.push((strip, from, to));
            }
        }
    }
    covered.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut length = 0.0;
    let (mut strip, mut reached) = (i64::MIN, f64::NEG_INFINITY);
    for (at, from, to) in covered {
        if at != strip {
            (strip, reached) = (at, f64::NEG_INFINITY);
        }
        length += (to - from.max(reached)).max(0.0);
        reached = reached.max(to);
    }
    Ok(length * cell)
}

type Triangle = [[f64; 2]; 3];

fn corners(positions: &[Vector3<f64>], faces: &[[usize; 3]]) -> Result<Vec<Triangle>, CoveredError> {
    let mut triangles = Vec::with_capacity(faces.len());
    for (face, corners) in faces.iter().enumerate() {
        let mut triangle = [[0.0; 2]; 3];
        for (to, &vertex) in triangle.iter_mut().zip(corners) {
            let count = positions.len();
            let x =
                positions.get(vertex).ok_or(CoveredError::NoSuchVertex { face, corners: *corners, count })?;
            if !(x.x.is_finite() && x.y.is_finite()) {
                return Err(CoveredError::NotFinite { face });
            }
            *to = [x.x, x.y];
        }
        triangles.push(triangle);
    }
    Ok(triangles)
}

/// Least and greatest coordinate of a triangle along an axis \[m\].
fn range(triangle: &Triangle, axis: usize) -> [f64; 2] {
    let along = triangle.map(|x| x[axis]);
    [along[0].min(along[1]).min(along[2]), along[0].max(along[1]).max(along[2])]
}

fn height(triangle: &Triangle) -> f64 {
    let [low, high] = range(triangle, 1);
    high - low
}

/// Coordinates at which the line at `y` \[m\] enters and leaves a triangle \[m\].
fn span(triangle: &Triangle, y: f64) -> Option<(f64, f64)> {
    let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
    for k in 0..3 {
        let ([x0, y0], [x1, y1]) = (triangle[k], triangle[(k + 1) % 3]);
        if (y0 <= y) != (y1 <= y) {
            let x = x0 + (x1 - x0) * ((y - y0) / (y1 - y0));
            (from, to) = (from.min(x), to.max(x));
        }
    }
    (from < to).then_some((from, to))
}
