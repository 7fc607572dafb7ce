//! Rigid bodies: motion, mass, geometries.

use std::collections::BTreeSet;

use super::Check;
use super::names::Names;
use crate::format::{Adhesion, BodySpec, Dynamic, Geometry, JointSpec, Motion, RigidShape, Scene};

impl Check {
    pub(super) fn bodies(&mut self, scene: &Scene, names: &Names) {
        let mut taken = BTreeSet::new();
        for (at, body) in scene.bodies.iter().enumerate() {
            let path = format!("bodies[{at}]");
            if let Motion::Dynamic(dynamic) = &body.motion {
                self.dynamic(&format!("{path}.motion"), dynamic, &body.geometries);
                if let Some(parent) = &dynamic.parent
                    && let Err(message) = names.parent(parent, at)
                {
                    self.problem(&format!("{path}.motion.parent"), message);
                }
            }
            self.body(&path, body);
            self.unique(&path, "body", &mut taken, &body.name);
            if let Some((robot, _)) = body.name.split_once('/')
                && names.is_robot(robot)
            {
                let message =
                    format!("the name '{}' is also that of a link of the robot '{robot}'", body.name);
                self.problem(&format!("{path}.name"), message);
            }
        }
    }

    fn body(&mut self, path: &str, body: &BodySpec) {
        let motion = format!("{path}.motion");
        match &body.motion {
            Motion::Fixed { pose } => self.pose(&format!("{motion}.pose"), pose),
            Motion::PrescribedPoses { keyframes } => {
                self.times(&motion, keyframes.iter().map(|k| k.time));
                self.poses(&format!("{motion}.keyframes"), keyframes);
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
                    "a half-space has no finite mass: only fixed and prescribed bodies may have one",
                );
            }
        }
    }

    fn dynamic(&mut self, path: &str, dynamic: &Dynamic, geometries: &[Geometry]) {
        self.pose(&format!("{path}.pose"), &dynamic.pose);
        self.joint(&format!("{path}.joint"), &dynamic.joint);
        self.mass(path, dynamic, geometries);
        let free = matches!(dynamic.joint, JointSpec::Free {});
        for (name, value, unit) in
            [("velocity", dynamic.velocity, "m/s"), ("angular_velocity", dynamic.angular_velocity, "rad/s")]
        {
            self.finite(&format!("{path}.{name}"), &value, unit);
        }
        if free && dynamic.parent.is_some() {
            self.problem(&format!("{path}.parent"), "a free joint has no parent: remove the parent");
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
                        self.problem(
                            &format!("{path}.{name}"),
                            "is only allowed with mass; density already determines it",
                        );
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
                "is required: there are no geometries to compute it from",
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
                        "{inertia:?} kg m^2 is not physical: one moment exceeds the sum of the other two"
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
        if let Some(at_rest) = geometry.static_friction {
            let law = format!("must be at least friction, {}", geometry.friction);
            let holds = at_rest >= geometry.friction;
            self.number(&format!("{path}.static_friction"), at_rest, "", &law, holds);
        }
        if let Some(stiffness) = geometry.stiffness {
            self.positive(&format!("{path}.stiffness"), stiffness, "N/m");
        }
        if let Some(dissipation) = geometry.dissipation {
            self.non_negative(&format!("{path}.dissipation"), dissipation, "s/m");
        }
        self.restitution(&format!("{path}.restitution"), geometry.restitution);
        self.non_negative(&format!("{path}.torsional_friction"), geometry.torsional_friction, "m");
        self.non_negative(&format!("{path}.rolling_friction"), geometry.rolling_friction, "m");
        let adhesion = geometry.adhesion.iter().flat_map(Adhesion::out_of_range);
        self.refuse(&format!("{path}."), geometry.impedance.out_of_range().chain(adhesion));
        self.rigid_shape(&format!("{path}.shape"), &geometry.shape);
    }

    fn rigid_shape(&mut self, path: &str, shape: &RigidShape) {
        match shape {
            RigidShape::HalfSpace {} => {}
            RigidShape::Box { half_extents } => {
                self.positives(&format!("{path}.half_extents"), half_extents, "m")
            }
            RigidShape::Sphere { radius } => self.positive(&format!("{path}.radius"), *radius, "m"),
            RigidShape::Capsule { radius, half_length } | RigidShape::Cylinder { radius, half_length } => {
                self.positive(&format!("{path}.radius"), *radius, "m");
                self.positive(&format!("{path}.half_length"), *half_length, "m");
            }
            RigidShape::Ellipsoid { half_axes } => {
                self.positives(&format!("{path}.half_axes"), half_axes, "m")
            }
            RigidShape::HeightField { heights, spacing, depth } => {
                self.positives(&format!("{path}.spacing"), spacing, "m");
                self.positive(&format!("{path}.depth"), *depth, "m");
                self.heights(&format!("{path}.heights"), heights);
            }
            RigidShape::ConvexHull { points } => {
                if points.len() < 4 {
                    self.problem(
                        &format!("{path}.points"),
                        format!("{} points span no volume; at least 4 are needed", points.len()),
                    );
                }
                for (at, point) in points.iter().enumerate() {
                    self.finite(&format!("{path}.points[{at}]"), point, "m");
                }
            }
            RigidShape::Mesh { scale, .. } => self.positive(&format!("{path}.scale"), *scale, "m"),
        }
    }

    fn heights(&mut self, path: &str, heights: &[Vec<f64>]) {
        let columns = heights.first().map_or(0, Vec::len);
        if heights.len() < 2 || columns < 2 {
            let rows = heights.len();
            self.problem(
                path,
                format!("{rows} rows of {columns} heights are too few; at least 2 rows of 2 are needed"),
            );
        }
        for (at, row) in heights.iter().enumerate() {
            let path = format!("{path}[{at}]");
            if row.len() != columns {
                self.problem(
                    &path,
                    format!("{} heights; every row must have as many as the first, {columns}", row.len()),
                );
            }
            self.finite(&path, row, "m");
        }
    }
}
