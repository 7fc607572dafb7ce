//! Closed forms of where two solids touch: in lanes, mirrored, degenerate, flat.

#![allow(clippy::unwrap_used)]

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_geometry::Shape;
use pliant_geometry::pairs::{ABSENT_DISTANCE, ContactPoint, PairKind, PlacedSolid};
use pliant_numeric::linalg::{Mat3, Vec3};
use pliant_numeric::rotation::Pose;
use pliant_numeric::simd::{Detected, F64x8, InstructionSet, Kernel, Simd, Wide};
use pliant_testing::solids::{PAIRS, SolidRandom as Random, kind, meetings, numbers, solid};

/// A solid in every lane.
struct Wides<'a> {
    kind: PairKind,
    solids: &'a [[F64x8; 15]; 2],
    out: &'a mut [[F64x8; 7]; 12],
}

impl Kernel for Wides<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        for part in 0..F64x8::LANES / S::DOUBLES {
            let [a, b] = self.solids.each_ref().map(|rows| {
                let x = rows.each_ref().map(|row| Wide::<S>::load(row, part));
                let rotation = Mat3([[x[0], x[1], x[2]], [x[3], x[4], x[5]], [x[6], x[7], x[8]]]);
                let pose = Pose { rotation, position: Vec3([x[9], x[10], x[11]]) };
                PlacedSolid { pose, size: [x[12], x[13], x[14]] }
            });
            self.kind.contact_points(&a, &b, |k, m| {
                for (row, x) in self.out[k].iter_mut().zip(numbers(&m)) {
                    x.store(row, part);
                }
            });
        }
    }
}

/// IEEE operations in the same order: bit for bit the same in eight lanes, of which each has
/// another pose.
#[test]
fn lanes_have_the_bits_of_single_pairs() {
    let mut random = Random(12);
    for names in PAIRS {
        for _ in 0..200 {
            let shapes = names.map(|name| random.shape(name));
            let kind = kind(&shapes);
            let poses: [[Isometry3<f64>; 2]; F64x8::LANES] =
                core::array::from_fn(|_| [random.pose(), random.pose()]);
            let mut rows = [[F64x8::ZERO; 15]; 2];
            for (lane, pair) in poses.iter().enumerate() {
                for side in 0..2 {
                    let solid = solid(&shapes[side], &pair[side]);
                    let (r, p, s) = (solid.pose.rotation.0, solid.pose.position.0, solid.size);
                    for (row, x) in rows[side].iter_mut().zip(r.into_iter().flatten().chain(p).chain(s)) {
                        row.0[lane] = x;
                    }
                }
            }
            let mut out = [[F64x8::ZERO; 7]; 12];
            Detected::new(InstructionSet::detect()).run(Wides { kind, solids: &rows, out: &mut out });
            for (lane, pair) in poses.iter().enumerate() {
                let [a, b] = [0, 1].map(|side| solid(&shapes[side], &pair[side]));
                for (k, m) in meetings(kind, &a, &b).iter().enumerate() {
                    let wide = out[k].each_ref().map(|row| row.0[lane].to_bits());
                    assert_eq!(wide, numbers(m).map(f64::to_bits), "{names:?} {k} {shapes:?} {pair:?}");
                }
            }
        }
    }
}

/// Two solids of one kind in the other order: the same contact points with the normal reversed, in
/// whatever order, to the rounding of the formulas (positions up to 2 m, tens of sums; directions
/// of nearly parallel axes lose up to the square root of it).
#[test]
fn the_other_order_is_the_mirror() {
    let (seed, tolerance) = (13, 1e-9);
    let mut random = Random(seed);
    for name in ['s', 'c', 'b'] {
        let mut compared = 0;
        for case in 0..3000 {
            let shapes = [random.shape(name), random.shape(name)];
            let mut poses = [random.pose(), random.pose()];
            if case % 2 == 0 {
                // Nearly parallel ones share more.
                poses[1].rotation =
                    UnitQuaternion::from_scaled_axis(random.vector() * 0.04) * poses[0].rotation;
            }
            let [a, b] = [0, 1].map(|k| solid(&shapes[k], &poses[k]));
            let near = |found: Vec<ContactPoint<f64>>| -> Vec<ContactPoint<f64>> {
                found.into_iter().filter(|m| m.distance < 0.5 * ABSENT_DISTANCE).collect()
            };
            let (there, back) =
                (near(meetings(kind(&shapes), &a, &b)), near(meetings(kind(&shapes), &b, &a)));
            assert_eq!(there.len(), back.len(), "seed {seed} {shapes:?} {poses:?}");
            for m in &there {
                let error = |n: &ContactPoint<f64>| {
                    let (m, n) = (numbers(m), numbers(&ContactPoint { normal: -n.normal, ..*n }));
                    m.iter().zip(n).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
                };
                let least = back.iter().map(error).fold(f64::INFINITY, f64::min);
                assert!(least < tolerance, "{least:e} seed {seed} {shapes:?} {poses:?} {there:?} {back:?}");
                compared += 1;
            }
        }
        println!("{name}: {compared} meetings");
    }
}

