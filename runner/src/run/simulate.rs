//! The loop of a run: step, write a row, at intervals a frame and a checkpoint.

use std::fs;
use std::path::Path;
use std::time::Instant;

use pliant_coupling::{Balance, Diagnostics, StepError, StepReport};

use super::checkpoint::{self, Checkpoint};
use super::frames::FrameWriter;
use super::goals::GoalMonitor;
use super::observe::observe;
use super::options::StopSignal;
use super::outputs::outputs;
use super::{Progress, RunDirectory, RunError, RunOptions, Stage, Statistics, StepFigures};
use crate::early_pictures::{EarlyPictures, FrameCounter};
use crate::machine::{self, OpenBackend};
use crate::record::cloth::ClothWatch;
use crate::record::energy;
use crate::record::{
    ClothSummary, Conservation, ENERGY_GAIN_WARNING, FRAMES, InputFile, Manifest, Number, Pictures,
    RunTables, Status, frame_path, input_files,
};
use pliant_io::files::IoError;
use pliant_scenes::format::Scene;
use pliant_scenes::scenario::Scenario;

/// The field of a scene whose limit of energy gain a run may end at.
const GAIN_LIMIT: &str = "limits.energy_gain";

/// A run between its steps.
pub(super) struct Run<'a> {
    scenario: Scenario,
    directory: &'a Path,
    writer: FrameWriter,
    tables: RunTables,
    inputs: Vec<InputFile>,
    statistics: Statistics,
    goal_monitor: GoalMonitor,
    cloth: Option<ClothWatch>,
    /// Steps done, and all of them.
    step: u64,
    steps: u64,
    frames: usize,
    frame_counter: FrameCounter,
    frame_steps: u64,
    frame_step: u64,
    wall_before: f64,
    started: Instant,
    /// Whether the world was stopped within a step: its balances are then not those of the last row.
    is_within_step: bool,
    /// When the last checkpoint was written, and its step.
    last_checkpoint: (Instant, Option<u64>),
}

/// Whole steps of a duration; the last may reach a little beyond it.
pub(super) fn steps_of(scene: &Scene) -> u64 {
    // The slack keeps 1.0 / 0.1 at ten steps.
    ((scene.duration / scene.dt) * (1.0 - 1e-12)).ceil().max(1.0) as u64
}

fn frame_steps_of(scene: &Scene) -> u64 {
    (scene.output.frame_interval / scene.dt).round().max(1.0) as u64
}

/// The first quantity of the material that is not finite.
fn not_finite(diagnostics: &Diagnostics) -> Option<&'static str> {
    let d = diagnostics;
    let vector = |v: &nalgebra::Vector3<f64>| v.sum();
    [
        ("place", if d.mass > 0.0 { vector(&d.center_of_mass) } else { 0.0 }),
        ("momentum", vector(&d.linear_momentum) + vector(&d.angular_momentum)),
        ("energy", d.kinetic_energy + d.elastic_energy + d.dissipation),
    ]
    .into_iter()
    .find_map(|(name, value)| (!value.is_finite()).then_some(name))
}

/// Whether two scenes give the same run, as far as both go: they are equal except for their durations
/// and the limits beyond which they are refused.
pub(super) fn same_but_duration(a: &Scene, b: &Scene) -> bool {
    let b = Scene { duration: a.duration, ..b.clone() };
    is_same_run(a, &b)
}

/// Whether two scenes give the same run: limits change no bit of it.
pub(crate) fn is_same_run(a: &Scene, b: &Scene) -> bool {
    let mut a = a.clone();
    a.limits = b.limits;
    a == *b
}

impl<'a> Run<'a> {
    /// Begins a new run: its first frame, and its first checkpoint.
    pub fn begin(
        scenario: Scenario,
        directory: &'a RunDirectory,
        machine: &OpenBackend,
    ) -> Result<Self, RunError> {
        let path = directory.path();
        let not_writable = |source| RunError::NotWritable { path: directory.target().to_path_buf(), source };
        let inputs = input_files(&scenario)?;
        fs::create_dir(path.join(FRAMES)).map_err(not_writable)?;
        let tables = RunTables::create(path, &scenario)?;
        let mut run = Self::new(scenario, path, tables, inputs)?;
        machine.attach(&mut run.scenario.world).map_err(RunError::Attach)?;
        run.frame()?;
        run.checkpoint()?;
        Ok(run)
    }

