//! The transfers to the grid of blocks of every kind and size: one cell or all, up to thousands of
//! particles, drifted since the sort, with cloth and grains.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod mpm_support;
mod support;

use std::collections::BTreeMap;

use mpm_support::{ROUNDOFF, every_material, on_device, random_matrix, random_vector};
use nalgebra::{Matrix3, Point3, Vector3};
use pliant_cuda::Device;
use pliant_cuda::mpm::{DeviceNode, Transfer};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Sheet};
use pliant_mpm::material::Elastic;
use pliant_mpm::{InstructionSet, Mpm, ParticleRecord, ParticleState};
use support::{Random, devices};

const H: f64 = 0.0625;
const DT: f64 = 1e-3;
const GRAVITY: Vector3<f64> = Vector3::new(0.3, -0.2, -9.81);
/// Index of the granular material of [`every_material`].
const SAND: usize = 5;
/// Roundings of a particle's term at a node (weights, polynomial, products), as
/// mpm_transfers.rs counts them.
const OPERATIONS: f64 = 32.0;

/// What is in the blocks.
#[derive(Clone, Copy, Debug)]
enum Contents {
    /// So many particles of all elastic models in a cube of this edge [cells] around this place
    /// [cells].
    Cloud { count: usize, edge: f64, centre: f64 },
    /// The same, with every third one a grain.
    Grains { count: usize, edge: f64, centre: f64 },
    /// A sheet through a cloud with grains.
    Cloth { count: usize },
}

/// Contents, and how they move: particles that are `drift` cells farther apart after the
/// [`SUBSTEPS`] that follow the sort, a side.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    contents: Contents,
    drift: f64,
}

/// From the sort to the transfer that is looked at.
const SUBSTEPS: u32 = 5;

/// All sorts of blocks. A block's cells have their stencils' first nodes at 4 to 7: its middle is
/// at 6.5, of the cell's in the middle at 6.
fn all_blocks() -> Vec<Blocks> {
    let cloud = |count, edge, centre| Contents::Cloud { count, edge, centre };
    let still = |contents| Blocks { contents, drift: 0.0 };
    let mut all: Vec<_> = [1, 2, 31, 33, 63, 64, 65, 127, 128, 129, 700, 3000]
        .map(|count| still(cloud(count, 0.9, 6.0)))
        .into();
    all.extend([1, 40, 512, 513, 4000].map(|count| still(cloud(count, 3.9, 6.5))));
    for drift in [0.3, 1.0, 1.8] {
        all.extend([3, 40, 600, 2500].map(|count| Blocks { contents: cloud(count, 3.9, 6.5), drift }));
        all.push(Blocks { contents: cloud(900, 7.0, 0.3), drift });
        all.push(Blocks { contents: Contents::Grains { count: 700, edge: 3.9, centre: 6.5 }, drift });
    }
    all.push(still(Contents::Grains { count: 300, edge: 0.9, centre: 6.0 }));
    all.extend([0.0, 0.8].map(|drift| Blocks { contents: Contents::Cloth { count: 300 }, drift }));
    all
}

/// The model, of soft particles, so that they move on as they began.
fn model(blocks: Blocks, seed: u64) -> Mpm {
    let mut random = Random(seed);
    let (count, edge, centre) = match blocks.contents {
        Contents::Cloud { count, edge, centre } | Contents::Grains { count, edge, centre } => {
            (count, edge, centre)
        }
        Contents::Cloth { count } => (count, 3.9, 6.5),
    };
    let middle = Vector3::repeat(centre * H);
    // Cells a substep, of a cell from the middle.
    let rate = blocks.drift / (0.5 * edge) / f64::from(SUBSTEPS) / DT;
    let states: Vec<_> = (0..count)
        .map(|k| {
            let from_middle = 0.5 * edge * H * random_vector(&mut random);
            let grain = !matches!(blocks.contents, Contents::Cloud { .. }) && k % 3 == 0;
            let volume = H.powi(3) / 8.0 * (1.5 + random.signed());
            let position = Point3::from(middle + from_middle);
            let slow = 0.2 * random_vector(&mut random);
            let mut p = ParticleState::new(
                position,
                slow + rate * from_middle,
                volume,
                if grain { SAND } else { k % 5 },
            );
            p.affine = Matrix3::identity() * rate + random_matrix(&mut random);
            p.deformation_gradient += 0.1 * random_matrix(&mut random);
            p
        })
        .collect();
    let sheets: Vec<_> = matches!(blocks.contents, Contents::Cloth { .. })
        .then(|| {
            let corner = middle + H * Vector3::new(-1.9, -1.8, -0.7);
            let (u, v) = (H * Vector3::new(3.7, 0.1, 0.6), H * Vector3::new(-0.1, 3.6, 0.5));
            let mesh = ClothMesh::rectangle(corner, u, v, [7, 6]).unwrap();
            let elastic = Elastic { youngs_modulus: 1e3, poissons_ratio: 0.3 };
            let material =
                ClothMaterial { shear_stiffness: 2e2, ..ClothMaterial::new(800.0, elastic, H, 2e2) };
            Sheet { velocity: Vector3::new(0.4, -0.3, 0.2), ..Sheet::new(mesh, material) }
        })
        .into_iter()
        .collect();
    let materials = every_material(1e2);
    Mpm::with_sheets(H, materials, &states, &sheets, &[], InstructionSet::detect()).unwrap()
}

