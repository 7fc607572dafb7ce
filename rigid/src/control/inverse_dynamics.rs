//! Computed torque.

use std::sync::{Mutex, PoisonError};

use super::path::JointTrajectory;
use super::{check_link, fail};
use crate::multibody::{self, JointKind, Kinematics, LinkId, Model, State};
use crate::simulation::{ExternalSystem, SimulationError};

/// A degree of freedom that [`InverseDynamics`] drives. Units of a revolute joint; for a prismatic
/// one m and N replace rad and N m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlledJoint {
    /// The link whose joint it is.
    pub link: LinkId,
    /// Which degree of freedom of that joint.
    pub dof: usize,
    /// K_p: acceleration for each unit of position error \[1/s^2\].
    pub stiffness: f64,
    /// K_d: acceleration for each unit of rate error \[1/s\].
    pub damping: f64,
    /// Effort limit in both directions \[N m\]; infinite without a limit.
    pub effort_limit: f64,
}

/// Inverse-dynamics control (computed torque; Siciliano et al. 2009, *Robotics*, section 8.5.2) of
/// some joints of one tree, a robot:
///
/// `tau = M(q) a + b(q, v) + D v + k (q - q_ref)`, `a = a_d + K_p (q_d - q) + K_d (v_d - v)`
///
/// with the targets of a [`JointTrajectory`] and the mass matrix M, Coriolis, centrifugal and
/// gravity forces b and passive damping and springs of the joints as the model has them. Without
/// anything else the error e of each joint then obeys `e'' + K_d e' + K_p e = 0`, whatever the
/// others do. The other joints of the tree are assumed not to accelerate, as fingers that hold
/// something. Contacts and loads of the robot are not known to the controller: a load with joint
/// torques tau_l causes a position error `M^-1 tau_l / K_p`. Dry friction is not compensated
/// either.
///
/// Efforts are clamped to their limits.
///
/// **Long steps.** Feedback is implicit in the diagonal of `M (K_d + dt K_p)` only. In a step dt of
/// the length where gains are stiff, `c = dt K_d + dt^2 K_p` above 2, it is stable as long as `c l
/// / (c + l) < 2`, l the largest eigenvalue of `diag(M)^-1 M` (1 to the number of joints; 2 to 3.4
/// for seven-axis arms). Error control finds that step. For fixed steps longer than that, give the
/// controller a [`period`](Self::with_period).
#[derive(Clone, Debug)]
pub struct InverseDynamics {
    joints: Vec<ControlledJoint>,
    /// Indices of the joints in `q` and `v`.
    places: Vec<[usize; 2]>,
    path: JointTrajectory,
    /// By degree of freedom of the model.
    limits: Vec<f64>,
    period: f64,
    work: Buffers,
}

/// Buffers; what they hold between calls is not used, so a clone has its own, empty.
#[derive(Debug, Default)]
struct Buffers(Mutex<Work>);

impl Clone for Buffers {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[derive(Debug, Default)]
struct Work {
    accelerations: Vec<f64>,
    forces: Vec<f64>,
    recursion: multibody::InverseDynamicsBuffers,
}

impl InverseDynamics {
    /// Drives `joints` along `path`, whose numbers are in their order.
    ///
    /// # Errors
    /// Joints that do not exist, appear twice, are not of one tree or have no coordinate; gains
    /// that are negative or not finite; a path of another number of joints.
    pub fn new(
        model: &Model,
        joints: Vec<ControlledJoint>,
        path: JointTrajectory,
    ) -> Result<Self, SimulationError> {
        let mut places: Vec<[usize; 2]> = Vec::with_capacity(joints.len());
        for (i, joint) in joints.iter().enumerate() {
            let item = format!("inverse dynamics, joint {i}");
            let place = check_joint(model, &item, joint)?;
            if places.contains(&place) {
                return fail(item, "dof", joint.dof as f64, "", "named once");
            }
            if model.tree_of(joint.link) != model.tree_of(joints[0].link) {
                return fail(item, "link", joint.link.0 as f64, "", "in the tree of the first");
            }
            places.push(place);
        }
        if path.joints() != joints.len() {
            let count = path.joints() as f64;
            return fail("inverse dynamics", "path", count, "joints", "of as many joints as are driven");
        }
        let mut limits = vec![f64::INFINITY; model.velocities()];
        for (joint, place) in joints.iter().zip(&places) {
            limits[place[1]] = joint.effort_limit;
        }
        Ok(Self { joints, places, path, limits, period: 0.0, work: Buffers::default() })
    }