    /// Continues from a checkpoint, to whose state the scenario's world is restored. What was written
    /// after it is cut off, or written again.
    pub fn resume(
        mut scenario: Scenario,
        directory: &'a RunDirectory,
        machine: &OpenBackend,
        checkpoint: Checkpoint,
    ) -> Result<Self, RunError> {
        let path = directory.path();
        if !scenario.set_seen(checkpoint.seen) {
            return Err(RunError::Checkpoint {
                path: path.to_path_buf(),
                reason: "it has not as many frames as the scene has sightings".to_owned(),
            });
        }
        let tables = RunTables::reopen(path, &scenario, checkpoint.tables)?;
        let mut run = Self::new(scenario, path, tables, checkpoint.inputs)?;
        run.step = checkpoint.steps;
        run.last_checkpoint = (Instant::now(), Some(checkpoint.steps));
        run.frames = checkpoint.frames;
        run.frame_step = checkpoint.frame_step;
        run.statistics = checkpoint.statistics;
        run.goal_monitor.restore(checkpoint.goals);
        if let Some(cloth) = &mut run.cloth {
            cloth.restore(checkpoint.cloth);
        }
        run.report_crossings();
        run.wall_before = checkpoint.wall_s;
        run.remove_later_frames()?;
        machine.attach(&mut run.scenario.world).map_err(RunError::Attach)?;
        Ok(run)
    }

    /// Frames after the checkpoint are written again.
    fn remove_later_frames(&self) -> Result<(), RunError> {
        for frame in self.frames.. {
            let path = frame_path(self.directory, frame);
            if !path.exists() {
                return Ok(());
            }
            fs::remove_file(&path).map_err(|e| IoError::file("remove", &path, e))?;
        }
        Ok(())
    }

    fn new(
        scenario: Scenario,
        directory: &'a Path,
        tables: RunTables,
        inputs: Vec<InputFile>,
    ) -> Result<Self, RunError> {
        let Scenario { scene, world, centers, .. } = &scenario;
        let now = Instant::now();
        Ok(Self {
            goal_monitor: GoalMonitor::new(scene, world, &scenario.parts, centers).map_err(RunError::Goal)?,
            cloth: ClothWatch::new(world.cloths(), world.ropes()),
            writer: FrameWriter::new(
                scenario.colors.clone(),
                world.cloths(),
                &scenario.back_colors,
                &scene.output,
            ),
            steps: steps_of(scene),
            frame_steps: frame_steps_of(scene),
            scenario,
            directory,
            tables,
            inputs,
            statistics: Statistics::default(),
            step: 0,
            frames: 0,
            frame_counter: FrameCounter::default(),
            frame_step: 0,
            wall_before: 0.0,
            started: now,
            is_within_step: false,
            last_checkpoint: (now, None),
        })
    }

    /// Begins to draw frames of the animation, if it can be done before the run's end.
    pub fn draw_early(&self, target: &Path) -> Option<EarlyPictures> {
        // Beside those of whole intervals, the first, and the last where it is not one of them.
        let frames = self.steps.div_ceil(self.frame_steps).saturating_add(1);
        self.frame_counter.set(self.frames);
        EarlyPictures::start(target, &self.scenario.scene, usize::try_from(frames).ok()?, &self.frame_counter)
    }

    fn wall_s(&self) -> f64 {
        self.wall_before + self.started.elapsed().as_secs_f64()
    }

    /// Steps to the end, to an error of the simulation, or until interrupted; reports the progress
    /// of long steps too.
    pub fn simulate(&mut self, options: &mut RunOptions) -> Result<(Status, Option<String>), RunError> {
        if let Some(stop) = options.stop {
            self.scenario.world.set_watch(stop.watch());
        }
        let watch = self.scenario.world.watch().clone();
        let (dt, total) = (self.scenario.scene.dt, self.steps);
        let Some(progress) = options.progress.take() else { return self.steps(options, &mut |_| {}) };
        let result = observe(watch, dt, total, &mut *progress, |report| self.steps(options, report));
        options.progress = Some(progress);
        result
    }

