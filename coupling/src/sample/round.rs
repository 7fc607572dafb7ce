//! Cylinders in rings and spheres in shells of cells of equal volume.
//!
//! n rings of equal width have areas in the ratio 1 : 3 : 5 ..., n shells volumes 1 : 7 : 19 ...;
//! so many particles, times three in a ring and times four in a shell, have equal shares, whose
//! edges differ by 5 % from the width. A ring's or shell's particles lie at the root of its mean
//! squared radius, which keeps the second moments; the outermost at the depth at which they touch,
//! slightly further in.

use std::f64::consts::{FRAC_PI_3, PI};

use nalgebra::{Point3, Vector3};

use super::solid::{JitterSource, ParticleLayout, SampleError, check_thin, radius_of};

/// The angle whose multiples stay apart on a circle: 2 pi times the golden ratio's square \[rad\].
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

/// Iterations that move a shell's centre to the origin: each leaves less than half of its offset.
const CENTRING_ROUNDS: usize = 60;

/// A cylinder about z of this radius and half length \[m\], by cells of about the sides
/// `target_spacing` \[m\].
pub(super) fn rings(
    radius: f64,
    half_length: f64,
    target_spacing: &Vector3<f64>,
    jitter_source: &mut JitterSource,
) -> Result<ParticleLayout, SampleError> {
    let rings = at_least_one(radius * FRAC_PI_3.sqrt() / (target_spacing.x * target_spacing.y).sqrt());
    let layers = at_least_one(2.0 * half_length / target_spacing.z);
    let number = 3 * rings * rings * layers;
    let share = 2.0 * PI * radius * radius * half_length / number as f64;
    let candidate = radius_of(share);
    check_thin(2.0 * radius.min(half_length), candidate)?;
    let (outer, top) = ((radius - candidate).max(0.0), (half_length - candidate).max(0.0));
    let (width, pitch) = (radius / rings as f64, 2.0 * half_length / layers as f64);
    let cell = Vector3::new(width, width, pitch);
    let rise = if layers > 1 { 2.0 * top / (layers - 1) as f64 } else { 0.0 };
    let mut points = Vec::with_capacity(number);
    for layer in 0..layers {
        let z = if layers > 1 { rise * layer as f64 - top } else { 0.0 };
        for ring in 1..=rings {
            let (inside, outside) = (width * (ring - 1) as f64, width * ring as f64);
            let mean = ((inside * inside + outside * outside) / 2.0).sqrt();
            let distance = if ring == rings { outer } else { mean.min(outer) };
            let count = 3 * (2 * ring - 1);
            for k in 0..count {
                let angle = GOLDEN_ANGLE * ring as f64 + 2.0 * PI * k as f64 / count as f64;
                let (sin, cos) = angle.sin_cos();
                let moved = jitter_source.moved(Point3::new(distance * cos, distance * sin, z), &cell);
                let inwards = (outer / moved.x.hypot(moved.y)).min(1.0);
                let z = moved.z.clamp(-top, top);
                points.push(Point3::new(moved.x * inwards, moved.y * inwards, z));
            }
        }
    }
    Ok(ParticleLayout { points, spacing: Vector3::new(width, width, pitch.max(rise)), left_out: 0 })
}

/// A sphere of this radius \[m\], by cells of about the sides `target_spacing` \[m\].
pub(super) fn shells(
    radius: f64,
    target_spacing: &Vector3<f64>,
    jitter_source: &mut JitterSource,
) -> Result<ParticleLayout, SampleError> {
    let shells = at_least_one(radius * FRAC_PI_3.cbrt() / target_spacing.product().cbrt());
    let number = 4 * shells * shells * shells;
    let candidate = radius_of(4.0 / 3.0 * PI * radius.powi(3) / number as f64);
    let (outer, width) = ((radius - candidate).max(0.0), radius / shells as f64);
    let cell = Vector3::repeat(width);
    let mut points = Vec::with_capacity(number);
    for shell in 1..=shells {
        let (inside, outside) = (width * (shell - 1) as f64, width * shell as f64);
        let fifths = outside.powi(5) - inside.powi(5);
        let mean = (0.6 * fifths / (outside.powi(3) - inside.powi(3))).sqrt();
        let distance = if shell == shells { outer } else { mean.min(outer) };
        for direction in directions(4 * (3 * shell * shell - 3 * shell + 1), shell) {
            let moved = jitter_source.moved(Point3::from(direction * distance), &cell);
            points.push(Point3::from(moved.coords * (outer / moved.coords.norm()).min(1.0)));
        }
    }
    Ok(ParticleLayout { points, spacing: cell, left_out: 0 })
}

/// Unit vectors spread over the sphere on a Fibonacci spiral, their mean brought to zero.
fn directions(count: usize, shell: usize) -> Vec<Vector3<f64>> {
    let mut directions: Vec<Vector3<f64>> = (0..count)
        .map(|k| {
            let z = 1.0 - (2 * k + 1) as f64 / count as f64;
            let (sin, cos) = (GOLDEN_ANGLE * (k + shell) as f64).sin_cos();
            let across = (1.0 - z * z).sqrt();
            Vector3::new(across * cos, across * sin, z)
        })
        .collect();
    for _ in 0..CENTRING_ROUNDS {
        let mean = directions.iter().sum::<Vector3<f64>>() / count as f64;
        if mean.norm() < f64::EPSILON {
            break;
        }
        directions.iter_mut().for_each(|d| *d = (*d - mean).normalize());
    }
    directions
}

/// The nearest whole number, but at least 1.
fn at_least_one(number: f64) -> usize {
    // The cast saturates; the lattice has been checked for that.
    (number.round() as usize).max(1)
}
