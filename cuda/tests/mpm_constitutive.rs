//! Every model's stress and return mapping on the device against the f64 model of `pliant-mpm`, on
//! the same f32 inputs.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod mpm_support;
mod support;

use mpm_support::{ROUNDOFF, every_material, random_matrix};
use nalgebra::{Matrix3, Vector3};
use pliant_cuda::kernels::{PROBE_THREADS, ProbeConstitutiveParameters};
use pliant_cuda::mpm::device_materials;
use pliant_cuda::{Device, Launch};
use pliant_mpm::constitutive::{AnyModel, Constitutive};
use pliant_mpm::material::Model;
use support::{Random, devices};

/// Roundings in a decomposition of a 3x3 matrix: the host measured 8.6 epsilon, so 17 u.
const OPERATIONS: f64 = 17.0;

/// Trial deformation gradients and histories: nearly rigid, strained by up to a half, squeezed
/// flat, inverted, and singular.
fn trials() -> Vec<[f32; 10]> {
    let mut random = Random(21);
    let rotation = |random: &mut Random| {
        let q = nalgebra::UnitQuaternion::new(3.0 * mpm_support::random_vector(random));
        q.to_rotation_matrix().into_inner()
    };
    let mut all = Vec::new();
    for k in 0..400 {
        let f = match k % 5 {
            0 => rotation(&mut random) * (Matrix3::identity() + 1e-3 * random_matrix(&mut random)),
            1 => Matrix3::identity() + 0.25 * random_matrix(&mut random),
            2 => {
                let stretch = Vector3::from_fn(|_, _| 0.03 + 1.5 * random.signed().abs());
                rotation(&mut random) * Matrix3::from_diagonal(&stretch) * rotation(&mut random)
            }
            3 => {
                let stretch = Vector3::new(1.2, 0.9, -0.4 * random.signed().abs() - 0.1);
                rotation(&mut random) * Matrix3::from_diagonal(&stretch) * rotation(&mut random)
            }
            _ => Matrix3::identity() * (1.0 + 0.1 * random.signed()),
        };
        let mut trial = [0.0; 10];
        for (n, entry) in trial[..9].iter_mut().enumerate() {
            *entry = f[(n / 3, n % 3)] as f32;
        }
        trial[9] = if k % 2 == 0 { 0.0 } else { (0.05 * random.signed().abs()) as f32 };
        all.push(trial);
    }
    all
}

/// Lengths of a substep [s]: none, and some between those in which the stress of a granular
/// material hardly relaxes and all of it does.
const DELTAS: [f64; 4] = [0.0, 1e-5, 3e-4, 1e-2];

/// Trials of a granular material: pressed by 1e-6 to 0.1 or pulled, sheared from not at all to
/// three times what the cone bears, on the cone of slow flow but for rounding, and with volume
/// gained before that is more or less than they are pressed by.
fn granular_trials(model: &Model) -> Vec<[f32; 10]> {
    let mut random = Random(33);
    let host = AnyModel::<f64>::new(model);
    let mut all = Vec::new();
    for k in 0..600 {
        let mut rotation = || {
            nalgebra::UnitQuaternion::new(3.0 * mpm_support::random_vector(&mut random)).to_rotation_matrix()
        };
        let [u, v] = [rotation(), rotation()];
        let size = 0.1 * 10.0_f64.powf(-2.5 * (1.0 + random.signed()));
        let mean = if k % 5 == 4 { size } else { -size };
        let direction = mpm_support::random_vector(&mut random);
        let shear = size * 3.0 * random.signed().abs() * direction.add_scalar(-direction.mean()).normalize();
        let strain = shear.add_scalar(mean);
        let mut f = u * Matrix3::from_diagonal(&strain.map(f64::exp)) * v.inverse();
        let history = if k % 3 == 0 { 3.0 * size * (1.0 + 0.99 * random.signed()) } else { 0.0 };
        if k % 4 == 3 {
            // In a long substep the stress relaxes to slow flow's.
            f = host.update(f.into(), history, 1.0).deformation_gradient.into();
        }
        let mut trial = [0.0; 10];
        for (n, entry) in trial[..9].iter_mut().enumerate() {
            *entry = f[(n / 3, n % 3)] as f32;
        }
        trial[9] = if k % 4 == 3 { 0.0 } else { history as f32 };
        all.push(trial);
    }
    all
}

fn matrix(entries: &[f32]) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| f64::from(entries[i * 3 + j]))
}

