//! Cloths.

use pliant_garment::{TShirtError, TrousersError};

use super::Check;
use crate::format::{AutoOr, ClothGas, ClothPin, ClothShape, ClothSpec, PinKeyframe, PinPlace, Scene};

impl Check {
    /// The figures of the cloths. Files are not opened here, and nothing is cut.
    pub(super) fn cloths(&mut self, scene: &Scene) {
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
                self.problem(&format!("{path}.name"), message);
            }
            // Without a good grid, which is another problem, sizes are held against that of the published
            // scene.
            let grid_spacing = scene.grid_spacing.filter(|spacing| *spacing > 0.0).unwrap_or(1.0 / 128.0);
            self.cloth_shape(&format!("{path}.shape"), cloth, grid_spacing);
            self.pose(&format!("{path}.pose"), &cloth.pose);
            self.finite(&format!("{path}.velocity"), &cloth.velocity, "m/s");
            self.non_negative(&format!("{path}.mass_damping"), cloth.mass_damping, "1/s");
            self.refuse_material(
                &format!("{path}.material."),
                cloth.material.on_grid(grid_spacing).out_of_range(),
            );
            if cloth.material.weave.is_some() && matches!(cloth.shape, ClothShape::Sphere { .. }) {
                let message = "a sphere is not woven: no direction is in the plane of all of its faces";
                self.problem(&format!("{path}.material.weave"), message);
            }
            if let Some(gas) = &cloth.gas {
                self.gas(&format!("{path}.gas"), cloth, gas);
            }
            for (k, pin) in cloth.pins.iter().enumerate() {
                self.pin(&format!("{path}.pins[{k}]"), cloth, pin);
            }
        }
    }

    fn cloth_shape(&mut self, path: &str, cloth: &ClothSpec, grid_spacing: f64) {
        match &cloth.shape {
            ClothShape::Rectangle { size, parts } => {
                for k in 0..2 {
                    self.positive(&format!("{path}.size[{k}]"), size[k], "m");
                    self.positive(&format!("{path}.parts[{k}]"), f64::from(parts[k]), "");
                }
            }
            ClothShape::Disc { radius, rings } => {
                self.positive(&format!("{path}.radius"), *radius, "m");
                self.positive(&format!("{path}.rings"), f64::from(*rings), "");
            }
            ClothShape::Pillow { size, parts, gap } => {
                for k in 0..2 {
                    self.positive(&format!("{path}.size[{k}]"), size[k], "m");
                    let count = f64::from(parts[k]);
                    self.number(&format!("{path}.parts[{k}]"), count, "", "must be at least 2", count >= 2.0);
                }
                if let AutoOr::Value(gap) = gap {
                    self.positive(&format!("{path}.gap"), *gap, "m");
                }
            }
            ClothShape::Sphere { radius, parts } => {
                self.positive(&format!("{path}.radius"), *radius, "m");
                self.positive(&format!("{path}.parts"), f64::from(*parts), "");
            }
            ClothShape::TShirt(measures) => {
                let shirt = measures.shirt(grid_spacing);
                match shirt.half_outline(shirt.front_neck_depth) {
                    Ok(_) => {}
                    Err(TShirtError::Measure { field, value, requirement }) => {
                        self.problem(&format!("{path}.{field}"), format!("{value} m {requirement}"));
                    }
                    Err(other) => self.problem(path, other.to_string()),
                }
            }
            ClothShape::Trousers(measures) => match measures.trousers(grid_spacing).half_outline() {
                Ok(_) => {}
                Err(TrousersError::Measure { field, value, requirement }) => {
                    self.problem(&format!("{path}.{field}"), format!("{value} m {requirement}"));
                }
                Err(other) => self.problem(path, other.to_string()),
            },
            ClothShape::Mesh { scale, .. } => self.positive(&format!("{path}.scale"), *scale, "m"),
        }
    }

    /// Files are not opened here: whether a mesh is closed is seen when it is built.
    fn gas(&mut self, path: &str, cloth: &ClothSpec, gas: &ClothGas) {
        self.refuse_material(&format!("{path}."), gas.gas().out_of_range());
        if !matches!(
            cloth.shape,
            ClothShape::Pillow { .. } | ClothShape::Sphere { .. } | ClothShape::Mesh { .. }
        ) {
            self.problem(path, "only a closed cloth holds gas: a pillow, a sphere or a closed mesh");
        }
    }

    /// The path of a pin, of cloth or a rope.
    pub(super) fn pin_keyframes(&mut self, path: &str, keyframes: &[PinKeyframe]) {
        if !keyframes.is_empty() {
            self.times(path, keyframes.iter().map(|key| key.time));
        }
        for (k, key) in keyframes.iter().enumerate() {
            let path = format!("{path}.keyframes[{k}].displacement");
            self.finite(&path, &key.displacement, "m");
            if k == 0 && key.displacement != [0.0; 3] {
                let message =
                    format!("{:?} m must be zero, since the vertex is there until then", key.displacement);
                self.problem(&path, message);
            }
        }
    }

    fn pin(&mut self, path: &str, cloth: &ClothSpec, pin: &ClothPin) {
        match pin.at {
            PinPlace::Corner { .. } | PinPlace::Edge { .. }
                if !matches!(cloth.shape, ClothShape::Rectangle { .. }) =>
            {
                self.problem(&format!("{path}.at"), "only a rectangle has corners and edges");
            }
            PinPlace::Nearest { point } => self.finite(&format!("{path}.at.point"), &point, "m"),
            PinPlace::Corner { .. } | PinPlace::Edge { .. } | PinPlace::Vertex { .. } => {}
        }
        self.pin_keyframes(path, &pin.keyframes);
        if let Some(release) = pin.release {
            self.non_negative(&format!("{path}.release"), release, "s");
        }
    }
}
