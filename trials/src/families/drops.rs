//! Rigid bodies fall onto layers of soft material or cloth on a floor.

use super::family::{Family, WORK, at_rest, bound_work};
use crate::Trial;
use crate::dice::{Dice, wave_speed};
use crate::laws::Law;
use crate::parts::{body, dynamic, floor, soft};
use pliant_scenes::format::{AutoOr, Cloth, ClothShape, Fabric, Pose, Scene, SoftShape};

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

/// How much of a drop is computed.
struct Extent {
    /// Particles along an edge of a layer, at most.
    across: f64,
    /// Simulated time (s).
    duration: f64,
    /// Particles times substeps, at most.
    work: f64,
}

fn draw(dice: &mut Dice) -> Trial {
    drop(dice, &Extent { across: 20.0, duration: 0.5, work: WORK })
}

fn draw_settling(dice: &mut Dice) -> Trial {
    drop(dice, &Extent { across: 8.0, duration: 3.0, work: 10.0 * WORK })
}

fn drop(dice: &mut Dice, extent: &Extent) -> Trial {
    let dt = dice.pick(&[1e-3, 2e-3, 5e-3, 1e-2, 2e-2]);
    let mut scene = Scene::empty("drop", extent.duration, dt);
    scene.bodies.push(floor(dice.within(0.1, 1.0)));
    let speed = dice.within(0.0, 10.0);
    let thickness = dice.log_within(0.005, 0.1);
    let top = layer(dice, &mut scene, thickness, extent);
    let mut height = top;
    for number in 0..dice.count(1, 3) {
        let mass = dice.log_within(0.01, 20.0);
        let volume = mass / dice.log_within(300.0, 8000.0);
        let (shape, reach) = dice.solid(volume);
        height += reach * 1.001 + 1e-4;
        let mut falling = dynamic(mass);
        let aside = 0.3 * reach;
        falling.pose = Pose {
            position: [dice.within(-aside, aside), dice.within(-aside, aside), height],
            orientation: dice.turn(),
        };
        falling.velocity = [0.0, 0.0, -speed];
        height += reach;
        scene.bodies.push(body(&format!("body-{number}"), falling, shape, dice.within(0.1, 1.0)));
    }
    Trial { scene, laws: vec![at_rest(), Law::Inside, Law::Weight] }
}

/// Adds a layer of this thickness (m) on the floor; its upper face [m].
fn layer(dice: &mut Dice, scene: &mut Scene, thickness: f64, extent: &Extent) -> f64 {
    let kind = dice.count(0, 3);
    if kind == 3 {
        return sheet(dice, scene, extent);
    }
    let material = match kind {
        0 => {
            let stiffness = dice.log_within(1e4, 1e6);
            dice.elastic(stiffness)
        }
        1 => {
            let stiffness = dice.log_within(1e4, 3e5);
            dice.dough(stiffness)
        }
        _ => {
            let stiffness = dice.log_within(1e5, 1e6);
            dice.sand(stiffness)
        }
    };
    let cells = f64::from(dice.count(1, 3));
    let spacing = thickness / cells;
    scene.grid_spacing = Some(spacing);
    let half = 0.25 * spacing * dice.within(8.0, extent.across);
    let shape = SoftShape::Box { half_extents: [half, half, 0.5 * thickness] };
    let across = (4.0 * half / spacing).round();
    let wave = wave_speed(&material);
    scene.soft.push(soft("layer", shape, [0.0, 0.0, 0.5 * thickness], material));
    bound_work(scene, across * across * 2.0 * cells, wave, 5.0, extent.work);
    thickness
}

/// Adds a sheet that lies just above the floor; its upper face [m].
fn sheet(dice: &mut Dice, scene: &mut Scene, extent: &Extent) -> f64 {
    let spacing = dice.log_within(0.005, 0.02);
    scene.grid_spacing = Some(spacing);
    let parts = dice.count(6, 16);
    let size = f64::from(parts) * spacing * 1.2;
    let thickness = dice.within(0.1, 0.5) * spacing;
    let stiffness = dice.log_within(1e4, 1e6);
    let density = dice.within(300.0, 1500.0);
    scene.cloths.push(Cloth {
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
            damping: dice.within(0.2, 1.0),
        },
        pins: Vec::new(),
        color: [226, 232, 238],
        back_color: None,
    });
    let particles = 3.0 * f64::from(parts * parts);
    bound_work(scene, particles, (stiffness / density).sqrt(), 5.0, extent.work);
    thickness
}
