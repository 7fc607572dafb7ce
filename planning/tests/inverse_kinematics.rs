//! Configurations for poses, and paths through waypoints.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use approx::assert_relative_eq;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_planning::inverse_kinematics::*;
use pliant_rigid::multibody::{Dof, JointKind, Kinematics, Link, LinkId, Model, RigidInertia};
use pliant_testing::Random;

/// A model of ours, and the chain to its flange with a tool on it.
fn arm(name: &str, tool: &Isometry3<f64>) -> (Model, Chain, Vec<f64>) {
    let path = format!("{}/../scenes/models/{name}.xml", env!("CARGO_MANIFEST_DIR"));
    let imported = pliant_import::load(&path).unwrap();
    let ready = imported.keyframe("ready").unwrap().state.q.clone();
    let model = imported.system.model;
    let chain = Chain::new(model.links(), None, model.link("flange").unwrap(), tool).unwrap();
    (model, chain, ready)
}

fn tool() -> Isometry3<f64> {
    Isometry3::new(Vector3::new(0.02, -0.01, 0.15), Vector3::new(0.1, 0.2, -0.3))
}

/// Two bars in the plane z = 0 that turn about z, of 0.5 and 0.3 m.
const BARS: [f64; 2] = [0.5, 0.3];

fn planar(limits: [f64; 2]) -> Chain {
    let link = |name: &str, parent, x: f64| Link {
        name: name.into(),
        parent,
        joint: JointKind::Revolute { axis: Vector3::z_axis() },
        frame: Isometry3::translation(x, 0.0, 0.0),
        inertia: RigidInertia::zero(),
        gravity: false,
        dofs: vec![Dof { limits, ..Dof::default() }],
    };
    let links = [link("upper", None, 0.0), link("lower", Some(LinkId(0)), BARS[0])];
    Chain::new(&links, None, LinkId(1), &Isometry3::translation(BARS[1], 0.0, 0.0)).unwrap()
}

fn at(x: f64, y: f64) -> ToolGoal {
    ToolGoal { position: Point3::new(x, y, 0.0), orientation: Orientation::Free }
}

fn full(pose: &Isometry3<f64>) -> ToolGoal {
    ToolGoal { position: pose.translation.vector.into(), orientation: Orientation::Full(pose.rotation) }
}

/// A configuration within a part of the joints' ranges.
fn random_configuration(chain: &Chain, random: &mut Random) -> Vec<f64> {
    (0..chain.len())
        .map(|j| {
            let [low, high] = chain.limits(j);
            0.5 * (low + high) + 0.5 * (high - low) * random.signed()
        })
        .collect()
}

// Checks: the chain's pose is that of the mechanism, and its Jacobian the derivative of that, here
// by central differences.
#[test]
fn a_chain_is_where_the_mechanism_is() {
    for name in ["iiwa7", "panda"] {
        let (model, chain, _) = arm(name, &tool());
        let mut random = Random::new(7);
        let q = random_configuration(&chain, &mut random);
        let mut state = model.zero_configuration();
        for (j, q) in q.iter().enumerate() {
            state.q[model.positions_of(chain.link(j)).start] = *q;
        }
        let mut kinematics = Kinematics::new(&model);
        kinematics.update(&model, &state);
        let wanted = kinematics.pose(model.link("flange").unwrap()) * tool();
        assert_relative_eq!(chain.pose(&q), wanted, epsilon = 1e-12);
        let (pose, jacobian) = chain.jacobian(&q);
        assert_relative_eq!(pose, wanted, epsilon = 1e-12);
        let h = 1e-6;
        for j in 0..7 {
            let moved = |by: f64| {
                let mut q = q.clone();
                q[j] += by;
                chain.pose(&q)
            };
            let (a, b) = (moved(-h), moved(h));
            let spin = (b.rotation * a.rotation.inverse()).scaled_axis() / (2.0 * h);
            let velocity = (b.translation.vector - a.translation.vector) / (2.0 * h);
            // Rounding of the difference: 1e-16/1e-6.
            assert_relative_eq!(spin, jacobian.fixed_view::<3, 1>(0, j).into_owned(), epsilon = 1e-8);
            assert_relative_eq!(velocity, jacobian.fixed_view::<3, 1>(3, j).into_owned(), epsilon = 1e-8);
        }
    }
}