    /// The steps of [`simulate`](Self::simulate).
    fn steps(
        &mut self,
        options: &RunOptions,
        report_progress: &mut dyn FnMut(&Progress),
    ) -> Result<(Status, Option<String>), RunError> {
        while self.step < self.steps {
            if options.stop.is_some_and(StopSignal::is_requested) {
                self.checkpoint()?;
                return Ok((Status::Interrupted, None));
            }
            let before = Instant::now();
            let report = match self.scenario.step() {
                Ok(report) => report,
                // The world is within the step: the last checkpoint stays.
                Err(StepError::Stopped { .. }) => {
                    self.is_within_step = true;
                    return Ok((Status::Interrupted, None));
                }
                // The last checkpoint stays the one before the failure.
                Err(error) => return Ok((Status::Failed, Some(error.to_string()))),
            };
            let diagnostics = self.scenario.world.diagnostics();
            if let Some(quantity) = not_finite(&diagnostics) {
                // Rows never contain NaN.
                let error = format!(
                    "t = {} s: the material diverged in a step of {} s: its {quantity} is not a \
                     number; use a shorter dt or more substeps",
                    diagnostics.time, self.scenario.scene.dt
                );
                return Ok((Status::Failed, Some(error)));
            }
            if let Some(error) = self.count(&report, &diagnostics, before.elapsed().as_secs_f64() * 1e3)? {
                return Ok((Status::Failed, Some(error)));
            }
            report_progress(&Progress {
                stage: Stage::Simulating,
                done: self.step,
                total: self.steps,
                time: self.scenario.world.time(),
                contacts: report.contacts_mean + report.rigid.solver.contacts as f64,
                within: None,
            });
            let steps = options.checkpoint_steps;
            if self.last_checkpoint.0.elapsed() >= options.checkpoint_interval
                || steps.is_some_and(|steps| self.step.is_multiple_of(steps.get()))
            {
                self.checkpoint()?;
            }
        }
        self.checkpoint()?;
        // After the checkpoint: a longer run has no frame here.
        if self.frame_step != self.step {
            self.frame()?;
        }
        Ok((Status::Completed, None))
    }

    /// Records a step. Returns the reason why the run must not continue, if there is one.
    fn count(
        &mut self,
        report: &StepReport,
        diagnostics: &Diagnostics,
        wall_ms: f64,
    ) -> Result<Option<String>, RunError> {
        self.step += 1;
        self.tables.step(&self.scenario)?;
        self.statistics.add(&StepFigures::of(report, wall_ms));
        self.goal_monitor.step(&mut self.scenario.world, self.scenario.scene.dt)?;
        // Before the row, which has the crossings at the last frame.
        if self.step.is_multiple_of(self.frame_steps) {
            self.frame()?;
        }
        let crossings = self.cloth_summary().map(|cloth| cloth.crossings_at_end);
        self.tables.diagnostics(&self.scenario, diagnostics, report, wall_ms, crossings)?;
        let bound = self.scenario.scene.limits.energy_gain;
        let complaint = bound.and_then(|bound| energy::warning(&diagnostics.energy, bound));
        Ok(complaint.map(|complaint| format!("{GAIN_LIMIT}: step {}: {complaint}", self.step)))
    }

    /// Gives the crossings of cloth to the goals.
    fn report_crossings(&mut self) {
        if let Some(cloth) = self.cloth_summary() {
            self.goal_monitor.started_with_crossings(cloth.crossings_at_start);
        }
    }

    fn cloth_summary(&self) -> Option<ClothSummary> {
        self.cloth.as_ref().and_then(ClothWatch::summary)
    }

