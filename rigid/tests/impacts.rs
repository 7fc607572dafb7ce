//! Impacts within a step: Newton's restitution, and that no impact makes energy.

use nalgebra::{Isometry3, Matrix3, Translation3, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionGeometry, CollisionModel, ContactMaterial};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::Random;

const G: f64 = 9.81;

fn surface(restitution: f64, friction: f64) -> ContactMaterial {
    ContactMaterial { restitution, ..ContactMaterial::with_friction(friction) }
}

/// Bodies on joints with one shape each, and the floor z = 0 where wanted.
struct Maker {
    builder: ModelBuilder,
    geometries: Vec<CollisionGeometry>,
}

impl Maker {
    fn new(gravity: f64) -> Self {
        Self { builder: ModelBuilder::new(Vector3::z() * -gravity), geometries: Vec::new() }
    }

    fn touchable(
        &mut self,
        link: Option<LinkId>,
        pose: Isometry3<f64>,
        shape: Shape,
        material: ContactMaterial,
    ) {
        let name = format!("{}", self.geometries.len());
        let (group, mask, color) = (1, u32::MAX, [0; 3]);
        self.geometries.push(CollisionGeometry { name, link, pose, shape, material, group, mask, color });
    }

    fn body(
        &mut self,
        joint: JointKind,
        frame: Isometry3<f64>,
        center: Vector3<f64>,
        mass: f64,
        shape: Shape,
        m: ContactMaterial,
    ) {
        let (volume, _, unit) = shape.mass_properties(1.0).unwrap();
        let link = Link {
            name: format!("body {}", self.geometries.len()),
            parent: None,
            joint,
            frame,
            inertia: RigidInertia::at_center(mass, center, unit * (mass / volume)),
            gravity: true,
            dofs: Vec::new(),
        };
        let link = self.builder.add(link).unwrap();
        self.touchable(Some(link), Translation3::from(center).into(), shape, m);
    }

    fn free(&mut self, mass: f64, shape: Shape, m: ContactMaterial) {
        self.body(JointKind::Free, Isometry3::identity(), Vector3::zeros(), mass, shape, m);
    }

    fn finish(self) -> (Model, CollisionModel) {
        let model = self.builder.build().unwrap();
        let scene = CollisionModel::new(self.geometries, &model, &[]).unwrap();
        (model, scene)
    }
}

fn start(
    model: &Model,
    scene: CollisionModel,
    integrator: Integrator,
    state: State,
) -> Simulation<Collisions> {
    let source = Collisions::new(scene, 1e-4);
    Simulation::new(System::new(model.clone()), source, integrator, state).unwrap()
}

fn energy(model: &Model, state: &State) -> f64 {
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, state);
    kinetic_energy(model, &kinematics, state) + potential_energy(model, &kinematics, state)
}

const KINDS: [Integrator; 3] = [
    Integrator::Fixed { step: 1e-3 },
    Integrator::ErrorControlled { accuracy: 1e-4, max_step: 1e-2 },
    Integrator::Trapezoid { step: 1e-2, accuracy: Some(1e-4) },
];

// Newton's law: a ball that falls from h rises to e^2 h. It turns by v dt above the floor at most,
// where gravity has not done that part of its work, and comes in by g dt slower than it falls: (1 -
// e^2) v dt + 2 v g dt / g of height, and likewise for the accuracy.
#[test]
fn a_ball_rises_to_the_square_of_its_restitution() {
    for e in [0.2, 0.5, 0.8, 1.0] {
        for integrator in KINDS {
            let mut maker = Maker::new(G);
            maker.free(0.3, Shape::Sphere { radius: 0.05 }, surface(e, 0.3));
            maker.touchable(None, Isometry3::identity(), Shape::HalfSpace, surface(e, 0.3));
            let (model, scene) = maker.finish();
            let mut state = model.zero_configuration();
            state.q[6] = 0.05 + 0.5;
            let v = (2.0 * G * 0.5).sqrt();
            let landing = v / G;
            let mut ball = start(&model, scene, integrator, state);
            let mut top = 0.0_f64;
            let rise = landing + 2.0 * e * landing;
            let mut t = 1.05 * landing;
            ball.advance_to(t).unwrap();
            while t < rise {
                t += 1e-3;
                ball.advance_to(t).unwrap();
                top = top.max(ball.state().q[6] - 0.05);
            }
            let bound = 3.0 * v * 1e-3;
            println!("{e} {integrator:?}: {top} against {}", e * e * 0.5);
            assert!((top - e * e * 0.5).abs() < bound, "{e} {integrator:?}: {top}");
        }
    }
}

