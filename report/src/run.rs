//! What a page says of one run.

use std::collections::BTreeMap;
use std::path::Path;

use pliant_runner::picture::{PREVIEW_GIF, PREVIEW_PNG};
use pliant_runner::recording::Recording;
use pliant_runner::report::{Entry, read_diagnostics};
use pliant_runner::run::{GoalResult, Manifest, Number};
use serde::Serialize;

use crate::{picture, plots};

/// A run on a page.
#[derive(Serialize)]
pub struct RunSection {
    pub name: String,
    pub scene: String,
    pub description: String,
    pub directory: String,
    pub status: String,
    pub error: Option<String>,
    pub warnings: Vec<String>,
    /// What of it cannot be shown, and why.
    pub missing: Vec<String>,
    /// Values that a sweep varied, by their paths.
    pub changes: BTreeMap<String, String>,
    pub thumbnail: Option<String>,
    pub animation: Option<String>,
    pub plots: Vec<String>,
    pub figures: Vec<Figure>,
    pub energy: Vec<Figure>,
    pub goals: Vec<Goal>,
    /// By what the grid can be sorted: finite numbers only.
    pub keys: BTreeMap<&'static str, f64>,
    pub detailed: bool,
    pub command: String,
    pub scene_json: String,
}

/// A figure with its unit; of one that was not measured the value is empty.
#[derive(Serialize)]
pub struct Figure {
    pub name: String,
    pub value: String,
    pub unit: &'static str,
}

/// The result of a goal.
#[derive(Serialize)]
pub struct Goal {
    pub name: String,
    pub met: &'static str,
    pub worst: String,
    pub time: String,
}

/// What is shown of a run, with plots if `detailed`.
pub fn section(entry: &Entry, changes: &BTreeMap<String, String>, detailed: bool) -> RunSection {
    let Entry { directory, manifest } = entry;
    let mut missing = Vec::new();
    let mut shown = |result: Result<String, String>| result.map_err(|reason| missing.push(reason)).ok();
    let thumbnail = shown(picture::thumbnail(&directory.join(PREVIEW_PNG)));
    // Of many runs only the thumbnails are read; without an animation the last frame stands for it.
    let animation = if detailed {
        shown(picture::whole(&directory.join(PREVIEW_GIF), "image/gif"))
            .or_else(|| shown(picture::whole(&directory.join(PREVIEW_PNG), "image/png")))
    } else {
        None
    };
    let plots = if detailed { plots_of(entry, &mut missing) } else { Vec::new() };
    missing.dedup();
    RunSection {
        name: directory.file_name().unwrap_or(directory.as_os_str()).to_string_lossy().into_owned(),
        scene: manifest.scene.name.clone(),
        description: manifest.scene.description.clone(),
        directory: directory.display().to_string(),
        status: manifest.status.to_string(),
        error: manifest.error.clone(),
        warnings: manifest.warnings.clone(),
        missing,
        changes: changes.clone(),
        thumbnail,
        animation,
        plots,
        figures: figures(manifest),
        energy: energy(manifest),
        goals: manifest.goals.iter().map(goal).collect(),
        keys: keys(manifest),
        detailed,
        command: command(manifest, directory),
        scene_json: serde_json::to_string_pretty(&manifest.scene).unwrap_or_default(),
    }
}

fn plots_of(entry: &Entry, missing: &mut Vec<String>) -> Vec<String> {
    let mut plots = Vec::new();
    match read_diagnostics(entry).map(|table| plots::of_diagnostics(&table)) {
        Ok(Ok(drawn)) => plots = drawn,
        Ok(Err(error)) => missing.push(error.to_string()),
        Err(error) => missing.push(error.to_string()),
    }
    match Recording::open(&entry.directory).map(|recording| plots::of_forces(&recording)) {
        Ok(Ok(drawn)) => plots.extend(drawn),
        Ok(Err(error)) => missing.push(error.to_string()),
        Err(error) => missing.push(error.to_string()),
    }
    plots
}

