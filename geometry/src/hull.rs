//! Convex hulls of points.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{GeometryError, SurfacePoint, TriangleMesh, convert, topology};
use nalgebra::{Matrix3, Point3, Unit, Vector3};

/// Triangles whose vertices are this close to a plane, in proportion to the radius of the hull, lie
/// in it.
const COPLANAR: f64 = 1e-9;

/// Least thickness of a cloud of points in proportion to its width: below, rounding decides on
/// which side a point is.
const MIN_THICKNESS: f64 = 1e-7;

/// Largest distance of a dropped point from the hull of the others, relative to the radius of the
/// hull.
const LEFT_OUT: f64 = 1e-6;

/// Cells of the grids on which points are told apart, in proportion to their extent, one after the
/// other until a hull is found.
const WELDED: [f64; 2] = [1e-9, 2e-7];

/// Outward displacement of the corners of flat faces before the hull is built.
const BULGE: f64 = 1e-7;

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
/// The nearest triangle comes from a bounding volume hierarchy; inside, the distance is that to the
/// plane of its face.
#[derive(Clone, Debug)]
pub struct ConvexHull {
    mesh: TriangleMesh,
    planes: Vec<Plane>,
    face_of_triangle: Vec<u32>,
}

impl ConvexHull {
    /// The hull of `points` \[m\]. Points inside are dropped; points outside the hull of the others
    /// by less than a millionth of its radius may be dropped.
    ///
    /// # Errors
    /// Coordinates that are not finite, and points that do not span a volume.
    pub fn new(points: &[Point3<f64>]) -> Result<Self, GeometryError> {
        topology::check_vertices("convex hull", points)?;
        let refuse = |reason: String| GeometryError::Hull { points: points.len(), reason };
        let mesh = around(points, points).or_else(|reason| {
            // Points that differ by rounding confuse the construction: of those that share a cell
            // of a fine grid one is kept.
            let mut apart = WELDED.iter().map(|cell| around(&welded(points, *cell), points));
            apart.find_map(Result::ok).ok_or_else(|| refuse(reason))
        })?;
        let (planes, face_of_triangle) = faces(&mesh)?;
        Ok(Self { mesh, planes, face_of_triangle })
    }

    /// The surface: only the vertices of the hull.
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// Number of faces, counting coplanar triangles as one.
    pub fn face_count(&self) -> usize {
        self.planes.len()
    }

    /// Outward unit normal and offset \[m\] of a face: the solid is `normal . x <= offset`. `None`
    /// if there is none.
    pub fn face(&self, face: u32) -> Option<(Unit<Vector3<f64>>, f64)> {
        self.planes.get(face as usize).map(|plane| (plane.normal, plane.offset))
    }

    /// The face of every triangle of [`mesh`](Self::mesh).
    pub fn face_of_triangle(&self) -> &[u32] {
        &self.face_of_triangle
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

    /// For a point behind face `side`: measured from the nearest face that faces within 60 degrees
    /// of it. `None` for other points, and where `side` does not exist.
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
        if nearest.distance >= 0.0 && !self.line_enters(p, &entered) {
            return None;
        }
        let same_side = |face: &u32| self.planes[*face as usize].normal.dot(&entered) > SAME_SIDE_COSINE;
        let candidates =
            (0..self.planes.len() as u32).filter(same_side).map(|face| self.plane_point(p, face));
        candidates.max_by(|a, b| a.distance.total_cmp(&b.distance)).filter(|s| s.distance < 0.0)
    }

    /// Whether the line from `p` along `direction` goes through the hull: it is inside of all
    /// planes at once (Cyrus and Beck 1978).
    fn line_enters(&self, p: &Point3<f64>, direction: &Vector3<f64>) -> bool {
        let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
        for plane in &self.planes {
            let height = plane.normal.dot(&p.coords) - plane.offset;
            let climb = plane.normal.dot(direction);
            if climb > 0.0 {
                leave = leave.min(-height / climb);
            } else if climb < 0.0 {
                enter = enter.max(-height / climb);
            } else if height > 0.0 {
                return false;
            }
        }
        enter <= leave
    }
}

