//! At which friction does a soft block slide down a slope of 20 degrees, and how far in 0.4 s? One
//! world, a branch for each coefficient, on threads: `cargo run --release --example friction_sweep`.

use nalgebra::{Isometry3, Vector3};
use pliant::coupling::{Material, ParticleSet, Settings, World, Worlds};
use pliant::geometry::Shape;
use pliant::rigid::{BodyDesc, BodyId};

type Failure = Box<dyn std::error::Error + Send + Sync>;
const ANGLE: f64 = 20.0 * std::f64::consts::PI / 180.0;

fn center(world: &World) -> f64 {
    let particles = world.mpm().particles();
    particles.iter().map(|p| p.position.x).sum::<f64>() / particles.len() as f64
}

/// How far the block slides in 0.4 s \[m\].
fn slide(world: &mut World, slope: BodyId, friction: f64) -> Result<f64, Failure> {
    world.bodies_mut().set_friction(slope, friction)?;
    let start = center(world);
    (0..200).try_for_each(|_| world.step().map(drop))?;
    Ok(center(world) - start)
}

fn main() -> Result<(), Failure> {
    // The slope is level here, and gravity is tilted instead.
    let gravity = 9.81 * Vector3::new(ANGLE.sin(), 0.0, -ANGLE.cos());
    let mut builder = World::builder(Settings { gravity, ..Settings::new(0.02, 2e-3) });
    let rubber = builder.material(Material::elastic(1000.0, 5e5, 0.3)); // kg/m^3, Pa, -
    let block = Shape::Box { half_extents: Vector3::new(0.06, 0.04, 0.02) };
    builder.particles(ParticleSet::filling(block, &Isometry3::translation(0.0, 0.0, 0.02), 0.01, rubber)?);
    let slope = builder.body(BodyDesc::fixed("slope", Shape::HalfSpace))?;
    let world = builder.build()?;

    let friction = |i: usize| 0.05 * i as f64;
    let slides = Worlds::branches(&world, 12)?.each(|i, world| slide(world, slope, friction(i)));
    for (i, slid) in slides.into_iter().enumerate() {
        let free = 0.5 * 9.81 * (ANGLE.sin() - friction(i) * ANGLE.cos()).max(0.0) * 0.4 * 0.4;
        println!("friction {:.2}: {:.1} mm, a rigid block {:.1} mm", friction(i), 1e3 * slid?, 1e3 * free);
    }
    Ok(())
}
