//! Bodies under the closed-form solver: rest, friction of three kinds, impacts, stacks. Values of
//! the published form are given next to those of the predicted one where they differ.

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::ContactMaterial;
use pliant_rigid::comfree::*;
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::Random;
use pliant_testing::comfree::*;
use pliant_testing::floor::{Floor, box_on_floor};

fn predicted() -> ComFreeSettings {
    ComFreeSettings::default()
}

/// The paper's stiffest and softest settings.
fn published() -> [ComFreeSettings; 2] {
    [ComFreeSettings::published(0.1, 0.001), ComFreeSettings::published(0.5, 0.005)]
}

/// A box on a slope (level floor, tilted gravity) of the angle whose tangent is `ratio` times mu:
/// its way and speed after `time`.
fn on_slope(settings: ComFreeSettings, mu: f64, ratio: f64, dt: f64, time: f64) -> [f64; 3] {
    let angle = (mu * ratio).atan();
    let gravity = Vector3::new(G * angle.sin(), 0.0, -G * angle.cos());
    let (model, state, floor) = box_on_floor(gravity, mu, 0.0);
    let mut simulation = simulation(model, floor, state, dt, settings);
    simulation.advance_to(time).unwrap();
    [simulation.state().q[4], simulation.state().v[3], G * (angle.sin() - mu * angle.cos())]
}

// Sticks iff tan t < mu. Sticking it creeps with the stiction tolerance times tan t/mu; sliding it
// gains g (sin t - mu cos t).
#[test]
fn a_box_sticks_below_the_friction_angle() {
    for mu in [0.1, 0.5, 1.0] {
        for dt in [0.002, 0.01] {
            for ratio in [0.5, 0.95] {
                let [_, v, _] = on_slope(predicted(), mu, ratio, dt, 1.0);
                assert!((v / (1e-4 * ratio) - 1.0).abs() < 0.01, "mu {mu} dt {dt}: creeps with {v}");
            }
            let [_, at_one, a] = on_slope(predicted(), mu, 1.05, dt, 1.0);
            let [_, at_two, _] = on_slope(predicted(), mu, 1.05, dt, 2.0);
            assert!(((at_two - at_one) / a - 1.0).abs() < 0.01, "mu {mu} dt {dt}: {}", at_two - at_one);
        }
    }
    // The published form creeps well below the friction angle: its friction is a drag.
    for (settings, least) in published().into_iter().zip([1.0, 0.3]) {
        let [_, v, _] = on_slope(settings, 0.5, 0.5, 0.002, 1.0);
        println!("published {:?}: creeps with {v} m/s", settings.gains);
        assert!(v > least, "{v}");
    }
}

// A sliding box stops after v^2/(2 mu g), 1 %, at 1 and at 10 ms. With positions that move by the
// velocity at the end of a step it would stop v dt/2 = 10 mm short at 10 ms, 1.0, 2.0 and 3.4 % of
// 1.019, 0.510 and 0.291 m.
#[test]
fn a_sliding_box_stops_after_its_way() {
    for mu in [0.2, 0.4, 0.7] {
        for dt in [0.001, 0.01] {
            let (model, mut state, floor) = box_on_floor(down(), mu, 0.0);
            state.v[3] = 2.0;
            let mut simulation = simulation(model, floor, state, dt, predicted());
            simulation.advance_to(3.0).unwrap();
            let exact = 4.0 / (2.0 * mu * G);
            let displacement = simulation.state().q[4];
            println!(
                "mu {mu} dt {dt}: {displacement} m of {exact}, {:+.2} %",
                100.0 * (displacement / exact - 1.0)
            );
            assert!((displacement / exact - 1.0).abs() < 0.01, "mu {mu} dt {dt}: {displacement} {exact}");
        }
    }
    let (model, mut state, floor) = box_on_floor(down(), 0.4, 0.0);
    state.v[3] = 2.0;
    let mut simulation = simulation(model, floor, state, 0.002, published()[1]);
    simulation.advance_to(3.0).unwrap();
    let displacement = simulation.state().q[4];
    println!("published: {displacement} m of 0.5097");
    assert!(displacement > 0.9, "the published cone has less than mu: {displacement}");
}

