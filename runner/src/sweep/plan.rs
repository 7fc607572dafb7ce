//! The parts of a sweep that processes take, and how far a sweep is.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::existing::problem;
use super::table::SweepTable;
use crate::record::{Manifest, Status};
use crate::run::{checkpoint, directory};
use pliant_io::files::IoError;
use pliant_io::lock::{self, holder_text};

/// One of several equal parts of the variants: every `of`-th, from number `number` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl Shard {
    /// Part `number` of `of`, from 1 on; `None` if there is no such part.
    pub fn new(number: usize, of: usize) -> Option<Self> {
        (1..=of).contains(&number).then_some(Self { number, of })
    }

    /// Reads `i/n`.
    ///
    /// # Errors
    /// It is not of this form, or i is not from 1 to n.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read = || {
            let (number, of) = text.split_once('/')?;
            Self::new(number.trim().parse().ok()?, of.trim().parse().ok()?)
        };
        read().ok_or_else(|| format!("'{text}' must be i/n, with i from 1 to n, as 1/4"))
    }

    /// Whether this part has the variant number `at`, from 0 on.
    pub fn has(self, at: usize) -> bool {
        at % self.of == self.number - 1
    }
}

/// How far a variant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VariantState {
    /// Its run is complete.
    Completed,
    /// Its run failed, or it is no valid scene.
    Failed,
    /// A process works on it.
    Running,
    /// Its run was interrupted, or its process was killed: the next process resumes it.
    Interrupted,
    /// There is nothing of it.
    Waiting,
}

/// How far a variant of a sweep is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantStatus {
    /// Name of its run directory.
    pub name: String,
    /// How far it is.
    pub state: VariantState,
    /// The process that works on it, its last checkpoint, or why it failed; empty if there is nothing to say.
    pub details: String,
}

/// How far each variant of the sweep in a folder is, in their order. Nothing is changed.
///
/// # Errors
/// The folder has no table of a sweep.
pub fn status(folder: &Path) -> Result<Vec<VariantStatus>, IoError> {
    let table = SweepTable::read(folder)?;
    let status = table.variants.into_iter().map(|variant| {
        let (state, details) = state(&folder.join(&variant.name), variant.error);
        VariantStatus { name: variant.name, state, details }
    });
    Ok(status.collect())
}

fn state(out: &Path, error: Option<String>) -> (VariantState, String) {
    let path = directory::lock_path(out);
    if lock::is_held(&path) {
        return (VariantState::Running, holder_text(lock::holder(&path).as_ref()));
    }
    let checkpoint = |directory: &Path| {
        let newest = checkpoint::files(directory).into_iter().next();
        let steps = newest.and_then(|file| file.file_stem()?.to_str()?.parse::<u64>().ok());
        steps.map_or_else(|| "no checkpoint".to_owned(), |steps| format!("checkpoint at step {steps}"))
    };
    match directory::existing(out) {
        directory::Existing::Nothing => match error {
            Some(error) => (VariantState::Failed, error),
            None => (VariantState::Waiting, String::new()),
        },
        directory::Existing::Unfinished | directory::Existing::Both => {
            (VariantState::Interrupted, checkpoint(&directory::partial_path(out)))
        }
        directory::Existing::Finished => match Manifest::read(out) {
            Ok(manifest) => match manifest.status {
                // A variant with an error in the table did not count then; perhaps it does now.
                Status::Completed => match error.and_then(|_| problem(out, &manifest)) {
                    Some(problem) => (VariantState::Failed, problem),
                    None => (VariantState::Completed, String::new()),
                },
                Status::Failed => (VariantState::Failed, manifest.error.unwrap_or_default()),
                Status::Interrupted => (VariantState::Interrupted, checkpoint(out)),
            },
            Err(error) => (VariantState::Failed, error.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: every variant is in one part, and the parts' sizes differ by one at most.
    #[test]
    fn shards_share_the_variants() {
        for (count, of) in [(10, 3), (2, 5), (1000, 7)] {
            let parts: Vec<_> = (1..=of).map(|number| Shard::new(number, of).unwrap()).collect();
            for at in 0..count {
                assert_eq!(parts.iter().filter(|part| part.has(at)).count(), 1);
            }
            let sizes: Vec<_> =
                parts.iter().map(|part| (0..count).filter(|&at| part.has(at)).count()).collect();
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
        }
        assert_eq!(Shard::parse("2/4").unwrap(), Shard { number: 2, of: 4 });
        for text in ["0/4", "5/4", "1", "a/b", "1/0", "-1/2", ""] {
            assert!(Shard::parse(text).unwrap_err().contains("i/n"), "{text}");
        }
    }
}
