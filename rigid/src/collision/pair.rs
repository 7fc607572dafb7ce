//! Two solids in the frame of the first, and their support functions.

use super::manifold::SupportFace;
use super::solid::ShapeWithTables;
use nalgebra::{Rotation3, Unit, Vector3};
use pliant_geometry::Shape;

/// Two solids in the frame of the first.
#[derive(Clone, Copy)]
pub(super) struct ConvexPair<'a> {
    pub(super) a: ShapeWithTables<'a>,
    pub(super) b: ShapeWithTables<'a>,
    /// The second's frame in the first's.
    pub(super) rotation: Rotation3<f64>,
    pub(super) translation: Vector3<f64>,
}

impl ConvexPair<'_> {
    /// The point of the second's core farthest along `d`.
    pub(super) fn support_b(&self, d: &Vector3<f64>) -> Vector3<f64> {
        self.rotation * self.b.support(&self.rotation.inverse_transform_vector(d)) + self.translation
    }

    /// From the first core's point farthest along `n` to the second's farthest against it \[m\].
    pub(super) fn between(&self, n: &Vector3<f64>) -> Vector3<f64> {
        self.support_b(&-n) - self.a.support(n)
    }

    pub(super) fn radii(&self) -> [f64; 2] {
        [self.a.radius(), self.b.radius()]
    }

    pub(super) fn size(&self) -> f64 {
        self.a.size().min(self.b.size())
    }

    /// Separation of the solids along `n` \[m\]; never more than their distance.
    pub(super) fn separation(&self, n: &Vector3<f64>) -> f64 {
        let [ra, rb] = self.radii();
        self.between(n).dot(n) - ra - rb
    }

    /// The point of the first's surface that touches along `n`, at the separation `distance` [m]:
    /// if one of the two is strictly convex it follows from the direction alone, else from the
    /// nearest point `p` of the first's core.
    pub(super) fn touching_point(
        &self,
        n: &Unit<Vector3<f64>>,
        distance: f64,
        p: &Vector3<f64>,
    ) -> Vector3<f64> {
        let strictly = |solid: &ShapeWithTables<'_>| matches!(solid.shape, Shape::Ellipsoid { .. });
        if strictly(&self.a) {
            self.a.support(n)
        } else if strictly(&self.b) {
            self.support_b(&-n.as_ref()) - n.as_ref() * distance
        } else {
            p + n.as_ref() * self.a.radius()
        }
    }

    /// The point of the first's surface that touches along `n`, at the separation `distance` \[m\],
    /// from supporting points alone: those of the first if it is round, else those of the second.
    pub(super) fn outer_point(&self, n: &Unit<Vector3<f64>>, distance: f64) -> Vector3<f64> {
        let flat = |solid: &ShapeWithTables<'_>| match solid.shape {
            Shape::Ellipsoid { .. } => 0,
            // A rim is round, a side is not.
            Shape::Cylinder { .. } => 1,
            Shape::Capsule { .. } | Shape::Sphere { .. } => 2,
            _ => 3,
        };
        if flat(&self.a) < flat(&self.b) {
            self.a.support(n) + n.as_ref() * self.a.radius()
        } else {
            self.support_b(&-n.as_ref()) - n.as_ref() * (self.b.radius() + distance)
        }
    }

    /// Whether GJK and EPA, which work with facets, give only an approximate direction.
    pub(super) fn is_round(&self) -> bool {
        let round = |solid: &ShapeWithTables<'_>| {
            matches!(solid.shape, Shape::Ellipsoid { .. } | Shape::Cylinder { .. })
        };
        round(&self.a) || round(&self.b)
    }

    /// The faces of both along `n`, in the first's frame.
    pub(super) fn faces(&self, n: &Unit<Vector3<f64>>, faces: &mut [SupportFace; 2]) {
        let [a, b] = faces;
        self.a.face(n, a);
        self.b.face(&self.rotation.inverse_transform_vector(&-n.as_ref()), b);
        b.transform(&self.rotation, &self.translation);
    }
}

/// The direction in which two solids are farthest apart, or overlap least.
#[derive(Clone, Copy)]
pub(super) struct Separation {
    pub(super) normal: Unit<Vector3<f64>>,
    /// Signed distance \[m\].
    pub(super) distance: f64,
    /// Nearest or deepest point on the surface of the first \[m\].
    pub(super) point: Vector3<f64>,
}
