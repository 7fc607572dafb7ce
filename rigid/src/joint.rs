//! Joints between a dynamic body and its parent.

use nalgebra::{Unit, Vector3};

/// What a body may do relative to its parent. Axes are in the body frame, through the body's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    /// Moves with its parent.
    Fixed,
    /// Turns about `axis`.
    Revolute {
        /// Axis in the body frame.
        axis: Unit<Vector3<f64>>,
        /// Viscous damping of the joint rate (N m s).
        damping: f64,
    },
    /// Slides along `axis`.
    Prismatic {
        /// Axis in the body frame.
        axis: Unit<Vector3<f64>>,
        /// Viscous damping of the joint rate (N s/m).
        damping: f64,
    },
    /// Moves freely; it has no parent.
    Free,
}
