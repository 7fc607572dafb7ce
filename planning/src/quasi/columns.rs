//! Data of the degrees of freedom for derivatives.

use super::layout::ObjectLayout;
use pliant_rigid::multibody::MotionVector;

/// Data of every degree of freedom of every mover for derivatives.
#[derive(Clone, Debug, Default)]
pub(super) struct DisplacementColumns {
    /// First index of each mover.
    pub first: Vec<usize>,
    /// Motion of the link for a unit displacement of it, about its origin, world axes.
    pub axes: Vec<MotionVector>,
    /// Derivative by it of the link's motion y_0.
    pub motion_derivatives: Vec<MotionVector>,
    /// Change of its entry in the tangent of the next state by a wrench on the link (moment about
    /// its origin, force; world axes).
    pub displacement_columns: Vec<[f64; 6]>,
}

impl DisplacementColumns {
    pub fn new(layout: &ObjectLayout) -> Self {
        let mut columns = Self::default();
        let mut count = 0;
        for mover in &layout.movers {
            columns.first.push(count);
            count += mover.dofs.len();
        }
        columns.axes.resize(count, MotionVector::zero());
        columns.motion_derivatives.resize(count, MotionVector::zero());
        columns.displacement_columns.resize(count, [0.0; 6]);
        columns
    }
}
