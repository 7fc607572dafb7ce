//! Meshes and other solids: the lattice inside, whose points near the surface are moved inwards until their
//! particles touch it.

use nalgebra::Point3;
use pliant_rigid::Shape;
use rayon::prelude::*;

use super::lattice::Lattice;
use super::solid::{JitterSource, ParticleLayout, SampleError, radius_of};

/// Largest fraction of its radius by which a particle may extend out of the surface.
const SLACK: f64 = 1e-3;

/// Steps in which a particle is moved: between faces that meet at 30 degrees each leaves 3/4 of the
/// distance.
const STEPS: usize = 40;

/// Largest fraction of a lattice's points in parts thinner than a particle.
const MOST_LEFT_OUT: f64 = 0.1;

/// The particles of the solid within `surface`, of `volume` \[m^3\], which `contains` points.
pub(super) fn fitted(
    surface: &Shape,
    contains: impl Fn(&Point3<f64>) -> bool,
    volume: f64,
    lattice: &Lattice,
    jitter_source: &mut JitterSource,
) -> Result<ParticleLayout, SampleError> {
    let mut centres = Vec::new();
    lattice.for_each_centre(|centre| {
        if contains(&centre) {
            let moved = jitter_source.moved(centre, &lattice.spacing);
            // A point that would leave the solid stays in the middle of its cell.
            centres.push(if contains(&moved) { moved } else { centre });
        }
    });
    if centres.is_empty() {
        let extents = [0, 1, 2].map(|axis| lattice.spacing[axis] * lattice.counts[axis] as f64);
        return Err(SampleError::NoParticles { spacing: lattice.spacing.into(), extents });
    }
    let of = centres.len();
    let mut number = of;
    loop {
        let radius = radius_of(volume / number as f64);
        let points: Vec<Point3<f64>> =
            centres.par_iter().filter_map(|centre| inwards(surface, *centre, radius)).collect();
        let left_out = of - points.len();
        if left_out as f64 > MOST_LEFT_OUT * of as f64 {
            return Err(SampleError::ThinParts { left_out, of, edge: 2.0 * radius });
        }
        // Fewer particles are larger: these must fit, too.
        if points.len() == number {
            return Ok(ParticleLayout { points, spacing: lattice.spacing, left_out });
        }
        number = points.len();
    }
}

/// A point moved inwards until it is `radius` \[m\] deep; none if the solid is too thin for that
/// within twice the radius, which is more than the distance of a cube's corner from such a point.
fn inwards(surface: &Shape, start: Point3<f64>, radius: f64) -> Option<Point3<f64>> {
    let mut point = start;
    for _ in 0..STEPS {
        let nearest = surface.surface_point(&point);
        if -nearest.distance >= radius * (1.0 - SLACK) {
            return Some(point);
        }
        point -= nearest.normal.as_ref() * (radius + nearest.distance);
        if (point - start).norm() > 2.0 * radius {
            return None;
        }
    }
    None
}
