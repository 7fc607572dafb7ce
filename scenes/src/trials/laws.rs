//! The laws that every run must keep, whatever the scene.
//!
//! Tolerances are one a law, for all scenes. What rounding alone may do to a run is measured: a run whose start was changed by
//! parts in ten million says how much a difference grows.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::record::{End, Moment, NoRun, Record, record, record_resumed};
use super::transform::{Change, change};
use crate::format::{Body, Motion, Scene};

/// Energy may appear to this part of what took part: the size of the errors of first-order steps, and what issue and documents promise.
const ENERGY: f64 = 0.02;
/// Momentum may be off by this part of the impulses exchanged: particles are f32, and sums of some thousand of them are rounded.
const MOMENTUM: f64 = 1e-3;
/// Forces on floors may be off from the weight by this part.
const WEIGHT: f64 = 0.01;
/// Velocities may differ between inertial frames by this part of the largest relative velocity.
const BOOST: f64 = 0.01;
/// Two runs that differ by rounding may differ by this many times what a change of the start by [`NUDGE`] does.
const ROUNDING: f64 = 30.0;
/// Size of that change, of a few parts of f32's precision, and relative to the velocities of the scene.
const NUDGE: f64 = 1e-6;
/// Solves stop at tolerances; where a run takes another way through its iterations, so much of the velocities may differ.
const TOLERANCE: f64 = 2e-3;
/// Runs in which a nudge grows to this part of the velocities are chaotic: what they come to is not compared.
const CHAOTIC: f64 = 1e-3;
/// Energy may be off from what it was by this part of what took part, where nothing takes any.
const KEPT: f64 = 0.01;
/// Bodies of a tower may move by this part of their size, besides what their surfaces give way under the weight.
const STANDS: f64 = 0.05;
/// Deceleration by friction may be off from mu g by this part.
const FRICTION: f64 = 0.01;

/// A law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
pub enum Law {
    /// Nothing passive gains energy, in the frame that moves at `frame` (m/s).
    Energy {
        /// Velocity of the frame in which nothing works on the scene [m/s].
        frame: [f64; 3],
    },
    /// What nothing holds keeps its momentum and angular momentum, but for gravity's impulse.
    Momentum,
    /// Nothing is inside of bodies, nor beyond floors.
    Inside,
    /// Floors carry what stands on them: force times time is weight times time plus the change of momentum, at rest.
    Weight,
    /// The same scene, seen otherwise, has the same result.
    Same {
        /// What is changed.
        change: Change,
    },
    /// Stopped at half of its steps and gone on with, the run has the same bits.
    Resumed,
    /// With another number of threads the run has the same bits.
    Threads,
    /// Nothing takes energy: it is at the end what it was, and always.
    Kept,
    /// Bodies stay where they are.
    Stands,
    /// What slides on the floor is slowed by mu g.
    Friction,
    /// Half of the step, and half of that, change the result less and less.
    Refined,
}

impl Law {
    /// Its name in tables.
    pub fn name(&self) -> String {
        match self {
            Self::Energy { .. } => "energy".to_owned(),
            Self::Momentum => "momentum".to_owned(),
            Self::Inside => "inside".to_owned(),
            Self::Weight => "weight".to_owned(),
            Self::Same { change } => change.name().to_owned(),
            Self::Resumed => "resumed".to_owned(),
            Self::Threads => "threads".to_owned(),
            Self::Kept => "kept".to_owned(),
            Self::Stands => "stands".to_owned(),
            Self::Friction => "friction".to_owned(),
            Self::Refined => "refined".to_owned(),
        }
    }
}

/// A law that a run broke.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Name of the law.
    pub law: String,
    /// What was measured, relative to its scale [-].
    pub measured: f64,
    /// What it may be [-].
    pub bound: f64,
    /// In words, with units.
    pub what: String,
}

/// How a trial came out.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Every law that could be judged held.
    Held {
        /// The laws that could not be judged, and why.
        skipped: Vec<(String, &'static str)>,
    },
    /// The product refused the scene by a typed error.
    Refused(String),
    /// The run ended with a typed error.
    Said(String),
    /// Laws were broken, in silence or by a panic.
    Failed(Vec<Finding>),
}

/// A law's verdict.
enum Verdict {
    Held,
    Skipped(&'static str),
    Broken(Finding),
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
        Law::Energy { frame } => energy(base, &Vector3::from(*frame)),
        Law::Momentum => momentum(base),
        Law::Inside => inside(base),
        Law::Weight => weight(base),
        Law::Same { change: how @ Change::Boosted { .. } } => boosted(scene, base, how),
        Law::Same { change: how } => same(scene, base, how, sensitivity),
        Law::Resumed => bits("resumed", base, record_resumed(scene)),
        Law::Threads => match rayon::ThreadPoolBuilder::new().num_threads(3).build() {
            Ok(pool) => bits("threads", base, pool.install(|| record(scene))),
            Err(_) => Verdict::Skipped("threads cannot be started"),
        },
        Law::Kept => kept(base),
        Law::Stands => stands(scene, base),
        Law::Friction => friction(scene, base),
        Law::Refined => refined(scene, base),
    }
}

