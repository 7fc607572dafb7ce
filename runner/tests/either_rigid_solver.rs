//! Particles beside either solver of rigid contact: the convex one (ICF) and the closed form (ComFree)
//! share the stepping loop, so a scene with particles meets its goals and balances with both.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod scene_support;

use pliant_scenes::builtin;
use pliant_scenes::format::{Assignment, apply};
use pliant_scenes::scenario::Scenario;
use scene_support::goals;

const SOLVERS: [&str; 2] = ["icf", "comfree"];

// Laws: mass and momentum are balanced (1e-4, as everywhere), and the solver of rigid contact, which has
// only the rigid cube on its pedestal here, moves the middle of the soft one by less than a tenth of a
// cell.
#[test]
fn panels_shake_a_soft_and_a_rigid_cube() {
    let mut scene = builtin::scene("shake").unwrap().unwrap();
    scene.duration = 0.04;
    let middles = SOLVERS.map(|solver| {
        let change = Assignment::parse(&format!("rigid_solver={solver}")).unwrap();
        let mut scenario = Scenario::new(&apply(&scene, &[change]).unwrap()).unwrap();
        while scenario.world.time() < scene.duration - 0.5 * scene.dt {
            scenario.step().unwrap();
        }
        let balance = scenario.world.balance();
        let errors = [balance.mass, balance.linear_momentum, balance.angular_momentum];
        assert!(errors.iter().all(|error| *error < 1e-4), "{solver}: {balance:?}");
        scenario.world.diagnostics().center_of_mass
    });
    let apart = (middles[0] - middles[1]).norm();
    println!("the middles of the particles are {apart:.2e} m apart");
    assert!(apart < 0.1 * scene.grid_spacing.unwrap(), "{middles:?}");
}

// Laws: statics, as in `hold.rs`, in every step of the last 0.05 s and with either solver: a panel bears
// the force that presses it within 1 %, half of the weight within 2 %, and no lateral force beyond 1 % of
// that. Nothing rigid touches anything rigid here: the panels and their slides are the solver's.
#[test]
fn panels_hold_a_soft_cube() {
    let scene = builtin::scene("hold").unwrap().unwrap();
    let half_weight = 0.5 * 100.0 * 1e-3 * 9.81;
    for solver in SOLVERS {
        let change = Assignment::parse(&format!("rigid_solver={solver}")).unwrap();
        let mut scenario = Scenario::new(&apply(&scene, &[change]).unwrap()).unwrap();
        let panels = [("left", -1.0), ("right", 1.0)]
            .map(|(name, outward)| (scenario.world.bodies().find(name).unwrap(), outward));
        let mut worst = [0.0_f64; 3];
        while scenario.world.time() < scene.duration - 0.5 * scene.dt {
            scenario.step().unwrap();
            if scenario.world.time() <= 0.15 {
                continue;
            }
            for (panel, outward) in panels {
                let force = scenario.world.contact_wrench(panel).unwrap().force;
                let errors = [
                    (outward * force.x / 10.0 - 1.0).abs(),
                    (-force.z / half_weight - 1.0).abs(),
                    (force.y / half_weight).abs(),
                ];
                worst = [0, 1, 2].map(|a| worst[a].max(errors[a]));
            }
        }
        println!("{solver}: normal, vertical and lateral force off by at most {worst:?}");
        assert!(worst[0] < 0.01 && worst[1] < 0.02 && worst[2] < 0.01, "{solver}: {worst:?}");
    }
}

// Goals: a scoop digs, lifts, and pours into a cup, with either solver; the cup gets no more than was
// lifted (0.1 % for what is in the air between two measurements), since mass is neither made nor lost.
#[test]
#[ignore = "slow tier"]
fn a_scoop_fills_a_cup() {
    let scene = builtin::scene("sand-scoop").unwrap().unwrap();
    for solver in SOLVERS {
        let results = goals(&scene, &[&format!("rigid_solver={solver}")]);
        println!("{solver}: {results:#?}");
        assert!(
            !results.is_empty() && results.iter().all(|goal| goal.met == Some(true)),
            "{solver}: {results:#?}"
        );
        let mass = |name: &str| results.iter().find(|goal| goal.name == name).unwrap().worst.0;
        assert!(mass("in the cup") <= 1.001 * mass("dug and lifted"), "{solver}: {results:#?}");
    }
}

// Goals: an arm grasps the cube, lifts it without slipping and sets it down, with either solver.
#[test]
#[ignore = "slow tier"]
fn an_arm_grasps_a_soft_cube() {
    let scene = builtin::scene("soft-grasp").unwrap().unwrap();
    for solver in SOLVERS {
        let results = goals(&scene, &[&format!("rigid_solver={solver}")]);
        assert!(
            !results.is_empty() && results.iter().all(|goal| goal.met == Some(true)),
            "{solver}: {results:#?}"
        );
    }
}
