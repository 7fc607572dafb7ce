//! Trousers of any measures against closed forms.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use nalgebra::Vector3;
use pliant_garment::{Quality, Trousers};
use pliant_mpm::cloth::ClothMesh;
use pliant_numeric::random::SplitMix64;

const SEED: u64 = 20_261_128;

/// Trousers of a child to a giant, on grids from fine to as coarse as the legs allow.
fn drawn(random: &mut SplitMix64) -> Trousers {
    let size = random.uniform_in(0.5, 3.0);
    let length = size * random.uniform_in(0.4, 0.7);
    let leg_opening = size * random.uniform_in(0.1, 0.2);
    let spacing = 1.265 * leg_opening / random.uniform_in(6.0, 14.0);
    Trousers {
        waist_width: size * random.uniform_in(0.24, 0.4),
        length,
        rise: length * random.uniform_in(0.3, 0.6),
        leg_opening,
        leg_distance: size * random.uniform_in(0.03, 0.12),
        gap: 1.2 * spacing,
        spacing,
    }
}

/// Area of the faces whose vertices are all above z = 0 or on it, seen from above \[m^2\].
fn covered_by_front(mesh: &ClothMesh) -> f64 {
    let seen = |face: usize| {
        let [a, b, c] = mesh.corners(face);
        0.5 * (b - a).cross(&(c - a)).z
    };
    (0..mesh.faces().len()).map(seen).filter(|area| *area > 0.0).sum()
}

// The laws, for 24 random trousers: they are a sphere with three holes, of Euler characteristic 2 - 3;
// the front covers the polygon of their corners (shoelace formula), exactly, because all of its sides
// are straight; left and right are mirror images; no angle of a face is below 25 degrees. The
// first two were seen broken: without the inseams, and with hems narrower by a tenth.
#[test]
fn random_trousers_have_three_holes_and_the_area_of_their_corners() {
    println!("seed {SEED}");
    let mut random = SplitMix64::new(SEED);
    for case in 0..24 {
        let trousers = drawn(&mut random);
        let mesh = trousers.sew().unwrap_or_else(|error| panic!("case {case} {trousers:?}: {error}")).mesh;
        let count = |number: usize| i64::try_from(number).unwrap();
        let euler = count(mesh.vertices().len()) - count(mesh.edges().len()) + count(mesh.faces().len());
        assert_eq!(euler, -1, "case {case} {trousers:?}");
        let top = 0.5 * trousers.length;
        let (inner, outer) =
            (0.5 * trousers.leg_distance, 0.5 * trousers.leg_distance + trousers.leg_opening);
        let half = [
            (0.0, top - trousers.rise),
            (inner, -top),
            (outer, -top),
            (0.5 * trousers.waist_width, top),
            (0.0, top),
        ];
        let shoelace = (0..5).map(|k| half[k].0 * half[(k + 1) % 5].1 - half[(k + 1) % 5].0 * half[k].1);
        let exact: f64 = shoelace.sum();
        let covered = covered_by_front(&mesh);
        assert!((covered / exact - 1.0).abs() < 1e-12, "case {case} {trousers:?}: {covered} {exact}");
        let sum: Vector3<f64> = mesh.vertices().iter().sum();
        assert!(sum.x.abs() < 1e-9 * trousers.length * mesh.vertices().len() as f64, "{sum}");
        let quality = Quality::of((0..mesh.faces().len()).map(|face| mesh.corners(face)));
        assert!(quality.min_angle.to_degrees() >= 25.0, "case {case} {trousers:?}: {quality:?}");
        assert!(trousers.key_points().iter().all(|(_, point)| {
            let at = |x: &Vector3<f64>| (x.xy() - point).norm();
            mesh.vertices().iter().map(at).fold(f64::INFINITY, f64::min) < 1e-12
        }));
    }
}

// Checks: measures that make no trousers are named with their value.
#[test]
fn impossible_trousers_are_named() {
    let trousers = Trousers::default();
    for (trousers, expected) in [
        (Trousers { leg_opening: -0.1, ..trousers }, "leg_opening: -0.1 m must be positive"),
        (Trousers { gap: f64::NAN, ..trousers }, "gap: NaN m must be positive"),
        (Trousers { rise: 0.5, ..trousers }, "rise: 0.5 m must be below length"),
    ] {
        let error = trousers.sew().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{expected}: {error}");
    }
}
