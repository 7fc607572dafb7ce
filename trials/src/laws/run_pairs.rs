//! Laws between runs: of the same scene transformed, stopped and resumed, on other threads, with
//! smaller steps.

use nalgebra::Vector3;

use super::verdict::{MaxOrNan, Verdict, at_most, broken};
use crate::record::{End, Moment, NoRun, Record, record};
use crate::transform::{Transformation, change};
use pliant_scenes::format::{RigidSolver, Scene};

/// Velocities may differ between inertial frames by this fraction of the largest relative velocity.
const BOOST: f64 = 0.01;
/// Velocities of particles are f32, with some hundred roundings at the end.
const SINGLE: f64 = 1e-5;
/// Two runs that differ by rounding may differ by this many times the effect of a change of the
/// start by [`PERTURBATION`].
const ROUNDING: f64 = 30.0;
/// Size of that change, of a few parts of f32's precision, and relative to the velocities of the
/// scene.
const PERTURBATION: f64 = 1e-6;
/// Size of a change like that of rounding in f64, relative to the velocities of the scene.
const ROUNDING_PERTURBATION: f64 = 1e-13;
/// Number of perturbations of each size that decide whether a run that seems to break a law is
/// chaotic.
const PERTURBATION_COUNT: u64 = 20;
/// Solves stop at tolerances; runs with different iterations may differ by this fraction of the
/// velocities.
const TOLERANCE: f64 = 2e-3;
/// Runs in which a perturbation grows to this fraction of the velocities are chaotic: their results
/// are not compared.
const CHAOTIC: f64 = 1e-3;

/// The largest differences between two ends: of velocities, and of positions over the time of the
/// run, \[m/s\].
pub(super) fn difference(a: &Record, b: &Record) -> f64 {
    let time = a.moments.last().map_or(1.0, |m| m.time).max(1e-12);
    let mut worst = 0.0f64;
    for (p, q) in a.bodies.iter().zip(&b.bodies).filter(|(p, _)| p.dynamic) {
        worst = worst.max_or_nan((p.velocity.linear - q.velocity.linear).norm());
        let apart = (p.pose.translation.vector - q.pose.translation.vector).norm();
        worst = worst.max_or_nan(apart / time);
        // Twice the length of the vector part: an angle from the scalar part alone is known to 3e-8
        // only.
        let turned = p.pose.rotation.rotation_to(&q.pose.rotation);
        let angle = 2.0 * turned.vector().norm().atan2(turned.scalar().abs());
        worst = worst.max_or_nan(a.length * angle / time);
    }
    for (p, q) in a.parts.iter().zip(&b.parts) {
        worst = worst.max_or_nan((p.velocity - q.velocity).norm());
        worst = worst.max_or_nan((p.center - q.center).norm() / time);
    }
    worst
}

/// Velocity scale of a run, in the frame of its centre of mass \[m/s\].
fn velocity_scale(run: &Record) -> f64 {
    let speed = |m: &Moment| {
        let mean = m.linear / run.mass;
        (2.0 * m.kinetic_in(&mean, run.mass).max(0.0) / run.mass).sqrt()
    };
    let fastest = run.moments.iter().map(speed).fold(0.0, f64::max);
    let dt = run.moments.get(1).map_or(0.0, |m| m.time);
    fastest + run.gravity.norm() * dt
}

/// Growth of a perturbation of this speed \[m/s\], as a fraction of the velocities; none if the
/// perturbed scene does not run.
fn perturbation_growth(scene: &Scene, base: &Record, speed: f64, seed: u64) -> Option<f64> {
    let nudged = change(scene, &Transformation::Nudged { speed, seed })?;
    let nudged = completed(record(&nudged)).ok()?;
    Some(difference(base, &nudged) / velocity_scale(base))
}

/// Whether one of several perturbations grows to the level of chaos: a single one may miss a jump,
/// such as of a contact from edge to face.
fn chaotic(scene: &Scene, base: &Record, scale: f64) -> Option<&'static str> {
    let jumps = |size: f64| {
        (1..=PERTURBATION_COUNT).any(|seed| {
            perturbation_growth(scene, base, size * scale, seed).is_none_or(|grown| grown > CHAOTIC)
        })
    };
    // Runs that rounding alone changes are counted separately, because there may be too many.
    if jumps(ROUNDING_PERTURBATION) {
        Some("chaotic from rounding")
    } else {
        jumps(PERTURBATION).then_some("chaotic")
    }
}

