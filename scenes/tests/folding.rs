//! Scenes in which garments are folded.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use pliant_numeric::random::SplitMix64;
use pliant_scenes::builtin;
use pliant_scenes::folding::{Folding, FoldingError, Garment};
use pliant_scenes::format::{
    Quantity, Scene, TShirtMeasures, TrousersMeasures, goals_within_duration, validate,
};
use pliant_scenes::scenario::Scenario;

const SEED: u64 = 20_261_128;

fn drawn(random: &mut SplitMix64, case: usize) -> Folding {
    let garment = match case % 3 {
        0 => Garment::TShirt(TShirtMeasures {
            chest_width: random.uniform_in(0.35, 0.45),
            length: random.uniform_in(0.4, 0.5),
            sleeve_length: random.uniform_in(0.04, 0.18),
            sleeve_drop: random.uniform_in(0.03, 0.12),
            ..TShirtMeasures::default()
        }),
        1 => Garment::Trousers(TrousersMeasures {
            waist_width: random.uniform_in(0.24, 0.36),
            length: random.uniform_in(0.42, 0.54),
            rise: random.uniform_in(0.15, 0.22),
            leg_distance: random.uniform_in(0.03, 0.08),
            ..TrousersMeasures::default()
        }),
        _ => Garment::Towel { size: [random.uniform_in(0.3, 0.5), random.uniform_in(0.35, 0.55)] },
    };
    Folding {
        grid_spacing: 1.0 / 64.0,
        place: [0; 2].map(|_| random.uniform_in(-0.05, 0.05)),
        turn: random.uniform_in(-0.35, 0.35),
        ..Folding::of(garment)
    }
}

/// The bounds of the goals on covered area, in order of time \[m^2\].
fn bounds(scene: &Scene) -> Vec<[Option<f64>; 2]> {
    let areas = scene.goals.iter().filter(|goal| matches!(goal.quantity, Quantity::CoveredArea));
    areas.map(|goal| [goal.min, goal.max]).collect()
}

// The laws, for random garments and starts: the scene is valid, a world is made of it, all of its
// goals are judged within its time, every sighting comes when its hand stands still (or planning would
// refuse it), and the bounds of what a fold covers do not exceed what lies flat. A towel's areas are
// known: of a x b it covers a b, then a b/2 and what the fold reaches beyond, then a b/4, to half a strip a
// tenth of the grid's spacing wide along its borders, less at most half an edge of the mesh along the
// folds, which faces lie across.
#[test]
fn random_garments_have_scenes() {
    println!("seed {SEED}");
    let (mut random, mut made) = (SplitMix64::new(SEED), 0);
    for case in 0..18 {
        let folding = drawn(&mut random, case);
        let scene = match folding.scene("random") {
            Ok(scene) => scene,
            // Not all measures make a shirt.
            Err(FoldingError::Cloth(_)) => continue,
            Err(error) => panic!("{folding:?}: {error}"),
        };
        made += 1;
        validate(&scene).unwrap_or_else(|error| panic!("{folding:?}: {error}"));
        goals_within_duration(&scene).unwrap();
        let mut scenario = Scenario::new(&scene).unwrap_or_else(|error| panic!("{folding:?}: {error}"));
        scenario.step().unwrap();
        let [flat, half, quarter, again] = bounds(&scene).try_into().unwrap();
        assert!(quarter[1] < half[1] && half[1] < flat[0] && again[0] < flat[0], "{folding:?}");
        if let Garment::Towel { size: [a, b] } = folding.garment {
            let near = |bound: Option<f64>, factor: f64, exact: f64, folds: f64| {
                let strip = 0.05 * folding.grid_spacing * (a + b) + 1e-4;
                let across = 0.5 * 1.1 * folding.grid_spacing * folds;
                let area = bound.unwrap() / factor;
                assert!(area < exact + strip && area > exact - strip - across, "{area} {exact}");
            };
            near(flat[0], 0.9496, a * b, 0.0);
            // The fold is half of 0.185 of half its width beside the middle.
            near(half[1], 1.0095, 0.5 * a * b * (1.0 + 0.5 * 0.185), b);
            near(quarter[1], 1.081, 0.25 * a * b, 0.5 * (a + b));
        }
    }
    println!("{made} of 18 garments can be made");
    assert!(made >= 12);
}

// Checks: every garment of the built-in scenes is the scene of its name, as `pliant bench garments`
// draws them.
#[test]
fn built_in_garments_are_folded() {
    for (name, garment) in builtin::garments() {
        let scene = builtin::scene(name).unwrap().unwrap();
        let again = Folding::of(garment).scene(name).unwrap();
        assert_eq!(scene, Scene { description: scene.description.clone(), ..again });
    }
}