// Checks: poses that a configuration within the limits reaches are solved; the pose of the solution
// is the one asked for, to the tolerances, and its coordinates are within the limits.
#[test]
fn what_can_be_reached_is_reached() {
    for name in ["iiwa7", "panda"] {
        let (_, chain, ready) = arm(name, &tool());
        let mut random = Random::new(42);
        let (mut iterations, mut seeds, count) = (0, 0, 500);
        for n in 0..count {
            let pose = chain.pose(&random_configuration(&chain, &mut random));
            let solution = chain
                .solve(&full(&pose), &[&ready], None, &SolveSettings::default())
                .unwrap_or_else(|e| panic!("{name}, seed 42, pose {n}: {e}"));
            let found = chain.pose(&solution.configuration);
            let error = (found.translation.vector - pose.translation.vector).norm();
            assert!(
                error <= 1e-6 && found.rotation.angle_to(&pose.rotation) <= 1.1e-6,
                "{name} {n}: {error}"
            );
            for (j, q) in solution.configuration.iter().enumerate() {
                let [low, high] = chain.limits(j);
                assert!(*q >= low && *q <= high, "{name} {n}: joint {j} at {q}");
            }
            iterations += solution.iterations;
            seeds += solution.seed;
        }
        println!(
            "{name}: {count} poses, {:.1} steps and {:.2} more seeds each",
            iterations as f64 / f64::from(count),
            seeds as f64 / f64::from(count)
        );
    }
}

// Checks: with a rest configuration the solution is the nearest local one to it: no motion that
// leaves the tool where it is brings it nearer. The tolerance is that of the search, 1e-6 rad a
// step, over the curvature of the goal's manifold.
#[test]
fn the_configuration_goes_towards_rest() {
    let (_, chain, ready) = arm("iiwa7", &tool());
    let mut random = Random::new(5);
    let mut nearer = 0;
    for _ in 0..20 {
        let pose = chain.pose(&random_configuration(&chain, &mut random));
        let settings = SolveSettings::default();
        let free = chain.solve(&full(&pose), &[&ready], None, &settings).unwrap();
        let pulled = chain.solve(&full(&pose), &[&ready], Some(&ready), &settings).unwrap();
        let far = |q: &[f64]| q.iter().zip(&ready).map(|(q, r)| (q - r).powi(2)).sum::<f64>();
        assert!(far(&pulled.configuration) <= far(&free.configuration) + 1e-9);
        assert!(pulled.position_error <= 1e-6 && pulled.orientation_error <= 1e-6);
        nearer += usize::from(far(&pulled.configuration) < far(&free.configuration) - 1e-6);
    }
    assert!(nearer > 10, "{nearer}");
}

// The law (two bars a, b; elbow angle g): cos g = (x^2 + y^2 - a^2 - b^2)/(2 a b), shoulder =
// atan2(y, x) - atan2(b sin g, a + b cos g).
#[test]
fn a_planar_arm_has_its_closed_form() {
    let chain = planar([f64::NEG_INFINITY, f64::INFINITY]);
    let mut random = Random::new(3);
    for _ in 0..50 {
        let (r, angle) = (0.5 + 0.29 * random.signed(), 3.1 * random.signed());
        let (x, y) = (r * angle.cos(), r * angle.sin());
        let found =
            chain.solve(&at(x, y), &[&[angle, 0.7]], None, &SolveSettings::default()).unwrap().configuration;
        let [a, b] = BARS;
        let cosine = (x * x + y * y - a * a - b * b) / (2.0 * a * b);
        let elbow = cosine.acos() * found[1].sin().signum();
        let shoulder = y.atan2(x) - (b * elbow.sin()).atan2(a + b * elbow.cos());
        let same = |a: f64, b: f64| ((a - b).sin().abs() + 1.0 - (a - b).cos()) < 2e-5;
        assert!(same(found[1], elbow) && same(found[0], shoulder), "{found:?}: {shoulder} {elbow}");
    }
}

// Checks: a point at r > a + b stays r - a - b away, one at r < a - b stays a - b - r away.
#[test]
fn what_is_out_of_reach_is_refused_with_the_distance() {
    let chain = planar([f64::NEG_INFINITY, f64::INFINITY]);
    for (x, y, distance) in
        [(0.9, 0.5, 0.9_f64.hypot(0.5) - 0.8), (-1.0, 0.0, 0.2), (0.05, 0.1, 0.2 - 0.05_f64.hypot(0.1))]
    {
        let error = chain.solve(&at(x, y), &[&[0.3, 0.4]], None, &SolveSettings::default()).unwrap_err();
        let InverseKinematicsError::Unreachable(ref rest) = error else { panic!("{error}") };
        assert_relative_eq!(rest.distance, distance, epsilon = 1e-6);
        assert_relative_eq!(rest.position_error, distance, epsilon = 1e-6);
        assert!(error.to_string().contains(&format!("{distance:.4}")[..5]), "{error}");
    }
    // With an orientation as well: the point alone can be reached, the orientation, out of the
    // plane, cannot; pi/3 of it remain at least.
    let pose = Isometry3::from_parts(
        Translation3::new(0.4, 0.3, 0.0),
        UnitQuaternion::from_scaled_axis(Vector3::x()),
    );
    let error = chain.solve(&full(&pose), &[], None, &SolveSettings::default()).unwrap_err();
    let InverseKinematicsError::Unreachable(rest) = error else { panic!("{error}") };
    assert!(rest.distance < 1e-6 && rest.orientation_error > 0.5, "{rest:?}");
}

