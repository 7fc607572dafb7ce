//! Sensors of frames, joints, motors and whole bodies, and the names in them. The laws are
//! kinematics and statics.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use pliant_import::{ImportError, Imported, WarningKind, load};
use pliant_numeric::random::SplitMix64;
use pliant_rigid::{Bodies, BodiesBuilder, RigidSettings, RobotHandle, SpatialImpulse};

const DT: f64 = 1e-4;
const G: f64 = 9.81;
const SEED: u64 = 20_261_126;

fn try_read(text: &str) -> Result<Imported, ImportError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sensors.xml");
    std::fs::write(&path, text).unwrap();
    load(&path)
}

fn built(text: &str, base: &Isometry3<f64>) -> (Bodies, RobotHandle) {
    let mut builder = BodiesBuilder::new();
    let other = try_read(text).unwrap();
    builder.robot("other", other, None, &Isometry3::translation(100.0, 0.0, 0.0)).unwrap();
    let robot = builder.robot("r", try_read(text).unwrap(), None, base).unwrap();
    (builder.build(Vector3::new(0.0, 0.0, -G), DT, &RigidSettings::default()).unwrap(), robot)
}

fn step(bodies: &mut Bodies) {
    bodies.prepare(DT);
    bodies.integrate(DT, &vec![SpatialImpulse::zero(); bodies.len()]).unwrap();
}

fn values(robot: &RobotHandle, bodies: &Bodies, name: &str) -> Vec<f64> {
    robot.sensor(bodies, name).unwrap().unwrap_or_else(|| panic!("{name}")).values().to_vec()
}

fn vector(robot: &RobotHandle, bodies: &Bodies, name: &str) -> Vector3<f64> {
    Vector3::from_column_slice(&values(robot, bodies, name))
}

fn turn(robot: &RobotHandle, bodies: &Bodies, name: &str) -> UnitQuaternion<f64> {
    let [w, x, y, z] = values(robot, bodies, name)[..] else { panic!("{name}") };
    UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))
}

fn random_vector(draw: &mut SplitMix64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| draw.uniform_in(-1.0, 1.0))
}

fn random_pose(draw: &mut SplitMix64) -> Isometry3<f64> {
    let (x, turn) = (random_vector(draw), random_vector(draw));
    Isometry3::from_parts(Translation3::from(x), UnitQuaternion::from_scaled_axis(turn))
}

fn written(pose: &Isometry3<f64>) -> String {
    let (x, r) = (pose.translation, pose.rotation);
    format!("pos='{:?} {:?} {:?}' quat='{:?} {:?} {:?} {:?}'", x.x, x.y, x.z, r.w, r.i, r.j, r.k)
}

/// Two arms that swing, with frames on them at random, and sensors of one frame against another.
fn two_arms(draw: &mut SplitMix64) -> String {
    let poses: Vec<String> = (0..5).map(|_| written(&random_pose(draw))).collect();
    let all = |with: &str, end: &str| -> String {
        ["framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel"]
            .iter()
            .map(|kind| format!("<{kind} name='{kind}{end}' objtype='site' objname='s' {with}/>"))
            .collect()
    };
    format!(
        r#"<mujoco><worldbody><body name="a" {}><joint type="ball"/><geom type="box" pos=".5 .3 .1" size=".1 .2 .3"/>
        <site name="s" {}/></body><body name="b" {}><joint axis="1 2 3"/><geom type="box" pos=".4 -.5 .2" size=".3 .2 .1"/>
        <geom name="g" type="box" size=".3 .2 .1" {}/><site name="t" {}/></body></worldbody><sensor>{}{}{}
        <subtreecom name="com" body="b"/><framepos name="center" objtype="body" objname="b"/>
        <clock name="clock"/></sensor></mujoco>"#,
        poses[0],
        poses[1],
        poses[2],
        poses[3],
        poses[4],
        all("", ""),
        all("reftype='site' refname='t'", "_t"),
        all("reftype='geom' refname='g'", "_g"),
    )
}

