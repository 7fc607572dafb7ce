//! Mass-proportional damping: decay, the damped vibration, the balance, the two paths.

use crate::common::{ROUNDOFF, every_material, lattice, to_states};
use nalgebra::Vector3;
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Sheet};
use pliant_mpm::material::{Elastic, Material};
use pliant_mpm::reference::{ReferenceCloth, ReferenceMpm, ReferenceParticle};
use pliant_mpm::{InstructionSet, Mpm};

const H: f64 = 0.1;
const DT: f64 = 1e-3;
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -10.0);

/// Rates of a block and of a sheet \[1/s\].
const RATES: [f64; 2] = [3.0, 8.0];

/// A block that turns and moves, and a sheet beside it.
fn scene() -> (Material, Vec<ReferenceParticle>, Sheet) {
    let material = every_material()[0];
    let mut block = lattice([0.0; 3], [0.05; 3], [4, 4, 4], material.density);
    let spin = Vector3::new(0.3, -0.5, 1.0);
    for p in &mut block {
        p.velocity = Vector3::new(0.5, 0.2, 0.1) + spin.cross(&p.position);
        p.affine = spin.cross_matrix();
    }
    let cloth = ClothMaterial::new(500.0, Elastic { youngs_modulus: 1e3, poissons_ratio: 0.3 }, 0.02, 1e3);
    let mesh =
        ClothMesh::rectangle(Vector3::new(1.0, 0.0, 0.0), Vector3::x() * 0.4, Vector3::y() * 0.4, [4, 4]);
    let sheet = Sheet { velocity: Vector3::new(0.0, 0.5, -0.3), ..Sheet::new(mesh.unwrap(), cloth) };
    (material, block, sheet)
}

fn fast() -> Mpm {
    let (material, block, sheet) = scene();
    let states = to_states(&block);
    let mut mpm =
        Mpm::with_sheets(H, vec![material], &states, &[sheet], &[], InstructionSet::detect()).unwrap();
    mpm.set_mass_damping(RATES.to_vec()).unwrap();
    mpm
}

fn reference() -> ReferenceMpm {
    let (material, block, sheet) = scene();
    let mut mpm = ReferenceMpm::new(H, GRAVITY, vec![material], block).unwrap();
    let mut cloth = ReferenceCloth::new(sheet.mesh, sheet.material, vec![], H).unwrap();
    cloth.set_velocity(|_| (sheet.velocity, nalgebra::Matrix3::zeros()));
    (mpm.cloths, mpm.mass_damping) = (vec![cloth], RATES.to_vec());
    mpm
}

/// Without gravity the linear momentum of each decays as exp(-alpha t), and so does the angular one
/// about the point that moves with its centre, because the force is -alpha m v everywhere: exactly, to
/// rounding.
#[test]
fn momenta_decay_at_the_rate() {
    let mut mpm = reference();
    mpm.gravity = Vector3::zeros();
    mpm.cloths.clear();
    // A moment about a fixed point changes as its own decay alone: L' = -alpha L.
    let start = mpm.totals();
    for _ in 0..300 {
        mpm.substep(DT, |_, _, _| {}).unwrap();
    }
    let (end, kept) = (mpm.totals(), (-RATES[0] * mpm.time).exp());
    let linear = (end.linear_momentum - kept * start.linear_momentum).norm() / start.linear_momentum.norm();
    let angular = (end.angular_momentum - kept * start.angular_momentum).norm();
    assert!(linear < 1e-12 && angular < 1e-12 * start.angular_momentum.norm(), "{linear} {angular}");
    assert!(kept < 0.5);
}

