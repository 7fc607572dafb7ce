//! Bodies that the user moves.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_import::{Imported, load};
use pliant_numeric::random::SplitMix64;
use pliant_rigid::simulation::{AdvanceSummary, Snapshot};
use pliant_rigid::{Bodies, BodiesBuilder, MechanismDesc, RigidSettings, RobotHandle, SpatialImpulse};

const DT: f64 = 1e-3;
const G: f64 = 9.81;

fn read(text: &str) -> Imported {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mocap.xml");
    std::fs::write(&path, text).unwrap();
    let imported = load(&path).unwrap();
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    imported
}

fn built(text: &str, gravity: f64, base: &Isometry3<f64>) -> (Bodies, RobotHandle) {
    let mut builder = BodiesBuilder::new();
    let robot = builder.robot("r", read(text), None, base).unwrap();
    (builder.build(Vector3::new(0.0, 0.0, -gravity), DT, &RigidSettings::default()).unwrap(), robot)
}

fn step(bodies: &mut Bodies) -> AdvanceSummary {
    bodies.prepare(DT);
    bodies.integrate(DT, &vec![SpatialImpulse::zero(); bodies.len()]).unwrap()
}

fn vector(draw: &mut SplitMix64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| draw.uniform_in(-1.0, 1.0))
}

fn pose(draw: &mut SplitMix64) -> Isometry3<f64> {
    let (x, turn) = (vector(draw), vector(draw));
    Isometry3::from_parts(Translation3::from(x), UnitQuaternion::from_scaled_axis(turn))
}

const WELDED: &str = r#"<mujoco><worldbody><body name="hand" mocap="true" pos="0 0 1" quat="0.6 0.8 0 0">
<geom type="sphere" size="0.02" contype="0" conaffinity="0" mass="1"/></body>
<body name="box" pos="0.1 0.2 1.3"><freejoint/><geom type="box" size=".1 .2 .05" mass="2"/></body>
</worldbody><equality><weld body1="hand" body2="box"/></equality>
<keyframe><key name="there" mpos="1 2 3" mquat="0 1 0 0"/></keyframe></mujoco>"#;

// Checks: relative to a weld that moves at a constant velocity the box is a damped oscillator at
// rest in its frame, near critical damping with 1/0.02 s: exp(-20) is left after 1 s at most. The
// convex solver stops within 1e-8 of the momentum.
#[test]
fn a_softly_welded_box_gets_the_velocity_of_the_body_that_moves() {
    let seed = 20_261_124;
    let mut draw = SplitMix64::new(seed);
    for _ in 0..5 {
        let base = pose(&mut draw);
        let (mut bodies, robot) = built(WELDED, 0.0, &base);
        let start = robot.pose(&bodies, "hand").unwrap();
        let relative = start.inverse() * robot.pose(&bodies, "box").unwrap();
        let u = vector(&mut draw);
        let at = |time: f64| {
            Isometry3::from_parts(Translation3::from(start.translation.vector + u * time), start.rotation)
        };
        for n in 1..=1000 {
            robot.set_mocap(&mut bodies, "hand", &at(f64::from(n) * DT), DT).unwrap();
            step(&mut bodies);
        }
        let hand = robot.pose(&bodies, "hand").unwrap();
        assert!((hand.translation.vector - at(1.0).translation.vector).norm() < 1e-12, "seed {seed}");
        let v = robot.velocity(&bodies, "box").unwrap();
        assert!((v.linear - u).norm() < 1e-8, "seed {seed}: {} {u}", v.linear);
        let held = hand.inverse() * robot.pose(&bodies, "box").unwrap();
        assert!((held.translation.vector - relative.translation.vector).norm() < 1e-8, "seed {seed}");
    }
}

// Checks: a block that slides at a constant velocity needs the force mu m g, whose work is mu m g d.
// Regularised friction lacks (1e-4/0.2)^2/2 of that. The block does not tilt: the push would press
// it down.
#[test]
fn a_pusher_feels_the_friction_of_what_it_pushes() {
    let text = r#"<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1" friction="0.4"/>
    <body name="pusher" mocap="true" pos="-0.16 0 0.05"><geom name="p" type="box" size=".05 .05 .02"/></body>
    <body name="block" pos="0 0 0.05"><joint type="slide" axis="1 0 0"/><joint type="slide"/><geom name="b" type="box" size=".1 .1 .05" mass="3" friction="0.4"/>
    </body></worldbody><contact><pair geom1="p" geom2="b" condim="1"/></contact></mujoco>"#;
    let mut builder = BodiesBuilder::new();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pusher.xml");
    std::fs::write(&path, text).unwrap();
    let robot = builder.robot("r", load(&path).unwrap(), None, &Isometry3::identity()).unwrap();
    let mut bodies = builder.build(Vector3::new(0.0, 0.0, -G), DT, &RigidSettings::default()).unwrap();
    let pusher = robot.body("pusher").unwrap();
    robot.set_mocap(&mut bodies, "pusher", &Isometry3::translation(0.24, 0.0, 0.05), 2.0).unwrap();
    (0..1500).for_each(|_| {
        step(&mut bodies);
    });
    let (mut force, mut work) = (0.0, 0.0);
    for _ in 0..400 {
        work += step(&mut bodies).energy.prescribed;
        force -= bodies.contact_impulses().nth(pusher.0).unwrap().linear.x / DT / 400.0;
    }
    let expected = 0.4 * 3.0 * G;
    assert!((force / expected - 1.0).abs() < 1e-6, "{force} {expected}");
    assert!((work / (expected * 0.2 * 0.4) - 1.0).abs() < 1e-6, "{work}");
    assert!((robot.velocity(&bodies, "block").unwrap().linear.x - 0.2).abs() < 1e-6);
}

