//! `run`, `render`, `report`, `sweep`: run directories, exit codes, going on with a run.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod cli_support;

use cli_support::{Place, SMALL, names};
use pliant::io::ply::{FrameParticle, read_frame};
use serde_json::Value;

/// A heavy box that falls fast on a thin mat.
const SLAM: &str = r#"{
    "name": "slam", "duration": 0.1, "dt": 0.01, "grid_spacing": 0.02, "coupling": "weak", "coupling_step": "fixed",
    "soft": [{
        "name": "mat", "shape": { "type": "box", "half_extents": [0.1, 0.1, 0.015] },
        "pose": { "position": [0, 0, 0.015] },
        "material":
            { "model": "fixed-corotated", "density": 1000.0, "youngs_modulus": 50000.0, "poissons_ratio": 0.3 }
    }],
    "bodies": [
        { "name": "floor", "motion": { "type": "fixed" }, "geometries": [{ "shape": { "type": "half-space" } }] },
        {
            "name": "box",
            "motion": {
                "type": "dynamic", "joint": { "type": "free" }, "mass": 5.0,
                "pose": { "position": [0, 0, 0.1] }, "velocity": [0, 0, -6]
            },
            "geometries": [{ "shape": { "type": "box", "half_extents": [0.05, 0.05, 0.05] } }]
        }
    ]
}"#;

