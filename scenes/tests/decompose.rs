//! Meshes of robots in scenes, decomposed into convex hulls.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use nalgebra::Point3;
use pliant_scenes::format::{Scene, parse_scene, validate};
use pliant_scenes::scenario::Scenario;
use serde_json::{Value, json};

/// The cup: radii of its outside and inside, height, thickness of its floor [m].
const OUTER: f64 = 0.05;
const INNER: f64 = 0.04;
const HEIGHT: f64 = 0.1;
const FLOOR: f64 = 0.01;
/// Radius of the ball [m].
const BALL: f64 = 0.02;
/// Sides of the cup.
const SIDES: usize = 16;

/// A cup that stands on the origin, as an OBJ with a URDF beside it: rings of vertices from the
/// middle of its foot, over the rim, to the middle of its floor.
fn cup(folder: &Path) -> PathBuf {
    let rings = [(OUTER, 0.0), (OUTER, HEIGHT), (INNER, HEIGHT), (INNER, FLOOR)];
    let mut text = "v 0 0 0\n".to_owned();
    for (radius, z) in rings {
        for side in 0..SIDES {
            let (sin, cos) = (TAU * side as f64 / SIDES as f64).sin_cos();
            writeln!(text, "v {} {} {z}", radius * cos, radius * sin).unwrap();
        }
    }
    writeln!(text, "v 0 0 {FLOOR}").unwrap();
    let vertex = |ring: usize, side: usize| 2 + ring * SIDES + side % SIDES;
    for side in 0..SIDES {
        writeln!(text, "f 1 {} {}", vertex(0, side + 1), vertex(0, side)).unwrap();
        for ring in 0..3 {
            let [a, b] = [vertex(ring, side), vertex(ring, side + 1)];
            writeln!(text, "f {a} {b} {} {}", vertex(ring + 1, side + 1), vertex(ring + 1, side)).unwrap();
        }
        let [a, b] = [vertex(3, side), vertex(3, side + 1)];
        writeln!(text, "f {a} {b} {}", 2 + 4 * SIDES).unwrap();
    }
    std::fs::write(folder.join("cup.obj"), text).unwrap();
    let path = folder.join("cup.urdf");
    let urdf = "<robot name=\"c\"><link name=\"cup\"><collision><geometry><mesh filename=\"cup.obj\"/></geometry>\
                </collision></link></robot>";
    std::fs::write(&path, urdf).unwrap();
    path
}

/// The cup, and a ball of 50 g above it, which moves sideways at `speed` [m/s].
fn scene(cup: &Path, decompose: Value, speed: f64) -> Scene {
    let motion = json!({
        "type": "dynamic", "pose": { "position": [0.012, 0.0, 0.13] }, "joint": { "type": "free" },
        "mass": 0.05, "velocity": [speed, 0.3 * speed, 0.0],
    });
    let ball = json!({
        "name": "ball", "motion": motion, "geometries": [{ "shape": { "type": "sphere", "radius": BALL } }],
    });
    let robot = json!({ "name": "cup", "file": cup, "decompose": decompose });
    let scene = json!({ "name": "s", "duration": 2.0, "dt": 0.002, "bodies": [ball], "robots": [robot] });
    parse_scene(&scene.to_string()).unwrap()
}

/// The ball after 1.5 s; `watch` sees it after each step.
fn fall(scenario: &mut Scenario, mut watch: impl FnMut(Point3<f64>)) -> Point3<f64> {
    let mut place = Point3::origin();
    for _ in 0..750 {
        scenario.step().unwrap();
        let q = &scenario.world.bodies().state().q;
        place = Point3::from(scenario.world.bodies().pose(pliant_rigid::BodyId(0)).translation.vector);
        assert!(q.iter().all(|x| x.is_finite()));
        watch(place);
    }
    place
}

