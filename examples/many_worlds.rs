//! Steps 256 isolated worlds of a hand with a cube, each with a sideways pull of its own, and
//! reports how strong it may be before the cube leaves the palm:
//! `cargo run --release --example many_worlds`.

use pliant::batch::{Parameter, Status};
use pliant::scenes::format::{Form, Gains};
use pliant::scenes::load::load;
use pliant::scenes::worlds::worlds;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Batches have the published form of closed-form contact, so take its gains too.
    let mut scene = load("cube-in-hand", &[])?;
    scene.rigid.comfree.form = Form::Published;
    scene.rigid.comfree.gains = Gains::PerStep { stiffness: 0.1, damping: 0.002 };
    let (mut batch, mut scenario) = worlds(&scene, 256)?;
    let simulation = scenario.world.bodies_mut().simulation_mut();
    let cube = simulation.system().model.link("cube").ok_or("no cube")?;
    // A free body has seven coordinates: a quaternion, then the position.
    let height = simulation.system().model.positions_of(cube).start + 6;
    let start = batch.state(0)?.q[height];

    let pull = |world: usize| 0.1 * world as f64; // [m/s^2]
    for world in 0..batch.worlds() {
        batch.set_parameter(world, Parameter::Gravity(1), pull(world))?;
    }
    batch.step((1.0 / batch.dt()).round() as usize);

    let mut lost = None;
    for world in 0..batch.worlds() {
        if let Status::Stopped { time } = batch.status(world)? {
            println!("world {world} diverged at {time} s");
        } else if batch.state(world)?.q[height] < start - 0.05 {
            lost = lost.or(Some(world));
        }
    }
    match lost {
        Some(world) => println!("the cube is lost from {:.1} m/s^2 on", pull(world)),
        None => println!("the cube stays in the hand in all worlds"),
    }
    Ok(())
}
