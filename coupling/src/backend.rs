//! The boundary to a device that takes the particles through the substeps of a step.
//!
//! The motion of weakly coupled bodies within a step is known at its start, and so is the response
//! of strongly coupled ones ([`StronglyCoupledBodies`]). So a backend gets all input of a step at
//! once, runs all substeps without a call back, and returns the impulses on the bodies and the
//! sums of the step. The response is linear. Contact among the bodies that opens or closes within
//! the step is therefore not followed as it is on the host
//! ([`StepReport::coupling_excess`](crate::StepReport) reports it). The particles stay on the
//! device; [`World::refresh`](crate::World::refresh) fetches them.

use std::error::Error;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_mpm::{GridMotionSums, Mpm, MpmError, PinImpulse, Totals};
use pliant_rigid::{Bodies, SpatialImpulse, StepWatch};
use serde::{Deserialize, Serialize};

use crate::body_state::{ReferencePointPath, StronglyCoupledBodies, SubstepBodyState};
use crate::contact_cache::CachedContact;
use crate::report::ContactStatistics;

/// The substeps of one step.
#[derive(Clone, Copy, Debug)]
pub struct SubstepPlan<'a> {
    /// Time at the start of the first \[s\].
    pub time: f64,
    /// How many.
    pub substeps: u32,
    /// Length of each \[s\].
    pub substep: f64,
    /// Gravity \[m/s^2\], world frame.
    pub gravity: Vector3<f64>,
    /// Reference points of the impulses on each body in the first substep: the body's origin, world
    /// frame \[m\].
    pub reference_points: &'a [Point3<f64>],
    /// Their motion, one entry per body.
    pub references: &'a [ReferencePointPath],
    /// All bodies in the first substep, then all in the second, and so on. For strongly coupled
    /// bodies only the first substep is valid; a backend computes the others.
    pub bodies: &'a [SubstepBodyState],
    /// The strongly coupled bodies.
    pub strongly_coupled: StronglyCoupledBodies<'a>,
    /// The backend counts its substeps there. If it asks to stop, the backend ends the step as soon
    /// as it can with [`BackendError::Stopped`].
    pub watch: &'a StepWatch,
}

/// What the substeps of a step did.
#[derive(Clone, Copy, Debug, Default)]
pub struct SubstepsResult {
    /// Impulses of gravity and boundary conditions in the grid's free motion, summed over the
    /// substeps; the mass is that of the last substep.
    pub free: GridMotionSums,
    /// Impulse of the pins of cloth.
    pub pins: PinImpulse,
    /// Impulse of the boundary conditions on the particles within the contact solves, about the
    /// world's origin, world frame.
    pub boundary_constraints: SpatialImpulse,
    /// Moment that the motion of the reference points adds to the impulses on bodies about the
    /// world's origin: the sum of a point's displacement since the first substep, cross the linear
    /// impulse there, world frame \[N m s\].
    pub moment_of_travel: Vector3<f64>,
    /// Work of the bodies on the particles \[J\].
    pub work: f64,
    /// The contact solves.
    pub contacts: ContactStatistics,
    /// Largest speed of a particle at the end \[m/s\].
    pub max_speed: f64,
    /// Grid nodes that carried mass in the last substep.
    pub grid_nodes: usize,
    /// Totals of the particles at the end.
    pub totals: Totals,
}

/// Velocity of a grid node after the last contact solve, from which the next one starts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeVelocity {
    /// Lattice coordinates of the node; times the grid spacing they are its position.
    pub node: [i32; 3],
    /// World frame \[m/s\].
    pub velocity: [f64; 3],
}

/// What contact keeps from one substep to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactCacheState {
    /// The last substep's contacts; those of a particle are consecutive.
    pub contacts: Vec<CachedContact>,
    /// Grid velocities after the last solve, in ascending order of the nodes.
    pub velocities: Vec<NodeVelocity>,
}

/// Why a backend could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// A particle was lost.
    #[error("substep {substep_index}: {source}")]
    Particle {
        /// Substep within the step, from 0.
        substep_index: u32,
        /// The particle, and the error.
        source: MpmError,
    },
    /// The contact problem held a number that is not finite.
    #[error("the contact problem of substep {substep_index} is not finite")]
    NotFinite {
        /// Substep within the step, from 0.
        substep_index: u32,
    },
    /// The watch of the step asked to stop.
    #[error("stopped on request before substep {substep_index}")]
    Stopped {
        /// Substep within the step, from 0.
        substep_index: u32,
    },
    /// The world has something that this backend does not support.
    #[error("the {backend} backend does not support {what}; {instead}")]
    Unsupported {
        /// What.
        what: String,
        /// The backend's name.
        backend: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// The device failed, or has too little memory.
    #[error(transparent)]
    Device(Box<dyn Error + Send + Sync>),
}

impl BackendError {
    /// A failure of the device.
    pub fn device(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Device(Box::new(error))
    }
}

/// A device with a world's particles, their grid and their contacts.
///
/// After an error the world is not to be stepped further.
pub trait Backend: Send {
    /// Runs the substeps of a step. Adds the impulses on the bodies to `impulses`, one per body,
    /// about reference points that move as the plan says, world frame. Writes the reference points
    /// after the last substep to `points` \[m\], and the last poses of the strongly coupled bodies
    /// to `left`, one for each.
    ///
    /// # Errors
    /// [`BackendError`].
    fn advance(
        &mut self,
        plan: &SubstepPlan<'_>,
        impulses: &mut [SpatialImpulse],
        points: &mut [Point3<f64>],
        left: &mut [Isometry3<f64>],
    ) -> Result<SubstepsResult, BackendError>;

    /// Takes the friction of the bodies, which was changed since the last step.
    ///
    /// # Errors
    /// [`BackendError`].
    fn take_friction(&mut self, bodies: &Bodies) -> Result<(), BackendError>;

    /// Copies the particles to the model on the host.
    ///
    /// # Errors
    /// [`BackendError`].
    fn read_particles(&mut self, mpm: &mut Mpm) -> Result<(), BackendError>;

    /// The contact cache.
    ///
    /// # Errors
    /// [`BackendError`].
    fn read_contact_cache(&mut self) -> Result<ContactCacheState, BackendError>;

    /// Takes the particles of `mpm`, whose number and materials must not have changed, and their
    /// contact cache.
    ///
    /// # Errors
    /// [`BackendError`].
    fn load(&mut self, mpm: &Mpm, memory: &ContactCacheState) -> Result<(), BackendError>;
}
