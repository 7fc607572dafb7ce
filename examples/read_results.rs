//! Runs a scene from JSON text as the command does, and reads what was written:
//! `cargo run --release --example read_results -- OUTPUT_FOLDER`.

use pliant::io::ply::read_frame;
use pliant::runner::run::{RunOptions, Status, frame_path, read_forces, run};
use pliant::scenes::Scenario;
use pliant::scenes::format::parse_scene;

const SCENE: &str = r#"{
  "name": "block", "duration": 0.5, "dt": 0.005, "grid_spacing": 0.02,
  "materials": { "rubber": {
    "model": "neo-hookean", "density": 1000, "youngs_modulus": 1e5, "poissons_ratio": 0.3 } },
  "soft": [{
    "name": "block", "material": "rubber", "pose": { "position": [0, 0, 0.05] },
    "shape": { "type": "box", "half_extents": [0.05, 0.05, 0.05] } }],
  "bodies": [{
    "name": "table", "motion": { "type": "fixed" }, "geometries": [{ "shape": { "type": "half-space" } }] }],
  "goals": [{
    "name": "lies", "soft": "block", "quantity": { "type": "highest", "axis": "z" }, "from": 0.4, "max": 0.1 }],
  "output": { "forces": ["table"] }
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = std::env::args().nth(1).ok_or("give the folder to write, which must not exist")?;
    let scenario = Scenario::new(&parse_scene(SCENE)?)?;
    scenario.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    let summary = run(scenario, RunOptions { pictures: false, ..RunOptions::new(out) })?;

    let manifest = &summary.manifest;
    assert_eq!(manifest.status, Status::Completed);
    println!("{} particles, {} steps", manifest.particles, manifest.steps);
    println!("relative error of the momentum {:.1e}", manifest.conservation.linear_momentum.0);
    for goal in &manifest.goals {
        println!("goal {}: {:?}, worst {:.4} {}", goal.name, goal.met, goal.worst.0, goal.unit);
    }
    manifest.warnings.iter().for_each(|warning| println!("warning: {warning}"));
    if let Some(row) = read_forces(&summary.directory)?.last() {
        println!("t = {} s: force on {} {:.3} N", row.time, row.body, row.force.z);
    }
    let last = read_frame(frame_path(&summary.directory, manifest.frames - 1))?;
    let highest = last.particles.iter().map(|p| p.position[2]).fold(f32::MIN, f32::max);
    println!("highest particle of the last frame {highest:.4} m");
    Ok(())
}