/// The first mode of a free strip in its plane, damped at half of the critical rate (zeta = alpha / (2
/// omega) = 1/2): its velocity e^(-zeta omega t) (cos omega_d t - zeta omega / omega_d sin omega_d t),
/// omega_d = omega sqrt(1 - zeta^2), is first zero at omega_d t = pi / 3, t = 0.770 of the undamped
/// quarter period (any text on vibrations). The bound is that of the undamped period in
/// `cloth_reference`, 1 %, and half a substep's damping, alpha dt / 2.
#[test]
fn vibration_has_the_damping_ratio() {
    let (length, parts) = (2.0, 20);
    let mut material =
        ClothMaterial::new(1e3, Elastic { youngs_modulus: 1e4, poissons_ratio: 0.0 }, 0.02, 1e2);
    material.damping = 1.0;
    let sides = [length * Vector3::x(), 0.3 * Vector3::y()];
    let mesh = ClothMesh::rectangle(Vector3::zeros(), sides[0], sides[1], [parts, 3]).unwrap();
    let mut cloth = ReferenceCloth::new(mesh, material, vec![], H).unwrap();
    let k = core::f64::consts::PI / length;
    let omega = k * material.wave_speed();
    let small = 1e-4 * material.wave_speed();
    cloth.set_velocity(|x| {
        let gradient = -small * k * (k * x.x).sin() * Vector3::x() * Vector3::x().transpose();
        (small * (k * x.x).cos() * Vector3::x(), gradient)
    });
    let rest: Vec<f64> = cloth.vertices.iter().map(|p| p.position.x).collect();
    let mut mpm = ReferenceMpm::new(H, Vector3::zeros(), vec![], vec![]).unwrap();
    let expected = core::f64::consts::PI / 3.0 / (0.75_f64.sqrt() * omega);
    let dt = expected / 60.0;
    assert!(dt < cloth.stability().largest_substep(0.0));
    (mpm.cloths, mpm.mass_damping) = (vec![cloth], vec![omega]);
    let modal = |mpm: &ReferenceMpm| {
        let vertices = mpm.cloths[0].vertices.iter().zip(&rest);
        vertices.map(|(p, x)| p.mass * p.velocity.x * (k * x).cos()).sum::<f64>()
    };
    let (mut before, mut crossing) = (modal(&mpm), f64::INFINITY);
    while crossing.is_infinite() && mpm.time < 3.0 * expected {
        let time = mpm.time;
        mpm.substep(dt, |_, _, _| {}).unwrap();
        let now = modal(&mpm);
        if now <= 0.0 {
            // Velocities are those of the middle of the substep before.
            crossing = time - 0.5 * dt + dt * before / (before - now);
        }
        before = now;
    }
    println!("{} of the theory", crossing / expected);
    assert!((crossing / expected - 1.0).abs() < 0.01 + 0.5 * omega * dt, "{}", crossing / expected);
}

/// What damping takes is told: in every substep momenta change by the impulses of gravity and of
/// damping, and the kinetic energy of a free rigid motion by what was dissipated. Bounds: f32 of the
/// particles' momenta (as in `cloth_fast`) and energies.
#[test]
fn impulse_and_energy_are_told() {
    let mut mpm = fast();
    let mut last = mpm.totals(&mut Vec::new());
    let mut taken = 0.0;
    for k in 0..100 {
        mpm.begin_step();
        let free = mpm.particles_to_grid(DT, GRAVITY);
        mpm.grid_to_particles(DT).unwrap();
        let now = mpm.totals(&mut Vec::new());
        let drag = mpm.dissipated().drag;
        let linear = now.linear_momentum - last.linear_momentum - free.gravity.linear - drag.linear;
        let angular = now.angular_momentum - last.angular_momentum - free.gravity.angular - drag.angular;
        let size = now.mass * 2.0 * 2.0 * (mpm.len() as f64).sqrt() * ROUNDOFF;
        assert!(linear.norm() < size && angular.norm() < 2.0 * size, "{k}: {linear:?} {angular:?} of {size}");
        assert!(drag.linear.norm() > 1e-4 * now.linear_momentum.norm(), "{k}");
        (last, taken) = (now, taken + mpm.dissipated().damping);
    }
    // One substep without gravity from the same state, damped and not.
    let mut both = [mpm.clone(), mpm];
    both[0].set_mass_damping(vec![]).unwrap();
    let [free, damped] = both.map(|mut mpm| {
        mpm.begin_step();
        mpm.particles_to_grid(DT, Vector3::zeros());
        mpm.grid_to_particles(DT).unwrap();
        (mpm.totals(&mut Vec::new()).kinetic_energy, mpm.dissipated().damping)
    });
    assert!((free.0 - damped.0 - (damped.1 - free.1)).abs() < 1e-6 * free.0, "{free:?} {damped:?}");
    assert!(taken > 0.0);
}

/// The fast path is the reference: the bound of `cloth_fast` for positions.
#[test]
fn damped_particles_move_as_in_the_reference() {
    let (mut mpm, mut reference) = (fast(), reference());
    for _ in 0..100 {
        mpm.begin_step();
        mpm.particles_to_grid(DT, GRAVITY);
        mpm.grid_to_particles(DT).unwrap();
        reference.substep(DT, |_, _, _| {}).unwrap();
    }
    let particles = mpm.particles();
    let expected = reference.particles.iter().map(|p| p.position);
    let expected = expected.chain(reference.cloths[0].particles().map(|p| p.position));
    let worst =
        particles.iter().zip(expected).map(|(p, x)| (p.position.coords - x).norm() / H).fold(0.0, f64::max);
    let bound = 4.0 * 10.0 * ROUNDOFF * (100.0 * 2.0 * DT / H + 8.0);
    assert!(worst < bound, "{worst} cells, {bound}");
}

/// Rates out of range are refused by name, value and unit.
#[test]
fn bad_rates_are_refused() {
    let error = fast().set_mass_damping(vec![0.0, -1.0]).unwrap_err().to_string();
    assert_eq!(error, "materials[1]: mass_damping is -1 1/s, but must be finite and not negative");
}
