//! Solids and sheets that are stretched far: waves in them are faster than at rest, and the largest
//! stable substep follows.

use crate::common::{ROUNDOFF, fast, lattice};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Pin, Sheet, Weave};
use pliant_mpm::material::{Elastic, Material, Model};
use pliant_mpm::reference::{ReferenceCloth, ReferenceMpm};
use pliant_mpm::{InstructionSet, Mpm, largest_stable_substep};
use pliant_testing::random::Random;

/// A number of random cases that the environment may raise.
fn cases(least: usize) -> usize {
    std::env::var("STRETCHED_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(least)
}

/// Substeps in which noise that grows is seen to.
const SUBSTEPS: usize = 300;

/// A sheet that is stretched by up to 4 in each direction, its rim held, with noise of 1e-6 of the speed
/// of its waves. Edges are 0.4 to 1.2 cells long. Waves in the plane are slower and faster than those of
/// the normal response.
fn stretched_sheet(random: &mut Random) -> (ReferenceMpm, [f64; 2]) {
    let h = random.log_uniform(0.005, 0.5);
    let edge = h * random.uniform(0.4, 1.2);
    let parts = [0; 2].map(|_| (6.0 * h / edge).ceil() as usize);
    let stretch = parts.map(|_| random.log_uniform(1.0, 4.0));
    let lengths = parts.map(|n| n as f64 * edge);
    let mut elastic =
        Elastic { youngs_modulus: random.log_uniform(1e3, 1e6), poissons_ratio: random.uniform(0.0, 0.45) };
    let turn = random.rotation();
    let axes = [Vector3::x(), Vector3::y()].map(|axis| turn * axis);
    // Half of the sheets are woven.
    let weave = (random.unit() < 0.5).then(|| {
        let ratio = random.log_uniform(0.1, 10.0);
        elastic.poissons_ratio *= (1.0 / ratio).min(1.0);
        let warp = axes[0] * random.signed() + axes[1] * random.signed();
        let mut weave = Weave::new(warp, elastic.youngs_modulus * ratio, 1.0);
        let [c11, c12, c22] = weave.plane_stiffness(&elastic);
        weave.shear_modulus = 0.5 * (c11.min(c22) - c12) * random.log_uniform(1e-3, 1.0);
        weave
    });
    let normal = elastic.youngs_modulus * random.log_uniform(0.01, 2.0);
    let thickness = h * random.log_uniform(0.01, 1.0);
    let bending_stiffness = elastic.youngs_modulus * thickness.powi(3) * random.log_uniform(1e-3, 0.2);
    let density = random.log_uniform(50.0, 2000.0);
    let material =
        ClothMaterial { bending_stiffness, weave, ..ClothMaterial::new(density, elastic, thickness, normal) };
    let sides = [0, 1].map(|k| axes[k] * (lengths[k] / stretch[k]));
    // Around the origin.
    let mesh = ClothMesh::rectangle(-0.5 * (sides[0] + sides[1]), sides[0], sides[1], parts).unwrap();
    let strained = |x: Vector3<f64>| {
        let further = |k: usize| axes[k] * ((stretch[k] - 1.0) * x.dot(&axes[k]));
        x + further(0) + further(1)
    };
    let on_rim = |n: &usize| {
        let [i, j] = [n / (parts[1] + 1), n % (parts[1] + 1)];
        i == 0 || i == parts[0] || j == 0 || j == parts[1]
    };
    let pin = |n: usize| {
        let at = mesh.vertices()[n];
        Pin::new(n, vec![(0.0, at), (1.0, strained(at))], f64::INFINITY).unwrap()
    };
    let pins = (0..mesh.vertices().len()).filter(on_rim).map(pin).collect();
    let mut mpm = ReferenceMpm::new(h, Vector3::zeros(), vec![], vec![]).unwrap();
    mpm.add_cloth(mesh, material, pins).unwrap();
    // The pins have arrived.
    mpm.time = 2.0;
    let cloth = &mut mpm.cloths[0];
    let noise = 1e-6 * material.wave_speed();
    for p in cloth.vertices.iter_mut().chain(&mut cloth.centroids) {
        p.position = strained(p.position);
        p.velocity = random.vector() * noise;
    }
    (mpm, stretch)
}

/// Kinetic energy after [`SUBSTEPS`] of `dt` \[s\] over that after the first, which filters what the
/// grid cannot carry of the noise; `held` says which nodes do not move.
fn growth(mpm: &mut ReferenceMpm, dt: f64, held: impl Fn(&Vector3<f64>) -> bool) -> f64 {
    let mut start = 0.0;
    for k in 0..SUBSTEPS {
        let hold = |x: &Vector3<f64>, velocity: &mut Vector3<f64>| {
            if held(x) {
                *velocity = Vector3::zeros();
            }
        };
        if mpm.substep(dt, |x, _, velocity| hold(x, velocity)).is_err() {
            return f64::INFINITY;
        }
        if k == 0 {
            start = mpm.totals().kinetic_energy;
        }
        // What grows far is seen to grow.
        if k % 10 == 9 && mpm.totals().kinetic_energy > 1e9 * start {
            return f64::INFINITY;
        }
    }
    mpm.totals().kinetic_energy / start
}

/// Noise of a stretched sheet does not grow in the largest substep of its stretch: the transfers between
/// particles and grid only take from its energy. In the substep at rest it does.
#[test]
fn noise_of_a_stretched_sheet_does_not_grow() {
    let seed = 2811;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let (mut grown, count) = (0, cases(9));
    for number in 0..count {
        let mut again = Random::new(random.0);
        let (mut mpm, stretch) = stretched_sheet(&mut random);
        let cloth = &mpm.cloths[0];
        let [dt, at_rest] = [cloth.largest_substep(0.0), cloth.stability().largest_substep(0.0)];
        let material = *cloth.material();
        let now = growth(&mut mpm, dt, |_| false);
        let then = growth(&mut stretched_sheet(&mut again).0, at_rest, |_| false);
        println!(
            "{number}: stretched by {stretch:.2?}, dt {:.3} of that at rest; energy {now:.2e}, {then:.2e}",
            dt / at_rest
        );
        assert!(now <= 1.0, "{number}: {now}, {material:?}");
        grown += usize::from(then.is_nan() || then > 1.0);
    }
    println!("grown in the substep at rest: {grown} of {count}");
    assert!(3 * grown > count, "only {grown} would have grown");
}

/// A sheet that is pulled to 1.9 times its length, in substeps that its mesh divides: the fast path counts
/// its stretch as the reference does, and takes the same steps of the mesh.
#[test]
fn a_pulled_sheet_moves_as_in_the_reference() {
    let h = 0.05;
    let [u, v] = [Vector3::new(0.4, 0.03, 0.05), Vector3::new(-0.02, 0.3, 0.02)];
    let mesh = ClothMesh::rectangle(Vector3::new(0.013, -0.021, 0.32), u, v, [13, 10]).unwrap();
    let elastic = Elastic { youngs_modulus: 2e5, poissons_ratio: 0.3 };
    let material = ClothMaterial::new(500.0, elastic, h, 2e3);
    let dt = 0.75 * h / material.wave_speed();
    let count = 300;
    let pins: Vec<Pin> = (0..mesh.vertices().len())
        .filter(|vertex| matches!(vertex / 11, 0 | 13))
        .map(|vertex| {
            let at = mesh.vertices()[vertex];
            let way = if vertex / 11 == 13 { 0.9 * u } else { Vector3::zeros() };
            Pin::new(vertex, vec![(0.0, at), (f64::from(count) * dt, at + way)], f64::INFINITY).unwrap()
        })
        .collect();
    let mut reference = ReferenceMpm::new(h, Vector3::zeros(), vec![], vec![]).unwrap();
    reference.add_cloth(mesh.clone(), material, pins.clone()).unwrap();
    let sheets = [Sheet { pins, ..Sheet::new(mesh, material) }];
    let mut mpm = Mpm::with_sheets(h, vec![], &[], &sheets, &[], InstructionSet::detect()).unwrap();
    let steps = |cloth: &ReferenceCloth| cloth.stability().stretched(&cloth.stretch()).mesh_substeps(dt).0;
    let at_rest = steps(&reference.cloths[0]);
    for k in 0..count {
        reference.substep(dt, |_, _, _| {}).unwrap();
        mpm.begin_step();
        mpm.particles_to_grid(dt, Vector3::zeros());
        mpm.apply_pins(f64::from(k) * dt, dt);
        mpm.grid_to_particles(dt).unwrap();
    }
    let cloth = &reference.cloths[0];
    let mut places = vec![Vector3::zeros(); mpm.len()];
    for b in 0..mpm.block_count() {
        let view = mpm.block(b);
        (0..view.len()).for_each(|i| places[view.id(i) as usize] = view.position(i).coords);
    }
    let far =
        cloth.particles().zip(&places).map(|(p, place)| (p.position - place).norm() / h).fold(0.0, f64::max);
    println!(
        "{} and {at_rest} steps of the mesh, stretched by {:.3}, {far:.1e} cells apart",
        steps(cloth),
        cloth.stretch().faces.length
    );
    assert!(steps(cloth) > at_rest && at_rest > 1);
    // As in `parity_trajectory`: 4 sqrt(N) u (V dt N / h + 8).
    let way = u.norm() / h;
    let allowed = 4.0 * f64::from(count).sqrt() * ROUNDOFF * (way + 8.0);
    assert!(far < allowed, "{far:e} of {allowed:e}");
    let [own, other] = [mpm.largest_stable_substep(1.0), cloth.largest_substep(1.0)];
    approx::assert_relative_eq!(own, other, max_relative = allowed);
    assert!(own < 0.9 * cloth.stability().largest_substep(1.0));
    // What is saved is enough to find it: a run that goes on from a checkpoint takes the same substeps.
    let mut saved = Vec::new();
    mpm.write_state(&mut saved).unwrap();
    let mut restored = Mpm::with_sheets(h, vec![], &[], &sheets, &[], InstructionSet::detect()).unwrap();
    restored.read_state(&mut &saved[..]).unwrap();
    assert_eq!(restored.largest_stable_substep(1.0).to_bits(), mpm.largest_stable_substep(1.0).to_bits());
}

/// The same for a block of each elastic model, with one particle in a cell. The nodes in its outer two
/// and a half cells are held.
#[test]
fn noise_of_a_stretched_block_does_not_grow() {
    let seed = 2812;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let (mut grown, count) = (0, cases(9));
    for number in 0..count {
        let elastic = Elastic {
            youngs_modulus: random.log_uniform(1e2, 1e7),
            poissons_ratio: random.uniform(0.0, 0.45),
        };
        let model = [Model::FixedCorotated, Model::NeoHookean, Model::LinearCorotated][number % 3](elastic);
        let material = Material { density: random.log_uniform(50.0, 3000.0), model };
        let h = random.log_uniform(0.005, 0.5);
        let stretch = [0; 3].map(|_| random.log_uniform(0.9, 4.0));
        let cells = 10;
        let mut block = lattice([0.0; 3], stretch.map(|s| h / s), [cells; 3], material.density);
        let f = Matrix3::from_diagonal(&stretch.into());
        for p in &mut block {
            p.position = f * p.position;
            p.deformation_gradient = f;
            p.velocity = random.vector() * (1e-6 * material.pressure_wave_speed());
        }
        let at_rest = largest_stable_substep(h, &[material], 0.0);
        let dt = fast(h, &[material], &block, &[]).largest_stable_substep(0.0);
        let of = |dt: f64| {
            let mut mpm = ReferenceMpm::new(h, Vector3::zeros(), vec![material], block.clone()).unwrap();
            let middle = 0.5 * cells as f64 * h;
            let held = |x: &Vector3<f64>| x.add_scalar(-middle).amax() > middle - 2.5 * h;
            growth(&mut mpm, dt, held)
        };
        let [now, then] = [of(dt), of(at_rest)];
        println!(
            "{number}: {model:?} stretched by {stretch:.2?}, dt {:.3} of that at rest; energy {now:.2e}, {then:.2e}",
            dt / at_rest
        );
        assert!(now <= 1.0, "{number}: {now}");
        grown += usize::from(then.is_nan() || then > 1.0);
    }
    println!("grown in the substep at rest: {grown} of {count}");
    assert!(grown > 0, "none would have grown");
}

/// Pins that are closer to each other than nodes: combinations of their impulses move no node. A sheet
/// without loads that is held by two or four of its edges stays where it is: its velocities are at most
/// 500 times those of the rounding of positions in f32 (`YIELD` in `mpm/src/sheets/pins.rs`).
#[test]
fn pins_closer_than_nodes_hold_a_sheet_at_rest() {
    let seed = 2813;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for number in 0..20 {
        let h = random.log_uniform(0.005, 0.5);
        let edge = h * random.uniform(0.2, 1.2);
        let parts = [8 + random.word() as usize % 9, 4 + random.word() as usize % 9];
        let elastic = Elastic {
            youngs_modulus: random.log_uniform(1e3, 1e6),
            poissons_ratio: random.uniform(0.0, 0.45),
        };
        let normal = elastic.youngs_modulus * random.log_uniform(0.1, 2.0);
        let material = ClothMaterial::new(random.log_uniform(50.0, 2000.0), elastic, 0.1 * h, normal);
        // Half of them along the grid.
        let turn = if random.unit() < 0.5 { random.rotation() } else { UnitQuaternion::identity() };
        let [u, v] = [0, 1].map(|k| turn * Vector3::ith(k, edge * parts[k] as f64));
        let origin = if random.unit() < 0.5 { random.vector() } else { Vector3::zeros() };
        let mesh = ClothMesh::rectangle(origin, u, v, parts).unwrap();
        let all_edges = random.unit() < 0.5;
        let is_held = |n: &usize| {
            let [i, j] = [n / (parts[1] + 1), n % (parts[1] + 1)];
            i == 0 || i == parts[0] || all_edges && (j == 0 || j == parts[1])
        };
        let held = (0..mesh.vertices().len()).filter(is_held);
        let pins = held.map(|n| Pin::fixed(n, mesh.vertices()[n]).unwrap()).collect();
        let sheets = [Sheet { pins, ..Sheet::new(mesh, material) }];
        let mut mpm = Mpm::with_sheets(h, vec![], &[], &sheets, &[], InstructionSet::detect()).unwrap();
        let dt = mpm.largest_stable_substep(0.0);
        let mut most = 0.0_f64;
        for k in 0..100 {
            mpm.begin_step();
            mpm.particles_to_grid(dt, Vector3::zeros());
            mpm.apply_pins(f64::from(k) * dt, dt);
            mpm.grid_to_particles(dt).unwrap();
            most = most.max(mpm.max_speed());
        }
        // Positions from a block's corner are up to four cells, so rounded by 2^-22 of one.
        let rounding = 2.0_f64.powi(-22) * h / dt;
        println!("{number}: edges of {:.2} cells, {:.1} roundings", edge / h, most / rounding);
        assert!(most < 500.0 * rounding, "{number}: {most} m/s, {rounding} m/s");
    }
}
