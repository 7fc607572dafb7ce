//! Garments that are folded from random starts: how many end as they should.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::part::{BenchError, BenchOptions, BenchPart, Measurement, RowContext};
use super::scene_run::{Judge, run_scenario};
use pliant_runner::machine::OpenBackend;
use pliant_runner::run::GoalResult;
use pliant_scenes::builtin;
use pliant_scenes::folding::{Folding, Garment};
use pliant_scenes::format::Scene;
use pliant_trials::SceneSampler;

/// The part.
pub const PART: BenchPart = BenchPart {
    name: "garments",
    about: "garments folded from random places, turns, friction and stiffness: how many fail (--seed, --count, --first, --family, --grid-spacing, --out)",
    run,
};

/// Starts of each garment, unless told otherwise.
const USUAL: u64 = 1;

/// A start and what became of it.
struct Start {
    number: u64,
    folding: Folding,
    end: Result<End, BenchError>,
}

/// The end of a run.
struct End {
    goals: Vec<GoalResult>,
    /// Energy that the scheme created over the energy input, by the run's own balance \[-\].
    created: Option<f64>,
    /// Wall time \[s\].
    wall: f64,
}

impl Start {
    fn is_folded(&self) -> bool {
        self.end.as_ref().is_ok_and(|end| end.goals.iter().all(|goal| goal.met == Some(true)))
    }

    fn told(&self) -> Value {
        let Folding { place, turn, table_friction, layer_friction, stiffness, .. } = self.folding;
        let mut told = json!({
            "number": self.number,
            "place": place,
            "turn": turn,
            "table_friction": table_friction,
            "layer_friction": layer_friction,
            "stiffness": stiffness,
            "folded": self.is_folded(),
        });
        match &self.end {
            Ok(end) => {
                told["goals"] = json!(end.goals);
                told["created"] = json!(end.created);
                told["wall_s"] = json!(end.wall);
            }
            Err(error) => told["error"] = json!(error.to_string()),
        }
        told
    }
}

fn run(options: &BenchOptions, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let asked = &options.trials;
    let threads = options.threads.iter().copied().max().unwrap_or(1);
    let mut failures = Vec::new();
    for (name, garment) in garments(&asked.families)? {
        let starts = starts(name, garment, options, threads);
        let failed: Vec<_> = starts.iter().filter(|start| !start.is_folded()).collect();
        for start in &failed {
            failures
                .push(format!("--family {name} --seed {} --first {} --count 1", asked.seed, start.number));
            save(options, name, start)?;
        }
        let sample = RowContext {
            machine: &OpenBackend::processor(),
            part: PART.name,
            case: format!("{name}, {} starts", starts.len()),
            threads,
            precision: "f32/f64",
            unit: "failures",
        };
        let grid_spacing = starts.first().map(|start| start.folding.grid_spacing);
        let told: Vec<_> = starts.iter().map(Start::told).collect();
        row(sample.row(
            vec![failed.len() as f64],
            json!({ "seed": asked.seed, "grid_spacing": grid_spacing, "starts": told }),
        ));
    }
    if failures.is_empty() {
        return Ok(());
    }
    let reason = format!("garments were not folded\n{}", failures.join("\n"));
    Err(BenchError { bench: PART.name, reason })
}

fn garments(names: &[String]) -> Result<Vec<(&'static str, Garment)>, BenchError> {
    let all: Vec<_> = builtin::garments().collect();
    if names.is_empty() {
        return Ok(all);
    }
    let find = |name: &String| {
        all.iter().find(|(known, _)| known == name).copied().ok_or_else(|| {
            let known = all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            BenchError {
                bench: PART.name,
                reason: format!("there is no garment '{name}'; there are [{known}]"),
            }
        })
    };
    names.iter().map(find).collect()
}

/// Runs the starts of a garment, one on each thread.
fn starts(name: &'static str, garment: Garment, options: &BenchOptions, threads: usize) -> Vec<Start> {
    let asked = &options.trials;
    let (first, count) = (asked.first, asked.count.unwrap_or(USUAL));
    let (next, done) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= first + count {
                return;
            }
            let mut folding = draw(garment, &mut SceneSampler::new(asked.seed, name, number));
            folding.grid_spacing = asked.grid_spacing.unwrap_or(folding.grid_spacing);
            let start = Start { number, folding, end: folded(name, &folding) };
            let Ok(mut done) = done.lock() else { return };
            let is_folded = if start.is_folded() { "folded" } else { "not folded" };
            done.push(start);
            (options.progress)(&format!(
                "garments: {name} {number} {is_folded}, {} of {count} done",
                done.len()
            ));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let mut starts = done.into_inner().unwrap_or_default();
    starts.sort_by_key(|start| start.number);
    starts
}

/// Where a garment lies, and what it is like.
fn draw(garment: Garment, sampler: &mut SceneSampler) -> Folding {
    let turn = 20f64.to_radians();
    Folding {
        place: [0; 2].map(|_| sampler.within(-0.05, 0.05)),
        turn: sampler.within(-turn, turn),
        table_friction: sampler.within(0.4, 0.8),
        layer_friction: sampler.within(0.4, 0.8),
        stiffness: sampler.log_within(0.5, 2.0),
        ..Folding::of(garment)
    }
}

fn folded(name: &str, folding: &Folding) -> Result<End, BenchError> {
    let scene = scene(name, folding)?;
    let mut judge = Judge::default();
    let mut run = run_scenario(PART.name, &scene, &OpenBackend::processor(), 1, |scenario| {
        // The energy that the scheme creates is summed up from step to step.
        scenario.world.diagnostics();
        judge.look(&scene, scenario)
    })?;
    Ok(End {
        goals: judge.results(),
        created: run.world.energy().gain.map(|gain| gain.relative()),
        wall: run.wall(),
    })
}

fn scene(name: &str, folding: &Folding) -> Result<Scene, BenchError> {
    folding.scene(name).map_err(|error| BenchError { bench: PART.name, reason: error.to_string() })
}

/// Writes the scene of a start that failed.
fn save(options: &BenchOptions, name: &str, start: &Start) -> Result<(), BenchError> {
    let Some(folder) = &options.trials.out else { return Ok(()) };
    let failed = |reason: String| BenchError { bench: PART.name, reason };
    let text = serde_json::to_string_pretty(&scene(name, &start.folding)?);
    let file = folder.join(format!("{name}-{}.json", start.number));
    let write = |text: String| fs::create_dir_all(folder).and_then(|()| fs::write(&file, text));
    let written = text.map_err(|error| error.to_string()).map(write);
    written.and_then(|done| done.map_err(|error| format!("{}: {error}", file.display()))).map_err(failed)
}