    /// Writes the frame and its rows at the present time.
    fn frame(&mut self) -> Result<(), RunError> {
        let row = self.writer.write(self.directory, self.frames, &mut self.scenario.world)?;
        if let Some(cloth) = &mut self.cloth {
            let world = &self.scenario.world;
            cloth.follow(world.torn_faces(), world.cloths(), world.ropes());
            cloth.look(self.writer.positions());
        }
        self.report_crossings();
        let interval = (self.step - self.frame_step) as f64 * self.scenario.scene.dt;
        self.tables.frame(&mut self.scenario, interval, &row)?;
        self.frames += 1;
        self.frame_counter.set(self.frames);
        self.frame_step = self.step;
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<(), RunError> {
        if self.last_checkpoint.1 == Some(self.step) {
            return Ok(());
        }
        let checkpoint = Checkpoint {
            steps: self.step,
            frames: self.frames,
            tables: self.tables.sync()?,
            wall_s: self.wall_s(),
            frame_step: self.frame_step,
            statistics: self.statistics.clone(),
            cloth: self.cloth_summary(),
            goals: self.goal_monitor.worst().to_vec(),
            inputs: self.inputs.clone(),
            soft_particles: self.soft_particles(),
            seen: self.scenario.seen().to_vec(),
            scene: self.scenario.scene.clone(),
        };
        checkpoint.write(self.directory, &mut self.scenario.world)?;
        self.last_checkpoint = (Instant::now(), Some(self.step));
        Ok(())
    }

    fn soft_particles(&self) -> Vec<usize> {
        self.scenario.parts.iter().map(ExactSizeIterator::len).collect()
    }

    fn strongly_coupled(&self) -> Vec<String> {
        let name = |id| self.scenario.world.bodies().body(id).name.clone();
        self.scenario.world.strongly_coupled().map(name).collect()
    }

    /// The manifest of what is on disk.
    pub fn manifest(
        &mut self,
        status: Status,
        error: Option<String>,
        machine: &OpenBackend,
        pictures: bool,
    ) -> Result<Manifest, RunError> {
        let digests = self.tables.sync()?.files;
        let wall_s = self.wall_s();
        let sim_s = self.step as f64 * self.scenario.scene.dt;
        // Within a step there are no balances.
        let whole = !self.is_within_step;
        let balance = whole.then(|| self.scenario.world.balance());
        let energy = whole.then(|| self.scenario.world.energy());
        let mut warnings: Vec<String> = self
            .scenario
            .warnings
            .iter()
            .cloned()
            .chain(self.statistics.unreliable_solves_warning())
            .chain(self.statistics.inaccurate_impacts_warning())
            .collect();
        warnings.extend(self.statistics.pressed());
        warnings.extend(self.scenario.scene.grid_spacing.and_then(|spacing| self.statistics.depths(spacing)));
        // Energy that was gained may be why a run failed; where it ended for that, its error says so.
        let gain = energy.as_ref().and_then(|energy| energy::warning(energy, ENERGY_GAIN_WARNING));
        let is_told = error.as_ref().is_some_and(|error| error.starts_with(GAIN_LIMIT));
        warnings.extend(gain.filter(|_| !is_told));
        // A step that was too long may be why it failed.
        let coupling = self.statistics.coupling();
        warnings.extend(coupling.warning(self.scenario.scene.coupling_step));
        warnings.extend(self.statistics.long_substeps_warning());
        let layers = self.statistics.layers();
        warnings.extend(layers.and_then(|layers| layers.warning()));
        if layers.is_none() && self.step > 0 && self.scenario.keeps_layers_apart() {
            warnings.push(
                "cloth: on a device layers are not kept from passing through each other; crossings are counted"
                    .to_owned(),
            );
        }
        let strands = self.statistics.strands();
        warnings.extend(strands.and_then(|strands| strands.warning()));
        warnings.extend(self.cloth_summary().iter().flat_map(ClothSummary::warnings));
        Ok(Manifest {
            schema_version: 2,
            status,
            error,
            seed: self.scenario.scene.seed,
            scene: self.scenario.scene.clone(),
            backend: machine.backend.to_owned(),
            device: machine.name(),
            threads: rayon::current_num_threads(),
            version: machine::VERSION.to_owned(),
            git_commit: machine::GIT_COMMIT.to_owned(),
            wall_s: Number(wall_s),
            sim_s: Number(sim_s),
            steps: self.step,
            substeps: self.scenario.world.substeps(),
            real_time_rate: Number(if wall_s > 0.0 { sim_s / wall_s } else { 0.0 }),
            particles: self.scenario.world.particle_count(),
            soft_particles: self.soft_particles(),
            ms_per_step: self.statistics.ms_per_step(),
            grid_nodes: self.statistics.grid_nodes(),
            contacts: self.statistics.contacts(),
            solver: self.statistics.solver(),
            coupling,
            layers,
            strands,
            strongly_coupled: self.strongly_coupled(),
            rigid: self.statistics.rigid(),
            cloth: self.cloth_summary(),
            warnings,
            conservation: conservation(balance.as_ref()),
            energy: energy.as_ref().map(energy::figures).unwrap_or_default(),
            goals: self.goal_monitor.results(status, sim_s, self.scenario.scene.dt),
            frames: self.frames,
            files: outputs(&self.scenario.scene, &self.scenario.world, pictures),
            pictures: if pictures { Pictures::Pending } else { Pictures::Off },
            inputs: self.inputs.clone(),
            digests,
            checkpoints: checkpoint::names(self.directory),
            manifest_sha256: String::new(),
        })
    }
}

/// The errors of the balances; null where there are none.
fn conservation(balance: Option<&Balance>) -> Conservation {
    let part = |of: fn(&Balance) -> f64| Number(balance.map_or(f64::NAN, of));
    Conservation {
        mass: part(|b| b.mass),
        linear_momentum: part(|b| b.linear_momentum),
        angular_momentum: part(|b| b.angular_momentum),
        energy: part(|b| b.energy.unwrap_or(f64::NAN)),
    }
}
