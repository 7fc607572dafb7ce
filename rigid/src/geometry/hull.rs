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
/// The nearest triangle comes from a bounding volume hierarchy; inside, the distance is that to the plane of
/// its face.
#[derive(Clone, Debug)]
pub struct ConvexHull {
    mesh: TriangleMesh,
    planes: Vec<Plane>,
    face_of_triangle: Vec<u32>,
}

impl ConvexHull {
    /// The hull of `points` (m), of which those inside are dropped.
    ///
    /// # Errors
    /// Coordinates that are not finite, and points that do not span a volume.
    pub fn new(points: &[Point3<f64>]) -> Result<Self, GeometryError> {
        topology::check_vertices("convex hull", points)?;
        let refuse = |reason: String| GeometryError::Hull { points: points.len(), reason };
        let (vertices, triangles) = convert::convex_hull(points).map_err(|e| refuse(e.to_string()))?;
        let mesh = TriangleMesh::new(vertices, triangles).map_err(|e| refuse(e.to_string()))?;
        let tolerance = 10.0 * COPLANAR * mesh.bounding_sphere().1;
        let outside = points.iter().map(|p| mesh.surface_point(p).distance).fold(f64::MIN, f64::max);
        if outside > tolerance {
            return Err(refuse(format!("it leaves out a point by {outside} m")));
        }
        let (planes, face_of_triangle) = faces(&mesh)?;
        Ok(Self { mesh, planes, face_of_triangle })
    }

    /// The surface: only the vertices of the hull.
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// How many faces there are, counting coplanar triangles as one.
    pub fn face_count(&self) -> usize {
        self.planes.len()
    }

    /// Outward unit normal and offset (m) of a face: the solid is `normal . x <= offset`. `None` where there
    /// is none.
    pub fn face(&self, face: u32) -> Option<(Unit<Vector3<f64>>, f64)> {
        self.planes.get(face as usize).map(|plane| (plane.normal, plane.offset))
    }

    /// Signed distance to the plane of a face: exact inside the hull where the face is the nearest.
    fn plane_point(&self, p: &Point3<f64>, feature: u32) -> SurfacePoint {
        let plane = &self.planes[feature as usize];
        SurfacePoint { distance: plane.normal.dot(&p.coords) - plane.offset, normal: plane.normal, feature }
    }

    pub(super) fn surface_point(&self, p: &Point3<f64>) -> SurfacePoint {
        let nearest = self.mesh.surface_point(p);
        let feature = self.face_of_triangle[nearest.feature as usize];
        if nearest.distance < 0.0 {
            self.plane_point(p, feature)
        } else {
            SurfacePoint { feature, ..nearest }
        }
    }

    /// For a point inside: measured from the nearest face that faces within 60 degrees of face `side`. `None`
    /// where `side` does not exist.
    pub(super) fn surface_point_from(
        &self,
        p: &Point3<f64>,
        side: u32,
        nearest: SurfacePoint,
    ) -> Option<SurfacePoint> {
        let entered = self.planes.get(side as usize)?.normal;
        if nearest.normal.dot(&entered) > SAME_SIDE_COSINE {
            return Some(nearest);
        }
        let same_side = |face: &u32| self.planes[*face as usize].normal.dot(&entered) > SAME_SIDE_COSINE;
        let candidates =
            (0..self.planes.len() as u32).filter(same_side).map(|face| self.plane_point(p, face));
        candidates.max_by(|a, b| a.distance.total_cmp(&b.distance))
    }
}

/// Joins coplanar neighbours into faces. Faces are numbered by the area of their largest triangle, whose
/// plane is theirs, since it is known best.
fn faces(mesh: &TriangleMesh) -> Result<(Vec<Plane>, Vec<u32>), GeometryError> {
    let (vertices, triangles) = (mesh.vertices(), mesh.triangles());
    let corners = |t: usize| triangles[t].map(|i| vertices[i as usize].coords);
    let area: Vec<f64> = (0..triangles.len())
        .map(|t| {
            let [a, b, c] = corners(t);
            (b - a).cross(&(c - a)).norm()
        })
        .collect();
    let mut by_area: Vec<usize> = (0..triangles.len()).collect();
    by_area.sort_by(|s, t| area[*t].total_cmp(&area[*s]).then(s.cmp(t)));
    let twin = topology::pair_edges(triangles)?;
    let tolerance = COPLANAR * mesh.bounding_sphere().1;

    let mut planes: Vec<Plane> = Vec::new();
    let mut face_of_triangle = vec![u32::MAX; triangles.len()];
    let mut todo = Vec::new();
    for &seed in &by_area {
        if face_of_triangle[seed] != u32::MAX {
            continue;
        }
        let face = planes.len() as u32;
        let normal = mesh.face_normals()[seed];
        let level = normal.dot(&corners(seed)[0]);
        let mut offset = level;
        face_of_triangle[seed] = face;
        todo.push(seed);
        while let Some(t) = todo.pop() {
            // The outermost vertex of the face: the hull does not reach beyond its planes.
            offset = corners(t).iter().map(|v| normal.dot(v)).fold(offset, f64::max);
            for k in 0..3 {
                let neighbour = twin[3 * t + k] as usize / 3;
                let in_plane = |v: &Vector3<f64>| (normal.dot(v) - level).abs() < tolerance;
                if face_of_triangle[neighbour] == u32::MAX && corners(neighbour).iter().all(in_plane) {
                    face_of_triangle[neighbour] = face;
                    todo.push(neighbour);
                }
            }
        }
        planes.push(Plane { normal, offset });
    }
    Ok((planes, face_of_triangle))
}
