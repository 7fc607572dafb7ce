//! Steps a built-in scene by hand, looks at its particles and reports the force on a finger:
//! `cargo run --release --example step_scene`.

use pliant::coupling::ParticleSnapshot;
use pliant::scenes::Scenario;
use pliant::scenes::load::load;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A name of a built-in scene or a path, and changes to it (`--set` of the command).
    let scene = load("soft-grasp", &[])?;
    let mut scenario = Scenario::new(&scene)?;
    let cube = scenario.parts[0].clone();
    let finger = scenario.world.bodies().find("left finger").ok_or("no such body")?;

    let mut particles = ParticleSnapshot::default();
    for step in 1..=900 {
        // Sets the motors for this step and takes it.
        let report = scenario.step()?;
        if step % 100 == 0 {
            let world = &mut scenario.world;
            world.snapshot(&mut particles)?;
            let heights = particles.positions[cube.clone()].iter().map(|x| x[2]);
            let force = world.body_impulses()[finger.0].linear / scene.dt;
            let lowest = heights.fold(f64::INFINITY, f64::min);
            println!(
                "t = {:.1} s: cube at {lowest:.3} m, normal force {:.2} N, {} contacts",
                world.time(),
                force.y,
                report.contacts_max,
            );
        }
    }
    Ok(())
}
