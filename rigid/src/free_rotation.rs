//! Torque-free rotation of a rigid body.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

/// Largest turn \[rad\] in one substep: Newton's method converges from the explicit guess, and the
/// error is small.
const MAX_TURN: f64 = 0.25;
/// Bounds the work for a spin that no step resolves. Angular momentum is conserved in any case.
const MAX_SUBSTEPS: f64 = 256.0;
/// Newton's method needs 3 to 5.
const MAX_ITERATIONS: usize = 12;

/// Turns a body with angular momentum `momentum` (world frame, N m s) for `dt` seconds without
/// torque; returns its new rotation. `inertia` \[kg m^2\] and its inverse are in the body frame.
///
/// Implicit midpoint rule for Euler's equation in the body frame, `P1 - P0 = substep Pm x I^-1 Pm`,
/// `Pm = (P0 + P1)/2`, with the Cayley map of `h I^-1 Pm` for the rotation (Simo and Wong, IJNME
/// 31, 1991; Austin, Krishnaprasad and Wang, J. Comput. Phys. 107, 1993). The rule conserves the
/// two quadratic invariants, energy and |P|, and the Cayley map carries P0 to P1 exactly, so that
/// the momentum in the world frame is the given one and the energy is conserved to rounding.
pub(crate) fn turn(
    rotation: &UnitQuaternion<f64>,
    momentum: &Vector3<f64>,
    inverse_inertia: &Matrix3<f64>,
    dt: f64,
) -> UnitQuaternion<f64> {
    // The angular velocity stays below |L| times the largest entry sum of I^-1; Frobenius bounds
    // the matrix norm.
    let speed_bound = momentum.norm() * inverse_inertia.norm();
    let substeps = (speed_bound * dt / MAX_TURN).ceil().clamp(1.0, MAX_SUBSTEPS);
    let substep = dt / substeps;
    let mut rotation = *rotation;
    for _ in 0..substeps as usize {
        let start = rotation.inverse_transform_vector(momentum);
        let middle = midpoint_momentum(&start, inverse_inertia, substep);
        let half_turn = inverse_inertia * middle * (0.5 * substep);
        let cayley = Quaternion::from_parts(1.0, half_turn);
        rotation = UnitQuaternion::new_normalize(rotation.into_inner() * cayley);
    }
    rotation
}

/// Solves `Pm = P0 + substep/2 Pm x I^-1 Pm` by Newton's method.
fn midpoint_momentum(start: &Vector3<f64>, inverse_inertia: &Matrix3<f64>, substep: f64) -> Vector3<f64> {
    let half = 0.5 * substep;
    let mut middle = start + start.cross(&(inverse_inertia * start)) * half;
    for _ in 0..MAX_ITERATIONS {
        let velocity = inverse_inertia * middle;
        let residual = middle - start - middle.cross(&velocity) * half;
        let gyroscopic = middle.cross_matrix() * inverse_inertia - velocity.cross_matrix();
        let jacobian = Matrix3::identity() - gyroscopic * half;
        let Some(inverse) = jacobian.try_inverse() else { break };
        let step = inverse * residual;
        middle -= step;
        // `<=` so that a body at rest stops at once.
        if step.norm() <= 2.0 * f64::EPSILON * start.norm() {
            break;
        }
    }
    middle
}
