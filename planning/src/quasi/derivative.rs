//! Derivatives of a step.

use nalgebra::{DMatrix, Matrix3, Matrix6, Rotation3, Vector3, Vector6};

use super::columns::DisplacementColumns;
use super::contact::tangents;
use super::dynamics::{QuasiContact, QuasiDynamics};
use super::error::QuasiError;
use super::pairs::{moving, origin};
use super::settings::ControlMode;
use pliant_geometry::pairs::ContactPoint;
use pliant_numeric::dual::Dual;
use pliant_numeric::linalg::Vec3;
use pliant_numeric::scalar::Real;
use pliant_rigid::multibody::{MotionVector, cross_matrix};

/// Jacobians of the tangent of the next state: rows in the order of degrees of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivatives {
    /// By the tangent of the state: one column per degree of freedom.
    pub state: DMatrix<f64>,
    /// By the control: one column per joint.
    pub control: DMatrix<f64>,
}

impl Derivatives {
    /// Matrices for a model.
    pub fn new(dynamics: &QuasiDynamics) -> Self {
        let dofs = dynamics.model.velocities();
        Self { state: DMatrix::zeros(dofs, dofs), control: DMatrix::zeros(dofs, dynamics.controls()) }
    }
}

/// Derivatives of the contacts of a pair with respect to their two sides: of both wrenches (about
/// the links' origins) by the twelve displacements of the links (turn, shift), and by the twelve
/// numbers of their motions y_0.
#[derive(Default)]
struct ContactDerivatives {
    by_place: [[[f64; 12]; 6]; 2],
    by_motion: [[[f64; 12]; 6]; 2],
}

/// Derivative of the logarithm of `exp(d) exp(y)` by d where d is 0 (the left Jacobian of
/// rotations).
fn left_jacobian(y: &Vector3<f64>) -> Matrix3<f64> {
    let square = y.norm_squared();
    let cross = cross_matrix(y);
    // Below this the series are exact to rounding.
    let (first, second) = if square < 1e-6 {
        (0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0)
    } else {
        let angle = square.sqrt();
        ((1.0 - angle.cos()) / square, (angle - angle.sin()) / (square * angle))
    };
    Matrix3::identity() + cross * first + cross * cross * second
}

fn values(v: Vec3<Dual<12>>) -> Vector3<f64> {
    v.0.map(|x| x.value).into()
}

