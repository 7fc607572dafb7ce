//! Stepping allocates nothing once its buffers have grown: a substep of any size costs the same,
//! and no allocator's lock joins the threads.

#![allow(clippy::unwrap_used)] // everything here runs in tests

mod common;

use common::{every_material, fast, lattice, step};
use nalgebra::Vector3;
use pliant_mpm::cloth::{BendingFriction, ClothMaterial, ClothMesh, Gas, Sheet, Tearing, Weave};
use pliant_mpm::material::Elastic;
use pliant_mpm::rope::{Rope, RopeMaterial};
use pliant_mpm::stable_step::largest_stable_substep;
use pliant_mpm::{InstructionSet, Mpm, Totals};
use pliant_testing::allocations::{Counting, on_all_threads};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A fingerprint of the particles' order, to see sorts.
fn order(mpm: &Mpm) -> u64 {
    let mut hash = 0_u64;
    mpm.for_each_particle(|id, _| {
        hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(id))
    });
    hash
}

/// Allocations in 200 substeps after as many to warm up, and the sorts and changes of blocks among
/// them.
fn after_warm_up(mut mpm: Mpm, dt: f64) -> (usize, usize, u64) {
    let mut scratch: Vec<Totals> = Vec::new();
    for _ in 0..200 {
        step(&mut mpm, dt, Vector3::zeros()).unwrap();
        mpm.totals(&mut scratch);
    }
    let (mut sorts, version) = (0, mpm.grid_version());
    let before = on_all_threads();
    for _ in 0..200 {
        let sorted = order(&mpm);
        step(&mut mpm, dt, Vector3::zeros()).unwrap();
        mpm.totals(&mut scratch);
        sorts += usize::from(order(&mpm) != sorted);
    }
    (on_all_threads() - before, sorts, mpm.grid_version() - version)
}

/// A woven sheet with bending, and friction in it, that flies through blocks.
fn sheet(h: f64) -> Mpm {
    let elastic = Elastic { youngs_modulus: 1e3, poissons_ratio: 0.3 };
    let weave = Some(Weave::new(Vector3::new(1.0, 0.3, 0.0), 2e3, 100.0));
    let material = ClothMaterial {
        bending_stiffness: 1e-4,
        bending_friction: Some(BendingFriction { moment: 1e-5, curvature: 0.1 }),
        weave,
        ..ClothMaterial::new(1e3, elastic, h, 1e3)
    };
    let mesh =
        ClothMesh::rectangle(Vector3::zeros(), 0.4 * Vector3::x(), 0.4 * Vector3::y(), [8, 8]).unwrap();
    let sheet = Sheet { velocity: Vector3::new(0.9, 0.3, 0.2), ..Sheet::new(mesh, material) };
    Mpm::with_sheets(h, vec![], &[], &[sheet], &[], InstructionSet::detect()).unwrap()
}

/// A sheet that is pulled apart, and tears.
fn pulled(h: f64) -> Mpm {
    let elastic = Elastic { youngs_modulus: 1e4, poissons_ratio: 0.3 };
    let thickness = 0.1 * h;
    let tearing = Some(Tearing { strength: 0.05 * 1e4 * thickness, energy: 2.0 });
    let material = ClothMaterial { tearing, ..ClothMaterial::new(1e3, elastic, thickness, 1e3) };
    let mesh =
        ClothMesh::rectangle(Vector3::zeros(), 0.4 * Vector3::x(), 0.4 * Vector3::y(), [8, 8]).unwrap();
    let sheets = [Sheet::new(mesh, material)];
    let mut mpm = Mpm::with_sheets(h, vec![], &[], &sheets, &[], InstructionSet::detect()).unwrap();
    let mut particles: Vec<_> = mpm.stored_particles().collect();
    for p in &mut particles {
        let cells = (4 * p.block[0]) as f32 + p.position[0];
        p.velocity = [(cells - 4.0).signum() * 1.5, 0.0, 0.0];
    }
    mpm.set_particles(&particles).unwrap();
    mpm
}

/// Allocations in the substeps in which faces tear while the blocks of the grid stay, and their number.
fn where_it_tears(mpm: &mut Mpm, dt: f64) -> (usize, usize) {
    let (mut allocations, mut count) = (0, 0);
    for _ in 0..400 {
        let (torn, version, before) = (mpm.torn_faces(0), mpm.grid_version(), on_all_threads());
        step(mpm, dt, Vector3::zeros()).unwrap();
        if mpm.torn_faces(0) > torn && mpm.grid_version() == version {
            allocations += on_all_threads() - before;
            count += 1;
        }
    }
    (allocations, count)
}

/// A ball with gas that flies through blocks.
fn inflated(h: f64) -> Mpm {
    let elastic = Elastic { youngs_modulus: 1e4, poissons_ratio: 0.3 };
    let gas = Gas::Isothermal { gauge_pressure: 100.0, ambient_pressure: 1e4, volume: None };
    let mesh = ClothMesh::sphere(Vector3::zeros(), 0.2, 4).unwrap();
    let sheet = Sheet {
        gas: Some(gas),
        velocity: Vector3::new(1.8, 0.6, 0.4),
        ..Sheet::new(mesh, ClothMaterial::new(1e3, elastic, 0.1 * h, 1e3))
    };
    Mpm::with_sheets(h, vec![], &[], &[sheet], &[], InstructionSet::detect()).unwrap()
}

