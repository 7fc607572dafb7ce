//! Soft bodies and cloths in soft bodies.

use nalgebra::{Isometry3, Point3};
use pliant_coupling::ALLOWED_OVERLAP;
use pliant_rigid::Shape;

use super::{Overlap, OverlapError, is_allowed};
use crate::format::Scene;

/// The particles of a soft body or cloth.
pub(crate) struct ParticleCloud<'a> {
    /// Name in the scene.
    pub name: &'a str,
    /// Name and path, for messages.
    pub label: String,
    /// World frame \[m\].
    pub positions: Vec<Point3<f64>>,
    /// Distance from a particle to the surface that it represents \[m\].
    pub radius: f64,
}

/// Shape and pose of a soft body; its particles are the cloud of the same number.
pub(crate) struct PlacedShape {
    pub shape: Shape,
    /// Its frame in the world.
    pub pose: Isometry3<f64>,
}

/// Refuses particles that start in another soft body by more than [`ALLOWED_OVERLAP`] of the grid's
/// spacing \[m\].
pub(crate) fn soft_in_soft(
    scene: &Scene,
    clouds: &[ParticleCloud<'_>],
    regions: &[PlacedShape],
    spacing: f64,
) -> Result<(), OverlapError> {
    let limit = ALLOWED_OVERLAP * spacing;
    let mut overlaps = Vec::new();
    for (first, region) in regions.iter().enumerate() {
        for (second, cloud) in clouds.iter().enumerate().skip(first + 1) {
            if is_allowed(scene, clouds[first].name) || is_allowed(scene, cloud.name) {
                continue;
            }
            // Each of two soft bodies is checked against the other, and the deeper overlap counts.
            let here = deepest(cloud, region, limit).map(|found| (found, second, first));
            let there = regions.get(second).and_then(|other| deepest(&clouds[first], other, limit));
            let there = there.map(|found| (found, first, second));
            let deeper = [here, there].into_iter().flatten().max_by(|x, y| x.0.0.total_cmp(&y.0.0));
            if let Some(((depth, place), inner, outer)) = deeper {
                let (first, second) = (clouds[inner].label.clone(), clouds[outer].label.clone());
                overlaps.push(Overlap { first, second, depth, place: place.into(), limit });
            }
        }
    }
    if overlaps.is_empty() { Ok(()) } else { Err(OverlapError { overlaps }) }
}

/// Depth \[m\] and position of the deepest particle, if that is deeper than `limit` \[m\].
fn deepest(cloud: &ParticleCloud<'_>, region: &PlacedShape, limit: f64) -> Option<(f64, Point3<f64>)> {
    let mut found: Option<(f64, Point3<f64>)> = None;
    for position in &cloud.positions {
        let local = region.pose.inverse_transform_point(position);
        let least = found.map_or(limit, |(depth, _)| depth);
        if cloud.radius - region.shape.lower_bound(&local) <= least {
            continue;
        }
        let depth = cloud.radius - region.shape.surface_point(&local).distance;
        if depth > least {
            found = Some((depth, *position));
        }
    }
    found
}
