//! Laws that hold for every model, and each plastic model's yield surface.

use super::*;
use crate::material::{Elastic, GranularFlow, GranularWalls};
use pliant_numeric::linalg::{Sym3, Vec3};
use pliant_numeric::svd::svd;
use pliant_testing::random::{Random, to_f32, to_f64};

const ELASTIC: Elastic = Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 };
const YIELD_STRESS: f64 = 8e3;
const FRICTION_ANGLE: f64 = 0.6;
/// Substep \[s\].
const DT: f64 = 1e-3;

fn elastic_models() -> [Model; 3] {
    [Model::FixedCorotated(ELASTIC), Model::NeoHookean(ELASTIC), Model::LinearCorotated(ELASTIC)]
}

/// Sand in cells of a centimetre: rates of 10/s at 100 Pa are I = 0.05.
fn granular(degrees: f64, fast_degrees: f64) -> GranularFlow {
    GranularFlow {
        elastic: ELASTIC,
        friction_angle: degrees.to_radians(),
        fast_friction_angle: fast_degrees.to_radians(),
        inertial_number: 0.28,
        grain_diameter: 1e-3,
        grain_density: 2500.0,
        walls: GranularWalls::Rough,
    }
}

fn plastic_models() -> [Model; 3] {
    [
        Model::VonMises { elastic: ELASTIC, yield_stress: YIELD_STRESS },
        Model::DruckerPrager { elastic: ELASTIC, friction_angle: FRICTION_ANGLE },
        Model::Granular(granular(30.0, 36.0)),
    ]
}

fn all_models() -> Vec<Model> {
    elastic_models().into_iter().chain(plastic_models()).collect()
}

/// A deformation that is inside both yield surfaces: compressed by a few per cent, with little
/// shear.
fn mild_compression(random: &mut Random) -> Mat3<f64> {
    random.with_singular_values(random_sigma(0.97, 0.98, random.0))
}

fn random_sigma(low: f64, high: f64, seed: u64) -> Vec3<f64> {
    Random(seed).vec3(low, high)
}

/// tau : (dF F^-1) is the change of energy, by central differences with step 1e-5; the worst error
/// relative to E.
fn energy_derivative_error(model: &AnyModel<f64>, f: &Mat3<f64>) -> f64 {
    let tau = model.update(*f, 0.0, DT).kirchhoff_stress.to_mat3();
    let step = 1e-5;
    let mut worst = 0.0_f64;
    for i in 0..3 {
        for j in 0..3 {
            // dF = step e_i e_j^T F changes the energy by step tau_ij.
            let mut rate = Mat3::zero();
            rate.0[i][j] = step;
            let ahead = model.energy_density(&(*f + rate * *f), 0.0);
            let behind = model.energy_density(&(*f - rate * *f), 0.0);
            worst = worst.max(((ahead - behind) / (2.0 * step) - tau.0[i][j]).abs());
        }
    }
    worst / ELASTIC.youngs_modulus
}

/// Kirchhoff stress = (d psi / d F) F^T, 1e-6 of Young's modulus by differences.
#[test]
fn stress_is_the_derivative_of_the_energy() {
    let mut random = Random(21);
    let mut worst = 0.0_f64;
    for _ in 0..200 {
        let sigma = random.vec3(0.6, 1.5);
        let f = random.with_singular_values(sigma);
        for model in elastic_models() {
            let error = energy_derivative_error(&AnyModel::new(&model), &f);
            assert!(error < 1e-6, "{model:?} {f:?} {error}");
            worst = worst.max(error);
        }
        let f = mild_compression(&mut random);
        for model in plastic_models() {
            let error = energy_derivative_error(&AnyModel::new(&model), &f);
            assert!(error < 1e-6, "{model:?} {f:?} {error}");
            worst = worst.max(error);
        }
    }
    println!("worst error {worst:e} E");
}

