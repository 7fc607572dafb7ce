//! Runs of many trials, and their results.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::laws::{Finding, Law, Outcome, judge};
use super::sampler::SceneSampler;
use super::shrink::{shrink, size};
use super::{Family, Trial};
use pliant_io::files::IoError;
use pliant_scenes::format::Scene;

/// Scenes that shrinking tries, at most.
const MAX_SHRINK_ATTEMPTS: usize = 400;

/// Options of trials.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seed of all draws.
    pub seed: u64,
    /// Trials of all families together; the families alternate.
    pub count: u64,
    /// No trial begins after this time.
    pub time: Option<Duration>,
    /// The families.
    pub families: Vec<&'static Family>,
    /// Number of the first trial, to repeat one.
    pub first: u64,
    /// Threads, each with a trial of its own.
    pub threads: usize,
    /// Folder for failing scenes; it is created. The scene of a single trial is written to it before it runs.
    pub out: Option<PathBuf>,
    /// Whether failing scenes are reduced.
    pub shrink: bool,
}

/// Counts of the outcomes in a family.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Trials \[-\].
    pub trials: u64,
    /// Trials in which all laws held \[-\].
    pub held: u64,
    /// Scenes that were refused, by kind of message \[-\].
    pub refused: BTreeMap<String, u64>,
    /// Runs that ended with a typed error, by kind of message \[-\].
    pub said: BTreeMap<String, u64>,
    /// Laws that were broken without a warning \[-\].
    pub failed: BTreeMap<String, u64>,
    /// Laws that could not be judged, and why \[-\].
    pub skipped: BTreeMap<String, u64>,
    /// Wall time of all trials together \[s\].
    pub wall_s: f64,
}

/// A failing trial.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// Family.
    pub family: String,
    /// Seed.
    pub seed: u64,
    /// Number of the trial in its family.
    pub number: u64,
    /// The broken laws.
    pub findings: Vec<Finding>,
    /// The scene as it was drawn.
    #[serde(skip)]
    pub scene: Scene,
    /// The smallest scene that still fails.
    #[serde(skip)]
    pub smallest: Scene,
    /// Bodies, soft bodies, cloths and ropes of the smallest scene, floors left out \[-\].
    pub size: usize,
}

/// Results of all trials.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Found {
    /// By family.
    pub tallies: BTreeMap<String, Tally>,
    /// The failing trials, by family and number.
    pub failures: Vec<Failure>,
}

/// Runs trials. `progress` is called after each with the number of those done and the failures so
/// far.
///
/// # Errors
/// A failing scene cannot be written.
pub fn trials(options: &Options, progress: &(dyn Fn(u64, usize) + Sync)) -> Result<Found, IoError> {
    let (next, begun) = (AtomicU64::new(0), Instant::now());
    let found = Mutex::new(Found::default());
    let written = Mutex::new(Ok(()));
    let done = AtomicU64::new(0);
    let work = || {
        // A separate pool, so that a thread does not start another trial in the middle of its own.
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else { return };
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let late = options.time.is_some_and(|time| begun.elapsed() >= time);
            if at >= options.count || late || options.families.is_empty() {
                return;
            }
            let families = options.families.len() as u64;
            let family = options.families[(at % families) as usize];
            let number = options.first + at / families;
            let started = Instant::now();
            let trial = drawn(family, number, options.seed);
            if options.count == 1
                && let Some(folder) = &options.out
                && let Err(error) = write_scene(&trial.scene, folder, &trial.scene.name)
                && let Ok(mut written) = written.lock()
            {
                *written = Err(error);
            }
            let (outcome, failure) = pool.install(|| one(trial, family, number, options));
            let Ok(mut found) = found.lock() else { return };
            let tally = found.tallies.entry(family.name.to_owned()).or_default();
            count(tally, &outcome, started.elapsed().as_secs_f64());
            if let Some(failure) = failure {
                if let Some(folder) = &options.out
                    && let Err(error) = write(&failure, folder)
                    && let Ok(mut written) = written.lock()
                {
                    *written = Err(error);
                }
                found.failures.push(failure);
            }
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, found.failures.len());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..options.threads.max(1) {
            scope.spawn(work);
        }
    });
    if let Ok(result) = written.into_inner() {
        result?;
    }
    let mut found = found.into_inner().unwrap_or_default();
    found.failures.sort_by(|a, b| (&a.family, a.number).cmp(&(&b.family, b.number)));
    Ok(found)
}

