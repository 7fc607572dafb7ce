//! Soft bodies, sheets, ropes and rigid bodies that collide with each other.

use super::cloth::{self, fabric, sheet};
use super::family::{Family, WORK, at_rest, bound_work, settings, symmetries};
use super::ropes::{self, rope};
use super::soft::{material, shape};
use crate::Trial;
use crate::builders::{body, dynamic, soft};
use crate::laws::Law;
use crate::sampler::{SceneSampler, wave_speed};
use pliant_scenes::format::{Pose, Scene};

/// Things of all kinds.
pub const FAMILY: Family = Family {
    name: "mixed",
    about: "a soft body, a sheet, a rope and a rigid body, any two to four of them, collide in free space at \
            up to 20 m/s",
    long: false,
    draw,
};

/// The kinds in a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Soft,
    Sheet,
    Rope,
    Rigid,
}

fn draw(sampler: &mut SceneSampler) -> Trial {
    let radius = sampler.log_within(0.01, 1.0);
    let speed = sampler.log_within(0.01, 20.0);
    let mut scene = Scene::empty("mixed", 1.0, sampler.log_within(2e-4, 1e-2));
    scene.gravity = [0.0; 3];
    let spacing = radius / sampler.log_within(2.0, 10.0);
    scene.grid_spacing = Some(spacing);
    let mut kinds = [Kind::Soft, Kind::Sheet, Kind::Rope, Kind::Rigid].to_vec();
    // Some of them, in any order along x.
    while kinds.len() > 2 && sampler.chance(0.3) {
        kinds.remove(sampler.count(0, kinds.len() as u32 - 1) as usize);
    }
    let first = sampler.count(0, kinds.len() as u32 - 1) as usize;
    kinds.rotate_left(first);
    let (mut particles, mut wave, mut along) = (0.0, 0.0f64, 0.0);
    let count = kinds.len();
    for (number, kind) in kinds.into_iter().enumerate() {
        let aside = 0.3 * radius;
        let toward = 1.0 - 2.0 * number as f64 / (count - 1) as f64;
        let velocity = [toward * speed, 0.05 * speed * sampler.within(-1.0, 1.0), 0.0];
        let place = |reach: f64, sampler: &mut SceneSampler| Pose {
            position: [along + reach, sampler.within(-aside, aside), sampler.within(-aside, aside)],
            orientation: sampler.turn(),
        };
        let mut reach = radius;
        match kind {
            Kind::Soft => {
                let material = material(sampler, 1e4, 1e7);
                wave = wave.max(wave_speed(&material));
                let (shape, bound) = shape(sampler, 0.5 * radius);
                reach = bound;
                let pose = place(reach, sampler);
                let mut soft = soft("soft", shape, pose.position, material);
                (soft.pose, soft.velocity) = (pose, velocity);
                particles += 4.0 * (2.0 * radius / spacing).powi(3) / 8.0;
                scene.soft.push(soft);
            }
            Kind::Sheet => {
                let pose = place(reach, sampler);
                let mut extent = cloth::Extent::default();
                let shape = cloth::shape(sampler, radius, spacing, &mut extent);
                let fabric = fabric(sampler, spacing, &mut extent);
                let mut sheet = sheet("sheet".to_owned(), shape, fabric, pose);
                sheet.velocity = velocity;
                (particles, wave) = (particles + extent.particles, wave.max(extent.wave));
                scene.cloths.push(sheet);
            }
            Kind::Rope => {
                let pose = place(reach, sampler);
                let mut extent = ropes::Extent::default();
                let mut rope = rope(sampler, "rope".to_owned(), (radius, spacing), pose, &mut extent);
                (rope.velocity, rope.mass_damping) = (velocity, 0.0);
                extent.shorten_step(&mut scene, speed);
                (particles, wave) = (particles + extent.vertices, wave.max(extent.wave));
                scene.ropes.push(rope);
            }
            Kind::Rigid => {
                let volume = radius.powi(3) * sampler.log_within(0.01, 1.0);
                let mut solid = dynamic(volume * sampler.log_within(100.0, 8000.0));
                let (shape, bound) = sampler.solid(volume);
                reach = bound;
                (solid.pose, solid.velocity) = (place(reach, sampler), velocity);
                scene.bodies.push(body("solid", solid, shape, sampler.within(0.0, 1.0)));
            }
        }
        along += 2.0 * reach + spacing * sampler.within(3.0, 4.0);
    }
    scene.duration = (4.0 * radius / speed).clamp(4.0 * scene.dt, 200.0 * scene.dt);
    bound_work(&mut scene, particles.max(300.0), wave, speed, WORK);
    settings(sampler, &mut scene);
    let mut laws = vec![at_rest(), Law::Momentum, Law::Layers, Law::Penetration];
    laws.extend(symmetries(sampler));
    Trial { scene, laws }
}
