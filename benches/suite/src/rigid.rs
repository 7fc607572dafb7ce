//! Rigid bodies against closed forms: a sliding box, a stack, a rolling sphere, at fixed steps and
//! with error control. Each case gives one row with its error and one with its wall time.

use std::time::Instant;

use nalgebra::Vector3;
use pliant_coupling::World;
use pliant_rigid::BodyId;
use serde_json::{Value, json};

use super::part::{BenchError, BenchOptions, BenchPart, Measurement, RowContext, in_pool};
use pliant_runner::machine::OpenBackend;
use pliant_scenes::builtin;
use pliant_scenes::format::{BodySpec, Dynamic, Integrator, Motion, Order, RigidShape, Scene};
use pliant_scenes::scenario::Scenario;

/// A box slides to rest.
pub const SLIDE: BenchPart = BenchPart {
    name: "slide",
    about: "box slides at 2 m/s, settled and set down cold: error of the distance, wall time",
    run: slide,
};

/// A stack of boxes.
pub const STACK: BenchPart = BenchPart {
    name: "stack",
    about: "ten boxes stand on each other for 5 s: drift, error of the height, wall time",
    run: stack,
};

/// A sphere rolls down an incline.
pub const BALL: BenchPart = BenchPart {
    name: "ball",
    about: "ball rolls down 15 degrees: relative error of the acceleration, wall time",
    run: ball,
};

/// Standard gravity \[m/s^2\].
const GRAVITY: f64 = 9.81;

/// Integrator, and the time between samples \[s\]: no step is longer than that.
pub(super) struct Stepping {
    pub name: &'static str,
    pub integrator: Integrator,
    pub interval: f64,
}

/// Fixed steps \[s\], with this time between samples \[s\].
pub(super) const fn fixed(name: &'static str, step: f64, interval: f64) -> Stepping {
    Stepping { name, integrator: Integrator::Fixed { step: Some(step) }, interval }
}

const fn controlled(name: &'static str, accuracy: f64) -> Stepping {
    // The order of the paper's table.
    let order = Some(Order::First);
    Stepping {
        name,
        integrator: Integrator::ErrorControlled { accuracy, max_step: 0.1, order },
        interval: 0.1,
    }
}

/// The steppings that every case is measured with.
pub(super) const STEPPINGS: [Stepping; 5] = [
    fixed("1 ms", 1e-3, 1e-2),
    fixed("10 ms", 1e-2, 1e-2),
    controlled("accuracy 1e-1", 1e-1),
    controlled("accuracy 1e-2", 1e-2),
    controlled("accuracy 1e-3", 1e-3),
];

/// A timed run of a scene.
pub(super) struct TimedRun {
    part: &'static str,
    pub world: World,
    scene: Scene,
    /// Wall time of the steps so far \[s\].
    pub wall: f64,
    /// Simulated so far \[s\].
    pub simulated: f64,
    steps: usize,
    rejected: usize,
    solves: usize,
    iterations: usize,
    looks: usize,
    /// Largest number of contacts of a step between two samples, summed over the samples.
    contacts: f64,
}

impl TimedRun {
    /// The scene at its start, with this stepping.
    pub fn new(part: &'static str, scene: &Scene, stepping: &Stepping) -> Result<Self, BenchError> {
        let mut scene = Scene { dt: stepping.interval, ..scene.clone() };
        scene.rigid.integrator = stepping.integrator;
        let fail = |reason: String| BenchError { bench: part, reason };
        let Scenario { world, .. } = Scenario::new(&scene).map_err(|e| fail(e.to_string()))?;
        let (steps, rejected, solves, iterations, looks) = (0, 0, 0, 0, 0);
        let (wall, simulated, contacts) = (0.0, 0.0, 0.0);
        Ok(Self { part, world, scene, wall, simulated, steps, rejected, solves, iterations, looks, contacts })
    }

    /// Continues for this time \[s\]; `interval` is called with the world at intervals, and is not
    /// timed.
    pub fn advance(&mut self, time: f64, mut interval: impl FnMut(&World)) -> Result<(), BenchError> {
        let looks = (time / self.scene.dt).round() as usize;
        for _ in 0..looks {
            let clock = Instant::now();
            let report = self.world.step().map_err(|e| self.fail(e.to_string()))?;
            self.wall += clock.elapsed().as_secs_f64();
            self.steps += report.rigid.steps;
            self.rejected += report.rigid.rejected;
            self.solves += report.rigid.solver.solves;
            self.iterations += report.rigid.solver.iterations;
            self.contacts += report.rigid.solver.contacts as f64;
            interval(&self.world);
        }
        self.looks += looks;
        self.simulated += looks as f64 * self.scene.dt;
        Ok(())
    }

