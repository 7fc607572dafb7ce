//! Families of trials, and the draws that they share.

use crate::Trial;
use crate::laws::Law;
use crate::sampler::SceneSampler;
use crate::transform::Transformation;
use pliant_scenes::format::{AutoOr, Coupling, Integrator, RigidSolver, Scene};

/// A kind of scenes.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Name on the command line.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Whether a trial takes seconds: such a family runs only if it is named.
    pub long: bool,
    /// Draws a trial.
    pub draw: fn(&mut SceneSampler) -> Trial,
}

/// Most particles times substeps of a scene: about a tenth of a second on one core.
pub(super) const WORK: f64 = 5e5;

/// Shortens a scene so that `particles` of a wave speed \[m/s\] on its grid cost no more than
/// `work` particles times substeps, but keeps some steps.
pub(super) fn bound_work(scene: &mut Scene, particles: f64, wave: f64, speed: f64, work: f64) {
    let Some(h) = scene.grid_spacing else { return };
    // The library's own limit is a part of h/(c + v); a fixed number of substeps is refused if it
    // is unstable.
    let substep = (0.3 * h / (wave + speed)).min(scene.dt);
    let most = (work / particles * substep / scene.dt).max(4.0);
    scene.duration = scene.duration.min(most.ceil() * scene.dt);
}

/// The settings that any scene may have, drawn over what the schema allows.
pub(super) fn settings(sampler: &mut SceneSampler, scene: &mut Scene) {
    scene.coupling = sampler.pick(&[Coupling::Auto, Coupling::Auto, Coupling::Weak, Coupling::Strong]);
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
pub(super) fn rigid_settings(sampler: &mut SceneSampler, scene: &mut Scene) {
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

/// Two of the symmetry transformations of a scene.
pub(super) fn symmetries(sampler: &mut SceneSampler) -> Vec<Law> {
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

pub(super) fn at_rest() -> Law {
    Law::Energy { frame: [0.0; 3] }
}
