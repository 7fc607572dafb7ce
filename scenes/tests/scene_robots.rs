//! Whole scenes of robots, as they come with Pliant: what is held stays held, what is let go falls, what is driven follows.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use nalgebra::{Isometry3, Vector3};
use pliant_rigid::multibody::LinkId;
use pliant_scenes::builtin;
use pliant_scenes::format::{Assignment, apply};
use pliant_scenes::prepare::{Prepared, prepare};

/// A built-in scene with changes, ready to step.
fn scene(name: &str, changes: &[&str]) -> Prepared {
    let changes: Vec<_> = changes.iter().map(|c| Assignment::parse(c).unwrap()).collect();
    prepare(&apply(&builtin::scene(name).unwrap().unwrap(), &changes).unwrap()).unwrap()
}

/// One step as a run does it, the motors told first; gives the steps of the integrator.
fn step(prepared: &mut Prepared) -> usize {
    let (world, dt) = (&mut prepared.world, prepared.scene.dt);
    let time = world.time();
    prepared.drives.apply(world.bodies_mut().simulation_mut().system_mut(), time, dt);
    world.step().unwrap().rigid.steps
}

/// Steps until `time` [s].
fn run_to(prepared: &mut Prepared, time: f64) {
    while prepared.world.time() < time - 1e-9 {
        step(prepared);
    }
}

fn pose(prepared: &Prepared, body: &str) -> Isometry3<f64> {
    let bodies = prepared.world.bodies();
    bodies.pose(bodies.find(body).unwrap())
}

/// Links of bodies.
fn link(prepared: &Prepared, body: &str) -> LinkId {
    let bodies = prepared.world.bodies();
    bodies.body(bodies.find(body).unwrap()).link.unwrap()
}

/// Sum of the contact forces that press two links together along their normals, of the last step [N].
fn pressure(prepared: &Prepared, [a, b]: [LinkId; 2]) -> f64 {
    let simulation = prepared.world.bodies().simulation();
    let between = |first: Option<LinkId>, second: Option<LinkId>| {
        [first, second] == [Some(a), Some(b)] || [first, second] == [Some(b), Some(a)]
    };
    simulation
        .contact_forces()
        .filter(|c| between(c.touch.first, c.touch.second))
        .map(|c| c.force.dot(&c.touch.normal))
        .sum()
}

struct Grasp {
    slip: f64,
    jitter: f64,
    steps: usize,
}

fn grasp(changes: &[&str]) -> Grasp {
    let mut prepared = scene("gripper", changes);
    let links = [link(&prepared, "post"), link(&prepared, "peg")];
    let held = |p: &Prepared| (pose(p, "post").inverse() * pose(p, "peg")).translation.vector;
    let start = held(&prepared);
    let (mut forces, mut steps, mut slip) = (Vec::new(), 0, 0.0_f64);
    while prepared.world.time() < 2.0 - 1e-9 {
        steps += step(&mut prepared);
        slip = slip.max((held(&prepared) - start).norm());
        let t = prepared.world.time();
        println!("{t} {} {:?} {}", pressure(&prepared, links), held(&prepared) - start, pose(&prepared, "post").translation.z);
        if t > 1.0 {
            forces.push(pressure(&prepared, links));
        }
    }
    let mean = forces.iter().sum::<f64>() / forces.len() as f64;
    let variance = forces.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / forces.len() as f64;
    Grasp { slip, jitter: variance.sqrt() / mean, steps }
}

#[test]
fn a_wedged_peg_stays_through_an_impact() {
    for s in ["fixed\",\"step\":0.01", "error-controlled\",\"accuracy\":0.001", "error-controlled\",\"accuracy\":0.000001", "fixed\",\"step\":0.0001"] {
        let g = grasp(&[&format!("rigid.integrator={{\"type\":\"{s}}}")]);
        println!("{s} {:e} {:e} {}", g.slip, g.jitter, g.steps);
    }
}
