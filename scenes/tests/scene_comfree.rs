//! Built-in scenes under the closed-form solver. No files: a scene, its world, steps.

use pliant_coupling::World;
use pliant_scenes::builtin;
use pliant_scenes::format::{Assignment, Scene, apply};
use pliant_scenes::penetration::PenetrationStatistics;
use pliant_scenes::scenario::Scenario;

const G: f64 = 9.81;

fn scene(name: &str, set: &[&str]) -> Scene {
    let set: Vec<_> = set.iter().map(|s| Assignment::parse(s).unwrap()).collect();
    apply(&builtin::scene(name).unwrap().unwrap(), &set).unwrap()
}

/// Runs a scene for `time` (s); calls `look` with the world after each step.
fn play(scene: &Scene, time: f64, mut look: impl FnMut(&World)) -> World {
    let mut scenario = Scenario::new(scene).unwrap();
    for _ in 0..(time / scene.dt).round() as usize {
        scenario.step().unwrap();
        look(&scenario.world);
    }
    scenario.world
}

// Checks: friction against turning takes mu g/(2/5 r^2) each second, in the order of its length.
#[test]
fn spheres_stop_turning_one_after_the_other() {
    let scene = scene("spin-sphere", &[]);
    let mut rates = Vec::new();
    play(&scene, 2.5, |world| {
        let rate =
            |i: usize| world.bodies().velocity(world.bodies().find(&format!("sphere{i}")).unwrap()).angular.z;
        rates.push([0, 1, 2, 3].map(rate));
    });
    for (i, mu) in [0.0005, 0.001, 0.002, 0.005].into_iter().enumerate() {
        assert!(
            rates.windows(2).all(|w| w[1][i] <= w[0][i] + 1e-12 && w[1][i] > -1e-9),
            "sphere {i} monotone"
        );
        let lost = (rates[24][i] - rates[74][i]) / 0.1;
        let expected = mu * G / (0.4 * 0.05 * 0.05);
        assert!((lost / expected - 1.0).abs() < 1e-3, "sphere {i}: {lost} {expected}");
    }
    assert!(rates.iter().all(|r| r.windows(2).all(|w| w[0] >= w[1])), "in the order of their lengths");
}

// Checks: friction against rolling takes mu g/(3/2 r) each second, in the order of its length.
// Collision detection has octagons for rims.
#[test]
fn cylinders_roll_out_one_after_the_other() {
    let scene = scene("roll-cylinder", &[]);
    let mut speeds = Vec::new();
    play(&scene, 2.0, |world| {
        let speed = |i: usize| {
            world.bodies().velocity(world.bodies().find(&format!("cylinder{i}")).unwrap()).linear.x
        };
        speeds.push([0, 1, 2, 3].map(speed));
    });
    for (i, mu) in [0.0005, 0.001, 0.002, 0.004].into_iter().enumerate() {
        let lost = (speeds[99][i] - speeds[499][i]) / 0.8;
        let expected = mu * G / (1.5 * 0.05);
        println!("cylinder {i}: {lost} {expected}");
        assert!(speeds.windows(2).all(|w| w[1][i] <= w[0][i] + 1e-6), "cylinder {i} monotone");
        assert!((lost / expected - 1.0).abs() < 0.02, "cylinder {i}: {lost} {expected}");
    }
    assert!(speeds[50..].iter().all(|r| r.windows(2).all(|w| w[0] >= w[1])), "in the order of their lengths");
}

// Checks: the cube slows down monotonically at any step, and stops after v^2/(2 mu g).
#[test]
fn a_sliding_cube_slows_down_at_any_step() {
    for dt in [0.002, 0.005, 0.01, 0.02] {
        let scene = scene("slide-cube", &["rigid_solver=comfree", &format!("dt={dt}")]);
        let (mut before, mut gained) = (2.0_f64, 0.0_f64);
        let world = play(&scene, 1.0, |world| {
            let v = world.bodies().velocity(world.bodies().find("cube").unwrap()).linear;
            let speed = v.x.hypot(v.y);
            if before > 0.02 {
                gained = gained.max(speed - before);
            }
            before = speed;
        });
        let displacement = world.bodies().pose(world.bodies().find("cube").unwrap()).translation.x;
        let expected = 4.0 / (2.0 * 0.5 * G);
        println!("dt {dt}: {displacement} m of {expected}, gains {gained}, ends with {before}");
        assert!(gained <= 1e-9 && before < 1e-3, "dt {dt}: {gained} {before}");
        assert!((displacement / expected - 1.0).abs() < 0.02, "dt {dt}: {displacement} {expected}");
    }
}

