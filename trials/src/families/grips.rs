//! Two fingers that press on something between them with set forces: Coulomb's law says whether it falls,
//! and how fast.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::cloth::{self, fabric, sheet};
use super::family::{Family, WORK, bound_work, settings};
use super::ropes::{self, rope};
use crate::Trial;
use crate::builders::{body, dynamic, soft};
use crate::laws::Law;
use crate::sampler::{SceneSampler, wave_speed};
use pliant_scenes::format::{
    AutoOr, AxisJoint, ClothShape, JointSpec, Motion, Pose, RigidShape, RopeShape, Scene, SoftShape,
};

/// Forces that hold it, and forces that do not.
pub const FAMILY: Family = Family {
    name: "grips",
    about: "two fingers on rails press with set forces on an elastic or rigid box, a sheet or a rope, and hold 0.1 to 10 \
            times its weight by friction: it falls with g - 2 mu F/m, or stays",
    long: false,
    draw,
};

/// What is between the fingers.
struct Held {
    /// kg
    mass: f64,
    /// Half of its thickness \[m\].
    half: f64,
    particles: f64,
    /// Fastest wave \[m/s\].
    wave: f64,
}

fn elastic(sampler: &mut SceneSampler, scene: &mut Scene, size: f64, spacing: f64, pressure: f64) -> Held {
    let half_extents = [0.0; 3].map(|_: f64| size * sampler.within(0.5, 1.0));
    let [x, y, z] = half_extents;
    // Its own weight and the fingers press it by a twentieth at most.
    let stiffness = 20.0 * pressure * sampler.log_within(1.0, 100.0);
    let material = sampler.elastic(stiffness);
    let (density, wave) = (material.particle_material().density, wave_speed(&material));
    scene.soft.push(soft("held", SoftShape::Box { half_extents }, [0.0; 3], material));
    Held { mass: 8.0 * x * y * z * density, half: x, particles: 64.0 * x * y * z / spacing.powi(3), wave }
}

fn draw(sampler: &mut SceneSampler) -> Trial {
    let size = sampler.log_within(5e-3, 0.3);
    let g = sampler.log_within(1.0, 30.0);
    let mut scene = Scene::empty("grip", 1.0, 1e-3);
    let spacing = size / sampler.within(1.5, 5.0);
    let friction = sampler.log_within(0.05, 2.0);
    // Over the weight.
    let held_by = sampler.log_within(0.1, 10.0);
    scene.duration = (3.0 * size / g).sqrt();
    scene.dt = scene.duration / f64::from(sampler.count(30, 300));
    scene.grid_spacing = Some(spacing);
    let standing = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
    let held = match sampler.count(0, 4) {
        0 | 1 => {
            // Of the heaviest material that is drawn.
            let pressure = 2500.0 * g * 2.0 * size * (1.0 + 0.5 * held_by / friction);
            elastic(sampler, &mut scene, size, spacing, pressure)
        }
        2 => {
            let mut extent = cloth::Extent::default();
            let edge = spacing * sampler.within(0.4, 1.2);
            let parts = ((2.0 * size / edge).round() as u32).max(2);
            let material = fabric(sampler, spacing, &mut extent);
            let AutoOr::Value(thickness) = material.thickness else {
                unreachable!("fabrics have a thickness")
            };
            let mass = 4.0 * size * size * thickness * material.density;
            let shape = ClothShape::Rectangle { size: [2.0 * size; 2], parts: [parts; 2] };
            let pose = Pose { position: [0.0; 3], orientation: wxyz(&standing) };
            scene.cloths.push(sheet("held".to_owned(), shape, material, pose));
            let particles = 3.0 * f64::from(parts * parts);
            Held { mass, half: 0.5 * thickness, particles, wave: extent.wave }
        }
        3 => {
            let mut extent = ropes::Extent::default();
            let mut rope = rope(sampler, "held".to_owned(), (size, spacing), Pose::default(), &mut extent);
            rope.shape = RopeShape::Line { from: [0.0, -size, 0.0], to: [0.0, size, 0.0] };
            rope.segments = AutoOr::Auto;
            (rope.twist, rope.mass_damping) = (0.0, 0.0);
            let (radius, density) = (rope.material.radius, rope.material.density);
            let mass = std::f64::consts::PI * radius * radius * 2.0 * size * density;
            extent.shorten_step(&mut scene, 0.0);
            scene.ropes.push(rope);
            Held { mass, half: radius, particles: extent.vertices, wave: extent.wave }
        }
        _ => {
            let half_extents = [0.0; 3].map(|_: f64| size * sampler.within(0.5, 1.0));
            let volume = 8.0 * half_extents.iter().product::<f64>();
            let mass = volume * sampler.log_within(100.0, 8000.0);
            scene.bodies.push(body("held", dynamic(mass), RigidShape::Box { half_extents }, friction));
            Held { mass, half: half_extents[0], particles: 1.0, wave: 1.0 }
        }
    };
    let force = 0.5 * held_by * held.mass * g / friction;
    let thickness = size * sampler.log_within(0.1, 1.0);
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let mut finger = dynamic(held.mass * sampler.log_within(0.1, 10.0));
        finger.pose.position = [side * (held.half * (1.0 + 1e-6) + thickness), 0.0, 0.0];
        finger.joint = JointSpec::Prismatic(rail());
        finger.applied_force = [-side * force, 0.0, 0.0];
        let shape = RigidShape::Box { half_extents: [thickness, 2.0 * size, 4.0 * size] };
        scene.bodies.push(body(name, finger, shape, friction));
    }
    let turn = sampler.turn();
    turn_all(
        &mut scene,
        &UnitQuaternion::from_quaternion(Quaternion::new(turn[0], turn[1], turn[2], turn[3])),
        g,
    );
    bound_work(&mut scene, held.particles.max(300.0), held.wave, (g * size).sqrt(), 4.0 * WORK);
    settings(sampler, &mut scene);
    Trial { scene, laws: vec![Law::Grip] }
}

/// A rail along x without friction.
fn rail() -> AxisJoint {
    AxisJoint {
        axis: [1.0, 0.0, 0.0],
        position: None,
        damping: 0.0,
        armature: 0.0,
        friction_loss: 0.0,
        stiffness: 0.0,
        reference: 0.0,
        limits: None,
    }
}

fn wxyz(turn: &UnitQuaternion<f64>) -> [f64; 4] {
    [turn.w, turn.i, turn.j, turn.k]
}

/// Turns everything about the origin, and gives it a gravity \[m/s^2\] that was downwards.
fn turn_all(scene: &mut Scene, by: &UnitQuaternion<f64>, gravity: f64) {
    scene.gravity = (by * Vector3::new(0.0, 0.0, -gravity)).into();
    let turn = |pose: &mut Pose| {
        let [w, x, y, z] = pose.orientation;
        pose.position = (by * Vector3::from(pose.position)).into();
        pose.orientation = wxyz(&(by * UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))));
    };
    scene.soft.iter_mut().for_each(|soft| turn(&mut soft.pose));
    scene.cloths.iter_mut().for_each(|cloth| turn(&mut cloth.pose));
    scene.ropes.iter_mut().for_each(|rope| turn(&mut rope.pose));
    for body in &mut scene.bodies {
        if let Motion::Dynamic(dynamic) = &mut body.motion {
            turn(&mut dynamic.pose);
            dynamic.applied_force = (by * Vector3::from(dynamic.applied_force)).into();
        }
    }
}