// Checks: a slide keeps its momentum along its axis and is carried across it: the work of the jump
// to the velocity u is m u^2/2 across, 0 along, and that of the stop takes it back.
#[test]
fn the_work_of_a_jump_is_counted() {
    for (axis, share) in [("1 0 0", 0.0), ("0 1 0", 1.0)] {
        let text = format!(
            "<mujoco><worldbody><body name=\"base\" mocap=\"true\"><body name=\"slider\"><joint name=\"s\" \
             type=\"slide\" axis=\"{axis}\"/><geom size=\"0.1\" mass=\"2\"/></body></body></worldbody></mujoco>"
        );
        let (mut bodies, robot) = built(&text, 0.0, &Isometry3::identity());
        let u = 3.0;
        robot
            .set_mocap(&mut bodies, "base", &Isometry3::translation(u * 1.5 * DT, 0.0, 0.0), 1.5 * DT)
            .unwrap();
        let expected = share * 0.5 * 2.0 * u * u;
        assert!((bodies.kinetic_energy() - expected).abs() < 1e-12);
        let begun = step(&mut bodies).energy.prescribed;
        assert!((begun - expected).abs() < 1e-12, "{axis}: {begun}");
        let ended = step(&mut bodies).energy.prescribed;
        assert!((ended + expected).abs() < 1e-12 && bodies.kinetic_energy() < 1e-12, "{axis}: {ended}");
    }
}

// Checks: the definition of a saved state, bit for bit, also through its file format.
#[test]
fn saved_motion_continues_with_the_same_bits() {
    let seed = 7;
    let mut draw = SplitMix64::new(seed);
    let (mut bodies, robot) = built(WELDED, G, &pose(&mut draw));
    let fresh = bodies.save();
    let first = robot.pose(&bodies, "hand").unwrap();
    let mut once = Vec::new();
    for _ in 0..5 {
        let target = pose(&mut draw);
        robot.set_mocap(&mut bodies, "hand", &target, draw.uniform_in(2.5, 9.5) * DT).unwrap();
        (0..4).for_each(|_| {
            step(&mut bodies);
        });
        let saved = bodies.save();
        let file = serde_json::to_string(&saved).unwrap();
        once.push((file, run(&mut bodies, &robot)));
        bodies.restore(&saved).unwrap();
    }
    let (mut other, _) = built(WELDED, G, &pose(&mut SplitMix64::new(seed)));
    for (file, end) in &once {
        let saved: Snapshot = serde_json::from_str(file).unwrap();
        for bodies in [&mut bodies, &mut other] {
            bodies.restore(&saved).unwrap();
            assert!(run(bodies, &robot) == *end, "seed {seed}");
        }
    }
    bodies.restore(&fresh).unwrap();
    assert_eq!(robot.pose(&bodies, "hand").unwrap(), first);
}

fn run(bodies: &mut Bodies, robot: &RobotHandle) -> (Snapshot, Isometry3<f64>) {
    (0..20).for_each(|_| {
        step(bodies);
    });
    (bodies.save(), robot.pose(bodies, "hand").unwrap())
}

#[test]
fn keyframes_place_and_mistakes_are_refused() {
    let desc = MechanismDesc::from(read(WELDED)).at_keyframe("there").unwrap();
    let mut builder = BodiesBuilder::new();
    let robot = builder.robot("r", desc, None, &Isometry3::identity()).unwrap();
    let mut bodies = builder.build(Vector3::zeros(), DT, &RigidSettings::default()).unwrap();
    let hand = robot.pose(&bodies, "hand").unwrap();
    assert_eq!(hand.translation.vector, Vector3::new(1.0, 2.0, 3.0));
    assert!((hand * Vector3::z() + Vector3::z()).norm() < 1e-15);
    assert!(robot.mocaps().eq(["hand"]));
    let before = bodies.save();
    let bad = Isometry3::translation(f64::NAN, 0.0, 0.0);
    for (name, pose, within, part) in [
        ("hand", bad, DT, "finite"),
        ("hand", hand, 0.0, "positive"),
        ("hand", hand, f64::INFINITY, "positive"),
        ("box", hand, DT, "no mocap body 'box'"),
    ] {
        let error = robot.set_mocap(&mut bodies, name, &pose, within).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(bodies.save() == before);
}