// Checks: nothing lifts a sphere that rolls under a force, so its speed has no plateau: F/(7/5 m)
// each second.
#[test]
fn a_sphere_between_planes_gains_speed_all_the_way() {
    let scene = scene("sphere-between-planes", &[]);
    let (mut speeds, mut highest) = (Vec::new(), 0.0_f64);
    play(&scene, 1.0, |world| {
        let sphere = world.bodies().find("sphere").unwrap();
        speeds.push(world.bodies().velocity(sphere).linear.x);
        highest = highest.max(world.bodies().pose(sphere).translation.z);
    });
    let gain = 1.0 / (1.4 * 0.2);
    for w in speeds.windows(2).skip(1) {
        assert!(((w[1] - w[0]) / (gain * 0.01) - 1.0).abs() < 0.02, "{w:?}");
    }
    println!("{} m/s, highest {highest}", speeds[99]);
    assert!((speeds[99] / gain - 1.0).abs() < 0.01 && highest < 0.0501, "{} {highest}", speeds[99]);
}

/// Mean and deviation of the penetration (mm) over the contacts that overlap after 1000 steps,
/// their number, the fastest body (m/s), and what a step took on average (ms).
fn pile(set: &[&str]) -> [f64; 5] {
    let scene = scene("primitive-pile", set);
    let start = std::time::Instant::now();
    let world = play(&scene, 2.0, |_| {});
    let elapsed = start.elapsed().as_secs_f64();
    let depths = PenetrationStatistics::of(&world);
    let fastest = world
        .bodies()
        .simulation()
        .state()
        .v
        .chunks_exact(6)
        .map(|v| v[3].hypot(v[4]).hypot(v[5]))
        .fold(0.0, f64::max);
    [1e3 * depths.mean(), 1e3 * depths.deviation(), depths.count as f64, fastest, elapsed]
}

// ComFree-Sim, figure 3: the six published settings, ours, and the convex solver on one scene. The
// published penetration falls with k_user.
#[test]
#[ignore = "slow tier"]
fn a_pile_is_as_deep_as_its_stiffness_lets_it() {
    let published = "rigid.comfree.form=published";
    let row = |name: &str, set: &[&str]| {
        let found = pile(set);
        let [mean, deviation, contacts, fastest, time] = found;
        println!(
            "{name:30} {mean:7.3} +- {deviation:7.3} mm, {contacts:4} contacts, {fastest:.4} m/s, {time:.3} ms a step"
        );
        found
    };
    let mut depths = Vec::new();
    for (k, d) in [(0.1, 0.001), (0.1, 0.005), (0.3, 0.001), (0.3, 0.005), (0.5, 0.001), (0.5, 0.005)] {
        let gains = format!(r#"rigid.comfree.gains={{"type":"per-step","stiffness":{k},"damping":{d}}}"#);
        let four = "rigid.comfree.facets=4";
        depths.push(row(&format!("published {k} {d}"), &[published, four, &gains])[0]);
    }
    let ours = row("predicted", &[]);
    let icf = row("icf", &["rigid_solver=icf"]);
    assert!(depths[0] > depths[2] && depths[2] > depths[4], "{depths:?}");
    assert!(depths[1] > depths[3] && depths[3] > depths[5], "{depths:?}");
    assert!(ours[0] < depths[5] && ours[0] < 1.0, "{ours:?}");
    assert!(icf[0] < ours[0], "{icf:?}");
}

// ComFree-Sim, figure 7: little piles side by side fall, each by itself, and most cubes come to
// rest (spheres roll on). After the fall no contact is deeper than the weight of a column of three
// bodies, carried by one contact, would press it at the stiffness of the impedance (equations 11
// and 12): K = w^2 r/(1 - r)/tr with at most tr = 3/m + 12 r^2/(m a^2) of a cube's corner.
#[test]
fn little_piles_fall_by_themselves() {
    let count = 9;
    let scene = scene("pile-scaling", &[&format!("copies.count={count}")]);
    let (mut most, mut deepest) = (0_usize, 0.0_f64);
    let world = play(&scene, scene.duration, |world| {
        let contacts = world.bodies().simulation().contact_forces();
        let (mut number, mut pair) = (0, None);
        for contact in contacts {
            number += 1;
            let copies =
                [contact.candidate.first, contact.candidate.second].map(|link| link.map(|l| l.0 / 12));
            if let [Some(a), Some(b)] = copies
                && a != b
            {
                pair = Some((a, b));
            }
        }
        assert!(pair.is_none(), "piles {pair:?} touch");
        most = most.max(number);
        if world.time() > 1.0 {
            deepest = deepest.max(PenetrationStatistics::of(world).deepest);
        }
    });
    let state = world.bodies().simulation().state();
    assert!(state.q.iter().chain(&state.v).all(|x| x.is_finite()));
    assert!(most >= 16 * count, "{most} contacts");
    let speed = |i: usize| state.v[6 * i + 3..6 * i + 6].iter().map(|v| v * v).sum::<f64>().sqrt();
    let moving = (0..12 * count).filter(|i| i % 12 < 4 && speed(*i) > 1e-3).count();
    println!("{most} contacts, {deepest} m deep, {moving} cubes move");
    assert!(moving <= 2 * count, "{moving} of {} cubes move", 4 * count);
    // r/(1 - r) is 9 at least, w = 100/s, tr m at most 3 + 12 (3 (a/2)^2)/a^2 = 12.
    let bound = 3.0 * G / (1e4 * 9.0 / 12.0);
    assert!(deepest < bound, "{deepest} of {bound}");
}
