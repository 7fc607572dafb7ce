//! What derivatives need of the degrees of freedom.

use super::layout::ObjectLayout;
use pliant_rigid::multibody::MotionVector;

/// What derivatives need of every degree of freedom of every mover.
#[derive(Clone, Debug, Default)]
pub(super) struct DisplacementColumns {
    /// Where each mover's begin.
    pub first: Vec<usize>,
    /// What a unit of it adds to the motion of the link, about its origin, world axes.
    pub axes: Vec<MotionVector>,
    /// Derivative by it of the link's motion y_0.
    pub motion_derivatives: Vec<MotionVector>,
    /// What a wrench on the link (moment about its origin, force; world axes) adds to its place in
    /// the tangent of the next state.
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
