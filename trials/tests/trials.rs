//! Scenes drawn at random, judged by laws alone: a minute of `pliant bench trials`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use std::time::Duration;

use pliant_trials::{FAMILIES, Found, Options, family, trials};

fn run(seed: u64, count: u64, names: &[&str]) -> Found {
    let families = names.iter().map(|name| family(name).unwrap()).collect();
    let time = Some(Duration::from_secs(60));
    let options = Options { seed, count, time, families, first: 0, threads: 2, out: None, shrink: false };
    trials(&options, &|_, _| {}).unwrap()
}

/// What broke, with what repeats it.
fn told(found: &Found) -> String {
    let line = |f: &pliant_trials::Failure| {
        let laws: Vec<_> = f.findings.iter().map(|f| format!("{}: {}", f.law, f.what)).collect();
        format!(
            "pliant bench trials --family {} --seed {} --first {} --count 1: {}",
            f.family,
            f.seed,
            f.number,
            laws.join("; ")
        )
    };
    found.failures.iter().map(line).collect::<Vec<_>>().join("\n")
}

// Checks: energy and momentum close, nothing is lost or inside, floors carry the weight, and no way
// of seeing a scene changes what it does. Seed 18; every number of every family follows from it.
// Longer runs find what still breaks a law: benches/runs/2026-11-22-18-trials.
#[test]
fn scenes_drawn_at_random_keep_the_laws() {
    let names: Vec<&str> = FAMILIES.iter().filter(|family| !family.long).map(|family| family.name).collect();
    let found = run(18, 12 * names.len() as u64, &names);
    assert!(found.failures.is_empty(), "{}", told(&found));
    // Trials that were all refused would show nothing.
    for (name, tally) in &found.tallies {
        println!("{name}: {tally:?}");
        assert!(2 * tally.held >= tally.trials, "{name}: {tally:?}");
    }
}

// Checks: what came of trials does not depend on the threads that ran them.
#[test]
fn trials_are_repeatable() {
    let (one, two) = (run(3, 6, &["rigid-free"]), run(3, 6, &["rigid-free"]));
    let plain = |found: &Found| {
        let tally = &found.tallies["rigid-free"];
        (tally.trials, tally.held, tally.failed.clone(), told(found))
    };
    assert_eq!(plain(&one), plain(&two));
}
