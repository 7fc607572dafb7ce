//! Kills at random moments, damaged files, and several processes on one folder: what is resumed is
//! what an undisturbed run writes, and what is damaged is named.
//!
//! `PLIANT_FAULTS=N` sets the number of cases of each slow test, `PLIANT_SEED` the first seed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod cli_support;
mod faults_support;

use std::process::Child;
use std::time::{Duration, Instant};

use cli_support::Place;
use faults_support::{Case, cases, contents, damage, difference, seeds};
use pliant::numeric::random::SplitMix64;

/// Ends the process with SIGKILL after some time, unless it ends before; whether it was killed.
fn kill_after(mut child: Child, time: Duration) -> bool {
    std::thread::sleep(time);
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

// The law: a run that was killed at any moments, and resumed, has the bytes of one that was not:
// frames, tables (but for wall times) and pictures. It verifies as whole, and no temporary file, lock
// or unfinished directory stays.
fn kills_of_runs(count: u64) {
    let place = Place::new();
    for seed in seeds(count) {
        let mut random = SplitMix64::new(seed);
        let case = Case::draw(&mut random);
        place.write("scene.json", &case.scene);
        let (whole, out) = (format!("whole-{seed}"), format!("out-{seed}"));
        let begun = Instant::now();
        place.pliant(&case.run(&whole)).exits(0);
        let time = begun.elapsed();
        let mut kills = 0;
        for _ in 0..1 + random.next_u64() % 3 {
            let mut arguments = case.run(&out);
            let exists = place.path(&out).exists() || place.path(&format!(".{out}.partial")).exists();
            if exists {
                arguments.push("--resume");
            }
            let child = place.start(&arguments);
            kills += u32::from(kill_after(child, time.mul_f64(random.uniform_in(0.0, 1.1))));
        }
        let mut arguments = case.run(&out);
        if place.path(&out).exists() || place.path(&format!(".{out}.partial")).exists() {
            arguments.push("--resume");
        }
        let said = place.pliant(&arguments);
        let about = format!("seed {seed}, {kills} kills, {}", case.scene);
        assert_eq!(said.code, 0, "{about}\n{}", said.err);
        let found = difference(&place.path(&whole), &place.path(&out));
        assert_eq!(found, Vec::<String>::new(), "{about}");
        let verified = place.pliant(&["verify", &out]);
        assert_eq!(verified.code, 0, "{about}\n{}", verified.out);
        std::fs::remove_dir_all(place.path(&whole)).unwrap();
        std::fs::remove_dir_all(place.path(&out)).unwrap();
        assert_eq!(place.names(), ["scene.json"], "{about}");
    }
}

#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    kills_of_runs(3);
}

#[test]
#[ignore = "slow tier"]
fn many_killed_runs_resume_to_the_same_bytes() {
    kills_of_runs(cases(8));
}

// The law: as above, for a sweep of several processes that share a folder, each killed at a random
// moment, and one process that ends what they left.
fn kills_of_sweeps(count: u64) {
    let place = Place::new();
    for seed in seeds(count) {
        let mut random = SplitMix64::new(1000 + seed);
        let case = Case::draw(&mut random);
        place.write("scene.json", &case.scene);
        let sweep = |out: &'static str| {
            [
                "sweep",
                "scene.json",
                "--vary",
                "gravity[2]=-1,-2,-4,-8",
                "--out",
                out,
                "--checkpoint-every",
                "0.05",
            ]
        };
        let begun = Instant::now();
        place.pliant(&sweep("whole")).exits(0);
        let time = begun.elapsed();
        let processes = 1 + random.next_u64() % 3;
        for _ in 0..1 + random.next_u64() % 2 {
            let children: Vec<_> = (0..processes).map(|_| place.start(&sweep("out"))).collect();
            for child in children {
                kill_after(child, time.mul_f64(random.uniform_in(0.0, 0.6)));
            }
        }
        let said = place.pliant(&sweep("out"));
        let about = format!("seed {seed}, {processes} processes");
        assert_eq!(said.code, 0, "{about}\n{}{}", said.out, said.err);
        for name in ["-1", "-2", "-4", "-8"].map(|g| format!("gravity_2_={g}")) {
            let found = difference(&place.path("whole").join(&name), &place.path("out").join(&name));
            assert_eq!(found, Vec::<String>::new(), "{about}, {name}");
        }
        place.pliant(&["verify", "out"]).exits(0);
        assert_eq!(
            cli_support::names(&place.path("out")),
            cli_support::names(&place.path("whole")),
            "{about}"
        );
        std::fs::remove_dir_all(place.path("whole")).unwrap();
        std::fs::remove_dir_all(place.path("out")).unwrap();
    }
}

