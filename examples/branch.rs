//! 64 futures of one state: how fast must a pusher go for half a second so that a soft block comes
//! to lie 4 cm further? `cargo run --release --example branch`.

use nalgebra::{Isometry3, Vector3};
use pliant::coupling::{Material, ParticleSet, Settings, World, Worlds};
use pliant::geometry::Shape;
use pliant::rigid::{BodyDesc, BodyId};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn center(world: &World) -> f64 {
    let particles = world.mpm().particles();
    particles.iter().map(|p| p.position.x).sum::<f64>() / particles.len() as f64
}

/// Where the block lies \[m\] after the pusher went at a speed \[m/s\] for half a second, then stood.
fn future(world: &mut World, pusher: BodyId, speed: f64) -> Result<f64, Failure> {
    let end = Isometry3::translation(0.5 * speed, 0.0, 0.0) * world.bodies().pose(pusher);
    world.bodies_mut().move_body(pusher, &end, 0.5)?;
    (0..300).try_for_each(|_| world.step().map(drop))?;
    Ok(center(world))
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
    let speed = |i: usize| 0.0025 * (i + 1) as f64;
    let ends = Worlds::branches(&world, 64)?.each(|i, world| future(world, pusher, speed(i)));
    let misses: Vec<f64> =
        ends.into_iter().map(|end| Ok((end? - goal).abs())).collect::<Result<_, Failure>>()?;
    let best = (0..misses.len()).min_by(|a, b| misses[*a].total_cmp(&misses[*b])).ok_or("no future")?;
    let (count, miss) = (misses.len(), 1e3 * misses[best]);
    println!("{count} futures; best speed {:.4} m/s, {miss:.2} mm from the goal", speed(best));
    Ok(())
}