// Kinematics: the velocity of a frame is the rate of its place, both as seen from a reference that
// turns, and the angular velocity that of its rotation. Central differences over two steps are
// exact to (w dt)^2/6 of the velocity, and steps of first order change the velocity within
// themselves: dt times the acceleration of some 10 m/s^2. The axes are those of the rotation.
#[test]
fn velocities_of_frames_are_the_rates_of_their_places() {
    let mut draw = SplitMix64::new(SEED);
    for case in 0..5 {
        let text = two_arms(&mut draw);
        let (mut bodies, robot) = built(&text, &random_pose(&mut draw));
        (0..2000).for_each(|_| step(&mut bodies));
        for end in ["", "_t", "_g"] {
            let name = |kind: &str| format!("{kind}{end}");
            let (place, rotation) = (name("framepos"), name("framequat"));
            let before = (vector(&robot, &bodies, &place), turn(&robot, &bodies, &rotation));
            step(&mut bodies);
            let linear = vector(&robot, &bodies, &name("framelinvel"));
            let angular = vector(&robot, &bodies, &name("frameangvel"));
            let now = turn(&robot, &bodies, &rotation);
            for (axis, unit) in ["framexaxis", "frameyaxis", "framezaxis"].iter().zip(0..3) {
                let mut e = Vector3::zeros();
                e[unit] = 1.0;
                let off = (vector(&robot, &bodies, &name(axis)) - now * e).norm();
                assert!(off < 1e-12, "{axis}{end} of case {case}, seed {SEED}");
            }
            step(&mut bodies);
            let after = (vector(&robot, &bodies, &place), turn(&robot, &bodies, &rotation));
            let rate = (after.0 - before.0) / (2.0 * DT);
            let spin = (after.1 * before.1.inverse()).scaled_axis() / (2.0 * DT);
            let bound = 40.0 * DT;
            assert!(linear.norm() > 20.0 * bound || angular.norm() > 20.0 * bound, "case {case} rests");
            assert!(
                (linear - rate).norm() < bound,
                "{end}: {linear} m/s, not {rate}, case {case}, seed {SEED}"
            );
            assert!(
                (angular - spin).norm() < bound,
                "{end}: {angular}, not {spin}, case {case}, seed {SEED}"
            );
        }
        // The sum of both boxes; the second at random.
        let (com, center) = (vector(&robot, &bodies, "com"), vector(&robot, &bodies, "center"));
        assert!((com - center).norm() < 1e-12, "{com} m, {center} m, seed {SEED}");
        assert_eq!(values(&robot, &bodies, "clock"), [bodies.time()]);
    }
}

// Kinematics: a ball joint's rotation is that of its body in the parent; its rate, in the axes of the
// body, is what a gyro there reads while the parent rests.
#[test]
fn a_ball_joint_has_the_rotation_of_its_body() {
    let text = r#"<mujoco><worldbody><body euler="20 30 40"><joint name="b" type="ball"/>
        <geom type="box" pos=".2 .1 0" size=".1 .2 .3"/><site name="s"/></body></worldbody>
        <sensor><ballquat name="q" joint="b"/><ballangvel name="w" joint="b"/><gyro name="gyro" site="s"/>
        <framequat name="f" objtype="site" objname="s"/></sensor></mujoco>"#;
    let (mut bodies, robot) = built(text, &Isometry3::identity());
    let start = turn(&robot, &bodies, "f");
    (0..3000).for_each(|_| step(&mut bodies));
    let off = (start * turn(&robot, &bodies, "q")).angle_to(&turn(&robot, &bodies, "f"));
    assert!(off < 1e-7, "{off} rad");
    let (w, gyro) = (vector(&robot, &bodies, "w"), vector(&robot, &bodies, "gyro"));
    assert!(gyro.norm() > 0.5 && (w - gyro).norm() < 1e-12, "{w}, {gyro} rad/s");
}

// Momentum: a dumbbell that a hinge turns at w has I w about its centre of mass,
// with what it carries; the centre moves with the slide that carries it all.
#[test]
fn a_subtree_has_the_momentum_of_its_parts() {
    let text = r#"<mujoco><worldbody><body name="cart"><joint name="x" type="slide" axis="1 0 0"/>
        <geom type="sphere" size=".1" mass="1"/><body name="bell" pos="0 0 1"><joint name="turn"/>
        <geom type="sphere" pos=".7 0 0" size="1e-3" mass="2"/><body pos="-.3 0 0">
        <geom type="sphere" size="1e-3" mass="2"/></body></body></body></worldbody>
        <keyframe><key name="k" qpos="3 .4" qvel="7 5"/></keyframe>
        <sensor><subtreecom name="c" body="bell"/><subtreelinvel name="v" body="bell"/>
        <subtreeangmom name="l" body="bell"/><subtreecom name="all" body="cart"/></sensor></mujoco>"#;
    let desc = pliant_rigid::MechanismDesc::from(try_read(text).unwrap()).at_keyframe("k").unwrap();
    let mut builder = BodiesBuilder::new();
    let robot = builder.robot("r", desc, None, &Isometry3::identity()).unwrap();
    let bodies = builder.build(Vector3::zeros(), DT, &RigidSettings::default()).unwrap();
    let near = |name: &str, law: [f64; 3], bound: f64| {
        let found = vector(&robot, &bodies, name);
        assert!((found - Vector3::from(law)).norm() < bound, "{name}: {found}, not {law:?}");
    };
    // The middle of the dumbbell is 0.2 m from the hinge.
    let (sin, cos) = 0.4_f64.sin_cos();
    near("c", [3.0 + 0.2 * cos, 0.2 * sin, 1.0], 1e-12);
    near("v", [7.0 - 5.0 * 0.2 * sin, 5.0 * 0.2 * cos, 0.0], 1e-12);
    // Two points at half a metre, and two spheres of 0.4 m r^2.
    near("l", [0.0, 0.0, (2.0 * 2.0 * 0.25 + 2.0 * 0.4 * 2.0 * 1e-6) * 5.0], 1e-12);
    near("all", [3.0 + 0.8 * 0.2 * cos, 0.8 * 0.2 * sin, 0.8], 1e-12);
}

