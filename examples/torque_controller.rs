//! An arm under a torque controller of one's own presses its flange into dough:
//! `cargo run --release --example torque_controller`.

use nalgebra::{DVector, Isometry3, Point3, Vector3};
use pliant::coupling::{Material, ParticleSet, Settings, World};
use pliant::geometry::Shape;
use pliant::rigid::{BodyDesc, MechanismDesc};
use pliant::scenes::format::RobotModel;
use pliant::scenes::models;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = World::builder(Settings::new(0.02, 1e-3)); // grid spacing [m], step [s]
    let dough = builder.material(Material::plastic(1100.0, 5e4, 0.3, 2e3)); // kg/m^3, Pa, -, Pa
    let block = Shape::Box { half_extents: Vector3::new(0.08, 0.08, 0.04) };
    builder.particles(ParticleSet::filling(block, &Isometry3::translation(0.31, 0.0, 0.50), 0.01, dough)?);
    let top = Shape::Box { half_extents: Vector3::new(0.2, 0.2, 0.02) };
    builder.body(BodyDesc::fixed("table", top).at(Isometry3::translation(0.31, 0.0, 0.44)))?;
    let panda = MechanismDesc::from(models::import(RobotModel::Panda)?).at_keyframe("ready")?;
    let arm = builder.robot("arm", panda, None, &Isometry3::identity())?;
    let mut world = builder.build()?;
    let start = arm.pose(world.bodies(), "flange")?.translation.z;

    // The flange goes 5 cm down in a second: a velocity of the joints from its Jacobian, and computed
    // torque, tau = M (kp e + kd e') + h.
    let mut target = DVector::from_vec(arm.positions(world.bodies()));
    let mut worst: f64 = 0.0;
    for _ in 0..1000 {
        let bodies = world.bodies();
        let jacobian = arm.jacobian(bodies, "flange", &Point3::origin())?;
        let rate = jacobian.pseudo_inverse(1e-3)? * DVector::from_vec(vec![0.0, 0.0, 0.0, 0.0, 0.0, -0.05]);
        target += &rate * 1e-3;
        let error = &target - DVector::from_vec(arm.positions(bodies));
        let slower = &rate - DVector::from_vec(arm.velocities(bodies));
        let torque = arm.mass_matrix(bodies) * (&error * 400.0 + slower * 40.0);
        let torque = torque + DVector::from_vec(arm.bias(bodies));
        arm.set_efforts(world.bodies_mut(), torque.as_slice())?;
        world.step()?;
        worst = worst.max(error.amax());
    }
    let down = start - arm.pose(world.bodies(), "flange")?.translation.z;
    let force = world.link_wrench(&arm, "link7")?.ok_or("no step was taken")?.force.z;
    println!("flange {:.1} mm down of 50, worst error of a joint {worst:.4} rad", 1e3 * down);
    println!("the dough pushes the hand up with {force:.1} N");
    Ok(())
}
