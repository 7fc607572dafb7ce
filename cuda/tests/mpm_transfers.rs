//! One substep on the device against the f64 reference.
//!
//! Both start from the same numbers (those that the host rounded to f32), so what differs is the
//! rounding of one substep. Each bound is a count of roundings times the unit roundoff u = 2^-24
//! times the sum of the magnitudes that were added (Higham 2002, sections 3.1 and 4.2): rounding
//! cannot exceed it, and a wrong term is ten thousand times larger. These are the bounds that the
//! CPU's path is held to.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod mpm_support;
mod support;

use std::collections::BTreeMap;

use mpm_support::{ROUNDOFF, every_material, host, on_device, random_matrix, random_vector, to_reference};
use nalgebra::{Matrix3, Point3, Unit, Vector3};
use pliant_cuda::Device;
use pliant_cuda::mpm::{DeviceNode, Transfer};
use pliant_mpm::reference::{Grid, ReferenceMpm};
use pliant_mpm::{Boundary, BoundaryKind, ParticleState};
use support::{Random, devices};

/// A power of two: x/h is exact, so that both paths agree on the cell of a particle on its border.
const EXACT: f64 = 0.0625;
/// Positions are multiples of it, so that they are exact in f32 within a block [cells].
const POSITION_STEP: f64 = 1.0 / (1 << 21) as f64;
const DT: f64 = 2e-3;
const GRAVITY: Vector3<f64> = Vector3::new(0.3, -0.2, -9.81);

/// Roundings on the way of one particle's term to a node or back: weights 9, polynomial 8, products
/// 3, and the stress 12; the sums' are counted apart.
const OPERATIONS: f64 = 32.0;

/// Random particles of every model around `centre` [cells], within a cube of 5 cells, which block
/// borders cross.
fn cloud(random: &mut Random, centre: Vector3<f64>, h: f64, count: usize) -> Vec<ParticleState> {
    (0..count)
        .map(|k| {
            let mut offset = 2.5 * random_vector(random);
            if k % 4 == 0 && h == EXACT {
                // Close to where the stencil changes: half cells, block borders among them.
                offset = offset.map(|x| x.round() + 0.5) + 1e-6 * random_vector(random);
            }
            let volume = h.powi(3) / 8.0 * (1.5 + random.signed());
            // The transfers take positions rounded to f32: these are.
            let place = (centre + offset).map(|x| (x / POSITION_STEP).round() * POSITION_STEP);
            let position = Point3::from(place * h);
            let mut p = ParticleState::new(position, random_vector(random), volume, k % 5);
            p.affine = 3.0 * random_matrix(random);
            p.deformation_gradient += 0.12 * random_matrix(random);
            p
        })
        .collect()
}

/// What was added up at a node: number of terms, momentum [N s] and velocity [m/s].
#[derive(Clone, Copy, Default)]
struct Scale {
    terms: f64,
    momentum: f64,
    velocity: f64,
}

/// Per node, the sum over particles of w (m |v| + sum_e |slope_e| (offset_e + index_e)): the
/// momentum polynomial's magnitudes. The stress counts with the modulus, as an error of F of one u
/// makes one of E_oed u.
fn scales(mpm: &ReferenceMpm, grid: &Grid) -> Vec<Scale> {
    let h = mpm.grid_spacing;
    let mut scales = vec![Scale::default(); grid.nodes().len()];
    for p in &mpm.particles {
        let modulus = mpm.materials()[p.material].model.elastic().oedometric_modulus();
        let slope = h * p.mass * p.affine.abs().max() + DT * 4.0 / h * p.volume * modulus;
        // offset below 1.5, index up to 2, three axes.
        let momentum = p.mass * p.velocity.amax() + slope * 3.0 * 3.5;
        for (node, weight, _) in grid.stencil(&p.position) {
            scales[node].terms += 1.0;
            scales[node].momentum += weight * momentum;
        }
    }
    for (scale, node) in scales.iter_mut().zip(grid.nodes()).filter(|(_, n)| n.mass > 0.0) {
        scale.velocity = scale.momentum / node.mass + node.velocity.amax() + DT * GRAVITY.amax();
    }
    scales
}

