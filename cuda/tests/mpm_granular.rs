//! Granular particles keep on the device what the grid cannot hold, as in mpm/src/detail.rs.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod mpm_support;
mod support;

use mpm_support::path::{DT, GRAVITY, H, block, compare, floor, transfers};
use mpm_support::{ROUNDOFF, every_material, host, on_device, random_matrix, random_vector};
use nalgebra::Vector3;
use pliant_cuda::mpm::{CommandCount, DeviceMpm, Transfer};
use pliant_mpm::{Mpm, ParticleState, Totals};
use support::{Random, device_kinds};

/// Index of the granular material among those of `every_material`.
const SAND: usize = 5;
/// A substep in which nothing moves and everything is kept [s]: k = exp(-sqrt(g/h) dt) is 1 - 2e-8.
const NO_TIME: f64 = 1e-9;

/// A column of sand falls apart beside a block of jelly that it leans on, both on a floor with
/// friction. The reference gives details back as Fei et al. 2021 have it.
#[test]
fn sand_beside_jelly_moves_as_on_the_host() {
    let mut states = block([8, 4, 6], 0);
    for (n, s) in states.iter_mut().enumerate() {
        // x is slowest: the first half is jelly.
        s.material = if n < 4 * 4 * 6 { 0 } else { SAND };
        s.velocity = Vector3::new(-0.5, 0.2, -1.0);
    }
    compare(&states, &floor(0.0), 40);
}

/// A block of random motion, of one material or of sand and others in the same cells.
fn shaken(material: Option<usize>) -> Vec<ParticleState> {
    let mut states = block([5, 5, 5], 0);
    let mut random = Random(17);
    for (k, s) in states.iter_mut().enumerate() {
        s.material = material.unwrap_or(if k % 2 == 0 { SAND } else { k % 5 });
        s.velocity = random_vector(&mut random);
        s.affine = 3.0 * random_matrix(&mut random);
    }
    states
}

fn written_back(mpm: &Mpm, device: &DeviceMpm) -> Mpm {
    let mut copy = mpm.clone();
    device.particles().write_back(&mut copy).unwrap();
    copy
}

fn totals(mpm: &Mpm) -> Totals {
    mpm.clone().totals(&mut Vec::new())
}

/// In no time, sand alone gives the grid what granular particles alone give it, so that k = 1
/// returns every particle its own velocity and affine field, to the roundings of the two gathers:
/// 32 each, of velocities up to V and, in the affine field, 4/h times that. APIC (Jiang et al.
/// 2015) keeps what is affine in a particle's surroundings: of jelly's random motion most is gone,
/// and of sand's without gravity.
#[test]
fn grains_keep_what_the_grid_cannot_hold() {
    let substeps = 6;
    let largest = 3.0_f64.sqrt() * (1.0 + 3.0 * 3.0 * H);
    let bound = 2.0 * 32.0 * ROUNDOFF * f64::from(substeps) * largest;
    for (device, transfer) in &transfers() {
        for (material, gravity) in [(SAND, GRAVITY), (0, GRAVITY), (SAND, Vector3::zeros())] {
            let states = shaken(Some(material));
            let mpm = host(H, &every_material(1e5), &states, &[]);
            let mut device_mpm = on_device(device, &mpm, &[]);
            device_mpm.set_transfer(*transfer);
            device_mpm.advance(substeps, NO_TIME, gravity).unwrap();
            let after = written_back(&mpm, &device_mpm);
            let left = totals(&after).kinetic_energy / totals(&mpm).kinetic_energy;
            let (mut velocity, mut affine) = (0.0_f64, 0.0_f64);
            for (now, then) in after.particles().iter().zip(mpm.particles()) {
                velocity = velocity.max((now.velocity - then.velocity).amax());
                affine = affine.max((now.affine - then.affine).amax());
            }
            println!(
                "{transfer:?} {material} {gravity:?}: {:.3} and {:.3} of the bounds, {left:.3} of the energy left",
                velocity / bound,
                affine / (bound * 4.0 / H)
            );
            if material == SAND && gravity != Vector3::zeros() {
                assert!(velocity <= bound && affine <= bound * 4.0 / H, "{velocity} m/s, {affine} /s");
            } else {
                assert!(left < 0.5, "{left} of the energy is left of {material} under {gravity:?}");
            }
        }
    }
}

