//! The corpora of the fuzz targets, through the same checks, without a fuzzer.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

#[path = "../../fuzz/src/checks/mod.rs"]
mod checks;
#[path = "../../fuzz/src/runs/mod.rs"]
mod runs;
#[path = "../../fuzz/src/worlds/mod.rs"]
mod worlds;

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::path::Path;

use pliant_scenes::format::schema;
use serde_json::Value;

/// What a fuzz target does with an input.
type Check = fn(&[u8]);

/// The checks by the names of the fuzz targets.
const CHECKS: [(&str, Check); 10] = [
    ("scene", worlds::scene::scene),
    ("mjcf", checks::robot::mjcf),
    ("urdf", checks::robot::urdf),
    ("mesh", checks::mesh::beside),
    ("obj", checks::mesh::obj),
    ("stl", checks::mesh::stl),
    ("ply", checks::mesh::ply),
    ("frame", checks::mesh::frame),
    ("checkpoint", worlds::state::checkpoint),
    ("directory", runs::directory),
];

fn fuzz() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz"))
}

/// Everything that a fuzz target once found worth keeping still keeps the laws of `fuzz/src`.
#[test]
fn the_corpora_keep_the_laws() {
    let mut broken = Vec::new();
    for (name, check) in CHECKS {
        let folder = fuzz().join("corpus").join(name);
        let mut files: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{} is empty", folder.display());
        for file in files {
            let bytes = std::fs::read(&file).unwrap();
            if catch_unwind(|| check(&bytes)).is_err() {
                broken.push(file.display().to_string());
            }
        }
    }
    assert!(broken.is_empty(), "{} inputs break a law:\n{}", broken.len(), broken.join("\n"));
}

/// States that a world writes are accepted and kept.
#[test]
fn states_of_a_world_are_taken() {
    (0..4).for_each(|example| worlds::state::checkpoint(&[example]));
}

/// A run whose files are as they were written is whole, and goes on.
#[test]
fn runs_without_a_change_go_on() {
    runs::unchanged().iter().for_each(|input| runs::directory(input));
}

/// The names of properties and the words among values below a part of a JSON Schema.
fn words(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                found.extend(properties.keys().cloned());
            }
            let values = fields.get("enum").and_then(Value::as_array).into_iter().flatten();
            found.extend(values.chain(fields.get("const")).filter_map(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| words(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| words(value, found)),
        _ => {}
    }
}

/// The dictionary of the fuzz target has every word of the scene format.
#[test]
fn the_dictionary_has_the_words_of_scenes() {
    let dictionary = std::fs::read_to_string(fuzz().join("dict/scene.dict")).unwrap();
    let mut known = BTreeSet::new();
    words(&schema(), &mut known);
    let quoted = known.iter().map(|word| format!("{word:?}"));
    let missing: Vec<_> = quoted.filter(|word| !dictionary.lines().any(|line| line == word)).collect();
    assert!(missing.is_empty(), "words that fuzz/dict/scene.dict lacks:\n{}", missing.join("\n"));
}
