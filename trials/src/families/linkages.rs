//! Bodies on joints with springs, damping, dry friction and limits, and with equality constraints,
//! that fall onto a floor; and robots.

use std::collections::BTreeMap;

use nalgebra::{UnitQuaternion, Vector3};

use super::family::{Family, at_rest, rigid_settings, symmetries};
use crate::Trial;
use crate::builders::{body, dynamic, floor};
use crate::sampler::SceneSampler;
use pliant_scenes::format::{
    AxisJoint, BallJoint, Constraint, JointSpec, Keyframe, PlanarJoint, Pose, Robot, RobotModel, Scene,
    Signal, UniversalJoint, Varying,
};
use pliant_scenes::models;

/// Passive: energy can only decrease.
pub const LINKAGES: Family = Family {
    name: "linkages",
    about: "two to six bodies on joints of every kind with springs, damping, friction and limits, \
            some with equality constraints, over a floor",
    long: false,
    draw: draw_linkages,
};

/// Motors do work, so that only symmetries are judged.
pub const ROBOTS: Family = Family {
    name: "robots",
    about: "built-in robots with motors on random targets beside a falling body: moved, turned, resumed, on other threads",
    long: false,
    draw: draw_robots,
};

fn one_of(sampler: &mut SceneSampler, scale: [f64; 2], end: [f64; 3]) -> AxisJoint {
    // Units of stiffness from a link's weight and length, N m/rad and N/m.
    let [effort, length] = scale;
    let some = |sampler: &mut SceneSampler, chance: f64, value: f64| {
        if sampler.chance(chance) { value * sampler.log_within(1e-2, 10.0) } else { 0.0 }
    };
    let reach = sampler.within(0.2, 1.5) * length;
    AxisJoint {
        axis: sampler.direction().into(),
        position: Some(end),
        damping: some(sampler, 0.4, 0.1 * effort),
        armature: 0.0,
        friction_loss: some(sampler, 0.3, 0.1 * effort),
        stiffness: some(sampler, 0.4, effort),
        reference: 0.0,
        limits: sampler.chance(0.4).then_some([-reach, reach]),
    }
}

fn joint(sampler: &mut SceneSampler, weight: f64, size: f64, end: [f64; 3]) -> JointSpec {
    let turning = one_of(sampler, [weight * size, 1.0], end);
    let sliding = one_of(sampler, [weight / size, size], end);
    match sampler.count(0, 6) {
        0 | 1 => JointSpec::Revolute(turning),
        2 => JointSpec::Prismatic(sliding),
        3 => {
            let other = one_of(sampler, [weight * size, 1.0], end);
            JointSpec::Universal(UniversalJoint {
                axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
                position: Some(end),
                damping: [turning.damping, other.damping],
                armature: [0.0; 2],
                friction_loss: [turning.friction_loss, other.friction_loss],
                stiffness: [turning.stiffness, other.stiffness],
                reference: [0.0; 2],
                limits: [turning.limits, other.limits],
            })
        }
        4 => JointSpec::Planar(PlanarJoint {
            orientation: sampler.turn(),
            position: Some(end),
            ..PlanarJoint::default()
        }),
        5 => JointSpec::Fixed {},
        _ => JointSpec::Ball(BallJoint {
            position: Some(end),
            damping: turning.damping,
            armature: 0.0,
            friction_loss: turning.friction_loss,
        }),
    }
}

fn draw_linkages(sampler: &mut SceneSampler) -> Trial {
    let mut scene = Scene::empty("linkage", 1.0, sampler.log_within(5e-4, 5e-3));
    rigid_settings(sampler, &mut scene);
    let size = sampler.log_within(5e-3, 0.5);
    let hangs = sampler.chance(0.4);
    scene.bodies.push(floor(sampler.within(0.0, 1.0)));
    let count = sampler.count(2, 6);
    let mut place = Vector3::new(0.0, 0.0, 3.0 * size);
    for number in 0..count {
        let volume = size.powi(3) * sampler.log_within(0.1, 1.0);
        let (shape, reach) = sampler.solid(volume);
        let mass = volume * sampler.log_within(300.0, 8000.0);
        let mut link = dynamic(mass);
        let turn = sampler.turn();
        if number > 0 {
            let way = sampler.direction();
            place += Vector3::new(way.x, way.y, way.z.abs() + 0.2).normalize() * (reach + size);
        }
        link.pose = Pose { position: place.into(), orientation: turn };
        if number > 0 || hangs {
            let q = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(
                turn[0], turn[1], turn[2], turn[3],
            ));
            let end = q.inverse() * Vector3::new(0.0, 0.0, -0.5 * size);
            link.joint = joint(sampler, mass * 9.81, size, end.into());
            link.parent = (number > 0).then(|| format!("link-{}", number - 1));
        } else {
            let speed = sampler.log_within(0.01, 10.0);
            link.velocity = sampler.vector(speed);
        }
        let mut link = body(&format!("link-{number}"), link, shape, sampler.within(0.0, 1.0));
        // Neighbours overlap at the joint between them; the others do not touch each other.
        link.geometries.iter_mut().for_each(|geometry| (geometry.group, geometry.mask) = (2, 1));
        scene.bodies.push(link);
    }
    if sampler.chance(0.3) {
        let bodies = [Some("link-0".to_owned()), Some(format!("link-{}", count - 1))];
        let distance = (place - Vector3::new(0.0, 0.0, 3.0 * size)).norm();
        scene.constraints.push(Constraint::Distance {
            bodies,
            points: [[0.0; 3]; 2],
            distance,
            release: None,
        });
    }
    scene.duration = 200.0 * scene.dt;
    let mut laws = vec![at_rest()];
    laws.extend(symmetries(sampler));
    Trial { scene, laws }
}

fn draw_robots(sampler: &mut SceneSampler) -> Trial {
    let mut scene = Scene::empty("robot", 0.2, sampler.pick(&[1e-3, 2e-3, 5e-3]));
    rigid_settings(sampler, &mut scene);
    let all: Vec<RobotModel> = models::all().map(|(model, _)| model).collect();
    let model = sampler.pick(&all);
    let mut controls = BTreeMap::new();
    if let Ok(imported) = models::import(model) {
        for input in &imported.inputs {
            if sampler.chance(0.5) {
                let mut key = |time: f64| Keyframe { time, value: sampler.within(-0.5, 0.5) };
                let keyframes = vec![key(0.0), key(0.1), key(0.2)];
                let interpolation = Default::default();
                controls.insert(
                    input.name.clone(),
                    Signal::Varying(Varying::Keyframes { keyframes, interpolation }),
                );
            }
        }
    }
    scene.robots.push(Robot {
        mocap: BTreeMap::new(),
        name: "robot".to_owned(),
        file: None,
        model: Some(model),
        parent: None,
        pose: Pose { position: sampler.vector(0.3), orientation: sampler.turn() },
        keyframe: None,
        positions: BTreeMap::new(),
        controls,
        floating: None,
        repair: Vec::new(),
        decompose: None,
        ignore_warnings: false,
    });
    let mut falling = dynamic(sampler.log_within(0.01, 5.0));
    falling.pose.position = [0.0, 0.0, 2.0];
    falling.velocity = [0.0, 0.0, -10.0];
    let (shape, _) = sampler.solid(1e-4);
    scene.bodies.push(body("ball", falling, shape, 0.5));
    Trial { scene, laws: symmetries(sampler) }
}
