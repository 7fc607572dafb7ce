//! The table of a sweep as CSV and Parquet holds the same cells, with types.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use pliant_runner::run::{Manifest, RunOptions, Status, run};
use pliant_runner::sweep_table::{SweepRow, write_csv, write_parquet};
use pliant_scenes::format::parse_scene;
use pliant_scenes::scenario::Scenario;
use serde_json::{Value, json};

/// A manifest of a body that falls, with a goal.
fn manifest(folder: &Path) -> Manifest {
    let scene = json!({
        "name": "falling", "duration": 0.05, "dt": 0.01,
        "bodies": [{ "name": "stone",
            "motion": { "type": "dynamic", "joint": { "type": "free" }, "density": 1000 },
            "geometries": [{ "shape": { "type": "sphere", "radius": 0.1 } }] }],
        "goals": [{ "name": "low, lower", "body": "stone", "quantity": { "type": "center", "axis": "z" }, "max": 1.0 }]
    });
    let scene = parse_scene(&scene.to_string()).unwrap();
    let options = RunOptions { pictures: false, ..RunOptions::new(folder.join("run")) };
    run(Scenario::new(&scene).unwrap(), options).unwrap().manifest
}

fn rows(folder: &Path) -> Vec<SweepRow> {
    let manifest = manifest(folder);
    let changes = |text: Value| -> BTreeMap<String, Value> { serde_json::from_value(text).unwrap() };
    let row = |name: &str, changes| SweepRow { name: name.to_owned(), changes, ..SweepRow::default() };
    vec![
        SweepRow {
            status: Some(Status::Completed),
            manifest: Some(manifest.clone()),
            ..row("a=1", changes(json!({ "dt": 0.1, "seed": 1, "fast": true, "label": "x,y", "mixed": 1 })))
        },
        SweepRow {
            status: Some(Status::Failed),
            error: Some("line one\nline \"two\"\r\u{1b}[2J, é".to_owned()),
            manifest: Some(Manifest { status: Status::Failed, warnings: vec!["w".to_owned()], ..manifest }),
            ..row(
                "b\n2",
                changes(json!({ "dt": 2, "seed": -7, "fast": false, "label": " ", "mixed": [1, "é"] })),
            )
        },
        SweepRow { error: Some("it is locked".to_owned()), ..row("c", changes(json!({ "dt": 1e-300 }))) },
    ]
}

/// The cells of a CSV file by column.
fn csv_cells(path: &Path) -> BTreeMap<String, Vec<String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let mut columns: BTreeMap<_, Vec<String>> =
        header.iter().map(|name| (name.clone(), Vec::new())).collect();
    for row in reader.records() {
        for (name, cell) in header.iter().zip(row.unwrap().iter()) {
            columns.get_mut(name).unwrap().push(cell.to_owned());
        }
    }
    assert_eq!(columns.len(), header.len(), "two columns have one name");
    columns
}

// Checks: both files have the same columns and cells; the types are those of the values; what is
// missing is empty and null, never 0; a second write gives the same bytes.
#[test]
fn both_files_have_the_same_cells() {
    let folder = tempfile::tempdir().unwrap();
    let rows = rows(folder.path());
    let (csv, parquet) = (folder.path().join("sweep.csv"), folder.path().join("sweep.parquet"));
    write_csv(&csv, &rows).unwrap();
    write_parquet(&parquet, &rows).unwrap();
    let cells = csv_cells(&csv);
    let reader = SerializedFileReader::new(File::open(&parquet).unwrap()).unwrap();
    let mut types: BTreeMap<String, Vec<Field>> = BTreeMap::new();
    for row in reader.get_row_iter(None).unwrap() {
        for (name, field) in row.unwrap().get_column_iter() {
            types.entry(name.clone()).or_default().push(field.clone());
        }
    }
    assert_eq!(types.keys().collect::<Vec<_>>(), cells.keys().collect::<Vec<_>>());
    for (name, fields) in &types {
        for (field, cell) in fields.iter().zip(&cells[name]) {
            match field {
                Field::Null => assert_eq!(cell, "", "{name}"),
                Field::Str(text) => assert_eq!(cell, text, "{name}"),
                Field::Double(x) => assert_eq!(cell.parse::<f64>().unwrap().to_bits(), x.to_bits(), "{name}"),
                Field::Long(x) => assert_eq!(cell.parse::<i64>().unwrap(), *x, "{name}"),
                Field::Bool(x) => assert_eq!(cell.parse::<bool>().unwrap(), *x, "{name}"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    let of = |name: &str| &types[name][..];
    assert_eq!(of("dt"), [Field::Double(0.1), Field::Double(2.0), Field::Double(1e-300)]);
    assert_eq!(of("seed"), [Field::Long(1), Field::Long(-7), Field::Null]);
    assert_eq!(of("fast"), [Field::Bool(true), Field::Bool(false), Field::Null]);
    assert_eq!(of("mixed")[..2], ["1", "[1,\"é\"]"].map(|text| Field::Str(text.to_owned())));
    assert_eq!(of("variant")[1], Field::Str("b\n2".to_owned()));
    assert_eq!(of("status")[2], Field::Null);
    assert_eq!(of("steps"), [Field::Long(5), Field::Long(5), Field::Null]);
    assert_eq!(of("warnings")[1..], [Field::Long(1), Field::Null]);
    assert_eq!(of("goal.low, lower.met")[0], Field::Bool(true));
    // There are no particles whose mass could be lost.
    assert_eq!(of("wall_s")[2], Field::Null);

    let bytes = [&csv, &parquet].map(|path| std::fs::read(path).unwrap());
    write_csv(&csv, &rows).unwrap();
    write_parquet(&parquet, &rows).unwrap();
    assert_eq!([&csv, &parquet].map(|path| std::fs::read(path).unwrap()), bytes);
    // RFC 4180: lines end with CR LF, and a field with a line end is in quotes.
    let text = String::from_utf8(bytes[0].clone()).unwrap();
    assert!(text.ends_with("\r\n") && text.contains("\"b\n2\""));
    // Another program may be given the files.
    if let Ok(kept) = std::env::var("PLIANT_KEEP_SWEEP_TABLE") {
        std::fs::copy(&csv, Path::new(&kept).join("sweep.csv")).unwrap();
        std::fs::copy(&parquet, Path::new(&kept).join("sweep.parquet")).unwrap();
    }
}

// Checks: a sweep of nothing is a table without rows, which can be read.
#[test]
fn an_empty_sweep_is_an_empty_table() {
    let folder = tempfile::tempdir().unwrap();
    let (csv, parquet) = (folder.path().join("sweep.csv"), folder.path().join("sweep.parquet"));
    write_csv(&csv, &[]).unwrap();
    write_parquet(&parquet, &[]).unwrap();
    assert!(csv_cells(&csv).contains_key("variant"));
    let reader = SerializedFileReader::new(File::open(&parquet).unwrap()).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
}
