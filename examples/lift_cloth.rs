//! A pad lowers onto a cloth, sticks to it, lifts it, and the weight is read at the pad:
//! `cargo run --release --example lift_cloth -- PICTURE.png`.

use nalgebra::{Isometry3, Vector3};
use pliant::coupling::{Settings, World};
use pliant::geometry::Shape;
use pliant::mpm::cloth::{ClothMaterial, ClothMesh, Sheet};
use pliant::mpm::material::Elastic;
use pliant::rigid::{Adhesion, BodyDesc};
use pliant::runner::picture::WorldLook;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = World::builder(Settings::new(0.01, 2e-3)); // grid spacing [m], step [s]
    // A napkin of 0.2 m, 0.2 kg/m^2, that lies on a table.
    let (corner, side) = (Vector3::new(-0.1, -0.1, 0.001), 0.2);
    let mesh = ClothMesh::rectangle(corner, Vector3::x() * side, Vector3::y() * side, [24, 24])?;
    let elastic = Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 };
    let cotton = ClothMaterial { damping: 0.5, ..ClothMaterial::new(100.0, elastic, 0.002, 1e5) };
    builder.cloth(Sheet::new(mesh, cotton));
    builder.body(BodyDesc::fixed("table", Shape::HalfSpace).friction(0.3))?;
    let pad = BodyDesc::moved("pad", Shape::Cylinder { radius: 0.03, half_length: 0.005 });
    let pad = pad.at(Isometry3::translation(0.0, 0.0, 0.02)).adhesion(Adhesion { stress: 2e3, range: 2e-3 });
    let pad = builder.body(pad.color([200, 80, 60]))?;
    let mut world = builder.build()?;

    // Down within 0.2 s, wait 0.1 s, then 0.25 m up within 1 s.
    for (steps, height, within) in [(150, 0.0065, 0.2), (500, 0.26, 1.0), (500, 0.26, 0.1)] {
        world.bodies_mut().move_body(pad, &Isometry3::translation(0.0, 0.0, height), within)?;
        (0..steps).try_for_each(|_| world.step().map(drop))?;
    }
    let mut force = 0.0;
    for _ in 0..250 {
        world.step()?;
        force += world.contact_wrench(pad).ok_or("no step was taken")?.force.z / 250.0;
    }
    let lowest = world.mpm().particles().iter().map(|p| p.position.z).fold(f64::INFINITY, f64::min);
    println!("the pad bears {:.4} N of {:.4} N; lowest point {lowest:.3} m", -force, 0.2 * 0.04 * 9.81);
    let picture =
        std::env::args().nth(1).map_or_else(|| std::env::temp_dir().join("lift_cloth.png"), Into::into);
    Ok(WorldLook::default().write_picture(&mut world, picture)?)
}
