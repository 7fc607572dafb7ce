//! The figures of a scene: every problem is collected, each with the field's path, the value and its unit.

use std::collections::BTreeSet;
use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt;

use super::{
    AutoOr, Body, BoundaryKind, Dynamic, Geometry, Joint, Material, MaterialRef, Motion, Pose, RigidShape,
    SCHEMA_VERSION, Scene, Soft, SoftShape,
};

/// One thing that is wrong with a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Path of the field, such as `soft[0].material.density`.
    pub path: String,
    /// The value, its unit and what it must be.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Everything that is wrong with a scene; at least one problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ValidationError {
    /// The problems, in the order of the scene's fields.
    pub problems: Vec<Problem>,
}

/// Checks every figure of a scene. Files of meshes are not opened here.
///
/// # Errors
/// All problems at once.
pub fn validate(scene: &Scene) -> Result<(), ValidationError> {
    let mut check = Check { problems: Vec::new() };
    check.globals(scene);
    check.boundaries(scene);
    for (name, material) in &scene.materials {
        check.material(&format!("materials.{name}"), material);
    }
    check.soft(scene);
    check.bodies(scene);
    check.output(scene);
    if check.problems.is_empty() { Ok(()) } else { Err(ValidationError { problems: check.problems }) }
}

struct Check {
    problems: Vec<Problem>,
}

impl Check {
    fn problem(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(Problem { path: path.to_owned(), message: message.into() });
    }

    /// One number; `unit` may be empty.
    fn number(&mut self, path: &str, value: f64, unit: &str, law: &str, holds: bool) {
        if !(value.is_finite() && holds) {
            let space = if unit.is_empty() { "" } else { " " };
            let law = if value.is_finite() { law } else { "must be finite" };
            self.problem(path, format!("{value}{space}{unit} {law}"));
        }
    }

    fn positive(&mut self, path: &str, value: f64, unit: &str) {
        self.number(path, value, unit, "must be positive", value > 0.0);
    }

    fn non_negative(&mut self, path: &str, value: f64, unit: &str) {
        self.number(path, value, unit, "must not be negative", value >= 0.0);
    }

    fn positives(&mut self, path: &str, values: &[f64], unit: &str) {
        for (at, &value) in values.iter().enumerate() {
            self.positive(&format!("{path}[{at}]"), value, unit);
        }
    }

    fn finite(&mut self, path: &str, values: &[f64], unit: &str) {
        for (at, &value) in values.iter().enumerate() {
            self.number(&format!("{path}[{at}]"), value, unit, "must be finite", true);
        }
    }

    fn direction(&mut self, path: &str, value: &[f64; 3]) {
        self.finite(path, value, "");
        if value.iter().all(|x| *x == 0.0) {
            self.problem(path, "[0, 0, 0] is no direction");
        }
    }

    fn orientation(&mut self, path: &str, value: &[f64; 4]) {
        let norm = value.iter().map(|x| x * x).sum::<f64>().sqrt();
        // Four figures written with three decimals are off by less than this.
        if !norm.is_finite() || (norm - 1.0).abs() > 1e-2 {
            self.problem(
                path,
                format!("{value:?} has norm {norm}; a quaternion (w, x, y, z) must have norm 1"),
            );
        }
    }

    fn pose(&mut self, path: &str, pose: &Pose) {
        self.finite(&format!("{path}.position"), &pose.position, "m");
        self.orientation(&format!("{path}.orientation"), &pose.orientation);
    }