/// Depth (m) of a 5 cm cube at rest.
fn rest_depth(settings: ComFreeSettings, dt: f64) -> f64 {
    let (model, state, source) = on_floor(down(), &[cube(0.05, 0.025)], ContactMaterial::with_friction(0.5));
    let mut simulation = simulation(model, source, state, dt, settings);
    simulation.advance_to(3.0).unwrap();
    0.025 - simulation.state().q[6]
}

/// m times the trace of the mobility of that cube's lower corners, where contact is half in the
/// floor: 3 + 12 r^2/a^2.
fn corner_trace(depth: f64) -> f64 {
    let r = 2.0 * 0.025_f64.powi(2) + (0.025 - 0.5 * depth).powi(2);
    3.0 + 12.0 * r / 0.05_f64.powi(2)
}

// Equations 11, 12: four contacts, each with kappa r/(1 - r)/tr, tr the trace of a corner's
// mobility, carry the weight. The depth does not depend on the step.
#[test]
fn a_box_rests_at_the_depth_of_its_impedance() {
    let curve = ImpedanceCurve::default();
    let [kappa, _] = predicted().gains.rates(1.0);
    for dt in [0.0005, 0.002, 0.01, 0.02] {
        let depth = rest_depth(predicted(), dt);
        let carried = 4.0 * kappa * curve.ratio(depth) / corner_trace(depth) * depth;
        assert!((carried / G - 1.0).abs() < 1e-6, "dt {dt}: depth {depth}, {carried} of {G}");
    }
    // The published depth goes with the step: sixteen facets, kappa = k_user/dt, and the prediction
    // has g dt of speed.
    for settings in published() {
        for dt in [0.0005, 0.002] {
            let depth = rest_depth(settings, dt);
            let [kappa, delta] = settings.gains.rates(dt);
            let facet = curve.ratio(depth) / corner_trace(depth);
            let carried = 16.0 * facet * (kappa * depth + (kappa * dt + delta) * G * dt);
            println!("published {:?} dt {dt}: {depth} m", settings.gains);
            assert!((carried / G - 1.0).abs() < 1e-6, "dt {dt}: depth {depth}, {carried} of {G}");
        }
    }
}

// Equation 13 for two surfaces: every value of the impedance is the mean of theirs, whichever way
// round.
#[test]
fn two_impedances_have_their_mean() {
    let hard = ImpedanceCurve { minimum: 0.96, maximum: 0.98, width: 0.0004, midpoint: 0.6, power: 3.0 };
    let soft = ImpedanceCurve { minimum: 0.1, maximum: 0.3, width: 0.0001, midpoint: 0.4, power: 1.0 };
    let mean = ImpedanceCurve { minimum: 0.53, maximum: 0.64, width: 0.00025, midpoint: 0.5, power: 2.0 };
    let [kappa, _] = predicted().gains.rates(1.0);
    for [of_floor, of_cube] in [[hard, soft], [soft, hard]] {
        let (shape, pose) = cube(0.05, 0.025);
        let material = |impedance| ContactMaterial { impedance, ..ContactMaterial::with_friction(0.5) };
        let mut builder = ModelBuilder::new(down());
        let link = builder.add(body("cube", &shape)).unwrap();
        let model = builder.build().unwrap();
        let geometries = vec![
            geometry("floor", None, Shape::HalfSpace, material(of_floor)),
            geometry("cube", Some(link), shape, material(of_cube)),
        ];
        let scene = pliant_rigid::collision::CollisionModel::new(geometries, &model, &[]).unwrap();
        let mut state = model.zero_configuration();
        state.q[6] = pose.translation.z;
        let mut simulation = simulation(model, Collisions::new(scene, 1e-4), state, 0.002, predicted());
        simulation.advance_to(2.0).unwrap();
        let depth = 0.025 - simulation.state().q[6];
        let carried = 4.0 * kappa * mean.ratio(depth) / corner_trace(depth) * depth;
        assert!((carried / G - 1.0).abs() < 1e-6, "depth {depth}: {carried} of {G}");
    }
}

