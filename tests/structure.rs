//! The structure of the workspace: no import cycles between files, crates that use each other one
//! way, tests that all run, and documents that name files which exist.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod structure_support;

use std::path::Path;

use structure_support::{documents, files_below, imports, manifests, modules, read, repository};

/// The folders of the crates, ground first, each with those that it may use: all of them before
/// it. The root of the repository is a crate too. Dependencies of tests are free.
const CRATES: [(&str, &[&str]); 22] = [
    ("numeric", &[]),
    ("geometry", &["numeric"]),
    ("io", &[]),
    ("mpm", &["numeric"]),
    ("rigid", &["numeric", "geometry"]),
    ("import", &["geometry", "io", "rigid"]),
    ("planning", &["numeric", "geometry", "rigid"]),
    ("batch", &["numeric", "geometry", "rigid"]),
    ("coupling", &["numeric", "io", "mpm", "rigid"]),
    ("cuda", &["geometry", "mpm", "rigid", "batch", "coupling"]),
    ("render", &["io"]),
    ("garment", &["io", "mpm"]),
    ("scenes", &["numeric", "io", "mpm", "rigid", "import", "planning", "batch", "coupling", "garment"]),
    ("runner", &["numeric", "io", "mpm", "rigid", "coupling", "cuda", "render", "garment", "scenes"]),
    ("viewer", &["io", "render", "scenes", "runner"]),
    ("export", &["io", "render", "scenes", "runner"]),
    ("report", &["io", "render", "runner"]),
    ("trials", &["numeric", "io", "rigid", "coupling", "scenes", "runner"]),
    (
        "benches/suite",
        &["numeric", "mpm", "rigid", "batch", "coupling", "cuda", "render", "scenes", "runner", "trials"],
    ),
    ("testing", &["numeric", "geometry", "rigid"]),
    ("python", &["io", "mpm", "rigid", "coupling", "cuda", "render", "scenes", "runner"]),
    (
        ".",
        &[
            "numeric",
            "geometry",
            "io",
            "mpm",
            "rigid",
            "import",
            "planning",
            "batch",
            "coupling",
            "cuda",
            "render",
            "garment",
            "scenes",
            "runner",
            "viewer",
            "export",
            "report",
            "trials",
            "benches/suite",
        ],
    ),
];

/// Crates whose import cycles are still to be cut.
const NOT_YET: &[&str] = &[];

/// Documents whose paths are still to be brought up to date: files, and folders that end with `/`.
const DOCUMENTS_NOT_YET: &[&str] = &[];

/// Files that runs write: no part of the repository.
const WRITTEN: &[&str] = &[];

/// Documents that speak of earlier states: files, and folders that end with `/`.
const HISTORY: &[&str] = &["CHANGELOG.md", "benches/runs/"];

#[test]
fn no_files_of_a_crate_import_each_other_in_a_cycle() {
    let mut cycles = Vec::new();
    for (folder, _) in CRATES.iter().filter(|(folder, _)| !NOT_YET.contains(folder)) {
        for root in ["src/lib.rs", "src/main.rs"] {
            let file = if *folder == "." { root.to_owned() } else { format!("{folder}/{root}") };
            if repository().join(&file).exists() {
                cycles.extend(imports::cycles(&imports::of(&modules::read(repository(), &file))));
            }
        }
    }
    assert!(cycles.is_empty(), "import cycles:\n\n{}\n", cycles.join("\n\n"));
}

#[test]
fn crates_use_each_other_one_way() {
    let all = read("Cargo.toml");
    let mut members = manifests::members(&all);
    members.push(".");
    members.sort_unstable();
    let mut listed = CRATES.map(|(folder, _)| folder);
    listed.sort_unstable();
    assert_eq!(members, listed, "the crates of the workspace and of this test differ");

    let texts = CRATES.map(|(folder, _)| read(&format!("{folder}/Cargo.toml")));
    let names: Vec<&str> = texts.iter().map(|text| manifests::package(text).unwrap()).collect();
    let mut wrong = Vec::new();
    for (at, (folder, allowed)) in CRATES.iter().enumerate() {
        for dependency in manifests::dependencies(&texts[at]) {
            let used = names.iter().position(|name| *name == dependency).unwrap();
            let target = CRATES[used].0;
            if used >= at {
                wrong.push(format!("{folder} uses {target}, which comes later"));
            } else if !allowed.contains(&target) {
                wrong.push(format!("{folder} uses {target}, which is not in its list"));
            }
        }
    }
    assert!(wrong.is_empty(), "dependencies of crates:\n{}\n", wrong.join("\n"));
}

// Cargo does not look for tests where a manifest lists them: a file that is in no list would never run.
#[test]
fn every_file_of_tests_is_a_part_of_a_program() {
    let mut left = Vec::new();
    for (folder, _) in CRATES {
        let manifest = read(&format!("{folder}/Cargo.toml"));
        if !manifest.contains("autotests = false") {
            continue;
        }
        let all = format!("{folder}/tests/all.rs");
        let text = read(&all);
        let folder = format!("{folder}/tests");
        for file in files_below(&folder, &["rs"]) {
            let name = file[folder.len() + 1..].trim_end_matches(".rs");
            let is_listed = text.lines().any(|line| line == format!("mod {name};"))
                || manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"));
            if !name.contains('/') && !is_listed {
                left.push(format!("{file} is neither in {all} nor in the manifest"));
            }
        }
    }
    assert!(left.is_empty(), "tests that do not run:\n{}\n", left.join("\n"));
}

#[test]
fn documents_name_files_that_exist() {
    let left_out = |file: &str| {
        let mut list = DOCUMENTS_NOT_YET.iter().chain(HISTORY);
        list.any(|entry| file == *entry || entry.ends_with('/') && file.starts_with(entry))
    };
    let mut missing = Vec::new();
    for file in files_below("", &["md", "rs", "cu", "cuh", "cpp", "hpp"]) {
        if left_out(&file) {
            continue;
        }
        for (line, path) in documents::named_paths(&file, &read(&file)) {
            // A path starts at any folder around the document: its own, the crate, the repository.
            let folders = Path::new(&file).ancestors().skip(1);
            if !WRITTEN.contains(&path.as_str())
                && !folders.into_iter().any(|folder| documents::exists(&repository().join(folder), &path))
            {
                missing.push(format!("{file}:{line}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "files that are named and do not exist:\n{}\n", missing.join("\n"));
}
