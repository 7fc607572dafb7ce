//! What a run will need: particles, steps, memory, wall time, from the scene alone or from its built
//! world.

use std::f64::consts::{FRAC_PI_3, PI};
use std::thread::available_parallelism;

use pliant_mpm::largest_stable_substep;
use serde::Serialize;

use crate::format::limits::MOST_PARTICLES;
use crate::format::{
    AutoOr, ClothShape, ClothSpec, Integrator, MaterialRef, RopeSpec, Scene, SoftBodySpec, SoftShape,
};

/// Memory of a particle, with what building it takes and its part of the grid \[bytes\].
const PARTICLE_BYTES: f64 = 900.0;
/// Memory of a particle that touches a body, besides: its contact and its rows in the solver
/// \[bytes\]. `benches/runs/2026-11-23-20-faults` compares the memory of runs with their estimates.
const CONTACT_BYTES: f64 = 2500.0;
/// Memory of a cell of the grid that holds material \[bytes\].
const CELL_BYTES: f64 = 200.0;
/// Memory of a body, with its contacts \[bytes\].
const BODY_BYTES: f64 = 20_000.0;
/// Memory of a pixel while a picture is drawn \[bytes\].
const PIXEL_BYTES: f64 = 80.0;
/// Pixels of a picture of the animation (half as wide and high) to those of the still, which is
/// drawn at the same time \[-\].
const ANIMATION_PIXELS: f64 = 0.25;
/// Memory of the program with a small scene \[bytes\].
const LEAST_BYTES: f64 = 30e6;
/// A particle in the file of a frame, without the extra fields \[bytes\].
const FRAME_PARTICLE_BYTES: f64 = 40.0;

/// Time of a particle in a substep on one thread, without and with bodies to touch \[s\]: one and a
/// half times what `benches/runs/2026-11-21-xeon-2core` measured of free particles, and that of its
/// scene dough-rolling.
const PARTICLE_SECONDS: [f64; 2] = [70e-9, 250e-9];
/// Time of a substep beside that of its particles \[s\].
const SUBSTEP_SECONDS: f64 = 20e-6;
/// Time of a body in a step of the bodies, of a clutter of 20 bodies there \[s\].
const BODY_SECONDS: f64 = 12e-6;
/// Time of a step of the bodies beside that \[s\].
const RIGID_STEP_SECONDS: f64 = 5e-6;
/// Solves of a step with error control.
const CONTROLLED_SOLVES: f64 = 3.0;
/// Exponent of the number of threads in the speed: two threads are 1.8 times as fast as one there.
const THREAD_EXPONENT: f64 = 0.85;

/// Bounds of the time between samples of a task's path \[s\], which otherwise is the scene's step.
const SAMPLE_INTERVALS: [f64; 2] = [1e-3, 1e-2];

/// What a run will need.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Particles; vertices and faces of cloth and vertices of ropes count \[-\].
    pub particles: u64,
    /// Rigid bodies and links of robots, with all copies \[-\]; without the links before the world
    /// is built.
    pub bodies: u64,
    /// Robots \[-\].
    pub robots: u64,
    /// Steps \[-\].
    pub steps: u64,
    /// Substeps of a step \[-\]: those asked for, or the fewest that are stable at the start.
    pub substeps_per_step: u64,
    /// Substeps in all \[-\].
    pub substeps: u64,
    /// Steps of the bodies \[-\]; with error control the fewest that there may be.
    pub rigid_steps: u64,
    /// Frames \[-\].
    pub frames: u64,
    /// Memory, with that for pictures \[bytes\].
    pub memory: u64,
    /// Frames on disk \[bytes\].
    pub frame_bytes: u64,
    /// Predicted wall time of the steps, without files and pictures \[s\]. It is derived from
    /// measurements on another machine and may be off by a factor of several.
    pub predicted_wall_time: f64,
    /// Threads for which it is predicted \[-\].
    pub threads: u64,
    /// Whether the world was built, so that the counts are its own.
    pub is_built: bool,
    /// Fields whose particles are not counted before their files are read.
    pub unknown: Vec<String>,
}

