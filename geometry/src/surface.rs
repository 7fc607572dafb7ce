//! Result of a distance query.

use nalgebra::{Unit, Vector3};

/// The point of a surface that is nearest to a query point, in the frame of the shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Signed distance \[m\], negative inside the solid. The surface point is `p - distance *
    /// normal`.
    pub distance: f64,
    /// Outward unit normal, from the solid to the point: the gradient of the distance.
    pub normal: Unit<Vector3<f64>>,
    /// The face the distance is measured from: see the variants of [`Shape`](crate::Shape).
    pub feature: u32,
}