// Two centimetres of overlap resolve without a jump: the speed is at most the separation speed and
// a tenth.
#[test]
fn deep_overlap_resolves_slowly() {
    for dt in [0.001, 0.002, 0.01] {
        for pair in [false, true] {
            let solids = if pair {
                vec![cube(0.05, 1.0), (cube(0.05, 0.0).0, Isometry3::translation(0.03, 0.0, 1.0))]
            } else {
                vec![cube(0.05, 0.005)]
            };
            let gravity = if pair { Vector3::zeros() } else { down() };
            let (model, state, source) = on_floor(gravity, &solids, ContactMaterial::with_friction(0.5));
            let mut simulation = simulation(model, source, state, dt, predicted());
            let mut fastest = 0.0_f64;
            for k in 1..=300 {
                simulation.advance_to(f64::from(k) * dt).unwrap();
                let v = &simulation.state().v;
                fastest = fastest.max(if pair { v[9] - v[3] } else { v[5] });
            }
            println!("pair {pair} dt {dt}: {fastest} m/s");
            assert!(fastest < 1.1 * 0.5, "pair {pair} dt {dt}: {fastest}");
            let q = &simulation.state().q;
            let overlap = if pair { 0.05 - (q[11] - q[4]) } else { 0.025 - q[6] };
            assert!(overlap < 5e-4, "pair {pair} dt {dt}: {overlap}");
        }
    }
}

// Two free solids in an oblique collision keep momentum and angular momentum, in both forms.
#[test]
fn two_free_bodies_keep_their_momentum() {
    let mut material = ContactMaterial::with_friction(0.6);
    (material.torsional_friction, material.rolling_friction) = (0.005, 0.002);
    for settings in [predicted(), published()[1]] {
        let turn = UnitQuaternion::from_euler_angles(0.3, 0.5, 0.2);
        let solids = [
            (cube(0.05, 0.0).0, Isometry3::translation(0.0, 0.0, 1.0)),
            (cube(0.06, 0.0).0, Isometry3::from_parts(Vector3::new(0.01, 0.01, 1.08).into(), turn)),
        ];
        let (model, mut state, source) = on_floor(Vector3::zeros(), &solids, material);
        state.v.copy_from_slice(&[0.0, 1.0, 2.0, 0.1, 0.0, 0.3, 3.0, 0.0, 1.0, 0.0, -0.1, -0.5]);
        let momenta = |model: &Model, state: &State| {
            let mut k = Kinematics::new(model);
            k.update(model, state);
            let (mut p, mut l) = (Vector3::zeros(), Vector3::zeros());
            for (i, link) in model.links().iter().enumerate() {
                let pose = k.pose(LinkId(i));
                let h = link.inertia.rotated(pose).momentum(k.velocity(LinkId(i)));
                p += h.linear;
                l += h.angular + pose.translation.vector.cross(&h.linear);
            }
            (p, l)
        };
        let mut simulation = simulation(model, source, state, 0.002, settings);
        let start = momenta(&simulation.system().model, simulation.state());
        let mut pushed = 0.0_f64;
        for k in 1..=100 {
            simulation.advance_to(0.002 * f64::from(k)).unwrap();
            pushed += 0.002 * simulation.contact_forces().map(|c| c.force.norm()).sum::<f64>();
        }
        let end = momenta(&simulation.system().model, simulation.state());
        assert!(pushed > 0.01, "they met: {pushed}");
        assert!((end.0 - start.0).norm() < 1e-14, "{:?}", end.0 - start.0);
        assert!((end.1 - start.1).norm() < 1e-6 * start.1.norm().max(pushed), "{}", (end.1 - start.1).norm());
    }
}

