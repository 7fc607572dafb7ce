//! Overlap at the start: particles with bodies, and with planes that bound the grid.

use std::ops::Range;

use nalgebra::{Point3, Vector3};
use pliant_mpm::{BoundaryKind, Mpm};
use pliant_rigid::Bodies;

use crate::detection::radius_of;
use crate::error::BuildError;
use crate::settings::Settings;

/// Largest overlap allowed at the start, in grid spacings. Contact removes an overlap within a
/// substep, which gives a velocity: a block of rubber four cells high jumps by 0.4 cells from an
/// overlap of a hundredth of a cell, and by 8 cells from a tenth. A thousandth is far above the
/// rounding of positions in single precision, 1e-6.
pub const ALLOWED_OVERLAP: f64 = 1e-3;

/// Particles that were added together.
#[derive(Debug)]
pub(crate) struct NamedParticles {
    pub name: String,
    /// Numbers of the particles, in the order in which they were added.
    pub range: Range<usize>,
}

/// The deepest particle of a part in one body.
struct Deepest {
    count: usize,
    particle: usize,
    depth: f64,
    position: Vector3<f64>,
}

impl Deepest {
    /// Takes one more \[m\]; of equally deep particles the first added counts, in any order of
    /// calls.
    fn take(found: &mut Option<Self>, particle: usize, depth: f64, position: Vector3<f64>) {
        let Some(deepest) = found else {
            *found = Some(Self { count: 1, particle, depth, position });
            return;
        };
        deepest.count += 1;
        if depth > deepest.depth || (depth == deepest.depth && particle < deepest.particle) {
            (deepest.particle, deepest.depth, deepest.position) = (particle, depth, position);
        }
    }
}

/// Refuses particles whose contact spheres start inside a body, or that start behind a plane, by
/// more than [`ALLOWED_OVERLAP`], except parts and bodies in `allowed`.
pub(crate) fn check_overlaps(
    settings: &Settings,
    mpm: &Mpm,
    bodies: &Bodies,
    parts: &[NamedParticles],
    allowed: &[String],
) -> Result<(), BuildError> {
    let limit = ALLOWED_OVERLAP * settings.grid_spacing;
    let may = |name: &String| allowed.contains(name);
    // `parts` have all particles, in order.
    let part_of = |id: usize| parts.partition_point(|part| part.range.end <= id);
    let tell = |body: String, found: Vec<Option<Deepest>>| {
        let first = found.into_iter().zip(parts).find_map(|(found, part)| found.map(|found| (found, part)));
        first.map_or(Ok(()), |(Deepest { count, particle, depth, position }, part)| {
            Err(BuildError::Overlap {
                part: part.name.clone(),
                body,
                count,
                particle: particle - part.range.start,
                depth,
                position,
                limit,
            })
        })
    };
    for (id, body) in bodies.iter().filter(|(_, body)| !may(&body.name)) {
        let mut found: Vec<Option<Deepest>> = parts.iter().map(|_| None).collect();
        for geometry in &body.geometries {
            let pose = bodies.pose(id) * geometry.pose;
            for_each_particle(mpm, settings, |particle, position, radius| {
                let local = pose.inverse_transform_point(&position);
                if geometry.shape.lower_bound(&local) > radius - limit {
                    return;
                }
                let depth = radius - geometry.shape.surface_point(&local).distance;
                let part = part_of(particle);
                if depth > limit && parts.get(part).is_some_and(|part| !may(&part.name)) {
                    Deepest::take(&mut found[part], particle, depth, position.coords);
                }
            });
        }
        tell(format!("body `{}`", body.name), found)?;
    }
    for (at, plane) in settings.boundaries.iter().enumerate() {
        let mut found: Vec<Option<Deepest>> = parts.iter().map(|_| None).collect();
        for_each_particle(mpm, settings, |particle, position, _| {
            let depth = -plane.normal.dot(&(position - plane.point));
            let part = part_of(particle);
            if depth > limit && parts.get(part).is_some_and(|part| !may(&part.name)) {
                Deepest::take(&mut found[part], particle, depth, position.coords);
            }
        });
        let kind = match plane.kind {
            BoundaryKind::Sticky => "sticky",
            BoundaryKind::Slip => "slip",
            BoundaryKind::Frictional { .. } => "frictional",
        };
        tell(format!("the {kind} plane boundaries[{at}]"), found)?;
    }
    Ok(())
}

/// Calls `f` with the number, position (world) and contact radius \[m\] of every particle.
fn for_each_particle(mpm: &Mpm, settings: &Settings, mut f: impl FnMut(usize, Point3<f64>, f64)) {
    for block in 0..mpm.block_count() {
        let view = mpm.block(block);
        for i in 0..view.len() {
            let radius = radius_of(view.extent(i).thickness, &settings.contact);
            f(view.id(i) as usize, view.position(i), radius);
        }
    }
}
