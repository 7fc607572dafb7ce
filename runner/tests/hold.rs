//! The built-in scene `hold`: its expected result and its figure.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use std::fs;

use pliant_runner::run::{FORCES, RunOptions, Status, read_forces, run};
use pliant_scenes::builtin;
use pliant_scenes::format::{Assignment, apply, validate};
use pliant_scenes::scenario::Scenario;

/// Yu et al. 2025, Fig. 2, from the table that the scene's figure is drawn from. Laws: statics. In
/// every step of the last 0.05 s the normal force is 10 N within 1 % on each panel, the vertical
/// friction m g/2 within 2 %, the lateral friction below 1 % of that; and so none of them
/// oscillates. Measured: 0.07 %, 0.09 %, 0.09 %.
#[test]
fn hold_meets_statics_on_each_panel() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("hold");
    let scene = builtin::scene("hold").unwrap().unwrap();
    let options = RunOptions { pictures: false, ..RunOptions::new(&out) };
    let summary = run(Scenario::new(&scene).unwrap(), options).unwrap();
    assert_eq!(summary.manifest.status, Status::Completed);
    assert!(summary.manifest.files.contains(&FORCES.to_owned()));
    let rows = read_forces(&out).unwrap();
    assert_eq!(rows.len(), 2 * 2000, "a row a step and panel");
    let half_weight = 0.5 * 100.0 * 1e-3 * 9.81;
    let (mut normal, mut vertical, mut lateral) = (0.0_f64, 0.0_f64, 0.0_f64);
    for row in rows.iter().filter(|row| row.time > 0.15) {
        let outward = if row.body == "left" { -1.0 } else { 1.0 };
        normal = normal.max((outward * row.force.x / 10.0 - 1.0).abs());
        vertical = vertical.max((-row.force.z / half_weight - 1.0).abs());
        lateral = lateral.max((row.force.y / half_weight).abs());
    }
    println!("off by, at most: normal {normal:.2e}, vertical {vertical:.2e}, lateral {lateral:.2e}");
    assert!(normal < 0.01, "normal force off by {normal}");
    assert!(vertical < 0.02, "vertical friction off by {vertical}");
    assert!(lateral < 0.01, "lateral friction over half the weight: {lateral}");
}

// Checks: the scene's figure has its panels, curves and closed-form lines; forces that a scene
// outputs without a plot are written too.
#[test]
fn a_scene_draws_its_plots() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("hold");
    let changes = ["duration=0.004", "output.picture_size=[64,48]"].map(|c| Assignment::parse(c).unwrap());
    let scene = apply(&builtin::scene("hold").unwrap().unwrap(), &changes).unwrap();
    let summary = run(Scenario::new(&scene).unwrap(), RunOptions::new(&out)).unwrap();
    assert_eq!(summary.picture_error, None);
    for file in &summary.manifest.files {
        assert!(out.join(file).exists(), "{file}");
    }
    let svg = fs::read_to_string(out.join("plots/contact-forces.svg")).unwrap();
    for text in
        ["Normal force", "Vertical friction", "Lateral friction", "applied force, 10 N", "on the left panel"]
    {
        assert!(svg.contains(text), "{text}");
    }
    assert!(svg.matches("<polyline").count() >= 6, "six curves");
}

// Checks: what a plot names must be there, with its path.
#[test]
fn bad_plots_are_named() {
    for (change, expected) in [
        (
            "output.forces=[\"nobody\"]",
            "output.forces[0]: 'nobody' is neither one of the bodies [left, right]",
        ),
        (
            "output.plots[0].panels[1].curves[0].body=nobody",
            "output.plots[0].panels[1].curves[0].body: 'nobody' is neither",
        ),
        (
            "output.plots[0].panels[1].curves[0].direction=[0,0,0]",
            "output.plots[0].panels[1].curves[0].direction: [0, 0, 0] is no direction",
        ),
        ("output.plots[0].panels=[]", "output.plots[0].panels: [] has no panel"),
        ("output.plots[0].panels[0].curves=[]", "output.plots[0].panels[0].curves: [] has no curve"),
        (
            "output.plots[0].panels[0].range=[1,1]",
            "output.plots[0].panels[0].range: [1, 1] N or N m must be a range",
        ),
        ("output.plots[0].name=../x", "output.plots[0].name: '../x' must be letters"),
    ] {
        let scene = builtin::scene("hold").unwrap().unwrap();
        let scene = apply(&scene, &[Assignment::parse(change).unwrap()]).unwrap();
        let error = validate(&scene).unwrap_err();
        assert_eq!(error.problems.len(), 1, "{error}");
        assert!(error.to_string().starts_with(expected), "{change}: {error}");
    }
}
