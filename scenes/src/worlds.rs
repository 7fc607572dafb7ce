//! Scenes of rigid bodies as batches of worlds.

use pliant_batch::{BatchError, WorldBatch};

use crate::format::Scene;
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
/// 0, with the scene's steps; and the scenario, for names and states.
///
/// # Errors
/// A scene with particles, another solver than the closed form, and all that [`WorldBatch::new`]
/// refuses.
pub fn worlds(scene: &Scene, count: usize) -> Result<(WorldBatch, Scenario), WorldsError> {
    let mut scenario = Scenario::new(scene)?;
    if !scenario.colors.is_empty() {
        return Err(WorldsError::Particles { scene: scene.name.clone(), particles: scenario.colors.len() });
    }
    scenario.set_motors();
    let simulation = scenario.world.bodies_mut().simulation_mut();
    let (system, geometries) = (simulation.system(), simulation.source().scene());
    let mut batch = WorldBatch::new(system, geometries, count, scene.dt)?;
    batch.set_states(simulation.state())?;
    Ok((batch, scenario))
}
