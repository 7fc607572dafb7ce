//! Trials: whole scenes drawn at random and judged by laws alone.
//!
//! A [`Trial`] is a scene and the laws that it must keep, drawn by a [`Family`] from a seed. The
//! laws (`laws/`) use only a run of the scene, not how it was drawn, so that they can judge any
//! scene of a kind. A scene that breaks one is reduced (`shrink.rs`) to the smallest that still
//! does, and written as a scene file for `pliant run`.

mod builders;
mod families;
mod laws;
mod record;
mod report;
mod sampler;
mod shrink;
mod transform;

pub use families::{FAMILIES, Family, family};
pub use laws::{Finding, Law, Outcome, judge};
pub use record::{End, Record, record};
pub use report::{Failure, Found, Options, Tally, trials};
pub use sampler::SceneSampler;
pub use shrink::shrink;

use pliant_scenes::format::Scene;

/// A scene and the laws by which it is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The scene.
    pub scene: Scene,
    /// The laws.
    pub laws: Vec<Law>,
}
