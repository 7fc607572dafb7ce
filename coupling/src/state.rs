//! Saving and restoring a world's state: a restored world continues bit for bit.

use std::io::{Read, Write};

use nalgebra::Isometry3;
use pliant_rigid::SpatialImpulse;
use pliant_rigid::simulation::Snapshot;
use serde::{Deserialize, Serialize};

use crate::backend::{ContactCacheState, NodeVelocity};
use crate::contact_cache::CachedContact;
use crate::error::StateError;
use crate::fingerprint::Fingerprint;
use crate::momentum_balance::BalanceTracker;
use crate::motion::LastStep;
use crate::saved_pin::SavedPin;
use crate::steady_substep::SteadySubstep;
use crate::world::World;

/// Version of the format.
const VERSION: u32 = 18;

/// Largest header that is accepted \[bytes\].
const LARGEST_HEADER: u64 = 1 << 32;

/// Everything that changes, except the particles.
#[derive(Serialize, Deserialize)]
struct Header {
    version: u32,
    /// What it belongs to.
    world: Fingerprint,
    step: u64,
    bodies: Snapshot,
    contacts: Vec<CachedContact>,
    /// Velocities that the last contact solve left on the grid.
    velocities: Vec<NodeVelocity>,
    /// Impulses of the last step, one per body, and those of a whole step at the rate of its last
    /// coupling step.
    impulses: Vec<SpatialImpulse>,
    /// Of contact between bodies in the last step, one per body.
    contact_impulses: Vec<SpatialImpulse>,
    expected: Vec<SpatialImpulse>,
    /// Last poses of the strongly coupled bodies in the substeps.
    substep_states: Vec<Option<Isometry3<f64>>>,
    /// What the last step left of each body.
    last: Vec<LastStep>,
    balance_tracker: BalanceTracker,
    steady_substep: SteadySubstep,
    pins: Vec<SavedPin>,
}

/// What headers of all versions have.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

fn malformed(reason: impl ToString) -> StateError {
    StateError::Malformed { reason: reason.to_string() }
}

impl World {
    /// Writes everything that changes in time: bodies, particles, contacts, balances.
    ///
    /// # Errors
    /// [`StateError`] if the world failed, or if writing failed.
    pub fn write_state(&mut self, out: &mut impl Write) -> Result<(), StateError> {
        if let Some(cause) = &self.failure {
            return Err(StateError::Failed { cause: cause.clone() });
        }
        self.refresh()?;
        let memory = self.contact_cache_state()?;
        let (substep_states, last) = self.motion.left();
        let header = Header {
            version: VERSION,
            world: Fingerprint::of(self),
            step: self.step,
            bodies: self.bodies.save(),
            impulses: self.impulses.step.clone(),
            contact_impulses: self.impulses.contacts.clone(),
            expected: self.impulses.expected.clone(),
            substep_states: substep_states.to_vec(),
            last: last.to_vec(),
            contacts: memory.contacts,
            velocities: memory.velocities,
            balance_tracker: self.balance_tracker,
            steady_substep: self.steady_substep,
            pins: SavedPin::all(&self.mpm),
        };
        let json = serde_json::to_vec(&header).map_err(malformed)?;
        out.write_all(&(json.len() as u64).to_le_bytes())?;
        out.write_all(&json)?;
        self.mpm.write_state(out).map_err(malformed)
    }

    /// Takes the state of another world of the same model and step. What may change between steps
    /// (gravity, friction, gains, loads, masses) is not in a state, and stays as it is here. A world that
    /// failed can be stepped again afterwards.
    ///
    /// # Errors
    /// [`StateError`] if it cannot be read or does not fit. [`StateError::Foreign`] says what
    /// differs, and leaves the world unchanged. After any other the world may hold a part of the
    /// state, and its steps are refused until a state was read.
    pub fn read_state(&mut self, input: &mut impl Read) -> Result<(), StateError> {
        let mut length = [0; 8];
        input.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        if length > LARGEST_HEADER {
            return Err(malformed(format!("a header of {length} bytes")));
        }
        let mut json = Vec::new();
        input.take(length).read_to_end(&mut json)?;
        // Headers of other versions have other fields.
        let Version { version } = serde_json::from_slice(&json).map_err(malformed)?;
        if version != VERSION {
            return Err(malformed(format!("version {version}, not {VERSION}")));
        }
        let header: Header = serde_json::from_slice(&json).map_err(malformed)?;
        Fingerprint::of(self).check(&header.world)?;
        let taken = self.take_state(header, input);
        self.failure = taken.as_ref().err().map(ToString::to_string);
        taken
    }

    /// Everything of a state behind its fingerprint.
    fn take_state(&mut self, header: Header, input: &mut impl Read) -> Result<(), StateError> {
        self.mpm.read_state(input).map_err(malformed)?;
        SavedPin::restore(header.pins, &mut self.mpm).map_err(malformed)?;
        self.bodies.restore(&header.bodies).map_err(malformed)?;
        let cache = ContactCacheState { contacts: header.contacts, velocities: header.velocities };
        self.contact.restore(cache).map_err(malformed)?;
        let bodies = self.impulses.current.len();
        let counts = [&header.impulses, &header.contact_impulses, &header.expected].map(Vec::len);
        if counts != [bodies; 3] || !self.motion.restore(header.substep_states, header.last) {
            return Err(malformed("it belongs to other bodies"));
        }
        if !self.backend.is_host() {
            self.reset_grid_frame().map_err(malformed)?;
        }
        self.backend.load(&self.mpm, &self.contact)?;
        self.impulses.step = header.impulses;
        self.impulses.contacts = header.contact_impulses;
        self.impulses.expected = header.expected;
        self.balance_tracker = header.balance_tracker;
        self.steady_substep = header.steady_substep;
        self.step = header.step;
        self.time = header.step as f64 * self.settings.dt;
        Ok(())
    }
}
