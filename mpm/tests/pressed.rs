//! Sheets that are pressed thin and let go give back the energy that pressed them.

use nalgebra::Vector3;
use pliant_mpm::cloth::{ClothMaterial, ClothMesh};
use pliant_mpm::material::Elastic;
use pliant_mpm::reference::ReferenceMpm;
use pliant_testing::random::Random;

/// A sheet at rest whose directors are shortened to r33, anywhere in the grid and turned in any way, and the
/// speed sqrt(K / rho) \[m/s\].
fn pressed_sheet(random: &mut Random, r33: f64, is_aligned: bool) -> (ReferenceMpm, f64) {
    let h = random.log_uniform(1e-3, 0.5);
    let normal = random.log_uniform(1e2, 1e7);
    let density = random.log_uniform(30.0, 3000.0);
    let elastic = Elastic {
        youngs_modulus: normal * random.log_uniform(0.01, 0.3),
        poissons_ratio: random.uniform(0.0, 0.45),
    };
    let shear_stiffness = normal * random.uniform(0.0, 0.5);
    let thickness = h * random.log_uniform(0.01, 1.0);
    let material = ClothMaterial {
        shear_stiffness,
        friction: random.uniform(0.0, 1.0),
        ..ClothMaterial::new(density, elastic, thickness, normal)
    };
    let edge = h * random.uniform(0.4, 1.2);
    let parts = (5.0 * h / edge).ceil() as usize;
    let turn = random.rotation();
    let turn = if is_aligned { nalgebra::UnitQuaternion::identity() } else { turn };
    let [u, v] = [Vector3::x(), Vector3::y()].map(|axis| turn * axis * (edge * parts as f64));
    let mesh = ClothMesh::rectangle(random.vector() * h, u, v, [parts, parts]).unwrap();
    let mut mpm = ReferenceMpm::new(h, Vector3::zeros(), vec![], vec![]).unwrap();
    mpm.add_cloth(mesh, material, vec![]).unwrap();
    mpm.cloths[0].faces.iter_mut().for_each(|face| face.director *= r33);
    (mpm, (normal / density).sqrt())
}

fn energy(mpm: &ReferenceMpm) -> f64 {
    let totals = mpm.totals();
    totals.kinetic_energy + totals.elastic_energy
}

/// A sheet that springs open has at most the energy that pressed it, up to the second order of the substep:
/// 0.25 (c dt / h)^2 more for dt = 0.1 and 0.2 h / c, c = sqrt(K / rho). A layer's only motion is C = d ln r33
/// / dt with the mass m h^2 / 4 of the affine field. Leapfrog in ln r33, to which directors that follow C to
/// second order come down, is symplectic, and the error of its energy is of second order (Hairer, Lubich and
/// Wanner 2006, section IX.8). With (I + dt C) it is of first order: 1.3 to 2.5 % for dt = 0.1 h / c. Half of
/// the sheets lie along the grid and open evenly; the others may buckle and slip, which takes energy.
#[test]
fn a_pressed_sheet_creates_no_energy_when_it_springs_open() {
    let seed = 2911;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let mut worst = [f64::NEG_INFINITY; 2];
    for number in 0..24 {
        let again = random.0;
        for (courant, worst) in [0.1, 0.2].into_iter().zip(&mut worst) {
            random = Random::new(again);
            let r33 = random.uniform(0.3, 0.9);
            let (mut mpm, c) = pressed_sheet(&mut random, r33, number % 2 == 0);
            let (dt, start) = (courant * mpm.grid_spacing / c, energy(&mpm));
            // It opens within some h / c.
            for _ in 0..(20.0 / courant) as usize {
                mpm.substep(dt, |_, _, _| {}).unwrap();
            }
            let gained = energy(&mpm) / start - 1.0;
            let left = mpm.totals().elastic_energy / start;
            println!(
                "{number}: r33 {r33:.2}, dt {courant} h / c: gains {gained:.2e}, {left:.1e} still elastic"
            );
            *worst = worst.max(gained);
            assert!(number % 2 == 1 || gained > -0.02, "{number}: {gained}");
        }
    }
    println!("most {worst:?}");
    assert!(worst[0] < 0.0025 && worst[1] < 0.01, "{worst:?}");
}

/// In its largest substep a pressed sheet never has more than 1.1 times its energy, however stiff it is
/// against shear across it: the limit's own bound for what springs open. Without gamma in the limit of the
/// substep some have up to 1.43 times as much here, and one had 50 times as much where gamma was 95 K.
#[test]
fn a_sheet_that_is_stiff_across_stays_stable() {
    let seed = 2912;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let mut worst = 0.0_f64;
    for number in 0..24 {
        let r33 = random.uniform(0.3, 0.95);
        let (mut mpm, _) = pressed_sheet(&mut random, r33, false);
        let mut material = *mpm.cloths[0].material();
        material.shear_stiffness = material.normal_stiffness * random.log_uniform(1.0, 300.0);
        material.friction = random.uniform(0.1, 2.0);
        let mesh = mpm.cloths[0].mesh().clone();
        mpm.cloths.clear();
        mpm.add_cloth(mesh, material, vec![]).unwrap();
        // Directors are turned within their cone of friction.
        let turned = random.vector() * material.friction.min(1.0) * (1.0 - r33).powi(2);
        let turned = turned * (material.normal_stiffness / material.shear_stiffness);
        mpm.cloths[0].faces.iter_mut().for_each(|face| face.director = face.director * r33 + turned);
        let (dt, start) = (mpm.cloths[0].largest_substep(0.0), energy(&mpm));
        let mut most = 0.0_f64;
        for _ in 0..200 {
            mpm.substep(dt, |_, _, _| {}).unwrap();
            most = most.max(energy(&mpm) / start);
        }
        let ratio = material.shear_stiffness / material.normal_stiffness;
        println!("{number}: gamma {ratio:.1} K, r33 {r33:.2}: at most {most:.3}");
        worst = worst.max(most);
    }
    println!("most {worst}");
    assert!(worst < 1.1, "{worst}");
}
