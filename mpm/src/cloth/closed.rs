//! Closed sheets: pillows and spheres.

use std::collections::BTreeMap;

use nalgebra::Vector3;

use super::mesh::{ClothMesh, MeshError};

impl ClothMesh {
    /// Two rectangles that are joined along all four sides: corner `origin`, sides `along_u` and
    /// `along_v` \[m\], in `parts` of them, two faces each. Between the sides they are `gap` \[m\]
    /// apart, half of it on each side of the rectangle that the sides span. Normals point outwards.
    ///
    /// The front, along u x v, has the vertices of [`ClothMesh::rectangle`]: (i, j), i along u, is
    /// number i (parts\[1\] + 1) + j. Those of the back between the sides follow in the same order.
    /// Diagonals alternate, and those at the corners end there.
    ///
    /// # Errors
    /// Fewer than two parts along a side, a gap that is not positive, or sides that are too short or
    /// parallel.
    pub fn pillow(
        origin: Vector3<f64>,
        along_u: Vector3<f64>,
        along_v: Vector3<f64>,
        parts: [usize; 2],
        gap: f64,
    ) -> Result<Self, MeshError> {
        let [m, n] = parts;
        if m < 2 || n < 2 {
            let value = format!("{parts:?}");
            return Err(MeshError::Shape { field: "parts", value, requirement: "must both be at least 2" });
        }
        if !(gap > 0.0 && gap.is_finite()) {
            let value = format!("{gap} m");
            return Err(MeshError::Shape { field: "gap", value, requirement: "must be positive and finite" });
        }
        let half = along_u.cross(&along_v).try_normalize(0.0).unwrap_or_default() * (0.5 * gap);
        let is_side = |i: usize, j: usize| i == 0 || j == 0 || i == m || j == n;
        let places = (0..=m).flat_map(|i| (0..=n).map(move |j| (i, j)));
        let flat =
            |i: usize, j: usize| origin + along_u * (i as f64 / m as f64) + along_v * (j as f64 / n as f64);
        let front = places.clone().map(|(i, j)| if is_side(i, j) { flat(i, j) } else { flat(i, j) + half });
        let back = places.filter(|&(i, j)| !is_side(i, j)).map(|(i, j)| flat(i, j) - half);
        let vertices = front.chain(back).collect();
        let in_front = |(i, j): (usize, usize)| i * (n + 1) + j;
        let behind = |(i, j): (usize, usize)| {
            if is_side(i, j) { in_front((i, j)) } else { (m + 1) * (n + 1) + (i - 1) * (n - 1) + j - 1 }
        };
        let mut faces = Vec::with_capacity(4 * m * n);
        for i in 0..m {
            for j in 0..n {
                let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
                for [a, b, c] in halves(corners, rises([i, j], parts)) {
                    faces.push([a, b, c].map(in_front));
                    faces.push([a, c, b].map(behind));
                }
            }
        }
        Self::new(vertices, faces)
    }

    /// A sphere of `radius` \[m\] about `centre`, normals outwards: an icosahedron whose edges have
    /// `parts` parts, put onto the sphere. It has 20 parts^2 faces, and edges of about 1.2 radius /
    /// parts.
    ///
    /// # Errors
    /// No parts, or a radius that is not positive.
    pub fn sphere(centre: Vector3<f64>, radius: f64, parts: usize) -> Result<Self, MeshError> {
        let shape = |field, value, requirement| Err(MeshError::Shape { field, value, requirement });
        if parts == 0 {
            return shape("parts", parts.to_string(), "must be positive");
        }
        if !(radius > 0.0 && radius.is_finite()) {
            return shape("radius", format!("{radius} m"), "must be positive and finite");
        }
        let (corners, sides) = icosahedron();
        // Number of a point by its weights at the corners of the icosahedron, so that faces that share
        // it find the same.
        let mut numbers = BTreeMap::new();
        let (mut vertices, mut faces) = (Vec::new(), Vec::new());
        for side in sides {
            let mut at = |i: usize, j: usize| {
                let mut weights = [(side[0], parts - i - j), (side[1], i), (side[2], j)];
                weights.sort_unstable();
                let key = weights.map(|(corner, weight)| if weight == 0 { (0, 0) } else { (corner, weight) });
                *numbers.entry(sorted(key)).or_insert_with(|| {
                    let point: Vector3<f64> =
                        weights.iter().map(|&(corner, weight)| corners[corner] * weight as f64).sum();
                    vertices.push(centre + point.normalize() * radius);
                    vertices.len() - 1
                })
            };
            for i in 0..parts {
                for j in 0..parts - i {
                    faces.push([at(i, j), at(i + 1, j), at(i, j + 1)]);
                    if i + j + 2 <= parts {
                        faces.push([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
                    }
                }
            }
        }
        Self::new(vertices, faces)
    }
}

fn sorted(mut key: [(usize, usize); 3]) -> [(usize, usize); 3] {
    key.sort_unstable();
    key
}

/// Whether the diagonal of a part of a pillow goes from its first corner to the third. At the corners of
/// the pillow it ends in them: otherwise the faces of front and back there would have the same vertices.
fn rises(at: [usize; 2], parts: [usize; 2]) -> bool {
    let (mut steps, mut mirrored) = (0, false);
    for k in 0..2 {
        let from_end = parts[k] - 1 - at[k];
        steps += at[k].min(from_end);
        mirrored ^= from_end < at[k];
    }
    (steps % 2 == 0) != mirrored
}

/// The two triangles of a quadrilateral.
fn halves<T: Copy>([a, b, c, d]: [T; 4], rises: bool) -> [[T; 3]; 2] {
    if rises { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
}

/// Corners and faces of an icosahedron about the origin, normals outwards.
fn icosahedron() -> ([Vector3<f64>; 12], Vec<[usize; 3]>) {
    let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
    // Rectangles of sides 2 and 2 golden in the three planes.
    let corners = core::array::from_fn(|k| {
        let (plane, sign) = (k / 4, |bit: usize| if k >> bit & 1 == 0 { 1.0 } else { -1.0 });
        let mut corner = Vector3::zeros();
        corner[plane] = sign(0);
        corner[(plane + 1) % 3] = sign(1) * golden;
        corner
    });
    // Faces are the triples at the distance of an edge, 2.
    let is_edge = |a: usize, b: usize| (corners[a] - corners[b]).norm() < 2.1;
    let mut faces = Vec::with_capacity(20);
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if is_edge(a, b) && is_edge(b, c) && is_edge(c, a) {
                    let outwards = corners[a].dot(&corners[b].cross(&corners[c])) > 0.0;
                    faces.push(if outwards { [a, b, c] } else { [a, c, b] });
                }
            }
        }
    }
    (corners, faces)
}
