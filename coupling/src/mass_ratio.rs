//! Which bodies are too light for what they touch to be coupled weakly.
//!
//! A weakly coupled body does not respond within a step of dt: what pushes back follows a velocity that
//! is one step old. If the mass that this velocity moves within a step is not small compared with the
//! body's mass, body and material oscillate against each other, and from about the body's mass on the
//! oscillation grows without bound (the added-mass instability of partitioned schemes; Causin, Gerbeau
//! and Nobile 2005). Two things push back:
//!
//! - inertia: by the end of the step a pressure wave has reached `c dt` into the material, and the mass
//!   behind the wave, `rho c A dt`, has the body's velocity;
//! - a layer that something holds from its other side, such as a table or another finger: a spring of
//!   stiffness K gives back the impulse `K dt^2 v`, that of a mass `K dt^2`, however light the layer is.

use nalgebra::{Point3, Vector3};
use pliant_mpm::{Mpm, ParticleState};
use pliant_rigid::simulation::LinearResponse;
use pliant_rigid::{Bodies, BodyId, SpatialImpulse};

use crate::auto_or::AutoOr;
use crate::error::BuildError;
use crate::settings::{Coupling, NEAR_RIGID_STIFFNESS_NUMBER, Settings};

/// Ratio of the added mass to the body's mass from which on a body is coupled strongly.
const STRONG_MASS_RATIO: f64 = 0.25;

/// Thickness up to which the contacts on both faces of a layer act on the same nodes of the grid: the
/// width of the quadratic kernel's inner part, over the grid spacing \[-\].
const SHARED: f64 = 2.0;

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
    let layers = layers(mpm, particles);
    let substep = match settings.substeps {
        AutoOr::Value(substeps) => settings.dt / f64::from(substeps),
        AutoOr::Auto => settings.dt.min(mpm.stable_substep_at_rest()),
    };
    let (mut response, mut scratch) = (LinearResponse::default(), Vec::new());
    let still = vec![SpatialImpulse::zero(); bodies.len()];
    bodies.prepare(settings.dt);
    for chunk in dynamic.chunks(CHUNK) {
        bodies.linearise_response(settings.dt, chunk, &still, &mut scratch, &mut response)?;
        for (k, &id) in chunk.iter().enumerate() {
            let reach = bodies.body(id).reach();
            let own = 1.0 / largest_point_mobility(&response.mobility, k, 6 * chunk.len(), reach);
            let held =
                layers.iter().map(|layer| layer.held_mass(settings, substep, reach)).fold(0.0, f64::max);
            let added = added_mass(settings.dt, mpm, particles, reach).max(held);
            strong[id.0] = added > STRONG_MASS_RATIO * own;
        }
    }
    Ok(strong)
}

/// All of a material, as a layer that something holds from its other side.
struct Layer {
    /// Of a face of the layer \[m^2\].
    area: f64,
    /// Particles on a face, per area \[1/m^2\].
    surface_density: f64,
    /// Of a particle \[kg\].
    particle_mass: f64,
    /// Of the material between the two contacts, per area; infinite where both act on the same nodes of
    /// the grid \[N/m^3\].
    stiffness: f64,
}

impl Layer {
    /// Mass `K dt^2` whose inertia is what the layer gives back within a step to a body that extends
    /// `reach` \[m\] from its origin: contact, material and the contact on the other side in series \[kg\].
    fn held_mass(&self, settings: &Settings, substep: f64, reach: f64) -> f64 {
        let contact = match settings.contact.stiffness {
            AutoOr::Auto => NEAR_RIGID_STIFFNESS_NUMBER * self.particle_mass / (substep * substep),
            AutoOr::Value(stiffness) => stiffness,
        };
        let yielding = 2.0 / (contact * self.surface_density) + 1.0 / self.stiffness;
        let area = self.area.min(std::f64::consts::PI * reach * reach);
        area / yielding * settings.dt * settings.dt
    }
}