/// The detail has neither momentum nor angular momentum (mpm/src/detail.rs), whatever else is in
/// the same cells: in no time both stay, to 32 roundings of each of the two transfers of a substep.
#[test]
fn details_have_no_momentum() {
    let states = shaken(None);
    let mpm = host(H, &every_material(1e5), &states, &[]);
    let before = totals(&mpm);
    // Speeds, and the block's size [m/s, m].
    let (speed, size) = (2.0, 0.06);
    for (device, transfer) in &transfers() {
        let mut device_mpm = on_device(device, &mpm, &[]);
        device_mpm.set_transfer(*transfer);
        let account = device_mpm.advance(6, NO_TIME, GRAVITY).unwrap();
        let after = totals(&written_back(&mpm, &device_mpm));
        let bound = 6.0 * 2.0 * 32.0 * ROUNDOFF * before.mass * speed;
        let linear = after.linear_momentum - before.linear_momentum - account.gravity.linear;
        let angular = after.angular_momentum - before.angular_momentum - account.gravity.angular;
        println!(
            "{transfer:?}: {:.1e} and {:.1e} of the bounds",
            linear.norm() / bound,
            angular.norm() / (bound * size)
        );
        assert!(linear.norm() <= bound && angular.norm() <= bound * size, "{linear:?} {angular:?}");
    }
}

/// In a fall onto a floor, beside others, momentum changes by what gravity and floor give (Newton),
/// to 1e-5 of what goes through it. Angular momentum changes besides by dt m v x detail in each
/// substep, since particles move with the grid's velocity.
#[test]
fn sand_that_collapses_keeps_its_momentum() {
    let mut states = block([8, 4, 6], 0);
    for (k, s) in states.iter_mut().enumerate() {
        s.material = if k < 4 * 4 * 6 { 0 } else { SAND };
        s.velocity = Vector3::new(0.3, 0.1, -1.0);
    }
    let boundaries = [floor(0.0)];
    let mpm = host(H, &every_material(1e5), &states, &boundaries);
    let before = totals(&mpm);
    for (device, transfer) in &transfers() {
        let mut device_mpm = on_device(device, &mpm, &boundaries);
        device_mpm.set_transfer(*transfer);
        let account = device_mpm.advance(40, DT, GRAVITY).unwrap();
        let after = totals(&written_back(&mpm, &device_mpm));
        let given = account.gravity.linear + account.boundary.linear;
        let error = (after.linear_momentum - before.linear_momentum - given).norm();
        println!("{transfer:?}: {:.1e} of the momentum", error / before.mass);
        assert!(error < 1e-5 * before.mass, "{error} N s of {given:?}");
        assert!(account.boundary.linear.z > 0.1 * before.mass, "the floor pushes: {account:?}");
    }
}

/// Details take as many commands more as a substep has without them (to the grid, the grid, and
/// back), where there are grains, and none elsewhere or without gravity, by which they would not
/// decay. A recording without them is not taken for one with them.
#[test]
fn only_grains_under_gravity_cost_more() {
    let materials = every_material(1e5);
    let states: Vec<_> = shaken(Some(0)).into_iter().step_by(4).collect();
    let plain = host(H, &materials[..SAND], &states, &[]);
    let sand: Vec<_> = shaken(Some(SAND)).into_iter().step_by(4).collect();
    let grains = host(H, &materials, &sand, &[]);
    let transfers = [(Transfer::Ordered, 3), (Transfer::Atomic, 4)];
    for (device, (transfer, of_plain)) in
        device_kinds().iter().flat_map(|device| transfers.map(|t| (device, t)))
    {
        let count = |device_mpm: &DeviceMpm| device_mpm.count_commands(&());
        let mut without = on_device(device, &plain, &[]);
        without.set_transfer(transfer);
        without.advance(2, NO_TIME, GRAVITY).unwrap();
        let CommandCount { substep, .. } = count(&without);
        assert_eq!(substep, of_plain);
        let mut with = on_device(device, &grains, &[]);
        with.set_transfer(transfer);
        let mut left = vec![totals(&grains).kinetic_energy];
        for (gravity, more) in [(GRAVITY, of_plain), (Vector3::zeros(), 0), (GRAVITY, of_plain)] {
            let account = with.advance(2, NO_TIME, gravity).unwrap();
            assert_eq!(count(&with).substep, of_plain + more);
            left.push(account.totals.kinetic_energy);
        }
        // Only the step without gravity takes of the random motion.
        let kept = [left[1] / left[0], left[2] / left[1], left[3] / left[2]];
        assert!(kept[0] > 0.999 && kept[1] < 0.8 && kept[2] > 0.999, "{kept:?}");
    }
}
