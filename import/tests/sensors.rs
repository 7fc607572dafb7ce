//! Sensors of MJCF files. The laws are statics, kinematics of rigid bodies and Euler's equations;
//! `benches/imports/sensors.py` compares the readings with MuJoCo's.

use nalgebra::{Isometry3, Matrix3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_import::{Imported, load};
use pliant_numeric::random::SplitMix64;
use pliant_rigid::simulation::Integrator;
use pliant_rigid::{Bodies, BodiesBuilder, Reading, RigidSettings, RobotHandle, SpatialImpulse};

const DT: f64 = 1e-3;
const G: f64 = 9.81;
const SEED: u64 = 20_261_125;

fn read(text: &str) -> Imported {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sensors.xml");
    std::fs::write(&path, text).unwrap();
    let imported = load(&path).unwrap();
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    imported
}

fn integrators() -> [Option<Integrator>; 4] {
    [
        None,
        Some(Integrator::ErrorControlled { accuracy: 1e-4, max_step: 0.01 }),
        Some(Integrator::Trapezoid { step: DT, accuracy: None }),
        Some(Integrator::Trapezoid { step: 0.01, accuracy: Some(1e-4) }),
    ]
}

/// A robot `r`, after another of the same file, so that numbers differ from those of the file.
fn built(
    text: &str,
    gravity: f64,
    base: &Isometry3<f64>,
    integrator: Option<Integrator>,
) -> (Bodies, RobotHandle) {
    let mut builder = BodiesBuilder::new();
    builder.robot("other", read(text), None, &Isometry3::translation(100.0, 0.0, 0.0)).unwrap();
    let robot = builder.robot("r", read(text), None, base).unwrap();
    let settings = RigidSettings { integrator, ..RigidSettings::default() };
    (builder.build(Vector3::new(0.0, 0.0, -gravity), DT, &settings).unwrap(), robot)
}

fn step(bodies: &mut Bodies) {
    bodies.prepare(DT);
    bodies.integrate(DT, &vec![SpatialImpulse::zero(); bodies.len()]).unwrap();
}

fn reading(robot: &RobotHandle, bodies: &Bodies, name: &str) -> Reading {
    robot.sensor(bodies, name).unwrap().unwrap_or_else(|| panic!("{name} was not measured"))
}

fn vector(robot: &RobotHandle, bodies: &Bodies, name: &str) -> Vector3<f64> {
    Vector3::from_column_slice(reading(robot, bodies, name).values())
}

fn number(robot: &RobotHandle, bodies: &Bodies, name: &str) -> f64 {
    let reading = reading(robot, bodies, name);
    let [x] = reading.values() else { panic!("{name}: {reading:?}") };
    *x
}

fn random_vector(draw: &mut SplitMix64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| draw.uniform_in(-1.0, 1.0))
}

fn random_pose(draw: &mut SplitMix64) -> Isometry3<f64> {
    let (x, turn) = (random_vector(draw), random_vector(draw));
    Isometry3::from_parts(Translation3::from(x), UnitQuaternion::from_scaled_axis(turn))
}

/// Attributes of a pose.
fn written(pose: &Isometry3<f64>) -> String {
    let (x, r) = (pose.translation, pose.rotation);
    format!("pos='{:?} {:?} {:?}' quat='{:?} {:?} {:?} {:?}'", x.x, x.y, x.z, r.w, r.i, r.j, r.k)
}

/// The axes of a site of the robot in the world.
fn site(robot: &RobotHandle, bodies: &Bodies, name: &str) -> Isometry3<f64> {
    bodies.site_pose(robot.site(bodies, name).unwrap())
}

