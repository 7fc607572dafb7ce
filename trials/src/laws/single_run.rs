//! Laws that one run keeps or breaks by itself.

use nalgebra::Vector3;

use super::verdict::{Verdict, at_most};
use crate::record::{Moment, Record};
use pliant_runner::run::{DEEP_PENETRATION, ENERGY_GAIN_WARNING};
use pliant_scenes::format::{
    AutoOr, BodySpec, Coupling, Gains, Integrator, Motion, Order, RigidShape, RigidSolver, Scene,
};

/// Energy may appear to this part of what took part: the size of the errors of first-order steps,
/// and what issue and documents promise.
const ENERGY: f64 = 0.02;
/// Momentum may be off by this part of the impulses exchanged: particles are f32, and sums of some
/// thousand of them are rounded.
const MOMENTUM: f64 = 1e-3;
/// Forces on floors may be off from the weight by this part.
const WEIGHT: f64 = 0.01;
/// Energy may be off from what it was by this part of what took part, where nothing takes any.
const KEPT: f64 = 0.01;
/// Bodies of a tower may move by this part of their size, besides what their surfaces give way
/// under the weight.
const STANDS: f64 = 0.05;
/// Deceleration by friction may be off from mu g by this part.
const FRICTION: f64 = 0.01;

/// Whether a measure is above the worst so far; what is no number is above all, and stays.
fn exceeds(measured: f64, worst: f64) -> bool {
    !worst.is_nan() && (measured.is_nan() || measured > worst)
}

/// The energy at the start and all that gravity gave since is all that there may be.
pub(super) fn energy(scene: &Scene, run: &Record, frame: &Vector3<f64>) -> Verdict {
    let (Some(first), Some(last)) = (run.moments.first(), run.moments.last()) else {
        return Verdict::Skipped("no steps");
    };
    let dt = (last.time - first.time) / (run.moments.len() - 1).max(1) as f64;
    let g = run.gravity.norm();
    let of = |moment: &Moment| moment.energy(frame, run.mass, &run.gravity);
    let at_start = of(first);
    let brought = first.kinetic_in(frame, run.mass) + first.elastic;
    // Positions are known to a step's fall, and things placed on each other to a thousandth of the
    // scene's least length.
    let slack = run.mass * (0.5 * (g * dt).powi(2) + 1e-3 * g * run.length) + 1e-12;
    let mut fallen: f64 = 0.0;
    let mut worst = (0.0, 0.0, 0.0);
    for moment in &run.moments {
        let down = first.potential_in(frame, run.mass, &run.gravity)
            - moment.potential_in(frame, run.mass, &run.gravity);
        fallen = fallen.max(down);
        let gained = of(moment) - at_start;
        let measured = gained / (brought + fallen + slack / ENERGY);
        if exceeds(measured, worst.0) {
            worst = (measured, gained, moment.time);
        }
    }
    // Schemes that a scene asks for by name and that may gain some, and loops of links that turn by
    // much of a radian in a step, whose constraints are met to first order only: their own balance
    // says so.
    let asked = scene.coupling == Coupling::Weak
        || matches!(scene.rigid.integrator, Integrator::Trapezoid { .. })
        || scene.rigid_solver == RigidSolver::Comfree
        || !scene.constraints.is_empty()
        || run.max_overlap_ratio > 1.0
        || exceeds_step_limits(run, dt);
    if worst.0 > ENERGY && asked && run.gained > ENERGY_GAIN_WARNING {
        return Verdict::Skipped("said: the run's own balance warns");
    }
    // What turns by a radian or passes its own size in a step is judged by what the run would say.
    let bound = if exceeds_step_limits(run, dt) { ENERGY_GAIN_WARNING } else { ENERGY };
    at_most("energy", worst.0, bound, || {
        format!(
            "{:.4e} J from nowhere at {:.4} s, where {:.4e} J took part",
            worst.1,
            worst.2,
            brought + fallen
        )
    })
}

/// Whether a body turns by more than a radian in a step of `dt` \[s\], or goes farther than the
/// scene's least length: contact is looked for once a step, where it begins.
fn exceeds_step_limits(run: &Record, dt: f64) -> bool {
    let mean = run.moments.first().map_or_else(Vector3::zeros, |m| m.linear / run.mass);
    run.start.iter().chain(&run.bodies).filter(|body| body.dynamic).any(|body| {
        let relative = body.velocity.linear - mean;
        body.velocity.angular.norm() * dt > 1.0 || relative.norm() * dt > run.length
    })
}

