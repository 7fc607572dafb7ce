//! The contacts of a batch for a simulation by itself.

use super::error::BatchError;
use super::plan::pairs_of;
use pliant_geometry::pairs::{Kind, Solid, size_of};
use pliant_numeric::lanes::Pose;
use pliant_rigid::collision::Scene;
use pliant_rigid::multibody::{Kinematics, Model};
use pliant_rigid::simulation::{ContactSource, Touch};

/// Finds contacts in the closed form that a [`WorldBatch`](super::WorldBatch) finds them in, where a [`Simulation`](pliant_rigid::simulation::Simulation) is
/// to be compared with it. [`Collisions`](pliant_rigid::simulation::Collisions) has the same distances but fewer points.
#[derive(Clone, Debug)]
pub struct ClosedFormContacts {
    scene: Scene,
    pairs: Vec<(Kind, [usize; 2])>,
    stiction_tolerance: f64,
}

impl ClosedFormContacts {
    /// Contact of `scene`'s geometries; `stiction_tolerance` (m/s) is the slip at which friction has most of its value.
    ///
    /// # Errors
    /// Pairs of shapes that have no closed form.
    pub fn new(scene: Scene, stiction_tolerance: f64) -> Result<Self, BatchError> {
        let pairs = pairs_of(&scene)?.into_iter().map(|pair| (pair.kind, pair.geometries)).collect();
        Ok(Self { scene, pairs, stiction_tolerance })
    }
}

impl ContactSource for ClosedFormContacts {
    fn contacts(&mut self, _: &Model, kinematics: &Kinematics, margin: f64, out: &mut Vec<Touch>) {
        for (kind, pair) in &self.pairs {
            let [a, b] = pair.map(|g| &self.scene.geometries()[g]);
            let [first, second] = [a, b].map(|g| {
                let on = g.link.map_or_else(nalgebra::Isometry3::identity, |l| *kinematics.pose(l));
                Solid { pose: Pose::lit(0.0, &(on * g.pose)), size: size_of(&g.shape).unwrap_or_default() }
            });
            kind.meet(&first, &second, |_, meeting| {
                if meeting.distance < margin {
                    let (point, normal) = (meeting.point.0.into(), meeting.normal.0.into());
                    let tolerance = self.stiction_tolerance;
                    // How deep they are is not asked of batches.
                    let depth = (meeting.distance, f64::INFINITY);
                    out.push(Touch::between([a, b], point, normal, depth, tolerance));
                }
            });
        }
    }
}