/// The same derivative through collapsed and inverted states of the elastic models, where the
/// stress must also push back: energy falls towards J > 0 along the collapsed principal axis.
#[test]
fn inverted_states_have_consistent_stress_that_pushes_back() {
    let mut random = Random(22);
    for sigma2 in [0.09, 0.05, 0.01, -0.02, -0.1, -0.3, -0.6] {
        for _ in 0..20 {
            let sigma = Vec3([random.uniform(0.9, 1.2), random.uniform(0.7, 0.9), sigma2]);
            let f = random.with_singular_values(sigma);
            for model in elastic_models() {
                let any = AnyModel::<f64>::new(&model);
                let error = energy_derivative_error(&any, &f);
                assert!(error < 1e-5, "{model:?} {f:?} {error}");
                // tau_33 on the collapsed axis times d ln sigma_3 must lower the energy when
                // sigma_3 grows.
                let axis = svd(&f).u.column(2);
                let along = axis.dot(any.update(f, 0.0, DT).kirchhoff_stress * axis);
                assert!(along / sigma2 < 0.0, "{model:?} {sigma2} {along}");
            }
        }
    }
}

/// No model returns NaN at J <= 0, exactly singular and zero deformation included; plastic models
/// return J > 0 and then press outwards.
#[test]
fn singular_and_inverted_states_stay_finite() {
    let mut random = Random(23);
    let mut cases =
        vec![Mat3::zero(), Mat3::diagonal(Vec3([1.0, 1.0, 0.0])), Mat3::diagonal(Vec3([1.0, 0.0, 0.0]))];
    for s in [[1.0, 1.0, 0.0], [1.0, 0.5, -0.5], [0.3, 0.2, -0.1], [1.0, 1e-9, -1e-9], [1.0, 1.0, -1.0]] {
        cases.push(random.with_singular_values(Vec3(s)));
    }
    for f in cases {
        for model in all_models() {
            let any = AnyModel::<f64>::new(&model);
            let response = any.update(f, 0.0, DT);
            let narrow = AnyModel::<f32>::new(&model).update(to_f32(&f), 0.0, DT as f32);
            assert!(response.kirchhoff_stress.max_abs().is_finite(), "{model:?} {f:?}");
            assert!(narrow.kirchhoff_stress.max_abs().is_finite(), "{model:?} {f:?}");
            assert!(any.energy_density(&f, 0.0).is_finite(), "{model:?} {f:?}");
        }
        for model in plastic_models() {
            let response = AnyModel::<f64>::new(&model).update(f, 0.0, DT);
            assert!(response.deformation_gradient.determinant() > 0.0, "{model:?} {f:?}");
            assert!(response.kirchhoff_stress.trace() < 0.0, "{model:?} {f:?}");
        }
    }
}

/// Frame indifference: a rotation Q after the deformation turns the stress, tau(Q F) = Q tau(F)
/// Q^T, leaves the energy and the state, and isotropy: a rotation before it changes nothing.
#[test]
fn frame_indifference_and_isotropy() {
    let mut random = Random(24);
    for _ in 0..200 {
        let sigma = random.vec3(0.6, 1.5);
        let f = random.with_singular_values(sigma);
        let (q, p) = (random.rotation_matrix(), random.rotation_matrix());
        for model in all_models() {
            let any = AnyModel::<f64>::new(&model);
            let (plain, turned) = (any.update(f, 0.01, DT), any.update(q * f * p, 0.01, DT));
            let expected = q * plain.kirchhoff_stress.to_mat3() * q.transpose();
            let error = (turned.kirchhoff_stress.to_mat3() - expected).max_abs();
            assert!(error < 1e-12 * ELASTIC.youngs_modulus, "{model:?} {f:?} {error}");
            assert!((turned.state - plain.state).abs() < 1e-13);
            let returned = q * plain.deformation_gradient * p - turned.deformation_gradient;
            assert!(returned.max_abs() < 1e-13, "{model:?} {f:?}");
            let energy = any.energy_density(&f, 0.0) - any.energy_density(&(q * f * p), 0.0);
            assert!(energy.abs() < 1e-12 * ELASTIC.youngs_modulus, "{model:?} {f:?} {energy}");
        }
    }
}

