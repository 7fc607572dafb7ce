//! Mocap bodies that a scene moves, and wrenches at sites of a robot's file.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::{Settings, World};
use pliant_import::from_mjcf;
use pliant_numeric::random::SplitMix64;
use pliant_rigid::{BodyDesc, Shape};
use pliant_scenes::Scenario;
use pliant_scenes::format::parse_scene;

const HAND: &str = r#"<mujoco><worldbody><body name="hand" mocap="true" pos="0 0 1"><geom size="0.05"/></body>
</worldbody></mujoco>"#;

fn scene(folder: &std::path::Path, mocap: &str) -> Result<Scenario, String> {
    let file = folder.join("hand.xml");
    std::fs::write(&file, HAND).unwrap();
    let text = format!(
        r#"{{"name": "m", "duration": 1, "dt": 0.01, "robots": [{{"name": "r", "file": {:?},
        "pose": {{"position": [0, 3, 0], "orientation": [0, 0, 0, 1]}}, "mocap": {mocap}}}]}}"#,
        file.display().to_string()
    );
    let scene = parse_scene(&text).map_err(|e| e.to_string())?;
    Scenario::new(&scene).map_err(|e| e.to_string())
}

// Checks: the definition. The path is in the frame of the file's world, here turned by pi about z
// and moved: x and y change their signs.
#[test]
fn a_scene_moves_mocap_bodies_along_their_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = r#"{"hand": {"keyframes": [{"time": 0, "position": [0, 0, 1]},
        {"time": 0.5, "position": [1, 0.5, 1], "orientation": [0.8, 0.6, 0, 0]}]}}"#;
    let mut scenario = scene(folder.path(), path).unwrap();
    let hand = scenario.world.bodies().find("r/hand").unwrap();
    for step in 1..=100 {
        scenario.step().unwrap();
        let share = (f64::from(step) * 0.01 / 0.5).min(1.0);
        let expected = Vector3::new(-share, 3.0 - 0.5 * share, 1.0);
        let found = scenario.world.bodies().pose(hand);
        assert!((found.translation.vector - expected).norm() < 1e-12, "{step}: {found}");
        // From the turn of the robot on, about x within half a second.
        let turn = 2.0 * 0.6_f64.atan2(0.8) * share;
        let turned = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::PI)
            * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), turn);
        assert!(found.rotation.angle_to(&turned) < 1e-7, "{step}: {found}");
    }
}

// Checks: a program that has the scene's robot by name moves its mocap body to where it says, to
// rounding.
#[test]
fn a_program_moves_the_robot_of_a_scene_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut scenario = scene(folder.path(), "{}").unwrap();
    assert!(scenario.robot("s").is_none());
    let robot = scenario.robot("r").unwrap().clone();
    let to = Isometry3::translation(0.3, -0.2, 0.7);
    robot.set_mocap(scenario.world.bodies_mut(), "hand", &to, 0.1).unwrap();
    for _ in 0..10 {
        scenario.step().unwrap();
    }
    let found = robot.pose(scenario.world.bodies(), "hand").unwrap();
    assert!((found.inverse() * to).translation.vector.norm() < 1e-12, "{found}");
}

#[test]
fn mistakes_of_mocap_paths_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (path, part) in [
        (r#"{"foot": {"keyframes": [{"time": 0, "position": [0, 0, 1]}]}}"#, "robots[0].mocap.foot"),
        (r#"{"hand": {"keyframes": []}}"#, "robots[0].mocap.hand.keyframes: [] has no keyframe"),
        (
            r#"{"hand": {"keyframes": [{"time": 1, "position": [0, 0, 1]}, {"time": 1, "position": [0, 0, 1]}]}}"#,
            "robots[0].mocap.hand.keyframes[1].time: 1 s must be later",
        ),
        (
            r#"{"hand": {"keyframes": [{"time": 0, "position": [0, 0, 1], "orientation": [0, 2, 0, 0]}]}}"#,
            "robots[0].mocap.hand.keyframes[0].orientation",
        ),
    ] {
        let Err(error) = scene(folder.path(), path) else { panic!("{path} was taken") };
        assert!(error.contains(part), "{error} lacks {part}");
    }
}

const TRAY: &str = r#"<mujoco><worldbody><body name="tray"><geom type="box" size="0.2 0.2 0.01" mass="1"/>
<site name="rim" pos="PLACE" axisangle="TURN"/></body></worldbody></mujoco>"#;

// Checks: statics. A ball at rest on a tray presses with its weight at its place: F = (0, 0, -m g)
// and T = (x - s) x F about the site s, in the site's axes. The ball settles; the solver stops
// within 1e-8 of the momentum.
#[test]
fn a_ball_weighs_on_a_site() {
    let seed = 5;
    let mut draw = SplitMix64::new(seed);
    for _ in 0..4 {
        let mut vector = |a: f64| Vector3::from_fn(|_, _| draw.uniform_in(-a, a));
        let (place, axis, at) = (vector(0.3), vector(1.0).normalize(), vector(0.1));
        let turn = draw.uniform_in(-3.0, 3.0);
        let text = TRAY
            .replace("PLACE", &format!("{} {} {}", place.x, place.y, place.z))
            .replace("TURN", &format!("{} {} {} {}", axis.x, axis.y, axis.z, turn.to_degrees()));
        let mut builder = World::builder(Settings::new(0.02, 1e-3));
        let tray =
            builder.robot("tray", from_mjcf(&text, "").unwrap(), None, &Isometry3::identity()).unwrap();
        let ball = BodyDesc::dynamic("ball", Shape::Sphere { radius: 0.03 }, 3000.0).unwrap();
        let ball = builder.body(ball.at(Isometry3::translation(at.x, at.y, 0.04))).unwrap();
        let mut world = builder.build().unwrap();
        assert_eq!(world.site_wrench(&tray, "rim").unwrap(), None);
        assert_eq!(world.link_wrench(&tray, "tray").unwrap(), None);
        for _ in 0..2000 {
            world.step().unwrap();
        }
        let weight = 4.0 / 3.0 * std::f64::consts::PI * 0.03_f64.powi(3) * 3000.0 * 9.81;
        let force = Vector3::new(0.0, 0.0, -weight);
        let x = world.bodies().pose(ball).translation.vector;
        let site = Isometry3::from_parts(
            Translation3::from(place),
            UnitQuaternion::from_axis_angle(&nalgebra::Unit::new_normalize(axis), turn),
        );
        let torque = (Vector3::new(x.x, x.y, 0.01) - place).cross(&force);
        let back = site.rotation.inverse();
        let found = world.site_wrench(&tray, "rim").unwrap().unwrap();
        assert!((found.force - back * force).norm() < 1e-6 * weight, "seed {seed}: {found:?}");
        assert!((found.torque - back * torque).norm() < 1e-6 * weight, "seed {seed}: {found:?} {torque}");
        let link = world.link_wrench(&tray, "tray").unwrap().unwrap();
        assert!((link.force - force).norm() < 1e-6 * weight, "seed {seed}: {link:?}");
        assert!(world.site_wrench(&tray, "rm").is_err());
    }
}
