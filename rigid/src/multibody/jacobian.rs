//! Jacobians of points on links.

use nalgebra::{DMatrix, Vector3};

use super::algebra::MotionVector;
use super::kinematics::Kinematics;
use super::link::LinkId;
use super::model::Model;

/// Calls `visit(n, axis)` for every degree of freedom `n` that moves the link, from the link
/// inwards; `axis` is the velocity of the link for a unit velocity of it, world axes, at `point`
/// (m, world frame).
pub fn for_each_axis(
    model: &Model,
    kinematics: &Kinematics,
    link: LinkId,
    point: &Vector3<f64>,
    mut visit: impl FnMut(usize, MotionVector),
) {
    let mut at = Some(link);
    while let Some(l) = at {
        let lever = point - kinematics.pose(l).translation.vector;
        for n in model.velocities_of(l) {
            visit(n, kinematics.axes()[n].shifted(&lever));
        }
        at = model.links()[l.0].parent;
    }
}

/// The Jacobian of the material point of a link at `point` (m, world frame): angular velocity
/// (rows 0 to 2) and velocity of the point (rows 3 to 5), world axes, one column per degree of
/// freedom.
pub fn point_jacobian(
    model: &Model,
    kinematics: &Kinematics,
    link: LinkId,
    point: &Vector3<f64>,
) -> DMatrix<f64> {
    let mut jacobian = DMatrix::zeros(6, model.velocities());
    for_each_axis(model, kinematics, link, point, |n, axis| {
        jacobian.set_column(n, &axis.to_vector());
    });
    jacobian
}
