//! 64 futures of one state: how fast must a pusher go for half a second so that a soft block comes
//! to lie 4 cm further? `cargo run --release --example branch`.

use nalgebra::{Isometry3, Vector3};
use pliant::coupling::{Material, ParticleSet, Settings, World};
use pliant::geometry::Shape;
use pliant::mpm::material::{Elastic, Model};
use pliant::rigid::simulation::{Actuator, Control};
use pliant::rigid::{BodyDesc, DynamicMotion, Joint, MassProperties};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn center(world: &World) -> f64 {
    let particles = world.mpm().particles();
    particles.iter().map(|p| p.position.x).sum::<f64>() / particles.len() as f64
}

/// Where the block lies \[m\] after the pusher went at a speed \[m/s\] for half a second, then stood.
fn future(mut world: World, speed: f64) -> Result<f64, Failure> {
    for step in 0..300 {
        let target = if step < 250 { speed } else { 0.0 };
        let motor = &mut world.bodies_mut().simulation_mut().system_mut().actuators[0];
        motor.control = Control::Velocity { target, damping: 1e4 };
        world.step()?;
    }
    Ok(center(&world))
}

fn main() -> Result<(), Failure> {
    let mut builder = World::builder(Settings::new(0.02, 2e-3)); // grid spacing [m], step [s]
    let model = Model::NeoHookean(Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 });
    let foam = builder.material(Material { density: 300.0, model });
    let cube = Shape::Box { half_extents: Vector3::repeat(0.04) };
    let place = Isometry3::translation(0.04, 0.04, 0.04);
    builder.particles(ParticleSet::filling(cube, &place, 0.01, foam)?);
    builder.body(BodyDesc::fixed("table", Shape::HalfSpace).friction(0.3))?;
    let half_extents = Vector3::new(0.01, 0.03, 0.03);
    let joint = Joint::prismatic(Vector3::x_axis(), 0.0);
    let mass = MassProperties { mass: 1.0, inertia: nalgebra::Matrix3::identity() * 1e-3 };
    let slide = DynamicMotion::jointed(None, joint, mass).weightless();
    let start = Isometry3::translation(-0.015, 0.04, 0.04);
    let pusher = BodyDesc::new("pusher", Shape::Box { half_extents }, slide).at(start).friction(0.3);
    let pusher = builder.body(pusher)?;
    let link = builder.bodies().link(pusher).ok_or("the pusher does not move")?;
    let control = Control::Velocity { target: 0.0, damping: 1e4 };
    let motor = Actuator { link, dof: 0, control, effort_limit: 1e3, gravity_compensation: false };
    builder.bodies().actuators.push(motor);
    let mut world = builder.build()?;
    for _ in 0..50 {
        world.step()?; // until the block has settled
    }

    let goal = center(&world) + 0.04;
    let speeds: Vec<f64> = (1..=64).map(|i| 0.0025 * f64::from(i)).collect();
    let worlds: Vec<(World, f64)> =
        speeds.iter().map(|&speed| Ok((world.branch()?, speed))).collect::<Result<_, Failure>>()?;
    let threads = std::thread::available_parallelism()?.get();
    let mut chunks: Vec<Vec<(World, f64)>> = (0..threads).map(|_| Vec::new()).collect();
    worlds.into_iter().enumerate().for_each(|(i, pair)| chunks[i % threads].push(pair));
    let ends: Vec<(f64, f64)> = std::thread::scope(|scope| {
        let run = |chunk: Vec<(World, f64)>| {
            let ends = chunk.into_iter().map(|(world, speed)| Ok((speed, future(world, speed)?)));
            ends.collect::<Result<Vec<_>, Failure>>()
        };
        let running: Vec<_> = chunks.into_iter().map(|chunk| scope.spawn(move || run(chunk))).collect();
        let done = running.into_iter().map(|thread| thread.join().map_err(|_| "a thread failed")?);
        done.collect::<Result<Vec<_>, Failure>>().map(|all| all.concat())
    })?;
    let miss = |end: &(f64, f64)| (end.1 - goal).abs();
    let best = ends.iter().min_by(|a, b| miss(a).total_cmp(&miss(b))).ok_or("no future")?;
    println!(
        "{} futures; best speed {:.4} m/s, {:.2} mm from the goal",
        ends.len(),
        best.0,
        1e3 * miss(best)
    );
    Ok(())
}