    fn fail(&self, reason: String) -> BenchError {
        BenchError { bench: self.part, reason }
    }

    /// The body of this name.
    fn find(&self, name: &str) -> Result<BodyId, BenchError> {
        self.world.bodies().find(name).ok_or_else(|| self.fail(format!("no body '{name}'")))
    }

    fn position(&self, body: BodyId) -> Vector3<f64> {
        self.world.bodies().pose(body).translation.vector
    }

    fn velocity(&self, body: BodyId) -> Vector3<f64> {
        self.world.bodies().velocity(body).linear
    }

    /// Gives a body on a free joint this linear velocity \[m/s\]; the rest of the state does not
    /// change.
    fn set_velocity(&mut self, body: BodyId, velocity: &Vector3<f64>) -> Result<(), BenchError> {
        let bodies = self.world.bodies_mut();
        let mut snapshot = bodies.save();
        if let Some(link) = bodies.body(body).link {
            let at = bodies.simulation().system().model.velocities_of(link).start + 3;
            snapshot.state.v[at..at + 3].copy_from_slice(velocity.as_slice());
        }
        bodies.restore(&snapshot).map_err(|e| self.fail(e.to_string()))
    }

    /// Details of a row.
    pub fn details(&self, more: Value) -> Value {
        let mut details = json!({
            "wall_s": self.wall,
            "simulated_s": self.simulated,
            "integrator": self.scene.rigid.integrator,
            "steps": self.steps,
            "rejected": self.rejected,
            "solves": self.solves,
            "iterations_mean": self.iterations as f64 / self.solves.max(1) as f64,
            "contacts_mean": self.contacts / self.looks.max(1) as f64,
        });
        if let (Some(all), Value::Object(more)) = (details.as_object_mut(), more) {
            all.extend(more);
        }
        details
    }

    /// A row of one quantity.
    pub fn row(&self, case: &str, unit: &'static str, values: Vec<f64>, more: Value) -> Measurement {
        let case = case.to_owned();
        RowContext {
            machine: &OpenBackend::processor(),
            part: self.part,
            case,
            threads: 1,
            precision: "f64",
            unit,
        }
        .row(values, self.details(more))
    }
}

/// A built-in scene.
pub(super) fn builtin_scene(part: &'static str, name: &str) -> Result<Scene, BenchError> {
    let fail = |reason: String| BenchError { bench: part, reason };
    builtin::scene(name)
        .ok_or_else(|| fail(format!("no scene '{name}'")))?
        .map_err(|e| fail(format!("{name}: {e}")))
}

/// The dynamics of a body.
pub(super) fn dynamic(body: &mut BodySpec) -> Option<&mut Dynamic> {
    if let Motion::Dynamic(dynamic) = &mut body.motion { Some(dynamic) } else { None }
}

/// The last body of a scene as the only one that moves: this shape, density or mass, place and
/// velocity.
fn single(scene: &mut Scene, shape: &RigidShape, mass: f64, height: f64, velocity: [f64; 3]) {
    if let Some(body) = scene.bodies.last_mut() {
        body.geometries.iter_mut().for_each(|g| g.shape = shape.clone());
        if let Some(dynamic) = dynamic(body) {
            dynamic.pose.position = [0.0, 0.0, height];
            dynamic.velocity = velocity;
            dynamic.angular_velocity = [0.0; 3];
            (dynamic.mass, dynamic.density) = (Some(mass), None);
        }
    }
}