// Checks: on the convex hull a ball lies on the rim's plane. In the parts it falls through the
// opening and lies on the cup's floor, within a voxel (a part may be thicker by half of one) and
// the depth of the contact; one that moves sideways stays between the walls.
#[test]
fn a_ball_falls_into_the_cup_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let cup = cup(folder.path());
    let voxel = HEIGHT / 63.0;
    let mut whole = Scenario::new(&scene(&cup, Value::Null, 0.0)).unwrap();
    assert!(whole.notes.is_empty() && whole.warnings.len() == 1, "{:?} {:?}", whole.notes, whole.warnings);
    let above = fall(&mut whole, |_| {});
    assert!((above.z - (HEIGHT + BALL)).abs() < voxel, "{above}");
    let mut parts = Scenario::new(&scene(&cup, json!({}), 0.0)).unwrap();
    assert!(parts.warnings.is_empty(), "{:?}", parts.warnings);
    println!("{}", parts.notes[0]);
    let within = fall(&mut parts, |_| {});
    assert!((within.z - (FLOOR + BALL)).abs() < voxel, "{within}");
    let mut moving = Scenario::new(&scene(&cup, json!({}), 0.2)).unwrap();
    let mut fell = false;
    fall(&mut moving, |place| {
        fell |= place.z < HEIGHT;
        let from_axis = place.x.hypot(place.y);
        let inside = place.z > FLOOR + BALL - voxel && from_axis < INNER - BALL + voxel;
        assert!(!fell || (place.z < HEIGHT && inside), "{place}");
    });
    assert!(fell);
}

// Checks: the parts together have the volume of the mesh within a voxel over its surface and what
// the concavity allows each; the note says so.
#[test]
fn a_note_says_how_well_parts_fit() {
    let folder = tempfile::tempdir().unwrap();
    let settings = json!({ "resolution": 96, "concavity": 0.001 });
    let parts = Scenario::new(&scene(&cup(folder.path()), settings, 0.0)).unwrap();
    let [note] = &parts.notes[..] else { panic!("{:?}", parts.notes) };
    assert!(note.starts_with("robots[0]: mesh 'cup.obj': convex parts: "), "{note}");
    let figures: Vec<f64> = note.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    let [count, of_mesh, of_hull] = figures[..] else { panic!("{note}") };
    assert!((4.0..=32.0).contains(&count), "{note}");
    let sides = SIDES as f64;
    let area = |radius: f64| 0.5 * sides * radius.powi(2) * (TAU / sides).sin();
    let wall = |radius: f64| 2.0 * sides * radius * (TAU / sides / 2.0).sin();
    let hull = area(OUTER) * HEIGHT;
    let solid = hull - area(INNER) * (HEIGHT - FLOOR);
    let surface = 2.0 * area(OUTER) + wall(OUTER) * HEIGHT + wall(INNER) * (HEIGHT - FLOOR);
    let off = surface * HEIGHT / 95.0 + 0.001 * hull * count;
    println!("{note}");
    assert!((of_mesh - 1.0).abs() * solid < off, "{note}: at most {:.3}", 1.0 + off / solid);
    // Both figures are of the same volume, and rounded to three decimals.
    assert!((of_mesh * solid - of_hull * hull).abs() < 1e-3 * hull, "{note}");
}

// Checks: a scene keeps hulls in the folder of the run, and takes them from there; a damaged file is
// made anew, as a note says, with the same bytes.
#[test]
fn a_damaged_cache_is_made_anew_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let scene = scene(&cup(folder.path()), json!({ "resolution": 32 }), 0.0);
    let cache = folder.path().join("runs").join(".hulls");
    let notes = || Scenario::with_cache(&scene, &cache).unwrap().notes;
    assert_eq!(notes().len(), 1);
    let files: Vec<_> = std::fs::read_dir(&cache).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    let bytes = std::fs::read(file).unwrap();
    assert_eq!(notes().len(), 1);
    std::fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
    let said = notes();
    assert!(said.len() == 2 && said[0].contains("damaged") && said[0].contains(".hulls"), "{said:?}");
    assert_eq!(std::fs::read(file).unwrap(), bytes);
    assert_eq!(notes().len(), 1);
}

#[test]
fn settings_have_limits() {
    for (settings, said) in [
        (json!({ "concavity": 1.5 }), "robots[0].decompose.concavity: 1.5 must be at most 1"),
        (json!({ "concavity": -0.5 }), "robots[0].decompose.concavity: -0.5 must be at least 0"),
        (json!({ "hulls": 3 }), "robots[0].decompose.hulls: 3 must be at least 4"),
        (json!({ "hulls": 2000 }), "robots[0].decompose.hulls: 2000 must be at most 1024"),
        (json!({ "resolution": 7 }), "robots[0].decompose.resolution: 7 must be at least 8"),
        (json!({ "resolution": 257 }), "robots[0].decompose.resolution: 257 must be at most 256"),
    ] {
        let error = validate(&scene(Path::new("/none.urdf"), settings, 0.0)).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let unknown = json!({ "name": "s", "duration": 1, "dt": 0.1,
        "robots": [{ "name": "r", "file": "a.urdf", "decompose": { "parts": 3 } }] });
    assert!(parse_scene(&unknown.to_string()).unwrap_err().to_string().contains("parts"));
}
