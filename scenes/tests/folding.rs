//! Scenes in which garments are folded.

use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion, Vector2, Vector3};
use pliant_numeric::random::SplitMix64;
use pliant_scenes::builtin;
use pliant_scenes::folding::{Folding, FoldingError, Garment};
use pliant_scenes::format::{
    ClothPoint, Quantity, RobotModel, Scene, Sighting, TShirtMeasures, TrousersMeasures,
    goals_within_duration, validate,
};
use pliant_scenes::models;
use pliant_scenes::scenario::Scenario;

const SEED: u64 = 20_261_128;

fn drawn(random: &mut SplitMix64, case: usize) -> Folding {
    let garment = match case % 4 {
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
        2 => Garment::Towel { size: [random.uniform_in(0.3, 0.5), random.uniform_in(0.35, 0.55)] },
        _ => Garment::LongSleeves(TShirtMeasures {
            chest_width: random.uniform_in(0.34, 0.4),
            length: random.uniform_in(0.4, 0.5),
            sleeve_length: random.uniform_in(0.1, 0.17),
            sleeve_opening: random.uniform_in(0.08, 0.1),
            sleeve_drop: random.uniform_in(0.02, 0.06),
            ..TShirtMeasures::default()
        }),
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
    for case in 0..24 {
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
        assert!(quarter[1] < half[1] && half[1] < flat[0] && again[0] <= flat[0], "{folding:?}");
        if let Garment::Towel { size: [a, b] } = folding.garment {
            let near = |bound: Option<f64>, factor: f64, exact: f64, folds: f64| {
                let strip = 0.05 * folding.grid_spacing * (a + b) + 1e-4;
                let across = 0.5 * 1.1 * folding.grid_spacing * folds;
                let area = bound.unwrap() / factor;
                assert!(area < exact + strip && area > exact - strip - across, "{area} {exact}");
            };
            near(flat[0], 0.9496, a * b, 0.0);
            // The fold is half of 0.185 of half its width beside the middle; the most is of the towel, not
            // of its mesh.
            near(half[1], 1.0095, 0.5 * a * b * (1.0 + 0.5 * 0.185), 0.0);
            let covered = 0.25 * a * (1.0 + 0.5 * 0.185) * (b + 0.045);
            near(quarter[1], 1.0095, covered, 0.0);
        }
    }
    println!("{made} of 24 garments can be made");
    assert!(made >= 16);
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

/// Where a point of a towel of sides `size` at rest is, in the plane of the table from the towel's place,
/// as it is planned: flat, folded once, twice, once.
fn planned(point: &ClothPoint, size: [f64; 2], stage: usize) -> Vector2<f64> {
    let half = 0.5 * Vector2::from(size);
    let at = match point {
        ClothPoint::Nearest { point } => Vector2::new(point[0], point[1]),
        ClothPoint::KeyPoint { name } => Vector2::new(
            if name.ends_with("left") { -half.x } else { half.x },
            if name.starts_with("lower") { -half.y } else { half.y },
        ),
        _ => panic!("not a place of the pattern"),
    };
    let x = if stage > 0 { at.x.max(0.185 * half.x - at.x) } else { at.x };
    let y = if stage == 2 { at.y.max(0.025 - at.y) } else { at.y };
    Vector2::new(x, y)
}

/// The frame of a sighting on a towel that is folded as planned.
fn seen(sighting: &Sighting, folding: &Folding, size: [f64; 2], stage: usize) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), folding.turn);
    let mean = |points: &[ClothPoint]| {
        let sum: Vector2<f64> = points.iter().map(|point| planned(point, size, stage)).sum();
        let at = sum / points.len() as f64;
        turn * Vector3::new(at.x, at.y, 0.0) + Vector3::new(folding.place[0], folding.place[1], 0.0)
    };
    let along = mean(&sighting.toward) - mean(&sighting.from);
    let about = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), along.y.atan2(along.x));
    Isometry3::from_parts(Translation3::from(mean(&sighting.origin)), about)
}

/// From a gantry's bridge to its wrist along y, where nothing is moved \[m\].
fn arm() -> f64 {
    let gantry = models::import(RobotModel::OffsetGantry).unwrap();
    let links = gantry.system.model.links();
    let mut wrist = Isometry3::identity();
    for link in links.iter().filter(|link| link.name != "bridge") {
        wrist *= link.frame;
    }
    wrist.translation.y
}

// The law: of two gantries that fold a towel, whose columns stand beside their bridges, the bridges are
// nowhere in each other: the left one is at least 0.2 m before the right one (beams are 0.06 m wide,
// carriages 0.12 m), at all places of the tools on a towel that is folded as planned. Between those, and to
// where the bridges wait, both move with one profile of time, so that their distance has no other least
// values. The columns are at least 0.07 m apart where both hands are at one edge. Were both columns below
// their bridges, the bridges would be in each other.
#[test]
fn bridges_keep_apart() {
    println!("seed {SEED}");
    let mut random = SplitMix64::new(SEED);
    let (arm, mut least) = (arm(), [f64::INFINITY; 3]);
    for case in 0..200 {
        let folding = drawn(&mut random, 4 * case + 2);
        let Garment::Towel { size } = folding.garment else { panic!("no towel") };
        let scene = folding.scene("random").unwrap();
        assert_eq!(scene.robots[2].pose.orientation, [0.0, 0.0, 0.0, 1.0], "the right gantry is turned");
        let mut times: Vec<_> = scene.sightings.iter().map(|sighting| sighting.time).collect();
        times.dedup();
        assert_eq!(times.len(), 4);
        let wrists = scene.tasks.iter().map(|task| {
            let tool = Translation3::from(-Vector3::from(task.tool.pose.position));
            let posed =
                task.waypoints.iter().filter_map(|waypoint| Some((waypoint.time, waypoint.pose.as_ref()?)));
            let wrist = |(time, pose): (f64, &pliant_scenes::format::ToolPose)| {
                let name = pose.frame.as_ref().unwrap();
                let sighting = scene.sightings.iter().find(|sighting| sighting.name == *name).unwrap();
                let stage = times.iter().position(|time| *time == sighting.time).unwrap();
                let [w, x, y, z] = pose.orientation.unwrap();
                let turned = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
                let tip = Isometry3::from_parts(Translation3::from(Vector3::from(pose.position)), turned);
                (time, stage, seen(sighting, &folding, size, stage) * tip * tool * Point3::origin())
            };
            posed.map(wrist).collect::<Vec<_>>()
        });
        let [left, right]: [Vec<_>; 2] = wrists.collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(left.len(), right.len());
        for ((time, stage, left), (other, _, right)) in left.into_iter().zip(right) {
            assert_eq!(time, other, "{folding:?}");
            least[0] = least[0].min(right.y + arm - (left.y - arm));
            least[1] = least[1].min(right.y - left.y);
            if [1, 2].contains(&stage) {
                least[2] = least[2].min((right.x - left.x).abs());
            }
        }
    }
    println!("least distances of bridges, of wrists along y, of wrists at one edge along x: {least:?}");
    assert!(least[0] > 0.2 && least[1] < 0.06 && least[2] > 0.07, "{least:?}");
}
