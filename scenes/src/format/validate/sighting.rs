//! Sightings. Whether a cloth has the points is found when the scene is assembled.

use super::Check;
use crate::format::{ClothPoint, Scene};

impl Check {
    pub(super) fn sightings(&mut self, scene: &Scene) {
        for (at, sighting) in scene.sightings.iter().enumerate() {
            let path = format!("sightings[{at}]");
            if scene.sightings[..at].iter().any(|other| other.name == sighting.name) {
                let message = format!("the name '{}' is used by another sighting", sighting.name);
                self.problem(&format!("{path}.name"), message);
            }
            if !scene.cloths.iter().any(|cloth| cloth.name == sighting.cloth) {
                let message = format!("there is no cloth '{}'", sighting.cloth);
                self.problem(&format!("{path}.cloth"), message);
            }
            self.non_negative(&format!("{path}.time"), sighting.time, "s");
            if sighting.origin.is_empty() {
                self.problem(&format!("{path}.origin"), "give at least one point");
            }
            if sighting.toward.is_empty() && !sighting.from.is_empty() {
                self.problem(&format!("{path}.from"), "needs `toward`");
            }
            let lists =
                [("origin", &sighting.origin), ("toward", &sighting.toward), ("from", &sighting.from)];
            for (field, points) in lists {
                for (k, point) in points.iter().enumerate() {
                    let path = format!("{path}.{field}[{k}]");
                    match point {
                        ClothPoint::Nearest { point } => self.finite(&format!("{path}.point"), point, "m"),
                        ClothPoint::Farthest { direction } => {
                            self.direction(&format!("{path}.direction"), direction);
                        }
                        ClothPoint::KeyPoint { .. } | ClothPoint::Vertex { .. } => {}
                    }
                }
            }
            if let Some(height) = sighting.height {
                self.finite(&format!("{path}.height"), &[height], "m");
            }
        }
    }
}
