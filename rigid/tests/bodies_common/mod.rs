//! Bodies of tests.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use core::f64::consts::PI;

use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use pliant_rigid::*;

pub const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

pub fn desc(name: &str, pose: Isometry3<f64>, motion: Motion) -> BodyDesc {
    BodyDesc { name: name.into(), pose, motion, geometries: Vec::new(), appearance: Vec::new() }
}

pub fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

pub fn mass(mass: f64, moments: [f64; 3]) -> MassProperties {
    MassProperties { mass, inertia: Matrix3::from_diagonal(&moments.into()) }
}

pub fn dynamic(
    parent: Option<BodyId>,
    joint: Joint,
    mass: MassProperties,
    velocity: SpatialVelocity,
) -> Motion {
    let (force, torque) = (Vector3::zeros(), Vector3::zeros());
    Motion::Dynamic { parent, joint, mass, force, torque, velocity, gravity: true }
}

pub fn twist(angular: [f64; 3], linear: [f64; 3]) -> SpatialVelocity {
    SpatialVelocity { angular: angular.into(), linear: linear.into() }
}

pub fn built(builder: BodiesBuilder) -> Bodies {
    // No step of these tests is longer.
    builder.build(GRAVITY, 1e3, &RigidSettings::default()).unwrap()
}

pub fn step(bodies: &mut Bodies, dt: f64) {
    let impulses = vec![SpatialImpulse::zero(); bodies.len()];
    bodies.prepare(dt);
    bodies.integrate(dt, &impulses).unwrap();
}

pub fn roller_on_handle(handle: Trajectory, damping: f64) -> (BodiesBuilder, BodyId, BodyId) {
    let mut builder = BodiesBuilder::new();
    // The cylinder's z axis lies along world y.
    let lying = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), PI / 2.0);
    let pose = Isometry3::from_parts(Translation3::new(-0.1, 0.0, 0.18), lying);
    let handle = builder.add(desc("handle", pose, Motion::Prescribed(handle))).unwrap();
    let solid = mass(0.27, [2.8e-3, 2.8e-3, 1.7e-4]);
    let joint = Joint::revolute(Vector3::z_axis(), damping);
    let offset = Isometry3::translation(0.01, 0.02, 0.1);
    let motion = dynamic(Some(handle), joint, solid, SpatialVelocity::zero());
    let roller = builder.add(desc("roller", pose * offset, motion)).unwrap();
    (builder, handle, roller)
}
