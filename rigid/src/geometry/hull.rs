//! Convex hulls of points.

use super::{GeometryError, SurfacePoint, TriangleMesh, convert, topology};
use nalgebra::{Point3, Unit, Vector3};

/// Triangles whose vertices are this close to a plane, in proportion to the radius of the hull, lie in it.
const COPLANAR: f64 = 1e-9;

/// Cosine of 60 degrees: faces whose normals are closer than this face the same side.
const SAME_SIDE_COSINE: f64 = 0.5;

/// One face of a hull: the solid is `normal . x <= offset`.
#[derive(Clone, Copy, Debug)]
struct Plane {
    normal: Unit<Vector3<f64>>,
    offset: f64,
}

/// The convex hull of points, in its own frame. Coplanar triangles make one face.
///
/// Inside, the distance is that to the nearest plane; outside, that to the nearest triangle.
#[derive(Clone, Debug)]
pub struct ConvexHull {
    mesh: TriangleMesh,
    planes: Vec<Plane>,
    face_of_triangle: Vec<u32>,
}

impl ConvexHull {
    /// The hull of `points` [m], of which those inside are dropped.
    ///
    /// # Errors
    /// Coordinates that are not finite, and points that do not span a volume.
    pub fn new(points: &[Point3<f64>]) -> Result<Self, GeometryError> {
        topology::check_vertices("convex hull", points)?;
        let refuse = |reason: String| GeometryError::Hull { points: points.len(), reason };
        let (vertices, triangles) = convert::convex_hull(points).map_err(|e| refuse(e.to_string()))?;
        let mesh = TriangleMesh::new(vertices, triangles).map_err(|e| refuse(e.to_string()))?;
        let (planes, face_of_triangle) = faces(&mesh);
        let hull = Self { mesh, planes, face_of_triangle };
        let tolerance = 10.0 * COPLANAR * hull.mesh.bounding_sphere().1;
        let outside = points.iter().map(|p| hull.plane_distance(p).distance).fold(f64::MIN, f64::max);
        if outside > tolerance {
            return Err(refuse(format!("it leaves out a point by {outside} m")));
        }
        Ok(hull)
    }

    /// The surface: only the vertices of the hull.
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// How many faces there are, counting coplanar triangles as one.
    pub fn face_count(&self) -> usize {
        self.planes.len()
    }

    /// Outward unit normal and offset [m] of a face: the solid is `normal . x <= offset`. `None` where there is none.
    pub fn face(&self, face: u32) -> Option<(Unit<Vector3<f64>>, f64)> {
        self.planes.get(face as usize).map(|plane| (plane.normal, plane.offset))
    }

    /// The plane with the largest signed distance: exact inside the hull, a lower bound outside.
    fn plane_distance(&self, p: &Point3<f64>) -> SurfacePoint {
        let mut best = SurfacePoint { distance: f64::MIN, normal: Vector3::z_axis(), feature: 0 };
        for (feature, plane) in (0..).zip(&self.planes) {
            let distance = plane.normal.dot(&p.coords) - plane.offset;
            if distance > best.distance {
                best = SurfacePoint { distance, normal: plane.normal, feature };
            }
        }
        best
    }

    pub(super) fn surface_point(&self, p: &Point3<f64>) -> SurfacePoint {
        let inside = self.plane_distance(p);
        if inside.distance <= 0.0 {
            return inside;
        }
        let outside = self.mesh.surface_point(p);
        SurfacePoint { feature: self.face_of_triangle[outside.feature as usize], ..outside }
    }

    /// For a point inside: measured from the nearest face that faces within 60 degrees of face `side`.
    pub(super) fn surface_point_from(&self, p: &Point3<f64>, side: u32) -> Option<SurfacePoint> {
        let entered = self.planes.get(side as usize)?.normal;
        let mut best: Option<SurfacePoint> = None;
        for (feature, plane) in (0..).zip(&self.planes) {
            let distance = plane.normal.dot(&p.coords) - plane.offset;
            let nearer = best.is_none_or(|b| distance > b.distance);
            if nearer && plane.normal.dot(&entered) > SAME_SIDE_COSINE {
                best = Some(SurfacePoint { distance, normal: plane.normal, feature });
            }
        }
        best
    }
}

/// Joins coplanar triangles into faces, numbered by their largest triangle in the order of size, so that a face's plane
/// comes from the triangle that knows it best.
fn faces(mesh: &TriangleMesh) -> (Vec<Plane>, Vec<u32>) {
    let vertices = mesh.vertices();
    let corners = |t: usize| mesh.triangles()[t].map(|i| vertices[i as usize]);
    let area = |t: usize| {
        let [a, b, c] = corners(t);
        (b - a).cross(&(c - a)).norm()
    };
    let mut by_area: Vec<usize> = (0..mesh.triangles().len()).collect();
    by_area.sort_by(|s, t| area(*t).total_cmp(&area(*s)).then(s.cmp(t)));
    let tolerance = COPLANAR * mesh.bounding_sphere().1;
    let mut planes = Vec::new();
    let mut face_of_triangle = vec![u32::MAX; by_area.len()];
    for &seed in &by_area {
        if face_of_triangle[seed] != u32::MAX {
            continue;
        }
        let face = planes.len() as u32;
        let normal = mesh.face_normals()[seed];
        // The support in this direction: no vertex of the hull is beyond the plane.
        let offset = vertices.iter().map(|v| normal.dot(&v.coords)).fold(f64::MIN, f64::max);
        planes.push(Plane { normal, offset });
        for &t in &by_area {
            let in_plane = |v: &Point3<f64>| (normal.dot(&v.coords) - offset).abs() < tolerance;
            if face_of_triangle[t] == u32::MAX && corners(t).iter().all(in_plane) {
                face_of_triangle[t] = face;
            }
        }
        // A seed that the rounding of its own plane leaves out is still part of it.
        face_of_triangle[seed] = face;
    }
    (planes, face_of_triangle)
}