    fn globals(&mut self, scene: &Scene) {
        if scene.schema_version != SCHEMA_VERSION {
            self.problem(
                "schema_version",
                format!(
                    "{} is not a version that this program reads; it reads {SCHEMA_VERSION}",
                    scene.schema_version
                ),
            );
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if scene.name.is_empty() || !scene.name.chars().all(plain) || scene.name.starts_with('.') {
            self.problem(
                "name",
                format!("'{}' must be letters, digits, '-', '_' and '.', and not begin with '.'", scene.name),
            );
        }
        self.positive("duration", scene.duration, "s");
        self.positive("dt", scene.dt, "s");
        if let AutoOr::Value(0) = scene.substeps {
            self.problem("substeps", "0 must be positive, or \"auto\"");
        }
        self.finite("gravity", &scene.gravity, "m/s^2");
        self.positive("grid_spacing", scene.grid_spacing, "m");
        if let AutoOr::Value(stiffness) = scene.contact.stiffness {
            self.positive("contact.stiffness", stiffness, "N/m");
        }
        self.non_negative("contact.dissipation", scene.contact.dissipation, "s/m");
        self.positive("contact.stiction_tolerance", scene.contact.stiction_tolerance, "m/s");
        if let AutoOr::Value(radius) = scene.contact.particle_radius {
            self.non_negative("contact.particle_radius", radius, "m");
        }
        self.positive("solver.relative_tolerance", scene.solver.relative_tolerance, "");
        self.non_negative("solver.absolute_tolerance", scene.solver.absolute_tolerance, "sqrt(J)");
        for (path, value) in [
            ("solver.max_iterations", scene.solver.max_iterations),
            ("solver.max_inner_iterations", scene.solver.max_inner_iterations),
        ] {
            if value == 0 {
                self.problem(path, "0 must be positive");
            }
        }
    }

    fn boundaries(&mut self, scene: &Scene) {
        for (at, boundary) in scene.boundaries.iter().enumerate() {
            let path = format!("boundaries[{at}]");
            self.finite(&format!("{path}.point"), &boundary.point, "m");
            self.direction(&format!("{path}.normal"), &boundary.normal);
            if let BoundaryKind::Frictional { friction } = boundary.kind {
                self.non_negative(&format!("{path}.kind.friction"), friction, "");
            }
        }
    }

    fn material(&mut self, path: &str, material: &Material) {
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
            _ => {}
        }
    }

