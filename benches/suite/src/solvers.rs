//! Scenes with particles under either solver of rigid contact: time of a step, and goals.

use serde_json::json;

use super::part::{BenchError, BenchOptions, BenchPart, Measurement, RowContext};
use super::rigid::builtin_scene;
use super::scene_run::{Judge, run_scenario};
use pliant_scenes::format::{RigidSolver, Scene};

/// The part.
pub const PART: BenchPart = BenchPart {
    name: "solvers",
    about: "hold, shake (0.6 s), soft-grasp and sand-scoop with icf and comfree: ms per step, goals",
    run,
};

/// Scenes, and the time of those that are not run to their end \[s\]: `shake` until its panels are
/// closed and lift.
const SCENES: [(&str, Option<f64>); 4] =
    [("hold", None), ("shake", Some(0.6)), ("soft-grasp", None), ("sand-scoop", None)];

const SOLVERS: [(&str, RigidSolver); 2] = [("icf", RigidSolver::Icf), ("comfree", RigidSolver::Comfree)];

fn run(options: &BenchOptions, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    for (name, time) in SCENES {
        let scene = builtin_scene(PART.name, name)?;
        for &threads in &options.threads {
            for (solver, rigid_solver) in SOLVERS {
                let duration = time.unwrap_or(scene.duration);
                let scene = Scene { rigid_solver, duration, ..scene.clone() };
                let mut judge = Judge::default();
                let whole = run_scenario(PART.name, &scene, &options.machine, threads, |scenario| {
                    judge.look(&scene, scenario)
                })?;
                let goals = if time.is_none() { judge.results() } else { Vec::new() };
                let make = |case: &str, unit, values| {
                    let case = format!("{name}, {case}");
                    let details = whole.details(json!({ "rigid_solver": solver, "goals": goals }));
                    let machine = &options.machine;
                    RowContext { machine, part: PART.name, case, threads, precision: "f32", unit }
                        .row(values, details)
                        .of(solver, false)
                };
                row(make("a step", "ms/step", whole.wall_ms.clone()));
                row(make("a step, mean", "ms/step", vec![whole.wall() * 1e3 / whole.wall_ms.len() as f64]));
                if !goals.is_empty() {
                    let met = goals.iter().filter(|goal| goal.met == Some(true)).count();
                    row(make(&format!("goals met, of {}", goals.len()), "goals", vec![met as f64]));
                }
            }
        }
    }
    Ok(())
}