/// A twisted rope that flies through blocks.
fn rope(h: f64) -> Mpm {
    let points = Rope::line(Vector3::zeros(), Vector3::new(0.5, 0.3, 0.1), 40);
    let rope = Rope {
        twist: 10.0,
        velocity: Vector3::new(2.7, 0.9, 0.6),
        ..Rope::new(points, RopeMaterial::new(1e3, 0.1 * h, 1e4, 4e3))
    };
    Mpm::with_ropes(h, vec![], &[], (&[], &[rope]), &[], InstructionSet::detect()).unwrap()
}

/// Two crossed ropes that fly onto each other and on through blocks.
fn crossed(h: f64) -> Mpm {
    let material = RopeMaterial::new(1e3, 0.1 * h, 1e4, 4e3);
    let line = |along: Vector3<f64>, height: f64| {
        let middle = Vector3::new(0.25, 0.25, height);
        let velocity = Vector3::new(1.8, 0.6, 0.4 - 4.0 * height / h);
        Rope { velocity, ..Rope::new(Rope::line(middle - along, middle + along, 20), material) }
    };
    let ropes = [line(Vector3::x() * 0.2, 0.0), line(Vector3::y() * 0.2, 0.21 * h)];
    Mpm::with_ropes(h, vec![], &[], (&[], &ropes), &[], InstructionSet::detect()).unwrap()
}

/// No allocation on one thread: for a block of several materials that turns and rings within its
/// blocks, and for one, a sheet of cloth, an inflated ball, a rope and two that touch and fly through blocks, as many as before.
/// (`alloc_zeroed` and `realloc` come through `alloc` here, so that growing buffers count too.)
#[test]
fn stepping_allocates_nothing() {
    let mut materials = every_material();
    // Sand would come apart, into new blocks.
    materials.truncate(4);
    let h = 0.05;
    let dt = largest_stable_substep(h, &materials, 1.0);
    let block = |spin: Vector3<f64>, velocity: Vector3<f64>| {
        let mut particles = lattice([0.06; 3], [h / 2.0; 3], [9, 8, 5], 1e3);
        let centre = Vector3::new(0.1725, 0.16, 0.1225);
        for (k, p) in particles.iter_mut().enumerate() {
            p.material = k % materials.len();
            p.velocity = velocity + spin.cross(&(p.position - centre));
            p.velocity.x += 0.5 * (p.position.x - centre.x);
            p.affine = spin.cross_matrix();
        }
        fast(h, &materials, &particles, &[])
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let (allocations, sorts, changes) =
            after_warm_up(block(Vector3::new(0.01, 0.02, 0.05), Vector3::zeros()), dt);
        println!("within its blocks: {allocations} allocations, {sorts} sorts, {changes} changes of blocks");
        assert!(sorts >= 2, "{sorts} sorts: it does not show that sorting allocates nothing");
        assert_eq!((allocations, changes), (0, 0));

        let (allocations, sorts, changes) =
            after_warm_up(block(Vector3::zeros(), Vector3::new(0.9, 0.0, 0.0)), dt);
        println!("flying: {allocations} allocations, {sorts} sorts, {changes} changes of blocks");
        assert!(changes >= 3, "{changes} changes of blocks: it does not fly far");
        assert_eq!(allocations, 0);

        let (allocations, _, changes) = after_warm_up(sheet(h), dt / 2.0);
        println!("cloth: {allocations} allocations, {changes} changes of blocks");
        assert!(changes >= 3, "{changes} changes of blocks: it does not fly far");
        assert_eq!(allocations, 0);

        let ball = inflated(h);
        let limit = ball.largest_stable_substep(4.0);
        let (allocations, _, changes) = after_warm_up(ball, limit);
        println!("inflated: {allocations} allocations, {changes} changes of blocks");
        assert!(changes >= 3, "{changes} changes of blocks: it does not fly far");
        assert_eq!(allocations, 0);

        let mut sheet = pulled(h);
        let limit = sheet.largest_stable_substep(4.0);
        let (allocations, tears) = where_it_tears(&mut sheet, 0.5 * limit);
        println!("torn: {} faces in {tears} substeps, {allocations} allocations", sheet.torn_faces(0));
        assert!(tears >= 3, "{tears} substeps in which it tears");
        assert_eq!(allocations, 0);

        let rope = rope(h);
        let limit = rope.largest_stable_substep(4.0);
        let (allocations, _, changes) = after_warm_up(rope, limit);
        println!("rope: {allocations} allocations, {changes} changes of blocks");
        assert!(changes >= 3, "{changes} changes of blocks: it does not fly far");
        assert_eq!(allocations, 0);

        let crossed = crossed(h);
        let limit = crossed.largest_stable_substep(4.0);
        let (allocations, _, changes) = after_warm_up(crossed, limit);
        println!("crossed ropes: {allocations} allocations, {changes} changes of blocks");
        assert!(changes >= 3, "{changes} changes of blocks: they do not fly far");
        assert_eq!(allocations, 0);
    });
    // The counter counts.
    let before = on_all_threads();
    drop(std::hint::black_box(vec![1_u8; 100]));
    assert!(on_all_threads() > before);
}
