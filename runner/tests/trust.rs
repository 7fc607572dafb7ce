//! Runs that cannot be trusted say so: coupling steps that are too long, energy created by the
//! scheme.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use pliant_runner::run::{DIAGNOSTICS, Manifest, RunOptions, Status, run};
use pliant_scenes::format::{Scene, parse_scene};
use pliant_scenes::scenario::Scenario;
use serde_json::json;

/// A box of 5 kg that falls at 6 m/s onto a mat of 3 cm. In a step of 10 ms it goes twice the mat's
/// thickness.
fn slam(coupling_step: &str) -> Scene {
    let rubber = json!({
        "model": "fixed-corotated", "density": 1000.0, "youngs_modulus": 5e4, "poissons_ratio": 0.3
    });
    let mat = json!({ "type": "box", "half_extents": [0.1, 0.1, 0.015] });
    let cube = json!({ "type": "box", "half_extents": [0.05, 0.05, 0.05] });
    let text = json!({
        "name": "slam", "duration": 0.1, "dt": 0.01, "grid_spacing": 0.02, "coupling_step": coupling_step,
        "coupling": "weak",
        "soft": [{ "name": "mat", "shape": mat, "pose": { "position": [0, 0, 0.015] }, "material": rubber }],
        "bodies": [
            {
                "name": "floor", "motion": { "type": "fixed" },
                "geometries": [{ "shape": { "type": "half-space" } }]
            },
            {
                "name": "box",
                "motion": {
                    "type": "dynamic", "joint": { "type": "free" }, "mass": 5.0,
                    "pose": { "position": [0, 0, 0.1] }, "velocity": [0, 0, -6]
                },
                "geometries": [{ "shape": cube }]
            }
        ]
    });
    parse_scene(&text.to_string()).unwrap()
}

/// The manifest and the table of a run.
fn ran(scene: &Scene) -> (Manifest, String) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let options = RunOptions { pictures: false, ..RunOptions::new(out.clone()) };
    let summary = run(Scenario::new(scene).unwrap(), options).unwrap();
    (summary.manifest, std::fs::read_to_string(out.join(DIAGNOSTICS)).unwrap())
}

/// A column of a table, as numbers.
fn column(table: &str, name: &str) -> Vec<f64> {
    let mut lines = table.lines().map(|line| line.split(','));
    let at = lines.next().unwrap().position(|column| column == name).unwrap();
    lines.map(|mut cells| cells.nth(at).unwrap().parse().unwrap()).collect()
}

fn warned<'a>(manifest: &'a Manifest, of: &str) -> Option<&'a String> {
    manifest.warnings.iter().find(|warning| warning.starts_with(of))
}

// Checks: a step in which a body moves farther than the scheme resolves is split, or reported if
// the scene forbids that. The manifest's values are those of the table's rows.
#[test]
fn steps_that_are_too_long_are_split_or_told() {
    for coupling_step in ["fixed", "auto"] {
        let (manifest, table) = ran(&slam(coupling_step));
        let (steps, excess) = (column(&table, "coupling_steps"), column(&table, "coupling_excess"));
        let told = warned(&manifest, "coupling");
        println!("{coupling_step}: {:?}, {:?}", manifest.coupling, manifest.warnings);
        let coupling = manifest.coupling;
        assert_eq!(coupling.steps as f64, steps.iter().sum::<f64>());
        assert_eq!(coupling.split as usize, steps.iter().filter(|&&steps| steps > 1.0).count());
        assert_eq!(coupling.too_long as usize, excess.iter().filter(|&&excess| excess > 1.0).count());
        assert_eq!(coupling.worst.0, excess.iter().copied().fold(0.0, f64::max));
        if coupling_step == "fixed" {
            assert_eq!((coupling.split, coupling.steps), (0, 10));
            let told = told.unwrap();
            let figures = format!("in {} steps", coupling.too_long);
            assert!(coupling.too_long > 0 && told.contains(&figures), "{told}");
            assert!(told.contains("coupling_step auto"), "{told}");
        } else {
            assert!(coupling.split > 0 && coupling.too_long == 0, "{coupling:?}");
            assert_eq!(told, None);
        }
    }
}

