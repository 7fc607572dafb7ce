//! Bodies that nothing holds: their motion between impulses is known better than a step with constant velocities.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};

use super::algebra::{ForceVector, MotionVector, RigidInertia};
use super::joint::{JointKind, quaternion, write_quaternion};
use super::kinematics::Kinematics;
use super::model::{LinkId, Model};
use crate::free_rotation;

/// A tree that is one rigid body on a free joint, perhaps with others welded to it.
///
/// A step with constant velocities and explicit gyroscopic forces would gain or lose angular momentum. Instead the gyroscopic forces are
/// left out of the step, which then finds the momentum at its end, and the body turns with this momentum by the torque-free
/// flow ([`free_rotation`](crate::free_rotation)): momentum and, without forces, energy stay to rounding.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Floating {
    pub link: LinkId,
    pub tree: usize,
    /// Mass of all of it (kg).
    pub mass: f64,
    /// Centre of mass in the link's frame (m).
    pub center: Vector3<f64>,
    /// About the centre of mass, link's axes (kg m^2), and its inverse.
    inertia: Matrix3<f64>,
    inverse: Matrix3<f64>,
}

impl Floating {
    /// The floating trees of a model, in the order of their trees. `composite` is every link's inertia with all it carries, link's axes.
    pub fn find(model: &Model, composite: impl Fn(LinkId) -> RigidInertia) -> Vec<Self> {
        let still = |mut at: Option<LinkId>| {
            while let Some(l) = at {
                if model.tree_of(l).is_some() || matches!(model.links()[l.0].joint, JointKind::Prescribed(_))
                {
                    return false;
                }
                at = model.links()[l.0].parent;
            }
            true
        };
        let floats = |(t, tree): (usize, &super::model::Tree)| {
            let link = *tree.links.first()?;
            let root = &model.links()[link.0];
            let welded = tree.links[1..].iter().all(|l| model.links()[l.0].joint == JointKind::Fixed);
            let plain = root.dofs.iter().all(|dof| dof.armature == 0.0);
            if !(root.joint == JointKind::Free && welded && plain && still(root.parent)) {
                return None;
            }
            let whole = composite(link);
            let center = whole.center();
            let inertia = whole.shifted(&center).inertia;
            let inverse = inertia.try_inverse()?;
            Some(Self { link, tree: t, mass: whole.mass, center, inertia, inverse })
        };
        model.trees().iter().enumerate().filter_map(floats).collect()
    }

    /// Advances the positions of the joint by `dt` (s), and its velocities with the turning body: angular momentum and velocity of the
    /// centre of mass stay.
    pub fn flow(&self, q: &mut [f64], v: &mut [f64], dt: f64) {
        let rotation = quaternion(q);
        let angular = Vector3::new(v[0], v[1], v[2]);
        let lever = rotation * self.center;
        let velocity = Vector3::new(v[3], v[4], v[5]) + angular.cross(&lever);
        let local = rotation.inverse_transform_vector(&angular);
        let momentum = rotation * (self.inertia * local);
        let steady = angular.cross(&momentum).norm() <= 1e-12 * angular.norm() * momentum.norm();
        let (turned, angular) = if steady {
            // About a principal axis the velocity does not change either, and the exponential is exact.
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

    /// Writes the joint forces that gravity and `external` forces ask for (on every link, world axes, about its origin; or empty), and no
    /// gyroscopic ones.
    pub fn bias(&self, model: &Model, kinematics: &Kinematics, external: &[ForceVector], out: &mut [f64]) {
        let origin = kinematics.pose(self.link).translation.vector;
        let mut force = ForceVector::zero();
        for &link in &model.trees()[self.tree].links {
            let described = &model.links()[link.0];
            let mut own = -external.get(link.0).copied().unwrap_or_default();
            if described.gravity {
                let inertia = described.inertia.rotated(kinematics.pose(link));
                own -= inertia.momentum(&MotionVector::new(Vector3::zeros(), model.gravity));
            }
            force += own.shifted(&(origin - kinematics.pose(link).translation.vector));
        }
        for n in model.velocities_of(self.link) {
            out[n] = kinematics.axes()[n].dot(&force);
        }
    }
}

fn turn_of(angular: &Vector3<f64>, dt: f64) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(angular * dt)
}
