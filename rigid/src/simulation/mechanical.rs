//! Kinetic, gravitational and spring energy.

use serde::{Deserialize, Serialize};

use crate::multibody::{Kinematics, Model, State};

/// Energies \[J\] of the dynamic links, in the world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MechanicalEnergy {
    /// Kinetic energy, armatures included.
    pub kinetic: f64,
    /// Potential energy of gravity, zero at the world's origin.
    pub gravitational: f64,
    /// Energy of the springs of joints and tendons.
    pub springs: f64,
}

/// Energies of the links in trees at a state and its kinematics.
pub(crate) fn mechanical_energy(model: &Model, kinematics: &Kinematics, state: &State) -> MechanicalEnergy {
    let mut sum = MechanicalEnergy::default();
    for &link in model.trees().iter().flat_map(|tree| &tree.links) {
        let described = &model.links()[link.0];
        let (pose, velocity) = (kinematics.pose(link), kinematics.velocity(link));
        sum.kinetic += 0.5 * velocity.dot(&described.inertia.rotated(pose).momentum(velocity));
        if described.gravity {
            let inertia = &described.inertia;
            let moment = pose.rotation * inertia.moment + pose.translation.vector * inertia.mass;
            sum.gravitational -= model.gravity.dot(&moment);
        }
        for (dof, q) in described.dofs.iter().zip(&state.q[model.positions_of(link)]) {
            if dof.stiffness != 0.0 {
                sum.springs += 0.5 * dof.stiffness * (q - dof.reference).powi(2);
            }
        }
    }
    let motors = model.dofs().iter().zip(&state.v).map(|(dof, v)| dof.armature * v * v);
    sum.kinetic += 0.5 * motors.sum::<f64>();
    sum
}
