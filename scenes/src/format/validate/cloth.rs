//! Cloths.

use pliant_garment::TShirtError;

use super::problem::Problem;
use crate::format::{AutoOr, ClothPin, ClothShape, ClothSpec, Fabric, PinPlace, Scene};

/// All problems with the values of a scene's cloths. Files are not opened here, and garments are
/// not cut.
pub(super) fn problems(scene: &Scene) -> Vec<Problem> {
    let mut found = Vec::new();
    for (at, cloth) in scene.cloths.iter().enumerate() {
        let path = format!("cloths[{at}]");
        let named = |what, mut names: Box<dyn Iterator<Item = &String> + '_>| {
            names.any(|name| *name == cloth.name).then_some(what)
        };
        let taken = named("cloth", Box::new(scene.cloths[..at].iter().map(|other| &other.name)))
            .or_else(|| named("soft body", Box::new(scene.soft.iter().map(|soft| &soft.name))))
            .or_else(|| named("body", Box::new(scene.bodies.iter().map(|body| &body.name))))
            .or_else(|| named("robot", Box::new(scene.robots.iter().map(|robot| &robot.name))));
        if let Some(what) = taken {
            let message = format!("the name '{}' is used by another {what}", cloth.name);
            found.push(problem(&format!("{path}.name"), message));
        }
        found.extend(cloth.problems(&path, scene.grid_spacing));
    }
    found
}

fn problem(path: &str, message: impl Into<String>) -> Problem {
    Problem { path: path.to_owned(), message: message.into() }
}

impl ClothSpec {
    /// The problems with the values, each with its path, which begins with `path`; `grid_spacing`
    /// is the scene's [m].
    pub fn problems(&self, path: &str, grid_spacing: Option<f64>) -> Vec<Problem> {
        let mut found = FieldChecks { path: path.to_owned(), problems: Vec::new() };
        self.shape_problems(&mut found, grid_spacing);
        found.finite("pose.position", &self.pose.position, "m");
        let norm = self.pose.orientation.iter().map(|x| x * x).sum::<f64>().sqrt();
        // As far from 1 as other poses may be.
        if !norm.is_finite() || (norm - 1.0).abs() > 1e-2 {
            let value = self.pose.orientation;
            let message = format!("{value:?} has norm {norm}; a quaternion (w, x, y, z) must have norm 1");
            found.report(("pose.orientation".to_owned(), message));
        }
        found.finite("velocity", &self.velocity, "m/s");
        self.material_problems(&mut found);
        for (at, pin) in self.pins.iter().enumerate() {
            self.pin_problems(&mut found, at, pin);
        }
        found.problems
    }

    fn shape_problems(&self, found: &mut FieldChecks, grid_spacing: Option<f64>) {
        match &self.shape {
            ClothShape::Rectangle { size, parts } => {
                for k in 0..2 {
                    found.positive(&format!("shape.size[{k}]"), size[k], "m");
                    found.positive(&format!("shape.parts[{k}]"), f64::from(parts[k]), "");
                }
            }
            ClothShape::Disc { radius, rings } => {
                found.positive("shape.radius", *radius, "m");
                found.positive("shape.rings", f64::from(*rings), "");
            }
            ClothShape::TShirt(measures) => {
                // Without a valid grid spacing, which is another problem, the measures are checked
                // against that of the published scene.
                let grid_spacing = grid_spacing.filter(|spacing| *spacing > 0.0).unwrap_or(1.0 / 128.0);
                let shirt = measures.shirt(grid_spacing);
                if let Err(error) = shirt.half_outline(shirt.front_neck_depth) {
                    found.report(match error {
                        TShirtError::Measure { field, value, requirement } => {
                            (format!("shape.{field}"), format!("{value} m {requirement}"))
                        }
                        other => ("shape".to_owned(), other.to_string()),
                    });
                }
            }
            ClothShape::Mesh { scale, .. } => found.positive("shape.scale", *scale, "m"),
        }
    }

    fn material_problems(&self, found: &mut FieldChecks) {
        let Fabric { poissons_ratio: nu, damping, .. } = self.material;
        found.positive("material.density", self.material.density, "kg/m^3");
        found.positive("material.youngs_modulus", self.material.youngs_modulus, "Pa");
        found.number("material.poissons_ratio", nu, "", "must be in (-1, 0.5)", nu > -1.0 && nu < 0.5);
        if let AutoOr::Value(thickness) = self.material.thickness {
            found.positive("material.thickness", thickness, "m");
        }
        for (field, value, unit) in [
            ("normal_stiffness", self.material.normal_stiffness, "Pa"),
            ("shear_stiffness", self.material.shear_stiffness, "Pa"),
            ("friction", self.material.friction, ""),
            ("bending_stiffness", self.material.bending_stiffness, "N m"),
        ] {
            let law = "must not be negative";
            found.number(&format!("material.{field}"), value, unit, law, value >= 0.0);
        }
        found.number("material.damping", damping, "", "must be in [0, 1]", (0.0..=1.0).contains(&damping));
    }

    fn pin_problems(&self, found: &mut FieldChecks, at: usize, pin: &ClothPin) {
        let path = format!("pins[{at}]");
        match pin.at {
            PinPlace::Corner { .. } if !matches!(self.shape, ClothShape::Rectangle { .. }) => {
                found.report((format!("{path}.at"), "only a rectangle has corners".to_owned()));
            }
            PinPlace::Nearest { point } => found.finite(&format!("{path}.at.point"), &point, "m"),
            PinPlace::Corner { .. } | PinPlace::Vertex { .. } => {}
        }
        let mut before = None;
        for (k, key) in pin.keyframes.iter().enumerate() {
            let path = format!("{path}.keyframes[{k}]");
            let time = format!("{path}.time");
            found.number(&time, key.time, "s", "must not be negative", key.time >= 0.0);
            if let Some(before) = before
                && key.time <= before
            {
                let message = format!("{} s must be later than the keyframe before it, {before} s", key.time);
                found.report((time, message));
            }
            before = Some(key.time);
            found.finite(&format!("{path}.displacement"), &key.displacement, "m");
            if k == 0 && key.displacement != [0.0; 3] {
                let message =
                    format!("{:?} m must be zero, since the vertex is there until then", key.displacement);
                found.report((format!("{path}.displacement"), message));
            }
        }
        if let Some(release) = pin.release {
            found.number(&format!("{path}.release"), release, "s", "must not be negative", release >= 0.0);
        }
    }
}

/// Problems with values below a path.
struct FieldChecks {
    path: String,
    problems: Vec<Problem>,
}

impl FieldChecks {
    fn report(&mut self, (field, message): (String, String)) {
        self.problems.push(Problem { path: format!("{}.{field}", self.path), message });
    }

    /// One number; `unit` may be empty.
    fn number(&mut self, field: &str, value: f64, unit: &str, law: &str, holds: bool) {
        if !(value.is_finite() && holds) {
            let space = if unit.is_empty() { "" } else { " " };
            let law = if value.is_finite() { law } else { "must be finite" };
            self.report((field.to_owned(), format!("{value}{space}{unit} {law}")));
        }
    }

    fn positive(&mut self, field: &str, value: f64, unit: &str) {
        self.number(field, value, unit, "must be positive", value > 0.0);
    }

    fn finite(&mut self, field: &str, values: &[f64], unit: &str) {
        for (at, &value) in values.iter().enumerate() {
            self.number(&format!("{field}[{at}]"), value, unit, "must be finite", true);
        }
    }
}
