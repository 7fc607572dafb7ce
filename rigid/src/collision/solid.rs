//! Shapes of the narrow phase: supporting points and supporting faces.
//!
//! A convex shape is a core and a radius: a sphere is a point and a capsule a segment, swept by a
//! sphere; the radius of all others is 0.

use super::manifold::SupportFace;
use nalgebra::{Unit, Vector3};
use pliant_geometry::{ConvexHull, GeometryError, Shape, TriangleMesh};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_4};

/// Corners of the octagon that replaces a rim.
pub(super) const RIM: usize = 8;

/// Sine of the tilt below which the octagon of a rim is fixed to the cylinder, and above which one
/// of its corners is the deepest point of the rim. Without the first, the deepest point of a
/// standing cylinder would depend on rounding errors.
const TILT: [f64; 2] = [1e-4, 1e-3];

/// Cosine of the angle to the axis up to which a cylinder touches with its cap, not with its side.
const CAP_COSINE: f64 = 0.5;

/// Faces of a hull less aligned with a direction than this are not used as its contact face.
const ALIGNED: f64 = 0.3;

/// Corner k of an octagon of radius 1.
const OCTAGON: [[f64; 2]; RIM] = {
    const S: f64 = FRAC_1_SQRT_2;
    [[1.0, 0.0], [S, S], [0.0, 1.0], [-S, S], [-1.0, 0.0], [-S, -S], [0.0, -1.0], [S, -S]]
};

/// Tables that follow from a shape.
#[derive(Clone, Debug)]
pub(super) enum ShapeTables {
    None,
    Hull(HullTables),
    Mesh(MeshTables),
}

/// Faces of a hull as polygons.
#[derive(Clone, Debug)]
pub(super) struct HullTables {
    /// Start of each face's corners in `corners`, and the end.
    first_corner: Vec<u32>,
    /// Vertices of the faces, counter-clockwise seen from outside.
    corners: Vec<u32>,
    /// Start of each vertex's faces in `faces`, and the end.
    first_face: Vec<u32>,
    faces: Vec<u32>,
}

/// Neighbours in a mesh.
#[derive(Clone, Debug)]
pub(super) struct MeshTables {
    /// The other half-edge of each half-edge.
    pub(super) twin: Vec<u32>,
    /// Start of each vertex's outgoing half-edges in `outgoing`, and the end.
    pub(super) first_outgoing: Vec<u32>,
    pub(super) outgoing: Vec<u32>,
    /// Whether the edge of each half-edge is convex by more than half a degree.
    pub(super) convex: Vec<bool>,
}

impl ShapeTables {
    pub(super) fn new(shape: &Shape) -> Result<Self, GeometryError> {
        Ok(match shape {
            Shape::ConvexHull(hull) => ShapeTables::Hull(HullTables::new(hull)?),
            Shape::Mesh(mesh) => ShapeTables::Mesh(MeshTables::new(mesh)?),
            Shape::HeightField(field) => ShapeTables::Mesh(MeshTables::new(field.mesh())?),
            _ => ShapeTables::None,
        })
    }
}

/// Turns lists of (key, value), sorted, into starts and values.
fn ranges(mut pairs: Vec<(u32, u32)>, keys: usize) -> (Vec<u32>, Vec<u32>) {
    pairs.sort_unstable();
    pairs.dedup();
    let mut first = vec![0; keys + 1];
    for (key, _) in &pairs {
        first[*key as usize + 1] += 1;
    }
    for k in 0..keys {
        first[k + 1] += first[k];
    }
    (first, pairs.into_iter().map(|(_, value)| value).collect())
}

impl HullTables {
    fn new(hull: &ConvexHull) -> Result<Self, GeometryError> {
        let (mesh, face_of) = (hull.mesh(), hull.face_of_triangle());
        let triangles = mesh.triangles();
        let twin = mesh.twins()?;
        let is_border = |h: usize| face_of[h / 3] != face_of[twin[h] as usize / 3];
        let start = |h: usize| triangles[h / 3][h % 3];
        let next = |h: usize| 3 * (h / 3) + (h + 1) % 3;
        // A border half-edge of each face, and from there around it.
        let mut seed = vec![usize::MAX; hull.face_count()];
        for h in (0..3 * triangles.len()).rev().filter(|h| is_border(*h)) {
            seed[face_of[h / 3] as usize] = h;
        }
        let (mut first_corner, mut corners) = (vec![0], Vec::new());
        let mut of_vertex = Vec::new();
        for (face, &seed) in seed.iter().enumerate() {
            let mut h = seed;
            while h != usize::MAX {
                corners.push(start(h));
                of_vertex.push((start(h), face as u32));
                h = next(h);
                while !is_border(h) {
                    h = next(twin[h] as usize);
                }
                if h == seed {
                    break;
                }
            }
            first_corner.push(corners.len() as u32);
        }
        let (first_face, faces) = ranges(of_vertex, mesh.vertices().len());
        Ok(Self { first_corner, corners, first_face, faces })
    }

