//! Soft bodies and their materials.

use std::collections::BTreeSet;

use super::Check;
use crate::format::{AutoOr, Material, MaterialRef, Scene, SoftBodySpec, SoftShape};

impl Check {
    pub(super) fn material(&mut self, path: &str, material: &Material) {
        self.refuse_material(&format!("{path}."), material.particle_material().out_of_range());
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
            self.non_negative(&format!("{path}.mass_damping"), soft.mass_damping, "1/s");
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