// The contract of a run directory: the manifest's fields, a row of diagnostics a step, a row of
// bodies a frame and body.
#[test]
fn a_run_directory_has_what_the_contract_says() {
    let place = Place::new();
    let mut arguments = vec!["run", "elastic-drop", "--out", "out", "--seed", "3", "--threads", "1"];
    arguments.extend(SMALL);
    arguments.extend(["--set", "output.picture_size=[64,48]", "--set", "output.frame_interval=0.01"]);
    arguments.extend(["--set", r#"output.fields=["j","stress-norm"]"#]);
    let said = place.pliant(&arguments).exits(0);
    for word in ["elastic-drop: completed", "particles     64", "conservation", "preview.png"] {
        assert!(said.out.contains(word), "{word}: {}", said.out);
    }
    assert_eq!(place.names(), ["out"]);
    let expected = [
        "bodies.csv",
        "checkpoint",
        "diagnostics.csv",
        "frames",
        "frames.csv",
        "manifest.json",
        "preview.gif",
        "preview.png",
    ];
    assert_eq!(names(&place.path("out")), expected);

    let manifest = place.json("out/manifest.json");
    for field in [
        "schema_version",
        "status",
        "error",
        "scene",
        "seed",
        "backend",
        "device",
        "threads",
        "version",
        "git_commit",
        "wall_s",
        "sim_s",
        "steps",
        "substeps",
        "real_time_rate",
        "particles",
        "ms_per_step",
        "grid_nodes",
        "contacts",
        "solver",
        "coupling",
        "conservation",
        "frames",
    ] {
        assert!(manifest.get(field).is_some(), "{field}");
    }
    assert_eq!(manifest["status"], "completed");
    assert_eq!(manifest["error"], Value::Null);
    assert_eq!((manifest["steps"].as_u64(), manifest["seed"].as_u64()), (Some(10), Some(3)));
    assert_eq!((manifest["particles"].as_u64(), manifest["threads"].as_u64()), (Some(64), Some(1)));
    // Every second step of 5 ms and the start.
    assert_eq!(manifest["frames"], 6);
    assert_eq!(names(&place.path("out/frames")).len(), 6);
    // Particles in free fall: mass and momentum to f32 rounding.
    for (balance, bound) in [("mass", 1e-6), ("linear_momentum", 1e-5)] {
        assert!(manifest["conservation"][balance].as_f64().unwrap() < bound, "{manifest}");
    }

    let diagnostics = place.read("out/diagnostics.csv");
    let mut lines = diagnostics.lines();
    let header: Vec<_> = lines.next().unwrap().split(',').collect();
    // 27 of the step, 2 of its coupling steps, 27 of the balance of energy, and the wall time.
    assert_eq!(header.len(), 57);
    assert_eq!((header[0], header[27], header[28]), ("time", "coupling_steps", "coupling_excess"));
    assert_eq!((header[29], header.last().copied()), ("work_bodies", Some("wall_ms")));
    // No body moves by its dynamics, so that nothing of them is measured: those cells are empty.
    let cell = |field: &str| if field.is_empty() { f64::NAN } else { field.parse().unwrap() };
    let rows: Vec<Vec<f64>> = lines.map(|line| line.split(',').map(cell).collect()).collect();
    for (name, value) in header.iter().zip(&rows[9]) {
        let of_bodies =
            *name != "rigid_kinetic_energy" && header[29..].contains(name) && name.starts_with("rigid_");
        assert_eq!(value.is_nan(), of_bodies, "{name}: {value}");
    }
    assert!(rows.iter().all(|row| row[27] == 1.0));
    assert_eq!(rows.len(), 10);
    assert!((rows[9][0] - 0.05).abs() < 1e-12);
    // Free fall from rest: p_z = -m g t.
    let com_velocity = rows[9][8] / rows[9][2];
    assert!((com_velocity + 9.81 * 0.05).abs() < 1e-4, "{com_velocity}");

    assert_eq!(place.read("out/bodies.csv").lines().count(), 1 + 6);
    let header = std::fs::read(place.path("out/frames/000005.ply")).unwrap();
    let header = String::from_utf8_lossy(&header[..header.len().min(600)]).into_owned();
    for word in ["binary_little_endian", "element vertex 64", "stress_norm", "material", "property float J"] {
        assert!(header.contains(word), "{word}: {header}");
    }
}

#[test]
fn json_goes_to_standard_output_and_default_outputs_to_runs() {
    let place = Place::new();
    let mut arguments = vec!["run", "elastic-drop", "--no-pictures", "--json"];
    arguments.extend(SMALL);
    let said = place.pliant(&arguments).exits(0);
    let rows: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(rows[0]["manifest"]["status"], "completed");
    assert_eq!(names(&place.path("runs")), ["elastic-drop"]);
}

// Checks: the result does not depend on the number of threads, bit for bit.
#[test]
fn threads_do_not_change_the_frames() {
    let place = Place::new();
    for threads in ["1", "3"] {
        place.run_small(threads, &["--threads", threads, "--set", "soft[0].pose.position[2]=0.09"]).exits(0);
    }
    for frame in names(&place.path("1/frames")) {
        let read = |run: &str| std::fs::read(place.path(run).join("frames").join(&frame)).unwrap();
        assert!(read("1") == read("3"), "{frame}");
    }
}

// Checks: a run that blows up keeps its frames, says `failed`, the step and the particle, exits 1,
// and leaves the other runs alone.
#[test]
fn a_run_that_blows_up_fails_alone() {
    let place = Place::new();
    let shown = place.pliant(&["show", "elastic-drop", "--set", "gravity=[0,0,-1e9]"]).exits(0).out;
    place.write("bad.json", &shown.replacen("\"name\": \"elastic-drop\"", "\"name\": \"bad\"", 1));
    let mut arguments = vec!["run", "bad.json", "elastic-drop", "--no-pictures", "--out", "out"];
    arguments.extend(SMALL);
    place.pliant(&arguments).exits(1);
    assert_eq!(names(&place.path("out")), ["bad", "elastic-drop"]);
    let manifest = place.json("out/bad/manifest.json");
    assert_eq!(manifest["status"], "failed");
    let error = manifest["error"].as_str().unwrap();
    assert!(error.contains("step") && error.contains("particle"), "{error}");
    assert_eq!(names(&place.path("out/bad/frames")).len() as u64, manifest["frames"].as_u64().unwrap());
    assert!(manifest["frames"].as_u64().unwrap() >= 1);
    assert_eq!(place.json("out/elastic-drop/manifest.json")["status"], "completed");
}

// Checks: a run that gains more energy than the scene allows fails with exit code 1 and says so;
// without a bound it completes, with a warning. A box of 5 kg goes through a mat of 3 cm in a step
// of 10 ms, which `coupling_step` keeps from being split.
#[test]
fn a_run_that_gains_energy_is_warned_of_or_fails() {
    let place = Place::new();
    place.write("slam.json", SLAM);
    let run = |out: &str, more: &[&str]| {
        let mut arguments = vec!["run", "slam.json", "--no-pictures", "--out", out];
        arguments.extend(more);
        place.pliant(&arguments)
    };
    let said = run("warned", &[]).exits(0);
    for words in ["warning: energy: ", "the scheme created", "warning: coupling: in ", "coupling_step auto"] {
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
    assert!(said.out.contains("coupling "), "{}", said.out);
    let said = run("failed", &["--set", "limits.energy_gain=0.06"]).exits(1);
    assert!(said.out.contains("limits.energy_gain: step "), "{}", said.out);
    let manifest = place.json("failed/manifest.json");
    assert_eq!(manifest["status"], "failed");
    assert!(manifest["steps"].as_u64().unwrap() < 10, "{}", manifest["steps"]);
    // With a short enough step there is no warning.
    let said = run("short", &["--set", "coupling_step=\"auto\"", "--set", "dt=0.0005"]).exits(0);
    assert!(!said.err.contains("warning: coupling"), "{}", said.err);
    run("bad", &["--set", "limits.energy_gain=-1"]).exits(2).complains("limits.energy_gain");
}

// Checks: the requested backend steps the run, from its beginning and from a checkpoint, and the
// manifest says which it was.
#[test]
fn a_device_steps_a_run() {
    let place = Place::new();
    let fields = r#"output.fields=["mass","volume","affine","time"]"#;
    let near = "soft[0].pose.position[2]=0.09";
    let emulated = ["--backend", "cuda-emulated", "--set", near, "--set", fields];
    let said = place.run_small("out", &emulated);
    if !cfg!(feature = "emulation") {
        said.exits(2).complains("backend 'cuda-emulated': ");
        return;
    }
    said.exits(0);
    let mut longer =
        vec!["run", "elastic-drop", "--no-pictures", "--out", "out", "--time", "0.1", "--resume"];
    longer.extend(&SMALL[..4]);
    longer.extend(emulated);
    place.pliant(&longer).exits(0);
    let manifest = place.json("out/manifest.json");
    assert_eq!(manifest["backend"], "cuda-emulated");
    assert_eq!(manifest["steps"], 20);
    assert!(manifest["contacts"]["max"].as_u64().unwrap() > 0, "it touches the table");
    // A step's row has the totals of the particles after it.
    let balance = &manifest["conservation"];
    for error in ["mass", "linear_momentum", "angular_momentum"] {
        assert!(balance[error].as_f64().unwrap() < 1e-6, "{error}: {balance}");
    }
    // Frames have what the device knows of its particles, at the end of the run.
    let last = names(&place.path("out/frames")).pop().unwrap();
    let frame = read_frame(place.path("out/frames").join(last)).unwrap();
    assert!(frame.time.is_some_and(|time| (time - 0.1).abs() < 1e-12), "{:?}", frame.time);
    let density = |p: &FrameParticle| p.mass / p.volume;
    let first = density(&frame.particles[0]);
    assert!(first > 1.0 && frame.particles.iter().all(|p| (density(p) / first - 1.0).abs() < 1e-5));
    assert!(frame.particles.iter().any(|p| p.affine.iter().any(|c| *c != 0.0)), "nothing deforms");
}

// Checks: a run made longer by --resume is the long run, bit for bit.
#[test]
fn a_resumed_run_is_the_long_run() {
    let place = Place::new();
    let near = ["--set", "soft[0].pose.position[2]=0.09", "--set", "output.frame_interval=0.01"];
    place.run_small("short", &near).exits(0);
    let mut long = near.to_vec();
    long.extend(["--resume"]);
    // Of the same length it is complete, and left as it is; of another scene it is refused.
    let manifest = place.read("short/manifest.json");
    place.run_small("short", &long).exits(0);
    assert_eq!(place.read("short/manifest.json"), manifest);
    place.run_small("short", &["--resume"]).exits(2).complains("scene differs");
    let before = place.names();
    let longer = |out: &str, more: &[&str]| {
        let mut arguments = vec!["run", "elastic-drop", "--no-pictures", "--out", out, "--time", "0.1"];
        arguments.extend(&SMALL[..4]);
        arguments.extend(near);
        arguments.extend(more);
        place.pliant(&arguments).exits(0);
    };
    longer("short", &["--resume"]);
    assert_eq!(place.names(), before);
    longer("long", &[]);
    let frames = names(&place.path("long/frames"));
    assert_eq!(names(&place.path("short/frames")), frames);
    assert_eq!(frames.len(), 11);
    for frame in &frames {
        let read = |run: &str| std::fs::read(place.path(run).join("frames").join(frame)).unwrap();
        assert!(read("short") == read("long"), "{frame}");
    }
    let rows = |run: &str| -> Vec<String> {
        let text = place.read(&format!("{run}/diagnostics.csv"));
        // Without the wall time, the last column.
        text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect()
    };
    assert_eq!(rows("short"), rows("long"));
    assert_eq!(place.read("short/bodies.csv"), place.read("long/bodies.csv"));
}

#[test]
fn render_makes_the_pictures_again_and_report_prints_a_table() {
    let place = Place::new();
    place.run_small("out", &["--set", "output.picture_size=[64,48]"]).exits(0);
    assert!(!place.path("out/preview.png").exists());
    place.pliant(&["render", "out", "--all"]).exits(0);
    assert!(std::fs::read(place.path("out/preview.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(std::fs::read(place.path("out/preview.gif")).unwrap().starts_with(b"GIF89a"));
    assert_eq!(names(&place.path("out/pictures")).len(), names(&place.path("out/frames")).len());
    let said = place.pliant(&["report", "out", "--plots", "plots"]).exits(0);
    assert!(said.out.contains("completed") && said.out.lines().count() == 2, "{}", said.out);
    assert!(place.read("plots/kinetic-energy.svg").contains("<svg"));
    let rows: Value = serde_json::from_str(&place.pliant(&["report", "out", "--json"]).exits(0).out).unwrap();
    assert_eq!(rows[0]["manifest"]["particles"], 64);
}

// Checks: a variant that fails leaves the others alone; completed ones are skipped when the sweep
// is run again, and what they wrote is not touched.
#[test]
fn a_sweep_runs_all_skips_the_finished_and_survives_a_failure() {
    let place = Place::new();
    let sweep = |vary: &str| {
        let mut arguments = vec!["sweep", "elastic-drop", "--no-pictures", "--out", "out", "--vary", vary];
        arguments.extend(SMALL);
        place.pliant(&arguments)
    };
    let gravity = |values: &str| format!("gravity[2]={values}");
    let said = sweep(&gravity("-9.81,-1e9,-1.62")).exits(1);
    assert!(said.out.contains("2 of 3 completed, 0 of them in an earlier run"), "{}", said.out);
    let table = place.json("out/sweep.json");
    let statuses: Vec<_> =
        table["variants"].as_array().unwrap().iter().map(|v| v["status"].as_str()).collect();
    assert_eq!(statuses, [Some("completed"), Some("failed"), Some("completed")]);
    let kept = place.read("out/gravity_2_=-9.81/manifest.json");
    let said = sweep(&gravity("-9.81,-1.62,-3.7")).exits(0);
    assert!(said.out.contains("3 of 3 completed, 2 of them in an earlier run"), "{}", said.out);
    assert_eq!(place.read("out/gravity_2_=-9.81/manifest.json"), kept);
    let said = place.pliant(&["report", "out"]).exits(0);
    assert_eq!(said.out.lines().count(), 1 + 4, "{}", said.out);
}
