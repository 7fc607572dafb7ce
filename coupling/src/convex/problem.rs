//! The problem of one substep.

use core::ops::Range;

use pliant_rigid::contact_model::{NormalContactModel, RegularisedFriction, SMALLEST_STICTION_TOLERANCE};
use pliant_rigid::icf::potential::ContactPotential;

use super::mobility::Mobility;

/// Everything the minimisation needs. Node vectors are `[x, y, z, 0]` in world axes, f64.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactProblem {
    /// Lumped mass of every node \[kg\]; 0 for nodes that only pad a run along z: they keep their
    /// free velocity and never count.
    pub node_mass: Vec<f64>,
    /// Free velocity `v*` of every node \[m/s\].
    pub node_free_velocity: Vec<[f64; 4]>,
    /// The contacts, sorted by cell: neighbours with the same [`ContactConstraint::rows`] are
    /// worked on together. Any order is right, this one is fast.
    pub contacts: Vec<ContactConstraint>,
    /// The strongly coupled bodies; all others keep the velocities that the contacts state.
    pub mobility: Mobility,
    /// Length of the substep, `substep` \[s\].
    pub substep: f64,
}

/// A part of a problem that shares no unknown with the rest: consecutive contacts, and the
/// consecutive nodes that they touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProblemPart<'a> {
    pub node_mass: &'a [f64],
    pub node_free_velocity: &'a [[f64; 4]],
    /// Their rows count from the first node of the whole problem.
    pub contacts: &'a [ContactConstraint],
    /// Number of this part's first node in the whole problem.
    pub first_node: u32,
    /// The strongly coupled bodies, if this part has contacts on them. Attachments belong to the
    /// first of `contacts` and the following ones.
    pub mobility: Option<&'a Mobility>,
    pub substep: f64,
}

/// One contact of one particle with one body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactConstraint {
    /// Index of the first of three z-consecutive nodes, for the stencil's rows (i, j) in the order
    /// `i * 3 + j`.
    pub rows: [u32; 9],
    /// Weights of the rows: the node `k` of row `r` has `weights_xy[r] * weights_z[k]`. They sum to
    /// one, or are all zero: the body then touches what no node moves, and its velocity is relative to that.
    pub weights_xy: [f64; 9],
    /// Weights along z.
    pub weights_z: [f64; 3],
    /// Unit normal, outward from the body to the particle, world axes; a positive normal velocity
    /// separates.
    pub normal: [f64; 3],
    /// Velocity of the body at the contact point, world axes \[m/s\]; of a strongly coupled body
    /// that before its response.
    pub body_velocity: [f64; 3],
    /// Signed distance `phi` \[m\], negative when overlapping; may be positive (speculative
    /// contact).
    pub gap: f64,
    /// Stiffness `k` \[N/m\].
    pub stiffness: f64,
    /// Hunt-Crossley dissipation `d` \[s/m\].
    pub dissipation: f64,
    /// Coefficient of friction `mu`.
    pub friction: f64,
    /// Stiction tolerance `v_s` \[m/s\]; below 1e-12 m/s it counts as that.
    pub stiction_tolerance: f64,
    /// Normal impulse of the start of the substep, which bounds the friction, `gamma_n0` \[N s\],
    /// not negative; of a bonded contact with `substep f_a` added.
    pub lagged_normal_impulse: f64,
    /// Largest tension that a bonded contact carries, `f_a` \[N\]; 0 without a bond.
    pub adhesion: f64,
}

impl ContactConstraint {
    /// The normal model over a substep \[s\].
    #[inline(always)]
    pub fn normal_model(&self, substep: f64) -> NormalContactModel {
        NormalContactModel::new(self.gap, self.stiffness, self.dissipation, substep).bonded(
            self.adhesion,
            self.stiffness,
            substep,
        )
    }

    /// The friction.
    #[inline(always)]
    pub fn regularised_friction(&self) -> RegularisedFriction {
        let regularisation = self.stiction_tolerance.max(SMALLEST_STICTION_TOLERANCE);
        RegularisedFriction { bound: self.friction * self.lagged_normal_impulse, regularisation }
    }

    /// The whole model over a substep \[s\]: the plain form, which the solver's vectorised kernels
    /// are tested against.
    pub fn potential(&self, substep: f64) -> ContactPotential {
        ContactPotential::from_models(self.normal, self.normal_model(substep), self.regularised_friction())
    }
}

