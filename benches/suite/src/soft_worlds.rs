//! Throughput of many small worlds with dough: all at once, and one after the other on the same
//! threads.

use std::time::Instant;

use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{Material, ParticleSet, Settings, World, Worlds};
use pliant_rigid::{BodyDesc, Shape};
use pliant_runner::machine::OpenBackend;
use serde_json::json;

use super::part::{BenchError, BenchOptions, BenchPart, Measurement, RowContext, in_pool};

/// World-steps a second.
pub const SOFT_WORLDS: BenchPart = BenchPart {
    name: "soft-worlds",
    about: "a stamp presses a piece of dough in 1 to 4096 worlds: world-steps a second, at once and in turn",
    run: measure,
};

/// Numbers of worlds.
const WORLDS_MEASURED: [usize; 5] = [1, 16, 64, 256, 4096];
/// Approximate world-steps of a repeat, and number of repeats.
const WORK: usize = 512;
const REPEATS: usize = 5;

fn measure(options: &BenchOptions, report: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    for &threads in &options.threads {
        for count in WORLDS_MEASURED {
            in_pool(SOFT_WORLDS.name, threads, || throughput(count, threads))??
                .into_iter()
                .for_each(&mut *report);
        }
    }
    Ok(())
}

/// 1000 particles of dough on a table under a stamp that comes down within a second.
fn dough() -> Result<World, Box<dyn std::error::Error>> {
    let mut builder = World::builder(Settings::new(0.02, 2e-3));
    let dough = builder.material(Material::plastic(1100.0, 5e4, 0.3, 2e3));
    let cube = Shape::Box { half_extents: Vector3::repeat(0.05) };
    builder.particles(ParticleSet::filling(cube, &Isometry3::translation(0.0, 0.0, 0.05), 0.01, dough)?);
    builder.body(BodyDesc::fixed("table", Shape::HalfSpace))?;
    let stamp = BodyDesc::moved("stamp", Shape::Box { half_extents: Vector3::new(0.03, 0.03, 0.01) });
    let stamp = builder.body(stamp.at(Isometry3::translation(0.0, 0.0, 0.112)))?;
    let mut world = builder.build()?;
    world.bodies_mut().move_body(stamp, &Isometry3::translation(0.0, 0.0, 0.06), 1.0)?;
    // The stamp touches.
    (0..50).try_for_each(|_| world.step().map(drop))?;
    Ok(world)
}

fn throughput(count: usize, threads: usize) -> Result<[Measurement; 2], BenchError> {
    let fail = |reason: String| BenchError { bench: SOFT_WORLDS.name, reason };
    let start = dough().map_err(|e| fail(e.to_string()))?;
    let rounds = (WORK / count).clamp(2, 100);
    let (mut at_once, mut in_turn, mut contacts) = (Vec::new(), Vec::new(), 0.0);
    // The two by turns: machines are shared.
    for _ in 0..REPEATS {
        let mut worlds = Worlds::branches(&start, count).map_err(|e| fail(e.to_string()))?;
        let clock = Instant::now();
        for _ in 0..rounds {
            for taken in worlds.step() {
                contacts = taken.map_err(|e| fail(e.to_string()))?.contacts_mean;
            }
        }
        at_once.push((count * rounds) as f64 / clock.elapsed().as_secs_f64());
        let mut worlds = Worlds::branches(&start, count).map_err(|e| fail(e.to_string()))?;
        let clock = Instant::now();
        for _ in 0..rounds {
            for world in worlds.iter_mut() {
                world.step().map_err(|e| fail(e.to_string()))?;
            }
        }
        in_turn.push((count * rounds) as f64 / clock.elapsed().as_secs_f64());
    }
    let row = |how: &str, rates| {
        let context = RowContext {
            machine: &OpenBackend::processor(),
            part: SOFT_WORLDS.name,
            case: format!("dough, {count} worlds, {how}"),
            threads,
            precision: "f32",
            unit: "world-steps/s",
        };
        let details = json!({
            "worlds": count,
            "steps": rounds,
            "step_s": start.settings().dt,
            "particles": start.particle_count(),
            "contacts_mean": contacts,
        });
        context.row(rates, details)
    };
    Ok([row("at once", at_once), row("in turn", in_turn)])
}
