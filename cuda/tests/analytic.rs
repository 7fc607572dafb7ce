//! Closed forms on the device, over random parameters: what the device must give whatever the
//! processor does. `mpm/tests/analytic_fast.rs` and `coupling/tests/analytic_column.rs` hold the
//! processor to the same laws.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod mpm_support;
mod support;

use std::f64::consts::PI;

use mpm_support::{host, lattice, on_device, random_vector};
use nalgebra::{Matrix3, Point3, Unit, Vector3};
use pliant_mpm::material::{Elastic, Material, Model};
use pliant_mpm::stable_step::largest_stable_substep;
use pliant_mpm::{Boundary, BoundaryKind};
use support::{Random, device_kinds};

/// A material \[Pa, kg/m^3\] that random parameters make.
fn rubber(poissons_ratio: f64, random: &mut Random) -> Material {
    let elastic = Elastic { youngs_modulus: random.log_uniform(5e5, 5e6), poissons_ratio };
    Material { density: random.log_uniform(300.0, 3000.0), model: Model::FixedCorotated(elastic) }
}

/// Free fall from rest or thrown, v = v0 + g t and x = x0 + v0 t + g t^2 / 2 (Galilei 1638). The
/// substep takes the new velocity for the way (symplectic Euler), which adds g t dt / 2 to x and
/// nothing to v. The rest is rounding: of a position 2^-20 of a cell a substep, of a velocity some
/// ten operations of f32 (`tests/device_parity.rs`).
#[test]
fn what_falls_freely_falls_by_galilei() {
    for seed in 0..4 {
        let mut random = Random(seed);
        let h = random.log_uniform(0.005, 0.05);
        let material = rubber(0.3, &mut random);
        let dt = random.uniform(0.3, 1.0) * largest_stable_substep(h, &[material], 0.0);
        let (gravity, thrown) = (random_vector(&mut random) * 10.0, random_vector(&mut random) * 0.1);
        let mut states = lattice([-0.3 * h; 3], 0.5 * h, [6, 5, 4]);
        states.iter_mut().for_each(|state| state.velocity = thrown);
        let start = host(h, &[material], &states, &[]);
        let before = start.totals(&mut Vec::new());
        let substeps = 60;
        let time = f64::from(substeps) * dt;
        for device in device_kinds() {
            let mut model = on_device(&device, &start, &[]);
            let after = model.advance(substeps, dt, gravity).unwrap().totals;
            let velocity = after.linear_momentum / after.mass;
            let moved = (after.first_moment - before.first_moment) / after.mass;
            let right = thrown + gravity * time;
            let way = thrown * time + gravity * (0.5 * time * (time + dt));
            let place = format!("seed {seed} on {}", device.name());
            let rounding = f64::from(substeps) * 10.0 * mpm_support::ROUNDOFF;
            let (off, bound) =
                ((velocity - right).norm(), rounding * (thrown.norm() + gravity.norm() * time));
            assert!(off <= bound, "{place}: {velocity}, not {right}: {off:e}, bound {bound:e}");
            let (off, bound) = ((moved - way).norm(), f64::from(substeps) * 2.0_f64.powi(-20) * h);
            assert!(off <= bound, "{place}: {moved}, not {way}: {off:e}, bound {bound:e}");
        }
    }
}

/// Axial vibration of a free bar without lateral strain, first mode (Timoshenko, Young and Weaver
/// 1974, section 5.8): u = cos(pi x / L) sin(omega t), omega = (pi / L) sqrt(E / rho). Kinetic and
/// elastic energy are equal at omega t = pi/4, 3 pi/4, 5 pi/4: from the first to the third is half a
/// period. A mode of n cells has k h = pi / n, and a scheme of second order errs by parts of
/// (k h)^2 = 3.9 % for n = 16: a quarter of that is allowed, and 0.4 % is measured.
#[test]
fn a_free_bar_swings_at_its_first_mode() {
    for seed in 10..14 {
        let mut random = Random(seed);
        let h = random.log_uniform(0.005, 0.5);
        let bar = rubber(0.0, &mut random);
        let sound = (bar.model.elastic().youngs_modulus / bar.density).sqrt();
        let cells = 16.0;
        let (length, speed) = (cells * h, 1e-3 * sound);
        let (wave, omega) = (PI / length, PI / length * sound);
        let mut states = lattice([0.0; 3], 0.5 * h, [2 * cells as usize, 2, 2]);
        for state in &mut states {
            let phase = wave * state.position.x;
            state.velocity.x = speed * phase.cos();
            state.affine.m11 = -speed * wave * phase.sin();
        }
        let start = host(h, &[bar], &states, &[]);
        let dt = 0.5 * largest_stable_substep(h, &[bar], speed);
        for device in device_kinds() {
            let mut model = on_device(&device, &start, &[]);
            let (mut crossings, mut before) = (Vec::new(), 1.0);
            for n in 1..=(1.5 * PI / (omega * dt)) as u32 {
                let totals = model.advance(1, dt, Vector3::zeros()).unwrap().totals;
                let energy = totals.kinetic_energy + totals.elastic_energy;
                let now = (totals.kinetic_energy - totals.elastic_energy) / energy;
                if (now < 0.0) != (before < 0.0) {
                    crossings.push((f64::from(n) - now / (now - before)) * dt);
                }
                before = now;
            }
            assert!(crossings.len() >= 3, "seed {seed} on {}: {crossings:?}", device.name());
            let ratio = PI / (crossings[2] - crossings[0]) / omega;
            println!("seed {seed} on {}: {ratio} of the frequency", device.name());
            assert!(
                (ratio - 1.0).abs() <= 0.25 * (wave * h).powi(2),
                "seed {seed} on {}: {ratio}",
                device.name()
            );
        }
    }
}

