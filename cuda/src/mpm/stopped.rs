//! What stops steps.

use crate::kernels::{
    CONTACT_TOO_MANY, CONTACT_TOO_MANY_GEOMETRIES, CONVEX_FAILED, CONVEX_MISSING_NODE,
    CONVEX_TOO_MANY_CONTACTS, CONVEX_TOO_MANY_NODES, MPM_STATUS_CAPACITY, MPM_STATUS_FLAGS,
    MPM_STATUS_NEEDED, MPM_TOO_MANY_NODE_BLOCKS, MPM_TOO_MANY_PARTICLE_BLOCKS,
};

/// A step that stopped. Particles, velocities and contact caches are as before the substep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("substep {substep_index} of the step cannot run: {cause}")]
pub struct Stopped {
    /// The substep that could not run; those before it have.
    pub substep_index: u32,
    /// Why.
    pub cause: StopCause,
}

/// Why a step stopped. `needed` is as far as it was counted: there may be more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StopCause {
    /// More particle blocks than the capacity ([`DeviceMpm::grow`](super::DeviceMpm::grow)).
    #[error("the particles need {needed} particle blocks; the capacity is {capacity}")]
    ParticleBlocks {
        /// How many there are.
        needed: u32,
        /// How many there is room for.
        capacity: u32,
    },
    /// More blocks of nodes than there is room for ([`DeviceMpm::grow`](super::DeviceMpm::grow)).
    #[error("the particles need {needed} node blocks; the capacity is {capacity}")]
    NodeBlocks {
        /// How many there are.
        needed: u32,
        /// How many there is room for.
        capacity: u32,
    },
    /// More contacts than their arrays hold ([`crate::contact::DeviceContactDetector::grow`]).
    #[error("{needed} contacts; the capacity is {capacity}")]
    Contacts {
        /// How many there are.
        needed: u32,
        /// How many there is memory for.
        capacity: u32,
    },
    /// More contacts than the solver has room for ([`crate::convex::DeviceConvexSolver::grow`]).
    #[error("{needed} contacts in the convex problem; the capacity is {capacity}")]
    SolverContacts {
        /// How many there are.
        needed: u32,
        /// How many there is room for.
        capacity: u32,
    },
    /// More touched nodes than the solver has room for
    /// ([`crate::convex::DeviceConvexSolver::grow`]).
    #[error("contacts act on {needed} nodes; the capacity is {capacity}")]
    TouchedNodes {
        /// How many there are.
        needed: u32,
        /// How many there is room for.
        capacity: u32,
    },
    /// A particle touches more geometries than are followed. No memory mends this.
    #[error("a particle touches {geometries} geometries at once; at most {most} are supported")]
    TooManyGeometries {
        /// Geometries that it touches.
        geometries: u32,
        /// The most there can be.
        most: u32,
    },
    /// A contact touches a node that the grid does not have. No memory mends this.
    #[error("a contact refers to a grid node that does not exist")]
    MissingNode,
    /// The contact solve met numbers that are not finite. No memory mends this; the velocities that
    /// the next solve would start from are lost as well.
    #[error("the contact solve produced values that are not finite")]
    NotFinite,
}

impl StopCause {
    /// Whether more memory lets the step go on.
    pub fn is_room(&self) -> bool {
        !matches!(self, Self::TooManyGeometries { .. } | Self::MissingNode | Self::NotFinite)
    }

    /// Of the status words of a step; none where a particle only drifted.
    pub(super) fn of(status: &[u32]) -> Option<Self> {
        let (needed, capacity) = (status[MPM_STATUS_NEEDED as usize], status[MPM_STATUS_CAPACITY as usize]);
        let causes = [
            (MPM_TOO_MANY_PARTICLE_BLOCKS, Self::ParticleBlocks { needed, capacity }),
            (MPM_TOO_MANY_NODE_BLOCKS, Self::NodeBlocks { needed, capacity }),
            (CONTACT_TOO_MANY_GEOMETRIES, Self::TooManyGeometries { geometries: needed, most: capacity }),
            (CONTACT_TOO_MANY, Self::Contacts { needed, capacity }),
            (CONVEX_TOO_MANY_CONTACTS, Self::SolverContacts { needed, capacity }),
            (CONVEX_TOO_MANY_NODES, Self::TouchedNodes { needed, capacity }),
            (CONVEX_MISSING_NODE, Self::MissingNode),
            (CONVEX_FAILED, Self::NotFinite),
        ];
        let flags = status[MPM_STATUS_FLAGS as usize];
        causes.into_iter().find(|(flag, _)| flags & flag != 0).map(|(_, cause)| cause)
    }
}
