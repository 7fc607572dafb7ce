//! Contact detection: which particles touch which geometries, substep by substep.

use bytemuck::Zeroable;
use pliant_coupling::LONGEST_ARM;
use pliant_mpm::{Material, detail};

use super::arrays::{Contacts, DetectedContact};
use super::error::ContactError;
use super::geometries::DeviceGeometries;
use super::options::ContactDetectionOptions;
use crate::kernels::{
    CONTACT_NONE, CONTACT_SLOTS, CONTACT_THREADS, ClothFaces, ContactArrays, ContactBody, ContactClock,
    ContactFillParameters, ContactFindParameters, ContactPlaceParameters, ContactPlacedGeometry,
    ContactPlacement, ContactRules, ContactState, DeviceCachedContact, DeviceContactCache, ParticleRows,
};
use crate::layout::Span;
use crate::mpm::grown_capacity;
use crate::staging::Staging;
use crate::{Buffer, Commands, Device, DeviceError, Launch};

/// What there is memory for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectorCapacity {
    /// Particles; their ids are below this.
    pub particles: usize,
    /// Contacts of a substep.
    pub contacts: usize,
    /// Substeps of a step.
    pub substeps: usize,
}

/// Contacts of particles in the substeps of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContactTotals {
    /// In all substeps together.
    pub sum: u64,
    /// In a substep at most.
    pub most: u32,
}

impl From<&ContactState> for ContactTotals {
    fn from(state: &ContactState) -> Self {
        Self { sum: state.step_contacts, most: state.step_most_contacts }
    }
}

/// Finds the contacts of a substep, and caches those of the last.
#[derive(Debug)]
pub struct DeviceContactDetector {
    device: Device,
    rules: ContactRules,
    capacity: DetectorCapacity,
    body_count: usize,
    bodies: Buffer<ContactBody>,
    placed: Buffer<ContactPlacedGeometry>,
    clock: Buffer<ContactClock>,
    touched: Buffer<u32>,
    counts: Buffer<u32>,
    tiles: Buffer<u32>,
    total: Buffer<u32>,
    done: Buffer<u32>,
    /// See [`ContactFillParameters`].
    grains: Buffer<[f32; 2]>,
    contacts: Contacts,
    contact_cache: Buffer<DeviceCachedContact>,
    first: Buffer<u32>,
    state: Buffer<ContactState>,
}

