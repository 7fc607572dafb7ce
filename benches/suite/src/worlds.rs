//! Throughput of batches (ComFree-Sim, figure 8): a hand that holds a cube in each of many worlds.

use std::time::Instant;

use pliant_batch::{Status, WorldBatch};
use serde_json::json;

use super::part::{BenchError, BenchOptions, BenchPart, Measurement, RowContext, in_pool};
use super::rigid::builtin_scene;
use pliant_numeric::random::SplitMix64;
use pliant_runner::machine::OpenBackend;
use pliant_scenes::format::{Form, Gains};
use pliant_scenes::worlds::worlds;

/// World-steps a second.
pub const WORLDS: BenchPart = BenchPart {
    name: "worlds",
    about: "a hand of sixteen joints holds a cube in 1 to 4,096 worlds: world-steps a second",
    run: measure,
};

/// Numbers of worlds.
const WORLDS_MEASURED: [usize; 7] = [1, 4, 16, 64, 256, 1024, 4096];
/// Steps between commands, and their largest distance from the grasp [rad], as in the paper.
const STEPS_BETWEEN: usize = 50;
const REACH: f64 = 0.5;
/// Approximate world-steps of a repeat, and number of repeats.
const WORK: usize = 100_000;
const REPEATS: usize = 5;

fn measure(options: &BenchOptions, report: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    for &threads in &options.threads {
        for count in WORLDS_MEASURED {
            report(in_pool(WORLDS.name, threads, || throughput(count, threads))??);
        }
    }
    Ok(())
}

fn throughput(count: usize, threads: usize) -> Result<Measurement, BenchError> {
    let fail = |reason: String| BenchError { bench: WORLDS.name, reason };
    let mut scene = builtin_scene(WORLDS.name, "cube-in-hand")?;
    let comfree = &mut scene.rigid.comfree;
    comfree.form = Form::Published;
    comfree.gains = Gains::PerStep { stiffness: 0.1, damping: 0.002 };
    comfree.facets = 4;
    let (mut batch, scenario) = worlds(&scene, count).map_err(|e| fail(e.to_string()))?;
    let start = scenario.world.bodies().state().clone();
    let grasp: Result<Vec<f64>, _> = (0..batch.motors()).map(|motor| batch.target(0, motor)).collect();
    let grasp = grasp.map_err(|e| fail(e.to_string()))?;
    let rounds = (WORK / (count * STEPS_BETWEEN)).clamp(2, 200);
    let mut random = SplitMix64::new(8);
    let mut rates = Vec::with_capacity(REPEATS);
    for _ in 0..REPEATS {
        batch.set_states(&start).map_err(|e| fail(e.to_string()))?;
        command(&mut batch, &grasp, &mut random, 0.0).map_err(fail)?;
        batch.step(STEPS_BETWEEN);
        let mut seconds = 0.0;
        for _ in 0..rounds {
            command(&mut batch, &grasp, &mut random, REACH).map_err(fail)?;
            let clock = Instant::now();
            batch.step(STEPS_BETWEEN);
            seconds += clock.elapsed().as_secs_f64();
        }
        rates.push(rate(count, rounds * STEPS_BETWEEN, seconds));
    }
    let running = (0..count).filter(|w| batch.status(*w) == Ok(Status::Running)).count();
    let held = (0..count).filter(|w| batch.state(*w).is_ok_and(|state| state.q[6] > 0.1)).count();
    let sample = RowContext {
        machine: &OpenBackend::processor(),
        part: WORLDS.name,
        case: format!("cube-in-hand, {count} worlds"),
        threads,
        precision: "f64",
        unit: "world-steps/s",
    };
    let details = json!({
        "worlds": count,
        "steps": rounds * STEPS_BETWEEN,
        "step_s": batch.dt(),
        "worlds_running": running,
        "cubes_held": held,
    });
    Ok(sample.row(rates, details))
}

/// World-steps per second, of `worlds` that took `steps` each in `seconds`.
fn rate(worlds: usize, steps: usize, seconds: f64) -> f64 {
    (worlds * steps) as f64 / seconds
}

/// New targets for all motors of all worlds, within `reach` \[rad\] of the grasp.
fn command(batch: &mut WorldBatch, grasp: &[f64], random: &mut SplitMix64, reach: f64) -> Result<(), String> {
    for world in 0..batch.worlds() {
        for (motor, target) in grasp.iter().enumerate() {
            let target = target + reach * (2.0 * random.uniform() - 1.0);
            batch.set_target(world, motor, target).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: a world-step is one step of one world.
    #[test]
    fn a_rate_is_worlds_times_steps_over_time() {
        assert_eq!(rate(256, 50, 0.5), 25_600.0);
        assert_eq!(rate(1, 1, 4.0), 0.25);
    }
}
