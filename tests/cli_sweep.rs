//! `sweep --random`: seeded values in the table, and the share of the variants that met the scene's
//! goals.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod cli_support;

use cli_support::Place;
use serde_json::Value;

/// `elastic-drop` with 64 particles at 1 m, for 0.05 s; its goal is to be above 0.995 m all the
/// time.
const SMALL: [&str; 10] = [
    "--set",
    "grid_spacing=0.025",
    "--set",
    "soft[0].sampling.counts=[4,4,4]",
    "--set",
    "soft[0].pose.position[2]=1",
    "--time",
    "0.05",
    "--set",
    r#"goals=[{"name":"high","soft":"cube","quantity":{"type":"center","axis":"z"},"min":0.995}]"#,
];

// Checks: a fall from 1 m for 0.05 s ends below 0.995 m where g > 2 x 0.005/0.05^2 = 4 m/s^2, give
// or take a step's share, 10 %. The drawn values stand in the table and depend on the seed alone;
// samples that are there already are skipped; a run killed before its first checkpoint is begun
// again.
#[test]
fn random_samples_are_tabled_with_their_share_of_success() {
    let place = Place::new();
    let sweep = |samples: &str, seed: &str| {
        let mut arguments =
            vec!["sweep", "elastic-drop", "--no-pictures", "--out", "out", "--samples", samples];
        arguments.extend(["--seed", seed, "--random", "gravity[2]=-9..-1"]);
        arguments.extend(SMALL);
        place.pliant(&arguments)
    };
    sweep("4", "7").exits(0);
    let first = place.json("out/sweep.json");
    std::fs::create_dir(place.path("out/.sample-0005.partial")).unwrap();
    let said = sweep("12", "7").exits(0);
    assert!(said.out.contains("12 of 12 completed, 4 of them in an earlier run"), "{}", said.out);
    let table = place.json("out/sweep.json");
    assert_eq!(table["random"]["seed"], 7);
    let variants = table["variants"].as_array().unwrap();
    let mut met = 0;
    for (at, variant) in variants.iter().enumerate() {
        let gravity = variant["changes"]["gravity[2]"].as_f64().unwrap();
        assert!((-9.0..-1.0).contains(&gravity));
        if let Some(before) = first["variants"].get(at) {
            assert_eq!(before["changes"], variant["changes"]);
        }
        let high = variant["goals"][0]["met"] == Value::Bool(true);
        assert!(high || gravity < -3.6, "{variant}");
        assert!(!high || gravity > -4.0, "{variant}");
        met += usize::from(high);
    }
    assert_eq!(
        (table["goals"][1]["name"].as_str(), table["goals"][1]["met"].as_u64()),
        (Some("all"), Some(met as u64))
    );
    assert!(said.out.contains(&format!("goal all: met by {met} of 12")), "{}", said.out);

    for arguments in [
        &["--random", "gravity[2]=-9..-1"][..],
        &["--random", "gravity[2]=-1..-9", "--samples", "2"],
        &["--random", "gravity[2]=-9..-1", "--samples", "0"],
        &["--random", "gravity[2]=-9..-1", "--samples", "2", "--vary", "gravity[2]=1,2"],
        &["--samples", "2"],
    ] {
        let mut all = vec!["sweep", "elastic-drop", "--out", "other"];
        all.extend(arguments);
        place.pliant(&all).exits(2);
        assert!(!place.path("other").exists());
    }
}
