//! The scenes of Table I of the convex MPM and rigid body paper, beside the published figures.

use pliant_coupling::{BackendError, World};
use serde_json::json;

use super::grip::{Grip, Slip};
use super::part::{BenchError, BenchOptions, BenchPart, Measurement, RowContext};
use super::rigid::builtin_scene;
use super::scene_run::{SceneRun, run_scenario};
use pliant_scenes::format::{AutoOr, Coupling, Scene};
use pliant_scenes::scenario::Scenario;

/// The part.
pub const PART: BenchPart = BenchPart {
    name: "table1",
    about: "whole scenes of the published table (minutes each): ms per step, real-time rate, contacts, slip in shake",
    run,
};

/// A row of the published table: an RTX 4090 beside a Xeon with 56 cores.
struct Published {
    scene: &'static str,
    particles: usize,
    grid_spacing: f64,
    /// \[s\].
    step: f64,
    substeps: u32,
    /// Mean number of degrees of freedom n_v.
    degrees_of_freedom: f64,
    ms_per_step: f64,
    contacts_mean: f64,
    contacts_max: u32,
}

const TABLE: [Published; 5] = [
    Published {
        scene: "dough-rolling",
        particles: 5920,
        grid_spacing: 0.02,
        step: 0.01,
        substeps: 10,
        degrees_of_freedom: 2229.1,
        ms_per_step: 21.7,
        contacts_mean: 17.8,
        contacts_max: 101,
    },
    Published {
        scene: "box-bagging",
        particles: 2582,
        grid_spacing: 1.0 / 64.0,
        step: 0.01,
        substeps: 10,
        degrees_of_freedom: 2975.0,
        ms_per_step: 45.3,
        contacts_mean: 19.6,
        contacts_max: 45,
    },
    Published {
        scene: "laundry",
        particles: 14_904,
        grid_spacing: 1.0 / 128.0,
        step: 5e-3,
        substeps: 5,
        degrees_of_freedom: 17_296.0,
        ms_per_step: 18.9,
        contacts_mean: 163.0,
        contacts_max: 617,
    },
    Published {
        scene: "tshirt-folding",
        particles: 12_160,
        grid_spacing: 1.0 / 128.0,
        step: 2e-3,
        substeps: 4,
        degrees_of_freedom: 8300.0,
        ms_per_step: 21.5,
        contacts_mean: 534.0,
        contacts_max: 1307,
    },
    Published {
        scene: "shake",
        particles: 3456,
        grid_spacing: 0.01,
        step: 1e-4,
        substeps: 10,
        degrees_of_freedom: 1576.0,
        ms_per_step: 231.1,
        contacts_mean: 571.1,
        contacts_max: 576,
    },
];

/// Time at which the panels of `shake` are closed \[s\].
const CLOSED: f64 = 0.4;
/// Time between samples of the slip \[s\].
const LOOK: f64 = 0.01;

impl Published {
    /// Simulated time over wall time \[-\].
    fn real_time_rate(&self) -> f64 {
        self.step / (self.ms_per_step * 1e-3)
    }

    fn details(&self) -> serde_json::Value {
        json!({ "published": {
            "device": "RTX 4090, 56-core Xeon E5-2690 v4",
            "particles": self.particles,
            "grid_spacing": self.grid_spacing,
            "step": self.step,
            "substeps": self.substeps,
            "degrees_of_freedom_mean": self.degrees_of_freedom,
            "ms_per_step": self.ms_per_step,
            "real_time_rate": self.real_time_rate(),
            "contacts": { "mean": self.contacts_mean, "max": self.contacts_max },
        }})
    }
}

fn run(options: &BenchOptions, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    run_as(PART.name, true, options, &mut |_| Ok(()), row)
}

/// Called with a scene's state before its first step and after each, and not timed.
pub(super) type Observe<'a> = &'a mut (dyn FnMut(&mut Scenario) -> Result<(), BackendError> + Send);