/// Small strain: every model is Hooke's law, tau = 2 mu eps + lambda tr(eps) I, to second order in
/// the strain.
#[test]
fn small_strain_is_hookes_law() {
    let (mu, lambda) = (ELASTIC.shear_modulus(), ELASTIC.lame_lambda());
    let mut random = Random(25);
    for _ in 0..50 {
        let g = random.mat3(-1e-6, 1e-6) - Mat3::identity().scale(1e-5);
        let strain = Sym3::from_symmetric_product(&(g + g.transpose()).scale(0.5), &Mat3::identity());
        let hooke = strain.scale(2.0 * mu).add_isotropic(lambda * strain.trace());
        for model in all_models() {
            let tau = AnyModel::<f64>::new(&model).update(Mat3::identity() + g, 0.0, DT).kirchhoff_stress;
            let error = (tau.to_mat3() - hooke.to_mat3()).max_abs();
            assert!(error < 1e-9 * ELASTIC.youngs_modulus, "{model:?} {error}");
        }
    }
}

fn deviator_norm(tau: &Sym3<f64>) -> f64 {
    tau.add_isotropic(-tau.trace() / 3.0).norm_squared().sqrt()
}

/// Von Mises: beyond yield the returned stress is on |dev tau| = sqrt(2/3) sigma_Y, the volume is
/// kept, the plastic strain grows by exactly the lost deviator, and a second update of the returned
/// state changes nothing more.
#[test]
fn von_mises_returns_to_the_surface() {
    let model = VonMises::<f64>::new(&ELASTIC, YIELD_STRESS);
    let radius = (2.0_f64 / 3.0).sqrt() * YIELD_STRESS;
    let mut random = Random(26);
    let mut yielded = 0;
    for _ in 0..300 {
        let sigma = random.vec3(0.5, 2.0);
        let f = random.with_singular_values(sigma);
        let response = model.update(f, 0.25, DT);
        if deviator_norm(&response.kirchhoff_stress) < 0.999 * radius {
            assert_eq!((response.deformation_gradient, response.state), (f, 0.25));
            continue;
        }
        yielded += 1;
        let error = deviator_norm(&response.kirchhoff_stress) - radius;
        assert!(error.abs() < 1e-11 * ELASTIC.youngs_modulus, "{error}");
        let volume = response.deformation_gradient.determinant() / f.determinant();
        assert!((volume - 1.0).abs() < 1e-13, "{volume}");
        let log = Vec3(svd(&f).sigma.0.map(f64::ln));
        let trial = log.map(|e| e - log.sum() / 3.0).norm_squared().sqrt();
        let plastic = (2.0_f64 / 3.0).sqrt() * (trial - radius / (2.0 * model.elastic.mu));
        assert!((response.state - 0.25 - plastic).abs() < 1e-13);
        let again = model.update(response.deformation_gradient, response.state, DT);
        assert!((again.state - response.state).abs() < 1e-13);
        assert!((again.deformation_gradient - response.deformation_gradient).max_abs() < 1e-13);
    }
    assert!(yielded > 200, "{yielded}");
}

/// Uniaxial stress at yield is sigma_Y: with tau = diag(sigma_Y, 0, 0) the deviator's norm is
/// sqrt(2/3) sigma_Y, so a slightly smaller stretch stays elastic and a slightly larger one yields.
#[test]
fn von_mises_yields_at_the_uniaxial_yield_stress() {
    let model = VonMises::<f64>::new(&ELASTIC, YIELD_STRESS);
    let axial = YIELD_STRESS / ELASTIC.youngs_modulus;
    for (factor, plastic) in [(0.9999, false), (1.0001, true)] {
        let lateral = (-ELASTIC.poissons_ratio * axial * factor).exp();
        let f = Mat3::diagonal(Vec3([(axial * factor).exp(), lateral, lateral]));
        let response = model.update(f, 0.0, DT);
        assert_eq!(response.state > 0.0, plastic);
        let stress = response.kirchhoff_stress;
        assert!((stress.xx / YIELD_STRESS - 1.0).abs() < 2e-4 && stress.yy.abs() < 1e-3 * YIELD_STRESS);
    }
}

