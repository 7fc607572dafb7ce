//! The benchmark suite: parts that register themselves in [`PARTS`] and return rows.
//!
//! A new part is a module beside this one with a [`BenchPart`] constant, and one line in [`PARTS`].

mod clutter;
mod comfree;
mod dough;
mod garments;
pub mod grip;
mod mpm;
pub mod paper;
mod part;
mod rigid;
mod scene_run;
mod soft_worlds;
mod solvers;
mod table1;
mod tolerance;
mod trials;
mod worlds;

pub use part::{
    BenchError, BenchOptions, BenchPart, DrawnFigure, Figures, Measure, Measurement, TrialOptions,
};

/// The parts of the suite, in the order in which they run.
pub const PARTS: &[BenchPart] = &[
    mpm::PART,
    table1::PART,
    tolerance::PART,
    clutter::PART,
    rigid::SLIDE,
    rigid::STACK,
    rigid::BALL,
    comfree::CONTACTS,
    comfree::PILE,
    worlds::WORLDS,
    soft_worlds::SOFT_WORLDS,
    solvers::PART,
    paper::PART,
    trials::PART,
    garments::PART,
];

/// The part of a name, or `None`.
pub fn part(name: &str) -> Option<&'static BenchPart> {
    PARTS.iter().find(|part| part.name == name)
}