/// What is wrong with a [`ContactProblem`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// Masses and velocities must have one length.
    #[error("node_mass has {masses} entries, node_free_velocity {velocities}")]
    NodeCount {
        /// Entries of `node_mass`.
        masses: usize,
        /// Entries of `node_free_velocity`.
        velocities: usize,
    },
    /// A row's three nodes must exist.
    #[error("contacts[{contact}].rows refers to node {node} and the next two; there are {nodes} nodes")]
    RowOutOfRange {
        /// Index of the contact.
        contact: usize,
        /// First node of the row.
        node: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// The bodies' mobility is not finite, or a contact is on a body that does not exist.
    #[error(
        "the mobility of the bodies is not finite, or an attachment refers to a body that does not exist"
    )]
    Mobility,
    /// A number is not finite, or out of its range.
    #[error("{field}[{index}] = {value} {unit} must be finite and {requirement}")]
    Value {
        /// Name of the field.
        field: &'static str,
        /// Index of the node or contact (0 for the substep).
        index: usize,
        /// The value.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it has to be.
        requirement: &'static str,
    },
}

impl ContactProblem {
    /// Checks every number of the problem, for problems of a caller. The solver itself checks only
    /// lengths and rows, and returns `StopReason::NotFinite` for all else.
    ///
    /// # Errors
    /// [`ProblemError`] naming the first field that is wrong.
    pub fn validate(&self) -> Result<(), ProblemError> {
        self.whole().validate_shape()?;
        value("substep", 0, self.substep, "s", "positive", self.substep > 0.0)?;
        for (i, &mass) in self.node_mass.iter().enumerate() {
            value("node_mass", i, mass, "kg", "not negative", mass >= 0.0)?;
        }
        for (i, velocity) in self.node_free_velocity.iter().enumerate() {
            for component in velocity {
                value("node_free_velocity", i, *component, "m/s", "a number", true)?;
            }
        }
        for (c, contact) in self.contacts.iter().enumerate() {
            for weight in contact.weights_xy.iter().chain(&contact.weights_z) {
                value("contacts.weights", c, *weight, "", "a number", true)?;
            }
            for a in 0..3 {
                value("contacts.normal", c, contact.normal[a], "", "a number", true)?;
                value("contacts.body_velocity", c, contact.body_velocity[a], "m/s", "a number", true)?;
            }
            value("contacts.gap", c, contact.gap, "m", "a number", true)?;
            for (field, number, unit) in [
                ("contacts.stiffness", contact.stiffness, "N/m"),
                ("contacts.dissipation", contact.dissipation, "s/m"),
                ("contacts.friction", contact.friction, ""),
                ("contacts.stiction_tolerance", contact.stiction_tolerance, "m/s"),
                ("contacts.lagged_normal_impulse", contact.lagged_normal_impulse, "N s"),
                ("contacts.adhesion", contact.adhesion, "N"),
            ] {
                value(field, c, number, unit, "not negative", number >= 0.0)?;
            }
        }
        Ok(())
    }

    /// The whole problem as one part.
    pub(super) fn whole(&self) -> ProblemPart<'_> {
        ProblemPart {
            node_mass: &self.node_mass,
            node_free_velocity: &self.node_free_velocity,
            contacts: &self.contacts,
            first_node: 0,
            mobility: Some(&self.mobility),
            substep: self.substep,
        }
    }

    /// The part of these nodes and contacts; `strongly_coupled` if its contacts are those with
    /// attachments.
    pub(crate) fn part(
        &self,
        nodes: Range<usize>,
        contacts: Range<usize>,
        body_velocity_changes: bool,
    ) -> ProblemPart<'_> {
        ProblemPart {
            first_node: nodes.start as u32,
            node_mass: &self.node_mass[nodes.clone()],
            node_free_velocity: &self.node_free_velocity[nodes],
            contacts: &self.contacts[contacts],
            mobility: body_velocity_changes.then_some(&self.mobility),
            substep: self.substep,
        }
    }
}

impl ProblemPart<'_> {
    /// Checks lengths and rows only.
    pub(super) fn validate_shape(&self) -> Result<(), ProblemError> {
        let nodes = self.node_mass.len();
        if nodes != self.node_free_velocity.len() {
            let velocities = self.node_free_velocity.len();
            return Err(ProblemError::NodeCount { masses: nodes, velocities });
        }
        if self.mobility.is_some_and(|mobility| !mobility.is_valid()) {
            return Err(ProblemError::Mobility);
        }
        let (first, end) = (self.first_node, self.first_node as usize + nodes);
        for (contact, c) in self.contacts.iter().enumerate() {
            let wrong = c.rows.iter().find(|&&row| row < first || row as usize + 3 > end);
            if let Some(&node) = wrong {
                return Err(ProblemError::RowOutOfRange { contact, node, nodes });
            }
        }
        Ok(())
    }
}

fn value(
    field: &'static str,
    index: usize,
    value: f64,
    unit: &'static str,
    requirement: &'static str,
    holds: bool,
) -> Result<(), ProblemError> {
    if value.is_finite() && holds {
        return Ok(());
    }
    Err(ProblemError::Value { field, index, value, unit, requirement })
}
