//! Which bodies are too light for the material that they touch to be coupled weakly.
//!
//! A weakly coupled body does not respond within a step of dt. By its end a pressure wave has
//! reached `c dt` into the material, and the mass behind the wave, `rho c A dt`, has the body's
//! velocity. This added mass follows a velocity that is one step old. If it is not small compared
//! with the body's mass, body and material oscillate against each other, and beyond twice that mass
//! the oscillation grows without bound (the added-mass instability of partitioned schemes; Causin,
//! Gerbeau and Nobile 2005).

use pliant_mpm::{Mpm, ParticleState};
use pliant_rigid::simulation::LinearResponse;
use pliant_rigid::{Bodies, BodyId, SpatialImpulse};

use crate::error::BuildError;
use crate::settings::{Coupling, Settings};

/// Ratio of the added mass to the body's mass from which on a body is coupled strongly.
const STRONG_MASS_RATIO: f64 = 0.25;

/// Bodies whose response is computed together.
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
    let (mut response, mut scratch) = (LinearResponse::default(), Vec::new());
    let still = vec![SpatialImpulse::zero(); bodies.len()];
    bodies.prepare(settings.dt);
    for chunk in dynamic.chunks(CHUNK) {
        bodies.linearise_response(settings.dt, chunk, &still, &mut scratch, &mut response)?;
        for (k, &id) in chunk.iter().enumerate() {
            let reach = bodies.body(id).reach();
            let own = 1.0 / largest_point_mobility(&response.mobility, k, 6 * chunk.len(), reach);
            strong[id.0] = added_mass(settings.dt, mpm, particles, reach) > STRONG_MASS_RATIO * own;
        }
    }
    Ok(strong)
}

/// Bound on how much a unit impulse anywhere on the surface of body `k` changes the velocity there
/// [1/kg]: the traces of its block of W.
fn largest_point_mobility(mobility: &[f64], k: usize, size: usize, reach: f64) -> f64 {
    let entry = |d: usize| mobility[(6 * k + d) * size + 6 * k + d];
    (entry(3) + entry(4) + entry(5)) + reach * reach * (entry(0) + entry(1) + entry(2))
}

/// Mass that a pressure wave passes within `dt` behind a body that extends `reach` \[m\] from its
/// origin, at most the mass of all particles \[kg\].
fn added_mass(dt: f64, mpm: &Mpm, particles: &[ParticleState], reach: f64) -> f64 {
    let (mut mass, mut volume, mut impedance) = (0.0, 0.0, 0.0_f64);
    for particle in particles {
        let density = mpm.density(particle.material);
        mass += density * particle.volume;
        volume += particle.volume;
        impedance = impedance.max(density * mpm.wave_speed(particle.material));
    }
    // The side of a cube of the material's volume, or the body's projection.
    let area = f64::cbrt(volume).powi(2).min(std::f64::consts::PI * reach * reach);
    (impedance * area * dt).min(mass)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Material, ParticleSet, World};
    use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
    use pliant_mpm::material::{Elastic, Model};
    use pliant_rigid::{BodyDesc, Geometry, Joint, MassProperties, Motion, Shape, SpatialVelocity};

    const RADIUS: f64 = 0.2;

    /// A free sphere of `mass` \[kg\] far above a cube of rubber of 0.1 m and 1 kg, at steps of
    /// `dt`
    /// [s]: whether it is coupled strongly.
    fn is_strong(mass: f64, dt: f64) -> bool {
        let mut builder = World::builder(Settings::new(0.04, dt));
        let model = Model::FixedCorotated(Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 });
        let material = builder.material(Material { density: 1000.0, model });
        let at = |n: usize| 0.01 + 0.02 * n as f64;
        let positions: Vec<_> = (0..125).map(|n| Point3::new(at(n / 25), at(n / 5 % 5), at(n % 5))).collect();
        let velocities = vec![Vector3::zeros(); 125];
        builder.particles(ParticleSet { positions, velocities, volumes: vec![8e-6; 125], material });
        let inertia = Matrix3::identity() * (0.4 * mass * RADIUS * RADIUS);
        let motion = Motion::Dynamic {
            parent: None,
            joint: Joint::free(),
            mass: MassProperties { mass, inertia },
            force: Vector3::zeros(),
            torque: Vector3::zeros(),
            velocity: SpatialVelocity::zero(),
            gravity: true,
        };
        builder
            .body(BodyDesc {
                name: "ball".into(),
                pose: Isometry3::translation(0.0, 0.0, 2.0),
                motion,
                geometries: vec![Geometry::new(Shape::Sphere { radius: RADIUS }, 0.5)],
                appearance: Vec::new(),
            })
            .unwrap();
        builder.build().unwrap().strongly_coupled().next().is_some()
    }

    // Checks: strong from an added mass of a quarter of the body's on. The mobility of a point on a
    // sphere's surface is at most 3/m + r^2 3/(0.4 m r^2) = 10.5/m, so it is strong below m = 42 of
    // the added mass. That is all of the rubber, 1 kg, in a step in which a wave crosses it (c =
    // sqrt(1.346e5/1000) = 11.6 m/s, 8.6 ms), and rho c A dt before.
    #[test]
    fn a_quarter_of_the_mass_is_the_bound() {
        let wave = f64::sqrt(1e5 * 0.7 / (1.3 * 0.4) / 1000.0);
        for (dt, added) in [(0.05, 1.0), (1e-3, 1000.0 * wave * 0.01 * 1e-3)] {
            for (part, strong) in [(0.1, true), (0.9, true), (0.98, true), (1.02, false), (2.0, false)] {
                assert_eq!(is_strong(42.0 * added * part, dt), strong, "{part} of the bound at {dt} s");
            }
        }
    }
}
