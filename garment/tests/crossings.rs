//! Crossings of cloth against arrangements whose number of them is known by construction.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used)]

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_garment::crossings::{Crossing, CrossingDetector, Crossings};
use pliant_mpm::cloth::SheetParticles;
use pliant_numeric::random::SplitMix64;

/// Sheets with their vertices' positions [m]; centroids take ids but play no part.
#[derive(Default, Clone)]
struct Sheets {
    patches: Vec<SheetParticles>,
    positions: Vec<[f64; 3]>,
}

impl Sheets {
    fn add(&mut self, vertices: &[[f64; 3]], faces: &[[u32; 3]]) -> &mut Self {
        let start = self.positions.len();
        let end = start + vertices.len();
        let centroids = end..end + faces.len();
        self.positions.extend(vertices);
        self.positions.resize(centroids.end, [0.0; 3]);
        let faces = faces.iter().map(|f| f.map(|v| v + start as u32)).collect();
        self.patches.push(SheetParticles { vertices: start..end, centroids, faces, rest_edges: Vec::new() });
        self
    }

    /// `columns` x `rows` unit squares, each cut by the diagonal from (1, 0) to (0, 1); `at` places
    /// the point (u, v).
    fn grid(&mut self, columns: u32, rows: u32, at: impl Fn(f64, f64) -> [f64; 3]) -> &mut Self {
        let across = columns + 1;
        let vertices: Vec<_> =
            (0..across * (rows + 1)).map(|n| at(f64::from(n % across), f64::from(n / across))).collect();
        let cells = (0..columns * rows).map(|n| n / columns * across + n % columns);
        let faces: Vec<_> =
            cells.flat_map(|n| [[n, n + 1, n + across], [n + 1, n + across + 1, n + across]]).collect();
        self.add(&vertices, &faces)
    }

    fn moved(&self, motion: &Isometry3<f64>) -> Vec<[f64; 3]> {
        self.positions.iter().map(|x| (motion * Point3::from(*x)).coords.into()).collect()
    }

    fn crossings(&self) -> Crossings {
        CrossingDetector::new(&self.patches).count(&self.positions)
    }
}

const FACE: [[u32; 3]; 1] = [[0, 1, 2]];

// Two triangles that intersect in general position do so along a segment with two ends, and each
// end is where an edge of one goes through the other: two crossings, whether each triangle gives
// one or one gives both.
#[test]
fn two_triangles_that_intersect_have_two_crossings() {
    let floor = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.5, 0.0]];
    let spike = [[-0.1, -0.2, 0.6], [0.2, -0.1, 0.5], [0.05, -0.15, -0.4]];
    let mut inside = Sheets::default();
    inside.add(&floor, &FACE).add(&spike, &FACE);
    let found = inside.crossings();
    assert_eq!(found.count, 2);
    let face = [0, 1, 2];
    assert_eq!(found.first, [Crossing { edge: [4, 6], face }, Crossing { edge: [5, 6], face }]);
    // Half outside: one edge of each.
    let beside = spike.map(|[x, y, z]| [x, y - 0.85, z]);
    let mut each = Sheets::default();
    each.add(&floor, &FACE).add(&beside, &FACE);
    let found = each.crossings();
    assert_eq!(found.count, 2);
    assert!(found.first.iter().any(|c| c.face == face) && found.first.iter().any(|c| c.face == [4, 5, 6]));
    // Their boxes overlap, they do not.
    let mut apart = Sheets::default();
    apart.add(&floor, &FACE).add(&spike.map(|[x, y, z]| [x, y, z + 0.41]), &FACE);
    assert_eq!(apart.crossings(), Crossings::default());
}

// Layers on their own sides have no crossing, however near: a tenth of a nanometre at a metre's
// size is a million times rounding.
#[test]
fn parallel_sheets_do_not_cross_however_near() {
    for gap in [1e-10, 1e-4, 0.3] {
        let wave = |u: f64, v: f64| 0.4 * (0.9 * u).sin() + 0.2 * (1.3 * v).cos();
        let mut sheets = Sheets::default();
        sheets.grid(12, 9, |u, v| [u, v, wave(u, v)]).grid(12, 9, |u, v| [u, v, wave(u, v) + gap]);
        assert_eq!(sheets.crossings().count, 0, "gap {gap} m");
    }
}

// The same sheet twice: everything touches, nothing goes through.
#[test]
fn what_touches_does_not_cross() {
    let mut sheets = Sheets::default();
    for _ in 0..2 {
        sheets.grid(7, 5, |u, v| [0.1 * u, 0.1 * v, 0.03 * (u * v).sin()]);
    }
    assert_eq!(sheets.crossings().count, 0);
    // A corner on a face, and an edge in its plane.
    let floor = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.5, 0.0]];
    let mut standing = Sheets::default();
    standing.add(&floor, &FACE).add(&[[0.0, 0.0, 0.0], [0.1, 0.0, 1.0], [0.0, 0.1, 1.0]], &FACE);
    standing.add(&[[-0.2, -0.5, 0.0], [0.2, -0.5, 0.0], [0.0, -0.4, 1.0]], &FACE);
    assert_eq!(standing.crossings().count, 0);
}