impl Estimate {
    /// The estimate of a scene from its fields alone. It builds nothing and reads no file.
    pub fn of(scene: &Scene) -> Self {
        let soft = scene.soft.iter().map(|soft| soft_particles(scene, soft));
        let cloths = scene.cloths.iter().map(|cloth| cloth_particles(scene, cloth));
        let mut unknown = Vec::new();
        for (at, _) in soft.clone().enumerate().filter(|(_, count)| count.is_none()) {
            unknown.push(format!("soft[{at}].shape.file"));
        }
        for (at, _) in cloths.clone().enumerate().filter(|(_, count)| count.is_none()) {
            unknown.push(format!("cloths[{at}].shape.file"));
        }
        let ropes = scene.ropes.iter().map(|rope| Some(rope_particles(scene, rope)));
        let particles: f64 = soft.chain(cloths).chain(ropes).flatten().sum();
        let has_particles = !(scene.soft.is_empty() && scene.cloths.is_empty() && scene.ropes.is_empty());
        let substeps = if has_particles { substeps_per_step(scene) } else { 0.0 };
        Self::with(scene, particles, body_count(scene), substeps, unknown)
    }

    /// The estimate of a scene whose world has so many particles and bodies, and takes so many
    /// substeps in its first step.
    pub fn of_world(scene: &Scene, particles: usize, bodies: usize, substeps: u32) -> Self {
        let substeps = if particles == 0 { 0.0 } else { f64::from(substeps) };
        let built = Self::with(scene, particles as f64, bodies as f64, substeps, Vec::new());
        Self { is_built: true, ..built }
    }

    fn with(scene: &Scene, particles: f64, bodies: f64, per_step: f64, unknown: Vec<String>) -> Self {
        let steps = step_count(scene);
        let (substeps, rigid_steps, frames) = (per_step * steps, rigid_steps(scene), frame_count(scene));
        let fields = scene.output.fields.len() as f64;
        let threads = available_parallelism().map_or(1, usize::from);
        let contacts = if bodies > 0.0 { most_contacts(scene, particles) } else { 0.0 };
        let memory = LEAST_BYTES
            + PARTICLE_BYTES * particles
            + CONTACT_BYTES * contacts
            + cell_bytes(scene)
            + BODY_BYTES * bodies
            + picture_bytes(scene, threads);
        let touching = usize::from(bodies > 0.0);
        let speed = (threads as f64).powf(THREAD_EXPONENT);
        let solves = match scene.rigid.integrator {
            Integrator::ErrorControlled { .. } => CONTROLLED_SOLVES,
            _ => 1.0,
        };
        let wall = substeps * (PARTICLE_SECONDS[touching] * particles / speed + SUBSTEP_SECONDS)
            + rigid_steps * solves * (BODY_SECONDS * bodies + RIGID_STEP_SECONDS);
        Self {
            // Casts saturate.
            particles: particles as u64,
            bodies: bodies as u64,
            robots: scene.robots.len() as u64,
            steps: steps as u64,
            substeps_per_step: per_step as u64,
            substeps: substeps as u64,
            rigid_steps: rigid_steps as u64,
            frames: frames as u64,
            memory: memory as u64,
            frame_bytes: (frames * particles * (FRAME_PARTICLE_BYTES + 4.0 * fields)) as u64,
            predicted_wall_time: wall.min(f64::MAX),
            threads: threads as u64,
            is_built: false,
            unknown,
        }
    }
}

/// Memory \[bytes\] that filling a mesh with so many particles takes at least.
pub fn particle_bytes(particles: f64) -> f64 {
    PARTICLE_BYTES * particles
}

/// Time between samples of a task's path \[s\].
pub fn sample_interval(dt: f64) -> f64 {
    dt.clamp(SAMPLE_INTERVALS[0], SAMPLE_INTERVALS[1])
}

/// Steps of a scene, as a run counts them.
pub fn step_count(scene: &Scene) -> f64 {
    // The slack keeps 1.0 / 0.1 at ten steps.
    ((scene.duration / scene.dt) * (1.0 - 1e-12)).ceil().max(1.0)
}