// Checks: within limits of +-0.5 rad the bars reach a point at angle pi/2 best with both joints at
// 0.5; the distance follows from there.
#[test]
fn limits_are_respected_and_named() {
    let chain = planar([-0.5, 0.5]);
    let error = chain.solve(&at(0.0, 0.8), &[&[0.0, 0.0]], None, &SolveSettings::default()).unwrap_err();
    let InverseKinematicsError::Unreachable(rest) = error else { panic!("{error}") };
    let tip = [0.5 * 0.5_f64.cos() + 0.3 * 1.0_f64.cos(), 0.5 * 0.5_f64.sin() + 0.3 * 1.0_f64.sin()];
    assert_relative_eq!(rest.distance, tip[0].hypot(tip[1] - 0.8), epsilon = 1e-9);
    assert_eq!(rest.at_limits, [("upper".to_owned(), 0.5), ("lower".to_owned(), 0.5)]);
}

// Checks: an axis has the requested direction, whatever the rotation about it.
#[test]
fn an_axis_points_where_it_is_told() {
    let (_, chain, ready) = arm("panda", &tool());
    for direction in [-Vector3::z(), Vector3::x(), Vector3::new(0.3, -0.5, -0.7).normalize()] {
        let base = nalgebra::Unit::new_normalize(direction);
        let orientation = Orientation::JointAxis { tool: Vector3::z_axis(), base };
        let goal = ToolGoal { position: Point3::new(0.45, 0.1, 0.4), orientation };
        let found = chain.solve(&goal, &[&ready], Some(&ready), &SolveSettings::default()).unwrap();
        let pose = chain.pose(&found.configuration);
        assert!((pose.translation.vector - goal.position.coords).norm() < 1e-6);
        assert!((pose.rotation * Vector3::z()).angle(&direction) < 1.1e-6);
    }
}

// Checks: the same call gives the same bits.
#[test]
fn solutions_are_repeatable() {
    let (_, chain, ready) = arm("iiwa7", &tool());
    let goal = full(&chain.pose(&random_configuration(&chain, &mut Random::new(8))));
    let solve = || chain.solve(&goal, &[&ready], Some(&ready), &SolveSettings::default()).unwrap();
    assert_eq!(solve(), solve());
}

fn settings(chain: &Chain, rest: &[f64]) -> PlanSettings {
    PlanSettings {
        begin: 0.0,
        interval: 0.01,
        rates: vec![3.0; chain.len()],
        rest: rest.to_vec(),
        solve: SolveSettings::default(),
    }
}

fn straight(time: f64, goal: ToolGoal, pass: bool) -> Waypoint {
    Waypoint { time, place: WaypointTarget::Tool(goal), path_kind: PathKind::Straight, pass }
}

// Checks: on a straight way the tool's point is on the line, at the share of minimum jerk (Flash
// and Hogan 1985), and its axes are the slerp at the same share; at rest at stops; rates are the
// derivative of configurations (third derivatives of some 10 rad/s^3 leave h^2/6 of them).
#[test]
fn a_straight_way_is_straight() {
    let (_, chain, ready) = arm("iiwa7", &tool());
    let start = chain.pose(&ready);
    let end = Isometry3::from_parts(
        Translation3::from(start.translation.vector + Vector3::new(-0.1, 0.25, 0.1)),
        UnitQuaternion::from_scaled_axis(Vector3::new(0.5, -0.3, 0.4)) * start.rotation,
    );
    let path = plan(&chain, &ready, &[straight(1.5, full(&end), false)], &settings(&chain, &ready)).unwrap();
    assert_eq!(path.waypoints, [path.times.len() - 1]);
    for (n, (t, q)) in path.times.iter().zip(&path.configurations).enumerate() {
        let s = t / 1.5;
        let share = s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
        let pose = chain.pose(q);
        let wanted = start.translation.vector.lerp(&end.translation.vector, share);
        assert!((pose.translation.vector - wanted).norm() < 1e-6, "{t}");
        assert!(pose.rotation.angle_to(&start.rotation.slerp(&end.rotation, share)) < 2e-6, "{t}");
        if n > 0 && n + 1 < path.times.len() {
            let h = path.times[n + 1] - path.times[n - 1];
            for j in 0..7 {
                let slope = (path.configurations[n + 1][j] - path.configurations[n - 1][j]) / h;
                assert!((slope - path.rates[n][j]).abs() < 1e-6, "{t}");
            }
        }
    }
    assert!(path.rates[0].iter().chain(&path.rates[path.times.len() - 1]).all(|r| *r == 0.0));
}

