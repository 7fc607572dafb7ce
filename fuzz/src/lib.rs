//! What the fuzz targets share: the checks of what is read, and a mutator of text.

pub mod checks;
pub mod mutator;
#[cfg(feature = "worlds")]
pub mod runs;
#[cfg(feature = "worlds")]
pub mod worlds;
