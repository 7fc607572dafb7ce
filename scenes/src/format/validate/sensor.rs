//! Sensors.

use super::Check;
use super::names::Names;
use crate::format::{Scene, Sensor};

/// Most bins of a pad along an edge.
const MOST_BINS: u32 = 1024;

impl Check {
    pub(super) fn sensors(&mut self, scene: &Scene, names: &Names) {
        let mut taken = Vec::new();
        for (at, sensor) in scene.sensors.iter().enumerate() {
            let path = format!("sensors[{at}]");
            self.unique(&path, "sensor", &mut taken, sensor.name());
            self.file_name(&format!("{path}.name"), sensor.name());
            let Sensor::TactilePad(pad) = sensor;
            self.found(&format!("{path}.body"), names.body(&pad.body));
            self.pose(&format!("{path}.pose"), &pad.pose);
            self.positives(&format!("{path}.half_extents"), &pad.half_extents, "m");
            for (axis, bins) in pad.bins.into_iter().enumerate() {
                if !(1..=MOST_BINS).contains(&bins) {
                    let message = format!("{bins} must be in [1, {MOST_BINS}]");
                    self.problem(&format!("{path}.bins[{axis}]"), message);
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
