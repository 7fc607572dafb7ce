//! Towers of boxes that stand.

use super::family::{Family, at_rest};
use crate::Trial;
use crate::builders::{body, dynamic, floor};
use crate::laws::Law;
use crate::sampler::SceneSampler;
use pliant_scenes::format::{RigidShape, RigidSolver, Scene};

/// Their centres are above their supports.
pub const FAMILY: Family = Family {
    name: "towers",
    about: "two to ten boxes on each other, offsets up to an eighth of their width, mass ratios up to 1000, both solvers, 1 or 2 ms",
    long: false,
    draw,
};

fn draw(sampler: &mut SceneSampler) -> Trial {
    let mut scene = Scene::empty("tower", 1.0, sampler.pick(&[1e-3, 2e-3]));
    scene.rigid_solver = sampler.pick(&[RigidSolver::Icf, RigidSolver::Comfree]);
    scene.bodies.push(floor(0.6));
    let half = sampler.log_within(0.01, 0.1);
    let usual = 8000.0 * half.powi(3) * sampler.log_within(0.05, 1.0);
    let uneven = sampler.chance(0.4);
    let mut height = 0.0;
    for number in 0..sampler.count(2, 10) {
        let (ratio, thin) =
            if uneven { (sampler.log_within(1.0, 30.0), sampler.within(0.5, 1.0)) } else { (1.0, 1.0) };
        let mut brick = dynamic(usual * ratio);
        // To the one side and to the other: the centre of all above is over each.
        let side = if number % 2 == 0 { 1.0 } else { -1.0 };
        let aside = 0.25 * half * side * sampler.within(0.0, 1.0);
        brick.pose.position = [aside, -aside * 0.5, height + thin * half];
        height += 2.0 * thin * half;
        let shape = RigidShape::Box { half_extents: [half, half, thin * half] };
        scene.bodies.push(body(&format!("brick-{number}"), brick, shape, 0.6));
    }
    Trial { scene, laws: vec![at_rest(), Law::Stands, Law::Weight] }
}