/// Frames of a scene, with the first.
pub fn frame_count(scene: &Scene) -> f64 {
    let every = (scene.output.frame_interval / scene.dt).round().max(1.0);
    (step_count(scene) / every).ceil() + 1.0
}

/// The fewest steps of the bodies.
pub fn rigid_steps(scene: &Scene) -> f64 {
    let longest = match scene.rigid.integrator {
        Integrator::Fixed { step } | Integrator::Trapezoid { step } => step.unwrap_or(scene.dt),
        Integrator::ErrorControlled { max_step, .. } => max_step,
    };
    step_count(scene) * (scene.dt / longest * (1.0 - 1e-9)).ceil().max(1.0)
}

/// Bodies of a scene with all copies, without the links of robots.
pub fn body_count(scene: &Scene) -> f64 {
    let free = scene.bodies.iter().filter(|body| crate::format::is_free(body)).count() as f64;
    let copies = scene.copies.map_or(0.0, |copies| f64::from(copies.count) - 1.0);
    scene.bodies.len() as f64 + free * copies.max(0.0)
}

/// Substeps of a step: those that are asked for, or the fewest that are stable at rest. Cloth and ropes,
/// whose limits depend on their meshes, are not counted here.
pub fn substeps_per_step(scene: &Scene) -> f64 {
    if let AutoOr::Value(substeps) = scene.substeps {
        return f64::from(substeps);
    }
    let Some(spacing) = scene.grid_spacing else { return 1.0 };
    let resolve = |soft: &SoftBodySpec| match &soft.material {
        MaterialRef::Named(name) => scene.materials.get(name).map(|m| m.particle_material()),
        MaterialRef::Inline(material) => Some(material.particle_material()),
    };
    let named = scene.materials.values().map(|material| material.particle_material());
    // A material that no body has limits the step as well.
    let materials: Vec<_> = named.chain(scene.soft.iter().filter_map(resolve)).collect();
    let largest = largest_stable_substep(spacing, &materials, 0.0);
    (scene.dt / largest).ceil().max(1.0)
}

/// Distance between the particles of a soft body \[m\].
pub fn particle_spacing(scene: &Scene, soft: &SoftBodySpec) -> f64 {
    soft.sampling.spacing.value().unwrap_or(scene.grid_spacing.unwrap_or(0.0) / 2.0)
}

/// Particles of a soft body; none for a mesh, whose file is not read here.
pub fn soft_particles(scene: &Scene, soft: &SoftBodySpec) -> Option<f64> {
    let half = match &soft.shape {
        SoftShape::Box { half_extents } => *half_extents,
        SoftShape::Sphere { radius } => [*radius; 3],
        SoftShape::Cylinder { radius, half_length } => [*radius, *radius, *half_length],
        SoftShape::Mesh { .. } => return None,
    };
    let counts = match soft.sampling.counts {
        Some(counts) => counts.map(f64::from),
        None => half.map(|half| (2.0 * half / particle_spacing(scene, soft)).round().max(1.0)),
    };
    let cell = [0, 1, 2].map(|axis| 2.0 * half[axis] / counts[axis]);
    let at_least_one = |count: f64| count.round().max(1.0);
    // As `sample::round` divides them.
    Some(match &soft.shape {
        SoftShape::Sphere { radius } => {
            let shells = at_least_one(radius * FRAC_PI_3.cbrt() / (cell[0] * cell[1] * cell[2]).cbrt());
            4.0 * shells.powi(3)
        }
        SoftShape::Cylinder { radius, half_length } => {
            let rings = at_least_one(radius * FRAC_PI_3.sqrt() / (cell[0] * cell[1]).sqrt());
            3.0 * rings * rings * at_least_one(2.0 * half_length / cell[2])
        }
        _ => counts.iter().product(),
    })
}

/// Vertices of a rope.
pub fn rope_particles(scene: &Scene, rope: &RopeSpec) -> f64 {
    rope.segment_count(scene.grid_spacing.unwrap_or(1.0)) + 1.0
}