// Statics: motors that hold what hangs on them: along a joint with a gear, a tendon over two joints
// with a gear, and by position. Positions and rates are those of what is driven, times the gear.
#[test]
fn motors_and_tendons_have_their_lengths_and_forces() {
    let text = r#"<mujoco><worldbody><body><joint name="a" type="slide"/><geom type="sphere" size=".1" mass="1"/>
        </body><body pos="1 0 0"><joint name="b" type="slide"/><geom type="sphere" size=".1" mass="2"/></body>
        </worldbody><tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed></tendon>
        <actuator><motor name="m" joint="a" gear="4"/><general name="d" tendon="t" gear="3" biasprm="2.5 0 0" biastype="affine"/>
        </actuator><keyframe><key name="k" qpos=".5 .25" qvel="1 -2" ctrl="3 0"/></keyframe>
        <sensor><actuatorfrc name="fm" actuator="m"/><actuatorfrc name="fd" actuator="d"/>
        <actuatorpos name="pm" actuator="m"/><actuatorpos name="pd" actuator="d"/>
        <actuatorvel name="vm" actuator="m"/><actuatorvel name="vd" actuator="d"/>
        <tendonpos name="pt" tendon="t"/><tendonvel name="vt" tendon="t"/><tendonactuatorfrc name="ft" tendon="t"/>
        <jointactuatorfrc name="fa" joint="a"/><jointactuatorfrc name="fb" joint="b"/></sensor></mujoco>"#;
    let desc = pliant_rigid::MechanismDesc::from(try_read(text).unwrap()).at_keyframe("k").unwrap();
    let mut builder = BodiesBuilder::new();
    builder.robot("other", try_read(text).unwrap(), None, &Isometry3::identity()).unwrap();
    let robot = builder.robot("r", desc, None, &Isometry3::identity()).unwrap();
    let mut bodies = builder.build(Vector3::zeros(), DT, &RigidSettings::default()).unwrap();
    let near = |bodies: &Bodies, name: &str, law: f64| {
        let found = values(&robot, bodies, name)[0];
        assert!((found - law).abs() < 1e-9, "{name}: {found}, not {law}");
    };
    for (name, law) in [("pm", 2.0), ("pd", 3.0), ("vm", 4.0), ("vd", -9.0), ("pt", 1.0), ("vt", -3.0)] {
        near(&bodies, name, law);
    }
    for name in ["fm", "fd", "ft", "fa", "fb"] {
        assert_eq!(robot.sensor(&bodies, name).unwrap(), None, "{name} before the first step");
    }
    step(&mut bodies);
    // 3 N along the motor, 2.5 N along the drive, three times that along the tendon, which MuJoCo's
    // sensor of the tendon leaves out.
    for (name, law) in [("fm", 3.0), ("fd", 2.5), ("ft", 2.5), ("fa", 12.0 + 7.5), ("fb", 15.0)] {
        near(&bodies, name, law);
    }
}

// A body that the user moves: over a step of constant velocity it feels g, although its velocity
// jumps at both ends.
#[test]
fn a_moved_body_feels_no_jump_of_its_path() {
    let text = r#"<mujoco><worldbody><body name="hand" mocap="true"><geom type="sphere" size=".1" mass="1"/>
        <site name="s"/></body></worldbody><sensor><accelerometer name="a" site="s"/>
        <velocimeter name="v" site="s"/></sensor></mujoco>"#;
    let (mut bodies, robot) = built(text, &Isometry3::identity());
    for to in [0.1, 0.3, -0.2] {
        robot.set_mocap(&mut bodies, "hand", &Isometry3::translation(to, 0.0, 0.0), DT).unwrap();
        step(&mut bodies);
        let off = (vector(&robot, &bodies, "a") - Vector3::z() * G).norm();
        // Places at 0.3 m are rounded to 4e-17 m, and their difference is divided by dt^2 twice.
        assert!(off < 1e-6, "{off} m/s^2");
    }
}