/// Layers of particles of a column, two a cell.
const LAYERS: usize = 24;

/// A column between slip walls on a floor, in equilibrium: sigma = -rho g (H - z), and the floor
/// carries the weight; it settles by rho g (H z - z^2 / 2) / E_oed at height z, by rho g H^2 / (3
/// E_oed) in the mean (Timoshenko and Goodier 1970, section 86). It starts there with the strain of
/// that stress; means over two periods of its first mode, 4 H / c, leave what swings. Bounds as on
/// the processor (`mpm/tests/analytic_reference.rs`): 2 % of rho g H above the two cells next to the
/// floor, where fixed nodes bend the spline's strain; of the settlement 2 % where those are two of
/// twenty, and here two of twelve; the weight to 1 %.
#[test]
fn a_column_on_a_floor_is_hydrostatic() {
    for seed in 20..22 {
        let mut random = Random(seed);
        let h = random.log_uniform(0.01, 0.03);
        let material = rubber(0.3, &mut random);
        let gravity = random.uniform(5.0, 15.0);
        let (spacing, height, width) = (0.5 * h, 0.5 * LAYERS as f64 * h, 2.0 * h);
        let modulus = material.model.elastic().oedometric_modulus();
        let load = material.density * gravity;
        let mut states = lattice([0.0; 3], spacing, [4, 4, LAYERS]);
        for state in &mut states {
            let z = state.position.z;
            let strain = load / modulus * (height - z);
            state.position.z -= load / modulus * (height * z - 0.5 * z * z);
            state.deformation_gradient = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 1.0 - strain));
        }
        let sides =
            [(0.0, Vector3::x()), (0.0, Vector3::y()), (width, -Vector3::x()), (width, -Vector3::y())];
        let boundaries: Vec<Boundary> = (sides.iter().chain(&[(0.0, Vector3::z())]))
            .map(|(at, normal)| Boundary {
                point: Point3::from(normal.abs() * *at),
                normal: Unit::new_unchecked(*normal),
                kind: BoundaryKind::Slip,
            })
            .collect();
        let start = host(h, &[material], &states, &boundaries);
        let dt = largest_stable_substep(h, &[material], 0.0);
        let sound = (modulus / material.density).sqrt();
        let samples = (8.0 * height / sound / (4.0 * dt)).ceil();
        for device in device_kinds() {
            let mut model = on_device(&device, &start, &boundaries);
            let (mut stresses, mut pushed, mut middle) = ([0.0; LAYERS], 0.0, 0.0);
            for _ in 0..samples as u32 {
                let balance = model.advance(4, dt, Vector3::z() * -gravity).unwrap();
                pushed += balance.boundary.linear.z;
                middle += balance.totals.first_moment.z / balance.totals.mass / samples;
                for particle in model.particles().download().unwrap() {
                    stresses[particle.id as usize % LAYERS] += f64::from(particle.stress_volume[2]);
                }
            }
            let place = format!("seed {seed} on {}", device.name());
            let weight = load * height * width * width;
            let carried = pushed / (weight * samples * 4.0 * dt);
            let settled = (0.5 * height - middle) / (load * height * height / (3.0 * modulus));
            println!("{place}: the floor carries {carried} of the weight, {settled} of the settlement");
            assert!((carried - 1.0).abs() <= 0.01, "{place}: {carried} of the weight");
            assert!((settled - 1.0).abs() <= 0.02 * 20.0 / 12.0, "{place}: {settled} of the settlement");
            for (layer, stress) in stresses.iter().enumerate().skip(4) {
                let mean = stress / (16.0 * samples * spacing.powi(3));
                let right = -load * (height - spacing * (layer as f64 + 0.5));
                let off = (mean - right).abs() / (load * height);
                assert!(
                    off <= 0.02,
                    "{place}, layer {layer}: {mean} Pa, not {right} Pa ({off:.4} of rho g H)"
                );
            }
        }
    }
}