#[test]
#[ignore = "slow tier"]
fn killed_sweeps_end_with_the_same_bytes() {
    kills_of_sweeps(cases(2));
}

// The law: two to eight processes that are started on one folder at random moments run every variant
// once: nothing is missing, and all is whole.
fn many_processes(count: u64) {
    let place = Place::new();
    for seed in seeds(count) {
        let mut random = SplitMix64::new(2000 + seed);
        place.write("scene.json", &Case::draw(&mut random).scene);
        let sweep = [
            "sweep",
            "scene.json",
            "--vary",
            "gravity[2]=-1,-2,-3,-4,-5,-6,-7,-8,-9",
            "--no-pictures",
            "--out",
            "out",
        ];
        let processes = 2 + random.next_u64() % 7;
        let children: Vec<_> = (0..processes)
            .map(|_| {
                std::thread::sleep(Duration::from_secs_f64(random.uniform_in(0.0, 0.1)));
                place.start(&sweep)
            })
            .collect();
        let about = format!("seed {seed}, {processes} processes");
        for mut child in children {
            assert!(child.wait().unwrap().success(), "{about}");
        }
        let table = place.json("out/sweep.json");
        let completed = |v: &serde_json::Value| v["status"] == "completed" && v["error"].is_null();
        assert!(table["variants"].as_array().unwrap().iter().all(completed), "{about}: {table}");
        let verified = place.pliant(&["verify", "out", "--json"]).exits(0);
        let verified: serde_json::Value = serde_json::from_str(&verified.out).unwrap();
        assert_eq!(verified.as_array().unwrap().len(), 9, "{about}");
        let status = place.pliant(&["sweep", "--status", "--out", "out"]).exits(0);
        assert!(status.out.contains("9 variants: 9 completed"), "{}", status.out);
        std::fs::remove_dir_all(place.path("out")).unwrap();
    }
}

#[test]
fn two_processes_share_a_sweep() {
    many_processes(1);
}

#[test]
#[ignore = "slow tier"]
fn many_processes_share_a_sweep() {
    many_processes(cases(3));
}

// The law: a damaged table, frame, picture, manifest or checkpoint is named by `verify`; resumed for
// longer, the run either says what is damaged and leaves everything as it is, or continues from a
// checkpoint before the damage to the bytes of the undamaged run.
fn damages(count: u64) {
    let place = Place::new();
    let mut resumed = 0;
    for seed in seeds(count) {
        let mut random = SplitMix64::new(3000 + seed);
        let case = Case::draw(&mut random);
        place.write("scene.json", &case.scene);
        place.pliant(&case.run("long")).exits(0);
        let half = format!("{}", case.duration / 2.0);
        let short = [&case.run("out")[..], &["--time", &half]].concat();
        place.pliant(&short).exits(0);
        place.pliant(&["verify", "out"]).exits(0);
        let files = contents(&place.path("out"));
        let (file, what) = damage(&place.path("out"), &files, &mut random);
        let about = format!("seed {seed}: {file}: {what}; {}", case.scene);
        let verified = place.pliant(&["verify", "out"]);
        assert_eq!(verified.code, 1, "{about}\n{}", verified.out);
        assert!(verified.out.contains(&file) || file == "manifest.json", "{about}\n{}", verified.out);
        let before = contents(&place.path("out"));
        let said = place.pliant(&[&case.run("out")[..], &["--resume"]].concat());
        if said.code == 0 {
            resumed += 1;
            let found = difference(&place.path("long"), &place.path("out"));
            assert_eq!(found, Vec::<String>::new(), "{about}\n{}", said.err);
            place.pliant(&["verify", "out"]).exits(0);
        } else {
            assert!(said.err.contains(file.rsplit('/').next().unwrap()), "{about}\n{}", said.err);
            assert_eq!(contents(&place.path("out")), before, "{about}\n{}", said.err);
        }
        for folder in ["long", "out"] {
            std::fs::remove_dir_all(place.path(folder)).unwrap();
        }
    }
    println!("{resumed} of {count} damaged runs were continued");
}

#[test]
fn a_damaged_file_is_named() {
    damages(4);
}

#[test]
#[ignore = "slow tier"]
fn many_damaged_files_are_named() {
    damages(cases(15));
}

