//! Velocities at the corners of prescribed paths.

use super::mechanical::mechanical_energy;
use crate::multibody::{
    ForceVector, Kinematics, LinkId, MassMatrix, Model, MotionVector, PathSide, State, mass_matrix,
};

/// Buffers of a velocity jump at a corner.
#[derive(Clone, Debug, Default)]
pub(super) struct VelocityJumpBuffers {
    /// Of every link, before the corner.
    prescribed_velocities: Vec<MotionVector>,
    /// Momentum that every link and its descendants gain from the jump of the prescribed
    /// velocities.
    momenta: Vec<ForceVector>,
    matrix: Vec<f64>,
    change: Vec<f64>,
}

impl VelocityJumpBuffers {
    /// Applies the velocity jumps at a corner of prescribed paths: bodies attached to them by
    /// joints keep the momentum along the joints. Returns the work \[J\] of the paths, which is the
    /// change of the kinetic energy.
    pub fn turn(
        &mut self,
        model: &Model,
        kinematics: &mut Kinematics,
        mass: &mut MassMatrix,
        state: &mut State,
    ) -> f64 {
        let before = self.note(model, kinematics, state, PathSide::Before);
        self.jump(model, kinematics, mass, state) - before
    }

    /// Notes the prescribed velocities before a jump. Returns the kinetic energy \[J\] there.
    pub fn note(&mut self, model: &Model, kinematics: &mut Kinematics, state: &State, side: PathSide) -> f64 {
        kinematics.update_at(model, state, side);
        self.prescribed_velocities.clear();
        self.prescribed_velocities
            .extend((0..model.links().len()).map(|l| *kinematics.prescribed_velocity(LinkId(l))));
        mechanical_energy(model, &*kinematics, state).kinetic
    }

    /// Jumps from the noted velocities to those after the corner. Returns the kinetic energy \[J\]
    /// there.
    pub fn jump(
        &mut self,
        model: &Model,
        kinematics: &mut Kinematics,
        mass: &mut MassMatrix,
        state: &mut State,
    ) -> f64 {
        let Self { prescribed_velocities, momenta, matrix, change } = self;
        kinematics.update_at(model, state, PathSide::After);
        momenta.clear();
        momenta.extend(model.links().iter().zip(&*prescribed_velocities).enumerate().map(
            |(l, (link, before))| {
                let jump = *kinematics.prescribed_velocity(LinkId(l)) - *before;
                link.inertia.rotated(kinematics.pose(LinkId(l))).momentum(&jump)
            },
        ));
        for l in (0..momenta.len()).rev() {
            if let Some(LinkId(parent)) = model.links()[l].parent {
                let carried = momenta[l].shifted(&-kinematics.offset(l));
                momenta[parent] += carried;
            }
        }
        mass_matrix(model, &*kinematics, mass);
        for (t, tree) in model.trees().iter().enumerate() {
            change.clear();
            change.resize(tree.velocities, 0.0);
            for &link in &tree.links {
                for n in model.velocities_of(link) {
                    change[n - tree.first_velocity] = kinematics.axes()[n].dot(&momenta[link.0]);
                }
            }
            if change.iter().all(|x| *x == 0.0) {
                continue;
            }
            matrix.clear();
            matrix.extend(mass.block(t).iter());
            solve_symmetric(matrix, change);
            let rates = &mut state.v[tree.first_velocity..][..tree.velocities];
            rates.iter_mut().zip(&*change).for_each(|(v, change)| *v -= change);
        }
        kinematics.update_at(model, state, PathSide::After);
        mechanical_energy(model, &*kinematics, state).kinetic
    }
}

/// Solves `A x = b` in place for a symmetric, positive definite matrix; `b` becomes x. Gaussian
/// elimination needs no pivots there.
fn solve_symmetric(a: &mut [f64], b: &mut [f64]) {
    let n = b.len();
    for k in 0..n {
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            for j in k..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            b[k] -= a[k * n + j] * b[j];
        }
        b[k] /= a[k * n + k];
    }
}