// Checks: nothing couples bodies that do not touch, so what a group of them does has the same bits
// whatever else there is, a block a million times as heavy under a falling pair among it. Something
// in both is the fastest, since contacts are looked for as far as that goes.
#[test]
fn what_does_not_touch_does_not_matter() {
    let group = [
        cube(0.05, 0.025),
        (cube(0.04, 0.0).0, Isometry3::translation(0.01, 0.0, 0.072)),
        (cube(0.05, 0.0).0, Isometry3::translation(0.06, 0.01, 0.03)),
        (Shape::Sphere { radius: 0.02 }, Isometry3::translation(0.0, 0.3, 0.02)),
    ];
    let heavy = [
        (cube(5.0, 0.0).0, Isometry3::translation(20.0, 0.0, 2.4995)),
        (cube(0.05, 0.0).0, Isometry3::translation(20.0, 0.0, 5.03)),
        (cube(0.05, 0.0).0, Isometry3::translation(20.01, 0.0, 5.09)),
    ];
    let run = |solids: &[(Shape, Isometry3<f64>)]| {
        let (model, mut state, source) = on_floor(down(), solids, ContactMaterial::with_friction(0.2));
        let own = solids.len() - group.len();
        for i in own..solids.len() {
            state.v[6 * i + 3] = 0.5;
        }
        state.v[6 * own + 6 + 4] = -0.3;
        let last = 6 * (solids.len() - 1);
        state.v[last + 3] = 3.0;
        let mut simulation = simulation(model, source, state, 0.002, predicted());
        let mut contacts = 0;
        for k in 1..=150 {
            contacts += simulation.advance_to(0.002 * f64::from(k)).unwrap().solver.contacts;
        }
        let state = simulation.state();
        assert!(state.v[last + 3] > 2.0, "the sphere stays the fastest");
        let bits = |x: &[f64], n: usize| x[n * own..].iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        (bits(&state.q, 7), bits(&state.v, 6), contacts)
    };
    let alone = run(&group);
    let beside = run(&[&heavy[..], &group].concat());
    assert!(beside.2 > alone.2 + 150 * 4, "the others touch as well");
    assert_eq!((alone.0, alone.1), (beside.0, beside.1));
}

// In every step of a heap that falls together every contact is within its three cones.
#[test]
fn contacts_of_a_heap_are_within_their_cones() {
    let mut material = ContactMaterial::with_friction(0.5);
    (material.torsional_friction, material.rolling_friction) = (0.004, 0.002);
    for settings in [predicted(), published()[0], published()[1]] {
        let mut random = Random::new(7);
        let r = 0.025;
        let solids: Vec<(Shape, Isometry3<f64>)> = (0..12)
            .map(|i| {
                let shape = match i % 4 {
                    0 => Shape::Box { half_extents: Vector3::repeat(r) },
                    1 => Shape::Sphere { radius: r },
                    2 => Shape::Capsule { radius: 0.6 * r, half_length: 0.6 * r },
                    _ => Shape::Cylinder { radius: r, half_length: r },
                };
                let at =
                    Vector3::new(0.02 * random.signed(), 0.02 * random.signed(), 0.04 + 0.06 * f64::from(i));
                (shape, Isometry3::from_parts(at.into(), random.rotation()))
            })
            .collect();
        let (model, state, source) = on_floor(down(), &solids, material);
        let mut simulation = simulation(model, source, state, 0.002, settings);
        let mut substep_states = 0;
        for k in 1..=400 {
            simulation.advance_to(0.002 * f64::from(k)).unwrap();
            for contact in simulation.contact_forces() {
                let n = contact.candidate.normal;
                let push = n.dot(&contact.force);
                let slack = 1e-12 + 1e-9 * push;
                assert!(push >= -slack, "{push}");
                let slide = (contact.force - n * push).norm();
                let about = n.dot(&contact.moment);
                let roll = (contact.moment - n * about).norm();
                assert!(slide <= 0.5 * push + slack, "{slide} {push}");
                assert!(about.abs() <= 0.004 * push + slack, "{about} {push}");
                assert!(roll <= 0.002 * push + slack, "{roll} {push}");
                substep_states += usize::from(push > 0.0);
            }
        }
        assert!(substep_states > 1000, "{substep_states}");
    }
}

/// A sphere of 5 cm that can only turn about z and rise, on the floor: its rates after each tenth
/// of a second.
fn spin(settings: ComFreeSettings, mu: f64) -> Vec<f64> {
    let shape = Shape::Sphere { radius: 0.05 };
    let mut builder = ModelBuilder::new(down());
    let mut lift = body("lift", &shape);
    (lift.inertia, lift.joint) = (RigidInertia::zero(), JointKind::Prismatic { axis: Vector3::z_axis() });
    lift.frame = Isometry3::translation(0.0, 0.0, 0.05);
    let lift = builder.add(lift).unwrap();
    let mut link = body("ball", &shape);
    (link.joint, link.parent) = (JointKind::Revolute { axis: Vector3::z_axis() }, Some(lift));
    let id = builder.add(link).unwrap();
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    state.v[1] = 10.0;
    let floor = Floor {
        balls: vec![(id, Point3::origin(), 0.05)],
        stiffness: 1e6,
        dissipation: 0.0,
        static_friction: 0.5,
        dynamic_friction: 0.5,
        stiction_tolerance: 1e-4,
        torsional_friction: mu,
        rolling_friction: 0.0,
    };
    let mut simulation = simulation(model, floor, state, 0.002, settings);
    let mut rates = vec![10.0];
    for k in 1..=10 {
        simulation.advance_to(0.1 * f64::from(k)).unwrap();
        rates.push(simulation.state().v[1]);
    }
    rates
}