/// The transformed scene, transformed back at its end, against the scene itself.
pub(super) fn same(
    scene: &Scene,
    base: &Record,
    transformation: &Transformation,
    sensitivity: &mut Option<Option<f64>>,
) -> Verdict {
    let Some(changed) = change(scene, transformation) else {
        return Verdict::Skipped("cannot be changed so");
    };
    let other = match completed(record(&changed)) {
        Ok(other) => other,
        Err(reason) => return broken(transformation.name(), reason),
    };
    let scale = velocity_scale(base);
    if scale.is_nan() || scale == 0.0 {
        return Verdict::Skipped("nothing moves");
    }
    if base.max_overlap_ratio > 1.0 {
        return Verdict::Skipped("the run warned: bodies penetrate too deeply");
    }
    let nudged =
        *sensitivity.get_or_insert_with(|| perturbation_growth(scene, base, PERTURBATION * scale, 0));
    let Some(nudged) = nudged else { return Verdict::Skipped("the perturbed scene does not run") };
    if nudged > CHAOTIC {
        return Verdict::Skipped("chaotic");
    }
    let measured = difference(base, &transformation.undo(other, scene)) / scale;
    let bound = ROUNDING * nudged + TOLERANCE;
    if measured_breaks(measured, bound) {
        if let Some(why) = chaotic(scene, base, scale) {
            return Verdict::Skipped(why);
        }
        // With facets friction depends on the direction, which may throw a light body between heavy
        // ones elsewhere.
        if has_facets(scene, transformation) && same_without_friction(scene, transformation) {
            return Verdict::Skipped("facets of the friction cone");
        }
    }
    at_most(transformation.name(), measured, bound, || {
        format!(
            "velocities differ by {:.3e} m/s; a perturbation by rounding changes them by {:.3e} m/s",
            measured * scale,
            nudged * scale
        )
    })
}

fn measured_breaks(measured: f64, bound: f64) -> bool {
    measured.is_nan() || measured > bound
}

/// Whether friction depends on the directions of the world's axes: the closed form's cone has
/// facets.
fn has_facets(scene: &Scene, transformation: &Transformation) -> bool {
    let rubs = scene.bodies.iter().flat_map(|body| &body.geometries).any(|geometry| geometry.friction > 0.0);
    scene.rigid_solver == RigidSolver::Comfree
        && rubs
        && matches!(transformation, Transformation::Turned { .. } | Transformation::Mirrored)
}

/// Whether the law holds for the same scene without friction.
fn same_without_friction(scene: &Scene, transformation: &Transformation) -> bool {
    let mut smooth = scene.clone();
    for geometry in smooth.bodies.iter_mut().flat_map(|body| &mut body.geometries) {
        (geometry.friction, geometry.static_friction) = (0.0, None);
    }
    let Ok(base) = completed(record(&smooth)) else { return false };
    !matches!(same(&smooth, &base, transformation, &mut None), Verdict::Broken(..))
}

/// Another inertial frame: particles move differently relative to the grid, so that results agree
/// to the resolution of the grid.
pub(super) fn boosted(scene: &Scene, base: &Record, transformation: &Transformation) -> Verdict {
    let Some(changed) = change(scene, transformation) else {
        return Verdict::Skipped("cannot be changed so");
    };
    let other = match completed(record(&changed)) {
        Ok(other) => transformation.undo(other, scene),
        Err(reason) => return broken(transformation.name(), reason),
    };
    let scale = velocity_scale(base);
    if scale.is_nan() || scale == 0.0 {
        return Verdict::Skipped("nothing moves");
    }
    let apart = |p: &Vector3<f64>, q: &Vector3<f64>| (p - q).norm();
    let bodies = base.bodies.iter().zip(&other.bodies).filter(|(p, _)| p.dynamic);
    let bodies = bodies.map(|(p, q)| apart(&p.velocity.linear, &q.velocity.linear));
    let parts = base.parts.iter().zip(&other.parts).map(|(p, q)| apart(&p.velocity, &q.velocity));
    let worst = bodies.chain(parts).fold(0.0, f64::max_or_nan);
    let frame = if let Transformation::Boosted { velocity } = transformation {
        Vector3::from(*velocity).norm()
    } else {
        0.0
    };
    at_most(transformation.name(), worst / scale, BOOST + SINGLE * frame / scale, || {
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

pub(super) fn bits(law: &str, base: &Record, other: Result<Record, NoRun>) -> Verdict {
    match completed(other) {
        Err(reason) => broken(law, reason),
        Ok(other) if other.state == base.state && !base.state.is_empty() => Verdict::Held,
        Ok(other) => {
            let apart = difference(base, &other);
            broken(law, format!("not bit-identical: velocities differ by {apart:.3e} m/s at the end"))
        }
    }
}

/// At steps dt, dt/2 and dt/4, the second difference is at most the first.
pub(super) fn refined(scene: &Scene, base: &Record) -> Verdict {
    let finer = |factor: f64| {
        let mut scene = scene.clone();
        scene.dt /= factor;
        completed(record(&scene))
    };
    match (finer(2.0), finer(4.0)) {
        (Ok(half), Ok(quarter)) => {
            let (first, second) = (difference(base, &half), difference(&half, &quarter));
            let scale = velocity_scale(base);
            if first.is_nan() || first > 0.1 * scale {
                return Verdict::Skipped("too coarse to converge");
            }
            at_most("refined", second / scale, first / scale + 1e-6, || {
                format!("halving the step changes {first:.3e} m/s, halving it again {second:.3e} m/s")
            })
        }
        (Err(reason), _) | (_, Err(reason)) => broken("refined", reason),
    }
}
