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
