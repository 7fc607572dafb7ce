//! Pairs of shapes with a closed form.

use super::{
    ContactPoint, PlacedSolid, box_box, box_half_space, capsule_box, capsule_capsule, capsule_half_space,
    sphere_box, sphere_capsule, sphere_half_space, sphere_sphere,
};
use crate::Shape;
use pliant_numeric::scalar::Double;

/// A pair of shapes, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairKind {
    /// A sphere and a half-space.
    SphereHalfSpace,
    /// A sphere and a sphere.
    SphereSphere,
    /// A sphere and a capsule.
    SphereCapsule,
    /// A sphere and a box.
    SphereBox,
    /// A capsule and a half-space.
    CapsuleHalfSpace,
    /// A capsule and a capsule.
    CapsuleCapsule,
    /// A capsule and a box.
    CapsuleBox,
    /// A box and a half-space.
    BoxHalfSpace,
    /// A box and a box.
    BoxBox,
}

/// Sizes \[m\] of a shape as in [`PlacedSolid`]; `None` if it has no closed form.
pub fn size_of(shape: &Shape) -> Option<[f64; 3]> {
    match shape {
        Shape::HalfSpace => Some([0.0; 3]),
        Shape::Sphere { radius } => Some([*radius, 0.0, 0.0]),
        Shape::Capsule { radius, half_length } => Some([*radius, *half_length, 0.0]),
        Shape::Box { half_extents } => Some((*half_extents).into()),
        _ => None,
    }
}

impl PairKind {
    /// The kind of a pair, and whether its order is reversed; `None` if there is no closed form.
    pub fn of(first: &Shape, second: &Shape) -> Option<(Self, bool)> {
        let ordered = |a: &Shape, b: &Shape| match (a, b) {
            (Shape::Sphere { .. }, Shape::HalfSpace) => Some(Self::SphereHalfSpace),
            (Shape::Sphere { .. }, Shape::Sphere { .. }) => Some(Self::SphereSphere),
            (Shape::Sphere { .. }, Shape::Capsule { .. }) => Some(Self::SphereCapsule),
            (Shape::Sphere { .. }, Shape::Box { .. }) => Some(Self::SphereBox),
            (Shape::Capsule { .. }, Shape::HalfSpace) => Some(Self::CapsuleHalfSpace),
            (Shape::Capsule { .. }, Shape::Capsule { .. }) => Some(Self::CapsuleCapsule),
            (Shape::Capsule { .. }, Shape::Box { .. }) => Some(Self::CapsuleBox),
            (Shape::Box { .. }, Shape::HalfSpace) => Some(Self::BoxHalfSpace),
            (Shape::Box { .. }, Shape::Box { .. }) => Some(Self::BoxBox),
            _ => None,
        };
        let straight = ordered(first, second).map(|kind| (kind, false));
        straight.or_else(|| ordered(second, first).map(|kind| (kind, true)))
    }

    /// Largest number of contact points of such a pair.
    pub const fn most_points(self) -> usize {
        match self {
            Self::SphereHalfSpace | Self::SphereSphere | Self::SphereCapsule | Self::SphereBox => 1,
            Self::CapsuleHalfSpace | Self::CapsuleCapsule => 2,
            Self::CapsuleBox => 3,
            Self::BoxHalfSpace => 8,
            Self::BoxBox => 12,
        }
    }

    /// Calls `visit` with the number and the contact point of each of
    /// [`most_points`](Self::most_points), absent ones included; solids in the order of the kind.
    #[inline(always)]
    pub fn contact_points<T: Double>(
        self,
        a: &PlacedSolid<T>,
        b: &PlacedSolid<T>,
        mut visit: impl FnMut(usize, ContactPoint<T>),
    ) {
        macro_rules! all {
            ($contact_points:expr) => {
                for (k, point) in $contact_points.iter().enumerate() {
                    visit(k, *point);
                }
            };
        }
        match self {
            Self::SphereHalfSpace => all!(sphere_half_space(a, b)),
            Self::SphereSphere => all!(sphere_sphere(a, b)),
            Self::SphereCapsule => all!(sphere_capsule(a, b)),
            Self::SphereBox => all!(sphere_box(a, b)),
            Self::CapsuleHalfSpace => all!(capsule_half_space(a, b)),
            Self::CapsuleCapsule => all!(capsule_capsule(a, b)),
            Self::CapsuleBox => all!(capsule_box(a, b)),
            Self::BoxHalfSpace => all!(box_half_space(a, b)),
            Self::BoxBox => all!(box_box(a, b)),
        }
    }
}
