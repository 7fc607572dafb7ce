//! The same bits for any number of threads and across saving and restoring; corrupt states are
//! refused.

use crate::common::{bits, every_material, fast, lattice, step};
use nalgebra::{Point3, Vector3};
use pliant_mpm::reference::ReferenceParticle;
use pliant_mpm::stable_step::largest_stable_substep;
use pliant_mpm::{Boundary, BoundaryKind, Mpm, MpmError, Totals};
use pliant_testing::Random;

const H: f64 = 0.05;
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// A block of all materials that spins, flies towards the floor at z = 0 and comes apart there.
fn tumbling() -> Mpm {
    let materials = every_material();
    let mut random = Random(7);
    let mut particles: Vec<ReferenceParticle> = lattice([-0.2, -0.1, 0.12], [H / 2.0; 3], [14, 8, 8], 1e3);
    let spin = Vector3::new(1.0, -3.0, 5.0);
    for (k, p) in particles.iter_mut().enumerate() {
        p.material = k % materials.len();
        p.velocity = spin.cross(&p.position) + Vector3::new(1.5, 0.5, -1.0) + 0.2 * random.vector();
        p.affine = spin.cross_matrix();
    }
    let friction = BoundaryKind::Frictional { friction: 0.3 };
    let floor = Boundary { point: Point3::origin(), normal: Vector3::z_axis(), kind: friction };
    fast(H, &materials, &particles, &[floor])
}

fn dt() -> f64 {
    largest_stable_substep(H, &every_material(), 4.0)
}

/// Runs `steps` substeps; returns all bits of the sums of the free motion on the way.
fn run(mpm: &mut Mpm, steps: usize) -> Vec<u64> {
    let mut seen = Vec::new();
    for _ in 0..steps {
        let sums = step(mpm, dt(), GRAVITY).unwrap();
        let impulses = [sums.gravity, sums.boundary].map(|i| [i.linear, i.angular]);
        seen.extend([sums.mass, sums.work].map(f64::to_bits));
        seen.extend(impulses.iter().flatten().flat_map(|v| v.iter().map(|x| x.to_bits())));
    }
    seen
}

fn totals(mpm: &Mpm) -> Totals {
    mpm.totals(&mut Vec::new())
}

/// The order of every sum is fixed (blocks, then neighbours), so the number of threads changes no
/// bit: of particles, node sums and totals.
#[test]
fn threads_change_no_bit() {
    let mut expected: Option<(Vec<u64>, Vec<u8>, Totals, u64)> = None;
    for threads in [1, 2, 3, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let result = pool.install(|| {
            let mut mpm = tumbling();
            let start = mpm.grid_version();
            let sums = run(&mut mpm, 300);
            (sums, bits(&mpm), totals(&mpm), mpm.grid_version() - start)
        });
        assert!(result.3 >= 10, "only {} sorts that changed the blocks", result.3);
        match &expected {
            None => expected = Some(result),
            Some(first) => {
                assert!(first.0 == result.0, "{threads} threads: other sums");
                assert!(first.1 == result.1, "{threads} threads: other particles");
                assert_eq!((first.2, first.3), (result.2, result.3), "{threads} threads");
            }
        }
    }
}

/// A run that is saved, restored into a fresh model and continued ends with the bits of one that
/// never stopped, wherever it is cut.
#[test]
fn a_restored_run_continues_bit_for_bit() {
    let mut whole = tumbling();
    let sums = run(&mut whole, 150);
    for cut in [0, 1, 37, 101, 149] {
        let mut first = tumbling();
        let mut seen = run(&mut first, cut);
        let saved = bits(&first);
        let mut second = tumbling();
        second.read_state(&mut &saved[..]).unwrap();
        assert!(bits(&second) == saved, "cut {cut}: not what was saved");
        assert_eq!(second.particles(), first.particles());
        assert_eq!(second.max_speed().to_bits(), first.max_speed().to_bits());
        assert_eq!(totals(&second), totals(&first));
        seen.extend(run(&mut second, 150 - cut));
        assert!(seen == sums, "cut {cut}: other sums");
        assert!(bits(&second) == bits(&whole), "cut {cut}: other particles");
    }
}

/// A state also goes into a model that has run on: nothing of its later life is left.
#[test]
fn a_state_is_all_there_is() {
    let mut mpm = tumbling();
    run(&mut mpm, 20);
    let saved = bits(&mpm);
    run(&mut mpm, 60);
    let expected = bits(&mpm);
    run(&mut mpm, 50);
    mpm.read_state(&mut &saved[..]).unwrap();
    run(&mut mpm, 60);
    assert!(bits(&mpm) == expected);
}

/// Where things are in a saved state: magic 8, six u64 (particles, blocks, tiles, must sort, two
/// counts of runs), six f64 (the grid's origin and velocity), 20 bytes a block (three i32 of its
/// key, u32 count, f32 speed), then tiles of 20 x 16 f32 of kinematics and 17 x 16 of deformation.
const COUNT: usize = 8;
const BLOCKS: usize = 16;
const TILES: usize = 24;
const MUST_SORT: usize = 32;
const ORIGIN: usize = 64;
const FIRST_BLOCK: usize = 144;
/// Rows of a tile of kinematics.
const POSITION: usize = 3;
const ID: usize = 18;
const MATERIAL: usize = 19;