/// Error of a response over its bound, for the gradient, the history and the stress.
fn errors(model: &Model, substep: f64, trial: &[f32; 10], response: &[f32; 16]) -> [f64; 3] {
    let f = matrix(&trial[..9]);
    let right = AnyModel::<f64>::new(model).update(f.into(), f64::from(trial[9]), substep);
    let gradient: Matrix3<f64> = right.deformation_gradient.into();
    let stress: Matrix3<f64> = right.kirchhoff_stress.into();
    let [xx, yy, zz, xy, xz, yz] = std::array::from_fn(|n| f64::from(response[10 + n]));
    let found = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);

    // Strain: what rounding makes of the stretches, relative to each. The models continue below
    // their smallest stretch (0.05), and the logarithm has the slope 1/sigma.
    let sigma = f.singular_values();
    let largest = sigma[0];
    let smallest = sigma[2].max(0.05);
    let strain = OPERATIONS * ROUNDOFF * largest / smallest;
    // The rotation of a polar decomposition turns by the error over the sum of the two smallest
    // stretches, signed (Higham 1986).
    let signed = sigma[2] * f.determinant().signum();
    let gap = (sigma[1] + signed).abs().max(1e-3);
    let turn = OPERATIONS * ROUNDOFF * (largest / gap).max(1.0);
    let modulus = model.elastic().oedometric_modulus();
    let (gradient_bound, history_bound, stress_bound) = match model {
        // 2 mu (F - R) F^T and lambda (J - 1) J, with errors of R and of J.
        Model::FixedCorotated(_) | Model::LinearCorotated(_) => {
            let volume = f.determinant().abs() + 1.0;
            (0.0, 0.0, modulus * (turn + OPERATIONS * ROUNDOFF) * largest * (largest + volume * volume + 1.0))
        }
        // ln J, continued below 0.1: slope 10 there.
        Model::NeoHookean(_) => {
            let volume = OPERATIONS * ROUNDOFF * largest.powi(3);
            let j = f.determinant().max(0.1);
            let slope = (1.0 + (f.determinant() - 0.1).min(0.0).abs() * 10.0) / j;
            (0.0, 0.0, modulus * (volume * slope * (2.0 + f.determinant().abs() * 10.0) + strain * largest))
        }
        Model::VonMises { .. } | Model::DruckerPrager { .. } | Model::Granular(_) => {
            // The cone's slope multiplies the trace's error: below 2 for Drucker-Prager. Of a
            // granular stress T, that of fast, slow and trial stress each has a weight of 1 at most
            // (differentiate the quadratic equation for T), and fast flow's is 1.1 times the
            // pressure: with K = 2.2 mu a slope of 5 in the strains, and 1.8 besides for the cone's
            // section.
            let cone = 6.0 * strain;
            (4.0 * cone * largest.max(1.0), 4.0 * cone, 3.0 * modulus * cone)
        }
    };
    let ratio = |error: f64, bound: f64| if error == 0.0 { 0.0 } else { error / bound };
    [
        ratio((matrix(&response[..9]) - gradient).abs().max(), gradient_bound),
        ratio((f64::from(response[9]) - right.state).abs(), history_bound),
        ratio((found - stress).abs().max(), stress_bound),
    ]
}

fn responses(device: &Device, material: usize, substep: f64, trials: &[[f32; 10]]) -> Vec<[f32; 16]> {
    let materials = device_materials(&every_material(1e5));
    let materials = device.upload(&materials).unwrap();
    let input = device.upload(trials).unwrap();
    let output = device.allocate::<[f32; 16]>(trials.len()).unwrap();
    let parameters = ProbeConstitutiveParameters {
        materials: materials.span(),
        trials: input.span(),
        responses: output.span(),
        material: material as u32,
        substep: substep as f32,
    };
    let launch = Launch::over(trials.len() as u32, PROBE_THREADS, PROBE_THREADS);
    device.launch(launch, &parameters).unwrap();
    output.download().unwrap()
}

/// tau = (d psi / d F) F^T and the return mappings as the host has them (mpm/src/constitutive),
/// within what the rounding of f32 and the conditioning of each model make of the same trial.
#[test]
fn models_match_those_of_the_host() {
    for device in devices() {
        for (m, material) in every_material(1e5).iter().enumerate() {
            let worst = worst(&device, m, &material.model, &DELTAS[..1], &trials());
            println!("{:?}: error over bound {worst:?}", material.model);
        }
    }
}

/// The largest errors over their bounds of a material's responses.
fn worst(device: &Device, m: usize, model: &Model, deltas: &[f64], trials: &[[f32; 10]]) -> [f64; 3] {
    let mut worst = [0.0_f64; 3];
    for &substep in deltas {
        for (trial, response) in trials.iter().zip(responses(device, m, substep, trials)) {
            let errors = errors(model, substep, trial, &response);
            assert!(errors.iter().all(|e| *e <= 1.0), "{model:?}: {errors:?} at {trial:?}, {substep} s");
            worst = std::array::from_fn(|n| worst[n].max(errors[n]));
        }
    }
    worst
}

/// The same of granular flow, whose response depends on the substep's length, over all that it can
/// meet: Matsuoka-Nakai with mu(I) as mpm/src/constitutive/granular.rs has it in f64.
#[test]
fn granular_flow_matches_that_of_the_host() {
    let materials = every_material(1e5);
    let (m, model) = (materials.len() - 1, materials[materials.len() - 1].model);
    let trials = granular_trials(&model);
    for device in devices() {
        let worst =
            [trials.clone(), self::trials()].map(|trials| worst(&device, m, &model, &DELTAS, &trials));
        println!("error over bound {worst:?}");
    }
    // The trials are of all kinds, at each length but the shortest: where nothing changes, where
    // stress relaxes in part, where grains part.
    let host = AnyModel::<f64>::new(&model);
    for substep in &DELTAS[1..3] {
        let mut kinds = [0; 3];
        for trial in &trials {
            let response = host.update(matrix(&trial[..9]).into(), f64::from(trial[9]), *substep);
            kinds[if response.state > 0.0 { 2 } else { usize::from(response.dissipated > 0.0) }] += 1;
        }
        assert!(kinds.iter().all(|kind| *kind > 50), "{kinds:?}");
    }
}

/// An undeformed particle has no stress, bit for bit, and keeps its gradient.
#[test]
fn the_identity_is_stress_free() {
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    for device in devices() {
        for m in 0..every_material(1e5).len() {
            let response = responses(&device, m, 1e-4, &[identity])[0];
            assert!(
                response[..10] == identity && response[10..].iter().all(|s| *s == 0.0),
                "{m}: {response:?}"
            );
        }
    }
}
