//! The scene `shake`: a heavy cube between two light soft ones, held by friction alone, lifted and
//! shaken.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use pliant_bench::grip::{Grip, Slip};
use pliant_scenes::builtin;
use pliant_scenes::format::{Assignment, Motion, PoseKeyframe, Scene, apply};
use pliant_scenes::scenario::Scenario;

/// Simulated time until the grip is closed, and until the end \[s\].
struct Times {
    closed: f64,
    end: f64,
}

/// The built-in scene in a shorter time: the panels begin at the soft cubes, close in 60 ms, lift
/// by 2 cm in 100 ms, and shake for as many quarters of a period as told.
fn short(changes: &[&str], quarters: usize) -> (Scene, Times) {
    let changes: Vec<_> = changes.iter().map(|c| Assignment::parse(c).unwrap()).collect();
    let mut scene = apply(&builtin::scene("shake").unwrap().unwrap(), &changes).unwrap();
    let times = Times { closed: 0.06, end: 0.18 + 0.08 * quarters as f64 };
    for body in &mut scene.bodies {
        let Motion::PrescribedPoses { keyframes } = &mut body.motion else { continue };
        let [shut, _, low] = keyframes[1].position;
        // Half of a panel's thickness beyond the outer faces of the cubes.
        let touching = shut.signum() * 0.155;
        let mut way = vec![
            (0.0, [touching, 0.0, low]),
            (times.closed, [shut, 0.0, low]),
            (times.closed + 0.1, [shut, 0.0, low + 0.02]),
            (0.18, [shut, 0.0, low + 0.02]),
        ];
        for quarter in 1..=quarters {
            let shaken = [0.0, 0.018, 0.0, -0.018][quarter % 4];
            way.push((0.18 + 0.08 * quarter as f64, [shut + shaken, 0.0, low + 0.02]));
        }
        let orientation = [1.0, 0.0, 0.0, 0.0];
        *keyframes =
            way.into_iter().map(|(time, position)| PoseKeyframe { time, position, orientation }).collect();
    }
    (scene, times)
}

/// What the cube did.
#[derive(Debug)]
struct Held {
    /// The most slip since the grip closed.
    most: Slip,
    /// How far the cube was below the panels at most \[m\].
    sag: f64,
}

fn shake(scene: &Scene, times: &Times) -> Held {
    let mut scenario = Scenario::new(scene).unwrap();
    let world = &mut scenario.world;
    let mut grip = Grip::new(world, ["left panel", "right panel"], "cube").unwrap().unwrap();
    let (panel, cube) = (world.bodies().find("left panel").unwrap(), world.bodies().find("cube").unwrap());
    while world.time() < times.closed - 1e-9 {
        world.step().unwrap();
    }
    grip.close(world).unwrap();
    let mut held = Held { most: Slip::default(), sag: 0.0 };
    while world.time() < times.end - 1e-9 {
        world.step().unwrap();
        let slip = grip.slip(world).unwrap();
        if slip.held > held.most.held {
            held.most = slip;
        }
        let height = |body| world.bodies().pose(body).translation.vector.z;
        held.sag = held.sag.max(height(panel) - height(cube));
    }
    held
}

// 250 particles, a quarter of a period of shaking, at the step of the scene coupled weakly, and
// strongly at ten times that. Checks: what friction holds does not slip; a cube of 15 kg between
// soft cubes of 0.1 kg creeps by less than a millimetre, and the panels carry its whole weight: the
// sag of two blocks in shear, at least m g L/(2 G A), is many times that.
#[test]
fn a_heavy_cube_is_held_between_light_soft_ones() {
    let coarse = [
        "grid_spacing=0.025",
        "soft[0].sampling.counts=[5,5,5]",
        "soft[1].sampling.counts=[5,5,5]",
        "substeps=\"auto\"",
    ];
    for coupling in [["coupling=\"weak\"", "dt=1e-4"], ["coupling=\"strong\"", "dt=1e-3"]] {
        let (scene, times) = short(&[&coarse[..], &coupling].concat(), 1);
        let held = shake(&scene, &times);
        println!("{coupling:?}: {held:?}");
        assert!(held.most.held < 1e-3, "{coupling:?}: {held:?}");
        let shear = 5e5 / 2.8 * 0.01;
        assert!(held.sag > 15.0 * 9.81 * 0.085 / (2.0 * shear), "{coupling:?}: {held:?}");
    }
}
