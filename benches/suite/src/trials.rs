//! Scenes drawn at random and judged by laws alone; see [`pliant_trials`].

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::json;

use super::part::{BenchError, BenchOptions, BenchPart, Measurement, RowContext};
use pliant_runner::machine::OpenBackend;
use pliant_trials::{FAMILIES, Failure, Family, Options, family, trials};

/// The part.
pub const PART: BenchPart = BenchPart {
    name: "trials",
    about: "random scenes judged by laws alone: failures of each family (--seed, --count, --seconds, --family, --out)",
    run,
};

/// Default number of trials of a family.
const USUAL: u64 = 20;
/// Time between lines of progress.
const LINE: Duration = Duration::from_secs(5);

fn run(options: &BenchOptions, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let asked = &options.trials;
    let families = families(&asked.families)?;
    let all = families.len() as u64;
    let threads = options.threads.iter().copied().max().unwrap_or(1);
    let count = asked.count.unwrap_or(if asked.seconds.is_some() { u64::MAX } else { USUAL * all });
    let plan = Options {
        seed: asked.seed,
        count,
        time: asked.seconds.map(Duration::from_secs_f64),
        families,
        first: asked.first,
        threads,
        out: asked.out.clone(),
        shrink: asked.out.is_some(),
    };
    let last = Mutex::new(Instant::now());
    let progress = |done: u64, failures: usize| {
        if let Ok(mut last) = last.lock()
            && last.elapsed() >= LINE
        {
            *last = Instant::now();
            (options.progress)(&format!("trials: {done} done, {failures} broke a law"));
        }
    };
    let failed = |reason: String| BenchError { bench: PART.name, reason };
    let found = trials(&plan, &progress).map_err(|error| failed(error.to_string()))?;
    for (name, tally) in &found.tallies {
        let broken = found.failures.iter().filter(|failure| failure.family == *name).collect::<Vec<_>>();
        let details = json!({ "seed": asked.seed, "first": asked.first, "tally": tally, "failures": broken });
        let sample = RowContext {
            machine: &OpenBackend::processor(),
            part: PART.name,
            case: name.clone(),
            threads,
            precision: "f32/f64",
            unit: "failures",
        };
        row(sample.row(vec![broken.len() as f64], details));
    }
    let lines: Vec<String> = found.failures.iter().map(told).collect();
    if lines.is_empty() { Ok(()) } else { Err(failed(format!("laws were broken\n{}", lines.join("\n")))) }
}

/// A failure in one line, with the numbers that repeat it.
fn told(failure: &Failure) -> String {
    let Failure { family, seed, number, findings, size, .. } = failure;
    let broken: Vec<String> = findings.iter().map(|f| format!("{}: {}", f.law, f.what)).collect();
    format!(
        "--family {family} --seed {seed} --first {number} --count 1 ({size} things): {}",
        broken.join("; ")
    )
}

fn families(names: &[String]) -> Result<Vec<&'static Family>, BenchError> {
    if names.is_empty() {
        return Ok(FAMILIES.iter().filter(|family| !family.long).collect());
    }
    let known = || FAMILIES.iter().map(|family| family.name).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        let reason = || format!("there is no family '{name}'; there are [{}]", known());
        family(name).ok_or_else(|| BenchError { bench: PART.name, reason: reason() })
    };
    names.iter().map(find).collect()
}
