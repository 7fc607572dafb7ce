//! Laws of a single run.

use nalgebra::Vector3;

use super::verdict::{Verdict, at_most};
use crate::record::{Moment, Penetration, Record};
use pliant_runner::run::{DEEP_PENETRATION, ENERGY_GAIN_WARNING};
use pliant_scenes::format::{
    AutoOr, BodySpec, Coupling, Gains, Integrator, Motion, Order, RigidShape, RigidSolver, Scene,
};

/// Allowed energy gain as a fraction of the energy involved: the size of the errors of first-order
/// steps.
const ENERGY: f64 = 0.02;

/// Parts of a run whose mean energies are compared, and the gain that is allowed from one to another,
/// as a fraction of the energy brought.
const FADING_PARTS: usize = 20;
const FADING: f64 = 1e-3;
/// Allowed error of momentum as a fraction of the impulses exchanged: particles are f32, and sums
/// of some thousand of them are rounded.
const MOMENTUM: f64 = 1e-3;
/// Allowed relative error of the forces on floors against the weight.
const WEIGHT: f64 = 0.01;
/// Allowed change of energy without losses, as a fraction of the energy involved.
const KEPT: f64 = 0.01;
/// Allowed motion of the bodies of a tower as a fraction of their size, besides the compression of
/// their surfaces by the weight.
const STANDS: f64 = 0.05;
/// Allowed relative error of the deceleration by friction against mu g.
const FRICTION: f64 = 0.01;

/// Whether a measure is above the worst so far; NaN is above all, and stays.
fn exceeds(measured: f64, worst: f64) -> bool {
    !worst.is_nan() && (measured.is_nan() || measured > worst)
}

/// Elastic energy at the start \[J\]. The zero of a gas's is arbitrary: what it had is what it gave at most.
fn stored(run: &Record, first: &Moment) -> f64 {
    let least = run.moments.iter().map(|moment| moment.elastic).fold(f64::INFINITY, f64::min);
    first.elastic.max(first.elastic - least)
}

/// The energy may not exceed the initial energy and the work of gravity and of driven bodies since.
pub(super) fn energy(scene: &Scene, run: &Record, frame: &Vector3<f64>) -> Verdict {
    let (Some(first), Some(last)) = (run.moments.first(), run.moments.last()) else {
        return Verdict::Skipped("no steps");
    };
    let dt = (last.time - first.time) / (run.moments.len() - 1).max(1) as f64;
    let g = run.gravity.norm();
    let of = |moment: &Moment| moment.energy(frame, run.mass, &run.gravity);
    let at_start = of(first);
    let brought = first.kinetic_in(frame, run.mass) + stored(run, first);
    // Positions are known to the fall within a step, and contacts at the start to a thousandth of
    // the scene's least length.
    let slack = run.mass * (0.5 * (g * dt).powi(2) + 1e-3 * g * run.length) + 1e-12;
    let (mut fallen, mut driven, mut done): (f64, f64, f64) = (0.0, 0.0, 0.0);
    let mut worst = (0.0, 0.0, 0.0);
    for moment in &run.moments {
        let work = moment.driven.work_in(frame);
        driven += (work - done).max(0.0);
        done = work;
        let down = first.potential_in(frame, run.mass, &run.gravity)
            - moment.potential_in(frame, run.mass, &run.gravity);
        fallen = fallen.max(down);
        let gained = of(moment) - at_start - work;
        let measured = gained / (brought + fallen + driven + slack / ENERGY);
        if exceeds(measured, worst.0) {
            worst = (measured, gained, moment.time);
        }
    }
    // Schemes that a scene chooses explicitly and that may gain energy, and loops of links that
    // rotate by a large angle within a step, whose constraints hold to first order only: the run's
    // own balance reports the gain.
    let asked = scene.coupling == Coupling::Weak
        || matches!(scene.rigid.integrator, Integrator::Trapezoid { .. })
        || scene.rigid_solver == RigidSolver::Comfree
        || !scene.constraints.is_empty()
        || run.max_overlap_ratio > 1.0
        || exceeds_step_limits(run, dt);
    if worst.0 > ENERGY && asked && run.gained > ENERGY_GAIN_WARNING {
        return Verdict::Skipped("the run warned: energy balance");
    }
    // Bodies that rotate by a radian or pass their own size within a step are judged by the run's
    // own warning level.
    let bound = if exceeds_step_limits(run, dt) { ENERGY_GAIN_WARNING } else { ENERGY };
    at_most("energy", worst.0, bound, || {
        format!(
            "{:.4e} J created at {:.4} s; the energy involved is {:.4e} J",
            worst.1,
            worst.2,
            brought + fallen + driven
        )
    })
}