impl DeviceContactDetector {
    /// Memory for contacts with these geometries; the contact cache is empty.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        device: &Device,
        geometries: &DeviceGeometries,
        options: &ContactDetectionOptions,
        capacity: DetectorCapacity,
    ) -> Result<Self, ContactError> {
        let tiles = capacity.particles.div_ceil(CONTACT_THREADS as usize).max(1);
        let mut first = device.allocate(capacity.particles)?;
        first.fill(CONTACT_NONE)?;
        Ok(Self {
            device: device.clone(),
            rules: options.rules(),
            capacity,
            body_count: geometries.bodies(),
            bodies: device.allocate(geometries.bodies() * (capacity.substeps + 1))?,
            placed: device.allocate(geometries.len())?,
            clock: device.upload(&[ContactClock::zeroed()])?,
            touched: device.allocate(capacity.particles * CONTACT_SLOTS as usize)?,
            counts: device.allocate(capacity.particles)?,
            tiles: device.allocate(tiles)?,
            total: device.allocate(1)?,
            done: device.upload(&[0])?,
            grains: device.allocate(0)?,
            contacts: Contacts::new(device, capacity.contacts)?,
            contact_cache: device.allocate(capacity.contacts)?,
            first,
            state: device.upload(&[ContactState::zeroed()])?,
        })
    }

    /// Lets particles of granular materials touch at their surface, with the friction that rough
    /// walls have; of sheets' materials, which count on from these, nothing is said.
    ///
    /// # Errors
    /// Those of the device.
    pub fn with_grains(mut self, materials: &[Material]) -> Result<Self, ContactError> {
        if materials.iter().any(detail::has_subgrid_motion) {
            let longest = |m: &Material| {
                if detail::has_subgrid_motion(m) { LONGEST_ARM * self.rules.grid_spacing } else { 0.0 }
            };
            let grain =
                |m: &Material| [longest(m), m.model.wall_friction().unwrap_or(-1.0)].map(|x| x as f32);
            self.grains = self.device.upload(&materials.iter().map(grain).collect::<Vec<_>>())?;
            self.contacts = self.contacts.with_arms(&self.device)?;
        }
        Ok(self)
    }

    /// What [`DeviceContactDetector::new`] allocates, in bytes.
    pub fn bytes_needed(geometries: &DeviceGeometries, capacity: DetectorCapacity) -> u64 {
        let DetectorCapacity { particles, contacts, substeps } = capacity;
        let tiles = particles.div_ceil(CONTACT_THREADS as usize).max(1);
        let words = particles * (CONTACT_SLOTS as usize + 2) + tiles + 2;
        let of_contacts = contacts * size_of::<DeviceCachedContact>();
        let of_bodies = geometries.bodies() * (substeps + 1) * size_of::<ContactBody>()
            + geometries.len() * size_of::<ContactPlacedGeometry>();
        let single = size_of::<ContactClock>() + size_of::<ContactState>();
        (words * size_of::<u32>() + of_contacts + of_bodies + single) as u64
            + Contacts::bytes_needed(contacts)
    }

    /// Grows the capacity for `contacts` contacts and half as many more, where there is too little;
    /// the contact cache stays. Commands are to be recorded anew.
    ///
    /// # Errors
    /// [`DeviceError::CannotGrow`], with everything as it was.
    pub fn grow(&mut self, contacts: u32) -> Result<(), ContactError> {
        let from = self.capacity.contacts;
        let to = grown_capacity(contacts, from as u32) as usize;
        if to == from {
            return Ok(());
        }
        let refuse = DeviceError::cannot_grow("contacts", from as u64, to as u64);
        let arm = if self.contacts.has_arms() { size_of::<[f32; 3]>() } else { 0 };
        let needed = Contacts::bytes_needed(to) + (to * (size_of::<DeviceCachedContact>() + arm)) as u64;
        self.device.check_free(needed).map_err(&refuse)?;
        let mut arrays = Contacts::new(&self.device, to).map_err(&refuse)?;
        if self.contacts.has_arms() {
            arrays = arrays.with_arms(&self.device).map_err(&refuse)?;
        }
        self.contact_cache.grow(to).map_err(&refuse)?;
        self.contacts = arrays;
        self.capacity.contacts = to;
        tracing::info!(from, to, "room for more contacts on the device");
        Ok(())
    }

    /// Grows the capacity for the poses of so many substeps of a step, and half as many more, where
    /// there is too little. Between steps.
    ///
    /// # Errors
    /// [`DeviceError::CannotGrow`], with everything as it was.
    pub fn grow_substeps(&mut self, substeps: u32) -> Result<(), ContactError> {
        let from = self.capacity.substeps;
        let to = grown_capacity(substeps, from as u32) as usize;
        if to == from {
            return Ok(());
        }
        let refuse = DeviceError::cannot_grow("poses of substeps", from as u64, to as u64);
        self.bodies = self.device.allocate(self.body_count * (to + 1)).map_err(refuse)?;
        self.capacity.substeps = to;
        tracing::info!(from, to, "room for more substeps' poses on the device");
        Ok(())
    }

    /// Stages the beginning of a step of substeps of `substep` \[s\]: `bodies` are all bodies in the first, then in
    /// the second, and so on. No more substeps than that may take place before the next step
    /// begins.
    ///
    /// # Errors
    /// [`ContactError::Poses`] where there are not as many as that, or more than there is memory
    /// for; those of the device.
    pub fn begin_step(
        &mut self,
        staging: &mut Staging,
        substep: f64,
        bodies: &[ContactBody],
    ) -> Result<(), ContactError> {
        if bodies.len() > self.body_count * self.capacity.substeps
            || !bodies.len().is_multiple_of(self.body_count.max(1))
        {
            let (given, bodies, substeps) = (bodies.len(), self.body_count, self.capacity.substeps);
            return Err(ContactError::Poses { given, bodies, substeps });
        }
        staging.upload(self.bodies.span(), bodies)?;
        let substeps = (bodies.len() / self.body_count.max(1)) as u32;
        let clock = ContactClock { substep: substep as f32, substep_index: 0, active: 0, substeps };
        Ok(staging.upload(self.clock.span(), &[clock])?)
    }

    /// What places the geometries.
    pub(crate) fn placement(&self, geometries: &DeviceGeometries) -> ContactPlacement {
        ContactPlacement {
            shapes: geometries.shapes(),
            bodies: self.bodies.span(),
            placed: self.placed.span(),
            grid_spacing: self.rules.grid_spacing,
            body_count: self.body_count as u32,
            unused: 0,
        }
    }

    /// Appends the launch that places the geometries for the next substep, which substeps in a row
    /// begin with; each places them for the one after it.
    pub fn issue_place(&self, commands: &mut Commands, geometries: &DeviceGeometries) {
        commands.launch(
            Launch::over(geometries.len() as u32, CONTACT_THREADS, CONTACT_THREADS),
            &ContactPlaceParameters {
                placement: self.placement(geometries),
                clock: self.clock.span(),
                state: self.state.span(),
            },
        );
    }

    /// Appends the launches that find the contacts of the next substep, which the exchange ends.
    /// `faces` are those of the cloth among the particles ([`crate::mpm::DeviceMpm::cloth_faces`]).
    /// `status` is that of the step ([`crate::mpm::DeviceMpm::status`]): in a substep beyond its
    /// limit nothing happens, there are no contacts and the contact cache stays. Where there is no
    /// room for all contacts, or a particle touches more geometries than are followed, the substep
    /// is stopped. With an empty `status` there is no limit, and contacts without room are left out
    /// ([`DeviceContactDetector::check`]).
    pub fn issue(
        &self,
        commands: &mut Commands,
        geometries: &DeviceGeometries,
        particles: ParticleRows,
        faces: ClothFaces,
        status: Span<u32>,
    ) {
        let over = Launch::over(particles.count, CONTACT_THREADS, CONTACT_THREADS);
        let find = ContactFindParameters {
            particles,
            faces,
            shapes: geometries.shapes(),
            placed: self.placed.span(),
            contact_cache: self.contact_cache(),
            clock: self.clock.span(),
            touched: self.touched.span(),
            counts: self.counts.span(),
            tiles: self.tiles.span().first(over.blocks[0]),
            total: self.total.span(),
            done: self.done.span(),
            limit: status,
            rules: self.rules,
        };
        let (grains, contacts) = (self.grains.span(), self.contacts());
        commands.launch(over, &find).launch(over, &ContactFillParameters { find, grains, contacts, status });
    }

    /// Contacts that there is memory for.
    pub fn capacity(&self) -> usize {
        self.capacity.contacts
    }

    /// Contacts of particles in the substeps of the step so far, those of nodes with grid boundary
    /// constraints not counted. Waits for the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn totals(&self) -> Result<ContactTotals, ContactError> {
        let mut state = [ContactState::zeroed()];
        self.state.download_at(0, &mut state)?;
        Ok(ContactTotals::from(&state[0]))
    }

    /// Kept from substep to substep; one element.
    pub(crate) fn state(&self) -> Span<ContactState> {
        self.state.span()
    }

    /// The contacts of the last detection.
    pub fn contacts(&self) -> ContactArrays {
        self.contacts.arrays()
    }

    /// The contact cache.
    pub fn contact_cache(&self) -> DeviceContactCache {
        DeviceContactCache {
            list: self.contact_cache.span(),
            first: self.first.span(),
            state: self.state.span(),
        }
    }

    /// The bodies, substep by substep, and as they are left after the last: what moves them on
    /// while a step goes on writes here.
    pub fn bodies(&self) -> Span<ContactBody> {
        self.bodies.span()
    }

    /// All bodies after this many substeps of the step, as far as they have been moved on: waits
    /// for the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn bodies_after(&self, substeps: u32) -> Result<Vec<ContactBody>, ContactError> {
        let mut bodies = vec![ContactBody::zeroed(); self.body_count];
        self.bodies.download_at(self.body_count * substeps as usize, &mut bodies)?;
        Ok(bodies)
    }

    /// Where in the step contact is; one element.
    pub fn clock(&self) -> Span<ContactClock> {
        self.clock.span()
    }

    /// Number of bodies.
    pub fn body_count(&self) -> u32 {
        self.body_count as u32
    }

    /// Grid spacing \[m\].
    pub fn grid_spacing(&self) -> f64 {
        self.rules.grid_spacing
    }

    /// The contact cache, to save: a particle's contacts in a row. Waits for the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn save(&self) -> Result<Vec<DeviceCachedContact>, ContactError> {
        let mut state = [ContactState::zeroed()];
        self.state.download_at(0, &mut state)?;
        let mut list = vec![DeviceCachedContact::zeroed(); state[0].cached_contacts as usize];
        self.contact_cache.download_at(0, &mut list)?;
        Ok(list)
    }

    /// Fills the contact cache with what was saved, and nothing else.
    ///
    /// # Errors
    /// [`ContactError::Capacity`] where there is no memory for it, [`ContactError::Memory`] where
    /// it is of a particle that is not there or a particle's contacts are not in a row; those of
    /// the device.
    pub fn restore(&mut self, list: &[DeviceCachedContact]) -> Result<(), ContactError> {
        if list.len() > self.capacity.contacts {
            let capacity = self.capacity.contacts as u32;
            return Err(ContactError::Capacity { contacts: list.len() as u32, capacity });
        }
        let mut first = vec![CONTACT_NONE; self.capacity.particles];
        let mut last = CONTACT_NONE;
        for (m, contact) in list.iter().enumerate() {
            if contact.particle != last {
                let entry = first.get_mut(contact.particle as usize).filter(|entry| **entry == CONTACT_NONE);
                *entry.ok_or(ContactError::Memory { entry: m, particle: contact.particle })? = m as u32;
            }
            last = contact.particle;
        }
        let max_exit_distance = list.iter().map(|m| m.exit_distance).fold(0.0, f32::max).to_bits();
        let state =
            ContactState { cached_contacts: list.len() as u32, max_exit_distance, ..ContactState::zeroed() };
        self.contact_cache.upload(list)?;
        self.first.upload(&first)?;
        Ok(self.state.upload(&[state])?)
    }

    /// Says whether all contacts so far fitted the capacity; waits for the device. After an error
    /// the step is to be done again, with more memory.
    ///
    /// # Errors
    /// [`ContactError::Capacity`], [`ContactError::TooManyGeometries`], and those of the device.
    pub fn check(&self) -> Result<(), ContactError> {
        let mut state = [ContactState::zeroed()];
        self.state.download_at(0, &mut state)?;
        let [ContactState { most_contacts, most_of_particle, .. }] = state;
        if most_contacts as usize > self.capacity.contacts {
            let capacity = self.capacity.contacts as u32;
            return Err(ContactError::Capacity { contacts: most_contacts, capacity });
        }
        if most_of_particle > CONTACT_SLOTS {
            return Err(ContactError::TooManyGeometries {
                geometries: most_of_particle,
                most: CONTACT_SLOTS,
            });
        }
        Ok(())
    }

    /// The contacts of the last substep, copied to the host.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self) -> Result<Vec<DetectedContact>, ContactError> {
        Ok(self.contacts.download()?)
    }
}
