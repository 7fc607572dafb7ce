//! Granular flow against its closed forms: the cones, mu(I), separation and energy.

use super::*;
use crate::material::{Elastic, GranularFlow, GranularWalls};
use pliant_numeric::linalg::{Sym3, Vec3};
use pliant_testing::random::Random;

const ELASTIC: Elastic = Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 };
const I_0: f64 = 0.28;
const DIAMETER: f64 = 1e-3;
const GRAIN_DENSITY: f64 = 2500.0;
/// Substep \[s\].
const DT: f64 = 2e-4;

fn flow(degrees: f64, fast_degrees: f64) -> GranularFlow {
    GranularFlow {
        elastic: ELASTIC,
        friction_angle: degrees.to_radians(),
        fast_friction_angle: fast_degrees.to_radians(),
        inertial_number: I_0,
        grain_diameter: DIAMETER,
        grain_density: GRAIN_DENSITY,
        walls: GranularWalls::Rough,
    }
}

/// I1 I2/I3, with I2 the sum of the principal minors; 9 for a pressure alone.
fn matsuoka_nakai(s: &Sym3<f64>) -> f64 {
    let m = s.to_mat3();
    let second = 0.5 * (m.trace() * m.trace() - s.norm_squared());
    m.trace() * second / m.determinant()
}

/// I1 I2/I3 on the cone whose ratio in simple shear is `m`: there the stress is p (1 + m, 1, 1 -
/// m), so I1 = 3 p, I2 = p^2 (3 - m^2), I3 = p^3 \[1 - m^2\].
fn limit(m: f64) -> f64 {
    3.0 * (3.0 - m * m) / (1.0 - m * m)
}

/// Random compressed states, most of them outside the cone.
fn trials(random: &mut Random, count: usize) -> Vec<Mat3<f64>> {
    (0..count)
        .map(|_| {
            let low = random.uniform(0.6, 0.98);
            let sigma = random.vec3(low, 1.1);
            random.with_singular_values(sigma)
        })
        .filter(|f| f.determinant() < 0.999)
        .collect()
}

/// Matsuoka and Nakai 1974: slow flow comes back to I1 I2/I3 = 9 + 8 tan^2(phi) at the trial's
/// volume, phi the angle in triaxial compression and extension alike; states inside stay, bit for
/// bit. Tolerance: rounding of I3, whose condition number is below 1e3 here.
#[test]
fn returns_to_the_cone_of_matsuoka_and_nakai() {
    let mut random = Random(41);
    let (mut slid, mut inside) = (0, 0);
    for degrees in [5.0, 20.0, 31.0, 40.0, 44.0_f64] {
        let model = Granular::<f64>::new(&flow(degrees, degrees));
        let bound = limit(degrees.to_radians().tan());
        for f in trials(&mut random, 400) {
            let response = model.update(f, 0.0, DT);
            let ratio = matsuoka_nakai(&response.kirchhoff_stress);
            assert!(response.kirchhoff_stress.trace() < 0.0);
            assert!(ratio <= bound * (1.0 + 1e-9), "{degrees} {f:?}: {ratio} above {bound}");
            if response.deformation_gradient == f {
                inside += 1;
                continue;
            }
            slid += 1;
            assert!((ratio / bound - 1.0).abs() < 1e-9, "{degrees} {f:?}: {ratio}, not {bound}");
            let volume = response.deformation_gradient.determinant() / f.determinant();
            assert!((volume - 1.0).abs() < 1e-13, "{volume}");
        }
    }
    assert!(slid > 500 && inside > 100, "{slid} {inside}");
    // The same angle in triaxial compression and extension: (1 + sin)/(1 - sin) of it, and 8 tan^2
    // of it is limit - 9.
    let model = Granular::<f64>::new(&flow(31.0, 31.0));
    let sine = {
        let tangent_squared = (limit(31.0_f64.to_radians().tan()) - 9.0) / 8.0;
        (tangent_squared / (1.0 + tangent_squared)).sqrt()
    };
    for stretch in [[1.05, 1.05, 0.8], [0.85, 0.85, 1.2]] {
        let tau = model.update(Mat3::diagonal(Vec3(stretch)), 0.0, DT).kirchhoff_stress;
        let (major, minor) = (tau.zz.min(tau.xx), tau.zz.max(tau.xx));
        let expected = (1.0 + sine) / (1.0 - sine);
        assert!((major / minor / expected - 1.0).abs() < 1e-11, "{}, not {expected}", major / minor);
    }
}

/// mu(I) (Jop, Forterre and Pouliquen 2006): steady simple shear at the rate and pressure of a
/// given I has shear stress over pressure mu_s + (mu_2 - mu_s)/(1 + I_0/I), whatever the substep.
/// The volume is held, so the pressure is; tolerance: elastic shear strain, which turns the
/// principal axes, squared.
#[test]
fn steady_simple_shear_has_mu_of_i() {
    let (slow, fast) = (21.0_f64.to_radians().tan(), 33.0_f64.to_radians().tan());
    let model = Granular::<f64>::new(&flow(21.0, 33.0));
    let bulk = ELASTIC.lame_lambda() + 2.0 / 3.0 * ELASTIC.shear_modulus();
    for inertial in [1e-3_f64, 0.03, 0.28, 2.0] {
        for substep in [2e-5, 2e-4] {
            let pressure = 100.0;
            let compression = (-pressure / bulk / 3.0).exp();
            let rate = inertial / (DIAMETER * (GRAIN_DENSITY / pressure).sqrt());
            let mut shear = Mat3::identity();
            shear.0[0][2] = rate * substep;
            let mut f = Mat3::identity().scale(compression);
            let mut tau = Sym3::isotropic(0.0);
            let steps = (0.2 / (rate * substep)).ceil().max(2000.0) as usize;
            for _ in 0..steps {
                let response = model.update(shear * f, 0.0, substep);
                (f, tau) = (response.deformation_gradient, response.kirchhoff_stress);
            }
            let expected = slow + (fast - slow) * inertial / (I_0 + inertial);
            let ratio = deviator(&tau) / (-tau.trace() / 3.0);
            assert!(
                (ratio / expected - 1.0).abs() < 2e-3,
                "I {inertial} dt {substep}: {ratio}, not {expected}"
            );
        }
    }
}

