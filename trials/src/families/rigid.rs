//! Rigid bodies alone: in free space, and on floors.

use super::family::{Family, at_rest, rigid_settings, symmetries};
use crate::Trial;
use crate::dice::Dice;
use crate::laws::Law;
use crate::parts::{body, dynamic, floor};
use pliant_scenes::format::{Pose, Scene};

/// Collisions where nothing is held.
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

fn bodies(dice: &mut Dice, scene: &mut Scene, size: f64, count: u32, speed: f64, least: f64) {
    let mut height = least;
    for number in 0..count {
        let volume = size.powi(3) * dice.log_within(0.3, 8.0);
        let (shape, reach) = dice.solid(volume);
        let mut solid = dynamic(volume * dice.log_within(100.0, 8000.0));
        height += reach * dice.within(1.001, 1.3);
        let aside = 0.5 * reach;
        solid.pose = Pose {
            position: [dice.within(-aside, aside), dice.within(-aside, aside), height],
            orientation: dice.turn(),
        };
        height += reach;
        let toward = if count > 1 { 1.0 - 2.0 * f64::from(number) / f64::from(count - 1) } else { -1.0 };
        solid.velocity = [0.0, 0.0, if least > 0.0 { -speed } else { toward * speed }];
        solid.angular_velocity = dice.vector(0.5 * speed / size);
        scene.bodies.push(body(&format!("body-{number}"), solid, shape, dice.within(0.0, 1.0)));
    }
}

fn draw_free(dice: &mut Dice) -> Trial {
    let size = dice.log_within(1e-3, 1.0);
    let speed = dice.log_within(0.01, 50.0);
    let mut scene = Scene::empty("rigid-free", 1.0, dice.log_within(1e-4, 1e-2));
    scene.gravity = [0.0; 3];
    rigid_settings(dice, &mut scene);
    let count = dice.count(2, 5);
    bodies(dice, &mut scene, size, count, speed, 0.0);
    scene.duration = (10.0 * size / speed).clamp(10.0 * scene.dt, 300.0 * scene.dt);
    let mut laws = vec![at_rest(), Law::Momentum, Law::Inside];
    laws.extend(symmetries(dice));
    Trial { scene, laws }
}

fn draw_floor(dice: &mut Dice) -> Trial {
    let size = dice.log_within(5e-3, 1.0);
    let speed = if dice.chance(0.3) { 0.0 } else { dice.log_within(0.01, 20.0) };
    let mut scene = Scene::empty("rigid-floor", 1.0, dice.log_within(2e-4, 1e-2));
    rigid_settings(dice, &mut scene);
    scene.bodies.push(floor(dice.within(0.0, 1.0)));
    let count = dice.count(1, 5);
    bodies(dice, &mut scene, size, count, speed, 1e-3 * size);
    scene.duration = (300.0 * scene.dt).min(1.5);
    let mut laws = vec![at_rest(), Law::Inside, Law::Weight];
    laws.extend(symmetries(dice));
    Trial { scene, laws }
}
