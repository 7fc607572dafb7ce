//! Energies.

use super::kinematics::Kinematics;
use super::link::LinkId;
use super::model::Model;
use super::state::State;

/// Kinetic energy \[J\], armatures included.
pub fn kinetic_energy(model: &Model, kinematics: &Kinematics, state: &State) -> f64 {
    let links = model.links().iter().enumerate().map(|(i, link)| {
        let v = kinematics.velocity(LinkId(i));
        v.dot(&link.inertia.rotated(kinematics.pose(LinkId(i))).momentum(v))
    });
    let motors = model.dofs().iter().zip(&state.v).map(|(dof, v)| dof.armature * v * v);
    0.5 * (links.sum::<f64>() + motors.sum::<f64>())
}

/// Potential energy \[J\] of gravity, zero at the world's origin, and of the joints' springs.
pub fn potential_energy(model: &Model, kinematics: &Kinematics, state: &State) -> f64 {
    let mut energy = 0.0;
    for (i, link) in model.links().iter().enumerate() {
        let pose = kinematics.pose(LinkId(i));
        if link.gravity {
            let moment = pose.rotation * link.inertia.moment + pose.translation.vector * link.inertia.mass;
            energy -= model.gravity.dot(&moment);
        }
        for (dof, q) in link.dofs.iter().zip(&state.q[model.positions_of(LinkId(i))]) {
            if dof.stiffness != 0.0 {
                energy += 0.5 * dof.stiffness * (q - dof.reference).powi(2);
            }
        }
    }
    energy
}
