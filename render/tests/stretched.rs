//! Surfaces of bodies that are stretched, thin or apart: pieces, holes and volume.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use pliant_numeric::random::SplitMix64;
use pliant_render::{RenderSphere, RenderSurface, SoftBodies, soft_bodies, soft_bodies_and_grains};

/// Spacing of the particles at rest \[m\].
const SPACING: f64 = 0.01;

/// A box of particles, jittered by a tenth of the spacing, whose spacing along each axis is
/// `stretched` over that at rest, from `start`; lengths in spacings.
fn lattice(
    random: &mut SplitMix64,
    counts: [usize; 3],
    stretched: [f64; 3],
    start: [f64; 3],
) -> Vec<RenderSphere> {
    let mut balls = Vec::new();
    for n in 0..counts.iter().product::<usize>() {
        let cell = [n % counts[0], n / counts[0] % counts[1], n / counts[0] / counts[1]];
        let center = [0, 1, 2].map(|axis| {
            let jitter = random.uniform_in(-0.1, 0.1);
            (SPACING * (start[axis] + stretched[axis] * (cell[axis] as f64 + jitter))) as f32
        });
        balls.push(RenderSphere { center, radius: 0.6 * SPACING as f32, color: [200, 90, 40] });
    }
    balls
}

fn drawn(balls: &[RenderSphere]) -> SoftBodies {
    soft_bodies(balls, &vec![0; balls.len()], 0.007)
}

/// Pieces of a surface, and its Euler characteristic: 2 for each piece, less 2 for each hole through
/// it.
fn pieces_and_characteristic(surface: &RenderSurface) -> (usize, i64) {
    let mut root: Vec<usize> = (0..surface.positions.len()).collect();
    let find = |root: &[usize], mut v: usize| {
        while root[v] != v {
            v = root[v];
        }
        v
    };
    let mut edges = BTreeSet::new();
    for [a, b, c] in surface.triangles.iter().map(|t| t.map(|v| v as usize)) {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            edges.insert([from.min(to), from.max(to)]);
            let (low, high) = (find(&root, from), find(&root, to));
            root[low.max(high)] = low.min(high);
        }
    }
    let pieces = (0..root.len()).filter(|v| root[*v] == *v).count();
    let count = |n: usize| i64::try_from(n).unwrap();
    (pieces, count(root.len()) - count(edges.len()) + count(surface.triangles.len()))
}

fn volume(surface: &RenderSurface) -> f64 {
    let corner = |v: u32| nalgebra::Vector3::from(surface.positions[v as usize].map(f64::from));
    let of = |t: &[u32; 3]| corner(t[0]).dot(&corner(t[1]).cross(&corner(t[2]))) / 6.0;
    surface.triangles.iter().map(of).sum()
}

// Law: a sheet one particle thick, stretched by up to 2.5 along one axis, is of one piece without
// holes, and no particle of it is left over. Kernels of two spacings alone let it fall into rows.
#[test]
fn a_stretched_sheet_is_whole() {
    for seed in 0..12 {
        let mut random = SplitMix64::new(seed);
        let stretch = if seed == 0 { 2.5 } else { random.uniform_in(1.0, 2.5) };
        let balls = lattice(&mut random, [12, 24, 1], [stretch, 1.0, 1.0], [0.0; 3]);
        let made = drawn(&balls);
        assert_eq!((made.surfaces.len(), made.spheres.len()), (1, 0), "stretch {stretch}, seed {seed}");
        let found = pieces_and_characteristic(&made.surfaces[0]);
        assert_eq!(found, (1, 2), "pieces and Euler characteristic, stretch {stretch}, seed {seed}");
    }
}