// Newton's second law: what lies at rest is held up with g; the site's axes are those of a box that
// lies turned about z, times its own. The box's rest is that of the solver: 1e-8 of its momentum in
// a step (m g dt, in which the law's g is), of the greatest of the box's contacts. A site of the
// world, however it is turned, has g to rounding, also before anything moved.
#[test]
fn a_resting_accelerometer_reads_g_upwards() {
    let mut draw = SplitMix64::new(SEED);
    for integrator in integrators() {
        let (on, world) = (random_pose(&mut draw), random_pose(&mut draw));
        let text = format!(
            r#"<mujoco><worldbody><geom type="plane" size="1 1 1"/><site name="w" {}/>
            <body pos="0 0 .05" quat=".8 0 0 .6"><freejoint/><geom type="box" size=".1 .1 .05" mass="2"/>
            <site name="s" {}/></body></worldbody><sensor><accelerometer name="a" site="s"/>
            <accelerometer name="fixed" site="w"/><framelinacc name="f" objtype="site" objname="s"/>
            <frameangacc name="turn" objtype="site" objname="s"/></sensor></mujoco>"#,
            written(&world),
            written(&on)
        );
        let (mut bodies, robot) = built(&text, G, &Isometry3::identity(), integrator);
        assert_eq!(robot.sensor(&bodies, "a").unwrap(), None, "before the first step");
        (0..1000).for_each(|_| step(&mut bodies));
        let up = Vector3::z() * G;
        for (name, at) in [("a", "s"), ("fixed", "w")] {
            let law = site(&robot, &bodies, at).rotation.inverse_transform_vector(&up);
            let off = (vector(&robot, &bodies, name) - law).norm();
            assert!(off < 1e-5 * G, "{name} is off by {off} m/s^2, {integrator:?}, seed {SEED}");
        }
        let off = (vector(&robot, &bodies, "f") - up).norm();
        assert!(off < 1e-5 * G, "{off} m/s^2, {integrator:?}, seed {SEED}");
        assert!(vector(&robot, &bodies, "turn").norm() < 1e-3);
    }
}

/// A box that tumbles freely, with a site in its middle and one beside it.
const TUMBLING: &str = r#"<mujoco><worldbody><body name="box" pos="0 0 5"><freejoint/>
<geom type="box" pos=".3 .1 0" size=".1 .2 .3" mass="3"/><site name="middle" pos=".3 .1 0" euler="20 30 40"/>
<site name="side" pos=".5 .2 .1" euler="50 -20 10"/>
<body name="welded" pos=".1 0 .2"><geom type="sphere" pos=".5 0 0" size=".01" mass="1e-6"/>
<site name="end" euler="9 8 7"/></body></body></worldbody>
<sensor><accelerometer name="middle" site="middle"/><accelerometer name="side" site="side"/>
<gyro name="gyro" site="side"/><velocimeter name="velocity" site="side"/>
<force name="pull" site="end"/></sensor></mujoco>"#;

