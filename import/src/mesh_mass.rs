//! Volume, centre of mass and inertia of triangle meshes, by the rules of MuJoCo's `inertia`.
//!
//! The rules are those of MuJoCo's documentation (XML reference, asset/mesh, `inertia`); the points
//! about which they sum were found with MuJoCo 4.0 itself.

use nalgebra::{Matrix3, Point3, Vector3};

/// MuJoCo's least volume \[m^3\] and area \[m^2\].
const LEAST: f64 = 1e-15;

/// What the mass of a mesh is distributed over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum MassRule {
    /// Its convex hull.
    Convex,
    /// Its inside: tetrahedra count with their sign.
    Exact,
    /// Tetrahedra count as positive, whatever the orientation of their face.
    Legacy,
    /// Its surface.
    Shell,
}

/// Figures for a unit density \[kg/m^3, kg/m^2\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MeshMass {
    /// Volume \[m^3\], or area \[m^2\] of a shell.
    pub size: f64,
    /// Centre of mass \[m\].
    pub center: Point3<f64>,
    /// Inertia about the centre, along the axes of the mesh.
    pub inertia: Matrix3<f64>,
}

/// A face: its corners, its centroid, and its normal as long as its area.
struct Face {
    corners: [Vector3<f64>; 3],
    centroid: Vector3<f64>,
    normal: Vector3<f64>,
}

impl MeshMass {
    /// The figures of a surface; the hull's are those of [`MassRule::Exact`] of its faces.
    ///
    /// # Errors
    /// No volume or area, a negative volume, or edges that two faces run through in the same
    /// direction: what MuJoCo refuses.
    pub fn of(vertices: &[Point3<f64>], triangles: &[[u32; 3]], rule: MassRule) -> Result<Self, String> {
        let faces = || {
            triangles.iter().map(|t| {
                let [a, b, c] = t.map(|i| vertices[i as usize].coords);
                Face {
                    corners: [a, b, c],
                    centroid: (a + b + c) / 3.0,
                    normal: (b - a).cross(&(c - a)) / 2.0,
                }
            })
        };
        let area: f64 = faces().map(|face| face.normal.norm()).sum();
        if !(area.is_finite() && area >= LEAST) {
            return Err(format!("the mesh has no area ({area:e} m^2)"));
        }
        let middle = faces().map(|face| face.centroid * face.normal.norm()).sum::<Vector3<f64>>() / area;
        if rule == MassRule::Shell {
            let second: Matrix3<f64> =
                faces().map(|face| second_moment(&face.corners, &middle) * (face.normal.norm() / 12.0)).sum();
            return Ok(Self { size: area, center: middle.into(), inertia: inertia(&second) });
        }
        if rule == MassRule::Exact {
            check_orientation(triangles)?;
        }
        // The tetrahedron of a face and an apex.
        let volume = |face: &Face, apex: &Vector3<f64>| {
            let signed = (face.centroid - apex).dot(&face.normal) / 3.0;
            if rule == MassRule::Legacy { signed.abs() } else { signed }
        };
        let sum: f64 = faces().map(|face| volume(&face, &middle)).sum();
        if sum < 0.0 {
            return Err(format!("the mesh has a negative volume, {sum:e} m^3: it is inside out"));
        }
        if !(sum.is_finite() && sum >= LEAST) {
            return Err(format!("the mesh has no volume ({sum:e} m^3)"));
        }
        let moment = faces().map(|face| (face.centroid * 0.75 + middle * 0.25) * volume(&face, &middle));
        let center = moment.sum::<Vector3<f64>>() / sum;
        // About the centre the sum is another one if the mesh is open.
        let size: f64 = faces().map(|face| volume(&face, &center)).sum();
        let second: Matrix3<f64> =
            faces().map(|face| second_moment(&face.corners, &center) * (volume(&face, &center) / 20.0)).sum();
        if !(size.is_finite() && size >= LEAST) {
            return Err(format!("the mesh has no volume ({size:e} m^3)"));
        }
        Ok(Self { size, center: center.into(), inertia: inertia(&second) })
    }
}

/// Sum of the outer products of the corners and of their sum: 12 times the second moment of a
/// triangle of unit area, 20 times that of a tetrahedron of unit volume with its apex at `origin`
/// (Tonon, Explicit exact formulas for the 3-D tetrahedron inertia tensor, 2005).
fn second_moment(corners: &[Vector3<f64>; 3], origin: &Vector3<f64>) -> Matrix3<f64> {
    let at = corners.map(|corner| corner - origin);
    let sum = at[0] + at[1] + at[2];
    at.iter().fold(sum * sum.transpose(), |total, x| total + x * x.transpose())
}

/// The inertia of a second moment.
fn inertia(second: &Matrix3<f64>) -> Matrix3<f64> {
    Matrix3::identity() * second.trace() - second
}

/// No edge may be run through twice in the same direction.
fn check_orientation(triangles: &[[u32; 3]]) -> Result<(), String> {
    let mut edges: Vec<[u32; 2]> = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    edges.sort_unstable();
    match edges.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => {
            let [a, b] = pair[0];
            Err(format!("faces beside the edge of the vertices {a} and {b} have different orientations"))
        }
    }
}
