//! Sizes that follow from several fields: particles, bodies, steps, memory. Nothing is built.

use super::Check;
use crate::estimate::{
    Estimate, body_count, cloth_particles, frame_count, particle_spacing, rigid_steps, rope_particles,
    sample_interval, soft_particles, step_count,
};
use crate::format::limits::{
    MOST_BINS, MOST_BODIES, MOST_FRAMES, MOST_HEIGHTS, MOST_PARTICLES, MOST_SAMPLES,
};
use crate::format::{
    AutoOr, ClothShape, Integrator, Limits, RigidShape, Scene, Sensor, SoftBodySpec, TShirtMeasures,
    TrousersMeasures,
};
use crate::machine_memory::machine_memory;

/// What a field of a scene gives particles to.
struct Part {
    path: String,
    /// How the field gives them.
    from: String,
    particles: f64,
}

impl Check {
    /// All sizes of a scene whose fields are in range.
    pub(super) fn sizes(&mut self, scene: &Scene) {
        for part in parts(scene) {
            if part.particles > f64::from(MOST_PARTICLES) {
                self.most_particles(&part.path, &part.from, part.particles);
            }
        }
        for (body, described) in scene.bodies.iter().enumerate() {
            for (at, geometry) in described.geometries.iter().enumerate() {
                if let RigidShape::HeightField { heights, .. } = &geometry.shape {
                    let count: usize = heights.iter().map(Vec::len).sum();
                    if count > MOST_HEIGHTS as usize {
                        let path = format!("bodies[{body}].geometries[{at}].shape.heights");
                        self.problem(&path, format!("{count} heights; at most {MOST_HEIGHTS} are allowed"));
                    }
                }
            }
        }
        let bodies = body_count(scene);
        if bodies > f64::from(MOST_BODIES) {
            let count = scene.copies.map_or(1, |copies| copies.count);
            let message =
                format!("{count} makes {bodies} bodies; at most {MOST_BODIES} are allowed in a scene");
            self.problem("copies.count", message);
        }
        let mut bins = 0;
        for (at, Sensor::TactilePad(pad)) in scene.sensors.iter().enumerate() {
            bins += u64::from(pad.bins[0]) * u64::from(pad.bins[1]);
            if bins > u64::from(MOST_BINS) {
                let message = format!(
                    "{:?} makes {bins} bins of this pad and those before it; at most {MOST_BINS} are allowed",
                    pad.bins
                );
                self.problem(&format!("sensors[{at}].bins"), message);
                break;
            }
        }
        for (task, described) in scene.tasks.iter().enumerate() {
            let Some(last) = described.waypoints.last() else { continue };
            let samples = last.time / sample_interval(scene.dt);
            if samples > f64::from(MOST_SAMPLES) {
                let path = format!("tasks[{task}].waypoints[{}].time", described.waypoints.len() - 1);
                let message = format!(
                    "{} s makes {samples:.3e} samples of the path; at most {MOST_SAMPLES} are allowed",
                    last.time
                );
                self.problem(&path, message);
            }
        }
        if self.problems.is_empty() {
            self.estimate(scene, &Estimate::of(scene));
        }
    }

    fn most_particles(&mut self, path: &str, from: &str, particles: f64) {
        let message = format!("{from} makes {}; at most {MOST_PARTICLES} are allowed", count(particles));
        self.problem(path, message);
    }

    /// An estimate against the limits of its scene and the memory of the machine.
    pub(super) fn estimate(&mut self, scene: &Scene, estimate: &Estimate) {
        let Limits { steps, substeps, rigid_steps: of_bodies, .. } = scene.limits;
        let (dt, duration) = (scene.dt, scene.duration);
        let all = step_count(scene);
        if all > steps as f64 {
            let message = format!(
                "{dt} s makes {all:.0} steps of {duration} s; at most limits.steps, {steps}, are allowed"
            );
            self.problem("dt", message);
        }
        let frames = frame_count(scene);
        if frames > f64::from(MOST_FRAMES) {
            let interval = scene.output.frame_interval;
            let message = format!("{interval} s makes {frames:.0} frames; at most {MOST_FRAMES} are allowed");
            self.problem("output.frame_interval", message);
        }
        let rigid = rigid_steps(scene);
        if rigid > of_bodies as f64 {
            let (field, step) = match scene.rigid.integrator {
                Integrator::Fixed { step } | Integrator::Trapezoid { step } => ("step", step.unwrap_or(dt)),
                Integrator::ErrorControlled { max_step, .. } => ("max_step", max_step),
            };
            let message = format!(
                "{step} s makes {rigid:.3e} steps of the bodies; at most limits.rigid_steps, {of_bodies}, are allowed"
            );
            self.problem(&format!("rigid.integrator.{field}"), message);
        }
        if estimate.substeps > substeps {
            let per_step = estimate.substeps_per_step;
            let (all, limit) =
                (estimate.substeps, format!("at most limits.substeps, {substeps}, are allowed"));
            let message = match scene.substeps {
                AutoOr::Value(_) => format!("{per_step} of a step make {all} in all; {limit}"),
                AutoOr::Auto => format!(
                    "\"auto\" needs {per_step} of a step of {dt} s to be stable, which makes {all} in all; \
                     {limit}: use a larger grid_spacing, softer or denser materials, or a shorter duration"
                ),
            };
            self.problem("substeps", message);
        }
        self.particles_and_memory(scene, estimate);
        if let Some(most) = scene.limits.wall_time
            && estimate.predicted_wall_time > most
        {
            let (predicted, threads) = (estimate.predicted_wall_time, estimate.threads);
            let message =
                format!("{most} s is less than the {predicted:.0} s that are predicted on {threads} threads");
            self.problem("limits.wall_time", message);
        }
    }

