//! Whole worlds on a device: the substeps of [`pliant_coupling::World`] as one recording of launches.
//!
//! ```
//! use pliant_coupling::{ParticleSet, Settings, World};
//! use pliant_cuda::{Device, backend};
//! # use nalgebra::Vector3;
//! # use pliant_coupling::Material;
//! # use pliant_mpm::material::{Elastic, Model};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # if !Device::IS_EMULATION_BUILT { return Ok(()); }
//! let mut builder = World::builder(Settings::new(0.01, 1e-3));
//! let model = Model::FixedCorotated(Elastic { youngs_modulus: 1e4, poisson_ratio: 0.3 });
//! let jelly = builder.material(Material { density: 1e3, model });
//! builder.particles(ParticleSet {
//!     positions: vec![[0.0, 0.0, 1.0].into()],
//!     velocities: vec![Vector3::zeros()],
//!     volumes: vec![1e-6],
//!     material: jelly,
//! });
//! let mut world = builder.build()?;
//! // `Device::cuda(0)` is the first GPU.
//! backend::attach(&Device::emulated(1)?, &mut world)?;
//! world.step()?;
//! # Ok(())
//! # }
//! ```

mod contact;

use pliant_coupling::{Backend, BackendError, ContactMemory, Settings, SubstepPlan, SubstepsDone, World};
use pliant_mpm::{FreeMotion, Mpm};
use pliant_rigid::SpatialImpulse;

use crate::Device;
use crate::mpm::{BlockCapacities, DeviceMpm, DeviceMpmError, StepAccount};
use contact::DeviceContact;

/// Moves a world's particles to a device, which steps them from now on.
///
/// # Errors
/// [`BackendError::Unsupported`] for tactile pads and strong coupling, [`BackendError::Device`] for all that the device refuses.
pub fn attach(device: &Device, world: &mut World) -> Result<(), BackendError> {
    let backend = DeviceBackend::new(device, world)?;
    world.attach("cuda", Box::new(backend))
}

/// A world's particles and their contacts on a device.
#[derive(Debug)]
pub struct DeviceBackend {
    device: Device,
    settings: Settings,
    mpm: DeviceMpm,
    /// Without geometries there is no contact.
    contact: Option<DeviceContact>,
}

impl DeviceBackend {
    /// A copy of the world's particles, and of what contact remembers of them.
    ///
    /// # Errors
    /// As [`attach`].
    pub fn new(device: &Device, world: &mut World) -> Result<Self, BackendError> {
        let memory = world.contact_memory()?;
        world.refresh()?;
        let settings = world.settings().clone();
        let mpm = device_mpm(device, world.mpm(), &settings)?;
        let mut contact = DeviceContact::new(device, world)?;
        if let Some(contact) = &mut contact {
            contact.remember(&memory)?;
        }
        Ok(Self { device: device.clone(), settings, mpm, contact })
    }
}

fn device_mpm(device: &Device, mpm: &Mpm, settings: &Settings) -> Result<DeviceMpm, BackendError> {
    let capacities = BlockCapacities::for_model(mpm);
    DeviceMpm::new(device, mpm, &settings.boundaries, capacities).map_err(BackendError::device)
}

impl Backend for DeviceBackend {
    fn advance(
        &mut self,
        plan: &SubstepPlan<'_>,
        impulses: &mut [SpatialImpulse],
    ) -> Result<SubstepsDone, BackendError> {
        let Self { mpm, contact, .. } = self;
        let account = match contact {
            None => mpm.advance(plan.substeps, plan.delta, plan.gravity),
            Some(contact) => {
                contact.begin_step(plan, &self.settings)?;
                let (particles, nodes, status) = (mpm.particles().rows(), mpm.grid().nodes(), mpm.status());
                let contact = &*contact;
                mpm.advance_with(plan.substeps, plan.delta, plan.gravity, &|commands, _| {
                    contact.issue(commands, particles, nodes, status);
                })
            }
        }
        .map_err(step_error)?;
        let mut done = SubstepsDone {
            free: free_motion(&account),
            max_speed: account.max_speed,
            ..SubstepsDone::default()
        };
        if let Some(contact) = contact {
            contact.end_step(impulses, &mut done)?;
        }
        Ok(done)
    }

    fn read_particles(&mut self, mpm: &mut Mpm) -> Result<(), BackendError> {
        self.mpm.particles().write_back(mpm).map_err(BackendError::device)
    }

    fn read_memory(&mut self) -> Result<ContactMemory, BackendError> {
        self.contact.as_ref().map_or_else(|| Ok(ContactMemory::default()), DeviceContact::memory)
    }

    fn load(&mut self, mpm: &Mpm, memory: &ContactMemory) -> Result<(), BackendError> {
        self.mpm = device_mpm(&self.device, mpm, &self.settings)?;
        self.contact.as_mut().map_or(Ok(()), |contact| contact.remember(memory))
    }
}

fn step_error(error: DeviceMpmError) -> BackendError {
    match error {
        DeviceMpmError::Mpm(source) => BackendError::Particle { substep: 0, source },
        other => BackendError::device(other),
    }
}

fn free_motion(account: &StepAccount) -> FreeMotion {
    FreeMotion {
        mass: account.mass,
        gravity: account.gravity,
        boundary: account.boundary,
        work: account.work,
    }
}