/// sqrt(J2).
fn deviator(tau: &Sym3<f64>) -> f64 {
    (0.5 * tau.add_isotropic(-tau.trace() / 3.0).norm_squared()).sqrt()
}

/// No stress is tensile after any history: 300 random histories of 60 random steps each.
#[test]
fn nothing_ever_pulls() {
    let mut random = Random(43);
    for run in 0..300 {
        let degrees = random.uniform(1.0, 40.0);
        let fast = random.uniform(degrees, 44.5);
        let model = Granular::<f64>::new(&flow(degrees, fast));
        let (mut f, mut state) = (Mat3::identity(), 0.0);
        for _ in 0..60 {
            let step = Mat3::identity() + random.mat3(-0.05, 0.05);
            let response = model.update(step * f, state, DT);
            (f, state) = (response.deformation_gradient, response.state);
            let (values, _) = pliant_numeric::svd::eigen_sym(&response.kirchhoff_stress);
            let largest = values.0[0].max(values.0[1]).max(values.0[2]);
            assert!(largest <= 1e-10 * ELASTIC.youngs_modulus, "run {run}: pulls with {largest} Pa");
            assert!(state >= 0.0 && f.determinant() > 0.0);
        }
    }
}

/// Free separation: pulled apart, sheared and rotated while apart, and pressed together again, it
/// has no stress until its volume is the initial one, and then the stress that it would have had at
/// first.
#[test]
fn separation_leaves_no_ghost_stress() {
    let mut random = Random(44);
    let model = Granular::<f64>::new(&flow(30.0, 38.0));
    let bulk = ELASTIC.lame_lambda() + 2.0 / 3.0 * ELASTIC.shear_modulus();
    for _ in 0..100 {
        let (mut f, mut state, mut volume) = (Mat3::identity(), 0.0, 0.0);
        let mut step = |by: Mat3<f64>| {
            volume += by.determinant().ln();
            let response = model.update(by * f, state, DT);
            (f, state) = (response.deformation_gradient, response.state);
            (volume, response)
        };
        let opening = random.uniform(0.1, 0.6);
        step(Mat3::identity().scale((opening / 3.0_f64).exp()));
        for _ in 0..30 {
            let (gained, response) = step(Mat3::identity() + random.mat3(-0.02, 0.02));
            if gained > 1e-12 {
                assert!(response.kirchhoff_stress.max_abs() < 1e-9, "stress at a volume of {gained}");
                assert!((response.state - gained).abs() < 1e-12);
            }
        }
        let (left, _) = step(Mat3::identity());
        let (end, closed) = step(Mat3::identity().scale(((-left - 0.02) / 3.0_f64).exp()));
        assert!((end + 0.02).abs() < 1e-12);
        assert!((closed.kirchhoff_stress.trace() / 3.0 + 0.02 * bulk).abs() < 1e-9 * bulk);
        assert!(deviator(&closed.kirchhoff_stress) < 0.02 * bulk);
    }
}

/// Clausius and Duhem: over any random cycle the work on the material is not less than the energy
/// it stores. Work by the mean of the stresses before and after each small step, so its own error
/// is of third order in the step: 1e-6 of E at these.
#[test]
fn cycles_never_give_energy() {
    let mut random = Random(45);
    for run in 0..60 {
        let model = Granular::<f64>::new(&flow(random.uniform(5.0, 35.0), 40.0));
        let start = Mat3::identity().scale(0.98);
        let first = model.update(start, 0.0, DT);
        let (mut f, mut state, mut tau) = (first.deformation_gradient, first.state, first.kirchhoff_stress);
        let (mut work, kept) = (0.0, model.energy_density(&f, state));
        for _ in 0..20 {
            let rate = random.mat3(-1e-3, 1e-3);
            for sub in 0..40 {
                // Out along the rate and back again.
                let rate = rate.scale(if sub < 20 { 1.0 } else { -1.0 });
                let response = model.update(f + rate * f, state, DT);
                let mean = (tau + response.kirchhoff_stress).scale(0.5).to_mat3();
                // Strain of the step, ln(1 + rate) to third order.
                let strain = rate - (rate * rate).scale(0.5);
                work += (0..3).map(|i| mean.row(i).dot(strain.row(i))).sum::<f64>();
                (f, state, tau) = (response.deformation_gradient, response.state, response.kirchhoff_stress);
            }
        }
        let lost = work + kept - model.energy_density(&f, state);
        assert!(lost > -1e-6 * ELASTIC.youngs_modulus, "run {run}: gave {} J/m^3", -lost);
    }
}

/// A returned state does not change when no time passes, so that a restored particle has the stress
/// it had.
#[test]
fn no_time_no_flow() {
    let mut random = Random(46);
    let model = Granular::<f64>::new(&flow(25.0, 38.0));
    for f in trials(&mut random, 300) {
        let response = model.update(f, 0.0, DT);
        let again = model.update(response.deformation_gradient, response.state, 0.0);
        let error = (again.kirchhoff_stress.to_mat3() - response.kirchhoff_stress.to_mat3()).max_abs();
        assert!(error < 1e-10 * ELASTIC.youngs_modulus, "{error}");
    }
}
