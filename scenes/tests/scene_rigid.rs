//! The built-in scenes of rigid bodies hold the laws that they are there to show. No files: a
//! scene, its world, steps.

use nalgebra::Vector3;
use pliant_coupling::World;
use pliant_rigid::BodyId;
use pliant_scenes::builtin;
use pliant_scenes::format::Scene;
use pliant_scenes::scenario::Scenario;

const G: f64 = 9.81;

fn scene(name: &str) -> Scene {
    builtin::scene(name).unwrap().unwrap()
}

/// Runs a scene to its end; calls `look` with the world after each step.
fn play(scene: &Scene, mut look: impl FnMut(&World)) -> World {
    let mut scenario = Scenario::new(scene).unwrap();
    for _ in 0..(scene.duration / scene.dt).round() as usize {
        scenario.step().unwrap();
        look(&scenario.world);
    }
    scenario.world
}

fn id(world: &World, name: &str) -> BodyId {
    world.bodies().find(name).unwrap()
}

fn position(world: &World, body: BodyId) -> Vector3<f64> {
    world.bodies().pose(body).translation.vector
}

fn velocity(world: &World, body: BodyId) -> Vector3<f64> {
    world.bodies().velocity(body).linear
}

/// The bodies that move, with their masses [kg].
fn movable(world: &World) -> impl Iterator<Item = (BodyId, f64)> {
    let links = world.bodies().simulation().system().model.links();
    world.bodies().iter().filter_map(|(id, body)| Some((id, links[body.link?.0].inertia.mass)))
}

/// Kinetic energy and that of gravity above z = 0 [J]; what springs of contacts hold is not
/// counted.
fn energy(world: &World) -> f64 {
    let height: f64 = movable(world).map(|(id, mass)| mass * G * position(world, id).z).sum();
    world.bodies().kinetic_energy() + height
}

/// Deepest contact of the last step [m].
fn deepest(world: &World) -> f64 {
    world.bodies().simulation().contact_forces().map(|c| -c.candidate.distance).fold(0.0, f64::max)
}

/// Sum of the contact forces of static on moving bodies [N].
fn support(world: &World) -> Vector3<f64> {
    let of = |c: pliant_rigid::simulation::ContactForce| match (c.candidate.first, c.candidate.second) {
        (None, _) => c.force,
        (_, None) => -c.force,
        _ => Vector3::zeros(),
    };
    world.bodies().simulation().contact_forces().map(of).sum()
}

// Checks: energy. Without dissipation a ball that falls by h has m g h between bounces and comes
// back to h; four bounces in 4 s (one every 2 sqrt(2 h/g) = 0.903 s and the contact's half period).
// The trapezoidal rule at 0.2 ms, 50 steps a contact, is off by its order where contact begins and
// ends: a thousandth is allowed. The apex is sampled every 10 ms: g (5 ms)^2/2 = 0.12 mm below it.
#[test]
fn a_dropped_ball_keeps_its_height() {
    let (mut heights, mut bounces) = (vec![], 0);
    let mut falling = true;
    play(&scene("ball-drop"), |world| {
        let ball = id(world, "ball");
        let (z, v) = (position(world, ball).z - 0.1, velocity(world, ball).z);
        if z > 0.0 {
            let energy = G * z + 0.5 * v * v;
            assert!((energy / G - 1.0).abs() < 1e-3, "{energy} J at {} s", world.time());
        }
        bounces += usize::from(falling && v > 0.0);
        if !falling && v <= 0.0 {
            heights.push(z);
        }
        falling = v <= 0.0;
    });
    assert_eq!(bounces, 4);
    assert_eq!(heights.len(), 4);
    assert!(heights.iter().all(|z| (z - 1.0).abs() < 1.5e-3), "{heights:?}");
}