/// A number with four digits; none if it is not finite.
fn number(value: f64) -> String {
    match value {
        x if !x.is_finite() => String::new(),
        0.0 => "0".to_owned(),
        x if (1e-2..1e5).contains(&x.abs()) => format!("{x:.4}"),
        x => format!("{x:.3e}"),
    }
}

fn figures(m: &Manifest) -> Vec<Figure> {
    let soft = m.particles > 0;
    let of = |name: &str, Number(value): Number, unit| (name.to_owned(), number(value), unit);
    let count = |name: &str, value: u64| (name.to_owned(), value.to_string(), "");
    let mut rows = vec![
        of("simulated time", m.sim_s, "s"),
        of("wall time without pictures", m.wall_s, "s"),
        of("simulated over wall time", m.real_time_rate, "x"),
        count("steps", m.steps),
        of("step", Number(1e3 * m.scene.dt), "ms"),
        of("wall time of a step, median", m.ms_per_step.median, "ms"),
        of("wall time of a step, 95th percentile", m.ms_per_step.p95, "ms"),
        of("wall time of a step, mean", m.ms_per_step.mean, "ms"),
    ];
    if soft {
        rows.extend([
            count("particles", m.particles as u64),
            count("substeps of a step", u64::from(m.substeps)),
            of("contacts of particles, mean", m.contacts.mean, ""),
            of("iterations of a contact solve, mean", m.solver.iterations_mean, ""),
            count("substeps that did not converge", m.solver.not_converged),
            of("relative error of mass", m.conservation.mass, ""),
            of("relative error of linear momentum", m.conservation.linear_momentum, ""),
            of("relative error of angular momentum", m.conservation.angular_momentum, ""),
        ]);
    }
    rows.push(of("energy gained by the scheme over energy put in", m.conservation.energy, ""));
    if !m.scene.bodies.is_empty() || !m.scene.robots.is_empty() {
        rows.extend([
            count("steps of the bodies", m.rigid.steps),
            of("contacts between bodies, mean", m.rigid.contacts.mean, ""),
        ]);
    }
    let texts =
        [("backend", &m.backend), ("device", &m.device), ("version", &m.version), ("commit", &m.git_commit)];
    rows.extend(texts.map(|(name, text)| (name.to_owned(), text.clone(), "")));
    rows.push(count("threads", m.threads as u64));
    rows.push(count("seed", m.seed));
    rows.into_iter().map(|(name, value, unit)| Figure { name, value, unit }).collect()
}

fn energy(m: &Manifest) -> Vec<Figure> {
    let row = |(name, Number(value)): (&String, &Number)| Figure {
        name: name.replace('_', " "),
        value: number(*value),
        unit: "J",
    };
    m.energy.iter().map(row).collect()
}

fn goal(goal: &GoalResult) -> Goal {
    let met = match goal.met {
        Some(true) => "met",
        Some(false) => "not met",
        None => "not judged",
    };
    let worst = number(goal.worst.0);
    let worst = if worst.is_empty() { worst } else { format!("{worst} {}", goal.unit) };
    let time = number(goal.time.0);
    let time = if time.is_empty() { time } else { format!("{time} s") };
    Goal { name: goal.name.clone(), met, worst, time }
}

fn keys(m: &Manifest) -> BTreeMap<&'static str, f64> {
    let met = m.goals.iter().filter(|goal| goal.met == Some(true)).count();
    let all = [
        ("energy gain", m.conservation.energy.0),
        ("real-time rate", m.real_time_rate.0),
        ("ms per step", m.ms_per_step.mean.0),
        ("goals met", met as f64),
        ("warnings", m.warnings.len() as f64),
    ];
    all.into_iter().filter(|(_, value)| value.is_finite()).collect()
}

/// The command that repeats the run from the scene on the page.
fn command(m: &Manifest, directory: &Path) -> String {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    format!("pliant run {name}.json --backend {} --threads {} --out {name}", m.backend, m.threads)
}
