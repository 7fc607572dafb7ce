//! Tools on prescribed paths that push, lift and scoop what lies on a ground.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::cloth::{self, fabric, sheet};
use super::family::{Family, WORK, at_rest, bound_work, settings, symmetries};
use super::ropes::{self, rope};
use super::soft::{material, shape};
use super::surfaces::hills;
use crate::Trial;
use crate::builders::{body, dynamic, floor, soft};
use crate::laws::Law;
use crate::sampler::{SceneSampler, wave_speed};
use pliant_scenes::format::{
    Adhesion, AutoOr, BodySpec, Geometry, Motion, Pose, PoseKeyframe, RigidShape, Scene, VelocityKeyframe,
};

/// Tools and grounds of several shapes.
pub const FAMILY: Family = Family {
    name: "tools",
    about: "one or two tools of up to three shapes, some of which particles adhere to, on prescribed poses or \
            velocities of 1 mm/s to 20 m/s, move through soft bodies, sheets, ropes and rigid bodies on a floor, on \
            hills or in a tray",
    long: false,
    draw,
};

/// What a geometry may have for particles.
fn surface(sampler: &mut SceneSampler, size: f64, geometry: &mut Geometry) {
    geometry.friction = if sampler.chance(0.1) { 0.0 } else { sampler.within(0.0, 1.5) };
    if sampler.chance(0.25) {
        let adhesion =
            Adhesion { stress: sampler.log_within(1.0, 1e5), range: size * sampler.log_within(1e-4, 0.1) };
        geometry.adhesion = Some(adhesion);
    }
}

/// A box without a lid: its floor's upper face is z = 0.
fn tray(half: f64, wall: f64, height: f64) -> Vec<Geometry> {
    let plate = |position: [f64; 3], half_extents: [f64; 3]| Geometry {
        pose: Pose { position, ..Pose::default() },
        ..Geometry::new(RigidShape::Box { half_extents })
    };
    let outer = half + 2.0 * wall;
    let mut all = vec![plate([0.0, 0.0, -wall], [outer, outer, wall])];
    for side in [-1.0, 1.0] {
        let (at, up) = (side * (half + wall), 0.5 * height);
        all.push(plate([at, 0.0, up], [wall, outer, up]));
        all.push(plate([0.0, at, up], [half, wall, up]));
    }
    all
}

fn ground(sampler: &mut SceneSampler, size: f64) -> BodySpec {
    let mut ground = floor(0.0);
    match sampler.count(0, 3) {
        0 => ground.geometries[0].shape = hills(sampler, size),
        1 => {
            let (half, wall) = (size * sampler.within(2.5, 5.0), size * sampler.log_within(0.1, 1.0));
            ground.geometries = tray(half, wall, size * sampler.within(0.2, 2.0));
        }
        _ => {}
    }
    ground.geometries.iter_mut().for_each(|geometry| surface(sampler, size, geometry));
    ground
}

/// Up to three shapes, and the radius of a ball around them \[m\].
fn blades(sampler: &mut SceneSampler, size: f64) -> (Vec<Geometry>, f64) {
    let volume = size.powi(3) * sampler.log_within(0.05, 2.0);
    let (shape, mut reach) = sampler.solid(volume);
    let mut geometries = vec![Geometry::new(shape)];
    for _ in 0..sampler.count(0, 2) {
        let part = volume * sampler.log_within(0.1, 1.0);
        let (shape, own) = sampler.solid(part);
        let away = sampler.within(0.2, 1.5) * reach;
        let pose = Pose { position: sampler.vector(away), orientation: sampler.turn() };
        geometries.push(Geometry { pose, ..Geometry::new(shape) });
        reach = reach.max(away + own);
    }
    geometries.iter_mut().for_each(|geometry| surface(sampler, size, geometry));
    (geometries, reach)
}

/// A path of some keyframes from `start` on, about the speed \[m/s\]: level, or upwards, and turning. Its
/// velocity jumps between steps: what it does within one is known to first order only.
fn path(sampler: &mut SceneSampler, scene: &Scene, start: Pose, speed: f64, size: f64) -> Motion {
    let count = sampler.count(1, 3);
    let span = (scene.duration / (f64::from(count) * scene.dt)).ceil() * scene.dt;
    let spin = speed / size * sampler.within(0.0, 1.0);
    let toward = Vector3::from(start.position) * -1.0;
    let mut legs = Vec::new();
    for leg in 0..count {
        let mut way = if leg == 0 { toward } else { Vector3::from(sampler.vector(1.0)) };
        way.z = if sampler.chance(0.3) { way.xy().norm() * sampler.within(0.0, 1.0) } else { 0.0 };
        let linear = way.normalize() * speed * sampler.within(0.2, 1.0);
        let angular = if sampler.chance(0.5) { sampler.vector(spin) } else { [0.0; 3] };
        legs.push((span * f64::from(leg), linear, angular));
    }
    if sampler.chance(0.5) {
        let keyframes = legs
            .into_iter()
            .map(|(time, linear, angular)| VelocityKeyframe { time, linear: linear.into(), angular })
            .collect();
        return Motion::PrescribedVelocities { pose: start, keyframes };
    }
    let [w, x, y, z] = start.orientation;
    let mut turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
    let mut position = Vector3::from(start.position);
    let mut keyframes =
        vec![PoseKeyframe { time: 0.0, position: start.position, orientation: start.orientation }];
    for (time, linear, angular) in legs {
        position += linear * span;
        turn = UnitQuaternion::from_scaled_axis(Vector3::from(angular) * span) * turn;
        let orientation = [turn.w, turn.i, turn.j, turn.k];
        keyframes.push(PoseKeyframe { time: time + span, position: position.into(), orientation });
    }
    Motion::PrescribedPoses { keyframes }
}