// Sticks until static friction is exceeded, mu_s m g = 9.81 N, then slides against mu_d m g = 4.905
// N. The regularised law gives at most 0.980 mu_s m g, at six stiction tolerances, and a quarter of
// a per cent below mu_d far in motion.
#[test]
fn the_conveyor_breaks_loose_and_slides() {
    let force = |t: f64| 10.0 * (std::f64::consts::PI * t).sin();
    let (mut broke, mut slid, mut back) = (None, 0, 0);
    let mut before: Option<(f64, f64)> = None;
    play(&scene("conveyor"), |world| {
        let body = id(world, "box");
        let (t, v, x) = (world.time(), velocity(world, body).x, position(world, body));
        if broke.is_none() {
            // Stuck, it creeps by no more than those six tolerances a second.
            assert!(force(t) > 0.975 * 9.81 || v < 6e-4, "{v} m/s under {} N", force(t));
            if v > 0.01 {
                broke = Some(force(t));
            }
        }
        if v.abs() > 0.5 {
            let friction = -support(world).x * v.signum();
            assert!((friction / 4.905 - 1.0).abs() < 3e-3, "{friction} N at {t} s");
            // Newton's second law between two looks; the sum over the steps is off by half a step
            // at either end.
            if let Some((t0, v0)) = before {
                let push = 10.0 / std::f64::consts::PI
                    * ((std::f64::consts::PI * t0).cos() - (std::f64::consts::PI * t).cos());
                let expected = push - 4.905 * v.signum() * (t - t0);
                let rounding = 10.0 * std::f64::consts::PI * (t - t0) * 1e-3;
                assert!((v - v0 - expected).abs() < 3e-3 * 4.905 * (t - t0) + rounding, "at {t} s");
            }
            before = Some((t, v));
            slid += 1;
        } else {
            before = None;
        }
        back += usize::from(t > 2.2 && t < 2.4 && v.abs() < 6e-4);
        assert!(x.y.abs() < 1e-6 && (x.z - 0.05).abs() < 1e-4, "{x}");
    });
    let broke = broke.unwrap();
    assert!(broke > 0.975 * 9.81 && broke < 9.81, "{broke} N");
    assert!(slid > 200, "{slid}");
    // 39 looks between two slides: all of them stuck.
    assert_eq!(back, 39);
}

// Checks: equilibrium. The contact below box i carries the weight of 10 - i boxes on four springs
// of k = 1e7 N/m, so that the top one is lower by sum (10 - i) m g/(4 k) = 13.5 micrometres;
// nothing else moves, sideways not at all.
#[test]
fn the_stack_stays() {
    let mut lowest = f64::INFINITY;
    let world = play(&scene("stack"), |world| {
        lowest = lowest.min(position(world, id(world, "box9")).z);
    });
    let sunk = |z: f64| 0.95 - z;
    let expected = (1..=10).map(|n| f64::from(n) * G / 4e7).sum::<f64>();
    let found = sunk(position(&world, id(&world, "box9")).z);
    assert!((found / expected - 1.0).abs() < 1e-2, "{found:e} {expected:e}");
    assert!(sunk(lowest) < 2.0 * expected, "{:e}", sunk(lowest));
    for (body, _) in movable(&world) {
        let x = position(&world, body);
        let turned = world.bodies().pose(body).rotation.angle();
        let v = velocity(&world, body).norm();
        assert!(x.xy().norm() < 1e-7 && turned < 1e-7 && v < 1e-9, "{x} {turned:e} {v:e}");
    }
}

// At steps of 2 to 20 ms a cube that is set down at speed slows down monotonically, without a hop,
// and stops v^2/(2 mu g) from where it began; 2 %. A corner lifts at first, by no more than what
// 0.1 rad/s throw it: w^2 (sqrt(2) a)^2/(2 g), 3 micrometres. When it stops it rocks back:
// friction's moment mu m g a presses the front edge's two springs of k by mu m g/4 more and the
// rear edge's by as much less, which hold 4 (mu m g/4)^2/(2 k) = 3 uJ, 2.4 mm/s of 1 kg.
#[test]
fn a_cube_slides_to_rest_monotonically() {
    for step in [0.002, 0.005, 0.01, 0.02] {
        let scene = Scene { dt: step, ..scene("slide-cube") };
        let (mut before, mut highest) = (2.0_f64, 0.0_f64);
        let world = play(&scene, |world| {
            let cube = id(world, "cube");
            let speed = velocity(world, cube).norm();
            assert!(speed < before + 1e-9 || speed < 2.4e-3, "step {step}: {speed} after {before} m/s");
            before = speed;
            highest = highest.max(position(world, cube).z - 0.05);
        });
        let found = position(&world, id(&world, "cube")).x;
        let expected = 4.0 / (2.0 * 0.5 * G);
        println!("step {step}: {found} m, {:+.2} %", 100.0 * (found / expected - 1.0));
        assert!((found / expected - 1.0).abs() < 0.02, "step {step}: {found} {expected}");
        assert!(before < 1e-6 && highest < 2e-4, "step {step}: {before:e} m/s, {highest:e} m");
    }
}