// Checks: waypoints evenly spaced on a line that are passed evenly leave the line straight; the
// speed at the one in the middle is the mean one; at a corner the velocity is continuous: between
// neighbouring samples it changes by no more than the acceleration times 10 ms.
#[test]
fn waypoints_are_passed_without_a_stop() {
    let (_, chain, ready) = arm("iiwa7", &tool());
    let start = chain.pose(&ready);
    let moved = |x: f64, y: f64| {
        full(&Isometry3::from_parts(
            Translation3::from(start.translation.vector + Vector3::new(x, y, 0.0)),
            start.rotation,
        ))
    };
    let line = [straight(0.5, moved(-0.1, 0.0), true), straight(1.0, moved(-0.2, 0.0), false)];
    let path = plan(&chain, &ready, &line, &settings(&chain, &ready)).unwrap();
    for q in &path.configurations {
        let p = chain.pose(q).translation.vector - start.translation.vector;
        assert!(p.y.abs() < 1e-6 && p.z.abs() < 1e-6, "{p}");
    }
    let middle = path.waypoints[0];
    let speed = |n: usize| {
        let place = |n: usize| chain.pose(&path.configurations[n]).translation.vector;
        (place(n + 1) - place(n - 1)) / (path.times[n + 1] - path.times[n - 1])
    };
    assert_relative_eq!(speed(middle).x, -0.2, epsilon = 2e-3);
    let corner = [straight(0.5, moved(-0.1, 0.0), true), straight(1.0, moved(-0.1, 0.1), false)];
    let path = plan(&chain, &ready, &corner, &settings(&chain, &ready)).unwrap();
    let n = path.waypoints[0];
    let p = chain.pose(&path.configurations[n]).translation.vector - start.translation.vector;
    assert!((p - Vector3::new(-0.1, 0.0, 0.0)).norm() < 1e-6);
    let place = |n: usize| chain.pose(&path.configurations[n]).translation.vector;
    for n in 1..path.times.len() - 1 {
        let [a, b] =
            [(n - 1, n), (n, n + 1)].map(|(a, b)| (place(b) - place(a)) / (path.times[b] - path.times[a]));
        // Accelerations of the fifth degree: at most about 10 way/length^2 = 4 m/s^2.
        assert!((b - a).norm() < 0.05, "{n}: {}", (b - a).norm());
    }
}

// Checks: a joint path ends at its configurations, is straight between stops, and passes without
// turning back; what is too fast, out of range or out of reach is an error that names the waypoint.
#[test]
fn joint_ways_and_refusals() {
    let (_, chain, ready) = arm("panda", &tool());
    let moved = |by: f64| ready.iter().map(|q| q + by).collect::<Vec<_>>();
    let joint = |time: f64, configuration: Vec<f64>, pass: bool| Waypoint {
        time,
        place: WaypointTarget::Configuration(configuration.into_iter().map(Some).collect()),
        path_kind: PathKind::Joint,
        pass,
    };
    let given = settings(&chain, &ready);
    let ways = [joint(1.0, moved(0.2), true), joint(2.0, moved(0.4), false), joint(2.5, moved(0.4), false)];
    let path = plan(&chain, &ready, &ways, &given).unwrap();
    for (w, by) in [(0, 0.2), (1, 0.4), (2, 0.4)] {
        assert_eq!(path.configurations[path.waypoints[w]], moved(by));
    }
    assert_relative_eq!(path.rates[path.waypoints[0]][3], 0.2, epsilon = 1e-12);
    for pair in path.configurations.windows(2) {
        assert!(pair[0][0] <= pair[1][0] + 1e-12);
    }
    assert_eq!(path.waypoints[2] - path.waypoints[1], 1);
    let mut alone = joint(2.5, moved(0.4), false);
    let WaypointTarget::Configuration(configuration) = &mut alone.place else { panic!() };
    configuration.iter_mut().skip(1).for_each(|q| *q = None);
    configuration[0] = Some(0.0);
    let path = plan(&chain, &ready, &[joint(1.0, moved(0.2), false), alone], &given).unwrap();
    let last = path.configurations.last().unwrap();
    assert_eq!((last[0], &last[1..]), (0.0, &moved(0.2)[1..]));
    let fast = plan(&chain, &ready, &[joint(0.1, moved(0.5), false)], &given).unwrap_err();
    assert!(matches!(fast, PlanError::Rate { waypoint: 0, .. }), "{fast}");
    let far = plan(&chain, &ready, &[joint(1.0, moved(0.1), false), joint(9.0, moved(2.4), false)], &given)
        .unwrap_err();
    assert!(matches!(far, PlanError::Range { waypoint: 1, .. }), "{far}");
    let goal = ToolGoal { position: Point3::new(1.5, 0.0, 0.5), orientation: Orientation::Free };
    let out = plan(&chain, &ready, &[joint(1.0, moved(0.1), false), straight(9.0, goal, false)], &given)
        .unwrap_err();
    assert!(matches!(out, PlanError::ToolGoal { waypoint: 1, .. }), "{out}");
    let mixed = [joint(1.0, moved(0.1), true), straight(2.0, full(&chain.pose(&ready)), false)];
    assert!(matches!(plan(&chain, &ready, &mixed, &given), Err(PlanError::Waypoint { waypoint: 0, .. })));
}

