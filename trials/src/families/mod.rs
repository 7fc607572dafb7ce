//! The families of trials: each draws scenes of one kind, over the whole range that its kind has.

mod boosts;
mod drops;
mod friction;
mod joints;
mod linkages;
mod rigid;
mod soft;
mod towers;

use super::Trial;
use super::laws::Law;
use super::sampler::SceneSampler;
use super::transform::Transformation;
use pliant_scenes::format::{AutoOr, Integrator, RigidSolver, Scene};

/// A kind of scenes.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Name on the command line.
    pub name: &'static str,
    /// What it draws, in one line.
    pub about: &'static str,
    /// Whether a trial takes seconds: such a family is run only where it is named.
    pub long: bool,
    /// Draws a trial.
    pub draw: fn(&mut SceneSampler) -> Trial,
}

/// All families.
pub const FAMILIES: &[Family] = &[
    drops::FAMILY,
    drops::SETTLING,
    boosts::FAMILY,
    friction::FAMILY,
    soft::FREE,
    soft::REST,
    rigid::FREE,
    rigid::FLOOR,
    joints::FAMILY,
    linkages::LINKAGES,
    linkages::ROBOTS,
    towers::FAMILY,
];

/// The family of a name, or `None`.
pub fn family(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

/// Most particles times substeps of a scene: what a core does in about a tenth of a second.
const WORK: f64 = 5e5;

/// Shortens a scene so that `particles` of a wave speed (m/s) on its grid cost no more than `work` particles times substeps, but keeps some
/// steps.
fn bound_work(scene: &mut Scene, particles: f64, wave: f64, speed: f64, work: f64) {
    let Some(h) = scene.grid_spacing else { return };
    // The library's own limit is a part of h/(c + v); a fixed number of substeps is refused where it is unstable.
    let substep = (0.3 * h / (wave + speed)).min(scene.dt);
    let most = (work / particles * substep / scene.dt).max(4.0);
    scene.duration = scene.duration.min(most.ceil() * scene.dt);
}

/// The settings that any scene may have, drawn over what the schema allows.
fn settings(sampler: &mut SceneSampler, scene: &mut Scene) {
    scene.coupling = sampler.pick(&[
        pliant_scenes::format::Coupling::Auto,
        pliant_scenes::format::Coupling::Auto,
        pliant_scenes::format::Coupling::Weak,
        pliant_scenes::format::Coupling::Strong,
    ]);
    if sampler.chance(0.3) {
        scene.solver.relative_tolerance = sampler.log_within(1e-5, 5e-2);
    }
    if sampler.chance(0.3) {
        scene.contact.stiffness = AutoOr::Value(sampler.log_within(1e2, 1e5));
    }
    if sampler.chance(0.3) {
        scene.contact.dissipation = sampler.log_within(1e-2, 1e2);
    }
    rigid_settings(sampler, scene);
}

/// Those of rigid bodies.
fn rigid_settings(sampler: &mut SceneSampler, scene: &mut Scene) {
    if sampler.chance(0.3) {
        scene.rigid.stiffness = sampler.log_within(1e3, 1e8);
    }
    if sampler.chance(0.3) {
        scene.rigid.dissipation = sampler.log_within(1e-2, 1e3);
    }
    match sampler.count(0, 9) {
        0 => scene.rigid.integrator = Integrator::Trapezoid { step: None },
        1 => {
            let accuracy = sampler.log_within(1e-6, 1e-2);
            scene.rigid.integrator = Integrator::ErrorControlled { accuracy, max_step: 0.1, order: None };
        }
        2 => scene.rigid_solver = RigidSolver::Comfree,
        3 => {
            scene.rigid.integrator =
                Integrator::Fixed { step: Some(scene.dt / f64::from(sampler.count(1, 4))) }
        }
        _ => {}
    }
}

/// Two ways of seeing a scene, of all that leave it the same.
fn symmetries(sampler: &mut SceneSampler) -> Vec<Law> {
    let mut one = || {
        let blocks = [0; 3].map(|_| sampler.count(0, 40) as i32 - 20);
        let change = match sampler.count(0, 6) {
            0 => Transformation::Moved { blocks },
            1 => Transformation::Turned { axis: sampler.count(0, 2) as usize },
            2 => Transformation::Mirrored,
            3 => Transformation::Renamed,
            4 => Transformation::Reordered,
            5 => return Law::Resumed,
            _ => return Law::Threads,
        };
        Law::Same { change }
    };
    vec![one(), one()]
}

fn at_rest() -> Law {
    Law::Energy { frame: [0.0; 3] }
}
