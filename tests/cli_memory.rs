//! The memory that a run takes is not more than its estimate.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod cli_support;

use std::time::Duration;

use cli_support::Place;
use pliant::numeric::random::SplitMix64;
use serde_json::Value;

/// The most memory that a command takes \[bytes\]: the last value of `VmHWM` before it ends.
fn peak(place: &Place, arguments: &[&str]) -> u64 {
    let mut child = place.start(arguments);
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) * 1024);
        if let Some(ended) = child.try_wait().unwrap() {
            assert!(ended.success(), "{arguments:?}");
            return peak;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A pile of so many boxes above a floor.
fn boxes(count: usize) -> String {
    let mut bodies = vec![
        r#"{ "name": "floor", "motion": { "type": "fixed" }, "geometries": [{ "shape": { "type": "half-space" } }] }"#.to_owned(),
    ];
    for at in 0..count {
        let position =
            [(at % 10) as f64 * 0.105, (at / 10 % 10) as f64 * 0.105, 0.05 + 0.1 * (at / 100) as f64];
        bodies.push(format!(
            r#"{{ "name": "box {at}", "motion": {{ "type": "dynamic", "joint": {{ "type": "free" }}, "density": 500,
                "pose": {{ "position": {position:?} }} }},
                "geometries": [{{ "shape": {{ "type": "box", "half_extents": [0.05, 0.05, 0.05] }} }}] }}"#
        ));
    }
    format!(
        r#"{{ "name": "boxes", "duration": 0.1, "dt": 0.002, "bodies": [{}], "output": {{ "frame_interval": 0.01 }} }}"#,
        bodies.join(",")
    )
}

// The law (`scenes/src/estimate.rs`): the estimate of the memory is a bound, so that a run that is let
// through does not end for want of memory. Cubes that fall onto a table, T-shirts that lie on one, and
// piles of boxes, of random sizes.
#[test]
#[ignore = "slow tier"]
fn memory_stays_below_its_estimate() {
    let place = Place::new();
    let mut random = SplitMix64::new(8000);
    let mut worst: f64 = 0.0;
    for case in 0..9 {
        let (scene, changes, time) = match case % 3 {
            0 => {
                let side = 16 + random.next_u64() % 32;
                let spacing = format!("grid_spacing={}", 0.2 / side as f64);
                let counts = format!("soft[0].sampling.counts=[{side},{side},{side}]");
                let height = "soft[0].pose.position[2]=0.26".to_owned();
                ("elastic-drop", vec![spacing, counts, height], "0.1")
            }
            1 => {
                let spacing = format!("grid_spacing={}", random.uniform_in(0.006, 0.012));
                ("tshirt-folding", vec![spacing], "0.2")
            }
            _ => {
                place.write("boxes.json", &boxes(50 + random.next_u64() as usize % 500));
                ("boxes.json", Vec::new(), "0.1")
            }
        };
        let sets: Vec<&str> = changes.iter().flat_map(|change| ["--set", change]).collect();
        let said = place.pliant(&[&["check", scene, "--json"][..], &sets].concat()).exits(0);
        let estimate: Value = serde_json::from_str(&said.out).unwrap();
        let estimate = estimate["estimate"]["memory"].as_u64().unwrap();
        let run = [&["run", scene, "--out", "out", "--time", time][..], &sets].concat();
        let peak = peak(&place, &run);
        println!("{scene} {changes:?}: {:.1} of {:.1} MB", peak as f64 / 1e6, estimate as f64 / 1e6);
        worst = worst.max(peak as f64 / estimate as f64);
        assert!(peak > 0 && peak <= estimate, "{scene} {changes:?}: {peak} of {estimate} bytes");
        std::fs::remove_dir_all(place.path("out")).unwrap();
    }
    println!("at most {worst:.2} of an estimate");
}
