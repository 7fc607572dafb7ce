//! Contact between geometries.

use super::contact::{ContactSource, Touch};
use crate::collision::{Detector, GeometricContact, Scene};
use crate::multibody::{Kinematics, Model};

/// Finds where the geometries of a scene touch, and with what compliance and friction.
pub struct Collisions {
    scene: Scene,
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
    /// Contact of `scene`'s geometries; `stiction_tolerance` (m/s) is the slip at which friction has most of its value.
    pub fn new(scene: Scene, stiction_tolerance: f64) -> Self {
        Self { scene, detector: Detector::default(), stiction_tolerance, found: Vec::new() }
    }

    /// The geometries.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }
}

impl ContactSource for Collisions {
    fn contacts(&mut self, _: &Model, kinematics: &Kinematics, margin: f64, out: &mut Vec<Touch>) {
        self.found.clear();
        self.detector.detect(&self.scene, |link| *kinematics.pose(link), margin, &mut self.found);
        let geometries = self.scene.geometries();
        out.extend(self.found.iter().map(|contact| {
            let pair = [&geometries[contact.a], &geometries[contact.b]];
            let (point, normal) = (contact.point, contact.normal.into_inner());
            let thinner = self.scene.half_thickness(contact.a).min(self.scene.half_thickness(contact.b));
            let depth = (contact.distance, thinner);
            Touch::between(pair, point, normal, depth, self.stiction_tolerance)
        }));
    }
}