/// Centres that coincide, axes on one line, segments within boxes, capsules of no length, boxes
/// that share faces: finite numbers, unit normals.
#[test]
fn degenerate_poses_give_finite_meetings() {
    let turned = UnitQuaternion::from_scaled_axis(Vector3::new(0.0, 0.0, core::f64::consts::FRAC_PI_2));
    let offsets = [
        [0.0; 3],
        [0.2, 0.0, 0.0],
        [0.1, 0.1, 0.0],
        [0.1, 0.1, 0.1],
        [0.0, 0.0, 0.2],
        [0.0, 0.1, 0.2],
        [0.0, 0.0, 0.5],
        [1e-18, 0.0, 0.0],
    ];
    let of = |name: char| match name {
        's' => Shape::Sphere { radius: 0.1 },
        'c' => Shape::Capsule { radius: 0.1, half_length: 0.1 },
        'p' => Shape::Capsule { radius: 0.1, half_length: 0.0 },
        'b' => Shape::Box { half_extents: Vector3::repeat(0.1) },
        _ => Shape::HalfSpace,
    };
    for names in PAIRS.into_iter().chain([['p', 'h'], ['p', 'p'], ['p', 'c'], ['c', 'p'], ['p', 'b']]) {
        let shapes = names.map(of);
        for offset in offsets {
            for rotation in [UnitQuaternion::identity(), turned, turned * turned] {
                let pose = Isometry3::from_parts(Translation3::from(Vector3::from(offset)), rotation);
                let a = solid(&shapes[0], &Isometry3::identity());
                let found = meetings(kind(&shapes), &a, &solid(&shapes[1], &pose));
                assert!(
                    found.iter().any(|m| m.distance < 0.5 * ABSENT_DISTANCE),
                    "{names:?} {offset:?}: {found:?}"
                );
                for m in found {
                    assert!(numbers(&m).iter().all(|x| x.is_finite()), "{names:?} {offset:?} {m:?}");
                    assert!((m.normal.norm() - 1.0).abs() < 1e-14, "{names:?} {offset:?} {m:?}");
                }
            }
        }
    }
}

/// Boxes on each other, a capsule along and across a box: the expected number of contact points, at
/// known positions.
#[test]
fn flat_contacts_have_their_corners() {
    let cube = Shape::Box { half_extents: Vector3::repeat(0.1) };
    let capsule = Shape::Capsule { radius: 0.05, half_length: 0.3 };
    let sideways = UnitQuaternion::from_scaled_axis(Vector3::new(0.0, core::f64::consts::FRAC_PI_2, 0.0));
    let count = |shapes: [Shape; 2], first: Isometry3<f64>| {
        let [a, b] = [solid(&shapes[0], &first), solid(&shapes[1], &Isometry3::identity())];
        let found = meetings(kind(&shapes), &a, &b);
        found
            .iter()
            .filter(|m| m.distance < 0.5 * ABSENT_DISTANCE)
            .map(|m| (m.point.0, m.distance))
            .collect::<Vec<_>>()
    };
    let above = |x: f64, z: f64| Isometry3::translation(x, 0.0, z);
    for gap in [0.001, 0.0, -0.001] {
        for x in [0.0, 0.05] {
            let boxes = count([cube.clone(), cube.clone()], above(x, 0.2 + gap));
            assert_eq!(boxes.len(), 4, "{boxes:?}");
            let lies = Isometry3::from_parts(above(x, 0.15 + gap).translation, sideways);
            let capsules = count([capsule.clone(), cube.clone()], lies);
            // Both ends of what is over the cube, and perhaps one of the nearest places between,
            // which rounding chooses.
            for end in [-0.1, 0.1] {
                assert!(capsules.iter().any(|(point, _)| (point[0] - end).abs() < 1e-9), "{capsules:?}");
            }
            for (point, distance) in capsules {
                assert!((distance - gap).abs() < 1e-15 && (point[2] - 0.1 - 0.5 * gap).abs() < 1e-15);
            }
            for (point, distance) in boxes {
                assert!((distance - gap).abs() < 1e-15 && (point[1].abs() - 0.1).abs() < 1e-9);
                assert!((point[2] - 0.1 - 0.5 * gap).abs() < 1e-15);
            }
        }
    }
    let parallel = count([capsule.clone(), capsule], Isometry3::translation(0.1, 0.0, 0.4));
    assert_eq!(parallel.len(), 2, "{parallel:?}");
}
