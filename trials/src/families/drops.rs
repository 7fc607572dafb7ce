//! Rigid bodies fall onto layers of soft material or cloth on a floor.

use super::family::{Family, WORK, at_rest, bound_work};
use crate::Trial;
use crate::builders::{body, dynamic, floor, soft};
use crate::laws::Law;
use crate::sampler::{SceneSampler, wave_speed};
use pliant_scenes::format::{AutoOr, ClothShape, ClothSpec, Fabric, Pose, Scene, SoftShape};

/// Bodies of 0.01 to 20 kg at 0 to 10 m/s onto layers of 5 to 100 mm, at steps of 1 to 20 ms.
pub const FAMILY: Family = Family {
    name: "drops",
    about: "rigid bodies of 0.01 to 20 kg fall at 0 to 10 m/s onto 5 to 100 mm of elastic, dough, sand or cloth; dt 1 to 20 ms",
    long: false,
    draw,
};

/// The same until they lie.
pub const SETTLING: Family = Family {
    name: "settling",
    about: "drops that are watched for up to 3 s, until bodies lie and floors carry their weight (some seconds of work each)",
    long: true,
    draw: draw_settling,
};

/// Size and duration of a drop.
struct DropSize {
    /// Particles along an edge of a layer, at most.
    across: f64,
    /// Simulated time \[s\].
    duration: f64,
    /// Particles times substeps, at most.
    work: f64,
}

fn draw(sampler: &mut SceneSampler) -> Trial {
    drop(sampler, &DropSize { across: 20.0, duration: 0.5, work: WORK })
}

fn draw_settling(sampler: &mut SceneSampler) -> Trial {
    drop(sampler, &DropSize { across: 8.0, duration: 3.0, work: 10.0 * WORK })
}

fn drop(sampler: &mut SceneSampler, extent: &DropSize) -> Trial {
    let dt = sampler.pick(&[1e-3, 2e-3, 5e-3, 1e-2, 2e-2]);
    let mut scene = Scene::empty("drop", extent.duration, dt);
    scene.bodies.push(floor(sampler.within(0.1, 1.0)));
    let speed = sampler.within(0.0, 10.0);
    let thickness = sampler.log_within(0.005, 0.1);
    let top = layer(sampler, &mut scene, thickness, extent);
    let mut height = top;
    for number in 0..sampler.count(1, 3) {
        let mass = sampler.log_within(0.01, 20.0);
        let volume = mass / sampler.log_within(300.0, 8000.0);
        let (shape, reach) = sampler.solid(volume);
        height += reach * 1.001 + 1e-4;
        let mut falling = dynamic(mass);
        let aside = 0.3 * reach;
        falling.pose = Pose {
            position: [sampler.within(-aside, aside), sampler.within(-aside, aside), height],
            orientation: sampler.turn(),
        };
        falling.velocity = [0.0, 0.0, -speed];
        height += reach;
        scene.bodies.push(body(&format!("body-{number}"), falling, shape, sampler.within(0.1, 1.0)));
    }
    Trial { scene, laws: vec![at_rest(), Law::Penetration, Law::Weight] }
}

/// Adds a layer of this thickness \[m\] on the floor; its upper face \[m\].
fn layer(sampler: &mut SceneSampler, scene: &mut Scene, thickness: f64, extent: &DropSize) -> f64 {
    let kind = sampler.count(0, 3);
    if kind == 3 {
        return sheet(sampler, scene, extent);
    }
    let material = match kind {
        0 => {
            let stiffness = sampler.log_within(1e4, 1e6);
            sampler.elastic(stiffness)
        }
        1 => {
            let stiffness = sampler.log_within(1e4, 3e5);
            sampler.dough(stiffness)
        }
        _ => {
            let stiffness = sampler.log_within(1e5, 1e6);
            sampler.sand(stiffness)
        }
    };
    let cells = f64::from(sampler.count(1, 3));
    let spacing = thickness / cells;
    scene.grid_spacing = Some(spacing);
    let half = 0.25 * spacing * sampler.within(8.0, extent.across);
    let shape = SoftShape::Box { half_extents: [half, half, 0.5 * thickness] };
    let across = (4.0 * half / spacing).round();
    let wave = wave_speed(&material);
    scene.soft.push(soft("layer", shape, [0.0, 0.0, 0.5 * thickness], material));
    bound_work(scene, across * across * 2.0 * cells, wave, 5.0, extent.work);
    thickness
}

/// Adds a sheet that lies just above the floor; its upper face \[m\].
fn sheet(sampler: &mut SceneSampler, scene: &mut Scene, extent: &DropSize) -> f64 {
    let spacing = sampler.log_within(0.005, 0.02);
    scene.grid_spacing = Some(spacing);
    let parts = sampler.count(6, 16);
    let size = f64::from(parts) * spacing * 1.2;
    let thickness = sampler.within(0.1, 0.5) * spacing;
    let stiffness = sampler.log_within(1e4, 1e6);
    let density = sampler.within(300.0, 1500.0);
    scene.cloths.push(ClothSpec {
        name: "sheet".to_owned(),
        shape: ClothShape::Rectangle { size: [size; 2], parts: [parts; 2] },
        pose: Pose { position: [0.0, 0.0, 0.5 * thickness], ..Pose::default() },
        velocity: [0.0; 3],
        material: Fabric {
            density,
            youngs_modulus: stiffness,
            poissons_ratio: 0.3,
            thickness: AutoOr::Value(thickness),
            normal_stiffness: stiffness,
            shear_stiffness: 0.0,
            friction: 0.0,
            bending_stiffness: 0.0,
            damping: sampler.within(0.2, 1.0),
            bending_friction: None,
            weave: None,
            tearing: None,
        },
        mass_damping: 0.0,
        gas: None,
        pins: Vec::new(),
        color: [226, 232, 238],
        back_color: None,
    });
    let particles = 3.0 * f64::from(parts * parts);
    bound_work(scene, particles, (stiffness / density).sqrt(), 5.0, extent.work);
    thickness
}