/// A sheet of which two edges are pulled apart to three times its width.
fn pulled(substeps: &serde_json::Value) -> Scene {
    let pin = |edge: &str, way: f64| {
        json!({
            "at": { "type": "edge", "edge": edge },
            "keyframes": [
                { "time": 0.0, "displacement": [0, 0, 0] }, { "time": 0.4, "displacement": [way, 0, 0] }
            ]
        })
    };
    let text = json!({
        "name": "pulled", "duration": 0.5, "dt": 0.005, "grid_spacing": 0.02, "substeps": substeps,
        "gravity": [0, 0, 0],
        "cloths": [{
            "name": "sheet", "shape": { "type": "rectangle", "size": [0.2, 0.1], "parts": [16, 8] },
            "material": {
                "density": 300.0, "youngs_modulus": 2e4, "poissons_ratio": 0.3, "thickness": 0.002,
                "normal_stiffness": 5e3
            },
            "pins": [pin("left", -0.2), pin("right", 0.2)]
        }]
    });
    parse_scene(&text.to_string()).unwrap()
}

// Checks: a number of substeps that is stable at rest is not for a sheet that is stretched by three,
// and a run says so; an automatic one follows. That no fabric is whole there is told either way.
#[test]
fn substeps_too_long_for_the_stretch_are_told() {
    let automatic = ran(&pulled(&json!("auto"))).0;
    println!("auto: {} substeps, {:?}", automatic.substeps, automatic.warnings);
    assert!(warned(&automatic, "substeps").is_none(), "{:?}", automatic.warnings);
    let torn = warned(&automatic, "cloth").unwrap();
    assert!(torn.contains("an edge was 3.1 times as long as at rest"), "{torn}");
    let at_rest = Scenario::new(&pulled(&json!("auto"))).unwrap().world.substeps();
    let given = ran(&pulled(&json!(at_rest))).0;
    println!("{at_rest}: {} substeps, {:?}", given.substeps, given.warnings);
    let told = warned(&given, "substeps").unwrap();
    assert!(told.contains("the stretch of the material") && told.contains("auto"), "{told}");
}

// Checks: the energy that the scheme created is reported above 0.05 of the energy input, and ends
// the run if the scene bounds it. Here the box of 90 J throws the mat that it has gone through.
#[test]
fn energy_from_nowhere_is_told_or_ends_the_run() {
    let (manifest, table) = ran(&slam("fixed"));
    let [gained, energy_input] = ["energy_gained", "energy_put_in"].map(|name| manifest.energy[name].0);
    println!("{gained} of {energy_input} J, {:?}, {:?}", manifest.status, manifest.error);
    assert!(gained > 0.05 * energy_input, "{gained} of {energy_input} J");
    let told = warned(&manifest, "energy").unwrap();
    assert!(told.contains("the scheme created") && told.contains("smaller dt"), "{told}");
    assert_eq!(manifest.status, Status::Completed);

    // Twice what was gained, and half of it: at the first row that has more.
    let part = gained / energy_input;
    let (column_gained, column_put_in) = (column(&table, "energy_gained"), column(&table, "energy_put_in"));
    let mut bounded = slam("fixed");
    bounded.limits.energy_gain = Some(2.0 * part);
    let (allowed, _) = ran(&bounded);
    assert_eq!((allowed.status, allowed.steps), (Status::Completed, 10));
    bounded.limits.energy_gain = Some(0.5 * part);
    let (refused, _) = ran(&bounded);
    let first =
        column_gained.iter().zip(&column_put_in).position(|(g, p)| *g > 0.5 * part * p).unwrap() as u64 + 1;
    assert_eq!((refused.status, refused.steps), (Status::Failed, first));
    let error = refused.error.unwrap();
    assert!(error.starts_with(&format!("limits.energy_gain: step {first}: energy:")), "{error}");
    // It was said once.
    assert!(!refused.warnings.iter().any(|warning| warning.starts_with("energy")), "{:?}", refused.warnings);
}
