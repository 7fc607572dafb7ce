//! Free-floating bodies: their motion between impulses is integrated more accurately than with
//! constant velocities.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};

use super::joint::{quaternion, write_quaternion};
use super::link::LinkId;
use crate::free_rotation;

/// A tree that is one rigid body on a free joint, perhaps with others welded to it.
///
/// A step with constant velocities and explicit gyroscopic forces would gain or lose angular
/// momentum. Instead the gyroscopic forces are left out of the step, which then finds the momentum
/// at its end, and the body turns with this momentum by the torque-free flow
/// ([`free_rotation`](crate::free_rotation)): momentum and, without forces, energy are conserved to
/// rounding.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FreeFloatingTree {
    pub link: LinkId,
    pub tree: usize,
    /// Mass of all of it \[kg\].
    pub mass: f64,
    /// Centre of mass in the link's frame \[m\].
    pub center: Vector3<f64>,
    /// About the centre of mass, link's axes \[kg m^2\], and its inverse.
    pub inertia: Matrix3<f64>,
    pub inverse: Matrix3<f64>,
}

impl FreeFloatingTree {
    /// Advances the positions of the joint by `dt` \[s\], and its velocities with the rotating
    /// body: angular momentum and velocity of the centre of mass do not change.
    pub fn flow(&self, q: &mut [f64], v: &mut [f64], dt: f64) {
        let rotation = quaternion(q);
        let angular = Vector3::new(v[0], v[1], v[2]);
        let lever = rotation * self.center;
        let velocity = Vector3::new(v[3], v[4], v[5]) + angular.cross(&lever);
        let local = rotation.inverse_transform_vector(&angular);
        let momentum = rotation * (self.inertia * local);
        let steady = angular.cross(&momentum).norm() <= 1e-12 * angular.norm() * momentum.norm();
        let (turned, angular) = if steady {
            // About a principal axis the velocity does not change either, and the exponential is
            // exact.
            (UnitQuaternion::new_normalize((turn_of(&angular, dt) * rotation).into_inner()), angular)
        } else {
            let turned = free_rotation::turn(&rotation, &momentum, &self.inverse, dt);
            let local = self.inverse * turned.inverse_transform_vector(&momentum);
            (turned, turned * local)
        };
        let moved = turned * self.center;
        let linear = velocity - angular.cross(&moved);
        for d in 0..3 {
            q[4 + d] += lever[d] + dt * velocity[d] - moved[d];
            v[d] = angular[d];
            v[3 + d] = linear[d];
        }
        write_quaternion(&turned, q);
    }
}

fn turn_of(angular: &Vector3<f64>, dt: f64) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(angular * dt)
}
