//! `check`: whether a scene is valid, and what its run will need.

use anyhow::Error;
use pliant::io::text::printable;
use pliant::scenes::estimate::Estimate;
use pliant::scenes::format::{Assignment, Problem, Scene, SetError, apply, value_and_unit};
use pliant::scenes::load::{self, LoadError};
use pliant::scenes::machine_memory::machine_memory;
use pliant::scenes::scenario::{Scenario, SceneError};
use serde_json::{Value, json};

use super::args::CheckArguments;
use super::output::{Failure, print, print_json, say};

/// Why a scene is refused.
enum Refusal {
    Load(Box<LoadError>),
    Scene(Box<SceneError>),
}

pub fn check(arguments: &CheckArguments) -> Result<(), Failure> {
    let (name, changes) = (&arguments.scene.scene, arguments.scene.changes.assignments());
    let built = load::load(name, &changes)
        .map_err(|error| Refusal::Load(Box::new(error)))
        .and_then(|scene| Scenario::new(&scene).map_err(|error| Refusal::Scene(Box::new(error))));
    match built {
        Ok(scenario) if arguments.output.json => print_json(Ok(valid(&scenario))),
        Ok(scenario) => tell(&scenario),
        Err(refusal) if arguments.output.json => {
            let errors = refusal.errors(name, &changes);
            print_json(Ok(json!({ "valid": false, "errors": errors })))?;
            Err(Failure::Refused)
        }
        Err(Refusal::Load(error)) => Err(Failure::usage(*error)),
        Err(Refusal::Scene(error)) => {
            Err(Failure::Usage(Error::new(*error).context(format!("scene '{}'", printable(name)))))
        }
    }
}

fn tell(scenario: &Scenario) -> Result<(), Failure> {
    for warning in &scenario.warnings {
        say(&format!("warning: {warning}"));
    }
    for note in &scenario.notes {
        say(&format!("note: {note}"));
    }
    let estimate = scenario.estimate();
    let Estimate { particles, steps, substeps, rigid_steps, frames, threads, .. } = estimate;
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let text = format!(
        "{}: valid; {particles} particles, {} bodies, {} substeps of a step\n\
         {steps} steps, {substeps} substeps, {rigid_steps} steps of the bodies, {frames} frames\n\
         estimated: {:.0} MB of memory, {:.1} MB of frames\n\
         predicted: {} of wall time for the steps on {threads} threads, from measurements on another \
         machine; files and pictures come on top\n",
        scenario.scene.name,
        scenario.scene.bodies.len(),
        scenario.world.substeps(),
        megabytes(estimate.memory),
        megabytes(estimate.frame_bytes),
        duration(estimate.predicted_wall_time),
    );
    Ok(print(&text)?)
}

/// A time in the unit that it is told in.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "less than a second".to_owned(),
        s if s < 300.0 => format!("{s:.0} s"),
        s if s < 36_000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

fn valid(scenario: &Scenario) -> Value {
    let scene = &scenario.scene;
    json!({
        "valid": true,
        "name": scene.name,
        "errors": [],
        "warnings": scenario.warnings,
        "notes": scenario.notes,
        "counts": {
            "materials": scene.materials.len(),
            "soft": scene.soft.len(),
            "cloths": scene.cloths.len(),
            "ropes": scene.ropes.len(),
            "bodies": scene.bodies.len(),
            "robots": scene.robots.len(),
            "sensors": scene.sensors.len(),
            "tasks": scene.tasks.len(),
            "goals": scene.goals.len(),
        },
        "estimate": scenario.estimate(),
        "machine_memory": machine_memory(),
    })
}

impl Refusal {
    /// Each error with the path of its field, its value and unit, as far as they are known.
    fn errors(&self, name: &str, changes: &[Assignment]) -> Vec<Value> {
        let scene = load::read(name).and_then(|written| {
            apply(&written, changes).map_err(|source| LoadError::Set { scene: name.to_owned(), source })
        });
        let scene = scene.ok();
        match self {
            Self::Load(error) => match &**error {
                LoadError::Invalid { source, .. } => problems(scene.as_ref(), &source.problems),
                LoadError::Parse { source, .. } => vec![json!({
                    "path": path(&source.path), "value": null, "unit": null, "message": source.message,
                    "line": source.line, "column": source.column,
                })],
                LoadError::Set { source: SetError::Value { path: at, message, .. }, .. } => {
                    vec![json!({ "path": path(at), "value": null, "unit": null, "message": message })]
                }
                other => vec![other_error(scene.as_ref(), &other.to_string())],
            },
            Self::Scene(error) => match &**error {
                SceneError::Invalid(invalid) => problems(scene.as_ref(), &invalid.problems),
                other => vec![other_error(scene.as_ref(), &other.to_string())],
            },
        }
    }
}

fn path(path: &str) -> Option<&str> {
    (!path.is_empty()).then_some(path)
}

fn problems(scene: Option<&Scene>, problems: &[Problem]) -> Vec<Value> {
    let of = |problem: &Problem| {
        let (value, unit) = scene.map_or((None, None), |scene| value_and_unit(scene, problem));
        json!({ "path": problem.path, "value": value, "unit": unit, "message": problem.message })
    };
    problems.iter().map(of).collect()
}

/// An error of a part that could not be built; most messages begin with the path of its field.
fn other_error(scene: Option<&Scene>, message: &str) -> Value {
    let problem =
        message.split_once(": ").map(|(at, rest)| Problem { path: at.to_owned(), message: rest.to_owned() });
    let known =
        problem.filter(|problem| scene.is_some_and(|scene| value_and_unit(scene, problem) != (None, None)));
    match known {
        Some(problem) => problems(scene, &[problem]).into_iter().next().unwrap_or_default(),
        None => json!({ "path": null, "value": null, "unit": null, "message": message }),
    }
}
