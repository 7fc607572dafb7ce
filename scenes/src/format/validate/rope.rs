//! Ropes.

use super::Check;
use crate::format::{AutoOr, RopePin, RopePlace, RopeShape, RopeSpec, Scene};

impl Check {
    /// The figures of the ropes.
    pub(super) fn ropes(&mut self, scene: &Scene) {
        for (at, rope) in scene.ropes.iter().enumerate() {
            let path = format!("ropes[{at}]");
            if let Some(what) = name_taken(scene, at) {
                let message = format!("the name '{}' is used by another {what}", rope.name);
                self.problem(&format!("{path}.name"), message);
            }
            self.rope_shape(&format!("{path}.shape"), &rope.shape);
            if rope.segments == AutoOr::Value(0) {
                self.problem(&format!("{path}.segments"), "0 must be positive, or \"auto\"");
            }
            self.pose(&format!("{path}.pose"), &rope.pose);
            self.finite(&format!("{path}.velocity"), &rope.velocity, "m/s");
            self.number(&format!("{path}.twist"), rope.twist, "rad", "must be finite", true);
            self.non_negative(&format!("{path}.mass_damping"), rope.mass_damping, "1/s");
            self.rope_material(&format!("{path}.material"), rope);
            for (k, pin) in rope.pins.iter().enumerate() {
                self.rope_pin(&format!("{path}.pins[{k}]"), pin);
            }
        }
    }

    fn rope_shape(&mut self, path: &str, shape: &RopeShape) {
        match shape {
            RopeShape::Line { from, to } => {
                self.finite(&format!("{path}.from"), from, "m");
                self.finite(&format!("{path}.to"), to, "m");
                if from == to {
                    self.problem(&format!("{path}.to"), format!("{to:?} m must differ from the start"));
                }
            }
            RopeShape::Polyline { points } => {
                if points.len() < 2 {
                    let message = format!("{} given, but a line needs at least 2", points.len());
                    self.problem(&format!("{path}.points"), message);
                }
                for (k, point) in points.iter().enumerate() {
                    self.finite(&format!("{path}.points[{k}]"), point, "m");
                }
            }
            RopeShape::Helix { radius, pitch, turns } => {
                self.positive(&format!("{path}.radius"), *radius, "m");
                self.number(&format!("{path}.pitch"), *pitch, "m", "must be finite", true);
                let is_turn = *turns != 0.0;
                self.number(&format!("{path}.turns"), *turns, "", "must be finite and not zero", is_turn);
            }
        }
    }

    fn rope_material(&mut self, path: &str, rope: &RopeSpec) {
        let ratio = rope.material.poissons_ratio;
        let holds = ratio > -1.0 && ratio <= 0.5;
        self.number(&format!("{path}.poissons_ratio"), ratio, "", "must be in (-1, 0.5]", holds);
        // A shear modulus that follows from a bad figure is not another problem.
        let follows = rope.material.shear_modulus == AutoOr::Auto;
        let figures = rope.material.material().out_of_range();
        let figures = figures.filter(|figure| !(follows && figure.field == "shear_modulus"));
        self.refuse_material(&format!("{path}."), figures);
    }

    fn rope_pin(&mut self, path: &str, pin: &RopePin) {
        if let RopePlace::Nearest { point } = pin.at {
            self.finite(&format!("{path}.at.point"), &point, "m");
        }
        self.pin_keyframes(path, &pin.keyframes);
        if !pin.turns.is_empty() {
            if !matches!(pin.at, RopePlace::Start { clamped: true } | RopePlace::End { clamped: true }) {
                self.problem(&format!("{path}.turns"), "only a clamped end is turned");
            }
            self.times_of(path, "turn", pin.turns.iter().map(|key| key.time));
        }
        for (k, key) in pin.turns.iter().enumerate() {
            let path = format!("{path}.turns[{k}].angle");
            let (requirement, holds) = match k {
                0 => ("must be zero, since the end has that turn until then", key.angle == 0.0),
                _ => ("must be finite", true),
            };
            self.number(&path, key.angle, "rad", requirement, holds);
        }
        if let Some(release) = pin.release {
            self.non_negative(&format!("{path}.release"), release, "s");
        }
    }
}

/// What else has the name of the rope number `at`.
fn name_taken(scene: &Scene, at: usize) -> Option<&'static str> {
    let name = &scene.ropes[at].name;
    let others = [
        ("rope", scene.ropes[..at].iter().any(|rope| rope.name == *name)),
        ("cloth", scene.cloths.iter().any(|cloth| cloth.name == *name)),
        ("soft body", scene.soft.iter().any(|soft| soft.name == *name)),
        ("body", scene.bodies.iter().any(|body| body.name == *name)),
        ("robot", scene.robots.iter().any(|robot| robot.name == *name)),
    ];
    others.into_iter().find_map(|(what, is_taken)| is_taken.then_some(what))
}