/// Broken where `measured`, in parts of its scale, is above `bound` or is no number.
fn at_most(law: &str, measured: f64, bound: f64, what: impl FnOnce() -> String) -> Verdict {
    // NaN is above every bound.
    if measured <= bound {
        return Verdict::Held;
    }
    Verdict::Broken(Finding { law: law.to_owned(), measured, bound, what: what() })
}

/// The energy at the start and all that gravity gave since is all that there may be.
fn energy(run: &Record, frame: &Vector3<f64>) -> Verdict {
    let (Some(first), Some(last)) = (run.moments.first(), run.moments.last()) else {
        return Verdict::Skipped("no steps");
    };
    let dt = (last.time - first.time) / (run.moments.len() - 1).max(1) as f64;
    let g = run.gravity.norm();
    let of = |moment: &Moment| moment.energy(frame, run.mass, &run.gravity);
    let at_start = of(first);
    let brought = first.kinetic_in(frame, run.mass) + first.elastic;
    // Positions are known to a step's fall, and things placed on each other to a thousandth of the scene's least length.
    let slack = run.mass * (0.5 * (g * dt).powi(2) + 1e-3 * g * run.length) + 1e-12;
    let mut fallen: f64 = 0.0;
    let mut worst = (0.0, 0.0, 0.0);
    for moment in &run.moments {
        let down = first.potential_in(frame, run.mass, &run.gravity)
            - moment.potential_in(frame, run.mass, &run.gravity);
        fallen = fallen.max(down);
        let gained = of(moment) - at_start;
        let measured = gained / (brought + fallen + slack / ENERGY);
        if !(measured <= worst.0) {
            worst = (measured, gained, moment.time);
        }
    }
    at_most("energy", worst.0, ENERGY, || {
        format!("{:.4e} J from nowhere at {:.4} s, where {:.4e} J took part", worst.1, worst.2, brought + fallen)
    })
}

/// No damping, no friction, no contact: all energy stays.
fn kept(run: &Record) -> Verdict {
    let Some(first) = run.moments.first() else { return Verdict::Skipped("no steps") };
    let of = |moment: &Moment| moment.kinetic + moment.elastic + moment.potential;
    let fallen = run.moments.iter().map(|m| first.potential - m.potential).fold(0.0, f64::max);
    // What blew up must not be its own measure.
    let brought = first.kinetic + first.elastic + fallen.min(2.0 * run.mass * run.gravity.norm() * run.span);
    let mut worst = (0.0, 0.0);
    for moment in &run.moments {
        let off = (of(moment) - of(first)) / brought;
        if !(off.abs() <= f64::abs(worst.0)) {
            worst = (off, moment.time);
        }
    }
    at_most("kept", worst.0.abs(), KEPT, || {
        format!("{:+.3} % of {brought:.4e} J at {:.4} s", 100.0 * worst.0, worst.1)
    })
}

/// Every body is where it was, but for what surfaces give way.
fn stands(scene: &Scene, run: &Record) -> Verdict {
    let sag = run.mass * run.gravity.norm() / (0.5 * scene.rigid.stiffness) * run.bodies.len() as f64;
    let mut worst = (0.0f64, "");
    for (before, after) in run.start.iter().zip(&run.bodies).filter(|(_, after)| after.dynamic) {
        let moved = (after.pose.translation.vector - before.pose.translation.vector).norm();
        if !(moved <= worst.0) {
            worst = (moved, &after.name);
        }
    }
    let bound = STANDS + sag / run.length;
    at_most("stands", worst.0 / run.length, bound, || format!("{} moved by {:.5} m", worst.1, worst.0))
}

/// `P(t) = P(0) + M g t`; `L(t)` likewise where there is no gravity.
fn momentum(run: &Record) -> Verdict {
    let Some(first) = run.moments.first() else { return Verdict::Skipped("no steps") };
    let speed = (2.0 * first.kinetic / run.mass).sqrt();
    let mut worst = 0.0f64;
    for moment in &run.moments {
        let expected = first.linear + run.mass * run.gravity * moment.time;
        let scale = run.mass * (speed + run.gravity.norm() * moment.time) + 1e-12;
        worst = worst.max_or_nan((moment.linear - expected).norm() / scale);
        if run.gravity.norm() == 0.0 {
            let reach = run.length + speed * moment.time + first.angular.norm() / (run.mass * speed + 1e-12);
            worst = worst.max_or_nan((moment.angular - first.angular).norm() / (scale * reach));
        }
    }
    at_most("momentum", worst, MOMENTUM, || format!("{worst:.3e} of the momentum that took part"))
}

