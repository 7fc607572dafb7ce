//! A gripper closes on a soft cube until its finger feels 2 N, and holds it there:
//! `cargo run --release --example stop_on_force`.

use nalgebra::{Isometry3, Vector3};
use pliant::coupling::{Material, ParticleSet, Settings, World};
use pliant::geometry::Shape;
use pliant::rigid::{BodyDesc, MechanismDesc};
use pliant::runner::picture::WorldLook;
use pliant::scenes::format::RobotModel;
use pliant::scenes::models;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = World::builder(Settings::new(0.012, 1e-3)); // grid spacing [m], step [s]
    let foam = builder.material(Material::elastic(200.0, 2e4, 0.3)); // kg/m^3, Pa, -
    let cube = Shape::Box { half_extents: Vector3::repeat(0.024) };
    builder.particles(ParticleSet::filling(cube, &Isometry3::translation(0.0, 0.0, 0.024), 0.006, foam)?);
    builder.body(BodyDesc::fixed("table", Shape::HalfSpace))?;
    // The gripper hangs above the cube, its fingers downwards.
    let gripper = MechanismDesc::from(models::import(RobotModel::ParallelGripper)?).at_keyframe("open")?;
    let down = nalgebra::UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
    let above = Isometry3::from_parts(nalgebra::Translation3::new(0.0, 0.0, 0.12), down);
    let gripper = builder.robot("gripper", gripper, None, &above)?;
    let mut world = builder.build()?;

    let mut opening = 0.04; // of each finger from the middle [m]
    let mut force = 0.0;
    for step in 0..3000 {
        if force < 2.0 {
            opening -= 2e-5; // 20 mm/s
            gripper.set_control(world.bodies_mut(), "left", opening)?;
            gripper.set_control(world.bodies_mut(), "right", opening)?;
        } else {
            println!("t = {:.3} s: {force:.2} N, stopped at {:.1} mm", f64::from(step) * 1e-3, 1e3 * opening);
            break;
        }
        world.step()?;
        force = world.link_wrench(&gripper, "left_finger")?.ok_or("no step was taken")?.force.y.abs();
    }
    (0..200).try_for_each(|_| world.step().map(drop))?;
    let held = world.link_wrench(&gripper, "left_finger")?.ok_or("no step was taken")?.force.y.abs();
    println!("0.2 s later: {held:.2} N");
    Ok(WorldLook::default().write_picture(&mut world, std::env::temp_dir().join("stop_on_force.png"))?)
}
