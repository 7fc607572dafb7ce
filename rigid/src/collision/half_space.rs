//! A half-space against any shape: the supporting vertices, rims and ends, each with its exact
//! distance.

use super::manifold::{LocalContact, MAX_POINTS, SupportFace, reduce};
use super::pair::ConvexPair;
use super::solid::{RIM, ShapeTables, farthest, rim_point};
use nalgebra::{Unit, Vector3};
use pliant_geometry::{Shape, TriangleMesh};

/// Cosine of the angle to the plane's normal up to which a hull's face faces the plane.
const FACING: f64 = 0.5;

/// Contacts of the half-space `pair.a` with the solid `pair.b` nearer than `margin` \[m\], in the
/// frame of the half-space.
pub(super) fn contacts(
    pair: &ConvexPair<'_>,
    margin: f64,
    face: &mut SupportFace,
    out: &mut Vec<LocalContact>,
) {
    let (start, solid) = (out.len(), &pair.b);
    // Towards the half-space, in the frame of the solid.
    let down = pair.rotation.inverse_transform_vector(&-Vector3::z());
    let radius = solid.radius();
    let mut add = |core: &Vector3<f64>, feature: u64| {
        let p = pair.rotation * core + pair.translation;
        let distance = p.z - radius;
        if distance < margin {
            out.push(LocalContact {
                point: Vector3::new(p.x, p.y, 0.0),
                normal: Vector3::z_axis(),
                distance,
                feature,
            });
        }
    };
    match solid.shape {
        Shape::Cylinder { radius, half_length } => {
            let sign = 1.0_f64.copysign(down.z);
            let rim = |k: usize, sign: f64| {
                let [x, y] = rim_point(&down, k);
                Vector3::new(radius * x, radius * y, sign * half_length)
            };
            if down.z.abs() > FACING {
                for k in 0..RIM {
                    add(&rim(k, sign), k as u64 + if sign > 0.0 { 8 } else { 0 });
                }
            } else {
                for sign in [-1.0, 1.0] {
                    let deepest = solid.support(&Vector3::new(down.x, down.y, sign));
                    add(&deepest, if sign > 0.0 { 17 } else { 16 });
                }
            }
        }
        Shape::ConvexHull(hull) => {
            let vertices = hull.mesh().vertices();
            let (deepest, _) = farthest(hull.mesh(), &down);
            let faces_down = |v: usize| match solid.tables {
                ShapeTables::Hull(tables) => {
                    let mut faces = tables.faces_of(v).iter();
                    faces.any(|f| hull.face(*f).is_some_and(|(normal, _)| normal.dot(&down) > FACING))
                }
                _ => true,
            };
            for (k, v) in vertices.iter().enumerate() {
                let near = pair.translation.z - v.coords.dot(&down) < margin;
                if k == deepest || near && faces_down(k) {
                    add(&v.coords, k as u64);
                }
            }
        }
        Shape::Mesh(mesh) => vertices(mesh, add),
        Shape::HeightField(field) => vertices(field.mesh(), add),
        _ => {
            solid.face(&down, face);
            let name = face
                .normal()
                .map_or(0, |normal| 4 * (normal.iamax() as u64 * 2 + u64::from(normal.sum() < 0.0)));
            for (k, corner) in face.corners().iter().enumerate() {
                add(corner, name + k as u64);
            }
        }
    }
    reduce(out, start, MAX_POINTS);
}

fn vertices(mesh: &TriangleMesh, mut add: impl FnMut(&Vector3<f64>, u64)) {
    for (k, v) in mesh.vertices().iter().enumerate() {
        add(&v.coords, k as u64);
    }
}

/// The normal of a sphere's contact if the centre defines none.
pub(super) fn unit_or(v: Vector3<f64>, fallback: Unit<Vector3<f64>>) -> Unit<Vector3<f64>> {
    Unit::try_new(v, f64::MIN_POSITIVE).unwrap_or(fallback)
}
