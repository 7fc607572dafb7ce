//! Energy of ropes: what rounding adds, and what the sum of energies is worth in a substep.

use crate::common::ROUNDOFF;
use nalgebra::Vector3;
use pliant_mpm::cloth::Pin;
use pliant_mpm::rope::{Rope, RopeMaterial, TwistPin};
use pliant_mpm::{InstructionSet, Mpm, Totals};
use pliant_testing::Random;

fn totals(mpm: &Mpm) -> Totals {
    mpm.totals(&mut Vec::new())
}

fn substep(mpm: &mut Mpm, time: f64, dt: f64) {
    mpm.begin_step();
    mpm.particles_to_grid(dt, Vector3::zeros());
    mpm.apply_pins(time, dt);
    mpm.grid_to_particles(dt).unwrap();
}

/// A cable that flies straight on is not strained. What rounding does is bounded by that of velocities: both
/// transfers sum 27 terms, so that the two ends of a segment of length l come closer by at most 4 x 27 u v T in a
/// time T, and E A (that / l)^2 / 2 is the energy for each length. Rounding of positions, sqrt(2) u h in every
/// substep, would give more (printed).
#[test]
fn a_flying_cable_is_not_strained_by_rounding() {
    let mut random = Random(83);
    let mut worst = 0.0_f64;
    for case in 0..12 {
        let h = random.log_uniform(5e-4, 0.05);
        let radius = h * random.log_uniform(0.03, 0.3);
        let youngs_modulus = random.log_uniform(1e8, 2e11);
        let material = RopeMaterial::new(random.log_uniform(300.0, 9e3), radius, youngs_modulus, 0.0);
        let material = RopeMaterial { shear_modulus: 0.4 * youngs_modulus, ..material };
        let (segments, length) = (40, 0.6 * h);
        let direction = random.vector().normalize();
        let start = 10.0 * h * random.vector();
        let points = Rope::line(start, start + direction * length * f64::from(segments), segments as usize);
        let speed = random.log_uniform(0.01, 2.0);
        let velocity = random.vector().normalize() * speed;
        let rope = Rope { velocity, ..Rope::new(points, material) };
        let level = InstructionSet::detect();
        let mut mpm = Mpm::with_ropes(h, vec![], &[], (&[], &[rope]), &[], level).unwrap();
        let dt = mpm.largest_stable_substep(speed);
        let mut most = 0.0_f64;
        for k in 0..500 {
            substep(&mut mpm, f64::from(k) * dt, dt);
            most = most.max(totals(&mpm).elastic_energy);
        }
        let stiffness = material.youngs_modulus * material.area() * length * f64::from(segments);
        let of = |moved: f64| 0.5 * stiffness * (moved / length).powi(2);
        let bound = of(4.0 * 27.0 * ROUNDOFF * speed * 500.0 * dt);
        let of_positions = of(2.0_f64.sqrt() * ROUNDOFF * h);
        println!(
            "seed 83, case {case}: {most:.2e} J of {bound:.2e}; rounding of positions {of_positions:.2e} a substep"
        );
        worst = worst.max(most / bound);
    }
    assert!(worst < 1.0, "{worst}");
}

/// Leapfrog conserves v_{n-1/2} v_{n+1/2} / 2 + U exactly where forces are linear, which is the sum of energies
/// with `kinetic_lag` (Hairer, Lubich and Wanner 2003). Spins of a rope whose vertices are held twist
/// it linearly. Without the lag the sum swings by up to half the phase of a vibration in a substep.
#[test]
fn the_energy_of_a_vibration_is_constant() {
    let h = 0.05;
    let (points, pins) = held_line(10);
    let material = RopeMaterial::new(1e3, 0.012, 1e5, 4e4);
    let rope = Rope { pins, twist: 2.0, ..Rope::new(points, material) };
    let mut mpm = Mpm::with_ropes(h, vec![], &[], (&[], &[rope]), &[], InstructionSet::detect()).unwrap();
    let dt = mpm.largest_stable_substep(0.0);
    let start = totals(&mpm);
    assert_eq!(start.kinetic_lag, 0.0);
    let (mut off, mut swing) = (0.0_f64, 0.0_f64);
    for k in 0..400 {
        substep(&mut mpm, f64::from(k) * dt, dt);
        let now = totals(&mpm);
        let sum = now.kinetic_energy + now.elastic_energy;
        off = off.max(((sum + now.kinetic_lag) / start.elastic_energy - 1.0).abs());
        swing = swing.max((sum / start.elastic_energy - 1.0).abs());
    }
    println!("{off:.2e} with the lag, {swing:.2e} without");
    // Rounding of 400 substeps in f64, amplified by the frames' square roots and arc tangents.
    assert!(off < 1e-9, "{off}");
    assert!(swing > 0.02, "the vibration is too slow to tell: {swing}");
}

