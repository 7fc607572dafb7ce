//! Rigid bodies of several shapes, with all that a surface may have, on even and uneven floors.

use std::f64::consts::TAU;

use super::family::{Family, at_rest, rigid_settings, symmetries};
use crate::Trial;
use crate::builders::{body, dynamic, floor};
use crate::laws::Law;
use crate::sampler::SceneSampler;
use nalgebra::Vector3;
use pliant_scenes::format::{Geometry, ImpedanceCurve, Pose, RigidShape, RigidSolver, Scene};

/// They fall, bounce, roll and come to rest; or collide in free space.
pub const FAMILY: Family = Family {
    name: "surfaces",
    about: "one to four rigid bodies of up to three shapes, with restitution, static, torsional and rolling \
            friction, stiffness and dissipation of their own, fall onto a floor or hills, or collide in free \
            space, every solver and integrator",
    long: false,
    draw,
};

/// Draws what a surface of a body of this size \[m\] may have beside its friction.
fn surface(sampler: &mut SceneSampler, solver: RigidSolver, size: f64, geometry: &mut Geometry) {
    geometry.friction = if sampler.chance(0.1) { 0.0 } else { sampler.within(0.0, 1.2) };
    if sampler.chance(0.3) {
        geometry.static_friction = Some(geometry.friction * sampler.within(1.0, 3.0));
    }
    if sampler.chance(0.3) {
        geometry.stiffness = Some(sampler.log_within(1e3, 1e8));
    }
    if sampler.chance(0.3) {
        geometry.dissipation = Some(sampler.log_within(1e-2, 1e3));
    }
    if sampler.chance(0.5) {
        geometry.restitution = Some(sampler.within(0.0, 1.0));
    }
    if solver == RigidSolver::Comfree {
        let mut length = || if sampler.chance(0.5) { size * sampler.log_within(1e-3, 0.3) } else { 0.0 };
        (geometry.torsional_friction, geometry.rolling_friction) = (length(), length());
        if sampler.chance(0.3) {
            let minimum = sampler.within(0.1, 0.9);
            geometry.impedance = ImpedanceCurve {
                minimum,
                maximum: sampler.within(minimum, 0.99),
                width: size * sampler.log_within(1e-4, 0.1),
                midpoint: sampler.within(0.1, 0.9),
                power: sampler.within(1.0, 5.0),
            };
        }
    }
}

/// Ground in waves: their amplitude is up to 0.3 of this size \[m\], their length two to ten times as much.
pub(super) fn hills(sampler: &mut SceneSampler, size: f64) -> RigidShape {
    let spacing = size * sampler.log_within(0.2, 2.0);
    let (height, length) = (size * sampler.within(0.0, 0.3), size * sampler.within(2.0, 10.0));
    let (along, phase) = (sampler.within(0.0, TAU), sampler.within(0.0, TAU));
    let parts = (16.0 * size / spacing).ceil().max(4.0) as usize;
    let at = |k: usize| (k as f64 - 0.5 * (parts - 1) as f64) * spacing;
    let wave = |x: f64, y: f64| (TAU * (x * along.cos() + y * along.sin()) / length + phase).sin();
    let heights = (0..parts)
        .map(|row| (0..parts).map(|column| height * (wave(at(column), at(row)) - 1.0)).collect())
        .collect();
    RigidShape::HeightField { heights, spacing: [spacing; 2], depth: 4.0 * size }
}

fn draw(sampler: &mut SceneSampler) -> Trial {
    let size = sampler.log_within(5e-3, 1.0);
    let mut scene = Scene::empty("surfaces", 1.0, sampler.log_within(2e-4, 1e-2));
    rigid_settings(sampler, &mut scene);
    if sampler.chance(0.3) {
        scene.rigid.restitution = Some(sampler.within(0.0, 1.0));
    }
    let solver = scene.rigid_solver;
    let falls = sampler.chance(0.7);
    let speed = if falls && sampler.chance(0.3) { 0.0 } else { sampler.log_within(0.01, 20.0) };
    if falls {
        let mut ground = floor(0.0);
        if sampler.chance(0.4) {
            ground.geometries[0].shape = hills(sampler, size);
        }
        surface(sampler, solver, size, &mut ground.geometries[0]);
        scene.bodies.push(ground);
    } else {
        scene.gravity = [0.0; 3];
    }
    let count = if falls { sampler.count(1, 4) } else { sampler.count(2, 4) };
    let mut height = 1e-3 * size;
    for number in 0..count {
        let volume = size.powi(3) * sampler.log_within(0.3, 8.0);
        let (shape, mut reach) = sampler.solid(volume);
        let mut solid = dynamic(volume * sampler.log_within(100.0, 8000.0));
        let mut geometries = vec![Geometry::new(shape)];
        for _ in 0..sampler.count(0, 2) {
            let part = volume * sampler.log_within(0.1, 1.0);
            let (shape, own) = sampler.solid(part);
            let away = sampler.within(0.2, 1.5) * reach;
            let pose = Pose { position: sampler.vector(away), orientation: sampler.turn() };
            geometries.push(Geometry { pose, ..Geometry::new(shape) });
            reach = reach.max(away + own);
        }
        geometries.iter_mut().for_each(|geometry| surface(sampler, solver, size, geometry));
        height += reach * sampler.within(1.001, 1.3);
        let aside = 0.5 * size;
        solid.pose = Pose {
            position: [sampler.within(-aside, aside), sampler.within(-aside, aside), height],
            orientation: sampler.turn(),
        };
        height += reach;
        let toward = if falls { -1.0 } else { 1.0 - 2.0 * f64::from(number) / f64::from(count - 1) };
        let sideways =
            if sampler.chance(0.5) { Vector3::from(sampler.vector(0.5 * speed)) } else { Vector3::zeros() };
        solid.velocity = (sideways + Vector3::z() * (toward * speed)).into();
        solid.angular_velocity = sampler.vector(0.5 * speed / size);
        let mut drawn = body(&format!("body-{number}"), solid, RigidShape::HalfSpace {}, 0.0);
        drawn.geometries = geometries;
        scene.bodies.push(drawn);
    }
    scene.duration = if falls {
        (300.0 * scene.dt).min(1.5)
    } else {
        (10.0 * size / speed).clamp(10.0 * scene.dt, 300.0 * scene.dt)
    };
    let mut laws = vec![at_rest(), Law::Penetration];
    laws.push(if falls { Law::Weight } else { Law::Momentum });
    laws.extend(symmetries(sampler));
    Trial { scene, laws }
}