/// The greater of two, or NaN if either is.
trait MaxOrNan {
    fn max_or_nan(self, other: f64) -> f64;
}

impl MaxOrNan for f64 {
    fn max_or_nan(self, other: f64) -> f64 {
        if self.is_nan() || other.is_nan() { f64::NAN } else { self.max(other) }
    }
}

/// No particle deeper than half of a cell, no centre of mass inside of anything.
fn inside(run: &Record) -> Verdict {
    let worst = run.inside.iter().max_by(|a, b| a.depth.total_cmp(&b.depth));
    let Some(worst) = worst else { return Verdict::Held };
    at_most("inside", worst.depth / run.length, 0.5, || {
        format!("{} is {:.4} m inside {} at {:.4} s", worst.what, worst.depth, worst.of, worst.time)
    })
}

/// Over the last quarter of the run, where momentum has all but ceased to change.
fn weight(run: &Record) -> Verdict {
    let count = run.moments.len();
    let from = count - (count / 4).max(1);
    let (Some(first), Some(last)) = (run.moments.get(from.saturating_sub(1)), run.moments.last()) else {
        return Verdict::Skipped("no steps");
    };
    let impulse = run.mass * run.gravity * (last.time - first.time);
    if !(impulse.norm() > 0.0) {
        return Verdict::Skipped("no gravity");
    }
    let speed = |m: &Moment| (2.0 * m.kinetic / run.mass).sqrt();
    let fastest = run.moments[from..].iter().map(speed).fold(0.0, f64::max);
    if !(fastest * run.mass < 0.02 * impulse.norm()) {
        return Verdict::Skipped("not at rest");
    }
    let found: Vector3<f64> = run.moments[from..].iter().map(|m| m.on_ground).sum();
    let expected = impulse - (last.linear - first.linear);
    let measured = (found - expected).norm() / impulse.norm();
    let time = last.time - first.time;
    at_most("weight", measured, WEIGHT, || {
        format!("floors carry {:.5} N of {:.5} N", found.norm() / time, impulse.norm() / time)
    })
}

/// The largest differences between two ends: of velocities, and of positions over the time of the run, [m/s].
fn difference(a: &Record, b: &Record) -> f64 {
    let time = a.moments.last().map_or(1.0, |m| m.time).max(1e-12);
    let mut worst = 0.0f64;
    for (p, q) in a.bodies.iter().zip(&b.bodies).filter(|(p, _)| p.dynamic) {
        worst = worst.max_or_nan((p.velocity.linear - q.velocity.linear).norm());
        let apart = (p.pose.translation.vector - q.pose.translation.vector).norm();
        worst = worst.max_or_nan(apart / time);
        worst = worst.max_or_nan(a.length * p.pose.rotation.angle_to(&q.pose.rotation) / time);
    }
    for (p, q) in a.parts.iter().zip(&b.parts) {
        worst = worst.max_or_nan((p.velocity - q.velocity).norm());
        worst = worst.max_or_nan((p.center - q.center).norm() / time);
    }
    worst
}

/// A velocity that tells how fast things are in a run, in the frame of its own centre of mass [m/s].
fn liveliness(run: &Record) -> f64 {
    let speed = |m: &Moment| {
        let mean = m.linear / run.mass;
        (2.0 * m.kinetic_in(&mean, run.mass).max(0.0) / run.mass).sqrt()
    };
    let fastest = run.moments.iter().map(speed).fold(0.0, f64::max);
    let dt = run.moments.get(1).map_or(0.0, |m| m.time);
    fastest + run.gravity.norm() * dt
}

/// The changed scene, undone at its end, against the scene itself.
fn same(scene: &Scene, base: &Record, how: &Change, sensitivity: &mut Option<Option<f64>>) -> Verdict {
    let Some(changed) = change(scene, how) else { return Verdict::Skipped("cannot be changed so") };
    let other = match completed(record(&changed)) {
        Ok(other) => other,
        Err(reason) => return differs(how.name(), reason),
    };
    let scale = liveliness(base);
    let nudged = *sensitivity.get_or_insert_with(|| {
        let nudged = change(scene, &Change::Nudged { speed: NUDGE * scale })?;
        completed(record(&nudged)).ok().map(|nudged| difference(base, &nudged) / scale)
    });
    let Some(nudged) = nudged else { return Verdict::Skipped("the nudged scene does not run") };
    if nudged > CHAOTIC {
        return Verdict::Skipped("chaotic");
    }
    let measured = difference(base, &how.undo(other, scene)) / scale;
    let bound = ROUNDING * nudged + TOLERANCE;
    at_most(how.name(), measured, bound, || {
        format!("{:.3e} m/s apart, where a nudge makes {:.3e} m/s", measured * scale, nudged * scale)
    })
}

