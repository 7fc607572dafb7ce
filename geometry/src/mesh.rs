//! Closed triangle meshes, convex or not, with exact signed distances.

use super::bvh::{BoundingBox, Bvh, Hit};
use super::triangle::TriangleFeature;
use super::{GeometryError, SurfacePoint, topology, volume};
use nalgebra::{Point3, Unit, Vector3};

/// Cosine of 60 degrees: triangles whose normals are closer than this face the same side.
const SAME_SIDE_COSINE: f64 = 0.5;

/// Cosine of 26 degrees: a point outside is in the shadow of a face if the direction to its nearest
/// point is closer than this to the normal.
const SHADOW_COSINE: f64 = 0.9;

/// Closer to an edge or vertex than this fraction of the mesh's radius, the direction to it
/// consists of rounding errors.
const COINCIDENT: f64 = 1e-10;

/// Vertices \[m\] and triangles.
pub(super) type Triangulation = (Vec<Point3<f64>>, Vec<[u32; 3]>);

/// A closed, oriented triangle mesh in its own frame. The triangles are counter-clockwise seen from
/// outside.
///
/// The nearest triangle comes from a bounding volume hierarchy, the sign from angle-weighted
/// pseudo-normals, which are correct for every closed mesh (Baerentzen and Aanaes, Signed distance
/// computation using the angle weighted pseudonormal, IEEE TVCG 11(3), 2005). Self-intersections
/// are not detected.
#[derive(Clone, Debug)]
pub struct TriangleMesh {
    vertices: Vec<Point3<f64>>,
    triangles: Vec<[u32; 3]>,
    face_normals: Vec<Unit<Vector3<f64>>>,
    /// Sums of the normals of the two triangles at edges ab, bc, ca of each triangle.
    edge_normals: Vec<[Vector3<f64>; 3]>,
    /// Sums of the normals of the triangles around each vertex, weighted by their angles there.
    vertex_normals: Vec<Vector3<f64>>,
    bvh: Bvh,
    bounds: BoundingBox,
    /// Centre and radius of a bounding sphere.
    sphere: (Point3<f64>, f64),
}