// Checks: between waypoints that are passed the tool turns on without a jump of its angular
// velocity; an axis requested alone is reached at its waypoint, by the shortest rotation; a free
// orientation lets the point go straight all the same.
#[test]
fn tools_turn_as_they_are_told() {
    let (_, chain, ready) = arm("iiwa7", &tool());
    let start = chain.pose(&ready);
    let moved = |y: f64, turn: Vector3<f64>| {
        Isometry3::from_parts(
            Translation3::from(start.translation.vector + Vector3::new(0.0, y, 0.0)),
            UnitQuaternion::from_scaled_axis(turn) * start.rotation,
        )
    };
    let turns = [Vector3::new(0.3, 0.0, 0.1), Vector3::new(0.2, 0.4, -0.1)];
    let ways =
        [straight(0.8, full(&moved(0.1, turns[0])), true), straight(1.6, full(&moved(0.2, turns[1])), false)];
    let path = plan(&chain, &ready, &ways, &settings(&chain, &ready)).unwrap();
    let pose = |n: usize| chain.pose(&path.configurations[n]);
    for (k, n) in path.waypoints.iter().enumerate() {
        assert!(pose(*n).rotation.angle_to(&moved(0.0, turns[k]).rotation) < 2e-6);
    }
    for n in 1..path.times.len() - 1 {
        let [a, b] = [(n - 1, n), (n, n + 1)].map(|(a, b)| {
            (pose(b).rotation * pose(a).rotation.inverse()).scaled_axis() / (path.times[b] - path.times[a])
        });
        // Angular accelerations of the fifth degree: at most about 10 x 0.5 rad/(0.8 s)^2.
        assert!((b - a).norm() < 0.08, "{n}: {}", (b - a).norm());
    }
    let axis = nalgebra::Unit::new_normalize(Vector3::new(0.3, 0.2, -1.0));
    let point = |y: f64| start.translation.vector + Vector3::new(0.0, y, 0.0);
    let pointing = Orientation::JointAxis { tool: Vector3::z_axis(), base: axis };
    let ways = [
        straight(1.0, ToolGoal { position: point(0.1).into(), orientation: pointing }, true),
        straight(2.0, ToolGoal { position: point(0.2).into(), orientation: Orientation::Free }, false),
        straight(3.0, full(&start), false),
    ];
    let path = plan(&chain, &ready, &ways, &settings(&chain, &ready)).unwrap();
    let pose = |n: usize| chain.pose(&path.configurations[n]);
    let before = (start.rotation * Vector3::z()).angle(&axis);
    for n in 0..path.times.len() {
        let p = pose(n).translation.vector - start.translation.vector;
        assert!(p.x.abs() < 1e-6 && p.z.abs() < 1e-6, "{n}: {p}");
        if n <= path.waypoints[0] {
            // On the shortest way the angle to go and the angle gone make up the whole.
            let now = pose(n).rotation * Vector3::z();
            let gone = now.angle(&(start.rotation * Vector3::z()));
            assert_relative_eq!(gone + now.angle(&axis), before, epsilon = 1e-5);
        }
    }
    assert!((pose(path.waypoints[0]).rotation * Vector3::z()).angle(&axis) < 2e-6);
    assert!(pose(path.waypoints[2]).rotation.angle_to(&start.rotation) < 2e-6);
}
