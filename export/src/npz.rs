//! NumPy's `.npz`: a ZIP file of arrays in the format `.npy` 1.0 (NEP 1).
//!
//! The container is the crate zip. The header of an array is our own, a line of text: arrays grow
//! frame by frame in files of their own, which a writer that takes its elements in one go, as that
//! of npyz 0.9, does not do without reading the run once for each array.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::arrays::{Kind, Sink, collect};
use crate::error::{ExportError, failed};
use crate::staging::Staging;
use crate::take::{Progress, Take};

/// From here on an entry needs the 64-bit fields of ZIP \[bytes\].
const LARGE: u64 = u32::MAX as u64;

struct Growing {
    kind: Kind,
    shape: Vec<usize>,
    frames: usize,
    path: PathBuf,
    file: BufWriter<File>,
}

struct Npz<'a> {
    staging: &'a Staging,
    path: &'a Path,
    zip: ZipWriter<BufWriter<File>>,
    growing: BTreeMap<String, Growing>,
}

/// Writes the run to `path`.
pub fn write(
    take: &Take,
    staging: &Staging,
    path: &Path,
    progress: &mut Progress,
) -> Result<(), ExportError> {
    let file = File::create_new(path).map_err(failed("create", path))?;
    let zip = ZipWriter::new(BufWriter::new(file));
    let mut npz = Npz { staging, path, zip, growing: BTreeMap::new() };
    collect(take, &mut npz, progress)?;
    npz.finish()
}

/// The header of an array.
fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let mut axes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    if shape.len() > 1 {
        axes.truncate(axes.len() - 2);
    }
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}", axes.trim_end());
    // The data begin at a multiple of 64 bytes; 10 come before the text, a line feed ends it.
    let padding = (64 - (10 + text.len() + 1) % 64) % 64;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    // Three axes and a type stay far below the 64 KiB that the length can say.
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

impl Npz<'_> {
    fn entry(
        &mut self,
        name: &str,
        header: &[u8],
        data: &mut impl io::Read,
        bytes: u64,
    ) -> Result<(), ExportError> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(1))
            .large_file(bytes >= LARGE);
        let wrong = |e| failed("write", self.path)(io::Error::from(e));
        self.zip.start_file(format!("{name}.npy"), options).map_err(wrong)?;
        self.zip.write_all(header).map_err(failed("write", self.path))?;
        io::copy(data, &mut self.zip).map_err(failed("write", self.path))?;
        Ok(())
    }

    fn finish(mut self) -> Result<(), ExportError> {
        for (name, growing) in std::mem::take(&mut self.growing) {
            let Growing { kind, mut shape, frames, path, file } = growing;
            let file = file.into_inner().map_err(|e| failed("write", &path)(e.into_error()))?;
            let bytes = file.metadata().map_err(failed("read", &path))?.len();
            drop(file);
            shape.insert(0, frames);
            let mut data = BufReader::new(File::open(&path).map_err(failed("read", &path))?);
            self.entry(&name, &header(kind.numpy(), &shape), &mut data, bytes)?;
            fs::remove_file(&path).map_err(failed("remove", &path))?;
        }
        let path = self.path;
        let wrong = |e| failed("write", path)(io::Error::from(e));
        let mut file = self.zip.finish().map_err(wrong)?;
        file.flush().map_err(failed("write", path))
    }
}

impl Sink for Npz<'_> {
    fn whole(&mut self, name: &str, kind: Kind, shape: &[usize], bytes: &[u8]) -> Result<(), ExportError> {
        self.entry(name, &header(kind.numpy(), shape), &mut &*bytes, bytes.len() as u64)
    }

    fn part(&mut self, name: &str, kind: Kind, shape: &[usize], bytes: &[u8]) -> Result<(), ExportError> {
        if !self.growing.contains_key(name) {
            let path = self.staging.scratch(&format!("{name}.raw"));
            let file = BufWriter::new(File::create_new(&path).map_err(failed("create", &path))?);
            let growing = Growing { kind, shape: shape.to_vec(), frames: 0, path, file };
            self.growing.insert(name.to_owned(), growing);
        }
        if let Some(growing) = self.growing.get_mut(name) {
            growing.file.write_all(bytes).map_err(failed("write", &growing.path))?;
            growing.frames += 1;
        }
        Ok(())
    }

    fn names(&mut self, name: &str, names: &[String]) -> Result<(), ExportError> {
        // NumPy's fixed-width text: UTF-32, zeros behind.
        let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0).max(1);
        let mut bytes = Vec::with_capacity(names.len() * width * 4);
        for text in names {
            let padded = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
            padded.for_each(|letter| bytes.extend(letter.to_le_bytes()));
        }
        let length = bytes.len() as u64;
        self.entry(name, &header(&format!("<U{width}"), &[names.len()]), &mut &*bytes, length)
    }
}