/// Drucker-Prager: outside the cone the returned stress is on |dev tau| = -alpha tr tau at the
/// trial's volume; inside it nothing changes, bit for bit.
#[test]
fn drucker_prager_returns_to_the_cone() {
    let model = DruckerPrager::<f64>::new(&ELASTIC, FRICTION_ANGLE);
    let mut random = Random(27);
    let (mut slid, mut inside) = (0, 0);
    for _ in 0..600 {
        let low = random.uniform(0.6, 0.9);
        let sigma = random.vec3(low, 1.2);
        let f = random.with_singular_values(sigma);
        if f.determinant() > 0.99 {
            continue; // to the tip, which has a test of its own
        }
        let response = model.update(f, 0.0, DT);
        let tau = response.kirchhoff_stress;
        let cone = deviator_norm(&tau) + model.alpha * tau.trace();
        assert!(cone < 1e-11 * ELASTIC.youngs_modulus, "{cone}");
        assert_eq!(response.state, 0.0);
        if cone < -1e-3 * ELASTIC.youngs_modulus {
            inside += 1;
            assert_eq!(response.deformation_gradient, f);
        } else if response.deformation_gradient != f {
            slid += 1;
            assert!(cone.abs() < 1e-11 * ELASTIC.youngs_modulus, "{cone}");
            let volume = response.deformation_gradient.determinant() / f.determinant();
            assert!((volume - 1.0).abs() < 1e-13, "{volume}");
        }
    }
    assert!(slid > 100 && inside > 100, "{slid} {inside}");
}

/// Triaxial compression: with alpha as in Klar et al. 2016 the cone touches Mohr-Coulomb there,
/// sigma_1 / sigma_3 = (1 + sin phi) / (1 - sin phi).
#[test]
fn drucker_prager_matches_mohr_coulomb_in_triaxial_compression() {
    let model = DruckerPrager::<f64>::new(&ELASTIC, FRICTION_ANGLE);
    let tau = model.update(Mat3::diagonal(Vec3([1.05, 1.05, 0.8])), 0.0, DT).kirchhoff_stress;
    let expected = (1.0 + FRICTION_ANGLE.sin()) / (1.0 - FRICTION_ANGLE.sin());
    assert!((tau.zz / tau.xx - expected).abs() < 1e-12 * expected, "{}", tau.zz / tau.xx);
}

/// In tension sand returns to the tip without stress and stores the gained volume; compressed
/// again, it has no stress until that volume is lost, and then resists as if it had never opened
/// (Tampubolon et al. 2017).
#[test]
fn drucker_prager_tip_and_volume_correction() {
    let model = DruckerPrager::<f64>::new(&ELASTIC, FRICTION_ANGLE);
    let mut random = Random(28);
    let opened = model.update(random.with_singular_values(Vec3([1.2, 1.1, 0.9])), 0.0, DT);
    assert!(opened.kirchhoff_stress.max_abs() < 1e-9);
    assert!(svd(&opened.deformation_gradient).sigma.0.iter().all(|s| (s - 1.0).abs() < 1e-14));
    let gained = (1.2_f64 * 1.1 * 0.9).ln();
    assert!((opened.state - gained).abs() < 1e-14);

    let squeeze = |log_volume: f64| Mat3::identity().scale((log_volume / 3.0).exp());
    let half = model.update(opened.deformation_gradient * squeeze(-0.5 * gained), opened.state, DT);
    assert!(half.kirchhoff_stress.max_abs() < 1e-9);
    assert!((half.state - 0.5 * gained).abs() < 1e-14);
    let closed = model.update(half.deformation_gradient * squeeze(-0.5 * gained - 0.03), half.state, DT);
    assert!((closed.deformation_gradient.determinant().ln() + 0.03).abs() < 1e-13);
    let bulk = ELASTIC.lame_lambda() + 2.0 / 3.0 * ELASTIC.shear_modulus();
    assert!((closed.kirchhoff_stress.trace() / 3.0 + 0.03 * bulk).abs() < 1e-9 * bulk);
    assert_eq!(closed.state, 0.0);
}

