//! The zone of a touch sensor.

use nalgebra::Vector3;

/// A convex shape about a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TouchZone {
    /// A sphere, by its radius \[m\].
    Sphere(f64),
    /// A capsule along z: radius, and half of the length of its cylinder \[m\].
    Capsule(f64, f64),
    /// An ellipsoid, by its semi-axes \[m\].
    Ellipsoid(Vector3<f64>),
    /// A cylinder along z: radius and half of its length \[m\].
    Cylinder(f64, f64),
    /// A box, by half of its edges \[m\].
    Box(Vector3<f64>),
}

/// The part of a line within a shape, by its parameters; empty if the first is the greater.
type Span = [f64; 2];

const EMPTY: Span = [f64::INFINITY, f64::NEG_INFINITY];

impl TouchZone {
    /// Whether the ray from a point in a direction, both in the frame of the zone, meets it; always
    /// from inside. MuJoCo counts contacts so.
    pub fn is_met(&self, from: &Vector3<f64>, direction: &Vector3<f64>) -> bool {
        let [first, last] = match *self {
            Self::Sphere(radius) => sphere(from, direction, radius),
            Self::Ellipsoid(axes) => sphere(&from.component_div(&axes), &direction.component_div(&axes), 1.0),
            Self::Box(half) => {
                (0..3).map(|d| slab(from[d], direction[d], half[d])).fold(common_start(), common)
            }
            Self::Cylinder(radius, half) => cylinder(from, direction, radius, half),
            Self::Capsule(radius, half) => {
                let end = |z: f64| sphere(&(from - Vector3::new(0.0, 0.0, z)), direction, radius);
                // The parts overlap, so that their hull is their union.
                [cylinder(from, direction, radius, half), end(half), end(-half)]
                    .into_iter()
                    .fold(EMPTY, |a, b| [a[0].min(b[0]), a[1].max(b[1])])
            }
        };
        first <= last && last >= 0.0
    }
}

/// All of the line.
fn common_start() -> Span {
    [f64::NEG_INFINITY, f64::INFINITY]
}

fn common(a: Span, b: Span) -> Span {
    [a[0].max(b[0]), a[1].min(b[1])]
}

fn slab(from: f64, direction: f64, half: f64) -> Span {
    if direction == 0.0 {
        return if from.abs() <= half { common_start() } else { EMPTY };
    }
    let (a, b) = ((-half - from) / direction, (half - from) / direction);
    [a.min(b), a.max(b)]
}

/// Where `a t^2 + 2 b t + c <= 0`, for a that is not negative.
fn below_zero(a: f64, b: f64, c: f64) -> Span {
    if a == 0.0 {
        return if c <= 0.0 { common_start() } else { EMPTY };
    }
    let square = b * b - a * c;
    if square < 0.0 {
        return EMPTY;
    }
    [(-b - square.sqrt()) / a, (-b + square.sqrt()) / a]
}

fn sphere(from: &Vector3<f64>, direction: &Vector3<f64>, radius: f64) -> Span {
    below_zero(direction.norm_squared(), from.dot(direction), from.norm_squared() - radius * radius)
}

fn cylinder(from: &Vector3<f64>, direction: &Vector3<f64>, radius: f64, half: f64) -> Span {
    let (p, d) = (from.xy(), direction.xy());
    let round = below_zero(d.norm_squared(), p.dot(&d), p.norm_squared() - radius * radius);
    let span = common(round, slab(from.z, direction.z, half));
    if span[0] <= span[1] { span } else { EMPTY }
}
