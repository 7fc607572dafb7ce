//! Sensors.

use std::collections::BTreeSet;

use super::Check;
use super::names::Names;
use crate::format::{Scene, Sensor};

impl Check {
    pub(super) fn sensors(&mut self, scene: &Scene, names: &Names) {
        let mut taken = BTreeSet::new();
        for (at, sensor) in scene.sensors.iter().enumerate() {
            let path = format!("sensors[{at}]");
            self.unique(&path, "sensor", &mut taken, sensor.name());
            self.file_name(&format!("{path}.name"), sensor.name());
            let Sensor::TactilePad(pad) = sensor;
            self.found(&format!("{path}.body"), names.body(&pad.body));
            self.pose(&format!("{path}.pose"), &pad.pose);
            self.positives(&format!("{path}.half_extents"), &pad.half_extents, "m");
            for (axis, bins) in pad.bins.into_iter().enumerate() {
                if bins == 0 {
                    self.problem(&format!("{path}.bins[{axis}]"), "0 must be at least 1");
                }
            }
            if let Some(reach) = pad.reach {
                self.positive(&format!("{path}.reach"), reach, "m");
            }
        }
    }

    /// A name that becomes the name of a file.
    pub(super) fn file_name(&mut self, path: &str, name: &str) {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(plain) || name.starts_with('.') {
            let message =
                format!("'{name}' must be letters, digits, '-', '_' and '.', and not begin with '.'");
            self.problem(path, message);
        }
    }
}
