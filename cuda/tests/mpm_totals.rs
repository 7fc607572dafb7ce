//! Totals of the particles on the device against sums in f64 of the same particles, and against the
//! host's.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod mpm_support;
mod support;

use mpm_support::{ROUNDOFF, every_material, host, on_device, random_matrix, random_vector};
use nalgebra::{Matrix3, Point3, Vector3};
use pliant_cuda::Device;
use pliant_cuda::mpm::DeviceMpm;
use pliant_mpm::constitutive::{AnyModel, Constitutive};
use pliant_mpm::material::{Material, Model};
use pliant_mpm::{LastSubstep, Mpm, ParticleState, Totals};
use support::{Random, device_kinds, devices};

const H: f64 = 0.02;
/// Young's modulus [Pa].
const MODULUS: f64 = 1e5;
/// Roundings in a decomposition of a 3x3 matrix in f32: the host measured 8.6 epsilon, so 17 u.
const OPERATIONS: f64 = 17.0;

/// More particles than a tile has, strained by up to a half, of all materials or of one, around a
/// place far from the origin. Some of the neo-Hookean ones are squeezed below the volume ratio
/// where ln J goes on as its tangent, some of the plastic ones below the smallest stretch.
fn particles(material: Option<usize>, count: usize) -> Vec<ParticleState> {
    let mut random = Random(61 + material.unwrap_or(9) as u64);
    let far = Vector3::new(30.0, -45.0, 12.0);
    (0..count)
        .map(|k| {
            let position = Point3::from(far + 0.15 * random_vector(&mut random));
            let volume = 1e-6 * (1.5 + random.signed());
            let velocity = 3.0 * random_vector(&mut random);
            let mut state = ParticleState::new(position, velocity, volume, material.unwrap_or(k % 6));
            state.affine = 40.0 * random_matrix(&mut random);
            state.deformation_gradient += 0.25 * random_matrix(&mut random);
            if k % 7 == 0 {
                state.deformation_gradient *= Matrix3::from_diagonal(&Vector3::new(1.2, 1.0, 0.04));
            }
            state
        })
        .collect()
}

/// The sums as they are defined, in f64 of the numbers that the device has; and the sums of the
/// magnitudes, with the elastic energy's error bound, then the magnitude of the lag.
fn plain(mpm: &Mpm) -> (Totals, [f64; 7]) {
    let (mut sum, mut sizes) = (Totals::default(), [0.0; 7]);
    let last = mpm.last_substep();
    let inertia = H * H / 4.0;
    for b in 0..mpm.block_count() {
        let view = mpm.block(b);
        for i in 0..view.len() {
            let (m, x, v, c) = (view.mass(i), view.position(i).coords, view.velocity(i), view.affine(i));
            let axial = Vector3::new(c[(2, 1)] - c[(1, 2)], c[(0, 2)] - c[(2, 0)], c[(1, 0)] - c[(0, 1)]);
            sum.mass += m;
            sum.first_moment += m * x;
            sum.linear_momentum += m * v;
            sum.angular_momentum += m * (x.cross(&v) + inertia * axial);
            sum.kinetic_energy += 0.5 * m * (v.norm_squared() + inertia * c.norm_squared());
            // -C : (V tau) + g . m v, for half of the last substep.
            let [xx, yy, zz, xy, xz, yz] = view.stress_volume(i);
            let stress = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
            sum.kinetic_lag += 0.5 * last.length * (m * last.gravity.dot(&v) - c.dot(&stress));
            sizes[6] += 0.5 * last.length * (m * last.gravity.norm() * v.norm() + c.norm() * stress.norm());
            let f = view.deformation_gradient(i);
            let model = &mpm.materials()[view.material(i)].model;
            let density = AnyModel::<f64>::new(model).energy_density(&f.into(), 0.0);
            let volume = f64::from(view.volume(i) as f32);
            sum.elastic_energy += volume * density;
            let sizes_of_it = [m, m * x.norm(), m * v.norm(), m * x.norm() * v.norm(), m * v.norm_squared()];
            sizes.iter_mut().zip(sizes_of_it).for_each(|(sum, size)| *sum += size);
            sizes[5] += (volume * density_error(model, &f, density)).powi(2);
        }
    }
    // Errors of this size and either sign (Higham and Mary 2019): six standard deviations of their
    // sum.
    sizes[5] = 6.0 * sizes[5].sqrt();
    (sum, sizes)
}

