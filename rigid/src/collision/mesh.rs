//! A closed mesh, convex or not, against a convex solid: corners of the solid in the distance field
//! of the mesh, and convex vertices and edges of the mesh in that of the solid.
//!
//! A vertex or an edge of the mesh counts only where the normal lies in its cone of normals (its
//! Voronoi region), and flat edges not at all, so that the edges between triangles of a flat floor
//! give no contacts. Where an edge of the mesh crosses an edge of the solid, the normal is that of
//! the solid's nearer face, not across both edges.

use super::convex::Scratch;
use super::manifold::{LocalContact, SupportFace, merge, reduce};
use super::pair::ConvexPair;
use super::solid::{MeshTables, ShapeTables};
use nalgebra::{Point3, Unit, Vector3};
use pliant_geometry::{Shape, TriangleMesh};

/// Most contacts of a mesh with a convex solid.
const MAX_POINTS: usize = 16;
/// Tolerance of a normal outside the cone of normals of a vertex or an edge (sine of the angle).
const CONE: f64 = 0.02;
/// Contacts closer together than this fraction of the smaller solid's size are merged.
const MERGE: f64 = 0.02;
/// A point counts as behind a triangle if that is nearly its nearest one: at most by this factor
/// farther.
const NEARLY: f64 = 1.5;
/// Steps of the searches along edges: each reduces the interval by two fifths.
const SEARCH_STEPS: usize = 60;

/// Kinds of contact, in the upper half of the feature.
const CORNER: u64 = 1 << 32;
const VERTEX: u64 = 2 << 32;
const EDGE: u64 = 3 << 32;
const FACE: u64 = 1 << 40;
const INSIDE: u64 = u64::MAX;

/// A convex solid among the triangles of a mesh, in the frame of the mesh.
struct Query<'a> {
    pair: &'a ConvexPair<'a>,
    mesh: &'a TriangleMesh,
    tables: &'a MeshTables,
    margin: f64,
}

/// Contacts of the mesh `pair.a` with the convex solid `pair.b` nearer than `margin` \[m\], in the
/// frame of the mesh.
pub(super) fn contacts(
    pair: &ConvexPair<'_>,
    margin: f64,
    scratch: &mut Scratch,
    out: &mut Vec<LocalContact>,
) {
    let mesh = match pair.a.shape {
        Shape::Mesh(mesh) => mesh,
        Shape::HeightField(field) => field.mesh(),
        _ => return,
    };
    let ShapeTables::Mesh(tables) = pair.a.tables else { return };
    let query = Query { pair, mesh, tables, margin };
    let start = out.len();
    query.find_near(scratch);
    match pair.b.shape {
        Shape::Box { half_extents: h } => {
            for k in 0..8_u32 {
                let sign = |bit: u32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
                query.corner(&Vector3::new(sign(0) * h.x, sign(1) * h.y, sign(2) * h.z), k, out);
            }
        }
        Shape::ConvexHull(hull) => {
            for (k, v) in hull.mesh().vertices().iter().enumerate() {
                query.corner(&v.coords, k as u32, out);
            }
        }
        Shape::Sphere { .. } => query.ball(&Vector3::zeros(), 0, &scratch.triangles, out),
        Shape::Capsule { half_length, .. } => {
            for (k, z) in [-half_length, *half_length].into_iter().enumerate() {
                query.ball(&Vector3::new(0.0, 0.0, z), k as u64, &scratch.triangles, out);
            }
        }
        _ => query.faces(&mut scratch.faces[0], &scratch.triangles, out),
    }
    query.vertices(&scratch.vertices, out);
    query.edges(&scratch.triangles, out);
    if out.len() == start {
        query.inside(out);
    }
    merge(out, start, MERGE * pair.b.size());
    reduce(out, start, MAX_POINTS);
}