// The law: a sweep that finds a damaged variant names it and its file, in its table too, ends with
// exit code 1 and changes nothing of it; the others are complete.
fn damages_of_sweeps(count: u64) {
    let place = Place::new();
    for seed in seeds(count) {
        let mut random = SplitMix64::new(7000 + seed);
        let case = Case::draw(&mut random);
        place.write("scene.json", &case.scene);
        let sweep = ["sweep", "scene.json", "--vary", "gravity[2]=-1,-2,-4", "--out", "out"];
        place.pliant(&sweep).exits(0);
        let at = random.next_u64() as usize % 3;
        let variant = place.path("out").join(["gravity_2_=-1", "gravity_2_=-2", "gravity_2_=-4"][at]);
        let (file, what) = damage(&variant, &contents(&variant), &mut random);
        let about = format!("seed {seed}: variant {at}, {file}: {what}; {}", case.scene);
        let before = contents(&variant);
        let said = place.pliant(&sweep);
        assert_eq!(said.code, 1, "{about}\n{}{}", said.out, said.err);
        let table = place.json("out/sweep.json");
        for (number, variant) in table["variants"].as_array().unwrap().iter().enumerate() {
            let error = variant["error"].as_str().unwrap_or_default();
            let name = file.rsplit('/').next().unwrap();
            assert_eq!(error.contains(name), number == at, "{about}: {error}");
            assert_eq!(variant["status"] == "completed", number != at, "{about}: {variant}");
        }
        assert_eq!(contents(&variant), before, "{about}");
        std::fs::remove_dir_all(place.path("out")).unwrap();
    }
}

#[test]
#[ignore = "slow tier"]
fn many_damaged_sweeps_are_named() {
    damages_of_sweeps(cases(5));
}

/// A model file of a pendulum of this mass [kg].
fn model(mass: &str) -> String {
    format!(
        r#"<mujoco><worldbody><body name="bob" pos="0 0 1">
        <joint name="swing" axis="0 1 0" pos="0 0 0.5"/> <geom type="sphere" size="0.1" mass="{mass}"/>
        </body></worldbody></mujoco>"#
    )
}

// The law: a model file that changes between the parts of a run is refused, and named.
#[test]
fn a_changed_model_file_is_refused() {
    let place = Place::new();
    place.write("arm.xml", &model("2"));
    let run = |time: &str, more: &[&str]| {
        place.pliant(&[&["run", "arm.xml", "--no-pictures", "--out", "out", "--time", time], more].concat())
    };
    run("0.1", &[]).exits(0);
    place.write("arm.xml", &model("3"));
    let before = contents(&place.path("out"));
    for time in ["0.1", "0.2"] {
        run(time, &["--resume"]).exits(2).complains("arm.xml changed since the run began");
    }
    assert_eq!(contents(&place.path("out")), before);
    place.write("arm.xml", &model("2"));
    run("0.2", &["--resume"]).exits(0);
}

// The law: a variant whose model file or whose data changed since its run does not count: the sweep
// names it, its table and the tables of others say so, and nothing of it is changed.
#[test]
fn a_sweep_refuses_variants_that_changed() {
    let place = Place::new();
    place.write("arm.xml", &model("2"));
    let sweep = |more: &[&str]| {
        let arguments = ["sweep", "arm.xml", "--no-pictures", "--out", "out", "--time", "0.1"];
        place.pliant(&[&arguments[..], &["--vary", "gravity[2]=-1,-2"], more].concat())
    };
    let errors = || {
        let table = place.json("out/sweep.json");
        let error = |variant: &serde_json::Value| variant["error"].as_str().unwrap_or_default().to_owned();
        table["variants"].as_array().unwrap().iter().map(error).collect::<Vec<_>>()
    };
    let status = || place.pliant(&["sweep", "--status", "--out", "out"]).exits(0).out;
    sweep(&[]).exits(0);
    place.write("arm.xml", &model("3"));
    let before = contents(&place.path("out/gravity_2_=-1"));
    sweep(&[]).exits(1);
    assert!(errors().iter().all(|error| error.contains("arm.xml changed since its run")), "{:?}", errors());
    assert!(status().contains("2 variants: 0 completed, 2 failed"), "{}", status());
    assert_eq!(contents(&place.path("out/gravity_2_=-1")), before);
    place.write("arm.xml", &model("2"));
    sweep(&[]).exits(0);
    assert_eq!(errors(), ["", ""]);

    let table = place.path("out/gravity_2_=-1/bodies.csv");
    let whole = std::fs::read(&table).unwrap();
    std::fs::write(&table, &whole[1..]).unwrap();
    sweep(&["--shard", "1/2"]).exits(1);
    // It looks at the other variant alone.
    sweep(&["--shard", "2/2"]).exits(0);
    assert!(errors()[0].contains("bodies.csv") && errors()[1].is_empty(), "{:?}", errors());
    assert!(status().contains("2 variants: 1 completed, 1 failed"), "{}", status());
    std::fs::write(&table, whole).unwrap();
    // As a process leaves it that is killed at the very end.
    place.write("out/.gravity_2_=-2.lock", "process: 1\n");
    assert!(status().contains("2 variants: 2 completed"), "{}", status());
    sweep(&["--shard", "2/2"]).exits(0);
    assert_eq!(errors(), ["", ""]);
    assert!(!place.path("out/.gravity_2_=-2.lock").exists());
}

