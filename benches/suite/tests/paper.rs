//! The evaluation of Yu et al. 2025 (part `paper`) at reduced sizes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

use pliant_bench::paper::convergence::{ColdStart, DIRECTIONS};
use pliant_bench::paper::hold::{self, AVERAGED, Curve, Scheme};
use pliant_bench::paper::rivals::held_cube::{HeldCube, HeldCubeError};
use pliant_bench::paper::rivals::implicit::ImplicitSettings;
use pliant_bench::paper::rivals::penalty::Schedule;
use pliant_bench::paper::shake::ShakeWatch;
use pliant_scenes::builtin;
use pliant_scenes::format::{Assignment, Scene, apply};
use pliant_scenes::scenario::Scenario;

fn scene() -> Scene {
    builtin::scene("hold").unwrap().unwrap()
}

/// `hold` with 125 particles in cells of 40 mm.
fn small() -> Scene {
    let changes = ["grid_spacing=0.04", "soft[0].sampling.counts=[5,5,5]"];
    apply(&scene(), &changes.map(|change| Assignment::parse(change).unwrap())).unwrap()
}

fn run(scene: &Scene, scheme: &Scheme) -> Curve {
    hold::run(scene, scheme).unwrap()
}

// Law: statics. The mean force over the last 0.05 s is 10 N within 1 %, half of the weight within 2 %,
// and along y nothing within 1 % of that: the bounds of the scene `hold`, for the engine, for the
// implicit scheme, and for explicit penalty forces where they are stable (ten substeps). Over these 0.05 s
// the panels' and the cube's remaining motion is all that is left.
#[test]
fn every_scheme_reaches_statics_where_it_is_stable() {
    let scene = small();
    let [normal, _, half_weight] = hold::statics(&HeldCube::new(&scene).unwrap());
    // The engine keeps masses in single precision.
    let single = f64::from(f32::EPSILON);
    assert_eq!(normal, 10.0);
    assert!((half_weight / 0.4905 - 1.0).abs() < single, "{half_weight}");
    let stable = Schedule { step: 1e-4, substeps: 10 };
    for scheme in [Scheme::Ours, Scheme::Implicit(ImplicitSettings::PUBLISHED), Scheme::Penalty(stable)] {
        let curve = run(&scene, &scheme);
        let mean = curve.spread(scene.duration - AVERAGED).mean;
        println!("{}: {mean:?}", curve.name);
        assert!((mean[0] / normal - 1.0).abs() < 0.01, "{}: {mean:?}", curve.name);
        assert!((mean[2] / half_weight - 1.0).abs() < 0.02, "{}: {mean:?}", curve.name);
        assert!(mean[1].abs() < 0.01 * half_weight, "{}: {mean:?}", curve.name);
        assert!(curve.newton.is_none_or(|newton| newton.not_converged == 0), "{:?}", curve.newton);
    }
}

// Law: stability of explicit friction (Hairer and Wanner, IV.2, see `benches/suite/src/paper/rivals/penalty.rs`). At the
// engine's own step the friction number is far above 2, so explicit friction on a panel oscillates by
// more than the weight it carries, or throws the cube out of the grid, which rounding decides, while the
// engine's, which is implicit, deviates by less than 1 % of that.
#[test]
fn explicit_friction_oscillates_at_the_step_of_the_engine() {
    let scene = scene();
    let cube = HeldCube::new(&scene).unwrap();
    let half_weight = hold::statics(&cube)[2];
    let schedule = Schedule { step: scene.dt, substeps: 1 };
    assert!(schedule.friction_number(&cube, cube.contacts_of_a_panel()) > 20.0);
    let deviation = |curve: Curve| curve.spread(scene.duration - AVERAGED).deviation;
    let ours = deviation(run(&scene, &Scheme::Ours));
    let theirs = match hold::run(&scene, &Scheme::Penalty(schedule)) {
        Ok(curve) => deviation(curve),
        Err(HeldCubeError::Unstable { time, .. }) => {
            println!("explicit penalty: out of the grid at {time} s");
            [f64::INFINITY; 3]
        }
        Err(other) => panic!("{other}"),
    };
    println!("deviation: ours {ours:?}, explicit penalty {theirs:?}");
    assert!(ours[1] < 0.01 * half_weight, "{ours:?}");
    assert!(theirs[1] > half_weight, "{theirs:?}");
}

// Law: the lemma of the appendix of Yu et al. 2025. On a strongly convex cost, with exact line search,
// every direction converges from any start, the cost never rises beyond its rounding error, and its
// distance from the minimum falls by a factor below one. Seeds 0 to 5, two stiffness numbers.
#[test]
fn the_cost_falls_from_every_cold_start() {
    for number in [1.0, 100.0] {
        for problem in ColdStart::draw(number, 36, 0..6) {
            for (name, direction) in DIRECTIONS {
                let solve = problem.solve(direction);
                let seed = solve.seed;
                assert!(solve.converged, "{name}, seed {seed}");
                assert!(solve.iterations() > 1, "{name}, seed {seed}");
                assert_eq!(solve.rise(), 0.0, "{name}, seed {seed}, number {number}");
                let factor = solve.factor().unwrap();
                assert!(factor < 1.0, "{name}, seed {seed}: {factor}");
            }
        }
    }
}

// Checks: a shaken stack is judged and its picture taken while it is shaken. Laws: friction holds a rigid
// cube in a coarse stack too, in steps that strong coupling allows: it keeps its place between the
// panels to a quarter of its edge, sideways and up.
#[test]
#[ignore = "slow tier"]
fn a_coarse_stack_is_judged_and_pictured() {
    let changes = [
        "grid_spacing=0.02",
        "soft[0].sampling.counts=[6,6,6]",
        "soft[1].sampling.counts=[6,6,6]",
        "dt=0.001",
        "substeps=auto",
        "coupling=strong",
        "duration=2.7",
        "output.picture_size=[160,120]",
    ];
    let shake = builtin::scene("shake").unwrap().unwrap();
    let scene = apply(&shake, &changes.map(|change| Assignment::parse(change).unwrap())).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut watch = ShakeWatch::new(Some(folder.path().join("shake.png")));
    let mut scenario = Scenario::new(&scene).unwrap();
    watch.look(&mut scenario).unwrap();
    while scenario.world.time() < scene.duration - 0.5 * scene.dt {
        scenario.step().unwrap();
        watch.look(&mut scenario).unwrap();
    }
    let file = watch.drawn.as_ref().unwrap().as_ref().unwrap();
    assert!(std::fs::read(file).unwrap().starts_with(b"\x89PNG"));
    let goals = watch.goals();
    println!("{goals:#?}");
    assert_eq!(goals.len(), 2);
    assert!(goals.iter().all(|goal| goal.met == Some(true)), "{goals:#?}");
}
