//! The laws of motion are the same in every inertial frame (Galileo): what is added to all velocities at the start is added to all at the end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{block, fixed_corotated, random::Random};
use nalgebra::{Isometry3, Matrix3, Translation3, Vector3};
use pliant_coupling::{Coupling, Settings, World};
use pliant_rigid::{BodyDesc, BodyId, Geometry, Joint, MassProperties, Motion, Shape, SpatialVelocity};

/// An elastic cube that meets a free box off its middle, without gravity; `boost` (m/s) is added to both.
fn collision(seed: u64, coupling: Coupling, boost: Vector3<f64>) -> World {
    let mut random = Random(seed);
    let mut settings = Settings::new(0.02, random.of(&[1e-3, 2e-3, 5e-3]));
    settings.gravity = Vector3::zeros();
    settings.coupling = coupling;
    let mut builder = World::builder(settings);
    let rubber = builder.material(fixed_corotated(random.log(3e4, 3e5), 0.3, 1000.0));
    let speed = random.within(0.5, 4.0);
    let velocity = Vector3::new(speed, 0.0, random.within(-0.3, 0.3));
    builder.particles(block(rubber, [-0.1, -0.05, -0.05], [10; 3], 0.01, velocity + boost));
    let half = Vector3::new(0.03, 0.05, 0.08);
    let mass = random.log(0.1, 10.0);
    let turned = random.rotation();
    let offset = Vector3::new(0.1, random.within(-0.04, 0.04), random.within(-0.06, 0.06));
    let motion = Motion::Dynamic {
        parent: None,
        joint: Joint::free(),
        mass: MassProperties {
            mass,
            inertia: Matrix3::from_diagonal(&Vector3::new(3e-3, 2.5e-3, 1.2e-3)) * mass,
        },
        force: Vector3::zeros(),
        torque: Vector3::zeros(),
        velocity: SpatialVelocity { angular: Vector3::zeros(), linear: boost },
        gravity: true,
    };
    let geometries = vec![Geometry::new(Shape::Box { half_extents: half }, random.within(0.0, 1.0))];
    let pose = Isometry3::from_parts(Translation3::from(offset), turned);
    builder.body(BodyDesc { name: "box".into(), pose, motion, geometries, appearance: Vec::new() }).unwrap();
    builder.build().unwrap()
}

/// Velocities of the box after 0.15 s: linear, angular (m/s, rad/s).
fn after(mut world: World) -> (Vector3<f64>, Vector3<f64>) {
    while world.time() < 0.15 {
        world.step().unwrap();
    }
    let velocity = world.bodies().velocity(BodyId(0));
    (velocity.linear, velocity.angular)
}

/// Boosts of 5 to 50 m/s in random directions change nothing but the velocities themselves: within 1 % of the largest change of
/// velocity. What remains is how the material lies on the grid, which it crosses at the boost.
#[test]
fn a_collision_is_the_same_in_every_inertial_frame() {
    let count: u64 = std::env::var("BOOSTS").map_or(4, |s| s.parse().unwrap());
    for seed in 1..=count {
        let mut random = Random(seed ^ 0xb005);
        let size = random.within(5.0, 50.0);
        let boost = random.rotation() * Vector3::new(size, 0.0, 0.0);
        for coupling in [Coupling::Auto, Coupling::Strong, Coupling::Weak] {
            let (linear, angular) = after(collision(seed, coupling, Vector3::zeros()));
            let (boosted, turned) = after(collision(seed, coupling, boost));
            let scale = linear.norm();
            let off = (boosted - boost - linear).norm() / scale;
            let spin = (turned - angular).norm() * 0.05 / scale;
            println!(
                "seed {seed} {coupling:?} boost {size:.1}: {off:.4} {spin:.4} of {scale:.3} m/s, {:.3} rad/s",
                angular.norm()
            );
        }
    }
}