/// What lies on the ground: particles, wave speed \[m/s\] and height \[m\].
fn medium(sampler: &mut SceneSampler, scene: &mut Scene, size: f64, spacing: f64, speed: f64) -> [f64; 3] {
    let above = if sampler.chance(0.5) { 1e-3 * size } else { size * sampler.within(0.0, 0.5) };
    match sampler.count(0, 5) {
        0..=2 => {
            let material = material(sampler, 100.0 * 2500.0 * 9.81 * size, 3e6_f64.max(3e7 * size));
            let wave = wave_speed(&material);
            let (shape, reach) = shape(sampler, size);
            let mut lump = soft("lump", shape, [0.0, 0.0, above + reach], material);
            if sampler.chance(0.3) {
                lump.sampling.jitter = sampler.within(0.0, 1.0);
            }
            lump.pose.orientation = if sampler.chance(0.5) { sampler.turn() } else { lump.pose.orientation };
            scene.soft.push(lump);
            [4.0 * (4.0 * size / spacing).powi(3) / 8.0, wave, 2.0 * reach]
        }
        3 => {
            let mut extent = cloth::Extent::default();
            let shape = cloth::shape(sampler, size, spacing, &mut extent);
            let fabric = fabric(sampler, spacing, &mut extent);
            let pose = Pose { position: [0.0, 0.0, above + spacing], ..Pose::default() };
            scene.cloths.push(sheet("sheet".to_owned(), shape, fabric, pose));
            [extent.particles, extent.wave, size]
        }
        4 => {
            let mut extent = ropes::Extent::default();
            let pose = Pose { position: [0.0, 0.0, above + spacing], ..Pose::default() };
            let mut rope = rope(sampler, "rope".to_owned(), (size, spacing), pose, &mut extent);
            rope.mass_damping = 0.0;
            extent.shorten_step(scene, speed);
            scene.ropes.push(rope);
            [extent.vertices, extent.wave, size]
        }
        _ => {
            let volume = size.powi(3) * sampler.log_within(0.1, 8.0);
            let mut solid = dynamic(volume * sampler.log_within(100.0, 8000.0));
            let (shape, reach) = sampler.solid(volume);
            solid.pose = Pose { position: [0.0, 0.0, above + reach], orientation: sampler.turn() };
            scene.bodies.push(body("solid", solid, shape, sampler.within(0.0, 1.0)));
            [1.0, 1.0, 2.0 * reach]
        }
    }
}

fn draw(sampler: &mut SceneSampler) -> Trial {
    let size = sampler.log_within(5e-3, 0.5);
    let mut scene = Scene::empty("tools", 1.0, sampler.log_within(2e-4, 1e-2));
    let spacing = size / sampler.within(1.5, 5.0);
    scene.grid_spacing = Some(spacing);
    let speed = sampler.log_within(1e-3_f64.max(0.1 * size), 20.0);
    let ground = ground(sampler, size);
    scene.bodies.push(ground);
    let [mut particles, wave, height] = medium(sampler, &mut scene, size, spacing, speed);
    particles = particles.max(300.0);
    scene.duration = (6.0 * size / speed).clamp(10.0 * scene.dt, 200.0 * scene.dt);
    bound_work(&mut scene, particles, wave, speed, 2.0 * WORK);
    for number in 0..sampler.count(1, 2) {
        let (geometries, reach) = blades(sampler, size);
        // Beside what lies there, and a part of its height above the highest ground.
        let turn = sampler.within(0.0, std::f64::consts::TAU);
        let away = reach + 1.8 * size + 3.0 * spacing * f64::from(number);
        let above = reach + height * sampler.within(0.3, 0.9);
        let start =
            Pose { position: [away * turn.cos(), away * turn.sin(), above], orientation: sampler.turn() };
        let motion = path(sampler, &scene, start, speed, size);
        scene.bodies.push(BodySpec { name: format!("tool-{number}"), motion, geometries });
    }
    settings(sampler, &mut scene);
    if sampler.chance(0.2) {
        scene.contact.particle_radius = AutoOr::Value(spacing * sampler.within(0.0, 0.5));
    }
    let mut laws = vec![at_rest(), Law::Penetration, Law::Weight, Law::Layers];
    laws.extend(symmetries(sampler));
    Trial { scene, laws }
}