// Newton's law for two balls on one line, without friction or gravity: v1' = ((m1 - e m2) v1 + (1 +
// e) m2 v2)/(m1 + m2), and the mirror of it.
#[test]
fn two_balls_part_as_newton_has_it() {
    let seed = 3;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for _ in 0..40 {
        let e = 0.5 * (1.0 + random.signed());
        let m = [0, 0].map(|_| 10.0_f64.powf(1.5 * random.signed()));
        let v = [3.0 + 2.0 * random.signed(), -1.0 + 2.0 * random.signed()];
        let along = random.rotation();
        for integrator in KINDS {
            let mut maker = Maker::new(0.0);
            for m in m {
                maker.free(m, Shape::Sphere { radius: 0.05 }, surface(e, 0.0));
            }
            let (model, scene) = maker.finish();
            let mut state = model.zero_configuration();
            for (b, (side, v)) in [(-0.1, v[0]), (0.1, v[1])].into_iter().enumerate() {
                state.q[7 * b + 4..7 * b + 7].copy_from_slice((along * Vector3::x() * side).as_slice());
                state.v[6 * b + 3..6 * b + 6].copy_from_slice((along * Vector3::x() * v).as_slice());
            }
            let meet = 0.1 / (v[0] - v[1]);
            if meet <= 0.0 {
                continue;
            }
            let mut balls = start(&model, scene, integrator, state);
            balls.advance_to(meet + 0.05).unwrap();
            let mean = (m[0] * v[0] + m[1] * v[1]) / (m[0] + m[1]);
            let apart = e * (v[0] - v[1]);
            let expected = [mean - apart * m[1] / (m[0] + m[1]), mean + apart * m[0] / (m[0] + m[1])];
            for b in 0..2 {
                let found = Vector3::from_column_slice(&balls.state().v[6 * b + 3..6 * b + 6]);
                let off = (found - along * Vector3::x() * expected[b]).norm();
                assert!(off < 1e-9 * (v[0] - v[1]), "{m:?} {v:?} {e} {integrator:?}: {found} {expected:?}");
            }
        }
    }
}

// Newton's cradle of five: pendulums that touch. Momentum and energy leave one solution for pairs
// one after another: the last has the speed of the first. Of it the arc of the swing and gravity's
// part in a step take 1e-3.
#[test]
fn a_cradle_hands_its_speed_on() {
    for integrator in KINDS {
        let mut maker = Maker::new(G);
        for k in 0..5 {
            let frame = Isometry3::translation(0.05 * f64::from(k), 0.0, 1.0);
            let joint = JointKind::Revolute { axis: Vector3::y_axis() };
            let shape = Shape::Sphere { radius: 0.025 };
            maker.body(joint, frame, Vector3::z() * -0.5, 0.5, shape, surface(1.0, 0.0));
        }
        let (model, scene) = maker.finish();
        let mut state = model.zero_configuration();
        // To the left by 30 degrees, released.
        state.q[0] = std::f64::consts::FRAC_PI_6;
        let inertia = 0.5 * (0.25 + 0.4 * 0.025 * 0.025);
        let speed = (2.0 * 0.5 * G * 0.5 * (1.0 - state.q[0].cos()) / inertia).sqrt();
        let mut cradle = start(&model, scene, integrator, state);
        let mut fastest = [0.0_f64; 5];
        for k in 1..=60 {
            cradle.advance_to(0.01 * f64::from(k)).unwrap();
            for (fastest, v) in fastest.iter_mut().zip(&cradle.state().v) {
                *fastest = fastest.max(v.abs());
            }
        }
        println!("{integrator:?}: {fastest:?} of {speed}");
        assert!(fastest[4] > 0.99 * speed && fastest[4] < 1.01 * speed, "{integrator:?}: {fastest:?}");
    }
}

