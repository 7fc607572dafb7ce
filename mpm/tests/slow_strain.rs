//! Strain that is slow beside the rounding of f32: by few units in the last place in a substep.

use crate::common::{self, levels};
use nalgebra::{Matrix3, Point3, Vector3};
use pliant_mpm::material::{Elastic, Material, Model};
use pliant_mpm::{InstructionSet, Mpm, ParticleState};
use pliant_testing::Random;

const SUBSTEPS: u32 = 4000;
/// Spacing above 1.
const ULP_OF_ONE: f64 = 1.2e-7;

/// What may be off of a sum of steps that comes to so many units in the last place: some of them, by the
/// discrepancy of a Weyl sequence, log n; and what rounding makes of velocities, of either sign in every
/// transfer of 27 terms each way.
fn bound(units: f64) -> f64 {
    4.0 + 4.0 * 27.0 * common::ROUNDOFF * f64::from(SUBSTEPS).sqrt() * units
}

/// Soft as nothing: a block of 3 x 3 x 3 cells that no wave crosses in the time of these tests, with the
/// velocity field L x.
fn block(h: f64, rate: Matrix3<f64>, level: InstructionSet) -> Mpm {
    let model = Model::FixedCorotated(Elastic { youngs_modulus: 1e-9, poissons_ratio: 0.3 });
    let mut particles = Vec::new();
    for k in 0..216 {
        let cell = [k % 6, k / 6 % 6, k / 36].map(|i| f64::from(i) + 0.5);
        let x = Point3::from(Vector3::from(cell) * (0.5 * h));
        let mut particle = ParticleState::new(x, rate * x.coords, (0.5 * h).powi(3), 0);
        particle.affine = rate;
        particles.push(particle);
    }
    Mpm::new(h, vec![Material { density: 1e3, model }], &particles, &[], level).unwrap()
}

fn run(mpm: &mut Mpm, dt: f64) {
    for _ in 0..SUBSTEPS {
        mpm.begin_step();
        mpm.particles_to_grid(dt, Vector3::zeros());
        mpm.grid_to_particles(dt).unwrap();
    }
}

/// Free particles in the velocity field L x go on straight, so that x(t) = (1 + L t) x, and F = 1 + L t exactly
/// (rounded to nearest: off by up to 1808 units in the last place, a tenth of the strain).
#[test]
fn slow_strain_is_counted() {
    let seed = 18;
    let (mut random, mut worst) = (Random::new(seed), 0.0_f64);
    for case in 0..12 {
        let level = random.choose(&levels());
        let h = random.log_uniform(1e-3, 0.5);
        let dt = random.log_uniform(1e-6, 1e-3);
        let rate = random.matrix() * (random.log_uniform(1e-9, 1e-6) / dt);
        let mut mpm = block(h, rate, level);
        run(&mut mpm, dt);
        let expected = Matrix3::identity() + rate * (dt * f64::from(SUBSTEPS));
        let off =
            mpm.particles().iter().map(|p| (p.deformation_gradient - expected).amax()).fold(0.0, f64::max);
        let [off, units] = [off, (expected - Matrix3::identity()).amax()].map(|x| x / ULP_OF_ONE);
        println!("seed {seed}, case {case}: {off:.2} ulp of {units:.0}, bound {:.1}", bound(units));
        worst = worst.max(off / bound(units));
    }
    assert!(worst < 1.0, "{worst} of the bound");
}