fn numbers(v: &MotionVector) -> [f64; 6] {
    v.to_vector().into()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl QuasiDynamics {
    /// Takes a [`step`](Self::step) and writes its derivatives.
    ///
    /// # Errors
    /// Those of a step, and matrices of another model.
    pub fn derivatives(
        &mut self,
        q: &[f64],
        control: &[f64],
        next: &mut [f64],
        out: &mut Derivatives,
    ) -> Result<(), QuasiError> {
        let (dofs, joints) = (self.model.velocities(), self.controls());
        for (found, expected) in [(out.state.shape(), (dofs, dofs)), (out.control.shape(), (dofs, joints))] {
            if found != expected {
                let field = "rows or columns of a Jacobian";
                let (found, expected) =
                    if found.0 == expected.0 { (found.1, expected.1) } else { (found.0, expected.0) };
                return Err(QuasiError::Length { field, found, expected });
            }
        }
        self.step(q, control, next)?;
        out.state.fill(0.0);
        out.control.fill(0.0);
        let mut columns = core::mem::take(&mut self.columns);
        for m in 0..self.layout.movers.len() {
            match self.layout.movers[m].body {
                Some(body) => self.object(m, body, &mut columns, out),
                None => self.link(m, &mut columns, out),
            }
        }
        for joint in 0..self.layout.joints.len() {
            let n = self.layout.joints[joint].dof;
            out.state[(n, n)] += if self.control == ControlMode::Targets { 0.0 } else { 1.0 };
            out.control[(n, joint)] += 1.0;
        }
        let mut contacts = &self.contacts[..];
        while let Some(first) = contacts.first() {
            let count = contacts.iter().take_while(|c| c.pair == first.pair).count();
            let (these, others) = contacts.split_at(count);
            self.scatter(these, &columns, out);
            contacts = others;
        }
        self.columns = columns;
        Ok(())
    }

    /// A free body: its own motion, and its columns.
    fn object(&self, mover: usize, body: usize, columns: &mut DisplacementColumns, out: &mut Derivatives) {
        let (dof, block) = (self.layout.bodies[body].dof, &self.blocks[body]);
        let answer = Vector6::from_column_slice(&self.displacement[dof..dof + 6]);
        let turn = answer.fixed_rows::<3>(0).into_owned();
        let mut outwards = Matrix6::identity();
        outwards.fixed_view_mut::<3, 3>(0, 0).copy_from(&left_jacobian(&turn));
        let mut own = Matrix6::identity();
        own.fixed_view_mut::<3, 3>(0, 0).copy_from(Rotation3::new(turn).matrix());
        let load = Vector6::from_column_slice(&self.load[dof..dof + 6]);
        let by_turns = block.by_turns(&load, &answer);
        for (k, column) in by_turns.iter().enumerate() {
            let mut target = own.column_mut(k);
            target += outwards * column;
        }
        out.state.fixed_view_mut::<6, 6>(dof, dof).copy_from(&own);

        let range = columns.first[mover]..columns.first[mover] + 6;
        let mut axes = Matrix6::zeros();
        for (i, axis) in columns.axes[range.clone()].iter_mut().enumerate() {
            *axis = self.axis(mover, i);
            axes.set_column(i, &axis.to_vector());
        }
        let motion_derivatives = block.by_turns(&block.load, &block.free);
        for (sway, column) in columns.motion_derivatives[range.clone()].iter_mut().zip(&motion_derivatives) {
            *sway = MotionVector::from_vector(&(axes * column));
        }
        let displacement_columns = outwards * block.inverse * axes.transpose();
        for (i, row) in columns.displacement_columns[range].iter_mut().enumerate() {
            *row = displacement_columns.row(i).transpose().into();
        }
    }

    /// A link of the robot: change of its contacts' joint forces with the rotation of its joint
    /// axes, and its columns.
    fn link(&self, mover: usize, columns: &mut DisplacementColumns, out: &mut Derivatives) {
        let dofs = &self.layout.movers[mover].dofs;
        let stiffness = |n: usize| self.layout.joint_of[n].map_or(1.0, |j| self.layout.joints[j].stiffness);
        for (j, &m) in dofs.iter().enumerate() {
            let axis = self.axis(mover, j);
            let mut sway = if self.control == ControlMode::Targets { -axis } else { MotionVector::zero() };
            for (i, &n) in dofs.iter().enumerate() {
                let change = self.axis_change(mover, i, j);
                sway += change * self.free[n];
                out.state[(n, m)] += change.dot(&self.wrenches[mover]) / stiffness(n);
            }
            let at = columns.first[mover] + j;
            columns.axes[at] = axis;
            columns.motion_derivatives[at] = sway;
            columns.displacement_columns[at] = numbers(&(axis * (1.0 / stiffness(m))));
        }
    }

    /// Derivative of the axis of a link's `i`-th degree of freedom, from the link inwards, about
    /// the link's origin, by the `j`-th.
    fn axis_change(&self, mover: usize, i: usize, j: usize) -> MotionVector {
        let mover = &self.layout.movers[mover];
        let [own, by] = [i, j].map(|k| self.kinematics.axes()[mover.dofs[k]]);
        let [at, from] = [i, j].map(|k| self.origin(mover.links[k]));
        let end = self.origin(mover.link);
        let carried = |p: Vector3<f64>| by.shifted(&(p - from)).linear;
        // An outer joint moves the link but not this axis; an inner one also moves and rotates it.
        if j < i {
            let linear = own.angular.cross(&carried(end));
            return MotionVector::new(Vector3::zeros(), linear);
        }
        let angular = by.angular.cross(&own.angular);
        let linear = by.angular.cross(&own.linear)
            + angular.cross(&(end - at))
            + own.angular.cross(&(carried(end) - carried(at)));
        MotionVector::new(angular, linear)
    }

    /// Adds the contributions of the contacts of one pair.
    fn scatter(&self, contacts: &[QuasiContact], columns: &DisplacementColumns, out: &mut Derivatives) {
        let Some(first) = contacts.first() else { return };
        let change = self.change(first, contacts);
        let movers = first.geometries.map(|g| self.geometries[g].mover);
        for (side, felt) in movers.iter().enumerate() {
            let Some(felt) = *felt else { continue };
            let rows = (&self.layout.movers[felt].dofs, &columns.displacement_columns[columns.first[felt]..]);
            for (other, cause) in movers.iter().enumerate() {
                let Some(cause) = *cause else { continue };
                let part = 6 * other..6 * other + 6;
                for (i, &m) in self.layout.movers[cause].dofs.iter().enumerate() {
                    let at = columns.first[cause] + i;
                    let (axis, sway) = (numbers(&columns.axes[at]), numbers(&columns.motion_derivatives[at]));
                    let by_motion = change.by_motion[side].map(|row| dot(&row[part.clone()], &axis));
                    let mut wrench = [0.0; 6];
                    for d in 0..6 {
                        wrench[d] = dot(&change.by_place[side][d][part.clone()], &axis)
                            + dot(&change.by_motion[side][d][part.clone()], &sway);
                    }
                    for (&n, answer) in rows.0.iter().zip(rows.1) {
                        out.state[(n, m)] += dot(answer, &wrench);
                        if let Some(joint) = self.layout.joint_of[m] {
                            out.control[(n, joint)] += dot(answer, &by_motion);
                        }
                    }
                }
            }
        }
    }

    /// Derivatives of the wrenches of the contacts of one pair.
    fn change(&self, first: &QuasiContact, contacts: &[QuasiContact]) -> ContactDerivatives {
        let mut change = ContactDerivatives::default();
        let QuasiContact { geometries, pair, .. } = *first;
        let movers = geometries.map(|g| self.geometries[g].mover);
        let seed = |side: usize| movers[side].map(|_| 6 * side);
        let origins = movers.map(|mover| self.origin_of(mover));
        let [a, b] = [0, 1].map(|side| moving(&self.solids[geometries[side]], &origins[side], seed(side)));
        let links = [0, 1].map(|side| origin(&origins[side], seed(side)));
        let motions = movers.map(|mover| self.motion_of(mover));
        self.pairs[pair].kind.contact_points(&a, &b, |slot, mut point| {
            point.distance.value -= self.pairs[pair].margin;
            if let Some(contact) = contacts.iter().find(|c| c.slot == slot) {
                self.add_contact(contact.friction, &point, &links, &motions, &mut change);
            }
        });
        change
    }

    fn add_contact(
        &self,
        friction: f64,
        point: &ContactPoint<Dual<12>>,
        links: &[Vec3<Dual<12>>; 2],
        motions: &[MotionVector; 2],
        change: &mut ContactDerivatives,
    ) {
        let levers = links.map(|link| point.point - link);
        let [u, v] = [0, 1].map(|side| {
            Vec3::from(motions[side].linear) + Vec3::from(motions[side].angular).cross(levers[side])
        });
        let [s, t] = tangents(point.normal);
        let axes = [point.normal, s, t];
        let local = axes.map(|axis| axis.dot(v - u));
        let motion = Vector3::from(local.map(|x| x.value));
        let force = self.law.force(friction, point.distance.value, &motion);
        let slopes = self.law.slopes(friction, point.distance.value, &motion);

        let mut total = Vec3::<Dual<12>>::zero();
        for (k, axis) in axes.into_iter().enumerate() {
            let mut along = Dual::splat(force[k]);
            for z in 0..12 {
                let moved = Vector3::from(local.map(|x| x.rates[z]));
                along.rates[z] = -self.law.stiffness * slopes[(k, 0)] * point.distance.rates[z]
                    - self.law.gain * slopes.row(k).transpose().dot(&moved);
            }
            total += axis * along;
        }
        let world = Matrix3::from_columns(&axes.map(values));
        let by_motion = world * slopes * world.transpose() * -self.law.gain;
        let arms = levers.map(values);
        for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
            let moment = levers[side].cross(total);
            for d in 0..3 {
                for z in 0..12 {
                    change.by_place[side][d][z] += sign * moment.0[d].rates[z];
                    change.by_place[side][3 + d][z] += sign * total.0[d].rates[z];
                }
            }
            for z in 0..12 {
                let (of, unit) = (z / 6, Vector3::ith(z % 3, if z < 6 { -1.0 } else { 1.0 }));
                let moved = if z % 6 < 3 { unit.cross(&arms[of]) } else { unit };
                let force = by_motion * moved;
                let moment = arms[side].cross(&force);
                for d in 0..3 {
                    change.by_motion[side][d][z] += sign * moment[d];
                    change.by_motion[side][3 + d][z] += sign * force[d];
                }
            }
        }
    }
}