/// No damping, no friction, no contact: all energy stays.
pub(super) fn subgrid_retention(run: &Record) -> Verdict {
    let Some(first) = run.moments.first() else { return Verdict::Skipped("no steps") };
    let of = |moment: &Moment| moment.kinetic + moment.elastic + moment.potential;
    let fallen = run.moments.iter().map(|m| first.potential - m.potential).fold(0.0, f64::max);
    // What blew up must not be its own measure.
    let brought = first.kinetic + first.elastic + fallen.min(2.0 * run.mass * run.gravity.norm() * run.span);
    let mut worst = (0.0, 0.0);
    for moment in &run.moments {
        let off = (of(moment) - of(first)) / brought;
        if exceeds(off.abs(), f64::abs(worst.0)) {
            worst = (off, moment.time);
        }
    }
    at_most("kept", worst.0.abs(), KEPT, || {
        format!("{:+.3} % of {brought:.4e} J at {:.4} s", 100.0 * worst.0, worst.1)
    })
}

/// Every body is where it was, but for what surfaces give way.
pub(super) fn stands(scene: &Scene, run: &Record) -> Verdict {
    if !scene.bodies.iter().all(|body| is_carried(body, scene)) {
        return Verdict::Skipped("not a tower");
    }
    let bodies = run.bodies.len() as f64;
    // Each is a spring under all that is above it; in closed form of r/(1 - r) m w^2, at an
    // impedance r of 0.9 at least.
    let sag = match (scene.rigid_solver, scene.rigid.comfree.gains) {
        (RigidSolver::Comfree, Gains::Physical { frequency, .. }) => {
            0.5 * bodies * bodies * run.gravity.norm() / (9.0 * frequency * frequency)
        }
        _ => bodies * run.mass * run.gravity.norm() / (0.5 * scene.rigid.stiffness),
    };
    let mut worst = (0.0f64, "");
    for (before, after) in run.start.iter().zip(&run.bodies).filter(|(_, after)| after.dynamic) {
        let moved = (after.pose.translation.vector - before.pose.translation.vector).norm();
        if exceeds(moved, worst.0) {
            worst = (moved, &after.name);
        }
    }
    let bound = STANDS + sag / run.length;
    at_most("stands", worst.0 / run.length, bound, || format!("{} moved by {:.5} m", worst.1, worst.0))
}

/// Whether a body is a floor at the origin, or an upright box on a floor or on another box.
fn is_carried(body: &BodySpec, scene: &Scene) -> bool {
    let faces = |body: &BodySpec| match (&body.motion, body.geometries.first().map(|g| &g.shape)) {
        (Motion::Fixed { pose }, Some(RigidShape::HalfSpace {})) => {
            Some([f64::NEG_INFINITY, pose.position[2]])
        }
        (Motion::Dynamic(dynamic), Some(RigidShape::Box { half_extents })) => {
            let z = dynamic.pose.position[2];
            Some([z - half_extents[2], z + half_extents[2]])
        }
        _ => None,
    };
    let Some([below, top]) = faces(body) else { return false };
    let carries = |other: &BodySpec| {
        faces(other).is_some_and(|[_, above]| (above - below).abs() < 1e-3 * (top - below))
    };
    below == f64::NEG_INFINITY || scene.bodies.iter().any(carries)
}

/// `P(t) = P(0) + M g t`; `L(t)` likewise where there is no gravity. The trapezoid rule pushes two
/// bodies apart at points that differ by up to their way in a step, so that it turns them by that
/// much of the impulse.
pub(super) fn momentum(scene: &Scene, run: &Record) -> Verdict {
    let Some(first) = run.moments.first() else { return Verdict::Skipped("no steps") };
    let speed = (2.0 * first.kinetic / run.mass).sqrt();
    let lever = match scene.rigid.integrator {
        Integrator::Trapezoid { step } => step.unwrap_or(scene.dt) * speed,
        Integrator::ErrorControlled { order: Some(Order::Second), .. } => scene.dt * speed,
        _ => 0.0,
    };
    let mut worst = (0.0f64, "momentum", 0.0);
    let mut offer = |measured: f64, what: &'static str, time: f64| {
        if exceeds(measured, worst.0) {
            worst = (measured, what, time);
        }
    };
    for moment in &run.moments {
        let expected = first.linear + run.mass * run.gravity * moment.time;
        let scale = run.mass * (speed + run.gravity.norm() * moment.time) + 1e-12;
        offer((moment.linear - expected).norm() / scale, "momentum", moment.time);
        if run.gravity.norm() == 0.0 {
            let reach = run.length + speed * moment.time + first.angular.norm() / (run.mass * speed + 1e-12);
            let turned = (moment.angular - first.angular).norm();
            let off = (turned - scale * lever).max(0.0) / (scale * reach);
            offer(off, "angular momentum", moment.time);
        }
    }
    let (worst, what, time) = worst;
    at_most("momentum", worst, MOMENTUM, || {
        format!("{worst:.3e} of the {what} that took part, at {time:.4} s")
    })
}

