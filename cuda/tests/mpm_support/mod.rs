//! Particles and materials for the tests of the material point method on the device.
#![allow(dead_code, reason = "each test program uses its own part")]

pub mod path;

use nalgebra::{Matrix3, Point3, Vector3};
use pliant_cuda::Device;
use pliant_cuda::mpm::{BlockCapacities, DeviceMpm};
use pliant_mpm::material::{Elastic, GranularFlow, GranularWalls, Material, Model};
use pliant_mpm::reference::ReferenceParticle;
use pliant_mpm::{Boundary, InstructionSet, Mpm, ParticleState};

use crate::support::Random;

/// Half the distance from 1 to the next f32: the largest relative error of one f32 operation.
pub const ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;

pub fn random_vector(random: &mut Random) -> Vector3<f64> {
    Vector3::from_fn(|_, _| random.signed())
}

pub fn random_matrix(random: &mut Random) -> Matrix3<f64> {
    Matrix3::from_fn(|_, _| random.signed())
}

/// A material of every model: `youngs_modulus` in Pa, nu 0.3, yield stress E/20, 1e3 kg/m^3. The
/// last is granular.
pub fn every_material(youngs_modulus: f64) -> Vec<Material> {
    let elastic = Elastic { youngs_modulus, poissons_ratio: 0.3 };
    let models = [
        Model::FixedCorotated(elastic),
        Model::NeoHookean(elastic),
        Model::LinearCorotated(elastic),
        Model::VonMises { elastic, yield_stress: 0.05 * youngs_modulus },
        Model::DruckerPrager { elastic, friction_angle: 0.5 },
        Model::Granular(GranularFlow {
            elastic,
            friction_angle: 0.5,
            fast_friction_angle: 0.65,
            inertial_number: 0.3,
            grain_diameter: 1e-3,
            grain_density: 2500.0,
            walls: GranularWalls::Rough,
        }),
    ];
    models.map(|model| Material { density: 1e3, model }).to_vec()
}

/// Undeformed particles at the centres of `counts` cells of edge `edge` [m], the first cell's
/// corner at `corner` [m].
pub fn lattice(corner: [f64; 3], edge: f64, counts: [usize; 3]) -> Vec<ParticleState> {
    let mut particles = Vec::new();
    for i in 0..counts[0] {
        for j in 0..counts[1] {
            for k in 0..counts[2] {
                let at = |axis: usize, n: usize| corner[axis] + edge * (n as f64 + 0.5);
                let position = Point3::new(at(0, i), at(1, j), at(2, k));
                particles.push(ParticleState::new(position, Vector3::zeros(), edge.powi(3), 0));
            }
        }
    }
    particles
}

pub fn host(h: f64, materials: &[Material], particles: &[ParticleState], boundaries: &[Boundary]) -> Mpm {
    Mpm::new(h, materials.to_vec(), particles, boundaries, InstructionSet::detect()).unwrap()
}

/// The particles of a model on a device, with room to spread.
pub fn on_device(device: &Device, mpm: &Mpm, boundaries: &[Boundary]) -> DeviceMpm {
    DeviceMpm::new(device, mpm, boundaries, BlockCapacities::for_model(mpm)).unwrap()
}

/// The model's particles, with the values that it rounded, as the reference takes them, in the
/// order of their ids.
pub fn to_reference(mpm: &Mpm) -> Vec<ReferenceParticle> {
    let particle = |s: &ParticleState| ReferenceParticle {
        position: s.position.coords,
        velocity: s.velocity,
        affine: s.affine,
        deformation_gradient: s.deformation_gradient,
        volume: s.volume,
        mass: s.volume * mpm.materials()[s.material].density,
        material: s.material,
        state: s.state,
    };
    mpm.particles().iter().map(particle).collect()
}
