//! Ablations, of what can be set: when particles are sorted, and the direction of the contact solver.
//! (The tolerance is figure 4. The order of the transfer can be set on a device only: the part `mpm`
//! measures both orders there.)

use serde_json::json;

use crate::mpm;
use crate::part::{BenchError, BenchOptions, Measurement, RowContext};
use crate::rigid::builtin_scene;
use crate::scene_run::run_whole;
use pliant_scenes::format::Direction;

const DIRECTIONS: [(&str, Direction); 4] = [
    ("newton_cg", Direction::NewtonCg),
    ("lbfgs", Direction::Lbfgs),
    ("block", Direction::Block),
    ("newton_factorised", Direction::NewtonFactorised),
];

/// Runs all of them.
pub(crate) fn run(
    part: &'static str,
    options: &BenchOptions,
    row: &mut dyn FnMut(Measurement),
) -> Result<(), BenchError> {
    for &threads in &options.threads {
        mpm::sorting(part, threads, row)?;
        for (name, direction) in DIRECTIONS {
            let mut scene = builtin_scene(part, "dough-rolling")?;
            scene.solver.direction = direction;
            let whole = run_whole(part, &scene, &options.machine, threads, |_| Ok(()))?;
            let case = "dough-rolling by direction, a step, mean".to_owned();
            let mean = whole.wall() * 1e3 / whole.wall_ms.len() as f64;
            let context = RowContext {
                machine: &options.machine,
                part,
                case,
                threads,
                precision: "f32",
                unit: "ms/step",
            };
            row(context.row(vec![mean], whole.details(json!({ "direction": name }))).of(name, false));
        }
    }
    Ok(())
}