/// A cylinder of radius 5 cm and 10 cm length that rolls with 1 m/s: its speeds after each tenth of
/// a second.
fn roll(settings: ComFreeSettings, mu: f64, dt: f64) -> Vec<f64> {
    let shape = Shape::Cylinder { radius: 0.05, half_length: 0.05 };
    let turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), core::f64::consts::FRAC_PI_2);
    let pose = Isometry3::from_parts(Vector3::new(0.0, 0.0, 0.05).into(), turn);
    let (model, mut state, _) = on_floor(down(), &[(shape, pose)], ContactMaterial::with_friction(0.8));
    // Two points of a round rim: the exact distance, without its polygon.
    let rims = Rims { mu };
    (state.v[1], state.v[3]) = (1.0 / 0.05, 1.0);
    let mut simulation = simulation(model, rims, state, dt, settings);
    let mut speeds = vec![1.0];
    for k in 1..=10 {
        simulation.advance_to(0.1 * f64::from(k)).unwrap();
        speeds.push(simulation.state().v[3]);
    }
    speeds
}

/// The lowest points of a cylinder's two rims.
struct Rims {
    mu: f64,
}

impl ContactSource for Rims {
    fn contacts(&mut self, _: &Model, kinematics: &Kinematics, _: f64, out: &mut Vec<ContactCandidate>) {
        let pose = kinematics.pose(LinkId(0));
        for z in [-0.05, 0.05] {
            let end = pose * Point3::new(0.0, 0.0, z);
            let axis = pose * Vector3::z();
            let down = (-Vector3::z() + axis * axis.z).normalize();
            let point = end.coords + down * 0.05;
            out.push(ContactCandidate {
                restitution: 0.0,
                first: None,
                second: Some(LinkId(0)),
                geometries: [0; 2],
                point,
                normal: Vector3::z(),
                distance: point.z,
                stiffness: 1e6,
                dissipation: 0.0,
                static_friction: 0.8,
                dynamic_friction: 0.8,
                stiction_tolerance: 1e-4,
                torsional_friction: 0.0,
                rolling_friction: self.mu,
                impedance: ImpedanceCurve::default(),
                half_thickness: f64::INFINITY,
            });
        }
    }
}

fn assert_monotone_and_ordered(runs: &[Vec<f64>], apart: f64) {
    for run in runs {
        assert!(run.windows(2).all(|w| w[1] <= w[0] + 1e-9 && w[1] > -1e-3), "{run:?}");
    }
    for pair in runs.windows(2) {
        let ordered = pair[0].iter().zip(&pair[1]).skip(1).all(|(less, more)| less >= more);
        assert!(ordered && pair[0][5] > pair[1][5] + apart, "{pair:?}");
    }
}

// ComFree-Sim, figure 5a. The moment is the coefficient times the force of the overlap.
#[test]
fn torsional_friction_stops_a_spin_in_the_order_of_its_coefficient() {
    let coefficients = [0.0005, 0.001, 0.002, 0.005];
    for (settings, apart) in [(predicted(), 0.1), (published()[0], 0.0), (published()[1], 0.0)] {
        let runs: Vec<_> = coefficients.iter().map(|mu| spin(settings, *mu)).collect();
        println!("{:?}: {runs:?}", settings.gains);
        assert_monotone_and_ordered(&runs, apart);
    }
    // a = mu m g/I with I = 2/5 m r^2.
    for mu in coefficients {
        let rates = spin(predicted(), mu);
        let expected = mu * G / (0.4 * 0.05 * 0.05);
        let found = (rates[1] - rates[2]) / 0.1;
        assert!((found / expected - 1.0).abs() < 1e-3, "mu {mu}: {found} {expected}");
    }
}