/// A twist pin that turns an end to and fro does the work that the energies of the rope need: impulses
/// times the mean of the spins before and after, which is exact in leapfrog where forces are linear. With
/// the spin after the work is off by the first order of the substep.
#[test]
fn twist_pins_do_the_work_that_the_energy_needs() {
    let (points, pins) = held_line(10);
    let material = RopeMaterial::new(1e3, 0.012, 1e5, 4e4);
    let rope = Rope { pins, ..Rope::new(points, material) };
    let still =
        Mpm::with_ropes(0.05, vec![], &[], (&[], std::slice::from_ref(&rope)), &[], InstructionSet::detect());
    let dt = still.unwrap().largest_stable_substep(0.0);
    // Faster than the slowest vibration, so that spins count; its corners are at ends of substeps.
    let path = (0..=400).map(|k| (f64::from(k) * dt, 3.0 * (f64::from(k) * 0.1).sin())).collect();
    let twist_pins = vec![TwistPin::fixed(0), TwistPin::new(9, path, f64::INFINITY).unwrap()];
    let rope = Rope { twist_pins, ..rope };
    let mut mpm = Mpm::with_ropes(0.05, vec![], &[], (&[], &[rope]), &[], InstructionSet::detect()).unwrap();
    let (mut work, mut off, mut most) = (0.0, 0.0_f64, 0.0_f64);
    for k in 0..400 {
        substep(&mut mpm, f64::from(k) * dt, dt);
        work += mpm.pin_impulse().work;
        let now = totals(&mpm);
        let energy = now.kinetic_energy + now.kinetic_lag + now.elastic_energy;
        off = off.max((energy - work).abs());
        most = most.max(energy);
    }
    println!("{off:.2e} J of {most:.2e} J");
    // Rounding, as above.
    assert!(off < 1e-9 * most, "{off} of {most} J");
}

/// Substeps of changing length neither bring nor take energy in the mean, though each of them is chosen by what the
/// spins do: short ones as they twist the rope, long ones as it untwists. Leapfrog with a kick of half of both
/// substeps is of second order at each change: of a vibration of phase x in the longer one the energy is off by
/// x^2 / 4 there, back and forth. Two segments have one vibration, so that every change counts.
#[test]
fn changing_substeps_bring_no_energy() {
    let (points, pins) = held_line(2);
    let material = RopeMaterial::new(1e3, 0.012, 1e5, 4e4);
    let rope = Rope { pins, twist: 0.5, ..Rope::new(points, material) };
    let mut mpm = Mpm::with_ropes(0.05, vec![], &[], (&[], &[rope]), &[], InstructionSet::detect()).unwrap();
    let longest = mpm.largest_stable_substep(0.0);
    let start = totals(&mpm).elastic_energy;
    let (mut time, mut most) = (0.0, 0.0_f64);
    for _ in 0..400 {
        let is_twisting = totals(&mpm).kinetic_lag < 0.0;
        let dt = if is_twisting { 0.4 * longest } else { longest };
        substep(&mut mpm, time, dt);
        time += dt;
        let now = totals(&mpm);
        most = most.max((now.kinetic_energy + now.kinetic_lag + now.elastic_energy) / start - 1.0);
    }
    println!("energy grew by {most:.2e}");
    assert!(most < 0.25 * 0.5 * 0.5, "{most}");
}

/// A line of this number of segments of 3 cm, all of whose vertices are held.
fn held_line(segments: usize) -> (Vec<Vector3<f64>>, Vec<Pin>) {
    let end = 0.03 * segments as f64 * Vector3::x();
    let points = Rope::line(Vector3::zeros(), end, segments);
    let pins = (0..=segments).map(|v| Pin::fixed(v, points[v]).unwrap()).collect();
    (points, pins)
}
