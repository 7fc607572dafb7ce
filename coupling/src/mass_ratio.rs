//! Which bodies are too light for the material that they touch to be coupled weakly.
//!
//! A body that is coupled weakly does not answer within a step of dt. By its end a pressure wave has reached `c dt` into the material, and
//! what it has passed, `rho c A dt`, has been brought to the body's velocity: this added mass is set against a velocity that is a
//! step old. Where it is not light beside the body's own mass the two chase each other from step to step, and beyond twice that mass
//! without bound (the added-mass instability of partitioned schemes; Causin, Gerbeau and Nobile 2005).

use pliant_mpm::{Mpm, ParticleState};
use pliant_rigid::simulation::Response;
use pliant_rigid::{Bodies, BodyId, SpatialImpulse};

use crate::error::BuildError;
use crate::settings::{Coupling, Settings};

/// Added mass, as a part of the body's, from which on a body is coupled strongly.
const LIGHTEST: f64 = 0.25;

/// Bodies asked at once how they answer.
const CHUNK: usize = 16;

/// Whether each body is to be coupled strongly.
pub(crate) fn choose_coupling(
    settings: &Settings,
    mpm: &Mpm,
    particles: &[ParticleState],
    bodies: &mut Bodies,
) -> Result<Vec<bool>, BuildError> {
    let touching = |id: BodyId| bodies.is_dynamic(id) && !bodies.body(id).geometries.is_empty();
    let dynamic: Vec<BodyId> = bodies.iter().map(|(id, _)| id).filter(|&id| touching(id)).collect();
    let mut strong = vec![false; bodies.len()];
    if particles.is_empty() || settings.coupling == Coupling::Weak {
        return Ok(strong);
    }
    if settings.coupling == Coupling::Strong {
        dynamic.iter().for_each(|id| strong[id.0] = true);
        return Ok(strong);
    }
    let (mut response, mut scratch) = (Response::default(), Vec::new());
    let still = vec![SpatialImpulse::zero(); bodies.len()];
    bodies.prepare(settings.dt);
    for chunk in dynamic.chunks(CHUNK) {
        bodies.respond(settings.dt, chunk, &still, &mut scratch, &mut response)?;
        for (k, &id) in chunk.iter().enumerate() {
            let reach = bodies.body(id).reach();
            let own = 1.0 / largest_answer(&response.mobility, k, 6 * chunk.len(), reach);
            strong[id.0] = added_mass(settings.dt, mpm, particles, reach) > LIGHTEST * own;
        }
    }
    Ok(strong)
}

/// Bound on how much a unit impulse anywhere on the surface of body `k` changes the velocity there [1/kg]: the traces of its block of W.
fn largest_answer(mobility: &[f64], k: usize, size: usize, reach: f64) -> f64 {
    let entry = |d: usize| mobility[(6 * k + d) * size + 6 * k + d];
    (entry(3) + entry(4) + entry(5)) + reach * reach * (entry(0) + entry(1) + entry(2))
}

/// What a pressure wave passes within `dt` behind a body that reaches `reach` [m] from its origin, at most all there is [kg].
fn added_mass(dt: f64, mpm: &Mpm, particles: &[ParticleState], reach: f64) -> f64 {
    let (mut mass, mut volume, mut impedance) = (0.0, 0.0, 0.0_f64);
    for particle in particles {
        let density = mpm.density(particle.material);
        mass += density * particle.volume;
        volume += particle.volume;
        impedance = impedance.max(density * mpm.wave_speed(particle.material));
    }
    // As large as the side of a cube of the material, or as the body's shadow.
    let area = f64::cbrt(volume).powi(2).min(std::f64::consts::PI * reach * reach);
    (impedance * area * dt).min(mass)
}
