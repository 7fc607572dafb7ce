//! Inverse dynamics, by recursive Newton-Euler (Featherstone 2008, section 5.3).

use super::algebra::{ForceVector, MotionVector};
use super::floating::FreeFloatingTree;
use super::kinematics::Kinematics;
use super::link::LinkId;
use super::model::Model;
use nalgebra::Vector3;

/// Buffers of the recursion.
#[derive(Clone, Debug, Default)]
pub struct InverseDynamicsBuffers {
    accelerations: Vec<MotionVector>,
    forces: Vec<ForceVector>,
    /// No accelerations, for the bias forces.
    zero: Vec<f64>,
}

/// Writes the joint forces \[N, N m\] for given accelerations: `M a + bias - J^T external`,
/// armature included. `external` has a force on every link, world axes, about the link's origin;
/// passive forces of the joints are not included.
pub fn inverse_dynamics(
    model: &Model,
    kinematics: &Kinematics,
    accelerations: &[f64],
    external: &[ForceVector],
    work: &mut InverseDynamicsBuffers,
    out: &mut [f64],
) {
    let all = (0..model.links().len()).map(LinkId);
    recurse(model, kinematics, all, &model.gravity, accelerations, external, work, out);
    for n in model.passive.iter().flat_map(|&link| model.velocities_of(link)) {
        out[n] += model.dofs()[n].armature * accelerations[n];
    }
}

/// [`inverse_dynamics`] of some links, parents first and with all descendants, without armature.
fn recurse(
    model: &Model,
    kinematics: &Kinematics,
    some: impl DoubleEndedIterator<Item = LinkId> + Clone,
    gravity: &Vector3<f64>,
    accelerations: &[f64],
    external: &[ForceVector],
    work: &mut InverseDynamicsBuffers,
    out: &mut [f64],
) {
    let links = model.links();
    work.accelerations.resize(links.len(), MotionVector::zero());
    work.forces.resize(links.len(), ForceVector::zero());
    for LinkId(i) in some.clone() {
        let link = &links[i];
        let inherited = link.parent.map_or(MotionVector::zero(), |LinkId(p)| work.accelerations[p]);
        let mut a = inherited.shifted(kinematics.offset(i)) + *kinematics.bias(i);
        for n in model.velocities_of(LinkId(i)) {
            a += kinematics.axes()[n] * accelerations[n];
        }
        work.accelerations[i] = a;
        let inertia = link.inertia.rotated(kinematics.pose(LinkId(i)));
        let weighing = if link.gravity { *gravity } else { Vector3::zeros() };
        // Gravity as an opposite acceleration, link by link, since it need not act on all.
        let against = MotionVector::new(a.angular, a.linear - weighing);
        let w = kinematics.velocity(LinkId(i)).angular;
        work.forces[i] = inertia.force(&against, &w) - external.get(i).copied().unwrap_or_default();
    }
    for LinkId(i) in some.rev() {
        let force = work.forces[i];
        for n in model.velocities_of(LinkId(i)) {
            out[n] = kinematics.axes()[n].dot(&force);
        }
        if let Some(LinkId(p)) = links[i].parent {
            work.forces[p] += force.shifted(&-kinematics.offset(i));
        }
    }
}

impl InverseDynamicsBuffers {
    /// The force that each joint passes from the parent to its link, after [`inverse_dynamics`]:
    /// the joint's reaction and drive together, world axes, about the link's origin \[N, N m\].
    pub fn joint_forces(&self) -> &[ForceVector] {
        &self.forces
    }
}

/// Writes the bias forces of Coriolis, centrifugal and gravity terms: inverse dynamics at zero
/// joint acceleration.
pub fn bias_forces(
    model: &Model,
    kinematics: &Kinematics,
    external: &[ForceVector],
    work: &mut InverseDynamicsBuffers,
    out: &mut [f64],
) {
    let mut zero = core::mem::take(&mut work.zero);
    zero.resize(model.velocities(), 0.0);
    inverse_dynamics(model, kinematics, &zero, external, work, out);
    work.zero = zero;
}

/// [`bias_forces`] under a gravity \[m/s^2\] and no forces from outside, of some links, parents
/// first and with all descendants.
pub(super) fn bias_forces_of(
    model: &Model,
    kinematics: &Kinematics,
    links: &[LinkId],
    gravity: &Vector3<f64>,
    work: &mut InverseDynamicsBuffers,
    out: &mut [f64],
) {
    let mut zero = core::mem::take(&mut work.zero);
    zero.resize(model.velocities(), 0.0);
    recurse(model, kinematics, links.iter().copied(), gravity, &zero, &[], work, out);
    work.zero = zero;
}

impl FreeFloatingTree {
    /// Writes the joint forces that balance gravity and `external` forces (on every link, world
    /// axes, about its origin; or empty), without gyroscopic ones.
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
