//! Pages of runs: what they show, and what they say of what is missing.
#![allow(clippy::unwrap_used, clippy::panic)] // everything here runs in tests

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pliant_report::{BenchFigure, BenchRow, read_peers, write_bench, write_runs};
use pliant_runner::report::{Entry, collect};
use pliant_runner::run::{RunOptions, run};
use pliant_scenes::Scenario;
use pliant_scenes::format::parse_scene;

/// A short run of a soft cube above a floor; its description and the names of its parts are markup.
fn cube(out: &Path) {
    let text = r#"{ "name": "cube", "description": "<script>alert(1)</script>", "duration": 0.02, "dt": 0.002, "substeps": 4, "grid_spacing": 0.05,
            "materials": { "m": { "model": "fixed-corotated", "density": 1000,
                "youngs_modulus": 1e4, "poissons_ratio": 0.3 } },
            "soft": [{ "name": "<b>s</b>", "shape": { "type": "box", "half_extents": [0.05, 0.05, 0.05] },
                "material": "m", "pose": { "position": [0, 0, 0.1] } }],
            "bodies": [{ "name": "<i>floor</i>", "motion": { "type": "fixed" },
                "geometries": [{ "shape": { "type": "half-space" } }] }],
            "output": { "picture_size": [64, 36] } }"#;
    let scenario = Scenario::new(&parse_scene(text).unwrap()).unwrap();
    run(scenario, RunOptions::new(out)).unwrap();
}

fn page(entries: &[Entry], changes: &[BTreeMap<String, String>], folder: &Path) -> String {
    let out = folder.join("page.html");
    write_runs(entries, changes, &[], "pliant report x --html page.html", &out).unwrap();
    fs::read_to_string(out).unwrap()
}

fn entries(directories: &[PathBuf]) -> Vec<Entry> {
    let (entries, damaged) = collect(directories).unwrap();
    assert!(damaged.is_empty());
    entries
}

// Checks: a page needs no network: no address in it leads elsewhere (that of the SVG name space is a
// name, which nothing fetches); it has the animation, the plots and the scene; text of files is
// escaped.
#[test]
fn a_page_stands_alone_and_escapes_what_files_say() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("run");
    cube(&directory);
    let text = page(&entries(&[directory]), &[], folder.path());
    let elsewhere =
        text.replace("http://www.w3.org/2000/svg", "").replace("http://www.w3.org/1999/xlink", "");
    assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"));
    assert!(text.contains("data:image/gif;base64,") && text.matches("<svg").count() >= 3);
    assert!(!text.contains("<script>alert") && text.contains("&lt;script&gt;alert"));
    assert!(!text.contains("<b>s</b>") && !text.contains("<i>floor</i>"));
    assert!(text.contains("completed") && !text.contains("Not shown"));
}

// Checks: what is missing or damaged is named on the page, and the rest is shown.
#[test]
fn what_is_missing_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("run");
    cube(&directory);
    fs::remove_file(directory.join("preview.gif")).unwrap();
    fs::write(directory.join("preview.png"), b"no picture").unwrap();
    let table = fs::read_to_string(directory.join("diagnostics.csv")).unwrap();
    fs::write(directory.join("diagnostics.csv"), &table[..table.len() / 2]).unwrap();
    let text = page(&entries(std::slice::from_ref(&directory)), &[], folder.path());
    for missing in ["preview.gif", "preview.png", "diagnostics.csv"] {
        let named = text.lines().any(|line| line.contains("Not shown") && line.contains(missing));
        assert!(named, "{missing}");
    }
    assert!(text.contains("simulated time"));
    // Not even a run's manifest is needed for the page of the others.
    let other = folder.path().join("other");
    fs::create_dir_all(other.join("frames")).unwrap();
    let (entries, damaged) = collect(&[directory, other]).unwrap();
    let out = folder.path().join("both.html");
    write_runs(&entries, &[], &damaged, "pliant", &out).unwrap();
    let text = fs::read_to_string(out).unwrap();
    assert!(text.contains("A run that cannot be read") && text.contains("other"));
}

// Checks: many runs have a card each, with the values that a sweep varied and those to sort by.
#[test]
fn sweeps_are_a_grid_to_sort() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<PathBuf> = ["a", "b", "c"].map(|name| folder.path().join(name)).into();
    names.iter().for_each(|name| cube(name));
    let changes: Vec<_> =
        (0..3).map(|i| BTreeMap::from([("soft[0].density".to_owned(), format!("{i}.5"))])).collect();
    let text = page(&entries(&names), &changes, folder.path());
    assert_eq!(text.matches("<article").count(), 3);
    assert_eq!(text.matches("data:image/jpeg;base64,").count(), 3);
    for value in ["soft[0].density = 0.5", "soft[0].density = 2.5", "<option value=\"soft[0].density\">"] {
        assert!(text.contains(value), "{value}");
    }
}

// Checks: figures that were not measured are not 0, rivals stand beside, failures are named; plots are
// within the page, and one that is not there is named; a file of
// rivals that is none is refused by its name.
#[test]
fn benchmarks_stand_beside_their_rivals() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("peers.json");
    let peer =
        r#"[{"bench": "mpm", "case": "6k", "who": "rival", "threads": 1, "value": 600, "unit": "ns"}]"#;
    fs::write(&file, peer).unwrap();
    let mut rows = read_peers(&file).unwrap();
    rows.push(BenchRow { who: "Pliant".into(), value: 60.0, rival: false, ..rows[0].clone() });
    rows.push(BenchRow { who: "broken".into(), value: f64::NAN, ..rows[0].clone() });
    let out = folder.path().join("bench.html");
    let svg = folder.path().join("curve.svg");
    fs::write(&svg, "<svg/>").unwrap();
    let figure = |caption: &str, file| BenchFigure { caption: caption.to_owned(), file };
    let figures = [figure("a curve", svg), figure("none", folder.path().join("absent.png"))];
    let machine = ["a machine".to_owned()];
    let failures = ["pile: <no> device".to_owned()];
    write_bench(&rows, &figures, &machine, &failures, "pliant bench", &out).unwrap();
    let text = fs::read_to_string(out).unwrap();
    for part in [
        "rival",
        "600.0000",
        "60.0000",
        "not measured",
        "a machine",
        "pile: &lt;no&gt; device",
        "a curve",
        "data:image/svg+xml;base64,PHN2Zy8+",
        "absent.png: ",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert_eq!(text.matches("<h3>").count(), 1);
    fs::write(&file, "[{}]").unwrap();
    assert!(read_peers(&file).unwrap_err().to_string().contains("peers.json"));
}