/// Vertices and faces of a cloth; none for a mesh, whose file is not read here. Those of a garment
/// follow from its area.
pub fn cloth_particles(scene: &Scene, cloth: &ClothSpec) -> Option<f64> {
    match &cloth.shape {
        ClothShape::Rectangle { parts, .. } => {
            let [m, n] = parts.map(f64::from);
            Some((m + 1.0) * (n + 1.0) + 2.0 * m * n)
        }
        ClothShape::Pillow { parts, .. } => {
            // Front and back share the vertices of the sides.
            let [m, n] = parts.map(f64::from);
            Some((m + 1.0) * (n + 1.0) + (m - 1.0) * (n - 1.0) + 4.0 * m * n)
        }
        ClothShape::Sphere { parts, .. } => Some(30.0 * f64::from(*parts).powi(2) + 2.0),
        ClothShape::Disc { rings, .. } => {
            let rings = f64::from(*rings);
            Some(1.0 + 3.0 * rings * (rings + 1.0) + 6.0 * rings * rings)
        }
        ClothShape::TShirt(measures) => {
            let shirt = measures.shirt(scene.grid_spacing.unwrap_or(1.0));
            let sleeves = 2.0 * shirt.sleeve_length * shirt.sleeve_opening;
            let area = 2.0 * (shirt.chest_width * shirt.length + sleeves);
            let around = 4.0 * (shirt.chest_width + shirt.length + 2.0 * shirt.sleeve_length);
            Some(sewn_particles(area, around, shirt.spacing))
        }
        ClothShape::Trousers(measures) => {
            let trousers = measures.trousers(scene.grid_spacing.unwrap_or(1.0));
            let legs = 2.0 * trousers.leg_opening * (trousers.length - trousers.rise);
            let hips = trousers.waist_width.max(2.0 * trousers.leg_opening + trousers.leg_distance);
            let around = 4.0 * (hips + 2.0 * trousers.length);
            Some(sewn_particles(2.0 * (hips * trousers.rise + legs), around, trousers.spacing))
        }
        ClothShape::Mesh { .. } => None,
    }
}

/// Vertices and faces of a garment of this area \[m^2\], with edges of this length \[m\] and so much
/// of them at the edge of a panel \[m\].
fn sewn_particles(area: f64, around: f64, edge: f64) -> f64 {
    // Equilateral triangles, and half as many vertices.
    let faces = area / (0.25 * 3.0_f64.sqrt() * edge * edge);
    1.5 * faces + around / edge
}

/// Particles that may touch a body at once: all of cloth and ropes, and the surface of a cube of the others.
fn most_contacts(scene: &Scene, particles: f64) -> f64 {
    let cloth = scene.cloths.iter().map(|cloth| cloth_particles(scene, cloth).unwrap_or(particles));
    let ropes = scene.ropes.iter().map(|rope| rope_particles(scene, rope));
    let cloth = cloth.chain(ropes).sum::<f64>().min(particles);
    let solid = particles - cloth;
    cloth + solid.min(6.0 * solid.powf(2.0 / 3.0))
}

/// Memory of the pictures \[bytes\]: a still, and beside it one of the animation for each thread.
fn picture_bytes(scene: &Scene, threads: usize) -> f64 {
    let pixels: f64 = scene.output.picture_size.map(f64::from).iter().product();
    PIXEL_BYTES * pixels * (1.0 + ANIMATION_PIXELS * threads as f64)
}

/// Memory of the grid where soft bodies are \[bytes\].
fn cell_bytes(scene: &Scene) -> f64 {
    let Some(spacing) = scene.grid_spacing else { return 0.0 };
    let volume = |soft: &SoftBodySpec| match &soft.shape {
        SoftShape::Box { half_extents } => 8.0 * half_extents.iter().product::<f64>(),
        SoftShape::Sphere { radius } => 4.0 / 3.0 * PI * radius.powi(3),
        SoftShape::Cylinder { radius, half_length } => 2.0 * PI * radius * radius * half_length,
        SoftShape::Mesh { .. } => 0.0,
    };
    // Cells without a particle take no memory.
    let cells = |soft| (volume(soft) / spacing.powi(3)).min(f64::from(MOST_PARTICLES));
    CELL_BYTES * scene.soft.iter().map(cells).sum::<f64>()
}
