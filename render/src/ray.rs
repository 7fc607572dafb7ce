//! Rays and vectors in f32.

use nalgebra::Vector3;

pub(super) type V3 = Vector3<f32>;

/// A ray: points origin + t direction, t > 0, unit direction.
#[derive(Clone, Copy)]
pub(super) struct Ray {
    pub origin: V3,
    pub direction: V3,
}
