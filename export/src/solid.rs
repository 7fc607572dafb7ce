//! The shapes of bodies as triangles, and colours as light.

use std::f64::consts::{PI, TAU};

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_render::BodyShape;

/// Side of the square that stands for an endless half-space \[m\].
pub const HALF_SPACE_SIDE: f64 = 10.0;

/// Segments round a circle; even.
const SEGMENTS: usize = 32;

/// Triangles, counterclockwise seen from outside.
#[derive(Clone, Debug, Default)]
pub struct Triangles {
    /// Vertices \[m\].
    pub vertices: Vec<Point3<f64>>,
    /// Three vertices each.
    pub corners: Vec<[u32; 3]>,
}

impl Triangles {
    /// Adds others, moved by `pose`.
    pub fn append(&mut self, other: &Self, pose: &Isometry3<f64>) {
        let base = self.vertices.len() as u32;
        self.vertices.extend(other.vertices.iter().map(|vertex| pose * vertex));
        self.corners.extend(other.corners.iter().map(|t| t.map(|corner| base + corner)));
    }
}

/// A shape as triangles in its own frame; round ones have 32 segments round a circle, a half-space
/// is a square of [`HALF_SPACE_SIDE`] about the origin.
pub fn tessellate(shape: &BodyShape) -> Triangles {
    match shape {
        BodyShape::Sphere { radius } => ball(&Vector3::repeat(*radius)),
        BodyShape::Ellipsoid { half_axes } => ball(half_axes),
        BodyShape::Box { half_extents } => cuboid(half_extents),
        BodyShape::Capsule { radius, half_length } => revolve(&capsule_profile(*radius, *half_length)),
        BodyShape::Cylinder { radius, half_length } => {
            let (r, h) = (*radius, *half_length);
            // Rims are doubled, so that the edge is sharp where vertices share their normals.
            revolve(&[(0.0, -h), (r, -h), (r, -h), (r, h), (r, h), (0.0, h)])
        }
        BodyShape::HalfSpace => {
            let s = 0.5 * HALF_SPACE_SIDE;
            let corner = |x: f64, y: f64| Point3::new(x * s, y * s, 0.0);
            let vertices = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
            Triangles { vertices, corners: vec![[0, 1, 2], [0, 2, 3]] }
        }
        BodyShape::Mesh { vertices, triangles, .. } => {
            Triangles { vertices: vertices.clone(), corners: triangles.clone() }
        }
    }
}

fn cuboid(half: &Vector3<f64>) -> Triangles {
    let sign = |bit: usize| if bit == 0 { -1.0 } else { 1.0 };
    let corner = |i: usize| Point3::new(sign(i & 1) * half.x, sign(i & 2) * half.y, sign(i & 4) * half.z);
    let quads: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let corners = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    Triangles { vertices: (0..8).map(corner).collect(), corners }
}

/// Distances from the axis and heights of half an ellipsoid's outline, from below.
fn ball(half: &Vector3<f64>) -> Triangles {
    let steps = SEGMENTS / 2;
    let profile: Vec<(f64, f64)> = (0..=steps)
        .map(|i| {
            let angle = PI * i as f64 / steps as f64;
            (if i == 0 || i == steps { 0.0 } else { angle.sin() }, -angle.cos())
        })
        .collect();
    let mut round = revolve(&profile);
    round.vertices.iter_mut().for_each(|v| v.coords.component_mul_assign(half));
    round
}

fn capsule_profile(radius: f64, half_length: f64) -> Vec<(f64, f64)> {
    let steps = SEGMENTS / 4;
    let quarter = |i: usize| 0.5 * PI * i as f64 / steps as f64;
    let rim = |i: usize| if i == 0 { 0.0 } else { radius * quarter(i).sin() };
    let below = (0..=steps).map(|i| (rim(i), -half_length - radius * quarter(i).cos()));
    let above = (0..=steps).rev().map(|i| (rim(i), half_length + radius * quarter(i).cos()));
    below.chain(above).collect()
}

/// The outline turned about z; a radius of zero is a pole.
fn revolve(profile: &[(f64, f64)]) -> Triangles {
    let mut made = Triangles::default();
    let ring = |at: usize, segment: usize| (at * SEGMENTS + segment % SEGMENTS) as u32;
    for &(radius, height) in profile {
        made.vertices.extend((0..SEGMENTS).map(|segment| {
            let (sin, cos) = (TAU * segment as f64 / SEGMENTS as f64).sin_cos();
            Point3::new(radius * cos, radius * sin, height)
        }));
    }
    for at in 1..profile.len() {
        let (below, above) = (profile[at - 1], profile[at]);
        for segment in 0..SEGMENTS {
            let next = segment + 1;
            if below.0 > 0.0 && below != above {
                made.corners.push([ring(at - 1, segment), ring(at - 1, next), ring(at, segment)]);
            }
            if above.0 > 0.0 && below != above {
                made.corners.push([ring(at - 1, next), ring(at, next), ring(at, segment)]);
            }
        }
    }
    made
}

/// A channel of sRGB as linear light from 0 to 1 (IEC 61966-2-1).
pub fn linear(channel: u8) -> f32 {
    let c = f64::from(channel) / 255.0;
    (if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }) as f32
}