// Checks: energy only falls (springs of contacts, which are not counted, hold (m g)^2/(2 k) = 2 mJ
// of 31 J at rest, and more for the milliseconds of an impact), and what is left of it is that of a
// cylinder that lies, its axis level and its weight borne.
#[test]
fn the_cylinder_comes_to_lie() {
    let scene = scene("cylinder");
    let mass = 1000.0 * std::f64::consts::PI * 0.01 * 0.2;
    let start = mass * (G * 0.5 + 0.5);
    let mut before = start * 1.01;
    let world = play(&scene, |world| {
        let now = energy(world);
        assert!(now < before + 1e-3 * start, "{now} J after {before} J at {} s", world.time());
        before = now;
    });
    let cylinder = id(&world, "cylinder");
    let axis = world.bodies().pose(cylinder) * Vector3::z();
    let x = position(&world, cylinder);
    assert!(axis.z.abs() < 1e-3 && (x.z - 0.1).abs() < 1e-4, "{axis} {x}");
    // It slid on, less far than if it had kept all of its speed while falling and then slid from 1
    // m/s: 0.28 m and 0.10 m.
    assert!(x.y > 0.28 && x.y < 0.38, "{x}");
    assert!(velocity(&world, cylinder).norm() < 1e-6);
    assert!((support(&world).z / (mass * G) - 1.0).abs() < 1e-3, "{}", support(&world));
}

/// Plays clutter; deepest contact of any look, and of the last half [m].
fn clutter(name: &str) -> (World, [f64; 2]) {
    let scene = scene(name);
    let mut deep = [0.0_f64; 2];
    let world = play(&scene, |world| {
        let now = deepest(world);
        deep[0] = deep[0].max(now);
        if world.time() > scene.duration / 2.0 {
            deep[1] = deep[1].max(now);
        }
    });
    (world, deep)
}

// Checks: nothing leaves the bin; at the end a thousandth of the 100 J of the fall is left (balls
// roll on: nothing resists it) and contacts carry the weight.
fn settled(world: &World, reach: f64) {
    let (mut weight, mut count) = (0.0, 0);
    for (body, mass) in movable(world) {
        let x = position(world, body);
        assert!(x.x.abs() < reach && x.y.abs() < reach && x.z > 0.04 && x.z < 0.25, "{x}");
        assert!(velocity(world, body).norm() < 0.1, "{}", velocity(world, body));
        weight += mass * G;
        count += 1;
    }
    assert_eq!(count, 20);
    assert!(world.bodies().kinetic_energy() < 0.1, "{}", world.bodies().kinetic_energy());
    assert!((support(world).z / weight - 1.0).abs() < 0.02, "{} N of {weight} N", support(world).z);
}

// The depth of an impact (Hunt and Crossley 1975, x from m v dv/dx = -k x (1 + d v)) of a pile, 5
// bodies of `mass` [kg] as if they were one, that fell by 0.7 m [m].
fn impact_depth(mass: f64, stiffness: f64, dissipation: f64) -> f64 {
    let (v, d) = ((2.0 * G * 0.7_f64).sqrt(), dissipation);
    (2.0 * 5.0 * mass / stiffness * (v / d - (d * v).ln_1p() / (d * d))).sqrt()
}

// An impact is as deep as its law says or as the accuracy, 1 mm, allows. At rest a contact carries
// no more than the weight of all, about: 15 kg g/k = 15 micrometres; a wedge may triple it.
#[test]
fn hard_clutter_comes_to_rest_in_its_bin() {
    let (world, [ever, late]) = clutter("clutter-hard");
    settled(&world, 0.4 - 0.0499);
    let bound = impact_depth(1.0, 1e7, 10.0) + 1e-3;
    assert!(ever < bound, "{ever:e} m, an impact explains {bound:e} m");
    assert!(late < 5e-5, "{late:e} m at rest");
}

// At rest a sphere that lies on the floor is m g/k = 5.14 mm in it; every one does, since twenty
// spheres cover a quarter of the bin.
#[test]
fn soft_clutter_comes_to_rest_at_the_depth_of_its_springs() {
    let (world, [ever, _]) = clutter("clutter-soft");
    let mass = 4.0 / 3.0 * std::f64::consts::PI * 0.05_f64.powi(3) * 1000.0;
    let depth = mass * G / 1e3;
    settled(&world, 0.4 - 0.05 + depth);
    for (body, _) in movable(&world) {
        let found = 0.05 - position(&world, body).z;
        assert!((found / depth - 1.0).abs() < 0.02, "{found:e} {depth:e}");
    }
    let bound = impact_depth(mass, 1e3, 10.0);
    assert!(ever < bound, "{ever:e} m, an impact explains {bound:e} m");
}
