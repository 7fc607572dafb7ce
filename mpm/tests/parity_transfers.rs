//! One substep of the fast path against the f64 reference, at every instruction set.
//!
//! Both start from the same numbers (those that the fast path rounded to f32), so what differs is
//! the rounding of one substep. Each bound is a count of roundings times the unit roundoff u =
//! 2^-24 times the sum of the magnitudes that were added (Higham 2002, sections 3.1 and 4.2):
//! rounding cannot exceed it, and a wrong term is ten thousand times larger.

use crate::common::{ROUNDOFF, every_material, levels, to_reference, to_states};
use nalgebra::{Matrix3, Vector3};
use pliant_mpm::reference::{Grid, ReferenceMpm, ReferenceParticle};
use pliant_mpm::{InstructionSet, Mpm};
use pliant_testing::Random;

/// A power of two: x/h is exact, so that both paths agree on the cell of a particle on its border,
/// and on weights near zero.
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
fn cloud(random: &mut Random, centre: Vector3<f64>, h: f64) -> Vec<ReferenceParticle> {
    let materials = every_material();
    (0..300)
        .map(|k| {
            let mut offset = 2.5 * random.vector();
            if k % 4 == 0 && h == EXACT {
                // Close to where the stencil changes: half cells, block borders among them.
                offset = offset.map(|x| x.round() + 0.5) + 1e-6 * random.vector();
            }
            // The transfers take positions rounded to f32: these are.
            let place = (centre + offset).map(|x| (x / POSITION_STEP).round() * POSITION_STEP);
            let volume = h.powi(3) / 8.0 * (1.5 + random.signed());
            let material = k % materials.len();
            let mut p = ReferenceParticle::at_rest(place * h, volume, material, materials[material].density);
            p.velocity = random.vector();
            p.affine = 3.0 * random.matrix();
            p.deformation_gradient += 0.12 * random.matrix();
            assert!(p.deformation_gradient.determinant() > 0.5);
            p
        })
        .collect()
}

/// What was added up at a node: bounds of its mass [kg] and velocity [m/s].
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

fn one_substep(seed: u64, centre: Vector3<f64>, h: f64, level: InstructionSet, worst: &mut Worst) {
    let mut random = Random(seed);
    let states = to_states(&cloud(&mut random, centre, h));
    let materials = every_material();
    let mut mpm = Mpm::new(h, materials.clone(), &states, &[], level).unwrap();
    assert_eq!(mpm.level(), level);
    let mut reference = ReferenceMpm::new(h, GRAVITY, materials, to_reference(&mpm)).unwrap();
    let u = ROUNDOFF;

    mpm.particles_to_grid(DT, GRAVITY);
    let mut grid = reference.particles_to_grid(DT).unwrap();
    grid.free_motion(DT, &GRAVITY);
    let scales = scales(&reference, &grid);
    let mut node_velocities = Vec::new();
    let mut found = 0;
    for (slot, node) in grid.nodes().iter().enumerate().filter(|(_, n)| n.mass > 0.0) {
        let (i, j, k) = grid.index(slot);
        let (block, local) = mpm.find_node([i, j, k]).unwrap();
        let position = mpm.node_position(block, local).coords;
        assert!((position - grid.position(slot)).norm() <= 1e-15 * position.norm(), "{position}");
        let [x, y, z, mass] = mpm.nodes()[block].nodes[local].map(f64::from);
        let count = OPERATIONS + scales[slot].terms;
        worst.hold(0, "node mass", (mass - node.mass).abs(), count * u * node.mass);
        let error = (Vector3::new(x, y, z) - node.velocity).amax();
        worst.hold(1, "node velocity", error, count * u * scales[slot].velocity);
        node_velocities.push((slot, Vector3::new(x, y, z)));
        found += 1;
    }
    assert_eq!(found, mpm.active_nodes(), "nodes with mass that the reference does not have");

    // From here both go on from the fast path's node velocities, so that the bounds of G2P hold G2P
    // alone.
    for (slot, velocity) in node_velocities {
        grid.nodes_mut()[slot].velocity = velocity;
    }
    mpm.grid_to_particles(DT).unwrap();
    let stencils: Vec<_> =
        reference.particles.iter().map(|p| grid.stencil(&p.position).collect::<Vec<_>>()).collect();
    reference.grid_to_particles(&grid, DT);
    let fast = mpm.particles();
    for ((p, f), stencil) in reference.particles.iter().zip(&fast).zip(&stencils) {
        let velocity = gathered(&grid, stencil);
        worst.hold(2, "velocity", (f.velocity - p.velocity).amax(), velocity);
        // (4/h) (sum w v index - offset v).
        let affine = 4.0 / h * 3.5 * velocity;
        worst.hold(3, "affine", (f.affine - p.affine).abs().max(), affine);
        // The stored position is up to 8 cells from its block's corner; a particle 4e6 cells out
        // also has the reference's u.
        let position = DT * velocity + h * 8.0 * u + 4.0 * f64::EPSILON * p.position.amax();
        worst.hold(4, "position", (f.position.coords - p.position).amax(), position);
        // Three products of dt C and F, then the decomposition and the return mapping (exp, ln, two
        // rotations).
        let strain = 3.0 * DT * affine * f.deformation_gradient.abs().max() + 2.0 * OPERATIONS * u;
        let error = (f.deformation_gradient - p.deformation_gradient).abs().max();
        worst.hold(5, "deformation gradient", error, strain);
        worst.hold(6, "state", (f.state - p.state).abs(), 3.0 * strain);
    }
    for b in 0..mpm.block_count() {
        let view = mpm.block(b);
        for i in 0..view.len() {
            let p = &reference.particles[view.id(i) as usize];
            let [xx, yy, zz, xy, xz, yz] = view.stress_volume(i);
            let stress = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) / view.volume(i);
            let velocity = gathered(&grid, &stencils[view.id(i) as usize]);
            let strain = 3.0 * DT * 4.0 / h * 3.5 * velocity * 1.3 + 2.0 * OPERATIONS * u;
            let modulus = reference.materials()[p.material].model.elastic().oedometric_modulus();
            let error = (stress - reference.kirchhoff_stress(p)).abs().max();
            worst.hold(7, "stress", error, 3.0 * modulus * strain);
        }
    }
}

/// One substep (P2G, free motion, G2P with return mapping; Hu et al. 2018, Jiang et al. 2015) of
/// random particles of all models, several in one cell, on block borders, at negative coordinates
/// and 4e6 cells from the origin.
#[test]
fn one_substep_matches_the_reference() {
    let mut worst = Worst::default();
    let places = [
        (Vector3::new(4.5, 4.5, 4.5), EXACT),
        (Vector3::new(0.5, -3.5, -0.5), EXACT),
        (Vector3::new(4e6 + 0.5, -4e6 + 0.5, 4e6 + 3.0), EXACT),
        (Vector3::new(-7.3, 10.1, -40.7), 0.07),
    ];
    for level in levels() {
        for (seed, (centre, h)) in places.into_iter().enumerate() {
            one_substep(seed as u64, centre, h, level, &mut worst);
        }
    }
    println!("error over bound: {:?}", worst.0);
}
