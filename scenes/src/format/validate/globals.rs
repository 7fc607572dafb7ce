//! Fields of the scene as a whole: steps, solver, contact, boundaries, output.

use std::f64::consts::PI;

use super::Check;
use crate::format::{
    AutoOr, BoundaryKind, ComFreeSettings, Form, Gains, Integrator, Order, Rigid, RigidSolver,
    SCHEMA_VERSION, Scene,
};

impl Check {
    pub(super) fn globals(&mut self, scene: &Scene) {
        if scene.schema_version != SCHEMA_VERSION {
            self.problem(
                "schema_version",
                format!(
                    "version {} is not supported; this program reads version {SCHEMA_VERSION}",
                    scene.schema_version
                ),
            );
        }
        self.file_name("name", &scene.name);
        self.positive("duration", scene.duration, "s");
        self.positive("dt", scene.dt, "s");
        if scene.dt > scene.duration && scene.duration > 0.0 && scene.dt.is_finite() {
            let message = format!("{} s must be at most duration, {} s", scene.dt, scene.duration);
            self.problem("dt", message);
        }
        if let AutoOr::Value(0) = scene.substeps {
            self.problem("substeps", "0 must be positive, or \"auto\"");
        }
        self.finite("gravity", &scene.gravity, "m/s^2");
        match scene.grid_spacing {
            Some(spacing) => self.positive("grid_spacing", spacing, "m"),
            None if scene.soft.is_empty() && scene.cloths.is_empty() && scene.ropes.is_empty() => {}
            None if scene.ropes.is_empty() => {
                self.problem("grid_spacing", "null: soft bodies and cloths need the spacing of a grid [m]")
            }
            None => self.problem("grid_spacing", "null: ropes need the spacing of a grid [m]"),
        }
        if scene.soft.is_empty()
            && scene.cloths.is_empty()
            && scene.ropes.is_empty()
            && scene.bodies.is_empty()
            && scene.robots.is_empty()
        {
            self.problem("soft", "[] and no cloths, bodies or robots: there is nothing to simulate");
        }
        self.rigid(&scene.rigid, scene.dt);
        self.comfree(scene);
        self.refuse("", scene.contact.out_of_range());
        if let (AutoOr::Value(radius), Some(grid)) = (scene.contact.particle_radius, scene.grid_spacing)
            && radius > grid
        {
            let message = format!("{radius} m must be at most grid_spacing, {grid} m");
            self.problem("contact.particle_radius", message);
        }
        self.positive("solver.relative_tolerance", scene.solver.relative_tolerance, "");
        self.non_negative("solver.absolute_tolerance", scene.solver.absolute_tolerance, "sqrt(J)");
        if let Some(gain) = scene.limits.energy_gain {
            self.positive("limits.energy_gain", gain, "");
        }
        if let Some(time) = scene.limits.wall_time {
            self.positive("limits.wall_time", time, "s");
        }
        for (path, value) in [
            ("solver.max_iterations", scene.solver.max_iterations),
            ("solver.max_inner_iterations", scene.solver.max_inner_iterations),
        ] {
            if value == 0 {
                self.problem(path, "0 must be positive");
            }
        }
    }

    fn rigid(&mut self, rigid: &Rigid, dt: f64) {
        match rigid.integrator {
            Integrator::Fixed { step } | Integrator::Trapezoid { step } => {
                if let Some(step) = step {
                    self.positive("rigid.integrator.step", step, "s");
                    if step > dt {
                        let message = format!("{step} s must be at most dt, {dt} s");
                        self.problem("rigid.integrator.step", message);
                    } else if step > 0.0 && ((dt / step).round() * step - dt).abs() > 1e-6 * dt {
                        let (fits, steps) = (dt / (dt / step).ceil(), (dt / step).ceil());
                        let message =
                            format!("{step} s must divide dt, {dt} s; {steps} steps of {fits} s do");
                        self.problem("rigid.integrator.step", message);
                    }
                }
            }
            Integrator::ErrorControlled { accuracy, max_step, .. } => {
                self.positive("rigid.integrator.accuracy", accuracy, "rad or m");
                self.positive("rigid.integrator.max_step", max_step, "s");
            }
        }
        self.positive("rigid.stiffness", rigid.stiffness, "N/m");
        self.non_negative("rigid.dissipation", rigid.dissipation, "s/m");
        self.restitution("rigid.restitution", rigid.restitution);
        self.positive("rigid.stiction_tolerance", rigid.stiction_tolerance, "m/s");
    }

    pub(super) fn restitution(&mut self, path: &str, restitution: Option<f64>) {
        if let Some(e) = restitution {
            self.number(path, e, "", "must be in [0, 1]", (0.0..=1.0).contains(&e));
        }
    }

    fn comfree(&mut self, scene: &Scene) {
        let ComFreeSettings { form, gains, .. } = scene.rigid.comfree;
        self.refuse("rigid.comfree.", scene.rigid.comfree.out_of_range());
        if scene.rigid_solver == RigidSolver::Icf {
            return;
        }
        match (scene.rigid.integrator, form, gains) {
            (Integrator::Trapezoid { .. }, ..) => {
                let message = "\"trapezoid\" needs a second-order corrector, which rigid_solver \
                               \"comfree\" does not have";
                self.problem("rigid.integrator.type", message);
            }
            (Integrator::ErrorControlled { order: Some(Order::Second), .. }, ..) => {
                let message = "\"second\" needs a corrector, which rigid_solver \"comfree\" does not have";
                self.problem("rigid.integrator.order", message);
            }
            (Integrator::ErrorControlled { .. }, Form::Published, _)
            | (Integrator::ErrorControlled { .. }, _, Gains::PerStep { .. }) => {
                let message = "\"error-controlled\" with rigid_solver \"comfree\" needs the predicted form and physical gains";
                self.problem("rigid.integrator.type", message);
            }
            _ => {}
        }
    }

    pub(super) fn boundaries(&mut self, scene: &Scene) {
        for (at, boundary) in scene.boundaries.iter().enumerate() {
            let path = format!("boundaries[{at}]");
            self.finite(&format!("{path}.point"), &boundary.point, "m");
            self.direction(&format!("{path}.normal"), &boundary.normal);
            if let BoundaryKind::Frictional { friction } = boundary.kind {
                self.non_negative(&format!("{path}.kind.friction"), friction, "");
            }
        }
    }

    /// Names in `allow_overlap` must exist.
    pub(super) fn allowed_overlaps(&mut self, scene: &Scene) {
        let soft = scene.soft.iter().map(|soft| &soft.name);
        let cloths = scene.cloths.iter().map(|cloth| &cloth.name);
        let ropes = scene.ropes.iter().map(|rope| &rope.name);
        let bodies = scene.bodies.iter().map(|body| &body.name);
        let robots = scene.robots.iter().map(|robot| &robot.name);
        let known: Vec<&String> = soft.chain(cloths).chain(ropes).chain(bodies).chain(robots).collect();
        for (at, name) in scene.allow_overlap.iter().enumerate() {
            if !known.contains(&name) {
                let message = format!("'{name}' is no soft body, cloth, rope, body or robot of the scene");
                self.problem(&format!("allow_overlap[{at}]"), message);
            }
        }
    }

    pub(super) fn output(&mut self, scene: &Scene) {
        let output = &scene.output;
        self.positive("output.frame_interval", output.frame_interval, "s");
        for (at, &size) in output.picture_size.iter().enumerate() {
            if size < 16 {
                self.problem(&format!("output.picture_size[{at}]"), format!("{size} px must be at least 16"));
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
