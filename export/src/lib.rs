//! Runs in the formats of other tools.
//!
//! [`export`] writes a recorded run as one of the [`Format`]s; [`export_source`] does it with
//! anything that has bodies and frames. An export is complete or absent: it grows under a temporary
//! name beside its place. What a format holds and leaves out is in the crate's README.

mod arrays;
mod error;
mod gltf;
mod npz;
mod solid;
mod source;
mod staging;
mod take;
mod usd;
mod video;
mod vtk;
mod zarr;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use pliant_runner::recording::Recording;

pub use error::ExportError;
pub use source::{Paint, Source, Table};
use staging::Staging;
use take::Take;
pub use take::{ExportOptions, Progress};
pub use video::parse_size;

/// A format of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Universal Scene Description as text: a folder with `stage.usda` and a layer a frame.
    Usd,
    /// VTK: a folder with `run.pvd` and `.vtp` files of each frame.
    Vtk,
    /// glTF 2.0 binary: a `.glb` file with the motion of bodies, cloth and particles.
    Gltf,
    /// NumPy arrays: an `.npz` file.
    Npz,
    /// Zarr version 3: a folder, chunked by frame.
    Zarr,
    /// Video: H.264 in an `.mp4` file, in real time.
    Mp4,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 6] = [Self::Usd, Self::Vtk, Self::Gltf, Self::Npz, Self::Zarr, Self::Mp4];

    /// Its name, as on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Usd => "usd",
            Self::Vtk => "vtk",
            Self::Gltf => "gltf",
            Self::Npz => "npz",
            Self::Zarr => "zarr",
            Self::Mp4 => "mp4",
        }
    }

    /// Ending of its file, with the dot; empty if it is a folder.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Usd | Self::Vtk => "",
            Self::Gltf => ".glb",
            Self::Npz => ".npz",
            Self::Zarr => ".zarr",
            Self::Mp4 => ".mp4",
        }
    }
}

/// A name that is none of a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no format; there are usd, vtk, gltf, npz, zarr and mp4")]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|f| f.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// Writes a run as `format` to `out`, a file or folder that must not exist; returns what to open
/// with the format's tool. `progress` gets the frames done and in all; when it breaks, the export is
/// given up.
///
/// # Errors
/// [`ExportError`]: the target exists, the run cannot be read or drawn or has numbers that are not
/// finite, the format cannot hold it, or a file cannot be written. Nothing is left at `out` then.
pub fn export(
    recording: &Recording,
    format: Format,
    out: &Path,
    options: &ExportOptions,
    progress: &mut Progress,
) -> Result<Vec<PathBuf>, ExportError> {
    export_source(recording, format, out, options, progress)
}

/// As [`export`], of any source.
///
/// # Errors
/// As [`export`].
pub fn export_source(
    source: &dyn Source,
    format: Format,
    out: &Path,
    options: &ExportOptions,
    progress: &mut Progress,
) -> Result<Vec<PathBuf>, ExportError> {
    let staging = Staging::new(out)?;
    let take = Take::new(source, options)?;
    match format {
        Format::Usd => usd::write(&take, &staging.content(), progress)?,
        Format::Vtk => vtk::write(&take, &staging.content(), progress)?,
        Format::Zarr => zarr::write(&take, &staging.content(), progress)?,
        Format::Gltf => gltf::write(&take, &staging.scratch("file"), progress)?,
        Format::Npz => npz::write(&take, &staging, &staging.scratch("file"), progress)?,
        Format::Mp4 => video::write(take, options.size, &staging, &staging.scratch("file"), progress)?,
    }
    let entry = match format {
        Format::Usd => out.join(usd::STAGE),
        Format::Vtk => out.join(vtk::COLLECTION),
        Format::Gltf | Format::Npz | Format::Zarr | Format::Mp4 => out.to_path_buf(),
    };
    let from = match format {
        Format::Gltf | Format::Npz | Format::Mp4 => staging.scratch("file"),
        _ => staging.content(),
    };
    staging.publish(&from)?;
    Ok(vec![entry])
}
