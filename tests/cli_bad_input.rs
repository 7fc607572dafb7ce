//! Bad input: a clear error that names the field or file, exit 2 where nothing was begun, and
//! nothing half written.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod cli_support;

use std::io::Write;

use cli_support::{Place, SMALL};
use pliant::cuda::Device;

const SCENE: &str = r#"{
  "name": "ball", "duration": 0.05, "dt": 0.01, "grid_spacing": 0.05,
  "soft": [{
    "name": "ball", "shape": { "type": "sphere", "radius": 0.1 }, "pose": { "position": [0, 0, 0.2] },
    "material": { "model": "neo-hookean", "density": 1000, "youngs_modulus": 1e4, "poissons_ratio": 0.3 }
  }]
}"#;

/// Runs a scene file made by replacing text in a good one; it must be refused with exit 2, the text
/// in the message, and nothing in the folder but the file.
fn refused(replace: &str, with: &str, message: &str) {
    let place = Place::new();
    assert!(SCENE.contains(replace), "{replace}");
    place.write("scene.json", &SCENE.replacen(replace, with, 1));
    place.pliant(&["run", "scene.json", "--out", "out"]).exits(2).complains(message);
    place.pliant(&["check", "scene.json"]).exits(2).complains(message);
    assert_eq!(place.names(), ["scene.json"]);
}

#[test]
fn the_good_scene_is_good() {
    let place = Place::new();
    place.write("scene.json", SCENE);
    let said = place.pliant(&["check", "scene.json"]).exits(0);
    assert!(said.out.contains("ball: valid"), "{}", said.out);
}

#[test]
fn a_missing_file_names_it_and_the_built_in_scenes() {
    let place = Place::new();
    let said = place.pliant(&["run", "nowhere.json"]).exits(2);
    said.complains("nowhere.json").complains("dough-rolling");
    assert!(place.names().is_empty());
}

#[test]
fn malformed_json_names_line_and_column() {
    refused("\"dt\": 0.01,", "\"dt\": 0.01", "line 2");
}

#[test]
fn an_unknown_field_is_named() {
    refused("\"dt\"", "\"time_step\": 1, \"dt\"", "unknown field `time_step`");
    refused("\"radius\": 0.1", "\"radius\": 0.1, \"color\": 1", "soft[0].shape");
    refused("\"density\"", "\"densty\"", "soft[0].material");
}

#[test]
fn nan_is_refused() {
    refused("\"dt\": 0.01", "\"dt\": NaN", "dt: line 2");
    refused("\"dt\": 0.01", "\"dt\": 1e400", "out of range");
    let place = Place::new();
    place.pliant(&["check", "elastic-drop", "--set", "dt=NaN"]).exits(2).complains("dt");
    place.pliant(&["check", "elastic-drop", "--time", "NaN"]).exits(2).complains("duration");
}

#[test]
fn bad_material_figures_name_path_value_and_unit() {
    refused("\"density\": 1000", "\"density\": -5", "soft[0].material.density: -5 kg/m^3 must be positive");
    refused("1e4", "-1e4", "soft[0].material.youngs_modulus: -10000 Pa must be positive");
    refused("0.3", "0.5", "soft[0].material.poissons_ratio: 0.5 must be in (-1, 0.5)");
}

// Checks: all problems are reported at once.
#[test]
fn several_problems_are_told_together() {
    let place = Place::new();
    place.write("scene.json", &SCENE.replace("1000", "-5").replace("0.3", "0.5"));
    place.pliant(&["check", "scene.json"]).exits(2).complains("density: -5").complains("poissons_ratio: 0.5");
}

#[test]
fn negative_mass_is_refused() {
    let place = Place::new();
    let said = place.pliant(&["check", "dough-pin", "--set", "bodies[roller].motion.mass=-1"]).exits(2);
    said.complains("bodies[1].motion.mass: -1 kg must be positive");
}

#[test]
fn nothing_to_simulate_is_refused() {
    let place = Place::new();
    let arguments = ["check", "elastic-drop", "--set", "soft=[]", "--set", "bodies=[]"];
    place.pliant(&arguments).exits(2).complains("there is nothing to simulate");
}

#[test]
fn an_open_mesh_and_an_inside_out_one_are_refused_with_the_file() {
    let place = Place::new();
    let corners = "v 0 0 0\nv 0.4 0 0\nv 0 0.4 0\nv 0 0 0.4\n";
    let scene = SCENE
        .replace("\"type\": \"sphere\", \"radius\": 0.1", "\"type\": \"mesh\", \"file\": \"mesh/tetra.obj\"");
    std::fs::create_dir(place.path("mesh")).unwrap();
    place.write("scene.json", &scene);
    let check = |faces: &str| {
        place.write("mesh/tetra.obj", &format!("{corners}{faces}"));
        place.pliant(&["check", "scene.json"])
    };
    check("f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n").exits(0);
    check("f 1 3 2\nf 1 2 4\nf 2 3 4\n").exits(2).complains("soft[0].shape");
    check("f 1 2 3\nf 1 4 2\nf 2 4 3\nf 1 3 4\n").exits(2).complains("soft[0].shape");
    std::fs::remove_file(place.path("mesh/tetra.obj")).unwrap();
    place.pliant(&["check", "scene.json"]).exits(2).complains("tetra.obj");
}

