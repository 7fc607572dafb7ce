//! Built-in scenes, stepped as a run does and judged by their goals.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use pliant_runner::run::{GoalMonitor, GoalResult, Status};
use pliant_scenes::format::{Assignment, Scene, apply, goals_within_duration};
use pliant_scenes::scenario::Scenario;

/// Runs a scene with changes to its end and gives its goals' results. The balances of mass and
/// momentum hold to 1e-4, and nothing fails.
pub fn goals(scene: &Scene, changes: &[&str]) -> Vec<GoalResult> {
    let changes: Vec<_> = changes.iter().map(|change| Assignment::parse(change).unwrap()).collect();
    let scene = apply(scene, &changes).unwrap();
    goals_within_duration(&scene).unwrap();
    let mut scenario = Scenario::new(&scene).unwrap();
    let mut goal_monitor =
        GoalMonitor::new(&scene, &scenario.world, &scenario.parts, &scenario.centers).unwrap();
    while scenario.world.time() < scene.duration - 0.5 * scene.dt {
        scenario.step().unwrap();
        goal_monitor.step(&mut scenario.world, scene.dt).unwrap();
    }
    let balance = scenario.world.balance();
    assert!(
        balance.mass < 1e-4 && balance.linear_momentum < 1e-4 && balance.angular_momentum < 1e-4,
        "{balance:?}"
    );
    goal_monitor.results(Status::Completed, scenario.world.time(), scene.dt)
}