/// What rounding to f32 makes of an energy density at most [J/m^3]: the derivative by each strain
/// times that strain's error, and some roundings of the largest term.
fn density_error(model: &Model, f: &Matrix3<f64>, density: f64) -> f64 {
    let elastic = model.elastic();
    let (mu, lambda) = (elastic.shear_modulus(), elastic.lame_lambda());
    let sigma = f.singular_values();
    let decomposition = OPERATIONS * ROUNDOFF * sigma[0].max(1.0);
    // Three products of three factors, each sum and product rounded.
    let of_volume = 8.0 * ROUNDOFF * sigma[0].powi(3).max(1.0);
    let j = f.determinant();
    let (change, term) = match model {
        Model::FixedCorotated(_) => {
            let stretch = sigma.add_scalar(-1.0).norm();
            (2.0 * mu * stretch * decomposition + lambda * (j - 1.0).abs() * of_volume, density)
        }
        Model::LinearCorotated(_) => {
            let (stretch, trace) = (sigma.add_scalar(-1.0).norm(), (sigma.sum() - 3.0).abs());
            ((2.0 * mu * stretch + 3.0 * lambda * trace) * decomposition, density)
        }
        // ln J changes by the error of J over J, or 10 times that below 0.1.
        Model::NeoHookean(_) => {
            let log = j.max(0.1).ln().abs() + 10.0 * (0.1 - j).max(0.0);
            let term = mu * (0.5 * f.norm_squared() + 1.5 + log) + 0.5 * lambda * log * log;
            ((mu + lambda * log) * of_volume / j.max(0.1), term)
        }
        Model::VonMises { .. } | Model::DruckerPrager { .. } | Model::Granular(_) => {
            let strain = sigma.map(|s| s.max(0.05).ln());
            let error = sigma.map(|s| decomposition / s.max(0.05));
            (2.0 * mu * strain.abs().dot(&error) + lambda * strain.sum().abs() * error.sum(), density)
        }
    };
    change + 8.0 * ROUNDOFF * term
}

fn compare(found: &Totals, right: &Totals, sizes: &[f64; 7], count: usize) {
    // f64 sums of so many terms of some roundings each, in two orders.
    let sum = f64::EPSILON * (count as f64 + 20.0);
    let errors = [
        (found.mass - right.mass).abs(),
        (found.first_moment - right.first_moment).norm(),
        (found.linear_momentum - right.linear_momentum).norm(),
        (found.angular_momentum - right.angular_momentum).norm(),
        (found.kinetic_energy - right.kinetic_energy).abs(),
    ];
    for (k, (error, size)) in errors.iter().zip(sizes).enumerate() {
        assert!(*error <= sum * size, "entry {k}: off by {error:e} of {size}");
    }
    let error = (found.kinetic_lag - right.kinetic_lag).abs();
    assert!(error <= sum * sizes[6], "lag: off by {error:e} of {} J", sizes[6]);
    let error = (found.elastic_energy - right.elastic_energy).abs();
    println!("elastic energy: {error:e}, bound {:e}, of {:e}", sizes[5], right.elastic_energy);
    assert!(error <= sizes[5] + sum * right.elastic_energy.abs(), "{error:e} of {right:?}");
    // The bound is far below what it bounds.
    assert!(sizes[5] < 1e-4 * right.elastic_energy, "{sizes:?} {right:?}");
}

/// A substep that the particles might have behind them.
fn last_substep() -> LastSubstep {
    LastSubstep { length: 1e-4, gravity: Vector3::new(0.3, 1.0, -9.7), count: 7 }
}

fn totals(device: &Device, mpm: &Mpm) -> Totals {
    on_device(device, mpm, &[]).totals().unwrap()
}

/// Mass, first moment, momenta and energies are their definitions (mpm/src/totals.rs): angular
/// momentum and kinetic energy with the affine field's share (Jiang et al. 2015), its lag, elastic energy of
/// each model (mpm/src/constitutive), 56 m from the origin.
#[test]
fn totals_are_sums_over_the_particles() {
    for device in device_kinds() {
        for (material, count) in [
            (None, 2100),
            (Some(0), 40),
            (Some(1), 40),
            (Some(2), 40),
            (Some(3), 40),
            (Some(4), 40),
            (Some(5), 40),
        ] {
            let mut mpm = host(H, &every_material(MODULUS), &particles(material, count), &[]);
            mpm.set_last_substep(last_substep());
            let (right, sizes) = plain(&mpm);
            compare(&totals(&device, &mpm), &right, &sizes, count);
        }
    }
}

/// The host sums the same in f32 vectors for the elastic energy: no farther from it than two such
/// errors.
#[test]
fn totals_are_the_hosts() {
    let mut mpm = host(H, &every_material(MODULUS), &particles(None, 600), &[]);
    mpm.set_last_substep(last_substep());
    let (_, mut sizes) = plain(&mpm);
    sizes[5] *= 2.0;
    let right = mpm.totals(&mut Vec::new());
    for device in device_kinds() {
        compare(&totals(&device, &mpm), &right, &sizes, 600);
    }
}

/// Their bits do not depend on the schedule, and a step's balance has those of its end.
#[test]
fn totals_end_a_step_and_do_not_depend_on_the_schedule() {
    let materials: Vec<Material> = every_material(MODULUS);
    let states: Vec<ParticleState> =
        particles(None, 1100).into_iter().map(|s| ParticleState { affine: 0.1 * s.affine, ..s }).collect();
    let mpm = host(H, &materials, &states, &[]);
    let mut first = None;
    for device in devices() {
        let mut device_mpm: DeviceMpm = on_device(&device, &mpm, &[]);
        let account = device_mpm.advance(1, 1e-5, Vector3::new(0.0, 0.0, -9.81)).unwrap();
        assert_eq!(account.totals, device_mpm.totals().unwrap());
        let mut copy = mpm.clone();
        device_mpm.particles().write_back(&mut copy).unwrap();
        copy.set_last_substep(device_mpm.last_substep());
        let (right, sizes) = plain(&copy);
        compare(&account.totals, &right, &sizes, 1100);
        if device.is_emulated() {
            assert_eq!(*first.get_or_insert(account.totals), account.totals);
        }
    }
}