// Free fall (Newton) and Euler's equations: the middle feels nothing; a point at r from it feels
// alpha x r + w x (w x r), with I alpha = -w x I w. A mean over a step is that of its middle to
// second order: (w dt)^2 of w^2 r, at 3 rad/s and 1e-3 s some 1e-5, in steps of 1e-2 s 1e-3. The
// gyro has w in the axes of its site, to rounding. The middle is that of the box, which the milligram
// shifts by 2e-7 m: 1e-5 m/s^2 at 4 rad/s.
#[test]
fn a_tumbling_box_feels_its_rotation_alone() {
    let mut draw = SplitMix64::new(SEED);
    for integrator in integrators() {
        let (mut bodies, robot) = built(TUMBLING, G, &Isometry3::identity(), integrator);
        let mut saved = bodies.save();
        let link = robot.link("box").unwrap();
        let first = bodies.simulation().system().model.velocities_of(link).start;
        let spin = random_vector(&mut draw).normalize() * 4.0;
        saved.state.v[first..first + 3].copy_from_slice(spin.as_slice());
        bodies.restore(&saved).unwrap();
        (0..50).for_each(|_| step(&mut bodies));
        let felt = vector(&robot, &bodies, "middle");
        assert!(felt.norm() < 1e-5, "{felt} m/s^2 in free fall, {integrator:?}, seed {SEED}");

        let (box_pose, side) = (robot.pose(&bodies, "box").unwrap(), site(&robot, &bodies, "side"));
        let w = robot.velocity(&bodies, "box").unwrap().angular;
        let own = box_pose.rotation.inverse_transform_vector(&w);
        let sides = Vector3::new(0.2_f64, 0.4, 0.6).map(|x| x * x);
        let moments = Vector3::new(sides.y + sides.z, sides.x + sides.z, sides.x + sides.y) * 0.25;
        let inertia = Matrix3::from_diagonal(&moments);
        let turning = -(own.cross(&(inertia * own))).component_div(&moments);
        let alpha = box_pose.rotation * turning;
        let r = side.translation.vector - site(&robot, &bodies, "middle").translation.vector;
        let law = side.rotation.inverse_transform_vector(&(alpha.cross(&r) + w.cross(&w.cross(&r))));
        // The reading is of the middle of the step, the state that of its end.
        let late = 0.5 * DT * w.norm() * 4.0 * law.norm();
        let found = vector(&robot, &bodies, "side");
        assert!(law.norm() > 0.3 && late < 0.02 * law.norm(), "{} m/s^2", law.norm());
        assert!((found - law).norm() < late, "{found} m/s^2, not {law}, {integrator:?}, seed {SEED}");

        // A milligram that is welded to it is pulled along.
        let r = box_pose * Point3::new(0.6, 0.0, 0.2)
            - Point3::from(site(&robot, &bodies, "middle").translation.vector);
        let law = (alpha.cross(&r) + w.cross(&w.cross(&r))) * 1e-6;
        let law = site(&robot, &bodies, "end").rotation.inverse_transform_vector(&law);
        let (found, late) = (vector(&robot, &bodies, "pull"), 0.5 * DT * w.norm() * 4.0 * law.norm());
        assert!((found - law).norm() < late, "{found} N, not {law}, {integrator:?}, seed {SEED}");

        let gyro = vector(&robot, &bodies, "gyro");
        let law = side.rotation.inverse_transform_vector(&w);
        assert!((gyro - law).norm() < 1e-12 * w.norm(), "{gyro} rad/s, not {law}, seed {SEED}");
        let lever = side.translation.vector - box_pose.translation.vector;
        let moving = robot.velocity(&bodies, "box").unwrap().linear + w.cross(&lever);
        let law = side.rotation.inverse_transform_vector(&moving);
        assert!((vector(&robot, &bodies, "velocity") - law).norm() < 1e-12, "seed {SEED}");
    }
}

// Centripetal acceleration: on a rotor a site at radius r feels w^2 r inwards, along its -x, and
// nothing along the way it goes, to the rounding of the middle of a step (sin(w dt/2)/(w dt/2), 1 -
// 1.7e-4 at 1e-2 s). A bob on a massless rod feels only the rod: g cos q + w^2 l along it; the mean
// of a step is of its middle, where q is half a step back: within dt times the rates.
#[test]
fn what_turns_feels_its_centripetal_acceleration() {
    for integrator in integrators() {
        let rotor = r#"<mujoco><worldbody><body><joint name="j"/><geom type="box" size=".5 .1 .1" mass="2"/>
            <site name="s" pos=".4 0 0"/></body></worldbody><keyframe><key name="k" qpos=".3" qvel="5"/></keyframe>
            <sensor><accelerometer name="a" site="s"/><jointvel name="v" joint="j"/></sensor></mujoco>"#;
        let mut builder = BodiesBuilder::new();
        let desc = pliant_rigid::MechanismDesc::from(read(rotor)).at_keyframe("k").unwrap();
        let robot = builder.robot("r", desc, None, &Isometry3::identity()).unwrap();
        let settings = RigidSettings { integrator, ..RigidSettings::default() };
        let mut bodies = builder.build(Vector3::zeros(), DT, &settings).unwrap();
        (0..20).for_each(|_| step(&mut bodies));
        let found = vector(&robot, &bodies, "a");
        let off = (found - Vector3::new(-25.0 * 0.4, 0.0, 0.0)).norm();
        assert!(off < 10.0 * 2e-4, "{found} m/s^2, {integrator:?}");
        assert!((number(&robot, &bodies, "v") - 5.0).abs() < 1e-9);

        let bob = r#"<mujoco><worldbody><body euler="0 50 0"><joint name="j" axis="0 1 0"/>
            <geom type="sphere" pos="0 0 -1" size="1e-3" mass="2"/><site name="s" pos="0 0 -1"/></body></worldbody>
            <sensor><accelerometer name="a" site="s"/><jointpos name="q" joint="j"/><jointvel name="v" joint="j"/>
            </sensor></mujoco>"#;
        let (mut bodies, robot) = built(bob, G, &Isometry3::identity(), integrator);
        (0..300).for_each(|_| step(&mut bodies));
        let (q, w) = (number(&robot, &bodies, "q") + 50.0_f64.to_radians(), number(&robot, &bodies, "v"));
        let law = Vector3::new(0.0, 0.0, G * q.cos() + w * w);
        let found = vector(&robot, &bodies, "a");
        let rate = (3.0 * G * q.sin() * w).abs();
        assert!(w.abs() > 1.0, "{w} rad/s");
        assert!((found - law).norm() < DT * rate + 1e-3, "{found} m/s^2, not {law}, {integrator:?}");
    }
}