/// The surface of the hull of some of the points, outside of which none of the points is.
fn around(some: &[Point3<f64>], points: &[Point3<f64>]) -> Result<TriangleMesh, String> {
    let mut kept = Cow::Borrowed(some);
    loop {
        let round = whiten(&kept).ok_or_else(|| "they do not span a volume".to_owned())?;
        let (round_vertices, triangles) = convert::convex_hull(&round).map_err(|e| e.to_string())?;
        let vertices = originals(&kept, &round, &round_vertices)
            .ok_or_else(|| "a vertex of the hull is none of the points".to_owned())?;
        // Points on an edge to within rounding are vertices of triangles without an area.
        let between = topology::middle_vertices(&vertices, &triangles);
        if !between.is_empty() {
            kept.to_mut().retain(|point| !between.contains(point));
            continue;
        }
        let mesh = TriangleMesh::new(vertices, triangles).map_err(|e| e.to_string())?;
        let tolerance = LEFT_OUT * mesh.bounding_sphere().1;
        let outside = points.iter().map(|p| mesh.surface_point(p).distance).fold(f64::MIN, f64::max);
        return if outside > tolerance {
            Err(format!("a point is {outside} m outside the hull"))
        } else {
            Ok(mesh)
        };
    }
}

/// The first point of each cell of a grid, whose cells have a size in proportion to the extent of
/// the points.
fn welded(points: &[Point3<f64>], cell: f64) -> Vec<Point3<f64>> {
    let extent = points.iter().fold(0.0, |extent, p| f64::max(extent, (p - points[0]).norm()));
    let place = |p: &Point3<f64>| ((p - points[0]) / (cell * extent)).map(|x| x.round() as i64);
    let mut seen = BTreeSet::new();
    points.iter().filter(|p| seen.insert(<[i64; 3]>::from(place(p)))).copied().collect()
}

/// Moves the points to their mean and scales them to unit spread along their principal axes. Hulls
/// are unchanged by affine maps, and thin plates become as easy as round clouds. `None` if the
/// points do not span a volume.
///
/// Then x becomes x (1 + e |x|^2). On every line and plane that misses the mean, |x|^2 is strictly
/// convex, so that points between others on an edge or a face, which would give triangles without
/// area, fall inside the hull.
fn whiten(points: &[Point3<f64>]) -> Option<Vec<Point3<f64>>> {
    let count = points.len() as f64;
    let mean = points.iter().map(|p| p.coords).sum::<Vector3<f64>>() / count;
    let covariance =
        points.iter().map(|p| (p.coords - mean) * (p.coords - mean).transpose()).sum::<Matrix3<f64>>();
    let spread = (covariance / count).symmetric_eigen();
    let largest = spread.eigenvalues.max();
    if points.len() < 4 || !largest.is_finite() || spread.eigenvalues.min() <= MIN_THICKNESS.powi(2) * largest
    {
        return None;
    }
    let scale = Matrix3::from_diagonal(&spread.eigenvalues.map(|s| 1.0 / s.sqrt()));
    let mut map = scale * spread.eigenvectors.transpose();
    if map.determinant() < 0.0 {
        // A reflection would turn the triangles inside out.
        map = -map;
    }
    let image = |p: &Point3<f64>| {
        let x = map * (p.coords - mean);
        x * (1.0 + BULGE * x.norm_squared())
    };
    Some(points.iter().map(|p| image(p).into()).collect())
}

/// The points whose images are `vertices`. `None` if a vertex is not an image.
fn originals(
    points: &[Point3<f64>],
    images: &[Point3<f64>],
    vertices: &[Point3<f64>],
) -> Option<Vec<Point3<f64>>> {
    let compare = |a: &Point3<f64>, b: &Point3<f64>| {
        a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z))
    };
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|i, j| compare(&images[*i], &images[*j]).then(i.cmp(j)));
    let find = |v: &Point3<f64>| order.binary_search_by(|i| compare(&images[*i], v)).ok();
    vertices.iter().map(|v| find(v).map(|k| points[order[k]])).collect()
}

/// Joins coplanar neighbours into faces. Faces are numbered by the area of their largest triangle,
/// whose plane is the most accurate and is used for all.
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