/// A node: mass [kg] and momentum [N s]; and what rounding may do to them, in n roundings of n
/// terms, and in one of each particle's place in its stencil.
#[derive(Clone, Copy, Default)]
struct Node {
    mass: f64,
    momentum: Vector3<f64>,
    magnitude: f64,
    terms: f64,
    mass_of_places: f64,
    magnitude_of_places: f64,
}

/// Quadratic B-splines of the three nodes of an axis, for a particle at `f` from the first.
fn weights(f: f64) -> [f64; 3] {
    [0.5 * (1.5 - f).powi(2), 0.75 - (f - 1.0).powi(2), 0.5 * (f - 0.5).powi(2)]
}

/// Magnitudes of their slopes.
fn weight_slopes(f: f64) -> [f64; 3] {
    [1.5 - f, 2.0 * (f - 1.0).abs(), f - 0.5]
}

/// What a particle gives the grid at once: mass times velocity and affine field, and the stress;
/// the force and the moment of cloth.
struct Sent {
    /// From the origin [cells].
    position: Vector3<f64>,
    mass: f64,
    /// [N s]
    momentum: Vector3<f64>,
    /// Of momentum, a cell.
    slope: Matrix3<f64>,
}

/// Of the numbers that the device has.
fn sent(p: &ParticleRecord, is_cloth: bool) -> Sent {
    let numbers = |values: &[f32]| Vector3::from_fn(|d, _| f64::from(values[d]));
    let mass = f64::from(p.mass);
    let [xx, yy, zz, xy, xz, yz] = p.stress_volume.map(f64::from);
    let mut stress = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    let mut momentum = mass * numbers(&p.velocity);
    if is_cloth {
        let column = |n: usize| Vector3::from_fn(|d, _| f64::from(p.deformation_gradient[n + 3 * d]));
        momentum += DT * column(0);
        stress += column(1).cross_matrix();
    }
    let affine = Matrix3::from_row_iterator(p.affine.iter().copied().map(f64::from));
    let slope = mass * H * affine - DT * 4.0 / H * stress;
    let corner = Vector3::from_fn(|d, _| 4.0 * f64::from(p.block[d]));
    Sent { position: corner + numbers(&p.position), mass, momentum, slope }
}

/// The nodes that these particles make, in f64, with places that are rounded to so many u [cells].
fn nodes_of(particles: &[Sent], rounded: f64) -> BTreeMap<[i32; 3], Node> {
    let mut nodes = BTreeMap::<_, Node>::new();
    for p in particles {
        let base = p.position.map(|x| (x - 0.5).floor());
        let offset = p.position - base;
        let w = [0, 1, 2].map(|d| weights(offset[d]));
        let slopes = [0, 1, 2].map(|d| weight_slopes(offset[d]));
        // The slopes of momentum meet offset and index apart: below 1.5, and up to 2, on three axes.
        let magnitude = p.momentum.amax() + 3.0 * 3.5 * p.slope.abs().max();
        for n in 0..27 {
            let at = [n / 9, n / 3 % 3, n % 3];
            let arm = Vector3::from_fn(|d, _| at[d] as f64) - offset;
            let [x, y, z] = [0, 1, 2].map(|d| w[d][at[d]]);
            let [dx, dy, dz] = [0, 1, 2].map(|d| slopes[d][at[d]]);
            let weight = x * y * z;
            let of_place = rounded * ROUNDOFF * (dx * y * z + x * dy * z + x * y * dz);
            let index = [0, 1, 2].map(|d| base[d] as i32 + at[d] as i32);
            let node = nodes.entry(index).or_default();
            node.mass += weight * p.mass;
            node.momentum += weight * (p.momentum + p.slope * arm);
            node.magnitude += weight * magnitude;
            node.mass_of_places += of_place * p.mass;
            node.magnitude_of_places += of_place * magnitude;
            node.terms += 1.0;
        }
    }
    nodes
}