    /// The vertices of a face.
    fn corners(&self, face: u32) -> &[u32] {
        &self.corners
            [self.first_corner[face as usize] as usize..self.first_corner[face as usize + 1] as usize]
    }

    /// The faces around a vertex.
    pub(super) fn faces_of(&self, vertex: usize) -> &[u32] {
        &self.faces[self.first_face[vertex] as usize..self.first_face[vertex + 1] as usize]
    }
}

impl MeshTables {
    /// Sine of the angle by which an edge must be convex to give contacts.
    const SHARP: f64 = 0.01;

    fn new(mesh: &TriangleMesh) -> Result<Self, GeometryError> {
        let (triangles, normals) = (mesh.triangles(), mesh.face_normals());
        let twin = mesh.twins()?;
        let start = |h: usize| triangles[h / 3][h % 3];
        let outgoing = (0..3 * triangles.len()).map(|h| (start(h), h as u32)).collect();
        let (first_outgoing, outgoing) = ranges(outgoing, mesh.vertices().len());
        let convex = (0..3 * triangles.len())
            .map(|h| {
                let g = twin[h] as usize;
                let edge = mesh.vertices()[start(g) as usize] - mesh.vertices()[start(h) as usize];
                normals[h / 3].cross(&normals[g / 3]).dot(&edge) > Self::SHARP * edge.norm()
            })
            .collect();
        Ok(Self { twin, first_outgoing, outgoing, convex })
    }
}

/// A shape with its tables.
#[derive(Clone, Copy)]
pub(super) struct ShapeWithTables<'a> {
    pub(super) shape: &'a Shape,
    pub(super) tables: &'a ShapeTables,
}

impl ShapeWithTables<'_> {
    /// Radius \[m\] of the sphere that sweeps the core.
    pub(super) fn radius(&self) -> f64 {
        match self.shape {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius,
            _ => 0.0,
        }
    }

    /// The length \[m\] that tolerances are relative to: the least extent.
    pub(super) fn size(&self) -> f64 {
        match self.shape {
            Shape::HalfSpace => f64::MAX,
            Shape::Box { half_extents } => half_extents.min(),
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius,
            Shape::Cylinder { radius, half_length } => radius.min(*half_length),
            Shape::Ellipsoid { semi_axes } => semi_axes.min(),
            Shape::ConvexHull(hull) => extent(hull.mesh()),
            Shape::Mesh(mesh) => extent(mesh),
            Shape::HeightField(field) => extent(field.mesh()),
        }
    }

    /// The point of the core farthest along `d` (shape frame, m). For meshes it is the farthest
    /// vertex.
    pub(super) fn support(&self, d: &Vector3<f64>) -> Vector3<f64> {
        match self.shape {
            Shape::HalfSpace | Shape::Sphere { .. } => Vector3::zeros(),
            Shape::Box { half_extents: h } => {
                Vector3::new(h.x.copysign(d.x), h.y.copysign(d.y), h.z.copysign(d.z))
            }
            Shape::Capsule { half_length, .. } => Vector3::new(0.0, 0.0, half_length.copysign(d.z)),
            Shape::Cylinder { radius, half_length } => {
                let across = (d.x * d.x + d.y * d.y).sqrt();
                let (x, y) = if across > 0.0 { (d.x / across, d.y / across) } else { (1.0, 0.0) };
                Vector3::new(radius * x, radius * y, half_length.copysign(d.z))
            }
            Shape::Ellipsoid { semi_axes } => {
                let scaled = semi_axes.component_mul(d);
                let norm = scaled.norm();
                if norm > 0.0 { semi_axes.component_mul(&scaled) / norm } else { Vector3::x() * semi_axes.x }
            }
            Shape::ConvexHull(hull) => farthest(hull.mesh(), d).1,
            Shape::Mesh(mesh) => farthest(mesh, d).1,
            Shape::HeightField(field) => farthest(field.mesh(), d).1,
        }
    }

    /// Calls `with` with the directions (shape frame) of the edges at the point of the core
    /// farthest along `d`: the straight ones, for rims and ellipsoids are smooth.
    pub(super) fn edges(&self, d: &Vector3<f64>, mut with: impl FnMut(Unit<Vector3<f64>>)) {
        match self.shape {
            Shape::Box { .. } => (0..3).for_each(|k| with(Unit::new_unchecked(Vector3::ith(k, 1.0)))),
            Shape::Capsule { .. } | Shape::Cylinder { .. } => with(Vector3::z_axis()),
            Shape::ConvexHull(hull) => {
                let ShapeTables::Hull(tables) = self.tables else { return };
                let (vertex, place) = farthest(hull.mesh(), d);
                for &face in tables.faces_of(vertex) {
                    let corners = tables.corners(face);
                    let Some(here) = corners.iter().position(|&c| c as usize == vertex) else { continue };
                    // An edge that leaves the vertex in this face arrives at it in another.
                    let next = corners[(here + 1) % corners.len()];
                    let edge = hull.mesh().vertices()[next as usize].coords - place;
                    Unit::try_new(edge, f64::MIN_POSITIVE).into_iter().for_each(&mut with);
                }
            }
            _ => {}
        }
    }

    /// The part of the core farthest along the unit vector `d` (shape frame): a face if one is
    /// aligned well enough.
    pub(super) fn face(&self, d: &Vector3<f64>, face: &mut SupportFace) {
        face.clear();
        match self.shape {
            Shape::Box { half_extents } => box_face(half_extents, d, face),
            Shape::Capsule { half_length, .. } => {
                face.push(Vector3::new(0.0, 0.0, -half_length));
                face.push(Vector3::new(0.0, 0.0, *half_length));
            }
            Shape::Cylinder { radius, half_length } => cylinder_face(*radius, *half_length, d, face),
            Shape::ConvexHull(hull) => {
                if let ShapeTables::Hull(tables) = self.tables {
                    hull_face(hull, tables, d, face);
                }
            }
            _ => face.push(self.support(d)),
        }
    }
}

