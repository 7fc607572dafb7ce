//! Collisions and friction in moving frames.

use nalgebra::Vector3;

use super::family::{Family, WORK, at_rest, bound_work};
use crate::Trial;
use crate::builders::{body, dynamic, floor, soft};
use crate::laws::Law;
use crate::sampler::{SceneSampler, wave_speed};
use crate::transform::Transformation;
use pliant_scenes::format::{Pose, Scene, SoftShape};

/// A collision without gravity, or a slide on a floor, at rest and with up to 50 m/s added to
/// everything.
pub const FAMILY: Family = Family {
    name: "boosts",
    about: "a soft body meets a rigid one, or slides on a floor: the same with 0 to 50 m/s added to everything",
    long: false,
    draw,
};

fn draw(sampler: &mut SceneSampler) -> Trial {
    let mut scene = Scene::empty("boost", 0.3, sampler.pick(&[1e-3, 2e-3, 5e-3]));
    let size = sampler.log_within(0.005, 0.1);
    let spacing = size / sampler.within(2.5, 5.0);
    scene.grid_spacing = Some(spacing);
    let stiffness = sampler.log_within(1e4, 1e6);
    let material = sampler.elastic(stiffness);
    let density = material.particle_material().density;
    let wave = wave_speed(&material);
    let speed = sampler.log_within(0.1, 0.2 * wave);
    let frame = sampler.within(0.0, 50.0);
    let mut laws = vec![at_rest()];
    if sampler.chance(0.5) {
        collision(sampler, &mut scene, size, speed, density, material);
        laws.extend([
            Law::Momentum,
            Law::Same { change: Transformation::Boosted { velocity: sampler.vector(frame) } },
        ]);
    } else {
        let half_extents = [size, size * sampler.within(0.5, 1.0), size * sampler.within(0.4, 0.8)];
        scene.bodies.push(floor(sampler.within(0.02, 0.5)));
        let mut block = soft("block", SoftShape::Box { half_extents }, [0.0, 0.0, half_extents[2]], material);
        block.velocity = [speed, 0.0, 0.0];
        scene.soft.push(block);
        let way = sampler.direction();
        let along = Vector3::new(way.x, way.y, 0.0).normalize() * frame;
        laws.push(Law::Same { change: Transformation::Boosted { velocity: along.into() } });
    }
    bound_work(&mut scene, (4.0 * size / spacing).powi(3), wave, frame, WORK);
    Trial { scene, laws }
}

/// A soft sphere or block and a rigid body that move towards each other, both rotating.
fn collision(
    sampler: &mut SceneSampler,
    scene: &mut Scene,
    size: f64,
    speed: f64,
    density: f64,
    material: pliant_scenes::format::Material,
) {
    scene.gravity = [0.0; 3];
    let mass = density * size.powi(3) * sampler.log_within(0.1, 30.0);
    let volume = size.powi(3) * sampler.within(2.0, 8.0);
    let (shape, reach) = sampler.solid(volume);
    let way = sampler.direction();
    let shape_of_soft = if sampler.chance(0.5) {
        SoftShape::Sphere { radius: size }
    } else {
        SoftShape::Box { half_extents: [size, 0.7 * size, 0.8 * size] }
    };
    let mut blob = soft("blob", shape_of_soft, [0.0; 3], material);
    blob.velocity = (way * speed).into();
    blob.angular_velocity = sampler.vector(0.2 * speed / size);
    let mut hit = dynamic(mass);
    // Boxes reach sqrt(3) of their half extents.
    let apart = reach + 1.5 * size + 0.01 * speed;
    let aside = sampler.direction().cross(&way) * (0.3 * size);
    hit.pose = Pose { position: (way * apart + aside).into(), orientation: sampler.turn() };
    hit.velocity = (way * (-0.5 * speed)).into();
    hit.angular_velocity = sampler.vector(0.2 * speed / size);
    scene.soft.push(blob);
    scene.bodies.push(body("box", hit, shape, sampler.within(0.1, 1.0)));
    scene.duration = (2.0 * apart / speed).clamp(0.02, 0.5);
}
