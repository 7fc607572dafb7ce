//! A soft cube lies on a table. The force on the table must come to the weight of the cube:
//! `cargo run --release --example soft_block`.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant::coupling::{Material, ParticleSet, Settings, World};
use pliant::geometry::Shape;
use pliant::mpm::material::{Elastic, Model};
use pliant::rigid::{BodyDesc, Geometry, Motion};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Grid spacing [m] and step [s]. Everything else has a default.
    let mut builder = World::builder(Settings::new(0.02, 2e-3));
    let rubber = builder.material(Material {
        density: 1000.0,
        model: Model::NeoHookean(Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 }),
    });

    // A cube of 0.1 m: 1000 particles of 1 cm^3, half a spacing above the table.
    let positions: Vec<Point3<f64>> = (0..1000)
        .map(|i| Vector3::new((i / 100) as f64, (i / 10 % 10) as f64, (i % 10) as f64))
        .map(|index| Point3::from((index + Vector3::repeat(0.5)) * 0.01))
        .collect();
    builder.particles(ParticleSet {
        velocities: vec![Vector3::zeros(); positions.len()],
        volumes: vec![1e-6; positions.len()],
        positions,
        material: rubber,
    });

    let table = builder.body(BodyDesc {
        name: "table".into(),
        pose: Isometry3::identity(),
        motion: Motion::Fixed,
        geometries: vec![Geometry::new(Shape::HalfSpace, 0.5)], // friction coefficient [-]
        appearance: vec![],
    })?;
    let mut world = builder.build()?;

    let mut impulse = 0.0;
    for step in 0..1000 {
        let report = world.step()?;
        assert_eq!(report.not_converged, 0);
        // The mean over the last half second leaves out what the cube still swings.
        if step >= 750 {
            impulse += world.body_impulses()[table.0].linear.z;
        }
    }
    println!("force on the table {:.3} N, weight {:.3} N", impulse / 0.5, -9.81);
    println!("relative errors of the balances: {:?}", world.balance());
    Ok(())
}
