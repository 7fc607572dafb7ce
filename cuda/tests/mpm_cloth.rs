//! Sheets of cloth on the device: the f64 reference's motion, momenta, schedules and sorts, saving, energy.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod mpm_support;
mod support;

use mpm_support::{ROUNDOFF, lattice, on_device};
use nalgebra::{Matrix3, Vector3};
use pliant_cuda::mpm::{BlockCapacities, DeviceMpm, Transfer};
use pliant_cuda::{Device, DeviceError};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Pin, Sheet};
use pliant_mpm::material::{Elastic, Material, Model};
use pliant_mpm::reference::{Particle, ReferenceMpm};
use pliant_mpm::{Level, Mpm, ParticleState, StoredParticle};
use support::devices;

const H: f64 = 0.05;
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);
/// When the pins let go [s].
const RELEASE: f64 = 0.02;

/// Cloth with every part of the model on.
fn material() -> ClothMaterial {
    ClothMaterial {
        shear_stiffness: 2e4,
        friction: 0.4,
        bending_stiffness: 5e-3,
        damping: 0.7,
        ..ClothMaterial::new(800.0, Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 }, H, 2e5)
    }
}

fn dt() -> f64 {
    material().largest_stable_substep(H, 2.0)
}

/// A sheet that hangs from pins, which move and let go, and another that falls on it with a block of jelly; they meet from the start.
fn scene() -> (Vec<Sheet>, Vec<Material>, Vec<ParticleState>) {
    let origin = Vector3::new(0.013, -0.021, 0.32);
    let (u, v) = (Vector3::new(0.35, 0.03, 0.05), Vector3::new(-0.02, 0.3, 0.02));
    let mesh = ClothMesh::rectangle(origin, u, v, [7, 6]).unwrap();
    let pin = |vertex: usize| {
        let at = mesh.vertices()[vertex];
        let path = vec![(0.0, at), (0.015, at + Vector3::new(0.01, 0.0, 0.02))];
        Pin::new(vertex, path, RELEASE).unwrap()
    };
    let held = (0..4).chain([30, 55]).map(pin).collect();
    let lower = Sheet { pins: held, ..Sheet::new(mesh.clone(), material()) };
    let disc = ClothMesh::disc(Vector3::new(0.18, 0.13, 0.41), Vector3::new(0.2, 0.1, 1.0), 0.12, 3).unwrap();
    let falling = Vector3::new(0.3, -0.2, -1.5);
    let softer = ClothMaterial { damping: 1.0, ..material() };
    let upper = Sheet { velocity: falling, ..Sheet::new(disc, softer) };
    let jelly = Elastic { youngs_modulus: 2e4, poissons_ratio: 0.3 };
    let jelly = Material { density: 900.0, model: Model::NeoHookean(jelly) };
    let mut block = lattice([0.14, 0.08, 0.43], H / 2.0, [4, 4, 2]);
    block.iter_mut().for_each(|p| p.velocity = falling);
    (vec![lower, upper], vec![jelly], block)
}

fn model() -> Mpm {
    let (sheets, materials, block) = scene();
    Mpm::with_sheets(H, materials, &block, &sheets, &[], Level::detect()).unwrap()
}

/// The same in the f64 reference.
fn reference() -> ReferenceMpm {
    let (sheets, materials, block) = scene();
    let particles = block.iter().map(|s| Particle {
        position: s.position.coords,
        velocity: s.velocity,
        affine: Matrix3::zeros(),
        deformation_gradient: Matrix3::identity(),
        volume: s.volume,
        mass: s.volume * materials[0].density,
        material: 0,
        state: 0.0,
    });
    let particles = particles.collect();
    let mut mpm = ReferenceMpm::new(H, GRAVITY, materials, particles).unwrap();
    for sheet in sheets {
        let cloth = mpm.add_cloth(sheet.mesh, sheet.material, sheet.pins).unwrap();
        mpm.cloths[cloth].set_velocity(|_| (sheet.velocity, Matrix3::zeros()));
    }
    mpm
}

/// Largest distance of a particle from its place in the reference [cells], and of a director.
fn distance(found: &[StoredParticle], fast: &Mpm, reference: &ReferenceMpm) -> [f64; 2] {
    let mut places = vec![Vector3::zeros(); fast.len()];
    let mut directors = places.clone();
    for p in found {
        let cells = |d: usize, _| 4.0 * f64::from(p.block[d]) + f64::from(p.position[d]);
        places[p.id as usize] = Vector3::from_fn(cells);
        directors[p.id as usize] = Vector3::from_fn(|d, _| f64::from(p.deformation_gradient[2 + 3 * d]));
    }
    let mut most = [0.0_f64; 2];
    for (patch, cloth) in fast.patches().iter().zip(&reference.cloths) {
        for (id, p) in (patch.vertices.start..patch.centroids.end).zip(cloth.particles()) {
            most[0] = most[0].max((places[id] - p.position / H).norm());
        }
        for (id, face) in patch.centroids.clone().zip(&cloth.faces) {
            most[1] = most[1].max((directors[id] - face.director).norm());
        }
    }
    for (id, p) in reference.particles.iter().enumerate() {
        most[0] = most[0].max((places[id] - p.position / H).norm());
    }
    most
}

/// All particles of both sheets and the jelly are where the f64 reference has them, while pins move and after they let go, in steps of ten
/// substeps.
///
/// The bound is that of rounding for the host (mpm/tests/cloth_fast.rs): 4 sqrt(N) u (V dt N / h + 8) cells, with V the wave speed.
#[test]
fn sheets_move_as_in_the_reference() {
    let moved = material().wave_speed() * dt() / H;
    for device in devices().into_iter().take(1) {
        for transfer in [Transfer::Ordered, Transfer::Atomic] {
            let (start, mut reference) = (model(), reference());
            let mut device_mpm = on_device(&device, &start, &[]);
            device_mpm.set_transfer(transfer);
            let steps = if transfer == Transfer::Ordered { 5 } else { 2 };
            let mut worst = 0.0_f64;
            for step in 1..=steps {
                device_mpm.advance(10, dt(), GRAVITY).unwrap();
                for _ in 0..10 {
                    reference.substep(dt(), |_, _, _| {}).unwrap();
                }
                let n = 10.0 * f64::from(step);
                let bound = 4.0 * n.sqrt() * ROUNDOFF * (n * moved + 8.0);
                let [places, directors] =
                    distance(&device_mpm.particles().download().unwrap(), &start, &reference);
                println!("{transfer:?} {step}: {places:e} cells, {directors:e} of {bound:e}");
                worst = worst.max(places.max(directors) / bound);
                assert!(worst < 1.0, "{transfer:?} {step}: {places} cells, {directors}; {bound}");
            }
            let released = reference.time > RELEASE;
            assert!(transfer == Transfer::Atomic || released, "the pins never let go: {} s", reference.time);
        }
    }
}
