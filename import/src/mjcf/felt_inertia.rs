//! The inertia that forces on joints and tendons feel in a configuration.

use nalgebra::{DMatrix, DVector};
use pliant_rigid::multibody::{Kinematics, MassMatrix, Model, State, mass_matrix};

/// The mass matrix, a block for each tree with its first velocity.
pub(super) type MassBlocks = Vec<(usize, DMatrix<f64>)>;

/// The inertia that a force with these moments feels, the inverse of `J M^-1 J^T`
/// \[kg m^2, kg\]; 0 where it moves nothing.
pub(super) fn inertia(mass: &[(usize, DMatrix<f64>)], moments: &[f64]) -> f64 {
    let parts = accelerations(mass, moments).map(|(own, acceleration)| own.dot(&acceleration));
    let mobility = parts.sum::<f64>();
    if mobility > 0.0 { 1.0 / mobility } else { 0.0 }
}

/// Length of the acceleration of all velocities by a force of 1 with these moments: MuJoCo's
/// measure of a muscle's strength.
pub(super) fn acceleration(mass: &[(usize, DMatrix<f64>)], moments: &[f64]) -> f64 {
    accelerations(mass, moments).map(|(_, acceleration)| acceleration.norm_squared()).sum::<f64>().sqrt()
}

/// Of each tree the moments and the acceleration that they give.
fn accelerations<'a>(
    mass: &'a [(usize, DMatrix<f64>)],
    moments: &'a [f64],
) -> impl Iterator<Item = (DVector<f64>, DVector<f64>)> + 'a {
    mass.iter().filter_map(|(first, block)| {
        let own = DVector::from_column_slice(&moments[*first..first + block.nrows()]);
        let acceleration = block.clone().cholesky()?.solve(&own);
        Some((own, acceleration))
    })
}

/// The mass matrix at a state.
pub(super) fn mass_at(model: &Model, state: &State) -> MassBlocks {
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, state);
    let mut mass = MassMatrix::default();
    mass_matrix(model, &kinematics, &mut mass);
    let blocks = model.trees().iter().enumerate();
    blocks.map(|(t, tree)| (tree.first_velocity, mass.block(t).clone_owned())).collect()
}