const ARM: &str = r#"<mujoco><worldbody><body name="b"><joint name="j"/>
<geom name="g" size=".1"/><site name="s"/><camera name="c"/><body><joint name="k" type="ball"/><geom size=".1"/>
</body></body></worldbody><sensor>SENSOR</sensor></mujoco>"#;

// Checks: a name that the file does not have is an error that names element, attribute and value.
#[test]
fn unknown_names_are_errors() {
    for (sensor, attribute) in [
        ("<gyro site='x'/>", "site"),
        ("<jointpos joint='x'/>", "joint"),
        ("<jointpos joint='k'/>", "joint"),
        ("<ballquat joint='j'/>", "joint"),
        ("<tendonpos tendon='x'/>", "tendon"),
        ("<actuatorfrc actuator='x'/>", "actuator"),
        ("<subtreecom body='x'/>", "body"),
        ("<framepos objtype='xbody' objname='x'/>", "objname"),
        ("<framepos objtype='wheel' objname='b'/>", "objtype"),
        ("<framepos objtype='site' objname='s' reftype='geom' refname='x'/>", "refname"),
        ("<gyro site='s' cutoff='-1'/>", "cutoff"),
        ("<gyro site='s' sight='x'/>", "sight"),
        ("<gyro name='n' site='s'/><gyro name='n' site='s'/>", "name"),
    ] {
        let error = try_read(&ARM.replace("SENSOR", sensor)).unwrap_err();
        let element = sensor[1..].split([' ', '>']).next().unwrap();
        assert_eq!(error.attribute, attribute, "{sensor}: {error}");
        assert!(error.location.element.starts_with(element), "{sensor}: {error}");
    }
}

// Checks: what is not measured is left out with one warning, which is not about the motion, and the
// other sensors stay.
#[test]
fn what_is_not_measured_is_left_out_with_a_warning() {
    for left in [
        "<rangefinder site='s'/>",
        "<magnetometer site='s'/>",
        "<user dim='3' name='u'/>",
        "<e_potential/>",
        "<contact geom1='g'/>",
        "<jointlimitpos joint='j'/>",
        "<framequat objtype='body' objname='b'/>",
        "<framepos objtype='camera' objname='c'/>",
        "<subtreecom body='world'/>",
        "<gyro site='s' delay='0.1'/>",
        "<gyro site='r'/>",
    ] {
        // Copies have other names, and their sensors are not copied.
        let copied = ARM.replace(
            "<site name=\"s\"/>",
            "<site name=\"s\"/><replicate count=\"2\"><site name=\"r\"/></replicate>",
        );
        let file = if left.contains("'r'") { &copied[..] } else { ARM };
        let text = file.replace("SENSOR", &format!("{left}<gyro name='kept' site='s'/>"));
        let imported = try_read(&text).unwrap();
        let kinds: Vec<WarningKind> = imported.warnings.iter().map(|warning| warning.kind).collect();
        let about_others = kinds.iter().filter(|kind| **kind != WarningKind::Pictures);
        assert_eq!(about_others.collect::<Vec<_>>(), [&WarningKind::Extension], "{left}");
        assert!(imported.warnings.iter().all(|warning| !warning.changes_motion()));
        assert_eq!(imported.sensors.last().unwrap().name, "kept");
    }
}

// Checks: a cutoff bounds each component on both sides, and no direction; noise changes nothing.
#[test]
fn a_cutoff_clips() {
    let sensors = "<accelerometer name='a' site='s' cutoff='2' noise='9'/><framequat name='q' objtype='site' objname='s' cutoff='.1'/><framepos name='p' objtype='site' objname='s' cutoff='.5'/>";
    let (mut bodies, robot) =
        built(&ARM.replace("SENSOR", sensors), &Isometry3::translation(-3.0, 0.25, 3.0));
    assert_eq!(vector(&robot, &bodies, "p"), Vector3::new(-0.5, 0.25, 0.5));
    assert!(turn(&robot, &bodies, "q").angle() < 1e-12);
    step(&mut bodies);
    assert!(vector(&robot, &bodies, "a").amax() <= 2.0);
    let names: Vec<&str> = robot.sensors().collect();
    assert_eq!(names, ["a", "q", "p"]);
    let error = robot.sensor(&bodies, "b").unwrap_err().to_string();
    assert!(error.contains("no sensor 'b'") && error.contains("a"), "{error}");
}