// Law: of a block that is stretched by 2.2 along one axis and keeps its volume the top is level within
// half a spacing, away from its rim; grooves between its layers would be deeper.
#[test]
fn a_stretched_block_has_no_grooves() {
    for seed in 0..6 {
        let mut random = SplitMix64::new(seed);
        let stretch = 2.2_f64;
        let across = stretch.powf(-0.5);
        let counts = [12, 20, 20];
        let balls = lattice(&mut random, counts, [stretch, across, across], [0.0; 3]);
        let made = drawn(&balls);
        assert_eq!(made.surfaces.len(), 1);
        let inner = |x: f64, axis: usize| {
            let side = (counts[axis] - 1) as f64 * [stretch, across, across][axis];
            x > 3.0 && x < side - 3.0
        };
        let top: Vec<f64> = made.surfaces[0]
            .positions
            .iter()
            .map(|p| p.map(|c| f64::from(c) / SPACING))
            .filter(|p| inner(p[0], 0) && inner(p[1], 1) && p[2] > 8.0)
            .map(|p| p[2])
            .collect();
        let (low, high) =
            top.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), z| (l.min(*z), h.max(*z)));
        assert!(top.len() > 100 && high - low < 1.0, "top from {low} to {high}, seed {seed}");
    }
}

// Law: two blocks whose outermost particles are three to five spacings apart are two pieces, and have
// the volume of their particles within 5 %.
#[test]
fn blocks_apart_stay_apart() {
    for seed in 0..12 {
        let mut random = SplitMix64::new(seed);
        let gap = random.uniform_in(3.0, 5.0) + 0.2;
        let side = 10 + (seed % 4) as usize;
        let mut balls = lattice(&mut random, [side; 3], [1.0; 3], [0.0; 3]);
        let shift = [(side - 1) as f64 + gap, random.uniform(), random.uniform()];
        balls.extend(lattice(&mut random, [side; 3], [1.0; 3], shift));
        let made = drawn(&balls);
        assert_eq!((made.surfaces.len(), made.spheres.len()), (1, 0), "gap {gap}, seed {seed}");
        let found = pieces_and_characteristic(&made.surfaces[0]);
        assert_eq!(found, (2, 4), "pieces and Euler characteristic, gap {gap}, seed {seed}");
        let ratio = volume(&made.surfaces[0]) / (balls.len() as f64 * SPACING.powi(3));
        assert!((ratio - 1.0).abs() < 0.05, "volume ratio {ratio}, seed {seed}");
    }
}

// Law: a crack stays open: between two blocks that are whole up to it, 2.3 to three spacings apart,
// there is hardly a surface in its middle plane, away from its rim: a thread at most, where the jitter
// has opened a face.
#[test]
fn a_crack_stays_open() {
    for seed in 0..12 {
        let mut random = SplitMix64::new(seed);
        let gap = random.uniform_in(2.3, 3.0);
        let mut balls = lattice(&mut random, [10; 3], [1.0; 3], [0.0; 3]);
        balls.extend(lattice(&mut random, [10; 3], [1.0; 3], [9.0 + gap, 0.0, 0.0]));
        let made = drawn(&balls);
        let in_crack =
            made.surfaces[0].positions.iter().map(|p| p.map(|c| f64::from(c) / SPACING)).filter(|p| {
                (p[0] - 9.0 - gap / 2.0).abs() < 0.3 && p[1..].iter().all(|c| (2.0..7.0).contains(c))
            });
        let count = in_crack.count();
        assert!(count < 10, "{count} vertices in the crack, gap {gap}, seed {seed}");
    }
}

// Law: grains that part are not joined: a stretched sheet of them falls into more pieces or grains.
#[test]
fn grains_keep_their_gaps() {
    let mut random = SplitMix64::new(7);
    let balls = lattice(&mut random, [12, 24, 2], [2.5, 1.0, 1.0], [0.0; 3]);
    let bodies = vec![3; balls.len()];
    let pieces = |made: SoftBodies| {
        made.spheres.len()
            + made.surfaces.iter().map(|surface| pieces_and_characteristic(surface).0).sum::<usize>()
    };
    assert_eq!(pieces(soft_bodies_and_grains(&balls, &bodies, &[], 0.007, false)), 1);
    assert!(pieces(soft_bodies_and_grains(&balls, &bodies, &[3], 0.007, false)) >= 12);
}
