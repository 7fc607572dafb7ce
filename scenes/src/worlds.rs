//! Scenes of rigid bodies as batches of worlds.

use pliant_batch::{BatchError, WorldBatch};
use pliant_coupling::StepError;
use pliant_rigid::simulation::StepMaker;

use crate::format::Scene;
use crate::initial_checks::warn_of_unused;
use crate::scenario::{Scenario, SceneError};

/// A scene from which no batch of worlds can be built.
#[derive(Debug, thiserror::Error)]
pub enum WorldsError {
    /// No world can be built of it.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// It has something that a batch does not support.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// A motor has no input.
    #[error(transparent)]
    Step(#[from] StepError),
    /// It has particles.
    #[error("a batch supports rigid bodies only; scene '{scene}' has {particles} particles")]
    Particles {
        /// The scene's name.
        scene: String,
        /// Their number.
        particles: usize,
    },
}

/// `count` copies of a scene's rigid bodies in their initial state, motors at their targets at time
/// 0, with the scene's steps; and the scenario, for names and states. Its warnings name what a batch
/// does not use.
///
/// # Errors
/// A scene with particles, another solver than the closed form, and all that [`WorldBatch::new`]
/// refuses.
pub fn worlds(scene: &Scene, count: usize) -> Result<(WorldBatch, Scenario), WorldsError> {
    let mut scenario = Scenario::new(scene)?;
    if !scenario.colors.is_empty() {
        return Err(WorldsError::Particles { scene: scene.name.clone(), particles: scenario.colors.len() });
    }
    scenario.set_motors()?;
    let unused = warn_of_unused(scene, &scenario.world, StepMaker::Batch);
    let simulation = scenario.world.bodies().simulation();
    let (system, geometries) = (simulation.system(), simulation.source().scene());
    let mut batch = WorldBatch::new(system, geometries, count, scene.dt)?;
    batch.set_states(simulation.state())?;
    let own = StepMaker::Simulation(system.solver);
    let of_world = warn_of_unused(scene, &scenario.world, own);
    scenario.warnings.retain(|line| !of_world.contains(line));
    scenario.warnings.extend(unused);
    Ok((batch, scenario))
}