/// No energy is gained from one part of a run to a later one, up to a part of what was brought. Means
/// over parts are compared: with explicit steps (symplectic Euler) the energy of an oscillation goes up
/// and down by about half of its angular frequency times the substep, and does not grow by that.
pub(super) fn fades(run: &Record) -> Verdict {
    let steps = run.moments.len() / FADING_PARTS;
    let Some(first) = run.moments.first().filter(|_| steps > 0) else {
        return Verdict::Skipped("too few steps");
    };
    let of = |moment: &Moment| moment.kinetic + moment.elastic + moment.potential;
    let brought = first.kinetic + first.elastic;
    let means = run
        .moments
        .chunks_exact(steps)
        .map(|part| (part.iter().map(of).sum::<f64>() / part.len() as f64, part[0].time));
    let (mut least, mut worst) = ((f64::INFINITY, 0.0), (0.0, 0.0, 0.0));
    for (energy, time) in means {
        if energy < least.0 {
            least = (energy, time);
        }
        let gained = (energy - least.0) / brought;
        if exceeds(gained, worst.0) {
            worst = (gained, least.1, time);
        }
    }
    at_most("fades", worst.0, FADING, || {
        format!(
            "{:.3} % of {brought:.4e} J gained from {:.4} s to {:.4} s",
            100.0 * worst.0,
            worst.1,
            worst.2
        )
    })
}

/// Whether a body turns by more than a radian in a step of `dt` \[s\], or moves farther than the
/// scene's least length: contact is detected once per step, at its beginning.
fn exceeds_step_limits(run: &Record, dt: f64) -> bool {
    let mean = run.moments.first().map_or_else(Vector3::zeros, |m| m.linear / run.mass);
    run.start.iter().chain(&run.bodies).filter(|body| body.dynamic).any(|body| {
        let relative = body.velocity.linear - mean;
        body.velocity.angular.norm() * dt > 1.0 || relative.norm() * dt > run.length
    })
}

/// Without damping, friction and contact the energy is constant.
pub(super) fn conserved_energy(run: &Record) -> Verdict {
    let Some(first) = run.moments.first() else { return Verdict::Skipped("no steps") };
    let of = |moment: &Moment| moment.kinetic + moment.elastic + moment.potential;
    let fallen = run.moments.iter().map(|m| first.potential - m.potential).fold(0.0, f64::max);
    // A diverged run must not set its own scale.
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

/// No body moves, up to the compression of its surfaces.
pub(super) fn stands(scene: &Scene, run: &Record) -> Verdict {
    if !scene.bodies.iter().all(|body| is_carried(body, scene)) {
        return Verdict::Skipped("not a tower");
    }
    let bodies = run.bodies.len() as f64;
    // Each is a spring under the weight of all above it; in closed form of r/(1 - r) m w^2, at an
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

/// `P(t) = P(0) + M g t`; `L(t)` likewise where there is no gravity. The trapezoid rule applies
/// opposite impulses of two bodies at points that differ by up to their displacement in a step,
/// which gives a moment.
pub(super) fn momentum(scene: &Scene, run: &Record) -> Verdict {
    let Some(first) = run.moments.first() else { return Verdict::Skipped("no steps") };
    let speed = (2.0 * (first.kinetic + stored(run, first)) / run.mass).sqrt();
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
    at_most("momentum", worst, MOMENTUM, || format!("{worst:.3e} of the {what} involved, at {time:.4} s"))
}

/// No particle is deeper than half a cell, no centre of mass inside a body.
pub(super) fn inside(scene: &Scene, run: &Record) -> Verdict {
    let part = |found: &Penetration| found.depth / found.length;
    let worst = run.inside.iter().max_by(|a, b| part(a).total_cmp(&part(b)));
    let Some(worst) = worst else { return Verdict::Held };
    if run.warnings.iter().any(|said| said.contains("its weight presses it")) {
        return Verdict::Skipped("the run warned: contact is too soft for the weight");
    }
    if run.max_overlap_ratio > 1.0 {
        return Verdict::Skipped("the run warned: bodies penetrate too deeply");
    }
    // A scene that sets a soft contact stiffness gets a warning only.
    let asked = matches!(scene.contact.stiffness, AutoOr::Value(_));
    if asked && scene.grid_spacing.is_some_and(|h| run.deepest > DEEP_PENETRATION * h) {
        return Verdict::Skipped("the run warned: the scene's contact stiffness lets particles penetrate");
    }
    at_most("inside", part(worst), 0.5, || {
        format!("{} is {:.4} m inside {} at {:.4} s", worst.what, worst.depth, worst.of, worst.time)
    })
}

/// No edge of cloth passes through another face after any step, if none does at the start.
pub(super) fn layers(run: &Record) -> Verdict {
    let Some(first) = run.crossings.first() else { return Verdict::Skipped("no cloth") };
    if *first > 0 {
        return Verdict::Skipped("layers cross at the start");
    }
    if run.unresolved_layers > 0 {
        return Verdict::Skipped("the run warned: layers could not be kept apart");
    }
    let step = run.crossings.iter().position(|count| *count > 0).unwrap_or(0);
    let most = run.crossings.iter().copied().max().unwrap_or(0);
    let time = run.moments.get(step).map_or(0.0, |moment| moment.time);
    at_most("layers", most as f64, 0.0, || {
        format!("{most} edges pass through faces, the first at {time:.4} s, step {step}")
    })
}

/// Over the last quarter of the run: the impulse on floors is that of the weight less the change of
/// momentum.
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
        format!(
            "the floor force is {:.5?} N, the weight {:.5?} N",
            (found / time).as_slice(),
            (expected / time).as_slice()
        )
    })
}