/// A trial of a family under a seed.
fn drawn(family: &Family, number: u64, seed: u64) -> Trial {
    let mut sampler = SceneSampler::new(seed, family.name, number);
    let mut trial = (family.draw)(&mut sampler);
    trial.scene.seed = sampler.seed();
    trial.scene.name = format!("{}-{seed}-{number}", family.name);
    trial
}

/// One trial, reduced if it fails.
fn one(trial: Trial, family: &Family, number: u64, options: &Options) -> (Outcome, Option<Failure>) {
    let Trial { scene, laws } = trial;
    let outcome = judge(&scene, &laws);
    let Outcome::Failed(findings) = &outcome else { return (outcome, None) };
    let broken: Vec<Law> =
        laws.iter().filter(|law| findings.iter().any(|f| f.law == law.name())).take(1).cloned().collect();
    let fails = |scene: &Scene| match judge(scene, &broken) {
        Outcome::Failed(again) => again.iter().any(|f| f.law == findings[0].law),
        _ => false,
    };
    let smallest = if options.shrink { shrink(&scene, MAX_SHRINK_ATTEMPTS, fails) } else { scene.clone() };
    let failure = Failure {
        family: family.name.to_owned(),
        seed: options.seed,
        number,
        findings: findings.clone(),
        size: size(&smallest),
        scene,
        smallest,
    };
    (outcome, Some(failure))
}

fn count(tally: &mut Tally, outcome: &Outcome, wall_s: f64) {
    tally.trials += 1;
    tally.wall_s += wall_s;
    let one_more = |counts: &mut BTreeMap<String, u64>, kind: String| *counts.entry(kind).or_default() += 1;
    match outcome {
        Outcome::Held { skipped } => {
            tally.held += 1;
            for (law, why) in skipped {
                one_more(&mut tally.skipped, format!("{law}: {why}"));
            }
        }
        Outcome::Refused(message) => one_more(&mut tally.refused, kind_of(message)),
        Outcome::Said(message) => one_more(&mut tally.said, kind_of(message)),
        Outcome::Failed(findings) => {
            findings.iter().for_each(|finding| one_more(&mut tally.failed, finding.law.clone()));
        }
    }
}

/// A message without its numbers.
fn kind_of(message: &str) -> String {
    let mut kind = String::new();
    for c in message.lines().next().unwrap_or("").chars() {
        let number = c.is_ascii_digit() || (kind.ends_with('#') && matches!(c, '.' | 'e' | '-' | '+'));
        match (number, kind.ends_with('#')) {
            (true, true) => {}
            (true, false) => kind.push('#'),
            (false, _) => kind.push(c),
        }
    }
    kind.chars().take(160).collect()
}

/// Writes the drawn scene and the smallest.
fn write(failure: &Failure, folder: &Path) -> Result<(), IoError> {
    let law = failure.findings.first().map_or("", |finding| &finding.law);
    let stem = format!("{}-{}-{}-{law}", failure.family, failure.seed, failure.number);
    let told: Vec<String> = failure.findings.iter().map(|f| format!("{}: {}", f.law, f.what)).collect();
    for (scene, part) in [(&failure.scene, "drawn"), (&failure.smallest, "smallest")] {
        let scene = Scene { description: told.join("; "), ..scene.clone() };
        write_scene(&scene, folder, &format!("{stem}-{part}"))?;
    }
    Ok(())
}

fn write_scene(scene: &Scene, folder: &Path, stem: &str) -> Result<(), IoError> {
    std::fs::create_dir_all(folder).map_err(|e| IoError::file("create", folder, e))?;
    let path = folder.join(format!("{stem}.json"));
    let malformed = |e: serde_json::Error| IoError::Malformed { path: path.clone(), reason: e.to_string() };
    let text = serde_json::to_string_pretty(scene).map_err(malformed)?;
    std::fs::write(&path, text).map_err(|e| IoError::file("write", &path, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: messages that differ in their numbers alone are of one kind.
    #[test]
    fn kinds_have_no_numbers() {
        let kind = kind_of("step 3 (t = 0.25 s): particle 7 was lost at (-1.5e-3, 2) m");
        assert_eq!(kind, "step # (t = # s): particle # was lost at (-#, #) m");
    }
}