/// Another inertial frame: particles cross the grid otherwise, so that results agree to what the grid resolves.
fn boosted(scene: &Scene, base: &Record, how: &Change) -> Verdict {
    let Some(changed) = change(scene, how) else { return Verdict::Skipped("cannot be changed so") };
    let other = match completed(record(&changed)) {
        Ok(other) => how.undo(other, scene),
        Err(reason) => return differs(how.name(), reason),
    };
    let scale = liveliness(base);
    let apart = |p: &Vector3<f64>, q: &Vector3<f64>| (p - q).norm();
    let bodies = base.bodies.iter().zip(&other.bodies).filter(|(p, _)| p.dynamic);
    let bodies = bodies.map(|(p, q)| apart(&p.velocity.linear, &q.velocity.linear));
    let parts = base.parts.iter().zip(&other.parts).map(|(p, q)| apart(&p.velocity, &q.velocity));
    let worst = bodies.chain(parts).fold(0.0, f64::max_or_nan);
    at_most(how.name(), worst / scale, BOOST, || {
        format!("{worst:.4} m/s apart after the boost, where velocities are of {scale:.3} m/s")
    })
}

fn completed(run: Result<Record, NoRun>) -> Result<Record, String> {
    match run {
        Ok(run) => match &run.end {
            End::Completed => Ok(run),
            End::Said(message) => Err(message.clone()),
            End::Panicked(message) => Err(format!("panic: {message}")),
        },
        Err(NoRun::Refused(message)) => Err(message),
        Err(NoRun::Panicked(message)) => Err(format!("panic: {message}")),
    }
}

/// A scene that runs, and its changed self does not.
fn differs(law: &str, reason: String) -> Verdict {
    Verdict::Broken(Finding { law: law.to_owned(), measured: f64::INFINITY, bound: 0.0, what: reason })
}

fn bits(law: &str, base: &Record, other: Result<Record, NoRun>) -> Verdict {
    match completed(other) {
        Err(reason) => differs(law, reason),
        Ok(other) if other.state == base.state && !base.state.is_empty() => Verdict::Held,
        Ok(other) => {
            let apart = difference(base, &other);
            differs(law, format!("other bits: {apart:.3e} m/s apart at the end"))
        }
    }
}

/// One soft body or block on one floor, both known by their friction, slides the whole time: Coulomb.
fn friction(scene: &Scene, run: &Record) -> Verdict {
    let slides = scene.bodies.iter().filter(|body| !matches!(body.motion, Motion::Dynamic(_)));
    let Some([floor]) = slides.collect::<Vec<&Body>>().first_chunk().copied() else {
        return Verdict::Skipped("no floor");
    };
    let (Some(geometry), Some(first), Some(last)) =
        (floor.geometries.first(), run.moments.first(), run.moments.last())
    else {
        return Verdict::Skipped("no floor");
    };
    let ground = match &floor.motion {
        Motion::PrescribedVelocities { keyframes, .. } => {
            keyframes.first().map_or(Vector3::zeros(), |k| Vector3::from(k.linear))
        }
        _ => Vector3::zeros(),
    };
    let relative = |m: &Moment| m.linear / run.mass - ground;
    let along = relative(first) - run.gravity * (relative(first).dot(&run.gravity) / run.gravity.norm_squared());
    let (start, end) = (along.norm(), relative(last).dot(&along.normalize()));
    let expected = geometry.friction * run.gravity.norm() * last.time;
    if !(end > 0.1 * start && expected > 0.0) {
        return Verdict::Skipped("it does not slide all the time");
    }
    let measured = ((start - end) / expected - 1.0).abs();
    at_most("friction", measured, FRICTION, || {
        format!("slowed by {:.5} m/s, mu g t is {expected:.5} m/s", start - end)
    })
}

/// At steps dt, dt/2 and dt/4, the second difference is at most the first.
fn refined(scene: &Scene, base: &Record) -> Verdict {
    let finer = |factor: f64| {
        let mut scene = scene.clone();
        scene.dt /= factor;
        completed(record(&scene))
    };
    match (finer(2.0), finer(4.0)) {
        (Ok(half), Ok(quarter)) => {
            let (first, second) = (difference(base, &half), difference(&half, &quarter));
            let scale = liveliness(base);
            if first > 0.1 * scale {
                return Verdict::Skipped("too coarse to converge");
            }
            at_most("refined", second / scale, first / scale + 1e-6, || {
                format!("halving the step changes {first:.3e} m/s, halving it again {second:.3e} m/s")
            })
        }
        (Err(reason), _) | (_, Err(reason)) => differs("refined", reason),
    }
}