/// A level sheet of 9 x 6 squares, and an upright one of 4 x 3 that stands in it up to half of its
/// middle row, across the line x = 4.3 from y = 0.75 to y = 4.75.
///
/// Edges of the upright sheet through the level one: those of its middle row, five posts and four
/// diagonals, 9. Edges of the level sheet through the upright one: those that cross x = 4.3 in
/// between, level ones at y = 1, 2, 3, 4 and diagonals at y = 1.7, 2.7, 3.7 and the one at 0.7 is
/// just outside, that at 4.7 just inside: 4 + 4 = 8.
fn pushed_through() -> (Sheets, usize) {
    let mut sheets = Sheets::default();
    sheets.grid(9, 6, |u, v| [u, v, 0.0]).grid(4, 3, |u, v| [4.3, 0.75 + u, v - 1.4]);
    (sheets, 9 + 8)
}

#[test]
fn a_sheet_pushed_through_another_crosses_along_a_line() {
    let (sheets, expected) = pushed_through();
    let found = sheets.crossings();
    assert_eq!(found.count, expected);
    assert_eq!(found.first.len(), 8);
    // The same within one sheet of two parts: it is the faces that count, not whose they are.
    let mut one = sheets.clone();
    let second = one.patches.pop().unwrap();
    one.patches[0].faces.extend(second.faces);
    assert_eq!(one.crossings(), found);
}

// Crossings are a matter of incidence: no rigid motion changes them, nor does the order of the
// sheets or of a face's corners.
#[test]
fn crossings_do_not_depend_on_the_frame() {
    let (sheets, expected) = pushed_through();
    let check = CrossingDetector::new(&sheets.patches);
    let reference = check.count(&sheets.positions);
    let mut random = SplitMix64::new(17);
    for case in 0..50 {
        let part =
            |random: &mut SplitMix64, reach: f64| Vector3::from_fn(|_, _| random.uniform_in(-reach, reach));
        let turn = UnitQuaternion::from_scaled_axis(part(&mut random, 3.0));
        let motion = Isometry3::from_parts(part(&mut random, 20.0).into(), turn);
        assert_eq!(check.count(&sheets.moved(&motion)), reference, "case {case}, seed 17");
    }
    let mut other = sheets.clone();
    other.patches.reverse();
    for patch in &mut other.patches {
        patch.faces.iter_mut().for_each(|face| face.reverse());
    }
    assert_eq!(other.crossings().count, expected);
}

/// A sheet 3 m long and 1 m wide, folded into an S of three layers `gap` [m] apart that bulge by
/// `bulge` [m] where they turn.
fn folded(gap: f64) -> Sheets {
    let mut sheets = Sheets::default();
    sheets.grid(60, 20, |u, v| {
        // Straight for 1 m less the turns, then half a circle of diameter `gap`.
        let half_turn = std::f64::consts::FRAC_PI_2 * gap;
        let (length, period) = (0.05 * u, 1.0 + half_turn);
        let layer = (length / period).floor();
        let along = length - layer * period;
        let forth = layer % 2.0 == 0.0;
        let (x, z) = if along <= 1.0 {
            (along, 0.0)
        } else {
            let angle = (along - 1.0) / (gap / 2.0);
            (1.0 + gap / 2.0 * angle.sin(), gap / 2.0 * (1.0 - angle.cos()))
        };
        [if forth { x } else { 1.0 - x }, 0.05 * v, layer * gap + z]
    });
    sheets
}

// An open fold has no crossings. Pushing its upper layer down by one and a half gaps lets it come
// out below the middle one.
#[test]
fn a_folded_sheet_does_not_cross_itself_until_it_does() {
    let sheets = folded(0.04);
    assert_eq!(sheets.crossings().count, 0);
    let mut pushed = sheets.clone();
    let top = 0.08 - 1e-6;
    for x in pushed.positions.iter_mut().filter(|x| x[2] >= top && (x[0] - 0.5).abs() < 0.2) {
        x[2] -= 0.06;
    }
    assert!(pushed.crossings().count > 20);
}

// An unstable run still has its count: what is not finite, or not there, crosses nothing, the rest
// does.
#[test]
fn what_is_not_finite_crosses_nothing() {
    let (mut sheets, expected) = pushed_through();
    let check = CrossingDetector::new(&sheets.patches);
    sheets.positions[0] = [f64::NAN, 0.0, 0.0];
    sheets.positions[1] = [f64::INFINITY, 0.0, 0.0];
    assert_eq!(check.count(&sheets.positions).count, expected);
    assert_eq!(check.count(&[]), Crossings::default());
    assert_eq!(CrossingDetector::new(&[]).count(&sheets.positions), Crossings::default());
    assert!(CrossingDetector::new(&[]).is_empty() && !check.is_empty());
}

// Threads only share out the edges.
#[test]
fn the_same_crossings_whatever_the_number_of_threads() {
    let mut random = SplitMix64::new(3);
    let mut sheets = Sheets::default();
    sheets.grid(40, 40, |u, v| [0.1 * u, 0.1 * v, 0.0]);
    let rough: Vec<f64> = (0..41 * 41).map(|_| random.uniform_in(-0.05, 0.05)).collect();
    sheets.grid(40, 40, |u, v| [0.1 * u + 0.013, 0.1 * v + 0.017, rough[v as usize * 41 + u as usize]]);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| sheets.crossings())
    };
    let (one, three) = (with(1), with(3));
    assert_eq!(one, three);
    assert!(one.count > 500, "{}", one.count);
}
