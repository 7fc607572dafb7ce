//! What is inside a rope: tensions, frames, twists.

use nalgebra::Vector3;

/// Forces and moments inside a rope, and its frames, as they are after the last substep; those of
/// vibrations are among them. World frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RopeInternals {
    /// Tension of each segment; negative where it is pressed together \[N\].
    pub tension: Vec<f64>,
    /// Direction of each segment (unit vectors).
    pub tangent: Vec<Vector3<f64>>,
    /// First axis of each segment's material frame, across the tangent (unit vectors).
    pub director: Vec<Vector3<f64>>,
    /// Twist at each inner vertex: angle from the frame before, transported along the rope, to the next
    /// \[rad\].
    pub twist: Vec<f64>,
    /// Twisting moment at each inner vertex: what the segment after it does on the one before about the
    /// tangent \[N m\].
    pub torque: Vec<f64>,
}
