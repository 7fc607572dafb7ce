//! The contacts of a batch for a single simulation.

use super::error::BatchError;
use super::plan::pairs_of;
use pliant_geometry::pairs::{PairKind, PlacedSolid, size_of};
use pliant_numeric::rotation::Pose;
use pliant_rigid::collision::CollisionModel;
use pliant_rigid::multibody::{Kinematics, Model};
use pliant_rigid::simulation::{ContactCandidate, ContactSource};

/// Finds contacts with the closed forms of a [`WorldBatch`](super::WorldBatch), for a
/// [`Simulation`](pliant_rigid::simulation::Simulation) to compare with it.
/// [`Collisions`](pliant_rigid::simulation::Collisions) has the same distances but fewer points.
#[derive(Clone, Debug)]
pub struct ClosedFormContactSource {
    scene: CollisionModel,
    pairs: Vec<(PairKind, [usize; 2])>,
    stiction_tolerance: f64,
}

impl ClosedFormContactSource {
    /// Contact of `scene`'s geometries; `stiction_tolerance` in \[m/s\].
    ///
    /// # Errors
    /// Pairs of shapes that have no closed form.
    pub fn new(scene: CollisionModel, stiction_tolerance: f64) -> Result<Self, BatchError> {
        let pairs = pairs_of(&scene)?.into_iter().map(|pair| (pair.kind, pair.geometries)).collect();
        Ok(Self { scene, pairs, stiction_tolerance })
    }
}

impl ContactSource for ClosedFormContactSource {
    fn contacts(&mut self, _: &Model, kinematics: &Kinematics, margin: f64, out: &mut Vec<ContactCandidate>) {
        for (kind, pair) in &self.pairs {
            let [a, b] = pair.map(|g| &self.scene.geometries()[g]);
            let [first, second] = [a, b].map(|g| {
                let on = g.link.map_or_else(nalgebra::Isometry3::identity, |l| *kinematics.pose(l));
                PlacedSolid { pose: Pose::from(on * g.pose), size: size_of(&g.shape).unwrap_or_default() }
            });
            kind.contact_points(&first, &second, |_, found| {
                let both = self.scene.contact_material(pair[0], pair[1]);
                if found.distance < margin + both.margin {
                    let (point, normal) = (found.point.0.into(), found.normal.0.into());
                    let tolerance = self.stiction_tolerance;
                    // Batches do not use the relative depth.
                    let depth = (found.distance, f64::INFINITY);
                    out.push(ContactCandidate::between(
                        ([a, b], *pair),
                        &both,
                        point,
                        normal,
                        depth,
                        tolerance,
                    ));
                }
            });
        }
    }
}
