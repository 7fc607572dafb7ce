//! Soft bodies and their materials.

use std::collections::BTreeSet;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use super::Check;
use crate::format::{AutoOr, Material, MaterialRef, Scene, SoftBodySpec, SoftShape};

impl Check {
    pub(super) fn material(&mut self, path: &str, material: &Material) {
        let (density, youngs_modulus, poissons_ratio) = material.elastic_figures();
        self.positive(&format!("{path}.density"), density, "kg/m^3");
        self.positive(&format!("{path}.youngs_modulus"), youngs_modulus, "Pa");
        self.number(
            &format!("{path}.poissons_ratio"),
            poissons_ratio,
            "",
            "must be in (-1, 0.5)",
            poissons_ratio > -1.0 && poissons_ratio < 0.5,
        );
        match *material {
            Material::VonMises { yield_stress, .. } => {
                self.positive(&format!("{path}.yield_stress"), yield_stress, "Pa");
            }
            Material::DruckerPrager { friction_angle, .. } => self.number(
                &format!("{path}.friction_angle"),
                friction_angle,
                "rad",
                "must be in (0, pi/2)",
                friction_angle > 0.0 && friction_angle < FRAC_PI_2,
            ),
            Material::Granular {
                friction_angle: slow,
                fast_friction_angle: fast,
                inertial_number,
                grain_diameter,
                grain_density,
                ..
            } => {
                let path = |field: &str| format!("{path}.{field}");
                let holds = slow > 0.0 && slow < FRAC_PI_4;
                self.number(&path("friction_angle"), slow, "rad", "must be in (0, pi/4)", holds);
                if let Some(fast) = fast {
                    let holds = fast >= slow && fast < FRAC_PI_4;
                    let must = "must be from friction_angle to below pi/4";
                    self.number(&path("fast_friction_angle"), fast, "rad", must, holds);
                }
                self.positive(&path("inertial_number"), inertial_number, "");
                self.positive(&path("grain_diameter"), grain_diameter, "m");
                self.positive(&path("grain_density"), grain_density, "kg/m^3");
            }
            _ => {}
        }
    }

    pub(super) fn soft(&mut self, scene: &Scene) {
        let mut names = BTreeSet::new();
        for (at, soft) in scene.soft.iter().enumerate() {
            let path = format!("soft[{at}]");
            if !names.insert(soft.name.as_str()) {
                self.problem(
                    &format!("{path}.name"),
                    format!("the name '{}' is used by another soft body", soft.name),
                );
            }
            self.soft_shape(&format!("{path}.shape"), &soft.shape);
            self.pose(&format!("{path}.pose"), &soft.pose);
            self.finite(&format!("{path}.velocity"), &soft.velocity, "m/s");
            self.finite(&format!("{path}.angular_velocity"), &soft.angular_velocity, "rad/s");
            self.soft_material(&path, soft, scene);
            if let AutoOr::Value(spacing) = soft.sampling.spacing {
                let path = format!("{path}.sampling.spacing");
                self.positive(&path, spacing, "m");
                // With less than one particle per cell the grid has holes: numerical fracture.
                if let Some(grid) = scene.grid_spacing
                    && spacing > grid
                {
                    self.problem(&path, format!("{spacing} m must be at most grid_spacing, {grid} m"));
                }
            }
            if let Some(counts) = soft.sampling.counts {
                let path = format!("{path}.sampling.counts");
                if soft.sampling.spacing != AutoOr::Auto {
                    self.problem(&path, "give counts or a spacing, not both");
                }
                if counts.contains(&0) {
                    self.problem(&path, format!("{counts:?}: each count must be positive"));
                }
            }
            let jitter = soft.sampling.jitter;
            let path = format!("{path}.sampling.jitter");
            self.number(&path, jitter, "", "must be in [0, 1]", (0.0..=1.0).contains(&jitter));
        }
    }

    fn soft_shape(&mut self, path: &str, shape: &SoftShape) {
        match shape {
            SoftShape::Box { half_extents } => {
                self.positives(&format!("{path}.half_extents"), half_extents, "m")
            }
            SoftShape::Sphere { radius } => self.positive(&format!("{path}.radius"), *radius, "m"),
            SoftShape::Cylinder { radius, half_length } => {
                self.positive(&format!("{path}.radius"), *radius, "m");
                self.positive(&format!("{path}.half_length"), *half_length, "m");
            }
            SoftShape::Mesh { scale, .. } => self.positive(&format!("{path}.scale"), *scale, "m"),
        }
    }

    fn soft_material(&mut self, path: &str, soft: &SoftBodySpec, scene: &Scene) {
        match &soft.material {
            MaterialRef::Inline(material) => self.material(&format!("{path}.material"), material),
            MaterialRef::Named(name) if !scene.materials.contains_key(name) => {
                let known: Vec<_> = scene.materials.keys().map(String::as_str).collect();
                self.problem(
                    &format!("{path}.material"),
                    format!("'{name}' is not one of the materials [{}]", known.join(", ")),
                );
            }
            MaterialRef::Named(_) => {}
        }
    }
}
