//! Soft bodies and rigid ones in free space, and soft bodies placed on floors.

use super::family::{Family, WORK, at_rest, bound_work, settings, symmetries};
use crate::Trial;
use crate::builders::{body, dynamic, floor, soft};
use crate::laws::Law;
use crate::sampler::{SceneSampler, wave_speed};
use pliant_scenes::format::{Material, Pose, Scene, SoftShape};

/// Collisions of free bodies of all kinds.
pub const FREE: Family = Family {
    name: "free",
    about: "soft and rigid bodies of 1 mm to 1 m collide in free space at up to 50 m/s",
    long: false,
    draw: draw_free,
};

/// Placed on a floor, they do not move.
pub const REST: Family = Family {
    name: "rest",
    about: "soft boxes, spheres and cylinders placed on a floor beside rigid bodies: floor force \
            equals weight, no rebound",
    long: false,
    draw: draw_rest,
};

pub(super) fn material(sampler: &mut SceneSampler, least: f64, most: f64) -> Material {
    let stiffness = sampler.log_within(least, most);
    match sampler.count(0, 4) {
        0..=2 => sampler.elastic(stiffness),
        3 => sampler.dough(stiffness),
        _ => sampler.sand(stiffness),
    }
}

/// A shape of about this size \[m\], and the radius of its bounding sphere.
pub(super) fn shape(sampler: &mut SceneSampler, size: f64) -> (SoftShape, f64) {
    match sampler.count(0, 2) {
        0 => {
            let half_extents = [size, size * sampler.within(0.6, 1.0), size * sampler.within(0.6, 1.0)];
            (SoftShape::Box { half_extents }, half_extents.iter().map(|x| x * x).sum::<f64>().sqrt())
        }
        1 => (SoftShape::Sphere { radius: size }, size),
        _ => {
            let half_length = size * sampler.within(0.6, 1.0);
            (SoftShape::Cylinder { radius: size, half_length }, size.hypot(half_length))
        }
    }
}

fn draw_free(sampler: &mut SceneSampler) -> Trial {
    let size = sampler.log_within(1e-3, 1.0);
    let speed = sampler.log_within(0.01, 50.0);
    let mut scene = Scene::empty("free", 1.0, sampler.log_within(2e-4, 1e-2));
    scene.gravity = [0.0; 3];
    let spacing = size / sampler.within(1.5, 4.0);
    scene.grid_spacing = Some(spacing);
    settings(sampler, &mut scene);
    let mut along = 0.0;
    let (count, mut particles, mut wave) = (sampler.count(2, 4), 0.0, 0.0f64);
    for number in 0..count {
        // From both ends towards the middle, slightly offset from each other.
        let toward = 1.0 - 2.0 * f64::from(number) / f64::from(count - 1);
        let aside = 0.4 * size;
        let place = |reach: f64, sampler: &mut SceneSampler, along: f64| {
            [along + reach, sampler.within(-aside, aside), sampler.within(-aside, aside)]
        };
        let velocity = [toward * speed, 0.05 * speed * sampler.within(-1.0, 1.0), 0.0];
        let spin = sampler.vector(0.3 * speed / size);
        if number == 0 || sampler.chance(0.5) {
            let material = material(sampler, 1e4, 1e7);
            wave = wave.max(wave_speed(&material));
            let (shape, reach) = shape(sampler, size);
            let mut soft = soft(&format!("soft-{number}"), shape, place(reach, sampler, along), material);
            soft.pose.orientation = if sampler.chance(0.5) { sampler.turn() } else { soft.pose.orientation };
            (soft.velocity, soft.angular_velocity) = (velocity, spin);
            scene.soft.push(soft);
            particles += 4.0 * (4.0 * size / spacing).powi(3) / 8.0;
            along += 2.0 * reach;
        } else {
            let volume = size.powi(3) * sampler.log_within(0.5, 8.0);
            let mut solid = dynamic(volume * sampler.log_within(100.0, 8000.0));
            let (shape, reach) = sampler.solid(volume);
            solid.pose = Pose { position: place(reach, sampler, along), orientation: sampler.turn() };
            (solid.velocity, solid.angular_velocity) = (velocity, spin);
            scene.bodies.push(body(&format!("body-{number}"), solid, shape, sampler.within(0.0, 1.0)));
            along += 2.0 * reach;
        }
        along += spacing * sampler.within(1.0, 3.0);
    }
    scene.duration = (3.0 * size / speed).clamp(4.0 * scene.dt, 100.0 * scene.dt);
    bound_work(&mut scene, particles, wave, speed, WORK);
    let mut laws = vec![at_rest(), Law::Momentum, Law::Penetration];
    laws.extend(symmetries(sampler));
    Trial { scene, laws }
}

fn draw_rest(sampler: &mut SceneSampler) -> Trial {
    let size = sampler.log_within(5e-3, 0.5);
    let mut scene = Scene::empty("rest", 0.5, sampler.log_within(5e-4, 1e-2));
    let spacing = size / sampler.within(1.5, 4.0);
    scene.grid_spacing = Some(spacing);
    scene.bodies.push(floor(sampler.within(0.1, 1.0)));
    let (mut particles, mut wave) = (0.0, 0.0f64);
    let mut along = 0.0;
    for number in 0..sampler.count(1, 2) {
        // The weight presses it by a hundredth at most.
        let material = material(sampler, 100.0 * 2500.0 * 9.81 * 2.0 * size, 3e6_f64.max(3e7 * size));
        wave = wave.max(wave_speed(&material));
        let (shape, reach) = shape(sampler, size);
        let low = match &shape {
            SoftShape::Box { half_extents } => half_extents[2],
            SoftShape::Cylinder { half_length, .. } => *half_length,
            _ => size,
        };
        along += reach;
        scene.soft.push(soft(&format!("soft-{number}"), shape, [along, 0.0, low], material));
        particles += (4.0 * size / spacing).powi(3);
        along += reach + 2.0 * spacing;
    }
    if sampler.chance(0.5) {
        let half = size * sampler.within(0.3, 1.0);
        let mut solid = dynamic(half.powi(3) * 8.0 * sampler.log_within(300.0, 8000.0));
        solid.pose.position = [-half - 0.5 * size, 0.0, half];
        let shape = pliant_scenes::format::RigidShape::Box { half_extents: [half; 3] };
        scene.bodies.push(body("box", solid, shape, 0.5));
    }
    bound_work(&mut scene, particles, wave, 0.0, WORK);
    let mut laws = vec![at_rest(), Law::Penetration, Law::Weight];
    laws.extend(symmetries(sampler));
    Trial { scene, laws }
}
