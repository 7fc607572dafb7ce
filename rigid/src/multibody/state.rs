//! The state of a mechanism: time, positions and velocities.

use serde::{Deserialize, Serialize};

use super::error::ModelError;
use super::joint::quaternion;
use super::link::{LinkId, Tree};
use super::model::Model;
use crate::spatial::is_unit;

/// State of a model. The layout of `q` and `v` is given by [`Model::positions_of`] and
/// [`Model::velocities_of`], the meaning of the numbers by [`JointKind`](super::JointKind).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Time \[s\].
    pub time: f64,
    /// Positions.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
}

impl State {
    /// Becomes equal to another of the same model, in its own buffers.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.time = other.time;
        self.q.copy_from_slice(&other.q);
        self.v.copy_from_slice(&other.v);
    }

    /// Checks that the state fits the model: lengths, finite numbers, unit quaternions.
    ///
    /// # Errors
    /// [`ModelError::State`].
    pub fn validate(&self, model: &Model) -> Result<(), ModelError> {
        let fail = |field, reason: String| Err(ModelError::State { field, reason });
        for (field, values, wanted) in
            [("positions", &self.q, model.positions()), ("velocities", &self.v, model.velocities())]
        {
            if values.len() != wanted {
                return fail(field, format!("{} numbers given; the model has {wanted}", values.len()));
            }
            if let Some(at) = values.iter().position(|x| !x.is_finite()) {
                return fail(field, format!("number {at} is {}", values[at]));
            }
        }
        for (i, link) in model.links().iter().enumerate() {
            let q = &self.q[model.positions_of(LinkId(i))];
            if link.joint.has_quaternion() && !is_unit(quaternion(q).norm()) {
                return fail("positions", format!("the quaternion of '{}' is not of unit length", link.name));
            }
        }
        Ok(())
    }
}

impl Model {
    /// Every joint at rest: M at F, no velocity.
    pub fn zero_configuration(&self) -> State {
        let mut q = vec![0.0; self.positions];
        for (link, place) in self.links.iter().zip(&self.places) {
            let p = place.first_position;
            link.joint.zero_configuration(&mut q[p..p + link.joint.positions()]);
        }
        State { time: 0.0, q, v: vec![0.0; self.dofs.len()] }
    }
}

/// Copies the positions of one tree.
pub(crate) fn copy_positions(model: &Model, tree: &Tree, from: &State, to: &mut State) {
    for &link in &tree.links {
        let q = model.positions_of(link);
        to.q[q.clone()].copy_from_slice(&from.q[q]);
    }
}

/// Copies the numbers of one tree.
pub(crate) fn copy_tree(model: &Model, tree: &Tree, from: &State, to: &mut State) {
    copy_positions(model, tree, from, to);
    let v = tree.first_velocity..tree.first_velocity + tree.velocities;
    to.v[v.clone()].copy_from_slice(&from.v[v]);
}