impl Query<'_> {
    /// From the frame of the solid to that of the mesh.
    fn place(&self, p: &Vector3<f64>) -> Vector3<f64> {
        self.pair.rotation * p + self.pair.translation
    }

    /// Signed distance \[m\] to the solid at `p` (mesh frame), and the direction from `p` into the
    /// solid.
    fn solid_at(&self, p: &Point3<f64>) -> (f64, Unit<Vector3<f64>>) {
        let local = self.pair.rotation.inverse_transform_vector(&(p.coords - self.pair.translation));
        let s = self.pair.b.shape.surface_point(&local.into());
        (s.distance, self.pair.rotation * -s.normal)
    }

    /// The triangles near the solid, and their vertices, in order.
    fn find_near(&self, scratch: &mut Scratch) {
        let mut bounds = [Point3::origin(); 2];
        let reach = self.pair.b.radius() + self.margin;
        for k in 0..3 {
            for (end, sign) in [-1.0, 1.0].into_iter().enumerate() {
                let d = self.pair.rotation.inverse_transform_vector(&Vector3::ith(k, sign));
                bounds[end][k] = self.place(&self.pair.b.support(&d))[k] + sign * reach;
            }
        }
        scratch.triangles.clear();
        scratch.vertices.clear();
        self.mesh.for_each_near(&bounds[0], &bounds[1], |t| scratch.triangles.push(t));
        scratch.triangles.sort_unstable();
        for t in &scratch.triangles {
            scratch.vertices.extend(self.mesh.triangles()[*t as usize]);
        }
        scratch.vertices.sort_unstable();
        scratch.vertices.dedup();
    }

    /// A corner of the solid (its frame, m) in the distance field of the mesh.
    fn corner(&self, corner: &Vector3<f64>, name: u32, out: &mut Vec<LocalContact>) {
        let p = self.place(corner);
        if self.pair.a.shape.lower_bound(&p.into()) >= self.margin {
            return;
        }
        let s = self.pair.a.shape.surface_point(&p.into());
        if s.distance < self.margin {
            let point = p - s.normal.as_ref() * s.distance;
            out.push(LocalContact {
                point,
                normal: s.normal,
                distance: s.distance,
                feature: CORNER | u64::from(name),
            });
        }
    }

    /// A sphere of the solid's radius, against every face that its centre is in front of: in a
    /// groove it touches both sides.
    fn ball(&self, centre: &Vector3<f64>, name: u64, triangles: &[u32], out: &mut Vec<LocalContact>) {
        let (radius, p) = (self.pair.b.radius(), Point3::from(self.place(centre)));
        let nearest = self.pair.a.shape.surface_point(&p);
        if nearest.distance <= 0.0 {
            let point = p.coords - nearest.normal.as_ref() * nearest.distance;
            let distance = nearest.distance - radius;
            out.push(LocalContact { point, normal: nearest.normal, distance, feature: CORNER | name });
            return;
        }
        for &t in triangles {
            let (s, inside) = self.over(t, &p);
            if inside && s > 0.0 && s - radius < self.margin {
                let normal = self.mesh.face_normals()[t as usize];
                let point = p.coords - normal.as_ref() * s;
                out.push(LocalContact {
                    point,
                    normal,
                    distance: s - radius,
                    feature: (FACE * (name + 1)) | u64::from(t),
                });
            }
        }
    }

    /// The face of a round solid towards each triangle, against that triangle.
    fn faces(&self, face: &mut SupportFace, triangles: &[u32], out: &mut Vec<LocalContact>) {
        for &t in triangles {
            let normal = self.mesh.face_normals()[t as usize];
            self.pair.b.face(&self.pair.rotation.inverse_transform_vector(&-normal.as_ref()), face);
            face.transform(&self.pair.rotation, &self.pair.translation);
            for (k, corner) in face.corners().iter().enumerate() {
                let p = Point3::from(*corner);
                let (s, inside) = self.over(t, &p);
                if !inside || s >= self.margin {
                    continue;
                }
                // A point behind a triangle counts only if no other side of the mesh is nearer.
                if s < 0.0 && s < NEARLY * self.pair.a.shape.surface_point(&p).distance {
                    continue;
                }
                let point = corner - normal.as_ref() * s;
                out.push(LocalContact {
                    point,
                    normal,
                    distance: s,
                    feature: (FACE * (k as u64 + 1)) | u64::from(t),
                });
            }
        }
    }

    /// Signed distance \[m\] from the plane of triangle `t` and whether the foot is in the
    /// triangle.
    fn over(&self, t: u32, p: &Point3<f64>) -> (f64, bool) {
        let normal = self.mesh.face_normals()[t as usize];
        let x = self.mesh.triangles()[t as usize].map(|i| self.mesh.vertices()[i as usize]);
        let inside = (0..3).all(|k| {
            let edge = x[(k + 1) % 3] - x[k];
            // With a tolerance at the edge, so that no point falls between two triangles.
            normal.dot(&edge.cross(&(p - x[k]))) >= -1e-9 * edge.norm_squared()
        });
        (normal.dot(&(p - x[0])), inside)
    }

    /// The convex vertices of the mesh, in the distance field of the solid.
    fn vertices(&self, vertices: &[u32], out: &mut Vec<LocalContact>) {
        for &v in vertices {
            let p = self.mesh.vertices()[v as usize];
            let first = self.tables.first_outgoing[v as usize] as usize;
            let last = self.tables.first_outgoing[v as usize + 1] as usize;
            let outgoing = &self.tables.outgoing[first..last];
            if !outgoing.iter().any(|h| self.tables.convex[*h as usize]) {
                continue;
            }
            let (distance, normal) = self.solid_at(&p);
            let in_cone = |h: &u32| {
                let edge = self.edge(*h)[1] - p;
                normal.dot(&edge) <= CONE * edge.norm()
            };
            if distance < self.margin && outgoing.iter().all(in_cone) {
                out.push(LocalContact { point: p.coords, normal, distance, feature: VERTEX | u64::from(v) });
            }
        }
    }

    /// Ends of half-edge `h`.
    fn edge(&self, h: u32) -> [Point3<f64>; 2] {
        let t = self.mesh.triangles()[h as usize / 3];
        let k = h as usize % 3;
        [t[k], t[(k + 1) % 3]].map(|i| self.mesh.vertices()[i as usize])
    }

    /// The convex edges of the mesh. The distance to a convex solid is a convex function along an
    /// edge: its lowest part is one interval, whose ends are the contacts.
    fn edges(&self, triangles: &[u32], out: &mut Vec<LocalContact>) {
        for h in triangles.iter().flat_map(|t| (0..3).map(move |k| 3 * t + k)) {
            let twin = self.tables.twin[h as usize];
            if h > twin || !self.tables.convex[h as usize] {
                continue;
            }
            let [p, q] = self.edge(h);
            let length = (q - p).norm();
            let at = |t: f64| self.solid_at(&(p + (q - p) * t)).0;
            if at(0.5) - 0.5 * length >= self.margin {
                continue;
            }
            let lowest = minimum(at);
            let least = at(lowest);
            if least >= self.margin {
                continue;
            }
            let level = least + (0.2 * least.abs()).max(1e-4 * self.pair.b.size());
            let low = crossing(at, lowest, 0.0, level);
            let high = crossing(at, lowest, 1.0, level);
            // The ends of an edge are treated as vertices.
            let inner = |t: f64| t > 1e-6 && t < 1.0 - 1e-6;
            let apart = (high - low) * length > MERGE * self.pair.b.size();
            let candidates = if apart { [(low, 0), (high, 1)] } else { [(lowest, 0), (f64::NAN, 1)] };
            // At the ends of the interval another side of the solid may be nearer: both ends are
            // measured from the side that is nearest in its middle.
            let middle = p + (q - p) * if apart { 0.5 * (low + high) } else { lowest };
            let (depth, normal) = self.solid_at(&middle);
            for (t, end) in candidates.into_iter().filter(|(t, _)| inner(*t)) {
                let point = p + (q - p) * t;
                let distance = depth - normal.dot(&(point - middle));
                let into_face = |g: u32, along: Vector3<f64>| {
                    let inward = self.mesh.face_normals()[g as usize / 3].cross(&along);
                    normal.dot(&inward) <= CONE * length
                };
                if distance < self.margin && into_face(h, q - p) && into_face(twin, p - q) {
                    let feature = (EDGE * (1 + end)) | u64::from(h);
                    out.push(LocalContact { point: point.coords, normal, distance, feature });
                }
            }
        }
    }

    /// A solid deep inside: its centre, along the shortest way out for the centre.
    fn inside(&self, out: &mut Vec<LocalContact>) {
        let centre = Point3::from(self.pair.translation);
        let s = self.pair.a.shape.surface_point(&centre);
        if s.distance < 0.0 {
            let back = self.pair.rotation.inverse_transform_vector(&-s.normal.as_ref());
            let deepest = self.place(&self.pair.b.support(&back)) - s.normal.as_ref() * self.pair.b.radius();
            let distance = s.distance + (deepest - centre.coords).dot(&s.normal);
            let point = centre.coords - s.normal.as_ref() * s.distance;
            out.push(LocalContact { point, normal: s.normal, distance, feature: INSIDE });
        }
    }
}

/// Minimiser of a convex function on [0, 1], by golden sections.
fn minimum(f: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut x, mut y) = (1.0 - GOLDEN, GOLDEN);
    let (mut fx, mut fy) = (f(x), f(y));
    for _ in 0..SEARCH_STEPS {
        if fx <= fy {
            (high, y, fy) = (y, x, fx);
            x = high - GOLDEN * (high - low);
            fx = f(x);
        } else {
            (low, x, fx) = (x, y, fy);
            y = low + GOLDEN * (high - low);
            fy = f(y);
        }
    }
    0.5 * (low + high)
}

/// Between `from`, where the convex `f` is below `level`, and `to`: the point where it reaches the
/// level, or `to`.
fn crossing(f: impl Fn(f64) -> f64, from: f64, to: f64, level: f64) -> f64 {
    if f(to) <= level {
        return to;
    }
    let (mut below, mut above) = (from, to);
    for _ in 0..40 {
        let middle = 0.5 * (below + above);
        if f(middle) <= level { below = middle } else { above = middle }
    }
    below
}
