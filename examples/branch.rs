//! 64 futures of one state: how fast must a pusher go for half a second so that a soft block comes
//! to lie 4 cm further? `cargo run --release --example branch`.

use nalgebra::{Isometry3, Vector3};
use pliant::coupling::{Material, ParticleSet, Settings, World};
use pliant::geometry::Shape;
use pliant::rigid::{BodyDesc, BodyId};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn center(world: &World) -> f64 {
    let particles = world.mpm().particles();
    particles.iter().map(|p| p.position.x).sum::<f64>() / particles.len() as f64
}

/// Where the block lies \[m\] after the pusher went at a speed \[m/s\] for half a second, then stood.
fn future(mut world: World, pusher: BodyId, speed: f64) -> Result<f64, Failure> {
    let end = Isometry3::translation(0.5 * speed, 0.0, 0.0) * world.bodies().pose(pusher);
    world.bodies_mut().move_body(pusher, &end, 0.5)?;
    (0..300).try_for_each(|_| world.step().map(drop))?;
    Ok(center(&world))
}

fn main() -> Result<(), Failure> {
    let mut builder = World::builder(Settings::new(0.02, 2e-3)); // grid spacing [m], step [s]
    let foam = builder.material(Material::elastic(300.0, 1e5, 0.3)); // kg/m^3, Pa, -
    let cube = Shape::Box { half_extents: Vector3::repeat(0.04) };
    builder.particles(ParticleSet::filling(cube, &Isometry3::translation(0.04, 0.04, 0.04), 0.01, foam)?);
    builder.body(BodyDesc::fixed("table", Shape::HalfSpace).friction(0.3))?;
    let pusher = BodyDesc::moved("pusher", Shape::Box { half_extents: Vector3::new(0.01, 0.03, 0.03) });
    let pusher = builder.body(pusher.at(Isometry3::translation(-0.015, 0.04, 0.04)).friction(0.3))?;
    let mut world = builder.build()?;
    (0..50).try_for_each(|_| world.step().map(drop))?; // until the block has settled

    let goal = center(&world) + 0.04;
    let branches = (1..=64).map(|i| Ok((0.0025 * f64::from(i), world.branch()?)));
    let branches: Vec<(f64, World)> = branches.collect::<Result<_, Failure>>()?;
    let ends: Vec<(f64, f64)> = std::thread::scope(|scope| {
        let run = |(speed, world)| (speed, scope.spawn(move || future(world, pusher, speed)));
        let running: Vec<_> = branches.into_iter().map(run).collect();
        let end = |(speed, thread): (f64, std::thread::ScopedJoinHandle<Result<f64, Failure>>)| {
            Ok::<_, Failure>((speed, (thread.join().map_err(|_| "a thread failed")?? - goal).abs()))
        };
        running.into_iter().map(end).collect::<Result<_, _>>()
    })?;
    let best = ends.iter().min_by(|a, b| a.1.total_cmp(&b.1)).ok_or("no future")?;
    println!("{} futures; best speed {:.4} m/s, {:.2} mm from the goal", ends.len(), best.0, 1e3 * best.1);
    Ok(())
}