fn extent(mesh: &TriangleMesh) -> f64 {
    let [min, max] = mesh.bounds();
    (0.5 * (max - min)).min()
}

/// Number and position \[m\] of the farthest vertex; the first of equal ones.
pub(super) fn farthest(mesh: &TriangleMesh, d: &Vector3<f64>) -> (usize, Vector3<f64>) {
    let mut best = (0, Vector3::zeros());
    let mut value = f64::NEG_INFINITY;
    for (k, v) in mesh.vertices().iter().enumerate() {
        let along = v.coords.dot(d);
        if along > value {
            value = along;
            best = (k, v.coords);
        }
    }
    best
}

fn box_face(h: &Vector3<f64>, d: &Vector3<f64>, face: &mut SupportFace) {
    let axis = d.iamax();
    let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
    let sign = 1.0_f64.copysign(d[axis]);
    let mut normal = Vector3::zeros();
    normal[axis] = sign;
    face.set_normal(Unit::new_unchecked(normal), 2 * axis as u32 + u32::from(sign < 0.0));
    for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
        let mut v = Vector3::zeros();
        v[axis] = sign * h[axis];
        // Counter-clockwise seen from outside: mirrored on the negative side.
        v[i] = a * sign * h[i];
        v[j] = b * h[j];
        face.push(v);
    }
}

fn cylinder_face(radius: f64, half_length: f64, d: &Vector3<f64>, face: &mut SupportFace) {
    let across = (d.x * d.x + d.y * d.y).sqrt();
    let sign = 1.0_f64.copysign(d.z);
    if d.z.abs() < CAP_COSINE {
        let (x, y) = (radius * d.x / across, radius * d.y / across);
        face.push(Vector3::new(x, y, -half_length));
        face.push(Vector3::new(x, y, half_length));
        return;
    }
    face.set_normal(Unit::new_unchecked(Vector3::z() * sign), if sign > 0.0 { 1 } else { 2 });
    for k in 0..RIM {
        // Clockwise seen from above is counter-clockwise seen from below.
        let corner = rim_point(d, if sign > 0.0 { k } else { RIM - 1 - k });
        face.push(Vector3::new(radius * corner[0], radius * corner[1], sign * half_length));
    }
}

/// Corner `k` (of radius 1) of the octagon that replaces a rim towards the unit vector `d`.
pub(super) fn rim_point(d: &Vector3<f64>, k: usize) -> [f64; 2] {
    let corner = OCTAGON[k];
    let tilt = (d.x * d.x + d.y * d.y).sqrt();
    if tilt <= TILT[0] {
        return corner;
    }
    let weight = ((tilt - TILT[0]) / (TILT[1] - TILT[0])).min(1.0);
    let deepest = d.y.atan2(d.x);
    let turn = weight * (deepest - FRAC_PI_4 * (deepest / FRAC_PI_4).round());
    let (s, c) = turn.sin_cos();
    [c * corner[0] - s * corner[1], s * corner[0] + c * corner[1]]
}

/// The face around the farthest vertex that is aligned best, or the vertex alone.
fn hull_face(hull: &ConvexHull, tables: &HullTables, d: &Vector3<f64>, face: &mut SupportFace) {
    let (vertex, place) = farthest(hull.mesh(), d);
    let mut best: Option<(u32, Unit<Vector3<f64>>, f64)> = None;
    for &f in tables.faces_of(vertex) {
        if let Some((normal, _)) = hull.face(f) {
            let aligned = normal.dot(d);
            if aligned > best.map_or(ALIGNED, |b| b.2) {
                best = Some((f, normal, aligned));
            }
        }
    }
    match best {
        Some((f, normal, _)) => {
            face.set_normal(normal, f);
            for v in tables.corners(f) {
                face.push(hull.mesh().vertices()[*v as usize].coords);
            }
        }
        None => face.push(place),
    }
}