/// Largest ratio of error to bound over all checks of one kind.
#[derive(Default, Debug)]
struct Worst([(f64, &'static str); 8]);

impl Worst {
    fn hold(&mut self, slot: usize, what: &'static str, error: f64, bound: f64) {
        assert!(error <= bound, "{what}: {error:e} above {bound:e}");
        let ratio = error / bound;
        if ratio >= self.0[slot].0 {
            self.0[slot] = (ratio, what);
        }
    }
}

/// Bound of the error of a particle's velocity: 27 sums of w |v|, largest component [m/s].
fn gathered(grid: &Grid, stencil: &[(usize, f64, Vector3<f64>)]) -> f64 {
    let sum: f64 = stencil.iter().map(|&(n, w, _)| w * grid.nodes()[n].velocity.amax()).sum();
    (OPERATIONS + 27.0) * ROUNDOFF * sum
}

fn one_substep(
    device: &Device,
    transfer: Transfer,
    seed: u64,
    centre: Vector3<f64>,
    h: f64,
    worst: &mut Worst,
) {
    let states = cloud(&mut Random(seed), centre, h, 150);
    let materials = every_material(1e3);
    let mpm = host(h, &materials, &states, &[]);
    let mut reference = ReferenceMpm::new(h, GRAVITY, materials, to_reference(&mpm)).unwrap();
    let mut device_mpm = on_device(device, &mpm, &[]);
    device_mpm.set_transfer(transfer);
    let u = ROUNDOFF;

    let account = device_mpm.advance(1, DT, GRAVITY).unwrap();
    let mass: f64 = reference.particles.iter().map(|p| p.mass).sum();
    assert!((account.mass - mass).abs() < 200.0 * u * mass);
    let nodes: BTreeMap<_, _> =
        device_mpm.grid().download().unwrap().into_iter().map(|node| (node.index, node)).collect();
    let mut grid = reference.particles_to_grid(DT).unwrap();
    grid.free_motion(DT, &GRAVITY);
    let scales = scales(&reference, &grid);
    let mut node_velocities = Vec::new();
    for (slot, node) in grid.nodes().iter().enumerate().filter(|(_, n)| n.mass > 0.0) {
        let (i, j, k) = grid.index(slot);
        let DeviceNode { velocity, mass, .. } = nodes[&[i, j, k]];
        let (velocity, mass) = (Vector3::from(velocity.map(f64::from)), f64::from(mass));
        let count = OPERATIONS + scales[slot].terms;
        worst.hold(0, "node mass", (mass - node.mass).abs(), count * u * node.mass);
        let error = (velocity - node.velocity).amax();
        worst.hold(1, "node velocity", error, count * u * scales[slot].velocity);
        node_velocities.push((slot, velocity));
    }
    assert_eq!(node_velocities.len(), nodes.len(), "nodes with mass that the reference does not have");

    // From here the reference goes on from the device's node velocities, so that the bounds of G2P
    // hold G2P alone.
    for (slot, velocity) in node_velocities {
        grid.nodes_mut()[slot].velocity = velocity;
    }
    let stencils: Vec<_> =
        reference.particles.iter().map(|p| grid.stencil(&p.position).collect::<Vec<_>>()).collect();
    reference.grid_to_particles(&grid, DT);
    let mut fast = mpm.clone();
    device_mpm.particles().write_back(&mut fast).unwrap();
    for b in 0..fast.block_count() {
        let view = fast.block(b);
        for i in 0..view.len() {
            let (p, f) = (&reference.particles[view.id(i) as usize], view.state(i));
            let velocity = gathered(&grid, &stencils[view.id(i) as usize]);
            worst.hold(2, "velocity", (f.velocity - p.velocity).amax(), velocity);
            // (4/h) (sum w v index - offset v).
            let affine = 4.0 / h * 3.5 * velocity;
            worst.hold(3, "affine", (f.affine - p.affine).abs().max(), affine);
            // The stored position is up to 8 cells from its block's corner; a particle 4e6 cells
            // out also has the reference's u.
            let position = DT * velocity + h * 8.0 * u + 4.0 * f64::EPSILON * p.position.amax();
            worst.hold(4, "position", (f.position.coords - p.position).amax(), position);
            // Three products of dt C and F, then the decomposition and the return mapping (exp, ln,
            // two rotations).
            let strain = 3.0 * DT * affine * f.deformation_gradient.abs().max() + 2.0 * OPERATIONS * u;
            let error = (f.deformation_gradient - p.deformation_gradient).abs().max();
            worst.hold(5, "deformation gradient", error, strain);
            worst.hold(6, "state", (f.state - p.state).abs(), 3.0 * strain);
            let [xx, yy, zz, xy, xz, yz] = view.stress_volume(i);
            let stress = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) / view.volume(i);
            let strain = 3.0 * DT * affine * 1.3 + 2.0 * OPERATIONS * u;
            let modulus = reference.materials()[p.material].model.elastic().oedometric_modulus();
            let error = (stress - reference.kirchhoff_stress(p)).abs().max();
            worst.hold(7, "stress", error, 3.0 * modulus * strain);
        }
    }
}

/// One substep (P2G, free motion, G2P with return mapping; Hu et al. 2018, Jiang et al. 2015) of
/// random particles of all models, several in one cell, on block borders, at negative coordinates
/// and nearly 4e6 cells from the origin, where the device's range ends.
#[test]
fn one_substep_matches_the_reference() {
    let mut worst = Worst::default();
    let places = [
        (Vector3::new(4.5, 4.5, 4.5), EXACT),
        (Vector3::new(0.5, -3.5, -0.5), EXACT),
        (Vector3::new(4e6 + 0.5, -4e6 + 0.5, 4e6 + 3.0), EXACT),
        (Vector3::new(-7.3, 10.1, -40.7), 0.07),
    ];
    for device in devices() {
        for (seed, (centre, h)) in places.into_iter().enumerate() {
            for transfer in [Transfer::Ordered, Transfer::Atomic] {
                one_substep(&device, transfer, seed as u64, centre, h, &mut worst);
            }
        }
    }
    println!("error over bound: {:?}", worst.0);
}

/// Planes of every kind, some through nodes, some oblique, on the device and on the host: the same
/// nodes, velocities within rounding, and the same balance of momentum, which is what the
/// particles' momentum changed by.
#[test]
fn boundaries_and_account_match_the_host() {
    let plane = |point: [f64; 3], normal: [f64; 3], kind| Boundary {
        point: Point3::from(point) * EXACT,
        normal: Unit::new_normalize(Vector3::from(normal)),
        kind,
    };
    let boundaries = [
        plane([0.0, 0.0, 3.0], [0.0, 0.0, 1.0], BoundaryKind::Frictional { friction: 0.4 }),
        plane([3.0, 0.0, 0.0], [1.0, 0.1, 0.0], BoundaryKind::Slip),
        plane([6.0, 0.0, 0.0], [-1.0, 0.0, 0.0], BoundaryKind::Sticky),
        plane([4.0, 6.5, 4.0], [0.3, -1.0, -0.5], BoundaryKind::Frictional { friction: 0.2 }),
    ];
    let states = cloud(&mut Random(17), Vector3::new(4.5, 4.5, 4.5), EXACT, 150);
    let materials = every_material(1e3);
    for device in devices() {
        let mut mpm = host(EXACT, &materials, &states, &boundaries);
        let before = mpm.totals(&mut Vec::new());
        let mut device_mpm = on_device(&device, &mpm, &boundaries);
        let account = device_mpm.advance(1, DT, GRAVITY).unwrap();
        let sums = mpm.particles_to_grid(DT, GRAVITY);
        // Velocities are sums of up to 150 terms of some 10 m/s, as above, and boundaries are
        // projections; 1e-4 is far above their rounding and far below what any boundary does.
        let nodes = device_mpm.grid().download().unwrap();
        assert_eq!(nodes.len(), mpm.active_nodes());
        for node in &nodes {
            let (block, local) = mpm.find_node(node.index).unwrap();
            let right = mpm.nodes()[block].nodes[local];
            let error = (0..3).map(|d| (node.velocity[d] - right[d]).abs()).fold(0.0, f32::max);
            let size = (0..3).map(|d| right[d].abs()).fold(1.0, f32::max);
            // Nodes of tiny mass have large velocities that cancel.
            if right[3] > 1e-4 * (EXACT.powi(3) * 1e3) as f32 {
                assert!(error < 1e-4 * size, "{node:?}, not {right:?}");
            }
        }
        let close = |a: Vector3<f64>, b: Vector3<f64>, what: &str| {
            let bound = 1e-5 * (b.norm() + mpm_momentum(&states));
            assert!((a - b).norm() < bound, "{what}: {a:?}, not {b:?}");
        };
        // Masses are good to some u; arms are below 0.6 m.
        let weight = 20.0 * ROUNDOFF * sums.mass * DT * GRAVITY.norm();
        assert!((account.gravity.linear - sums.gravity.linear).norm() < weight);
        assert!((account.gravity.angular - sums.gravity.angular).norm() < 0.6 * weight);
        close(account.boundary.linear, sums.boundary.linear, "boundary");
        close(account.boundary.angular, sums.boundary.angular, "moment of the boundary");
        assert!((account.work - sums.work).abs() < 1e-4 * sums.work.abs(), "{} {}", account.work, sums.work);
        // The books balance: momentum changed by gravity and by the boundaries.
        let mut after = mpm.clone();
        device_mpm.particles().write_back(&mut after).unwrap();
        let after = after.totals(&mut Vec::new());
        let change = after.linear_momentum - before.linear_momentum;
        close(change, account.gravity.linear + account.boundary.linear, "linear momentum");
        let change = after.angular_momentum - before.angular_momentum;
        close(change, account.gravity.angular + account.boundary.angular, "angular momentum");
        assert!((account.max_speed - max_speed(&device_mpm)).abs() < 1e-6 * account.max_speed);
    }
}

/// Sum of m |v| [N s], the scale of momenta here.
fn mpm_momentum(states: &[ParticleState]) -> f64 {
    states.iter().map(|s| 1e3 * s.volume * s.velocity.norm()).sum()
}

fn max_speed(mpm: &pliant_cuda::mpm::DeviceMpm) -> f64 {
    let all = mpm.particles().download().unwrap();
    all.iter().map(|p| Vector3::from(p.velocity).map(f64::from).norm()).fold(0.0, f64::max)
}