/// Each material, sheet and rope that has particles.
fn layers(mpm: &Mpm, particles: &[ParticleState]) -> Vec<Layer> {
    let (solids, sheets) = (mpm.materials().len(), mpm.sheet_materials().len());
    let of = |material: usize| {
        let own = || particles.iter().filter(move |particle| particle.material == material);
        let (count, volume) = own().fold((0.0, 0.0), |(n, volume), p| (n + 1.0, volume + p.volume));
        if count == 0.0 {
            return None;
        }
        let density = mpm.density(material);
        // One layer, of so many vertices and this area.
        let single = |vertices: f64, area: f64| Layer {
            area,
            surface_density: vertices / area,
            particle_mass: density * volume / vertices,
            stiffness: f64::INFINITY,
        };
        if let Some(rope) = material.checked_sub(solids + sheets) {
            // As seen from the side: its volume is pi r^2 times its length.
            let radius = mpm.rope_materials()[rope].radius;
            return Some(single(count, 2.0 * volume / (std::f64::consts::PI * radius)));
        }
        if let Some(sheet) = material.checked_sub(solids) {
            // A flat body touches vertices only; a sheet has twice as many centroids.
            let vertices = mpm.sheet_particles()[sheet].vertices.len() as f64;
            return Some(single(vertices, volume / mpm.sheet_materials()[sheet].thickness));
        }
        let spacing = f64::cbrt(volume / count);
        let thickness = spacing + least_extent(own());
        let modulus = density * mpm.wave_speed(material).powi(2);
        let is_thin = thickness <= SHARED * mpm.grid_spacing();
        Some(Layer {
            // At least the side of a cube of the material's volume: it may be in several pieces.
            area: (volume / thickness).max(f64::cbrt(volume).powi(2)),
            surface_density: 1.0 / (spacing * spacing),
            particle_mass: density * volume / count,
            stiffness: if is_thin { f64::INFINITY } else { modulus / thickness },
        })
    };
    (0..solids + sheets + mpm.rope_materials().len()).filter_map(of).collect()
}

/// Least side of the box around particles, along the axes of the world \[m\].
fn least_extent<'a>(particles: impl Iterator<Item = &'a ParticleState>) -> f64 {
    let empty = [Point3::from(Vector3::repeat(f64::INFINITY)), Point3::from(Vector3::repeat(-f64::INFINITY))];
    let [low, high] = particles.fold(empty, |[low, high], p| [low.inf(&p.position), high.sup(&p.position)]);
    (high - low).min()
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
    /// `dt` \[s\], with a contact stiffness \[N/m\]: whether it is coupled strongly.
    fn is_strong(mass: f64, dt: f64, stiffness: f64) -> bool {
        let mut settings = Settings::new(0.04, dt);
        settings.contact.stiffness = AutoOr::Value(stiffness);
        let mut builder = World::builder(settings);
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
    // the added mass. That is rho c A dt (c = 11.6 m/s) in a short step; all of the rubber, 1 kg, in a
    // step in which a wave crosses it (8.6 ms); and K dt^2 where that is more: 25 contacts on either
    // face in series with rho c^2 A / L.
    #[test]
    fn a_quarter_of_the_mass_is_the_bound() {
        let modulus = 1e5 * 0.7 / (1.3 * 0.4);
        let wave = f64::sqrt(modulus / 1000.0);
        let held =
            |stiffness: f64| 1.0 / (2.0 / (25.0 * stiffness) + 0.1 / (modulus * 0.01)) * 0.05_f64.powi(2);
        let cases = [
            (1e-3, 1e3, 1000.0 * wave * 0.01 * 1e-3),
            (0.05, 10.0, 1.0),
            (0.05, 1e3, held(1e3)),
            (0.05, 1e2, held(1e2)),
        ];
        for (dt, stiffness, added) in cases {
            for (part, strong) in [(0.1, true), (0.9, true), (0.98, true), (1.02, false), (2.0, false)] {
                let is = is_strong(42.0 * added * part, dt, stiffness);
                assert_eq!(is, strong, "{part} of the bound at {dt} s and {stiffness} N/m");
            }
        }
    }
}
