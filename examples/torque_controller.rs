//! An arm under a torque controller of one's own presses its hand into a soft block:
//! `cargo run --release --example torque_controller`.

use nalgebra::{DVector, Isometry3, Point3, Vector3};
use pliant::coupling::{Material, ParticleSet, Settings, World};
use pliant::geometry::Shape;
use pliant::mpm::material::{Elastic, Model};
use pliant::rigid::{BodyDesc, MechanismDesc};
use pliant::scenes::format::RobotModel;
use pliant::scenes::models;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = World::builder(Settings::new(0.02, 1e-3)); // grid spacing [m], step [s]
    let model = Model::NeoHookean(Elastic { youngs_modulus: 5e4, poissons_ratio: 0.3 });
    let dough = builder.material(Material { density: 1100.0, model });

    // A block of 0.16 x 0.16 x 0.08 m on a table, its top 2 cm below the hand.
    let block = Shape::Box { half_extents: Vector3::new(0.08, 0.08, 0.04) };
    let place = Isometry3::translation(0.31, 0.0, 0.50);
    builder.particles(ParticleSet::filling(block, &place, 0.01, dough)?);
    let top = Shape::Box { half_extents: Vector3::new(0.2, 0.2, 0.02) };
    builder.body(BodyDesc::fixed("table", top).at(Isometry3::translation(0.31, 0.0, 0.44)))?;

    let panda = MechanismDesc::from(models::import(RobotModel::Panda)?).at_keyframe("ready")?;
    let arm = builder.robot("arm", panda, None, &Isometry3::identity())?;
    let mut world = builder.build()?;
    let start = arm.pose(world.bodies(), "flange")?.translation.z;
    let home = DVector::from_vec(arm.positions(world.bodies()));

    // The flange goes 5 cm down in a second: a velocity of the joints from its Jacobian, and computed
    // torque, tau = M (kp e + kd e') + h.
    let mut target = home.clone();
    let (mut worst, mut force): (f64, f64) = (0.0, 0.0);
    for _ in 0..1000 {
        let bodies = world.bodies();
        let jacobian = arm.jacobian(bodies, "flange", &Point3::origin())?;
        let twist = DVector::from_vec(vec![0.0, 0.0, 0.0, 0.0, 0.0, -0.05]);
        let rate = jacobian.pseudo_inverse(1e-3)? * twist;
        target += &rate * 1e-3;
        let (q, v) = (arm.positions(bodies), arm.velocities(bodies));
        let error = &target - DVector::from_vec(q);
        let push = &error * 400.0 + (rate - DVector::from_vec(v)) * 40.0;
        let torque = arm.mass_matrix(bodies) * push + DVector::from_vec(arm.bias(bodies));
        arm.set_efforts(world.bodies_mut(), torque.as_slice())?;
        world.step()?;
        worst = worst.max(error.amax());
        force = world.body_impulses()[arm.body("link7")?.0].linear.z / 1e-3;
    }
    let down = start - arm.pose(world.bodies(), "flange")?.translation.z;
    println!("flange {:.1} mm down of 50, worst error of a joint {:.4} rad", 1e3 * down, worst);
    println!("the block pushes the hand up with {force:.1} N");
    Ok(())
}
