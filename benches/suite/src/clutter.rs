//! Clutter: spheres and boxes that fall in piles of five into a bin, with hard contact.
//!
//! Twenty bodies for 10 s, in the built-in scene's bin of 0.8 m, where they spread, and in one of
//! 0.4 m, where they pile up, at fixed steps and with error control; then 20, 100 and 500 bodies at
//! 1 ms in a bin that grows with them, for the exponent of cost against number of bodies.
//! Penetrations are the depths of the contacts in the last step before each sample.

use serde_json::json;

use super::part::{BenchError, BenchOptions, BenchPart, Measurement, in_pool};
use super::rigid::{STEPPINGS, Stepping, TimedRun, builtin_scene, dynamic};
use pliant_numeric::random::SplitMix64;
use pliant_scenes::format::{BodySpec, Motion, RigidShape, Scene};
use pliant_scenes::penetration::PenetrationStatistics;

/// The part.
pub const PART: BenchPart = BenchPart {
    name: "clutter",
    about: "spheres and boxes fall into a bin: wall time and penetration; 20 to 500 of them, exponent of cost",
    run,
};

/// Bodies in a pile.
const PILE: usize = 5;
/// Distance between piles \[m\].
const PITCH: f64 = 0.2;
/// Numbers of bodies, and how long they are simulated: the fall takes 0.4 s \[s\].
const COUNTS: [usize; 3] = [20, 100, 500];
const SPAN: f64 = 2.0;
/// Width of the random shift of the piles that the built-in scene does not have \[m\], and its
/// seed.
const SHIFT: f64 = 0.01;
const SEED: u64 = 5;

fn run(_: &BenchOptions, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let scene = builtin_scene(PART.name, "clutter-hard")?;
    let narrow = grown(&scene, 20);
    for (bin, scene) in [("bin 0.8 m", &scene), ("bin 0.4 m", &narrow)] {
        for stepping in &STEPPINGS {
            let (play, depths) = in_pool(PART.name, 1, || measure(scene, stepping, scene.duration))??;
            let case = format!("20 bodies, {bin}, {}", stepping.name);
            row(play.row(&format!("{case}, wall"), "s", vec![play.wall], json!({ "bodies": 20 })));
            let more = json!({ "bodies": 20, "contacts_looked_at": depths.count });
            row(play.row(
                &format!("{case}, mean penetration"),
                "um",
                vec![1e6 * depths.mean()],
                more.clone(),
            ));
            row(play.row(&format!("{case}, max penetration"), "um", vec![1e6 * depths.deepest], more));
        }
    }
    scaling(&scene, row)
}

/// Wall time against number of bodies, at 1 ms.
fn scaling(scene: &Scene, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let mut points = Vec::new();
    for count in COUNTS {
        let scene = grown(scene, count);
        let (play, depths) = in_pool(PART.name, 1, || measure(&scene, &STEPPINGS[0], SPAN))??;
        let cost = play.wall / play.simulated;
        let more = json!({ "bodies": count, "max_penetration_m": depths.deepest });
        row(play.row(&format!("{count} bodies, 1 ms, wall per simulated second"), "s/s", vec![cost], more));
        points.push(((count as f64).ln(), cost.ln()));
        if count == COUNTS[COUNTS.len() - 1] {
            let more = json!({ "bodies": COUNTS });
            row(play.row("exponent of cost against bodies", "1", vec![slope(&points)], more));
        }
    }
    Ok(())
}

/// Slope of the least-squares line through points.
pub(super) fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let along: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    along / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

/// The scene for this time \[s\], and the depths in its last half.
fn measure(
    scene: &Scene,
    stepping: &Stepping,
    time: f64,
) -> Result<(TimedRun, PenetrationStatistics), BenchError> {
    let mut play = TimedRun::new(PART.name, scene, stepping)?;
    let mut depths = PenetrationStatistics::default();
    play.advance(time / 2.0, |_| {})?;
    play.advance(time / 2.0, |world| depths.look(world))?;
    Ok((play, depths))
}

