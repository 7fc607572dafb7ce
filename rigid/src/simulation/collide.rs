//! Contact between geometries.

use super::contact::{ContactCandidate, ContactSource};
use crate::collision::{CollisionModel, Detector, GeometricContact};
use crate::multibody::{Kinematics, Model};

/// Finds the contacts of a collision model's geometries, with their compliance and friction.
#[derive(Clone)]
pub struct Collisions {
    scene: CollisionModel,
    detector: Detector,
    stiction_tolerance: f64,
    found: Vec<GeometricContact>,
}

impl core::fmt::Debug for Collisions {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Collisions")
            .field("geometries", &self.scene.geometries().len())
            .finish_non_exhaustive()
    }
}

impl Collisions {
    /// Contact of `scene`'s geometries with this `stiction_tolerance` \[m/s\].
    pub fn new(scene: CollisionModel, stiction_tolerance: f64) -> Self {
        Self { scene, detector: Detector::default(), stiction_tolerance, found: Vec::new() }
    }

    /// The geometries.
    pub fn scene(&self) -> &CollisionModel {
        &self.scene
    }

    /// Gives geometries, by number, one coefficient of friction, finite and not negative.
    pub(crate) fn set_friction(&mut self, geometries: core::ops::Range<usize>, coefficient: f64) {
        self.scene.set_friction(geometries, coefficient);
    }
}

impl ContactSource for Collisions {
    fn contacts(&mut self, _: &Model, kinematics: &Kinematics, margin: f64, out: &mut Vec<ContactCandidate>) {
        self.found.clear();
        self.detector.detect(&self.scene, |link| *kinematics.pose(link), margin, &mut self.found);
        let geometries = self.scene.geometries();
        out.extend(self.found.iter().map(|contact| {
            let numbers = [contact.a, contact.b];
            let (point, normal) = (contact.point, contact.normal.into_inner());
            let thinner = self.scene.half_thickness(contact.a).min(self.scene.half_thickness(contact.b));
            let material = self.scene.contact_material(contact.a, contact.b);
            let depth = (contact.distance, thinner);
            let pair = numbers.map(|number| &geometries[number]);
            ContactCandidate::between(
                (pair, numbers),
                &material,
                point,
                normal,
                depth,
                self.stiction_tolerance,
            )
        }));
    }
}