/// The distance v^2/(2 mu g) of Coulomb friction. Settled: after half a second at rest. Cold: just
/// touching.
fn slide(_: &BenchOptions, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let (speed, friction) = (2.0, 0.5);
    let exact = speed * speed / (2.0 * friction * GRAVITY);
    let shape = RigidShape::Box { half_extents: [0.1, 0.1, 0.05] };
    for cold in [false, true] {
        let mut scene = builtin_scene(SLIDE.name, "slide-cube")?;
        (scene.rigid.stiffness, scene.rigid.stiction_tolerance) = (2e7, 1e-4);
        single(&mut scene, &shape, 4.0, 0.05, [if cold { speed } else { 0.0 }, 0.0, 0.0]);
        for stepping in &STEPPINGS {
            let play = in_pool(SLIDE.name, 1, || -> Result<_, BenchError> {
                let mut play = TimedRun::new(SLIDE.name, &scene, stepping)?;
                let cube = play.find("cube")?;
                if !cold {
                    play.advance(0.5, |_| {})?;
                    play.set_velocity(cube, &Vector3::new(speed, 0.0, 0.0))?;
                }
                let start = play.position(cube).x;
                play.advance(1.0, |_| {})?;
                Ok((play.position(cube).x - start, play))
            })?;
            let (distance, play) = play?;
            let case = format!("{}, {}", if cold { "cold" } else { "settled" }, stepping.name);
            let more =
                json!({ "distance_m": distance, "exact_m": exact, "relative": distance / exact - 1.0 });
            row(play.row(&format!("{case}, error of the distance"), "m", vec![distance - exact], more));
            row(play.row(&format!("{case}, wall"), "s", vec![play.wall], json!({})));
        }
    }
    Ok(())
}

/// The built-in stack. Drift: largest displacement of a box between the first second and the end.
fn stack(_: &BenchOptions, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let scene = builtin_scene(STACK.name, "stack")?;
    let (count, mass, springs) = (10, 1.0, 4.0 * scene.rigid.stiffness / 2.0);
    let sunk: f64 = (1..=count).map(|n| f64::from(n) * mass * GRAVITY / springs).sum();
    for stepping in &STEPPINGS {
        let measured = in_pool(STACK.name, 1, || -> Result<_, BenchError> {
            let mut play = TimedRun::new(STACK.name, &scene, stepping)?;
            let boxes: Vec<_> =
                (0..count).map(|k| play.find(&format!("box{k}"))).collect::<Result<_, _>>()?;
            play.advance(1.0, |_| {})?;
            let early: Vec<_> = boxes.iter().map(|b| play.position(*b)).collect();
            play.advance(scene.duration - 1.0, |_| {})?;
            let moved = boxes.iter().zip(&early).map(|(b, x)| (play.position(*b) - x).norm());
            let drift = moved.fold(0.0, f64::max);
            let top = play.position(boxes[boxes.len() - 1]).z;
            Ok((drift, top - (0.95 - sunk), play))
        })?;
        let (drift, height, play) = measured?;
        let case = stepping.name;
        row(play.row(&format!("{case}, drift"), "m", vec![drift], json!({})));
        row(play.row(&format!("{case}, error of the height"), "m", vec![height], json!({ "sunk_m": sunk })));
        row(play.row(&format!("{case}, wall"), "s", vec![play.wall], json!({})));
    }
    Ok(())
}

/// A sphere of 0.1 kg and 0.05 m under gravity tilted by 15 degrees: a = 5 g sin t/7 between 0.5
/// and 1 s.
fn ball(_: &BenchOptions, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let (mass, radius, angle) = (0.1, 0.05, 15.0_f64.to_radians());
    let exact = 5.0 * GRAVITY * angle.sin() / 7.0;
    let mut scene = builtin_scene(BALL.name, "ball-drop")?;
    scene.gravity = [GRAVITY * angle.sin(), 0.0, -GRAVITY * angle.cos()];
    (scene.rigid.stiffness, scene.rigid.dissipation, scene.rigid.stiction_tolerance) = (2e7, 10.0, 1e-5);
    let depth = mass * GRAVITY * angle.cos() / (scene.rigid.stiffness / 2.0);
    single(&mut scene, &RigidShape::Sphere { radius }, mass, radius - depth, [0.0; 3]);
    for stepping in &STEPPINGS {
        let measured = in_pool(BALL.name, 1, || -> Result<_, BenchError> {
            let mut play = TimedRun::new(BALL.name, &scene, stepping)?;
            let ball = play.find("ball")?;
            play.advance(0.5, |_| {})?;
            let early = play.velocity(ball).x;
            play.advance(0.5, |_| {})?;
            Ok(((play.velocity(ball).x - early) / 0.5, play))
        })?;
        let (found, play) = measured?;
        let case = stepping.name;
        let more = json!({ "acceleration_m_s2": found, "exact_m_s2": exact });
        row(play.row(&format!("{case}, error of the acceleration"), "1", vec![found / exact - 1.0], more));
        row(play.row(&format!("{case}, wall"), "s", vec![play.wall], json!({})));
    }
    Ok(())
}
