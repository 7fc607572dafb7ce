//! Contact points of two simple solids, in closed form: no branch on a number, no iteration, the
//! same operations for all poses.
//!
//! | pair | points | method |
//! |---|---|---|
//! | sphere with anything | 1 | nearest point of the other to the centre |
//! | capsule, half-space | 2 | both ends |
//! | capsule, capsule | 2 | nearest points of the axes; nearly parallel ones: both ends of the shared part |
//! | capsule, box | 3 | least of the convex piecewise quadratic distance along the axis, and both ends of the part over the face |
//! | box, half-space | 8 | corners |
//! | box, box | 12 | separating axes, then one face clipped against the other, or two edges, or a corner |
//!
//! A contact point that does not exist gets the distance [`ABSENT_DISTANCE`]. Distances are those
//! of `pliant_rigid::collision::Detector` to rounding. They are continuous, and smooth except where
//! the nearest features change; where shapes overlap, the direction of least overlap may jump.

mod box_box;
mod box_faces;
mod box_half_space;
mod capsule;
mod capsule_box;
mod kind;
mod sphere;

pub use box_box::box_box;
pub use box_half_space::box_half_space;
pub use capsule::{capsule_capsule, capsule_half_space};
pub use capsule_box::capsule_box;
pub use kind::{PairKind, size_of};
pub use sphere::{sphere_box, sphere_capsule, sphere_half_space, sphere_sphere};

use pliant_numeric::linalg::Vec3;
use pliant_numeric::rotation::Pose;
use pliant_numeric::scalar::Double;

/// Distance \[m\] of a contact point that does not exist.
pub const ABSENT_DISTANCE: f64 = 1e10;
/// Contact points closer together than this fraction of the smaller solid are merged.
const MERGE: f64 = 0.02;
/// Squares of lengths \[m^2\] below this have no direction.
const NO_LENGTH: f64 = 1e-280;

/// A shape in the world.
#[derive(Clone, Copy, Debug)]
pub struct PlacedSolid<T> {
    /// World from solid.
    pub pose: Pose<T>,
    /// Sphere: radius. Capsule: radius, half length, along z. Box: half extents. Half-space, z <= 0
    /// of its frame: nothing. \[m\]
    pub size: [T; 3],
}

/// A contact point of two surfaces.
#[derive(Clone, Copy, Debug)]
pub struct ContactPoint<T> {
    /// Midway between the surfaces \[m\].
    pub point: Vec3<T>,
    /// Unit vector from the first solid to the second.
    pub normal: Vec3<T>,
    /// Signed distance \[m\], negative where they overlap.
    pub distance: T,
}

impl<T: Double> ContactPoint<T> {
    /// Contact at a point on the surface of the first.
    #[inline(always)]
    fn on_first(surface: Vec3<T>, normal: Vec3<T>, distance: T) -> Self {
        Self { point: surface + normal * (distance * 0.5), normal, distance }
    }

    /// Contact at a point on the surface of the second.
    #[inline(always)]
    fn on_second(surface: Vec3<T>, normal: Vec3<T>, distance: T) -> Self {
        Self { point: surface - normal * (distance * 0.5), normal, distance }
    }

    #[inline(always)]
    fn pick(mask: T::Mask, then: Self, otherwise: Self) -> Self {
        Self {
            point: Vec3::select(mask, then.point, otherwise.point),
            normal: Vec3::select(mask, then.normal, otherwise.normal),
            distance: T::select(mask, then.distance, otherwise.distance),
        }
    }

    /// Absent if the mask is false.
    #[inline(always)]
    fn only_if(self, mask: T::Mask) -> Self {
        Self { distance: T::select(mask, self.distance, T::splat(ABSENT_DISTANCE)), ..self }
    }
}

/// The direction of a vector and its length; `fallback` and 0 for the zero vector.
#[inline(always)]
fn direction<T: Double>(v: Vec3<T>, fallback: Vec3<T>) -> (Vec3<T>, T) {
    let square = v.norm_squared();
    let long = T::splat(NO_LENGTH).lt(square);
    let length = T::select(long, square, T::one()).sqrt();
    (Vec3::select(long, v * (T::one() / length), fallback), T::select(long, length, T::zero()))
}

/// Merges contact points closer together than `within` \[m\]: keeps the deepest, of equally deep
/// ones the first.
#[inline(always)]
fn merge<T: Double, const N: usize>(contact_points: &mut [ContactPoint<T>; N], within: T) {
    let within = within.squared();
    for i in 1..N {
        for k in 0..i {
            let (kept, other) = (contact_points[k], contact_points[i]);
            let near = (kept.point - other.point).norm_squared().lt(within);
            let deeper = other.distance.lt(kept.distance);
            let far = T::splat(ABSENT_DISTANCE);
            contact_points[k].distance = T::select(near & deeper, far, kept.distance);
            let shallower = T::select(deeper, other.distance, far);
            contact_points[i].distance = T::select(near, shallower, other.distance);
        }
    }
}