/// The particles before a transfer, and the grid after it.
fn transfer_of(device: &Device, model: &Mpm, transfer: Transfer) -> (Vec<ParticleRecord>, Vec<DeviceNode>) {
    let start = |substeps| {
        let mut device_mpm = on_device(device, model, &[]);
        device_mpm.set_transfer(transfer);
        if transfer == Transfer::Ordered {
            device_mpm.set_sort_interval(1000);
        }
        device_mpm.advance(substeps, DT, GRAVITY).unwrap();
        device_mpm
    };
    let mut before = start(SUBSTEPS);
    let particles = before.particles().download().unwrap();
    let after = match transfer {
        // It repeats every bit, so that no sort need come between.
        Transfer::Ordered => start(SUBSTEPS + 1),
        Transfer::Atomic => {
            before.advance(1, DT, GRAVITY).unwrap();
            before
        }
    };
    (particles, after.grid().download().unwrap())
}

/// The bits of all particles.
fn bits(particles: &[ParticleRecord]) -> Vec<u32> {
    let of = |p: &ParticleRecord| {
        let values = p.position.into_iter().chain(p.velocity).chain(p.affine).chain(p.deformation_gradient);
        values.map(f32::to_bits).chain([p.id]).collect::<Vec<_>>()
    };
    particles.iter().flat_map(of).collect()
}

/// Holds the device's nodes to those that its particles should make, and their sums to the
/// particles'; `worst` gets the largest ratios of error to bound.
fn hold(sent: &[Sent], rounded: f64, found: &[DeviceNode], worst: &mut [f64; 4], what: &str) {
    let mut check = |n: usize, error: f64, bound: f64| {
        assert!(error <= bound, "{what}: check {n}: {error:e} above {bound:e}");
        worst[n] = worst[n].max(error / bound);
    };
    let expected = nodes_of(sent, rounded);
    let with_mass = expected.values().filter(|node| node.mass > 0.0).count();
    assert_eq!(found.len(), with_mass, "{what}: nodes");
    let (mut mass, mut momentum, mut bounds) = (0.0, Vector3::zeros(), [0.0, 0.0]);
    for node in found {
        let right = &expected[&node.index];
        let roundings = (OPERATIONS + right.terms) * ROUNDOFF;
        let (m, v) = (f64::from(node.mass), Vector3::from(node.velocity.map(f64::from)));
        let mass_bound = roundings * right.mass + right.mass_of_places;
        check(0, (m - right.mass).abs(), mass_bound);
        let fall = DT * GRAVITY * right.mass;
        let bound = roundings * (right.magnitude + right.momentum.amax() + fall.amax())
            + right.magnitude_of_places
            + right.mass_of_places * (right.momentum.amax() / right.mass);
        check(1, (m * v - right.momentum - fall).amax(), bound);
        mass += m;
        momentum += m * v - fall;
        bounds[0] += mass_bound;
        bounds[1] += bound;
    }
    let of_particles =
        sent.iter().fold((0.0, Vector3::zeros()), |sum, p| (sum.0 + p.mass, sum.1 + p.momentum));
    check(2, (mass - of_particles.0).abs(), bounds[0]);
    check(3, (momentum - of_particles.1).amax(), bounds[1]);
}

/// A node's mass and momentum are sums over particles of quadratic B-splines times what each
/// sends. These are a partition of unity whose mean is the particle's place, so that all nodes
/// together have the particles' mass and momentum (Jiang et al. 2016, sections 5.2 and 10.1). Both
/// to n + 32 roundings of n terms. In a fixed order the bits are the same on every schedule.
#[test]
fn nodes_are_sums_over_particles() {
    let devices = devices();
    let mut worst = [0.0; 4];
    for (seed, blocks) in all_blocks().into_iter().enumerate() {
        let model = model(blocks, seed as u64);
        let is_cloth = |p: &ParticleRecord| p.material as usize >= model.materials().len();
        let mut first = None;
        let ordered = devices.iter().map(|device| (device, Transfer::Ordered));
        for (device, transfer) in ordered.chain([(&devices[0], Transfer::Atomic)]) {
            let what = format!("{blocks:?}, seed {seed}, {transfer:?} on {}", device.name());
            let (particles, nodes) = transfer_of(device, &model, transfer);
            let sent: Vec<_> = particles.iter().map(|p| sent(p, is_cloth(p))).collect();
            // Places from the block's corner, up to 1.5 from a stencil's first node; and after a sort
            // up to 8 from the new block's.
            let rounded = if transfer == Transfer::Ordered { 1.0 } else { 5.0 };
            hold(&sent, rounded, &nodes, &mut worst, &what);
            // A GPU fuses operations that the emulation does not.
            if transfer == Transfer::Ordered && device.is_emulated() {
                let (old, old_nodes) = first.get_or_insert_with(|| (bits(&particles), nodes.clone()));
                assert!(*old == bits(&particles) && *old_nodes == nodes, "{what}: the schedule shows");
            }
        }
    }
    println!("error over bound: {worst:?}");
}