// ComFree-Sim, figure 5b: a = mu g/(R (1 + 1/2)).
#[test]
fn rolling_friction_stops_a_cylinder_in_the_order_of_its_coefficient() {
    let coefficients = [0.0005, 0.001, 0.002, 0.004];
    for (settings, apart) in [(predicted(), 1e-2), (published()[0], 0.0), (published()[1], 0.0)] {
        let runs: Vec<_> = coefficients.iter().map(|mu| roll(settings, *mu, 0.002)).collect();
        println!("{:?}: {runs:?}", settings.gains);
        assert_monotone_and_ordered(&runs, apart);
    }
    for mu in coefficients {
        for dt in [0.002, 0.01] {
            let speeds = roll(predicted(), mu, dt);
            let expected = mu * G / (1.5 * 0.05);
            let found = (speeds[2] - speeds[6]) / 0.4;
            assert!((found / expected - 1.0).abs() < 0.02, "mu {mu} dt {dt}: {found} {expected}");
        }
    }
}

/// Speed (m/s) below which a cube counts as stopped: its tilt is released there, and its centre
/// swings back.
const AT_REST: f64 = 0.02;

// ComFree-Sim, figure 6: a cube that lands at 2 m/s and turns slows down without ever gaining speed
// along the floor.
#[test]
fn a_thrown_cube_never_gains_horizontal_speed() {
    for settings in [predicted(), published()[0], published()[1]] {
        for dt in [0.002, 0.005, 0.01, 0.02] {
            let (model, mut state, source) =
                on_floor(down(), &[cube(0.1, 0.06)], ContactMaterial::with_friction(0.5));
            state.v.copy_from_slice(&[0.1, 0.1, 0.1, 2.0, 0.0, 0.0]);
            let mut simulation = simulation(model, source, state, dt, settings);
            let (mut before, mut worst, mut rocks) = (2.0_f64, 0.0_f64, 0.0_f64);
            for k in 1..=(2.0 / dt) as u32 {
                simulation.advance_to(f64::from(k) * dt).unwrap();
                let v = &simulation.state().v;
                let speed = v[3].hypot(v[4]);
                if before > AT_REST {
                    worst = worst.max(speed - before);
                } else {
                    rocks = rocks.max(speed);
                }
                before = speed;
            }
            let gains = settings.gains;
            println!("{gains:?} dt {dt}: gains {worst}, then rocks with {rocks}, ends with {before}");
            if settings.form == Form::Predicted {
                assert!(worst <= 1e-12 && rocks < AT_REST, "dt {dt}: {worst} {rocks}");
                assert!(before < 1e-9, "dt {dt}: {before}");
            }
        }
    }
}

// A stack is held up: each of four corners has at least a twelfth of kappa r/(1 - r) of all its
// mass for stiffness, r = 0.9 at least, so that no contact is deeper than 3 g/(9 kappa) at any
// step.
#[test]
fn a_stack_stands() {
    let [kappa, _] = predicted().gains.rates(1.0);
    let most = 3.0 * G / (9.0 * kappa);
    for (dt, n) in [(0.001, 10), (0.002, 5), (0.002, 10), (0.005, 10), (0.01, 10), (0.02, 15)] {
        let solids: Vec<_> = (0..n).map(|i| cube(0.05, 0.025 + 0.05 * f64::from(i))).collect();
        let (model, state, source) = on_floor(down(), &solids, ContactMaterial::with_friction(0.5));
        let mut simulation = simulation(model, source, state, dt, predicted());
        simulation.advance_to(2.0).unwrap();
        let q = &simulation.state().q;
        let mut deepest = 0.025 - q[6];
        for i in 1..n as usize {
            deepest = deepest.max(0.05 - (q[7 * i + 6] - q[7 * i - 1]));
        }
        println!("dt {dt} n {n}: deepest {deepest} of {most}");
        assert!(deepest < most, "dt {dt} n {n}: {deepest}");
        assert!(q.iter().skip(4).step_by(7).all(|x| x.abs() < 1e-6), "upright");
    }
}

// Same bits in every run.
#[test]
fn runs_repeat_bit_for_bit() {
    let run = || {
        let solids: Vec<_> = (0..4).map(|i| cube(0.05, 0.03 + 0.06 * f64::from(i))).collect();
        let (model, mut state, source) = on_floor(down(), &solids, ContactMaterial::with_friction(0.5));
        state.v[1] = 3.0;
        let mut simulation = simulation(model, source, state, 0.002, predicted());
        simulation.advance_to(0.5).unwrap();
        simulation.state().q.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}
