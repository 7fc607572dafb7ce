//! Derivatives of the closed forms against differences.

#![allow(clippy::unwrap_used)]

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_geometry::Shape;
use pliant_geometry::pairs::{ABSENT_DISTANCE, PlacedSolid};
use pliant_numeric::dual::Dual;
use pliant_numeric::linalg::Vec3;
use pliant_numeric::scalar::Real;
use pliant_testing::solids::{PAIRS, SolidRandom as Random, kind, numbers, solid};

/// A pose that turns (rad, world axes) and moves (m) by the numbered derivatives from `first` on.
fn moving(pose: &Isometry3<f64>, first: usize) -> PlacedSolid<Dual<12>> {
    let still = solid(&Shape::HalfSpace, pose);
    let mut out = PlacedSolid { pose: (*pose).into(), size: [Dual::zero(); 3] };
    for k in 0..3 {
        out.pose.position.0[k].rates[first + 3 + k] = 1.0;
        let mut axis = Vec3([0.0; 3]);
        axis.0[k] = 1.0;
        for c in 0..3 {
            let turned = axis.cross(still.pose.rotation.column(c));
            for r in 0..3 {
                out.pose.rotation.0[r][c].rates[first + k] = turned.0[r];
            }
        }
    }
    out
}

fn moved(pose: &Isometry3<f64>, k: usize, step: f64) -> Isometry3<f64> {
    let mut by = [0.0; 6];
    by[k] = step;
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(by[0], by[1], by[2]));
    let shift = Vector3::new(by[3], by[4], by[5]);
    let place = Translation3::from(pose.translation.vector + shift);
    Isometry3::from_parts(place, turn * pose.rotation)
}

/// The derivatives of every value of every contact point of every kind of pair, by rotations and
/// translations of both. Differences are trusted where those of two steps agree: they do not across
/// a change of features. Steps of 1e-5 and 5e-6 are off by up to 1e-10 of third derivatives, which
/// for edges at a small angle s go as 1/s^3; the more they differ the more is allowed.
#[test]
fn pairs_have_the_slopes_of_differences() {
    let (seed, h) = (22, 1e-5);
    let mut random = Random(seed);
    for names in PAIRS {
        let (mut compared, mut kinks, mut worst) = (0, 0, 0.0_f64);
        for _ in 0..300 {
            let shapes = names.map(|name| random.shape(name));
            let poses = [random.pose(), random.pose()];
            let kind = kind(&shapes);
            let duals = [0, 1].map(|side| {
                let size = solid(&shapes[side], &poses[side]).size.map(Dual::splat);
                PlacedSolid { size, ..moving(&poses[side], 6 * side) }
            });
            let mut found = Vec::new();
            kind.contact_points(&duals[0], &duals[1], |_, m| found.push(numbers(&m)));
            for n in 0..12 {
                let at = |step: f64| {
                    let mut poses = poses;
                    poses[n / 6] = moved(&poses[n / 6], n % 6, step);
                    let [a, b] = [0, 1].map(|side| solid(&shapes[side], &poses[side]));
                    let mut out = Vec::new();
                    kind.contact_points(&a, &b, |_, m| out.push(numbers(&m)));
                    out
                };
                let all = [at(h), at(-h), at(0.5 * h), at(-0.5 * h)];
                for (k, dual) in found.iter().enumerate() {
                    if all.iter().any(|m| m[k][6] > 0.5 * ABSENT_DISTANCE)
                        || dual[6].value > 0.5 * ABSENT_DISTANCE
                    {
                        continue;
                    }
                    for i in 0..7 {
                        let coarse = (all[0][k][i] - all[1][k][i]) / (2.0 * h);
                        let fine = (all[2][k][i] - all[3][k][i]) / h;
                        let spread = (coarse - fine).abs();
                        if spread > 1e-5 {
                            kinks += 1;
                            continue;
                        }
                        let error = (dual[i].rates[n] - fine).abs();
                        let at = format!("seed {seed}, {names:?} {shapes:?} {poses:?}");
                        assert!(error < 1e-8 + spread, "{error:e}: {i} of {k} by {n}, {at}");
                        worst = worst.max(error);
                        compared += 1;
                    }
                }
            }
        }
        println!("{names:?}: {compared} slopes within {worst:e}, {kinks} across kinks");
        assert!(compared > 20_000 && kinks < compared / 100, "{names:?}: {compared} {kinks}");
    }
}
