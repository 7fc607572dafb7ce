//! Forward dynamics, by articulated bodies (Featherstone 2008, section 7.3).

use nalgebra::{Matrix6, SMatrix, Vector6};

use super::algebra::{ForceVector, MotionVector, cross_matrix};
use super::joint::MAX_DOFS;
use super::kinematics::Kinematics;
use super::link::LinkId;
use super::model::Model;

type Columns = SMatrix<f64, 6, MAX_DOFS>;

/// Buffers of the algorithm.
#[derive(Clone, Debug, Default)]
pub struct ForwardDynamicsBuffers {
    bodies: Vec<Articulated>,
}

/// Articulated inertia and bias of a link with its descendants, as they act at its joint.
#[derive(Clone, Copy, Debug)]
struct Articulated {
    inertia: Matrix6<f64>,
    bias: Vector6<f64>,
    /// Inertia times the joint's axes, and the inverse of the inertia along them.
    carried: Columns,
    inverse: SMatrix<f64, MAX_DOFS, MAX_DOFS>,
    /// Joint forces less the bias.
    drive: SMatrix<f64, MAX_DOFS, 1>,
    acceleration: MotionVector,
}

impl Articulated {
    const ZERO: fn() -> Self = || Self {
        inertia: Matrix6::zeros(),
        bias: Vector6::zeros(),
        carried: Columns::zeros(),
        inverse: SMatrix::zeros(),
        drive: SMatrix::zeros(),
        acceleration: MotionVector::zero(),
    };
}

/// Writes the joint accelerations \[rad/s^2, m/s^2\] under joint `forces` \[N m, N\] and `external`
/// forces on the links (world axes, about the link's origin): `M^-1 (forces - bias + J^T
/// external)`.
pub fn forward_dynamics(
    model: &Model,
    kinematics: &Kinematics,
    forces: &[f64],
    external: &[ForceVector],
    work: &mut ForwardDynamicsBuffers,
    out: &mut [f64],
) {
    work.bodies.clear();
    for (i, link) in model.links().iter().enumerate() {
        let inertia = link.inertia.rotated(kinematics.pose(LinkId(i)));
        let weight = if link.gravity {
            inertia.momentum(&MotionVector::new(Default::default(), model.gravity))
        } else {
            ForceVector::zero()
        };
        let bias = inertia.gyroscopic(&kinematics.velocity(LinkId(i)).angular)
            - weight
            - external.get(i).copied().unwrap_or_default();
        work.bodies.push(Articulated {
            inertia: inertia.to_matrix(),
            bias: bias.to_vector(),
            ..(Articulated::ZERO)()
        });
    }
    for i in (0..work.bodies.len()).rev() {
        work.inwards(model, kinematics, forces, i);
    }
    for i in 0..work.bodies.len() {
        work.outwards(model, kinematics, i, out);
    }
}

/// The joint's axes as columns; missing ones are zero.
fn axes(model: &Model, kinematics: &Kinematics, link: usize) -> (Columns, usize) {
    let mut columns = Columns::zeros();
    let dofs = model.velocities_of(LinkId(link));
    for (d, n) in dofs.clone().enumerate() {
        columns.set_column(d, &kinematics.axes()[n].to_vector());
    }
    (columns, dofs.len())
}

impl ForwardDynamicsBuffers {
    /// Adds a link's articulated inertia and bias to its parent.
    fn inwards(&mut self, model: &Model, kinematics: &Kinematics, forces: &[f64], i: usize) {
        let (s, count) = axes(model, kinematics, i);
        let body = &mut self.bodies[i];
        body.carried = body.inertia * s;
        let mut felt = s.transpose() * body.carried;
        let taken = s.transpose() * body.bias;
        for (d, n) in model.velocities_of(LinkId(i)).enumerate() {
            felt[(d, d)] += model.dofs()[n].armature;
            body.drive[d] = forces[n] - taken[d];
        }
        // Missing axes of a joint get a unit diagonal, so that all matrices have one size.
        for d in count..MAX_DOFS {
            felt[(d, d)] = 1.0;
        }
        // Positive definite by the model's check; a state that is not finite gives accelerations
        // that are not.
        body.inverse = match felt.cholesky() {
            Some(factor) => factor.inverse(),
            None => SMatrix::from_element(f64::NAN),
        };
        let Some(LinkId(p)) = model.links()[i].parent else { return };
        let gain = body.carried * body.inverse;
        let inertia = body.inertia - gain * body.carried.transpose();
        let bias = body.bias + inertia * kinematics.bias(i).to_vector() + gain * body.drive;
        // The parent's acceleration at the link's origin is a + w x r.
        let mut shift = Matrix6::identity();
        shift.fixed_view_mut::<3, 3>(3, 0).copy_from(&-cross_matrix(kinematics.offset(i)));
        self.bodies[p].inertia += shift.transpose() * inertia * shift;
        self.bodies[p].bias += shift.transpose() * bias;
    }

    /// The accelerations of a joint and its link from the parent's.
    fn outwards(&mut self, model: &Model, kinematics: &Kinematics, i: usize, out: &mut [f64]) {
        let inherited =
            model.links()[i].parent.map_or(MotionVector::zero(), |LinkId(p)| self.bodies[p].acceleration);
        let body = &mut self.bodies[i];
        let mut a = inherited.shifted(kinematics.offset(i)) + *kinematics.bias(i);
        let joint = body.inverse * (body.drive - body.carried.transpose() * a.to_vector());
        for (d, n) in model.velocities_of(LinkId(i)).enumerate() {
            out[n] = joint[d];
            a += kinematics.axes()[n] * joint[d];
        }
        body.acceleration = a;
    }
}