/// Two bodies that hang one below the other, with sites turned at random between them.
fn hanging(draw: &mut SplitMix64) -> String {
    let (upper, lower) = (random_pose(draw).rotation, random_pose(draw).rotation);
    let [upper, lower] = [upper, lower].map(|r| written(&Isometry3::from_parts(Default::default(), r)));
    format!(
        r#"<mujoco><worldbody><body name="upper"><joint type="slide" damping="1"/><joint type="ball"/>
        <geom type="capsule" fromto="0 0 0 0 0 -1" size=".02" mass="1.5"/><site name="upper" {upper}/>
        <body name="lower" pos="0 0 -1"><geom type="capsule" fromto="0 0 0 0 0 -1" size=".02" mass=".7"/>
        <site name="lower" {lower}/><body name="last" pos="0 0 -1"><joint/>
        <geom type="sphere" size=".05" mass=".4"/></body></body></body></worldbody>
        <equality><weld body1="upper"/></equality>
        <sensor><force name="upper" site="upper"/><force name="lower" site="lower"/>
        <torque name="torque" site="lower"/></sensor></mujoco>"#
    )
}

// Statics: a chain at rest passes the weight below each cut, upwards on what hangs there, in the
// axes of its site. An impulse of other objects on the last body, as of particles, adds its force.
// Solvers stop within 1e-8 of the momentum of a step.
#[test]
fn a_force_sensor_has_the_weight_below_it_and_what_pulls_there() {
    let mut draw = SplitMix64::new(SEED);
    for integrator in integrators() {
        let text = hanging(&mut draw)
            .replace("<joint type=\"slide\" damping=\"1\"/><joint type=\"ball\"/>", "")
            .replace("<equality><weld body1=\"upper\"/></equality>", "");
        let (mut bodies, robot) = built(&text, G, &Isometry3::identity(), integrator);
        let last = robot.body("last").unwrap();
        for pull in [Vector3::zeros(), Vector3::new(3.0, -2.0, -5.0)] {
            for _ in 0..50 {
                bodies.prepare(DT);
                let mut impulses = vec![SpatialImpulse::zero(); bodies.len()];
                impulses[last.0].linear = pull * DT;
                bodies.integrate(DT, &impulses).unwrap();
            }
            for (name, mass) in [("upper", 2.6), ("lower", 1.1)] {
                let up = Vector3::z() * mass * G - pull;
                let law = site(&robot, &bodies, name).rotation.inverse_transform_vector(&up);
                let found = vector(&robot, &bodies, name);
                let off = (found - law).norm();
                assert!(off < 1e-6, "{name}: {found} N, not {law}, {integrator:?}, seed {SEED}");
            }
            // About the site, 1 m above the last body.
            let moment = -Vector3::new(0.0, 0.0, -1.0).cross(&pull);
            let law = site(&robot, &bodies, "lower").rotation.inverse_transform_vector(&moment);
            let found = vector(&robot, &bodies, "torque");
            assert!((found - law).norm() < 1e-6, "{found} N m, not {law}, {integrator:?}, seed {SEED}");
        }
    }
}