    fn soft(&mut self, scene: &Scene) {
        if scene.soft.is_empty() {
            self.problem("soft", "[] has no particles: at least one soft body is needed");
        }
        let mut names = BTreeSet::new();
        for (at, soft) in scene.soft.iter().enumerate() {
            let path = format!("soft[{at}]");
            if !names.insert(soft.name.as_str()) {
                self.problem(
                    &format!("{path}.name"),
                    format!("'{}' is taken by another soft body", soft.name),
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
                // Fewer than one particle a cell leaves holes that the grid sees: numerical fracture.
                if spacing > scene.grid_spacing {
                    self.problem(
                        &path,
                        format!("{spacing} m must be at most grid_spacing, {} m", scene.grid_spacing),
                    );
                }
            }
            if let Some(counts) = soft.sampling.counts {
                let path = format!("{path}.sampling.counts");
                if soft.sampling.spacing != AutoOr::Auto {
                    self.problem(&path, "give counts or a spacing, not both");
                }
                if counts.contains(&0) {
                    self.problem(
                        &path,
                        format!("{counts:?} makes no particles: each count must be positive"),
                    );
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

    fn soft_material(&mut self, path: &str, soft: &Soft, scene: &Scene) {
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

    fn bodies(&mut self, scene: &Scene) {
        let (mut names, mut parents) = (BTreeSet::new(), BTreeSet::new());
        for (at, body) in scene.bodies.iter().enumerate() {
            let path = format!("bodies[{at}]");
            if let Motion::Dynamic(dynamic) = &body.motion {
                self.dynamic(&format!("{path}.motion"), dynamic, &body.geometries);
                if let Some(parent) = &dynamic.parent
                    && !parents.contains(parent.as_str())
                {
                    self.problem(
                        &format!("{path}.motion.parent"),
                        format!(
                            "'{parent}' is not the name of a fixed or prescribed body listed before this one"
                        ),
                    );
                }
            }
            self.body(&path, body);
            if !matches!(body.motion, Motion::Dynamic(_)) {
                parents.insert(body.name.as_str());
            }
            if !names.insert(body.name.as_str()) {
                self.problem(&format!("{path}.name"), format!("'{}' is taken by another body", body.name));
            }
        }
    }

    fn body(&mut self, path: &str, body: &Body) {
        let motion = format!("{path}.motion");
        match &body.motion {
            Motion::Fixed { pose } => self.pose(&format!("{motion}.pose"), pose),
            Motion::PrescribedPoses { keyframes } => {
                self.times(&motion, keyframes.iter().map(|k| k.time));
                for (at, keyframe) in keyframes.iter().enumerate() {
                    let path = format!("{motion}.keyframes[{at}]");
                    self.finite(&format!("{path}.position"), &keyframe.position, "m");
                    self.orientation(&format!("{path}.orientation"), &keyframe.orientation);
                }
            }
            Motion::PrescribedVelocities { pose, keyframes } => {
                self.pose(&format!("{motion}.pose"), pose);
                self.times(&motion, keyframes.iter().map(|k| k.time));
                for (at, keyframe) in keyframes.iter().enumerate() {
                    let path = format!("{motion}.keyframes[{at}]");
                    self.finite(&format!("{path}.linear"), &keyframe.linear, "m/s");
                    self.finite(&format!("{path}.angular"), &keyframe.angular, "rad/s");
                }
            }
            Motion::Dynamic(_) => {}
        }
        let moves = !matches!(body.motion, Motion::Fixed { .. });
        for (at, geometry) in body.geometries.iter().enumerate() {
            let path = format!("{path}.geometries[{at}]");
            self.geometry(&path, geometry);
            if matches!(body.motion, Motion::Dynamic(_))
                && matches!(geometry.shape, RigidShape::HalfSpace {})
                && moves
            {
                self.problem(
                    &format!("{path}.shape"),
                    "a half-space has no mass: only a fixed or prescribed body has it",
                );
            }
        }
    }

    fn times(&mut self, path: &str, times: impl Iterator<Item = f64>) {
        let times: Vec<f64> = times.collect();
        if times.is_empty() {
            self.problem(&format!("{path}.keyframes"), "[] has no keyframe: at least one is needed");
        }
        for (at, &time) in times.iter().enumerate() {
            let path = format!("{path}.keyframes[{at}].time");
            self.non_negative(&path, time, "s");
            if at > 0 && time <= times[at - 1] {
                self.problem(
                    &path,
                    format!("{time} s must be later than the keyframe before it, {} s", times[at - 1]),
                );
            }
        }
    }

    fn dynamic(&mut self, path: &str, dynamic: &Dynamic, geometries: &[Geometry]) {
        self.pose(&format!("{path}.pose"), &dynamic.pose);
        match &dynamic.joint {
            Joint::Revolute { axis, damping } => {
                self.direction(&format!("{path}.joint.axis"), axis);
                self.non_negative(&format!("{path}.joint.damping"), *damping, "N m s/rad");
            }
            Joint::Prismatic { axis, damping } => {
                self.direction(&format!("{path}.joint.axis"), axis);
                self.non_negative(&format!("{path}.joint.damping"), *damping, "N s/m");
            }
            Joint::Free {} | Joint::Fixed {} => {}
        }
        self.mass(path, dynamic, geometries);
        let free = matches!(dynamic.joint, Joint::Free {});
        for (name, value, unit) in
            [("velocity", dynamic.velocity, "m/s"), ("angular_velocity", dynamic.angular_velocity, "rad/s")]
        {
            self.finite(&format!("{path}.{name}"), &value, unit);
        }
        if free && dynamic.parent.is_some() {
            self.problem(&format!("{path}.parent"), "a free joint is on the world: leave the parent out");
        }
        self.finite(&format!("{path}.applied_force"), &dynamic.applied_force, "N");
        self.finite(&format!("{path}.applied_torque"), &dynamic.applied_torque, "N m");
    }

    fn mass(&mut self, path: &str, dynamic: &Dynamic, geometries: &[Geometry]) {
        match (dynamic.density, dynamic.mass) {
            (Some(density), None) => {
                self.positive(&format!("{path}.density"), density, "kg/m^3");
                for (name, given) in [
                    ("inertia", dynamic.inertia.is_some()),
                    ("center_of_mass", dynamic.center_of_mass.is_some()),
                ] {
                    if given {
                        self.problem(&format!("{path}.{name}"), "goes with mass; density gives it already");
                    }
                }
            }
            (None, Some(mass)) => self.positive(&format!("{path}.mass"), mass, "kg"),
            (None, None) => self.problem(path, "give mass [kg] or density [kg/m^3]"),
            (Some(_), Some(_)) => self.problem(path, "give mass [kg] or density [kg/m^3], not both"),
        }
        if geometries.is_empty() && dynamic.inertia.is_none() {
            self.problem(
                &format!("{path}.inertia"),
                "is needed where there are no geometries to take it from",
            );
        }
        if let Some(inertia) = dynamic.inertia {
            self.positives(&format!("{path}.inertia"), &inertia, "kg m^2");
            let [a, b, c] = inertia;
            // A sum of m (y^2 + z^2) and its like: no moment exceeds the other two together.
            if a + b < c * (1.0 - 1e-9) || b + c < a * (1.0 - 1e-9) || c + a < b * (1.0 - 1e-9) {
                self.problem(
                    &format!("{path}.inertia"),
                    format!(
                        "{inertia:?} kg m^2 belongs to no body: one moment exceeds the other two together"
                    ),
                );
            }
        }
        if let Some(center) = dynamic.center_of_mass {
            self.finite(&format!("{path}.center_of_mass"), &center, "m");
        }
    }

    fn geometry(&mut self, path: &str, geometry: &Geometry) {
        self.pose(&format!("{path}.pose"), &geometry.pose);
        self.non_negative(&format!("{path}.friction"), geometry.friction, "");
        let path = format!("{path}.shape");
        match &geometry.shape {
            RigidShape::HalfSpace {} => {}
            RigidShape::Box { half_extents } => {
                self.positives(&format!("{path}.half_extents"), half_extents, "m")
            }
            RigidShape::Sphere { radius } => self.positive(&format!("{path}.radius"), *radius, "m"),
            RigidShape::Capsule { radius, half_length } | RigidShape::Cylinder { radius, half_length } => {
                self.positive(&format!("{path}.radius"), *radius, "m");
                self.positive(&format!("{path}.half_length"), *half_length, "m");
            }
            RigidShape::ConvexHull { points } => {
                if points.len() < 4 {
                    self.problem(
                        &format!("{path}.points"),
                        format!("{} points span no volume: at least 4", points.len()),
                    );
                }
                for (at, point) in points.iter().enumerate() {
                    self.finite(&format!("{path}.points[{at}]"), point, "m");
                }
            }
            RigidShape::Mesh { scale, .. } => self.positive(&format!("{path}.scale"), *scale, "m"),
        }
    }

    fn output(&mut self, scene: &Scene) {
        let output = &scene.output;
        self.positive("output.frame_interval", output.frame_interval, "s");
        for (at, &size) in output.picture_size.iter().enumerate() {
            if !(16..=8192).contains(&size) {
                self.problem(
                    &format!("output.picture_size[{at}]"),
                    format!("{size} px must be in [16, 8192]"),
                );
            }
        }
        if let Some(camera) = &output.camera {
            self.finite("output.camera.position", &camera.position, "m");
            self.finite("output.camera.target", &camera.target, "m");
            if camera.position == camera.target {
                self.problem(
                    "output.camera.target",
                    format!("{:?} m must differ from the position", camera.target),
                );
            }
            let angle = camera.field_of_view;
            self.number(
                "output.camera.field_of_view",
                angle,
                "rad",
                "must be in (0, pi)",
                angle > 0.0 && angle < PI,
            );
        }
    }
}
