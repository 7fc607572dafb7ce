//! Kernels assembled ahead for one architecture, in files that `ptx.py --cubins` writes.
//!
//! A cubin spares the driver the assembling of the PTX. Its last line says what it is for and
//! carries the hash of the PTX that it was made from; the library takes none of another PTX.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::ptx;

/// Names the folder of cubins, where that is not `pliant-cubins` beside the executable.
pub const FOLDER: &str = "PLIANT_CUBINS";

/// What a GPU's kernels were loaded from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelImage {
    /// A file that was assembled for this architecture.
    Cubin {
        /// The file.
        path: PathBuf,
    },
    /// The PTX of this build, which the driver assembled or had in its cache.
    Ptx {
        /// Why no cubin was taken; none where there is no folder of them.
        reason: Option<String>,
    },
}

impl fmt::Display for KernelImage {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cubin { path } => write!(text, "cubin {}", path.display()),
            Self::Ptx { reason: None } => write!(text, "PTX"),
            Self::Ptx { reason: Some(reason) } => write!(text, "PTX ({reason})"),
        }
    }
}

/// A cubin that fits, without its last line.
pub(crate) struct Cubin {
    pub path: PathBuf,
    pub image: Vec<u8>,
}

/// The cubin for a compute capability; else why there is none.
pub(crate) fn find(capability: (u32, u32)) -> Result<Cubin, Option<String>> {
    let given = std::env::var_os(FOLDER).map(PathBuf::from);
    let folder = match &given {
        Some(folder) => folder.clone(),
        None => beside_executable().filter(|folder| folder.is_dir()).ok_or(None)?,
    };
    read(&folder, capability).map_err(Some)
}

fn beside_executable() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.join("pliant-cubins"))
}

fn read(folder: &Path, (major, minor): (u32, u32)) -> Result<Cubin, String> {
    let architecture = format!("sm_{major}{minor}");
    let path = folder.join(format!("pliant-{architecture}.cubin"));
    let mut image = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mark = format!("\npliant cubin for {architecture} of PTX {}\n", ptx::hash());
    if !image.ends_with(mark.as_bytes()) {
        let tail = &image[image.len().saturating_sub(mark.len())..];
        let is_ours = tail.starts_with(b"\npliant cubin for ");
        let what = if is_ours { "is of other kernels" } else { "is no whole cubin of Pliant" };
        return Err(format!("{} {what}", path.display()));
    }
    image.truncate(image.len() - mark.len());
    Ok(Cubin { path, image })
}
