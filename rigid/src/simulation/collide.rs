//! Contact between geometries.

use super::contact::{ContactSource, Touch};
use crate::collision::{ContactMaterial, Detector, GeometricContact, Scene};
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
            let (a, b) = (&geometries[contact.a], &geometries[contact.b]);
            let both = ContactMaterial::combine(&a.material, &b.material);
            Touch {
                first: a.link,
                second: b.link,
                point: contact.point,
                normal: contact.normal.into_inner(),
                distance: contact.distance,
                stiffness: both.stiffness,
                dissipation: both.dissipation,
                static_friction: both.static_friction,
                dynamic_friction: both.dynamic_friction,
                stiction_tolerance: self.stiction_tolerance,
                torsional_friction: both.torsional_friction,
                rolling_friction: both.rolling_friction,
                impedance: both.impedance,
            }
        }));
    }
}