/// The f32 result is the f64 one to rounding: stress to a few hundred f32 epsilons of E times the
/// stretch.
#[test]
fn f32_agrees_with_f64() {
    let mut random = Random(29);
    let mut worst = 0.0_f64;
    for _ in 0..500 {
        let sigma = random.vec3(0.6, 1.5);
        let f = to_f32(&random.with_singular_values(sigma));
        for model in all_models() {
            let narrow = AnyModel::<f32>::new(&model).update(f, 0.0, DT as f32);
            let wide = AnyModel::<f64>::new(&model).update(to_f64(&f), 0.0, DT);
            let stress = to_f64(&narrow.kirchhoff_stress.to_mat3()) - wide.kirchhoff_stress.to_mat3();
            let gradient = to_f64(&narrow.deformation_gradient) - wide.deformation_gradient;
            worst = worst.max(stress.max_abs() / ELASTIC.youngs_modulus).max(gradient.max_abs());
            assert!(stress.max_abs() < 1e-5 * ELASTIC.youngs_modulus, "{model:?} {f:?} {stress:?}");
            assert!(gradient.max_abs() < 5e-6, "{model:?} {f:?} {gradient:?}");
            assert!((f64::from(narrow.state) - wide.state).abs() < 5e-6, "{model:?} {f:?}");
        }
    }
    println!("worst {worst:e}");
}

/// No elastic wave is faster than the bound: rho c^2 is the second derivative of the energy along a (x)
/// F^T n for unit vectors a and n, here by central differences with step 1e-4, of random states with
/// stretches from 0.2 to 4. At the identity the bound is lambda + 2 mu.
#[test]
fn no_wave_is_faster_than_the_bound() {
    let mut random = Random(22);
    let (mut worst, mut loosest) = (0.0_f64, f64::INFINITY);
    for number in 0..900 {
        let elastic = Elastic { youngs_modulus: 1e5, poissons_ratio: random.vec3(-0.9, 0.49).0[0] };
        let model = match number % 3 {
            0 => Model::FixedCorotated(elastic),
            1 => Model::NeoHookean(elastic),
            _ => Model::LinearCorotated(elastic),
        };
        let any = AnyModel::<f64>::new(&model);
        let sigma = random.vec3(0.2_f64.ln(), 4.0_f64.ln()).map(f64::exp);
        let f = random.with_singular_values(sigma);
        let bound = any.wave_modulus(&f);
        let mut fastest = 0.0_f64;
        for _ in 0..200 {
            let [a, n] = [0, 1].map(|_| {
                let v = random.vec3(-1.0, 1.0);
                v * (1.0 / v.fused_norm_squared().sqrt())
            });
            let direction = Vec3([0, 1, 2].map(|j| (0..3).map(|k| f.0[k][j] * n.0[k]).sum::<f64>()));
            let step = 1e-4;
            let at = |t: f64| {
                let mut moved = f;
                for i in 0..3 {
                    for j in 0..3 {
                        moved.0[i][j] += t * a.0[i] * direction.0[j];
                    }
                }
                any.energy_density(&moved, 0.0)
            };
            fastest = fastest.max((at(step) - 2.0 * at(0.0) + at(-step)) / (step * step));
        }
        worst = worst.max(fastest / bound);
        loosest = loosest.min(fastest / bound);
    }
    println!("largest rho c^2 over its bound: {worst:.4}; in the loosest case {loosest:.4}");
    // Differences round by 1e-16 of an energy of up to 1e7 Pa over 1e-8.
    assert!(worst <= 1.0 + 1e-3, "{worst}");
    for model in elastic_models() {
        let at_rest = AnyModel::<f64>::new(&model).wave_modulus(&Mat3::identity());
        approx::assert_relative_eq!(at_rest, ELASTIC.oedometric_modulus(), max_relative = 1e-12);
    }
}