/// No particle deeper than half of a cell, no centre of mass inside of anything.
pub(super) fn inside(scene: &Scene, run: &Record) -> Verdict {
    let worst = run.inside.iter().max_by(|a, b| a.depth.total_cmp(&b.depth));
    let Some(worst) = worst else { return Verdict::Held };
    if run.warnings.iter().any(|said| said.contains("presses itself")) {
        return Verdict::Skipped("said: contact is too soft for the weight");
    }
    if run.max_overlap_ratio > 1.0 {
        return Verdict::Skipped("said: bodies are pressed through each other");
    }
    // A scene that asks for a soft contact gets it, and is told.
    let asked = matches!(scene.contact.stiffness, AutoOr::Value(_));
    if asked && scene.grid_spacing.is_some_and(|h| run.deepest > DEEP_PENETRATION * h) {
        return Verdict::Skipped("said: contact as soft as the scene asks for lets particles in");
    }
    at_most("inside", worst.depth / run.length, 0.5, || {
        format!("{} is {:.4} m inside {} at {:.4} s", worst.what, worst.depth, worst.of, worst.time)
    })
}

/// Over the last quarter of the run: the impulse on floors is that of the weight less what the
/// momentum changed by.
pub(super) fn weight(run: &Record) -> Verdict {
    let count = run.moments.len();
    let from = count - (count / 4).max(1);
    let (Some(first), Some(last)) = (run.moments.get(from.saturating_sub(1)), run.moments.last()) else {
        return Verdict::Skipped("no steps");
    };
    let impulse = run.mass * run.gravity * (last.time - first.time);
    if impulse.norm() == 0.0 {
        return Verdict::Skipped("no gravity");
    }
    let speed = |m: &Moment| (2.0 * m.kinetic / run.mass).sqrt();
    let fastest = run.moments[from.saturating_sub(1)..].iter().map(speed).fold(0.0, f64::max);
    let found: Vector3<f64> = run.moments[from..].iter().map(|m| m.environment_impulse).sum();
    let expected = impulse - (last.linear - first.linear);
    let measured = (found - expected).norm() / (impulse.norm() + run.mass * fastest);
    let time = last.time - first.time;
    at_most("weight", measured, WEIGHT, || {
        format!("floors carry {:.5?} N of {:.5?} N", (found / time).as_slice(), (expected / time).as_slice())
    })
}

/// One soft body or block on one floor, both known by their friction, slides the whole time:
/// Coulomb.
pub(super) fn friction(scene: &Scene, run: &Record) -> Verdict {
    let slides = scene.bodies.iter().filter(|body| !matches!(body.motion, Motion::Dynamic(_)));
    let Some([floor]) = slides.collect::<Vec<&BodySpec>>().first_chunk().copied() else {
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
    let along =
        relative(first) - run.gravity * (relative(first).dot(&run.gravity) / run.gravity.norm_squared());
    let (start, end) = (along.norm(), relative(last).dot(&along.normalize()));
    let expected = geometry.friction * run.gravity.norm() * last.time;
    if !(end > 0.1 * start && expected > 0.0) {
        return Verdict::Skipped("it does not slide all the time");
    }
    // A block that is just set down presses with its weight only in the mean: the floor's normal
    // impulse is the weight's and what the block's motion along gravity changed by.
    let fallen = (relative(last) - relative(first)).dot(&run.gravity.normalize());
    let expected = expected - geometry.friction * fallen;
    let measured = ((start - end) / expected - 1.0).abs();
    at_most("friction", measured, FRICTION, || {
        format!("slowed by {:.5} m/s, mu times the normal impulse is {expected:.5} m/s", start - end)
    })
}
