//! A soft cube lies on a table. The force on the table must come to the weight of the cube:
//! `cargo run --release --example soft_block`.

use nalgebra::{Isometry3, Vector3};
use pliant::coupling::{Material, ParticleSet, Settings, World};
use pliant::geometry::Shape;
use pliant::mpm::material::{Elastic, Model};
use pliant::rigid::BodyDesc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Grid spacing [m] and step [s]. Everything else has a default.
    let mut builder = World::builder(Settings::new(0.02, 2e-3));
    let rubber = builder.material(Material {
        density: 1000.0,
        model: Model::NeoHookean(Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 }),
    });

    // A cube of 0.1 m that lies on the table: 1000 particles of 1 cm^3.
    let cube = Shape::Box { half_extents: Vector3::repeat(0.05) };
    let place = Isometry3::translation(0.0, 0.0, 0.05);
    builder.particles(ParticleSet::filling(cube, &place, 0.01, rubber)?);
    let table = builder.body(BodyDesc::fixed("table", Shape::HalfSpace))?;
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