    fn particles_and_memory(&mut self, scene: &Scene, estimate: &Estimate) {
        let parts = parts(scene);
        let largest = parts.iter().max_by(|a, b| a.particles.total_cmp(&b.particles));
        let (path, from) =
            largest.map_or(("bodies", "the scene".to_owned()), |part| (&part.path, part.from.clone()));
        if estimate.particles > u64::from(MOST_PARTICLES) {
            return self.most_particles(
                path,
                "the whole scene, of which this is the largest part,",
                estimate.particles as f64,
            );
        }
        let needed = estimate.memory;
        let megabytes = |bytes: u64| format!("{:.0} MB", bytes as f64 / 1e6);
        let of_scene = scene.limits.memory.filter(|most| needed > *most);
        if let Some(most) = of_scene {
            let message = format!(
                "{} is less than the {} that the run is estimated to need, most of it for {path}: {from}",
                megabytes(most),
                megabytes(needed)
            );
            self.problem("limits.memory", message);
        } else if let Some(most) = machine_memory().filter(|most| needed > *most) {
            let message = format!(
                "{from} brings the run to an estimated {} of memory; this machine has {}",
                megabytes(needed),
                megabytes(most)
            );
            self.problem(path, message);
        }
    }
}

/// What of a scene becomes particles, as far as it is known without a file.
fn parts(scene: &Scene) -> Vec<Part> {
    let soft = scene.soft.iter().enumerate().filter_map(|(at, soft)| {
        let (field, from) = sampling(scene, soft);
        Some(Part { path: format!("soft[{at}].{field}"), from, particles: soft_particles(scene, soft)? })
    });
    let cloths = scene.cloths.iter().enumerate().filter_map(|(at, cloth)| {
        let (field, from) = match &cloth.shape {
            ClothShape::Rectangle { parts, .. } => ("parts", format!("{parts:?}")),
            ClothShape::Pillow { parts, .. } => ("parts", format!("{parts:?}")),
            ClothShape::Sphere { parts, .. } => ("parts", parts.to_string()),
            ClothShape::Disc { rings, .. } => ("rings", rings.to_string()),
            ClothShape::TShirt(TShirtMeasures { spacing, .. })
            | ClothShape::Trousers(TrousersMeasures { spacing, .. }) => match spacing {
                AutoOr::Value(spacing) => ("spacing", format!("{spacing} m")),
                AutoOr::Auto => ("spacing", "\"auto\"".to_owned()),
            },
            ClothShape::Mesh { .. } => return None,
        };
        let particles = cloth_particles(scene, cloth)?;
        Some(Part { path: format!("cloths[{at}].shape.{field}"), from, particles })
    });
    let ropes = scene.ropes.iter().enumerate().map(|(at, rope)| {
        let from = match rope.segments {
            AutoOr::Value(segments) => segments.to_string(),
            AutoOr::Auto => "\"auto\"".to_owned(),
        };
        Part { path: format!("ropes[{at}].segments"), from, particles: rope_particles(scene, rope) }
    });
    soft.chain(cloths).chain(ropes).collect()
}

/// The field that says how many particles a soft body has, and its value.
fn sampling(scene: &Scene, soft: &SoftBodySpec) -> (&'static str, String) {
    match (soft.sampling.counts, soft.sampling.spacing) {
        (Some(counts), _) => ("sampling.counts", format!("{counts:?}")),
        (None, AutoOr::Value(spacing)) => ("sampling.spacing", format!("{spacing} m")),
        (None, AutoOr::Auto) => {
            let spacing = particle_spacing(scene, soft);
            ("shape", format!("its size at a spacing of {spacing} m, half of grid_spacing,"))
        }
    }
}

fn count(particles: f64) -> String {
    format!("{particles:.3e} particles")
}
