//! An elastic block slides on a static floor, or is at rest on one that moves: Coulomb's
//! deceleration mu g.

use super::family::{Family, WORK, at_rest, bound_work};
use crate::Trial;
use crate::builders::{body, dynamic, floor, moving, soft};
use crate::laws::Law;
use crate::sampler::{SceneSampler, wave_speed};
use pliant_scenes::format::{Pose, Scene, SoftShape};

/// Friction 0.02 to 0.6, 0.5 to 20 m/s.
pub const FAMILY: Family = Family {
    name: "friction",
    about: "an elastic or rigid block slides at 0.5 to 20 m/s on a fixed or a moving floor, friction 0.02 to 0.6: mu g",
    long: false,
    draw,
};

fn draw(sampler: &mut SceneSampler) -> Trial {
    let dt = sampler.pick(&[1e-3, 2e-3, 5e-3]);
    let mut scene = Scene::empty("slide", 0.2, dt);
    let (friction, speed) = (sampler.log_within(0.02, 0.6), sampler.log_within(0.5, 20.0));
    // It slides all the time.
    scene.duration = (0.8 * speed / (friction * 9.81)).clamp(10.0 * dt, 0.2);
    let mut ground = floor(friction);
    let moves = sampler.chance(0.5);
    let velocity = if moves { [0.0; 3] } else { [speed, 0.0, 0.0] };
    let mut laws = vec![Law::Friction];
    if moves {
        ground.motion = moving(Pose::default(), [-speed, 0.0, 0.0].into());
    } else {
        laws.push(at_rest());
    }
    scene.bodies.push(ground);
    let size = sampler.log_within(0.01, 0.1);
    // Flat, so that friction does not tip it over.
    let half_extents = [size, 0.8 * size, 0.4 * size];
    if sampler.chance(0.25) {
        let mut block = dynamic(sampler.log_within(0.01, 20.0));
        block.pose.position = [0.0, 0.0, half_extents[2]];
        block.velocity = velocity;
        scene.bodies.push(body(
            "block",
            block,
            pliant_scenes::format::RigidShape::Box { half_extents },
            friction,
        ));
    } else {
        let spacing = size / sampler.within(3.0, 5.0);
        scene.grid_spacing = Some(spacing);
        // Stiff enough to bear its weight.
        let stiffness = sampler.log_within(1e5, 2e6);
        let material = sampler.elastic(stiffness);
        let wave = wave_speed(&material);
        let mut block = soft("block", SoftShape::Box { half_extents }, [0.0, 0.0, half_extents[2]], material);
        block.velocity = velocity;
        scene.soft.push(block);
        bound_work(&mut scene, 0.3 * (4.0 * size / spacing).powi(3), wave, speed, WORK);
    }
    Trial { scene, laws }
}