/// The scenes of the table, as rows of `part`; `with_tenfold` adds `shake` at ten times its step.
pub(super) fn run_as(
    part: &'static str,
    with_tenfold: bool,
    options: &BenchOptions,
    observe: Observe<'_>,
    row: &mut dyn FnMut(Measurement),
) -> Result<(), BenchError> {
    for published in &TABLE {
        let scene = builtin_scene(part, published.scene)?;
        let mut variants = vec![(scene.name.clone(), scene.clone())];
        if with_tenfold && scene.name == "shake" {
            variants.push(("shake, strongly coupled at ten times the step".to_owned(), tenfold(scene)));
        }
        for (name, scene) in &variants {
            for &threads in &options.threads {
                let mut watch = SlipMonitor::default();
                let whole = run_scenario(part, scene, &options.machine, threads, |scenario| {
                    observe(scenario)?;
                    watch.look(&mut scenario.world)
                })?;
                let context = |case, unit| RowContext {
                    machine: &options.machine,
                    part,
                    case,
                    threads,
                    precision: "f32",
                    unit,
                };
                rows(published, name, &whole, watch.slip(), &context, row);
            }
        }
    }
    Ok(())
}

/// The scene at ten times its step, with the smallest stable number of substeps, and strong
/// coupling.
fn tenfold(scene: Scene) -> Scene {
    Scene { dt: 10.0 * scene.dt, substeps: AutoOr::default(), coupling: Coupling::Strong, ..scene }
}

/// Largest slip of the held cube at any sample, and the slip at the end.
#[derive(Default)]
struct SlipMonitor {
    grip: Option<Grip>,
    closed: bool,
    next: f64,
    most: Slip,
    last: Slip,
}

impl SlipMonitor {
    fn look(&mut self, world: &mut World) -> Result<(), BackendError> {
        let time = world.time();
        if world.step_count() == 0 {
            self.grip = Grip::new(world, ["left panel", "right panel"], "cube")?;
        }
        let Some(grip) = &mut self.grip else { return Ok(()) };
        if time < CLOSED - 1e-9 || time < self.next {
            return Ok(());
        }
        if !self.closed {
            grip.close(world)?;
            self.closed = true;
        }
        self.next = time + LOOK - 1e-9;
        self.last = grip.slip(world)?;
        if self.last.held > self.most.held {
            self.most = self.last;
        }
        Ok(())
    }

    /// Largest and last slip; none without a grip.
    fn slip(&self) -> Option<[Slip; 2]> {
        self.closed.then_some([self.most, self.last])
    }
}

fn rows<'a>(
    published: &Published,
    name: &str,
    whole: &SceneRun,
    slip: Option<[Slip; 2]>,
    context: &impl Fn(String, &'static str) -> RowContext<'a>,
    row: &mut dyn FnMut(Measurement),
) {
    let make =
        |case: String, unit, values| context(case, unit).row(values, whole.details(published.details()));
    let ms_per_step = published.ms_per_step;
    let step = published.step * 1e3;
    row(make(
        format!("{name}, a step (published {ms_per_step} of {step} ms)"),
        "ms/step",
        whole.wall_ms.clone(),
    ));
    row(make(
        format!("{name}, real-time rate (published {:.3})", published.real_time_rate()),
        "s/s",
        vec![whole.real_time_rate()],
    ));
    if let Some([most, last]) = slip {
        row(make(format!("{name}, slip of the cube, most"), "mm", vec![most.held * 1e3]));
        row(make(format!("{name}, slip of the cube, at the end"), "mm", vec![last.held * 1e3]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: the scenes of the table have the published particles (cloth to 0.2 %, with meshes of
    // similar triangles), grids and steps, and the rates that the paper names follow from the
    // table: 0.01 s in 21.7 ms.
    #[test]
    fn scenes_are_those_of_the_published_table() {
        for published in &TABLE {
            let scene = builtin_scene(PART.name, published.scene).unwrap();
            assert_eq!(scene.grid_spacing, Some(published.grid_spacing), "{}", published.scene);
            let world = Scenario::new(&scene).unwrap().world;
            let ratio = world.particle_count() as f64 / published.particles as f64;
            let near = if scene.cloths.is_empty() { 0.0 } else { 2e-3 };
            assert!((ratio - 1.0).abs() <= near, "{}: {ratio}", published.scene);
            assert_eq!(scene.dt, published.step, "{}", published.scene);
        }
        approx::assert_relative_eq!(TABLE[0].real_time_rate(), 0.4608, max_relative = 1e-3);
        approx::assert_relative_eq!(TABLE[4].real_time_rate(), 4.327e-4, max_relative = 1e-3);
    }
}
