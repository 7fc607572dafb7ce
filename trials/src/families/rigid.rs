//! Rigid bodies alone: in free space, and on floors.

use super::family::{Family, at_rest, rigid_settings, symmetries};
use crate::Trial;
use crate::builders::{body, dynamic, floor};
use crate::laws::Law;
use crate::sampler::SceneSampler;
use pliant_scenes::format::{Pose, Scene};

/// Collisions of free bodies.
pub const FREE: Family = Family {
    name: "rigid-free",
    about: "two to five rigid bodies of 1 mm to 1 m collide in free space at up to 50 m/s, every solver and integrator",
    long: false,
    draw: draw_free,
};

/// They fall, bounce, slide, roll and come to rest.
pub const FLOOR: Family = Family {
    name: "rigid-floor",
    about: "one to five rigid bodies of 1 mm to 1 m fall onto a floor, every solver and integrator",
    long: false,
    draw: draw_floor,
};

fn bodies(sampler: &mut SceneSampler, scene: &mut Scene, size: f64, count: u32, speed: f64, least: f64) {
    let mut height = least;
    for number in 0..count {
        let volume = size.powi(3) * sampler.log_within(0.3, 8.0);
        let (shape, reach) = sampler.solid(volume);
        let mut solid = dynamic(volume * sampler.log_within(100.0, 8000.0));
        height += reach * sampler.within(1.001, 1.3);
        let aside = 0.5 * reach;
        solid.pose = Pose {
            position: [sampler.within(-aside, aside), sampler.within(-aside, aside), height],
            orientation: sampler.turn(),
        };
        height += reach;
        let toward = if count > 1 { 1.0 - 2.0 * f64::from(number) / f64::from(count - 1) } else { -1.0 };
        solid.velocity = [0.0, 0.0, if least > 0.0 { -speed } else { toward * speed }];
        solid.angular_velocity = sampler.vector(0.5 * speed / size);
        scene.bodies.push(body(&format!("body-{number}"), solid, shape, sampler.within(0.0, 1.0)));
    }
}

fn draw_free(sampler: &mut SceneSampler) -> Trial {
    let size = sampler.log_within(1e-3, 1.0);
    let speed = sampler.log_within(0.01, 50.0);
    let mut scene = Scene::empty("rigid-free", 1.0, sampler.log_within(1e-4, 1e-2));
    scene.gravity = [0.0; 3];
    rigid_settings(sampler, &mut scene);
    let count = sampler.count(2, 5);
    bodies(sampler, &mut scene, size, count, speed, 0.0);
    scene.duration = (10.0 * size / speed).clamp(10.0 * scene.dt, 300.0 * scene.dt);
    let mut laws = vec![at_rest(), Law::Momentum, Law::Penetration];
    laws.extend(symmetries(sampler));
    Trial { scene, laws }
}

fn draw_floor(sampler: &mut SceneSampler) -> Trial {
    let size = sampler.log_within(5e-3, 1.0);
    let speed = if sampler.chance(0.3) { 0.0 } else { sampler.log_within(0.01, 20.0) };
    let mut scene = Scene::empty("rigid-floor", 1.0, sampler.log_within(2e-4, 1e-2));
    rigid_settings(sampler, &mut scene);
    scene.bodies.push(floor(sampler.within(0.0, 1.0)));
    let count = sampler.count(1, 5);
    bodies(sampler, &mut scene, size, count, speed, 1e-3 * size);
    scene.duration = (300.0 * scene.dt).min(1.5);
    let mut laws = vec![at_rest(), Law::Penetration, Law::Weight];
    laws.extend(symmetries(sampler));
    Trial { scene, laws }
}