// Statics: a cantilever passes m g l about the axis across it: a beam along x is held up by a torque
// about -y. The site is a tenth of a metre along the beam, and the moment is about it.
#[test]
fn a_cantilever_passes_its_moment() {
    let text = r#"<mujoco><worldbody><body><geom type="box" pos=".5 0 0" size=".5 .02 .02" mass="3"/>
        <site name="s" pos=".1 0 0" quat="0 0 0 1"/></body></worldbody>
        <sensor><torque name="t" site="s"/><force name="f" site="s"/></sensor></mujoco>"#;
    let (mut bodies, robot) = built(text, G, &Isometry3::identity(), None);
    assert_eq!(robot.sensor(&bodies, "t").unwrap(), None, "before the first step");
    step(&mut bodies);
    // Half a turn about z changes the signs of x and y.
    let (torque, force) = (vector(&robot, &bodies, "t"), vector(&robot, &bodies, "f"));
    assert!((torque - Vector3::new(0.0, 3.0 * G * 0.4, 0.0)).norm() < 1e-9, "{torque} N m");
    assert!((force - Vector3::new(0.0, 0.0, 3.0 * G)).norm() < 1e-9, "{force} N");
    let saved = bodies.save();
    bodies.restore(&saved).unwrap();
    assert_eq!(robot.sensor(&bodies, "t").unwrap(), None, "after a restore");
    // A step of the restored state has the same bits as one of the other.
    step(&mut bodies);
    let again = vector(&robot, &bodies, "t");
    let (mut straight, other) = built(text, G, &Isometry3::identity(), None);
    (0..2).for_each(|_| step(&mut straight));
    assert_eq!(again, vector(&other, &straight, "t"));
}

// Statics: what carries a ball feels its weight, in zones that hold the contact or that its normal
// outwards meets (the plate's above it), of every shape; zones beside and below the contact feel
// nothing. The ball's own sensor feels the same. Solvers stop within 1e-8; the ball is at rest after
// its contact's time of some 0.01 s.
#[test]
fn a_touch_sensor_has_the_weight_on_it() {
    let zones = [
        ("z0", "sphere", ".02", "0 0 .1", true),
        ("z1", "box", ".02 .03 .01", "0 0 .1", true),
        ("z2", "capsule", ".01 .02", "0 0 .1", true),
        ("z3", "cylinder", ".02 .01", "0 0 .1", true),
        ("z4", "ellipsoid", ".03 .02 .01", "0 0 .1", true),
        ("z5", "sphere", ".02", "0 0 .2", true),
        ("z6", "box", ".02 .03 .01", "0 0 .2", true),
        ("z7", "sphere", ".02", "0 0 .05", false),
        ("z8", "box", ".02 .03 .01", ".1 0 .1", false),
        ("z9", "cylinder", ".02 .01", ".1 0 .1", false),
    ];
    let sites: String = zones
        .iter()
        .map(|(name, kind, size, at, _)| {
            format!("<site name='{name}' type='{kind}' size='{size}' pos='{at}'/>")
        })
        .collect();
    let sensors: String =
        zones.iter().map(|(name, ..)| format!("<touch name='{name}' site='{name}'/>")).collect();
    let text = format!(
        r#"<mujoco><default><site type="box" size="1 1 1"/></default><worldbody>
        <body name="plate"><geom type="box" size=".5 .5 .1"/>{sites}</body>
        <body pos="0 0 .15"><freejoint/><geom type="sphere" size=".05" mass="2"/><site name="ball"/>
        </body></worldbody><sensor>{sensors}<touch name="own" site="ball"/>
        <touch name="cut" site="ball" cutoff="3"/></sensor></mujoco>"#
    );
    for integrator in integrators() {
        let (mut bodies, robot) = built(&text, G, &Isometry3::identity(), integrator);
        assert_eq!(robot.sensor(&bodies, "own").unwrap(), None, "before the first step");
        (0..1000).for_each(|_| step(&mut bodies));
        for (name, .., feels) in zones.iter().copied().chain([("own", "", "", "", true)]) {
            let (found, law) = (number(&robot, &bodies, name), if feels { 2.0 * G } else { 0.0 });
            assert!((found - law).abs() < 1e-4, "{name}: {found} N, not {law}, {integrator:?}");
        }
        assert_eq!(number(&robot, &bodies, "cut"), 3.0);
    }
}