fn small() -> Mpm {
    let particles = lattice([-0.043; 3], [H / 2.0; 3], [5, 5, 3], 1e3);
    fast(H, &every_material(), &particles, &[])
}

fn kinematics_at(saved: &[u8], row: usize, lane: usize) -> usize {
    let blocks = u64::from_le_bytes(saved[BLOCKS..BLOCKS + 8].try_into().unwrap()) as usize;
    FIRST_BLOCK + 20 * blocks + (row * 16 + lane) * 4
}

/// Refused with an error that says why; and the model is unchanged.
fn refused(mut corrupt: &[u8], why: &str) {
    let mut mpm = small();
    let before = bits(&mpm);
    let error = mpm.read_state(&mut corrupt).map(|()| why).unwrap_err();
    assert!(matches!(&error, MpmError::Checkpoint { reason } if !reason.is_empty()), "{why}: {error:?}");
    assert!(error.to_string().starts_with("checkpoint: "), "{error}");
    assert!(bits(&mpm) == before, "{why}: changed the model");
    run(&mut mpm, 2);
}

fn put(saved: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut corrupt = saved.to_vec();
    corrupt[at..at + bytes.len()].copy_from_slice(bytes);
    corrupt
}

#[test]
fn corrupt_states_are_refused() {
    let mut mpm = small();
    run(&mut mpm, 3);
    let saved = bits(&mpm);
    assert_eq!(saved[COUNT..COUNT + 8], 75_u64.to_le_bytes());
    for length in (0..saved.len()).step_by(97).chain([7, 8, 55, 56, saved.len() - 1]) {
        refused(&saved[..length], "truncated");
    }
    refused(&put(&saved, 0, b"pliantM0"), "wrong magic");
    refused(&put(&saved, COUNT, &74_u64.to_le_bytes()), "wrong count");
    refused(&put(&saved, BLOCKS, &u64::MAX.to_le_bytes()), "too many blocks");
    refused(&put(&saved, TILES, &u64::MAX.to_le_bytes()), "too many tiles");
    refused(&put(&saved, ORIGIN, &f64::NAN.to_le_bytes()), "a grid that is nowhere");
    refused(&put(&saved, FIRST_BLOCK + 12, &0_u32.to_le_bytes()), "empty block");
    refused(&put(&saved, FIRST_BLOCK + 12, &u32::MAX.to_le_bytes()), "too many particles in a block");
    refused(&put(&saved, FIRST_BLOCK, &i32::MAX.to_le_bytes()), "blocks out of order");
    let (id, material) = (kinematics_at(&saved, ID, 0), kinematics_at(&saved, MATERIAL, 0));
    let other = saved[id + 4..id + 8].to_vec();
    refused(&put(&saved, id, &other), "duplicate id");
    refused(&put(&saved, id, &75_u32.to_le_bytes()), "unknown id");
    refused(&put(&saved, material, &(every_material().len() as u32).to_le_bytes()), "unknown material");
    for x in [f32::NAN, f32::INFINITY, -3.0, 9.0, 1e30] {
        refused(
            &put(&saved, kinematics_at(&saved, POSITION, 3), &x.to_le_bytes()),
            "position out of its block's reach",
        );
    }
    // Within reach of the sort, but not of the transfers.
    let far = put(&saved, kinematics_at(&saved, POSITION, 3), &7.0_f32.to_le_bytes());
    refused(&far, "position outside the scratchpad");
    mpm.read_state(&mut &put(&far, MUST_SORT, &1_u64.to_le_bytes())[..]).unwrap();
    step(&mut mpm, 1e-4, GRAVITY).unwrap();
    refused(&[], "empty");
}

/// A model with other particles does not take a state.
#[test]
fn a_state_of_another_model_is_refused() {
    refused(&bits(&tumbling()), "another model");
}

/// Whatever bits are flipped, a state is refused, or it runs on or loses a particle; nothing
/// panics.
#[test]
fn flipped_bits_never_panic() {
    let mut mpm = small();
    run(&mut mpm, 3);
    let saved = bits(&mpm);
    let mut random = Random(11);
    let (mut refused, mut lost, mut ran) = (0, 0, 0);
    for k in 0..3000 {
        let mut corrupt = saved.clone();
        // Header and first tile, where the structure is, as often as all the rest.
        let end = if k % 2 == 0 { 1500 } else { saved.len() };
        for _ in 0..1 + k % 3 {
            let at = ((random.signed() + 1.0) / 2.0 * end as f64) as usize;
            corrupt[at] ^= 1 << (k / 3 % 8);
        }
        let mut mpm = mpm.clone();
        if mpm.read_state(&mut &corrupt[..]).is_err() {
            refused += 1;
            continue;
        }
        match (0..2).try_for_each(|_| step(&mut mpm, 1e-4, GRAVITY).map(|_| ())) {
            Ok(()) => ran += 1,
            Err(MpmError::LostParticle { .. }) => lost += 1,
            Err(error) => panic!("{error}"),
        }
    }
    println!("{refused} refused, {lost} lost a particle, {ran} ran on");
    assert!(refused > 300 && ran > 300);
}

/// A writer that fails gives its error, not a panic.
#[test]
fn a_failing_writer_is_reported() {
    let mut room = [0_u8; 100];
    let error = small().write_state(&mut &mut room[..]).unwrap_err();
    assert!(matches!(error, MpmError::Checkpoint { .. }), "{error:?}");
}
