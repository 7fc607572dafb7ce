//! Closed tessellations of the shapes, for rendering.

use super::Shape;
use super::mesh::Triangulation;
use nalgebra::Point3;
use std::f64::consts::PI;

impl Shape {
    /// A tessellation for rendering, in the shape frame: vertices \[m\] and triangles,
    /// counter-clockwise seen from outside, closed. `segments` (at least 3) is the number of
    /// segments round a full circle; boxes, hulls and meshes do not use it. The half-space has no
    /// triangles; height fields do not use `segments` either.
    pub fn triangles(&self, segments: u32) -> (Vec<Point3<f64>>, Vec<[u32; 3]>) {
        let segments = segments.max(3);
        match self {
            Shape::HalfSpace => (Vec::new(), Vec::new()),
            Shape::Box { half_extents: h } => {
                // Vertex k has the sign bits of k as x, y, z; two triangles for each face in the
                // order of the features.
                let vertex = |k: u32, axis: u32, h: f64| if k >> axis & 1 == 1 { h } else { -h };
                let vertices =
                    (0..8).map(|k| Point3::new(vertex(k, 0, h.x), vertex(k, 1, h.y), vertex(k, 2, h.z)));
                let quads =
                    [[1, 3, 7, 5], [0, 4, 6, 2], [2, 6, 7, 3], [0, 1, 5, 4], [4, 5, 7, 6], [0, 2, 3, 1]];
                let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
                (vertices.collect(), triangles.collect())
            }
            Shape::Sphere { radius } => revolve(&round_profile(*radius, 0.0, segments), segments),
            Shape::Capsule { radius, half_length } => {
                revolve(&round_profile(*radius, *half_length, segments), segments)
            }
            Shape::Cylinder { radius: r, half_length: h } => {
                revolve(&[(0.0, -h), (*r, -h), (*r, *h), (0.0, *h)], segments)
            }
            Shape::ConvexHull(hull) => (hull.mesh().vertices().to_vec(), hull.mesh().triangles().to_vec()),
            Shape::Mesh(mesh) => (mesh.vertices().to_vec(), mesh.triangles().to_vec()),
            Shape::Ellipsoid { semi_axes } => {
                let (mut vertices, triangles) = revolve(&round_profile(1.0, 0.0, segments), segments);
                vertices.iter_mut().for_each(|v| v.coords.component_mul_assign(semi_axes));
                (vertices, triangles)
            }
            Shape::HeightField(field) => {
                (field.mesh().vertices().to_vec(), field.mesh().triangles().to_vec())
            }
        }
    }
}

/// Half circle from -z to +z as (distance from the axis, z) \[m\], cut at the equator and moved
/// apart by `half_length`.
fn round_profile(radius: f64, half_length: f64, segments: u32) -> Vec<(f64, f64)> {
    let quarter = segments.div_ceil(4).max(1);
    let mut profile = vec![(0.0, -half_length - radius)];
    let ring = |k: u32, sign: f64| {
        let (sin, cos) = (0.5 * PI * f64::from(k) / f64::from(quarter)).sin_cos();
        (radius * cos, sign * (half_length + radius * sin))
    };
    profile.extend((0..quarter).rev().map(|k| ring(k, -1.0)));
    let first = if half_length > 0.0 { 0 } else { 1 };
    profile.extend((first..quarter).map(|k| ring(k, 1.0)));
    profile.push((0.0, half_length + radius));
    profile
}

/// Revolves a profile, which starts and ends on the z axis and runs upwards outside it, to a closed
/// surface.
fn revolve(profile: &[(f64, f64)], segments: u32) -> Triangulation {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    let mut previous: Option<(u32, bool)> = None;
    for &(rho, z) in profile {
        let start = vertices.len() as u32;
        let pole = rho == 0.0;
        let count = if pole { 1 } else { segments };
        vertices.extend((0..count).map(|k| {
            let (sin, cos) = (2.0 * PI * f64::from(k) / f64::from(segments)).sin_cos();
            Point3::new(rho * cos, rho * sin, z)
        }));
        if let Some((below, below_pole)) = previous {
            for k in 0..segments {
                let next = (k + 1) % segments;
                if !below_pole {
                    triangles.push([below + k, below + next, if pole { start } else { start + next }]);
                }
                if !pole {
                    let corner = if below_pole { below } else { below + k };
                    triangles.push([corner, start + next, start + k]);
                }
            }
        }
        previous = Some((start, pole));
    }
    (vertices, triangles)
}