/// One soft body or block on one floor, with known friction, slides the whole time: Coulomb's law.
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
        return Verdict::Skipped("the body does not slide throughout");
    }
    // A block that was just set down presses with its weight only on average: the floor's normal
    // impulse is that of the weight plus the change of the block's momentum along gravity.
    let fallen = (relative(last) - relative(first)).dot(&run.gravity.normalize());
    let expected = expected - geometry.friction * fallen;
    let measured = ((start - end) / expected - 1.0).abs();
    at_most("friction", measured, FRICTION, || {
        format!("decelerated by {:.5} m/s; friction gives {expected:.5} m/s", start - end)
    })
}

/// Allowed error of the speed of what falls between fingers, as a fraction of that of free fall.
const GRIP: f64 = 0.02;

/// Ratios of friction to weight between which what vibrates may stick in turns, so that friction is below
/// its bound.
const STICKS_IN_TURNS: [f64; 2] = [0.75, 1.5];

/// Steps in which contacts have come to rest.
const LEAST_STEPS: usize = 20;

/// What two fingers press with forces F between them falls with `g - 2 mu F/m`, and is held where that is
/// not above zero; it never falls more slowly. The impulse of a finger's contact is that of its force, less
/// its own momentum.
pub(super) fn grip(scene: &Scene, run: &Record) -> Verdict {
    let (Some(first), Some(last)) = (run.moments.first(), run.moments.last()) else {
        return Verdict::Skipped("no steps");
    };
    if scene.coupling == Coupling::Weak && run.gained > ENERGY {
        return Verdict::Skipped("weak coupling, and its balance says that energy was created");
    }
    if run.moments.len() < LEAST_STEPS {
        return Verdict::Skipped("too few steps");
    }
    let time = last.time - first.time;
    let (mut mass, mut pressed, mut friction) = (run.mass, 0.0, 0.0);
    for (spec, state) in scene.bodies.iter().zip(&run.bodies) {
        let Motion::Dynamic(finger) = &spec.motion else { continue };
        let force = Vector3::from(finger.applied_force);
        let (Some(own), Some(surface)) = (finger.mass, spec.geometries.first()) else { continue };
        if force.norm() > 0.0 {
            mass -= own;
            pressed += force.norm() * time - own * state.velocity.linear.dot(&force.normalize());
            friction = surface.friction;
        }
    }
    let fall = run.gravity.norm() * time;
    let held_by = friction * pressed / (mass * fall);
    let down = (last.linear - first.linear).dot(&run.gravity.normalize()) / mass;
    let expected = fall * (1.0 - held_by).max(0.0);
    let mut off = (expected - down) / fall;
    if !(held_by > STICKS_IN_TURNS[0] && held_by < STICKS_IN_TURNS[1]) {
        off = off.abs();
    }
    at_most("grip", off, GRIP, || {
        format!(
            "it falls at {down:.5} m/s after {time:.4} s, by Coulomb's law at {expected:.5} m/s; friction is up to \
             {held_by:.3} of its weight"
        )
    })
}