impl TriangleMesh {
    /// A mesh from its vertices \[m\] and triangles (indices of vertices, counter-clockwise seen
    /// from outside). Vertices that coincide must be merged first; vertices that no triangle uses
    /// are allowed.
    ///
    /// # Errors
    /// In this order: no triangles, coordinates that are not finite, indices out of range,
    /// degenerate triangles, edges with more than two triangles, open edges, neighbours of opposite
    /// orientation, vertices between separate fans, and a surface that is inside out as a whole.
    /// Each with a count and the first offender.
    pub fn new(vertices: Vec<Point3<f64>>, triangles: Vec<[u32; 3]>) -> Result<Self, GeometryError> {
        let half_edges = topology::check(&vertices, &triangles)?;
        let volume = volume::signed_volume(&vertices, &triangles);
        if volume <= 0.0 || volume.is_nan() {
            return Err(GeometryError::InsideOut { volume });
        }
        let corners = |t: &[u32; 3]| t.map(|i| vertices[i as usize]);
        let face_normals: Vec<_> = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = corners(t);
                Unit::new_normalize((b - a).cross(&(c - a)))
            })
            .collect();
        let neighbour = |h: usize| face_normals[half_edges.twin[h] as usize / 3].into_inner();
        let edge_normals = (0..triangles.len())
            .map(|t| [0, 1, 2].map(|k| face_normals[t].into_inner() + neighbour(3 * t + k)))
            .collect();
        let mut vertex_normals = vec![Vector3::zeros(); vertices.len()];
        for (t, normal) in triangles.iter().zip(&face_normals) {
            let x = corners(t);
            for k in 0..3 {
                let (next, last) = (x[(k + 1) % 3] - x[k], x[(k + 2) % 3] - x[k]);
                let angle = next.cross(&last).norm().atan2(next.dot(&last));
                vertex_normals[t[k] as usize] += normal.into_inner() * angle;
            }
        }
        let bounds = BoundingBox::of(triangles.iter().flatten().map(|i| &vertices[*i as usize]));
        let centre = nalgebra::center(&bounds.min, &bounds.max);
        let used = triangles.iter().flatten();
        let radius = used.map(|i| (vertices[*i as usize] - centre).norm()).fold(0.0, f64::max);
        let bvh = Bvh::new(&vertices, &triangles);
        let sphere = (centre, radius);
        Ok(Self { vertices, triangles, face_normals, edge_normals, vertex_normals, bvh, bounds, sphere })
    }

    /// Vertices \[m\].
    pub fn vertices(&self) -> &[Point3<f64>] {
        &self.vertices
    }

    /// Triangles, as indices of vertices, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Outward unit normal of each triangle.
    pub fn face_normals(&self) -> &[Unit<Vector3<f64>>] {
        &self.face_normals
    }

    /// Corners of the bounding box \[m\].
    pub fn bounds(&self) -> [Point3<f64>; 2] {
        [self.bounds.min, self.bounds.max]
    }

    /// The other half-edge of every half-edge: `3 t + k` runs from corner `k` of triangle `t` to
    /// the next.
    pub fn twins(&self) -> Result<Vec<u32>, GeometryError> {
        topology::pair_edges(&self.triangles)
    }

    /// Calls `f` with every triangle whose leaf of the tree touches the box from `min` to `max`
    /// \[m\]: all that touch the box, and some more. The order is that of the tree.
    pub fn for_each_near(&self, min: &Point3<f64>, max: &Point3<f64>, f: impl FnMut(u32)) {
        self.bvh.for_each_near(&BoundingBox { min: *min, max: *max }, f);
    }

    /// Exact signed distance to the nearest surface point.
    pub(super) fn surface_point(&self, p: &Point3<f64>) -> SurfacePoint {
        match self.bvh.nearest(&self.vertices, &self.triangles, p, |_| true) {
            Some(hit) => self.resolve(p, &hit),
            // The nearest triangle of a mesh that has triangles is only missing for a point that is
            // not finite.
            None => SurfacePoint { distance: f64::NAN, normal: Vector3::z_axis(), feature: 0 },
        }
    }

    /// Sign and normal of a nearest point.
    fn resolve(&self, p: &Point3<f64>, hit: &Hit) -> SurfacePoint {
        let t = hit.triangle as usize;
        let face = self.face_normals[t];
        let pseudo_normal = match hit.region {
            TriangleFeature::Face => return self.plane_point(p, hit.triangle),
            TriangleFeature::Edge(k) => self.edge_normals[t][k as usize],
            TriangleFeature::Vertex(k) => self.vertex_normals[self.triangles[t][k as usize] as usize],
        };
        let v = p - hit.point;
        let distance = hit.distance_squared.sqrt();
        let sign = if v.dot(&pseudo_normal) < 0.0 { -1.0 } else { 1.0 };
        let normal = if distance > COINCIDENT * self.sphere.1 {
            Unit::new_unchecked(v * (sign / distance))
        } else {
            Unit::try_new(pseudo_normal, 1e-9).unwrap_or(face)
        };
        SurfacePoint { distance: sign * distance, normal, feature: hit.triangle }
    }

    /// Signed distance to the plane of a triangle.
    fn plane_point(&self, p: &Point3<f64>, triangle: u32) -> SurfacePoint {
        let normal = self.face_normals[triangle as usize];
        let corner = self.vertices[self.triangles[triangle as usize][0] as usize];
        SurfacePoint { distance: normal.dot(&(p - corner)), normal, feature: triangle }
    }

    /// For a point behind triangle `side`: measured from the nearest triangle that faces within 60
    /// degrees of it. `None` for other points, and where `side` does not exist.
    pub(super) fn surface_point_from(
        &self,
        p: &Point3<f64>,
        side: u32,
        nearest: SurfacePoint,
    ) -> Option<SurfacePoint> {
        let entered = self.face_normals.get(side as usize)?;
        let same_side = |t: u32| self.face_normals[t as usize].dot(entered) > SAME_SIDE_COSINE;
        if same_side(nearest.feature) {
            return Some(nearest);
        }
        let hit = self.bvh.nearest(&self.vertices, &self.triangles, p, same_side)?;
        let from_plane = self.plane_point(p, hit.triangle);
        // From outside, the nearest point of that side lies along its normal, or the point is
        // beside the shadow.
        let reach = if nearest.distance < 0.0 { 0.0 } else { SHADOW_COSINE * hit.distance_squared.sqrt() };
        Some(from_plane).filter(|s| s.distance < -reach)
    }

    /// Centre and radius \[m\] of a bounding sphere.
    pub fn bounding_sphere(&self) -> (Point3<f64>, f64) {
        self.sphere
    }

    /// A lower bound of the signed distance [m]: the solid lies in its bounding box, and so does
    /// every sphere inside it.
    pub(super) fn lower_bound(&self, p: &Point3<f64>) -> f64 {
        self.bounds.signed_distance(p)
    }
}