// Energy of random impacts, oblique, with spin, friction and several points at once: never above
// what it was. Rounding, and gravity's work in steps of first order, which is left out here.
#[test]
fn impacts_make_no_energy() {
    let seed = 8;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let mut rebounds = 0;
    for draw in 0..120 {
        let (e, friction) = (0.5 * (1.0 + random.signed()), 1.0 + random.signed());
        let mut maker = Maker::new(0.0);
        let half = || Vector3::new(0.05, 0.08, 0.03);
        for _ in 0..2 {
            let mass = 10.0_f64.powf(random.signed());
            let shape = match random.bits() % 3 {
                0 => Shape::Sphere { radius: 0.06 },
                1 => Shape::Capsule { radius: 0.03, half_length: 0.05 },
                _ => Shape::Box { half_extents: half() },
            };
            maker.free(mass, shape, surface(e, friction));
        }
        maker.touchable(None, Isometry3::identity(), Shape::HalfSpace, surface(e, friction));
        let (model, scene) = maker.finish();
        let mut state = model.zero_configuration();
        for b in 0..2 {
            let turn = random.rotation();
            state.q[7 * b..7 * b + 4].copy_from_slice(&[turn.w, turn.i, turn.j, turn.k]);
            let place = random.vector() * 0.05 + Vector3::new(0.0, 0.0, 0.2 + 0.3 * b as f64);
            state.q[7 * b + 4..7 * b + 7].copy_from_slice(place.as_slice());
            let (spin, v) =
                (random.vector() * 20.0, random.vector() * 2.0 - Vector3::z() * (1.0 + 2.0 * b as f64));
            state.v[6 * b..6 * b + 3].copy_from_slice(spin.as_slice());
            state.v[6 * b + 3..6 * b + 6].copy_from_slice(v.as_slice());
        }
        let first = energy(&model, &state);
        let integrator = Integrator::Fixed { step: 1e-3 };
        let mut bodies = start(&model, scene, integrator, state);
        for k in 1..=300 {
            bodies.advance_to(1e-3 * f64::from(k)).unwrap();
            let lost = bodies.lost_in_impacts();
            rebounds += usize::from(lost > 0.0);
            let now = energy(&model, bodies.state());
            assert!(lost > -1e-12 * first, "draw {draw}, step {k}: {lost}");
            // The springs of slow contacts may give back what they took.
            assert!(now < first * (1.0 + 1e-9), "draw {draw}, step {k}: {first} to {now}");
        }
    }
    println!("{rebounds} rebounds");
    assert!(rebounds > 100);
}

/// The velocities of two boxes right after they met, named in one order or the other; none if they do not
/// meet within 20 steps.
fn met(boxes: &[([f64; 7], [f64; 6], f64, ContactMaterial); 2], swapped: bool) -> Option<[Vec<f64>; 2]> {
    let order = if swapped { [1, 0] } else { [0, 1] };
    let mut maker = Maker::new(0.0);
    for b in order {
        maker.free(boxes[b].2, Shape::Box { half_extents: Vector3::new(0.05, 0.08, 0.03) }, boxes[b].3);
    }
    let (model, scene) = maker.finish();
    let mut state = model.zero_configuration();
    for (k, b) in order.into_iter().enumerate() {
        state.q[7 * k..7 * k + 7].copy_from_slice(&boxes[b].0);
        state.v[6 * k..6 * k + 6].copy_from_slice(&boxes[b].1);
    }
    let step = 2e-3;
    let mut bodies = start(&model, scene, Integrator::Fixed { step }, state);
    (1..=20).find_map(|k| {
        let told = bodies.advance_to(step * f64::from(k)).unwrap();
        assert_eq!(told.solver.inaccurate_impacts, 0);
        let v = |k: usize| bodies.state().v[6 * k..6 * k + 6].to_vec();
        (bodies.lost_in_impacts() > 0.0).then(|| order.map(v))
    })
}

