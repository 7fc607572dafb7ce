//! A Zarr version 3 group (zarr-specs, core 3.0): a folder of arrays, chunked by frame, each chunk
//! little-endian bytes in a gzip stream.
//!
//! Written by hand: the crate zarrs needs rustc 1.91, newer than the least that this project builds
//! with, and brings its own executor for what is one file a chunk.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::arrays::{Kind, Sink, collect};
use crate::error::{ExportError, failed};
use crate::take::{Progress, Take};

struct Zarr {
    folder: PathBuf,
    growing: BTreeMap<String, (Kind, Vec<usize>, usize)>,
    attributes: serde_json::Map<String, Value>,
}

/// Writes the run into the empty `folder`.
pub fn write(take: &Take, folder: &Path, progress: &mut Progress) -> Result<(), ExportError> {
    let mut zarr =
        Zarr { folder: folder.to_path_buf(), growing: BTreeMap::new(), attributes: serde_json::Map::new() };
    collect(take, &mut zarr, progress)?;
    let growing = std::mem::take(&mut zarr.growing);
    for (name, (kind, shape, frames)) in growing {
        let whole: Vec<usize> = [frames].into_iter().chain(shape.iter().copied()).collect();
        let chunk: Vec<usize> = [1].into_iter().chain(shape).collect();
        zarr.describe(&name, kind, &whole, &chunk)?;
    }
    zarr.attributes.insert("units".to_owned(), json!("SI: m, m/s, kg, s, Pa; right-handed, z up"));
    zarr.attributes.insert("body_pose".to_owned(), json!(["px", "py", "pz", "qw", "qx", "qy", "qz"]));
    let group = json!({"zarr_format": 3, "node_type": "group", "attributes": zarr.attributes});
    write_json(&zarr.folder, &group)
}

fn write_json(folder: &Path, value: &Value) -> Result<(), ExportError> {
    let path = folder.join("zarr.json");
    fs::write(&path, format!("{value:#}\n")).map_err(failed("write", path))
}

impl Zarr {
    fn describe(&self, name: &str, kind: Kind, shape: &[usize], chunk: &[usize]) -> Result<(), ExportError> {
        let data_type = match kind {
            Kind::U8 => "uint8",
            Kind::U16 => "uint16",
            Kind::U32 => "uint32",
            Kind::F32 => "float32",
            Kind::F64 => "float64",
        };
        let fill = if matches!(kind, Kind::F32 | Kind::F64) { json!(0.0) } else { json!(0) };
        // The side of a chunk is at least 1, also of an empty array.
        let chunk: Vec<usize> = chunk.iter().map(|&side| side.max(1)).collect();
        let value = json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": data_type,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": fill,
            "codecs": [
                {"name": "bytes", "configuration": {"endian": "little"}},
                {"name": "gzip", "configuration": {"level": 1}},
            ],
            "attributes": {},
        });
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder).map_err(failed("create", &folder))?;
        write_json(&folder, &value)
    }

    /// Writes the chunk at `index` of the first axis, of `axes` axes.
    fn chunk(&self, name: &str, index: usize, axes: usize, bytes: &[u8]) -> Result<(), ExportError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut path = self.folder.join(name).join("c").join(index.to_string());
        (1..axes).for_each(|_| path.push("0"));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed("create", folder))?;
        }
        let file = File::create_new(&path).map_err(failed("create", &path))?;
        let mut encoder = GzEncoder::new(file, Compression::fast());
        encoder.write_all(bytes).map_err(failed("write", &path))?;
        encoder.finish().map(drop).map_err(failed("write", &path))
    }
}

impl Sink for Zarr {
    fn whole(&mut self, name: &str, kind: Kind, shape: &[usize], bytes: &[u8]) -> Result<(), ExportError> {
        self.describe(name, kind, shape, shape)?;
        self.chunk(name, 0, shape.len(), bytes)
    }

    fn part(&mut self, name: &str, kind: Kind, shape: &[usize], bytes: &[u8]) -> Result<(), ExportError> {
        let entry = self.growing.entry(name.to_owned()).or_insert_with(|| (kind, shape.to_vec(), 0));
        let index = entry.2;
        entry.2 += 1;
        self.chunk(name, index, shape.len() + 1, bytes)
    }

    fn names(&mut self, name: &str, names: &[String]) -> Result<(), ExportError> {
        self.attributes.insert(name.to_owned(), json!(names));
        Ok(())
    }
}
