//! Motion and strain on a device that are slow beside the rounding of f32: by less than a unit in the last
//! place in a substep.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod mpm_support;
mod support;

use mpm_support::{host, on_device, random_matrix, random_vector};
use nalgebra::{Matrix3, Point3, Vector3};
use pliant_mpm::ParticleState;
use pliant_mpm::material::{Elastic, Material, Model};
use support::{Random, devices};

const SUBSTEPS: u32 = 200;
/// Largest relative error of one f32 operation.
const ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;
/// Spacing above 1.
const ULP_OF_ONE: f64 = f32::EPSILON as f64;

/// A cube of three cells in the velocity field v + L x.
fn block(h: f64, velocity: Vector3<f64>, rate: Matrix3<f64>) -> Vec<ParticleState> {
    let particle = |k: u32| {
        let cell = [k % 6, k / 6 % 6, k / 36].map(|i| f64::from(i) + 0.5);
        let x = Vector3::from(cell) * (0.5 * h);
        let mut particle = ParticleState::new(Point3::from(x), velocity + rate * x, (0.5 * h).powi(3), 0);
        particle.affine = rate;
        particle
    };
    (0..216).map(particle).collect()
}

/// Free particles in the velocity field v + L x, too soft for a wave to cross them, go on straight, so that
/// x(t) = x + (v + L x) t and F = 1 + L t exactly. Sums that are rounded to nearest stay where they are for the
/// slow ones of these, and are off by up to half a unit in every substep for the others. Bounds: rounding of
/// velocities, of either sign in every transfer of 27 terms each way; of strains besides some units, by the
/// discrepancy of a Weyl sequence; of positions that of the sum of two f32.
#[test]
fn slow_motion_arrives_and_slow_strain_is_counted() {
    let seed = 7;
    for device in &devices() {
        let mut random = Random(seed);
        for case in 0..5 {
            let h = [1e-3, 0.01, 0.0625, 0.1, 0.5][case];
            let dt = [1e-5, 1e-4, 1e-3, 1e-6, 1e-4][case];
            let cells = 10.0_f64.powi(case as i32 - 9);
            let velocity = random_vector(&mut random) * (cells * h / dt);
            let rate = random_matrix(&mut random) * (10.0_f64.powf(0.75 * case as f64 - 9.0) / dt);
            let model = Model::FixedCorotated(Elastic { youngs_modulus: 1e-9, poissons_ratio: 0.3 });
            let states = block(h, velocity, rate);
            let mut mpm = host(h, &[Material { density: 1e3, model }], &states, &[]);
            let start = mpm.particles();
            let mut on_device = on_device(device, &mpm, &[]);
            on_device.advance(SUBSTEPS, dt, Vector3::zeros()).unwrap();
            on_device.particles().write_back(&mut mpm).unwrap();

            let time = dt * f64::from(SUBSTEPS);
            let relative = 4.0 * 27.0 * ROUNDOFF * f64::from(SUBSTEPS).sqrt();
            let fastest = states.iter().map(|p| p.velocity.amax()).fold(0.0, f64::max);
            let of_positions =
                relative * fastest * time + f64::from(SUBSTEPS) * 4.0 * ROUNDOFF * ROUNDOFF * h;
            let strain = rate * time;
            let of_strain = 4.0 * ULP_OF_ONE + relative * strain.amax();
            let (mut worst_x, mut worst_f) = (0.0_f64, 0.0_f64);
            for (end, from) in mpm.particles().iter().zip(&start) {
                let path = (velocity + rate * from.position.coords) * time;
                worst_x = worst_x.max((end.position - from.position - path).amax() / of_positions);
                let expected = Matrix3::identity() + strain;
                worst_f = worst_f.max((end.deformation_gradient - expected).amax() / of_strain);
            }
            println!("seed {seed}, case {case}: positions {worst_x:.2}, strains {worst_f:.2} of the bounds");
            assert!(worst_x < 1.0 && worst_f < 1.0, "case {case}: {worst_x}, {worst_f} of the bounds");
        }
    }
}