// The order in which bodies are named is no part of nature: random boxes that meet flat or on edge, of
// other frictions and restitutions, part alike in either order. Off by rounding, and by the error of the
// step's convex problem.
#[test]
fn the_order_of_bodies_does_not_count() {
    let seed = 12;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let (mut worst, mut count) = (0.0_f64, 0);
    for draw in 0..200 {
        let speed = 5.0;
        let boxes = [-1.0, 1.0].map(|side| {
            // Nearly every second one is nearly flat.
            let turn = if random.bits().is_multiple_of(2) {
                random.rotation().powf(0.01)
            } else {
                random.rotation()
            };
            let place = random.vector() * 0.02 + Vector3::z() * (side * 0.08);
            let velocity = random.vector() * 0.5 - Vector3::z() * (side * speed);
            let spin = random.vector() * 10.0;
            let pose = [turn.w, turn.i, turn.j, turn.k, place.x, place.y, place.z];
            let motion = [spin.x, spin.y, spin.z, velocity.x, velocity.y, velocity.z];
            let material = surface(0.5 * (1.0 + random.signed()), 1.0 + random.signed());
            (pose, motion, 10.0_f64.powf(random.signed()), material)
        });
        let [Some(one), Some(other)] = [false, true].map(|swapped| met(&boxes, swapped)) else { continue };
        count += 1;
        for (a, b) in one.iter().flatten().zip(other.iter().flatten()) {
            // Turning moves the corners, a tenth of a metre away.
            let off = (a - b).abs() / speed;
            worst = worst.max(off);
            assert!(off < 1e-6, "draw {draw}: {one:?} {other:?}");
        }
    }
    println!("{count} impacts, at most {worst:e} of the speed");
    assert!(count > 100);
}

// Newton's second law: what a floor gives to bodies of several shapes that rebound, roll and come to rest
// on it is the change of their momentum less their weight's impulse, in every step, up to what a converged
// solve may leave: 1e-6 of all momentum, that of turning with it.
#[test]
fn the_floor_gives_the_change_of_momentum() {
    let seed = 5;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let mut worst = 0.0_f64;
    for draw in 0..40 {
        let mut maker = Maker::new(G);
        let mass = 10.0_f64.powf(random.signed());
        let size = 0.05;
        let material = |random: &mut Random| surface(0.5 * (1.0 + random.signed()), 1.0 + random.signed());
        let shape = Shape::Box { half_extents: Vector3::new(size, 0.5 * size, 0.7 * size) };
        let (first, center) = (material(&mut random), random.vector() * size);
        maker.body(JointKind::Free, Isometry3::identity(), center, mass, shape, first);
        for _ in 0..random.bits() % 3 {
            let place = center + random.vector() * size;
            let place = Isometry3::from_parts(place.into(), random.rotation());
            let (shape, own) =
                (Shape::Capsule { radius: 0.3 * size, half_length: 0.6 * size }, material(&mut random));
            maker.touchable(Some(LinkId(0)), place, shape, own);
        }
        let floor = material(&mut random);
        maker.touchable(None, Isometry3::identity(), Shape::HalfSpace, floor);
        let (model, scene) = maker.finish();
        let mut state = model.zero_configuration();
        let turn = random.rotation();
        state.q[..4].copy_from_slice(&[turn.w, turn.i, turn.j, turn.k]);
        state.q[6] = 3.0 * size;
        state.v[..3].copy_from_slice((random.vector() * 10.0).as_slice());
        state.v[3..6].copy_from_slice((random.vector() - Vector3::z()).as_slice());
        let step = 4e-3;
        let mut bodies = start(&model, scene, Integrator::Fixed { step }, state);
        // Of the centre of mass.
        let velocity = |state: &State| {
            let [w, x, y, z] = [0, 1, 2, 3].map(|k| state.q[k]);
            let turn = nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(w, x, y, z));
            let [spin, v] = [0, 3].map(|k| Vector3::from_column_slice(&state.v[k..k + 3]));
            v + spin.cross(&(turn * center))
        };
        for k in 1..=100 {
            let before = velocity(bodies.state());
            let summary = bodies.advance_to(step * f64::from(k)).unwrap();
            let after = velocity(bodies.state());
            let found = Vector3::from(summary.environment_impulse);
            let expected = (Vector3::z() * (-G * step) - (after - before)) * mass;
            let off = (found - expected).norm() / (mass * (before.norm() + after.norm() + G * step));
            worst = worst.max(off);
            assert!(off < 1e-5, "draw {draw}, step {k}: {found:?}, not {expected:?}");
        }
    }
    println!("at most {worst:e}");
}