// The law: a second process is refused while the first works on a run, and told who works on it.
#[test]
fn a_run_in_use_is_refused() {
    let place = Place::new();
    let arguments = ["run", "elastic-drop", "--no-pictures", "--out", "out", "--time", "1000"];
    let mut first = place.start(&arguments);
    let patience = Instant::now();
    while !place.path(".out.partial/checkpoint/000000000000.bin").exists() {
        assert!(patience.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    }
    let process = format!("in use by process {} on ", first.id());
    place.pliant(&arguments).exits(2).complains(&process);
    place.pliant(&[&arguments[..], &["--resume"]].concat()).exits(2).complains(&process);
    first.kill().unwrap();
    first.wait().unwrap();
    place.pliant(&arguments).exits(2).complains("an unfinished run is in .out.partial; --resume it");
}

// The law: of many scenes the broken ones are reported, and the others run; processes that are
// killed leave nothing undone; one table has all.
fn corrupt_scenes(count: usize, corrupt: usize, processes: usize, killed: usize) {
    let place = Place::new();
    let mut random = SplitMix64::new(4000);
    std::fs::create_dir(place.path("scenes")).unwrap();
    let mut broken: Vec<usize> = Vec::new();
    while broken.len() < corrupt {
        let at = random.next_u64() as usize % count;
        if !broken.contains(&at) {
            broken.push(at);
        }
    }
    let mut scenes = Vec::new();
    for at in 0..count {
        let name = format!("scenes/case-{at:04}.json");
        let mut text = Case::draw(&mut random).scene;
        if broken.contains(&at) {
            text.truncate(random.next_u64() as usize % text.len());
        }
        place.write(&name, &text);
        scenes.push(name);
    }
    let mut arguments = vec!["sweep", "--no-pictures", "--threads", "1", "--out", "out"];
    arguments.extend(scenes.iter().map(String::as_str));
    let begun = Instant::now();
    let mut children: Vec<_> = (0..processes).map(|_| place.start(&arguments)).collect();
    let done = || place.path("out").read_dir().map_or(0, Iterator::count);
    while done() < count / 4 && begun.elapsed() < Duration::from_secs(600) {
        std::thread::sleep(Duration::from_millis(20));
    }
    for child in children.drain(..killed) {
        kill_after(child, Duration::from_secs_f64(random.uniform_in(0.0, 0.2)));
    }
    for mut child in children {
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }
    let table = place.json("out/sweep.json");
    let variants = table["variants"].as_array().unwrap();
    assert_eq!(variants.len(), count);
    for (at, variant) in variants.iter().enumerate() {
        assert_eq!(variant["name"], format!("case-{at:04}"));
        if broken.contains(&at) {
            assert!(variant["error"].as_str().unwrap().contains(&scenes[at]), "{variant}");
        } else {
            assert_eq!((&variant["status"], &variant["error"]), (&"completed".into(), &().into()), "{at}");
        }
    }
    let verified = place.pliant(&["verify", "out", "--json"]).exits(0);
    let verified: serde_json::Value = serde_json::from_str(&verified.out).unwrap();
    assert_eq!(verified.as_array().unwrap().len(), count - corrupt);
    println!(
        "{count} scenes, {corrupt} corrupt, {processes} processes, {killed} killed: {:?}",
        begun.elapsed()
    );
}

#[test]
fn broken_scenes_are_reported_among_the_others() {
    corrupt_scenes(12, 3, 2, 1);
}

#[test]
#[ignore = "slow tier"]
fn many_scenes_in_four_processes() {
    corrupt_scenes(cases(40) as usize, cases(40).div_ceil(100) as usize, 4, 2);
}
