//! Tops, pendula and chains: lossless joints conserve energy.

use nalgebra::Vector3;

use super::family::Family;
use crate::Trial;
use crate::builders::dynamic;
use crate::laws::Law;
use crate::sampler::SceneSampler;
use pliant_scenes::format::{
    AxisJoint, BallJoint, BodySpec, Dynamic, Integrator, JointSpec, Motion, Pose, Scene, UniversalJoint,
};

/// Energy is conserved, not just bounded.
pub const FAMILY: Family = Family {
    name: "joints",
    about: "tops of 10 to 200 rad/s, pendula and chains on revolute, universal and ball joints, dt 1 to 10 ms: energy is kept",
    long: false,
    draw,
};

fn draw(sampler: &mut SceneSampler) -> Trial {
    let dt = sampler.pick(&[1e-3, 2e-3, 5e-3, 1e-2]);
    let mut scene = Scene::empty("joints", 1.0, dt);
    if sampler.chance(0.3) {
        scene.rigid.integrator = if sampler.chance(0.5) {
            Integrator::Trapezoid { step: None }
        } else {
            Integrator::ErrorControlled {
                accuracy: sampler.log_within(1e-6, 1e-3),
                max_step: 0.1,
                order: None,
            }
        };
    }
    if sampler.chance(0.4) {
        top(sampler, &mut scene);
    } else {
        chain(sampler, &mut scene);
    }
    Trial { scene, laws: vec![Law::Kept] }
}

/// A heavy symmetric top on a ball joint at its tip.
fn top(sampler: &mut SceneSampler, scene: &mut Scene) {
    let mass = sampler.log_within(0.05, 5.0);
    let (height, radius) = (sampler.log_within(0.02, 0.1), sampler.log_within(0.015, 0.06));
    // A disc of this radius: about its axis m r^2/2, across it m r^2/4.
    let across = 0.25 * mass * radius * radius;
    let mut spinning = dynamic(mass);
    spinning.joint = JointSpec::Ball(BallJoint { position: Some([0.0; 3]), ..BallJoint::default() });
    spinning.center_of_mass = Some([0.0, 0.0, height]);
    spinning.inertia = Some([across, across, 2.0 * across]);
    let tilt = sampler.within(0.1, 0.8);
    spinning.pose.orientation = [(0.5 * tilt).cos(), 0.0, (0.5 * tilt).sin(), 0.0];
    let axis = Vector3::new(tilt.sin(), 0.0, tilt.cos());
    let spin = axis * sampler.log_within(10.0, 200.0);
    spinning.angular_velocity = spin.into();
    // The tip is at rest.
    spinning.velocity = spin.cross(&(axis * height)).into();
    let motion = Motion::Dynamic(Box::new(spinning));
    scene.bodies.push(BodySpec { name: "top".to_owned(), motion, geometries: Vec::new() });
}

fn joint(sampler: &mut SceneSampler, end: [f64; 3]) -> JointSpec {
    let plain = AxisJoint {
        axis: [0.0, 1.0, 0.0],
        position: Some(end),
        damping: 0.0,
        armature: 0.0,
        friction_loss: 0.0,
        stiffness: 0.0,
        reference: 0.0,
        limits: None,
    };
    match sampler.count(0, 3) {
        0 => JointSpec::Revolute(plain),
        1 => JointSpec::Revolute(AxisJoint { axis: sampler.direction().into(), ..plain }),
        2 => JointSpec::Ball(BallJoint { position: Some(end), ..BallJoint::default() }),
        _ => JointSpec::Universal(UniversalJoint {
            axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            position: Some(end),
            damping: [0.0; 2],
            armature: [0.0; 2],
            friction_loss: [0.0; 2],
            stiffness: [0.0; 2],
            reference: [0.0; 2],
            limits: [None; 2],
        }),
    }
}

/// Rods from the origin sideways and down, each on a joint at its upper end.
fn chain(sampler: &mut SceneSampler, scene: &mut Scene) {
    let (length, mass) = (sampler.log_within(0.02, 0.5), sampler.log_within(0.01, 2.0));
    let mut end = Vector3::zeros();
    for number in 0..sampler.count(1, 8) {
        let turn =
            Vector3::new(sampler.within(0.3, 1.0), sampler.within(-0.2, 0.2), sampler.within(-1.0, -0.2))
                .normalize();
        let half = 0.5 * length;
        let slim = mass * length * length / 12.0;
        let mut rod = dynamic(mass);
        rod.joint = joint(sampler, [0.0, 0.0, half]);
        rod.inertia = Some([slim, slim, 0.1 * slim]);
        let center = end + turn * half;
        rod.pose = Pose { position: center.into(), orientation: from_z_to(&-turn) };
        rod.parent = (number > 0).then(|| format!("rod-{}", number - 1));
        end += turn * length;
        push(scene, &format!("rod-{number}"), rod);
    }
}

fn push(scene: &mut Scene, name: &str, dynamic: Dynamic) {
    let motion = Motion::Dynamic(Box::new(dynamic));
    scene.bodies.push(BodySpec { name: name.to_owned(), motion, geometries: Vec::new() });
}

/// The shortest rotation that takes z to a unit vector, (w, x, y, z).
fn from_z_to(direction: &Vector3<f64>) -> [f64; 4] {
    let q = nalgebra::UnitQuaternion::rotation_between(&Vector3::z(), direction).unwrap_or_default();
    [q.w, q.i, q.j, q.k]
}