// Newton's law for a box that lands flat, as for a ball: it neither turns nor slides.
#[test]
fn a_flat_box_stays_flat() {
    let mut maker = Maker::new(G);
    maker.free(2.0, Shape::Box { half_extents: Vector3::new(0.1, 0.2, 0.05) }, surface(0.6, 0.5));
    maker.touchable(None, Isometry3::identity(), Shape::HalfSpace, surface(0.6, 0.5));
    let (model, scene) = maker.finish();
    let mut state = model.zero_configuration();
    state.q[6] = 0.05 + 0.2;
    let mut bodies = start(&model, scene, Integrator::Fixed { step: 1e-3 }, state);
    bodies.advance_to(0.3).unwrap();
    let v = &bodies.state().v;
    assert!(v[5] > 0.0 && v[..5].iter().all(|x| x.abs() < 1e-9), "{v:?}");
}

// A joint that starts beyond its limit by up to 1 rad comes back at no more than half a radian a
// second, whatever it is and however long steps are, stays at the limit, and has no more energy
// than that speed gives.
#[test]
fn joints_beyond_their_limits_come_back_gently() {
    let seed = 12;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for draw in 0..40 {
        let mut builder = ModelBuilder::new(Vector3::zeros());
        let mass = 10.0_f64.powf(1.5 * random.signed());
        let range = 0.05 + 0.5 * (1.0 + random.signed());
        let link = Link {
            name: "arm".into(),
            parent: None,
            joint: if draw % 2 == 0 {
                JointKind::Revolute { axis: Vector3::y_axis() }
            } else {
                JointKind::Prismatic { axis: Vector3::y_axis() }
            },
            frame: Isometry3::identity(),
            inertia: RigidInertia::at_center(mass, Vector3::x() * 0.2, Matrix3::identity() * (0.01 * mass)),
            gravity: true,
            dofs: vec![Dof { limits: [-range, range], ..Dof::default() }],
        };
        builder.add(link).unwrap();
        let model = builder.build().unwrap();
        let mut state = model.zero_configuration();
        let beyond = 0.01 + 0.5 * (1.0 + random.signed());
        let side = random.signed().signum();
        state.q[0] = side * (range + beyond);
        let step = 1e-3 * (1.0 + 4.5 * (1.0 + random.signed()));
        for integrator in [
            Integrator::Fixed { step },
            Integrator::ErrorControlled { accuracy: 1e-4, max_step: 0.1 },
            Integrator::Trapezoid { step, accuracy: None },
        ] {
            let mut arm =
                Simulation::new(System::new(model.clone()), NoContacts, integrator, state.clone()).unwrap();
            let mut fastest = 0.0_f64;
            for k in 1..=400 {
                arm.advance_to(0.01 * f64::from(k)).unwrap();
                fastest = fastest.max(arm.state().v[0].abs());
            }
            let (q, v) = (arm.state().q[0] * side, arm.state().v[0]);
            println!("{draw} {integrator:?}: {fastest}, at {} of the limit, {v}", q - range);
            // The last millimetre is one-sided: what speed is left there is 1e-3 in 0.1 s, and of a
            // step before that a tenth more.
            assert!(fastest < 0.51 && v.abs() < 0.0125, "draw {draw} {integrator:?}: {fastest} {v}");
            assert!(q < range + 2e-3 && q > range - 0.05, "draw {draw} {integrator:?}: {q} {range}");
        }
    }
}
