//! Whole scenes of soft bodies, run as in the runner but without files.

use std::time::Instant;

use pliant_coupling::{BackendError, World};
use serde_json::{Value, json};

use super::part::{BenchError, in_pool};
use pliant_runner::machine::OpenBackend;
use pliant_runner::run::{GoalMonitor, GoalResult, Statistics, Status, StepFigures};
use pliant_scenes::format::Scene;
use pliant_scenes::scenario::Scenario;

/// The goals of a scene during a run.
#[derive(Default)]
pub(super) struct Judge {
    monitor: Option<GoalMonitor>,
    dt: f64,
    time: f64,
}

impl Judge {
    /// Measures the goals of `scene`, of which `scenario` was made; to be called before the first step
    /// and after each.
    pub fn look(&mut self, scene: &Scene, scenario: &mut Scenario) -> Result<(), BackendError> {
        let world = &mut scenario.world;
        if world.step_count() == 0 {
            self.monitor = GoalMonitor::new(scene, world, &scenario.parts, &scenario.centers).ok();
            self.dt = scene.dt;
            return Ok(());
        }
        self.time = world.time();
        self.monitor.as_mut().map_or(Ok(()), |monitor| monitor.step(world, self.dt))
    }

    /// The results at the end of a whole run.
    pub fn results(&self) -> Vec<GoalResult> {
        let results = |monitor: &GoalMonitor| monitor.results(Status::Completed, self.time, self.dt);
        self.monitor.as_ref().map_or_else(Vec::new, results)
    }
}

/// A scene at its end, with the times of its steps.
pub(super) struct SceneRun {
    pub world: World,
    /// Wall time of each step \[ms\].
    pub wall_ms: Vec<f64>,
    statistics: Statistics,
    /// Substeps of the last step.
    substeps: u32,
    scene: Scene,
}

/// Runs a scene for its time on this many threads; `observe` is called with the world before the
/// first step and after each, and is not timed.
pub(super) fn run_whole(
    part: &'static str,
    scene: &Scene,
    machine: &OpenBackend,
    threads: usize,
    mut observe: impl FnMut(&mut World) -> Result<(), BackendError> + Send,
) -> Result<SceneRun, BenchError> {
    run_scenario(part, scene, machine, threads, |scenario| observe(&mut scenario.world))
}

/// As [`run_whole`]; `observe` gets the scenario.
pub(super) fn run_scenario(
    part: &'static str,
    scene: &Scene,
    machine: &OpenBackend,
    threads: usize,
    observe: impl FnMut(&mut Scenario) -> Result<(), BackendError> + Send,
) -> Result<SceneRun, BenchError> {
    in_pool(part, threads, || run_in_pool(part, scene, machine, observe))?
}

fn run_in_pool(
    part: &'static str,
    scene: &Scene,
    machine: &OpenBackend,
    mut observe: impl FnMut(&mut Scenario) -> Result<(), BackendError>,
) -> Result<SceneRun, BenchError> {
    let fail = |reason: String| BenchError { bench: part, reason: format!("{}: {reason}", scene.name) };
    let mut scenario = Scenario::new(scene).map_err(|e| fail(e.to_string()))?;
    machine.attach(&mut scenario.world).map_err(|e| fail(e.to_string()))?;
    let steps = (scene.duration / scene.dt).round() as usize;
    let (mut wall_ms, mut statistics) = (Vec::with_capacity(steps), Statistics::default());
    let mut substeps = 0;
    observe(&mut scenario).map_err(|e| fail(e.to_string()))?;
    for _ in 0..steps {
        let clock = Instant::now();
        let report = scenario.step().map_err(|e| fail(e.to_string()))?;
        let wall = clock.elapsed().as_secs_f64() * 1e3;
        wall_ms.push(wall);
        substeps = report.substeps;
        statistics.add(&StepFigures::of(&report, wall));
        observe(&mut scenario).map_err(|e| fail(e.to_string()))?;
    }
    Ok(SceneRun { world: scenario.world, wall_ms, statistics, substeps, scene: scene.clone() })
}

impl SceneRun {
    /// Wall time of all steps \[s\].
    pub fn wall(&self) -> f64 {
        self.wall_ms.iter().sum::<f64>() * 1e-3
    }

    /// Simulated time over wall time \[-\].
    pub fn real_time_rate(&self) -> f64 {
        self.wall_ms.len() as f64 * self.scene.dt / self.wall().max(f64::MIN_POSITIVE)
    }

    /// Details of a row.
    pub fn details(&self, more: Value) -> Value {
        let mut details = json!({
            "scene": self.scene.name,
            "particles": self.world.particle_count(),
            "grid_spacing": self.scene.grid_spacing,
            "step": self.scene.dt,
            "substeps": self.substeps,
            "relative_tolerance": self.scene.solver.relative_tolerance,
            "simulated_s": self.wall_ms.len() as f64 * self.scene.dt,
            "wall_s": self.wall(),
            "real_time_rate": self.real_time_rate(),
            "ms_per_step": self.statistics.ms_per_step(),
            "contacts": self.statistics.contacts(),
            "grid_nodes": self.statistics.grid_nodes(),
            "solver": self.statistics.solver(),
        });
        if let (Some(all), Value::Object(more)) = (details.as_object_mut(), more) {
            all.extend(more);
        }
        details
    }

    /// Positions of the particles in the scene's order, world frame \[m\].
    ///
    /// # Errors
    /// Particles that a backend cannot return.
    pub fn positions(&mut self) -> Result<Vec<[f64; 3]>, BackendError> {
        let mut snapshot = pliant_coupling::ParticleSnapshot::default();
        self.world.snapshot(&mut snapshot)?;
        Ok(snapshot.positions)
    }
}