/// Clutter of `count` bodies, a multiple of [`PILE`], in a bin with the same area for each pile.
/// With 20 bodies they are those of the built-in scene; more piles are copies of its four, shifted
/// at random.
fn grown(scene: &Scene, count: usize) -> Scene {
    let (standing, falling): (Vec<_>, Vec<_>) =
        scene.bodies.iter().cloned().partition(|body| !matches!(body.motion, Motion::Dynamic(_)));
    let piles = count / PILE;
    let least = (piles as f64).sqrt().ceil() as usize;
    let along_x = (least..=piles).find(|n| piles.is_multiple_of(*n)).unwrap_or(piles);
    let along_y = piles / along_x;
    let half = [along_x as f64 * PITCH / 2.0, along_y as f64 * PITCH / 2.0];
    let mut random = SplitMix64::new(SEED);
    let mut bodies: Vec<BodySpec> = standing.into_iter().map(|body| bin(body, half)).collect();
    for pile in 0..piles {
        let cell = [pile % along_x, pile / along_x];
        let from = cell.map(|c| c % 2);
        let first = from == cell;
        // Old and new position of the pile.
        let old = from.map(|c| (c as f64 - 0.5) * PITCH);
        for floor in 0..PILE {
            let Some(mut body) = falling.get(4 * floor + from[0] + 2 * from[1]).cloned() else { continue };
            body.name = format!("object{}", PILE * pile + floor);
            if let Some(dynamic) = dynamic(&mut body) {
                for axis in 0..2 {
                    let shift = if first { 0.0 } else { random.uniform_in(-SHIFT / 2.0, SHIFT / 2.0) };
                    let new = (cell[axis] as f64 + 0.5) * PITCH - half[axis];
                    dynamic.pose.position[axis] += new - old[axis] + shift;
                }
            }
            bodies.push(body);
        }
    }
    Scene { bodies, ..scene.clone() }
}

/// A static body; if it is the bin, with walls 1 m high about this floor (half of each edge,
/// \[m\]).
fn bin(mut body: BodySpec, half: [f64; 2]) -> BodySpec {
    let (thick, high) = (0.02, 0.5);
    if body.name != "bin" {
        return body;
    }
    for (wall, side) in body.geometries.iter_mut().zip([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]) {
        let half_extents =
            if side[1] == 0.0 { [thick, half[1] + 2.0 * thick, high] } else { [half[0], thick, high] };
        wall.shape = RigidShape::Box { half_extents };
        wall.pose.position = [side[0] * (half[0] + thick), side[1] * (half[1] + thick), high];
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_scenes::format::validate;

    // Checks: as many bodies as asked for, each above its own part of the floor; twenty are the
    // built-in scene's.
    #[test]
    fn grown_clutter_fits_its_bin() {
        let scene = builtin_scene(PART.name, "clutter-hard").unwrap();
        for count in COUNTS {
            let mut grown = grown(&scene, count);
            validate(&grown).unwrap();
            let wall = grown.bodies[1].geometries[0].pose.position[0]
                .min(grown.bodies[1].geometries[2].pose.position[1]);
            assert!(wall > 0.2 && wall * wall < 0.0121 * count as f64, "{wall}");
            let mut places: Vec<[f64; 3]> =
                grown.bodies.iter_mut().filter_map(dynamic).map(|d| d.pose.position).collect();
            assert_eq!(places.len(), count);
            places.sort_by(|a, b| a[0].total_cmp(&b[0]));
            if count == 20 {
                let mut shipped: Vec<_> =
                    scene.bodies.clone().iter_mut().filter_map(dynamic).map(|d| d.pose.position).collect();
                shipped.sort_by(|a, b| a[0].total_cmp(&b[0]));
                for (a, b) in places.iter().zip(&shipped) {
                    approx::assert_relative_eq!(a[..], b[..], epsilon = 1e-12);
                }
            }
            for (k, a) in places.iter().enumerate() {
                for b in &places[k + 1..] {
                    let away = (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt();
                    assert!(away > 0.11, "{a:?} {b:?}");
                }
            }
        }
    }

    // Checks: cost c n^p has the slope p.
    #[test]
    fn a_power_law_has_its_exponent() {
        let points: Vec<_> = [20.0, 100.0, 500.0_f64].map(|n| (n.ln(), (3.0 * n.powf(1.3)).ln())).to_vec();
        approx::assert_relative_eq!(slope(&points), 1.3, epsilon = 1e-12);
    }
}
