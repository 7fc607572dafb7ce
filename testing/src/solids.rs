//! Random pairs of the solids that have closed forms.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_geometry::Shape;
use pliant_geometry::pairs::{ContactPoint, PairKind, PlacedSolid, size_of};

/// A sequence of numbers in [-1, 1).
pub struct SolidRandom(pub u64);

impl SolidRandom {
    pub fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / 2f64.powi(52) - 1.0
    }

    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.signed())
    }

    fn size(&mut self) -> f64 {
        0.05 + 0.2 * (self.signed() + 1.0)
    }

    pub fn pose(&mut self) -> Isometry3<f64> {
        let turn = UnitQuaternion::from_scaled_axis(self.vector() * 3.0);
        Isometry3::from_parts(Translation3::from(self.vector() * 0.6), turn)
    }

    pub fn shape(&mut self, name: char) -> Shape {
        match name {
            's' => Shape::Sphere { radius: self.size() },
            'c' => Shape::Capsule { radius: self.size(), half_length: self.size() },
            'b' => Shape::Box { half_extents: Vector3::from_fn(|_, _| self.size()) },
            _ => Shape::HalfSpace,
        }
    }
}

pub const PAIRS: [[char; 2]; 9] = [
    ['s', 'h'],
    ['s', 's'],
    ['s', 'c'],
    ['s', 'b'],
    ['c', 'h'],
    ['c', 'c'],
    ['c', 'b'],
    ['b', 'h'],
    ['b', 'b'],
];

pub fn kind(shapes: &[Shape; 2]) -> PairKind {
    let (kind, swapped) = PairKind::of(&shapes[0], &shapes[1]).unwrap();
    assert!(!swapped);
    kind
}

pub fn solid(shape: &Shape, pose: &Isometry3<f64>) -> PlacedSolid<f64> {
    PlacedSolid { pose: (*pose).into(), size: size_of(shape).unwrap() }
}

pub fn meetings(kind: PairKind, a: &PlacedSolid<f64>, b: &PlacedSolid<f64>) -> Vec<ContactPoint<f64>> {
    let mut out = Vec::new();
    kind.contact_points(a, b, |_, m| out.push(m));
    assert_eq!(out.len(), kind.most_points());
    out
}

pub fn numbers<T: Copy>(m: &ContactPoint<T>) -> [T; 7] {
    let ([x, y, z], [u, v, w]) = (m.point.0, m.normal.0);
    [x, y, z, u, v, w, m.distance]
}
