//! The laws that hold for every run of a scene.
//!
//! Each law has one tolerance for all scenes. The effect of rounding alone on a run is measured: a
//! run whose start was changed by parts in a million shows how much a difference grows.

mod run_pairs;
mod single_run;
#[cfg(test)]
mod tests;
mod verdict;

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::record::{End, NoRun, Record, record, record_resumed};
use super::transform::Transformation;
use pliant_scenes::format::Scene;

pub use verdict::Finding;
use verdict::Verdict;

/// A law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
pub enum Law {
    /// Nothing passive gains energy, in the frame that moves at `frame` \[m/s\].
    Energy {
        /// Velocity of the frame in which no external work is done \[m/s\].
        frame: [f64; 3],
    },
    /// What is left alone gains no energy, from whatever time on.
    Fades,
    /// Free bodies conserve momentum and angular momentum, up to gravity's impulse.
    Momentum,
    /// Nothing is inside bodies or below floors.
    Penetration,
    /// No layer of cloth passes through another.
    Layers,
    /// Floors carry the weight: force times time is weight times time less the change of momentum.
    Weight,
    /// A symmetry transformation of the scene transforms the result.
    Same {
        /// The transformation.
        change: Transformation,
    },
    /// Stopped at half of its steps and resumed, the run has the same bits.
    Resumed,
    /// With another number of threads the run has the same bits.
    Threads,
    /// Without losses the energy is constant.
    Kept,
    /// Bodies do not move.
    Stands,
    /// Sliding bodies decelerate by mu g.
    Friction,
    /// What fingers press with set forces falls, or is held, by friction.
    Grip,
    /// The result converges as the step is halved twice.
    Refined,
}

impl Law {
    /// Its name in tables.
    pub fn name(&self) -> String {
        match self {
            Self::Energy { .. } => "energy".to_owned(),
            Self::Fades => "fades".to_owned(),
            Self::Momentum => "momentum".to_owned(),
            Self::Penetration => "inside".to_owned(),
            Self::Layers => "layers".to_owned(),
            Self::Weight => "weight".to_owned(),
            Self::Same { change } => change.name().to_owned(),
            Self::Resumed => "resumed".to_owned(),
            Self::Threads => "threads".to_owned(),
            Self::Kept => "kept".to_owned(),
            Self::Stands => "stands".to_owned(),
            Self::Friction => "friction".to_owned(),
            Self::Grip => "grip".to_owned(),
            Self::Refined => "refined".to_owned(),
        }
    }
}

/// Outcome of a trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Every law that could be judged held.
    Held {
        /// The laws that could not be judged, and why.
        skipped: Vec<(String, &'static str)>,
    },
    /// The scene was refused with a typed error.
    Refused(String),
    /// The run ended with a typed error.
    Said(String),
    /// Laws were broken without a warning, or the run panicked.
    Failed(Vec<Finding>),
}

/// Runs a scene and judges it by laws.
pub fn judge(scene: &Scene, laws: &[Law]) -> Outcome {
    let base = match record(scene) {
        Ok(base) => base,
        Err(NoRun::Refused(message)) => return Outcome::Refused(message),
        Err(NoRun::Panicked(message)) => return Outcome::Failed(vec![panicked(message)]),
    };
    match &base.end {
        End::Said(message) => return Outcome::Said(message.clone()),
        End::Panicked(message) => return Outcome::Failed(vec![panicked(message.clone())]),
        End::Completed => {}
    }
    let mut findings = Vec::new();
    let mut skipped = Vec::new();
    let mut sensitivity = None;
    for law in laws {
        match verdict(law, scene, &base, &mut sensitivity) {
            Verdict::Held => {}
            Verdict::Skipped(why) => skipped.push((law.name(), why)),
            Verdict::Broken(finding) => findings.push(finding),
        }
    }
    if findings.is_empty() { Outcome::Held { skipped } } else { Outcome::Failed(findings) }
}

fn panicked(message: String) -> Finding {
    Finding { law: "panic".to_owned(), measured: f64::INFINITY, bound: 0.0, what: message }
}

fn verdict(law: &Law, scene: &Scene, base: &Record, sensitivity: &mut Option<Option<f64>>) -> Verdict {
    match law {
        Law::Energy { frame } => single_run::energy(scene, base, &Vector3::from(*frame)),
        Law::Fades => single_run::fades(base),
        Law::Momentum => single_run::momentum(scene, base),
        Law::Penetration => single_run::inside(scene, base),
        Law::Layers => single_run::layers(base),
        Law::Weight => single_run::weight(base),
        Law::Same { change: transformation @ Transformation::Boosted { .. } } => {
            run_pairs::boosted(scene, base, transformation)
        }
        Law::Same { change: transformation } => run_pairs::same(scene, base, transformation, sensitivity),
        Law::Resumed => run_pairs::bits("resumed", base, record_resumed(scene)),
        Law::Threads => match rayon::ThreadPoolBuilder::new().num_threads(3).build() {
            Ok(pool) => run_pairs::bits("threads", base, pool.install(|| record(scene))),
            Err(_) => Verdict::Skipped("threads cannot be started"),
        },
        Law::Kept => single_run::conserved_energy(base),
        Law::Stands => single_run::stands(scene, base),
        Law::Friction => single_run::friction(scene, base),
        Law::Grip => single_run::grip(scene, base),
        Law::Refined => run_pairs::refined(scene, base),
    }
}