    /// A digital controller of the given period h \[s\]: each gain is divided by `1 + h K_d + h^2
    /// K_p`, so that the acceleration is the one that implicit Euler finds for the error over a
    /// period (the stable proportional-derivative control of Tan, Liu and Turk 2011, IEEE Computer
    /// Graphics and Applications 31(4)). At steps up to twice the period it is stable for any gains
    /// and configuration. The default is 0: unchanged gains.
    ///
    /// # Errors
    /// A period that is negative or not finite.
    pub fn with_period(mut self, period: f64) -> Result<Self, SimulationError> {
        if !(period.is_finite() && period >= 0.0) {
            return fail("inverse dynamics", "period", period, "s", "finite and not negative");
        }
        self.period = period;
        Ok(self)
    }

    /// The path.
    pub fn path(&self) -> &JointTrajectory {
        &self.path
    }
}

/// Checks a joint; returns its indices in `q` and `v`.
fn check_joint(model: &Model, item: &str, joint: &ControlledJoint) -> Result<[usize; 2], SimulationError> {
    check_link(model, item, joint.link)?;
    let kind = &model.links()[joint.link.0].joint;
    if joint.dof >= kind.velocities() {
        return fail(item, "dof", joint.dof as f64, "", "a degree of freedom of its joint");
    }
    if matches!(kind, JointKind::Ball | JointKind::Free) {
        return fail(item, "dof", joint.dof as f64, "", "of a joint with a coordinate");
    }
    for (field, gain, unit) in [("stiffness", joint.stiffness, "1/s^2"), ("damping", joint.damping, "1/s")] {
        if !(gain.is_finite() && gain >= 0.0) {
            return fail(item, field, gain, unit, "finite and not negative");
        }
    }
    if joint.effort_limit.is_nan() || joint.effort_limit < 0.0 {
        return fail(item, "effort limit", joint.effort_limit, "N m or N", "not negative");
    }
    let (q, v) = (model.positions_of(joint.link).start, model.velocities_of(joint.link).start);
    Ok([q + joint.dof, v + joint.dof])
}

impl ExternalSystem for InverseDynamics {
    fn add_forces(
        &self,
        model: &Model,
        kinematics: &Kinematics,
        state: &State,
        _: &[f64],
        forces: &mut [f64],
    ) {
        // After a panic of another thread the buffers are still usable: their contents do not
        // matter.
        let mut work = self.work.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Work { accelerations, forces: own, recursion } = &mut *work;
        accelerations.clear();
        accelerations.resize(model.velocities(), 0.0);
        own.resize(model.velocities(), 0.0);
        let h = self.period;
        for (i, (joint, &[q, v])) in self.joints.iter().zip(&self.places).enumerate() {
            let [position, rate, acceleration] = self.path.at(i, state.time);
            let correction = joint.stiffness * (position - state.q[q]) + joint.damping * (rate - state.v[v]);
            accelerations[v] = acceleration + correction / (1.0 + h * (joint.damping + h * joint.stiffness));
        }
        multibody::inverse_dynamics(model, kinematics, accelerations, &[], recursion, own);
        for &[q, v] in &self.places {
            let dof = &model.dofs()[v];
            forces[v] += own[v] + dof.damping * state.v[v];
            if dof.stiffness > 0.0 {
                forces[v] += dof.stiffness * (state.q[q] - dof.reference);
            }
        }
    }

    fn effort_limit(&self, dof: usize) -> f64 {
        self.limits.get(dof).copied().unwrap_or(f64::INFINITY)
    }

    fn next_event(&self, t: f64) -> Option<f64> {
        self.path.next_set_point(t)
    }
}