#[test]
fn an_unstable_substep_is_refused_with_the_largest_stable_one() {
    let place = Place::new();
    let said = place.pliant(&["check", "elastic-drop", "--set", "substeps=1"]).exits(2);
    said.complains("substeps").complains("largest stable");
}

#[test]
fn particles_inside_a_tool_at_the_start_are_refused() {
    let place = Place::new();
    let said = place.pliant(&["check", "elastic-drop", "--set", "soft[0].pose.position[2]=0"]).exits(2);
    said.complains("table");
}

#[test]
fn an_unknown_path_to_set_is_refused() {
    let place = Place::new();
    place.pliant(&["check", "elastic-drop", "--set", "grid_spaceing=1"]).exits(2).complains("grid_spaceing");
    place.pliant(&["check", "elastic-drop", "--set", "grid_spacing"]).exits(2).complains("path=value");
    place.pliant(&["check", "elastic-drop", "--set", "grid_spacing=fine"]).exits(2).complains("grid_spacing");
}

#[test]
fn an_output_directory_that_exists_is_refused_and_left_alone() {
    let place = Place::new();
    std::fs::create_dir(place.path("out")).unwrap();
    place.write("out/mine", "1");
    place.run_small("out", &[]).exits(2).complains("already exists");
    assert_eq!(place.names(), ["out"]);
    assert_eq!(place.read("out/mine"), "1");
    place.write("file", "2");
    place.run_small("file", &[]).exits(2).complains("already exists");
    assert_eq!(place.read("file"), "2");
}

#[test]
fn an_output_directory_that_cannot_be_made_is_refused() {
    let place = Place::new();
    place.write("file", "");
    place.run_small("file/out", &[]).exits(2).complains("file/out");
    assert_eq!(place.names(), ["file"]);
}

// Checks: one bad scene among several stops all of them before the first step.
#[test]
fn one_invalid_scene_of_several_leaves_nothing_written() {
    let place = Place::new();
    place.write("bad.json", "{}");
    let mut arguments = vec!["run", "elastic-drop", "bad.json", "--out", "out"];
    arguments.extend(SMALL);
    place.pliant(&arguments).exits(2).complains("bad.json");
    assert_eq!(place.names(), ["bad.json"]);
    place.pliant(&["run", "hold", "hold", "--out", "out"]).exits(2).complains("two scenes");
}

#[test]
fn wrong_usage_exits_with_2() {
    let place = Place::new();
    for arguments in [
        &["run"][..],
        &["run", "hold", "--threads", "0"],
        &["run", "hold", "--backend", "tpu"],
        &["run", "hold", "--device", "1"],
        &["run", "hold", "--backend", "cuda", "--device", "-1"],
        &["fly"],
        &["sweep", "hold", "--out", "x"],
        &["sweep", "hold", "--vary", "dt", "--out", "x"],
        &["sweep", "hold", "--vary", "nothing=1", "--out", "x"],
        &["bench", "no-such-part"],
        &["render", "nowhere"],
        &["report", "nowhere"],
        &["run", "hold", "--resume", "--out", "nowhere"],
    ] {
        place.pliant(arguments).exits(2);
    }
    assert!(place.names().is_empty());
}

/// What a device would ignore is refused, with what to do instead.
#[test]
#[cfg(feature = "emulation")]
fn a_direction_that_a_device_has_not_is_refused() {
    let place = Place::new();
    let arguments = ["--backend", "cuda-emulated", "--set", "solver.direction=newton-factorised"];
    let told = place.run_small("out", &arguments).exits(2);
    told.complains("solver.direction NewtonFactorised").complains("newton_cg").complains("cpu backend");
    place.run_small("there", &["--device", "1"]).exits(2).complains("--device 1: only --backend cuda");
    assert!(place.names().is_empty());
}

#[test]
fn the_cuda_backend_is_a_typed_error() {
    if Device::cuda(0).is_ok() {
        // Past the capture of the test's output, which nobody sees of what passes.
        writeln!(std::io::stderr(), "the_cuda_backend_is_a_typed_error: SKIPPED: there is a GPU").unwrap();
        return;
    }
    let place = Place::new();
    let told = place.run_small("out", &["--backend", "cuda"]).exits(2);
    told.complains("backend 'cuda': ").complains("; use --backend cpu");
    assert!(place.names().is_empty());
}
