//! Whole worlds on a device: the substeps of [`pliant_coupling::World`] as one recording of
//! launches.
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
//! let model = Model::FixedCorotated(Elastic { youngs_modulus: 1e4, poissons_ratio: 0.3 });
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

mod capacity;
mod contact;

use nalgebra::{Isometry3, Point3};
use pliant_coupling::convex::Direction;
use pliant_coupling::{
    Backend, BackendError, ContactCacheState, Settings, SubstepPlan, SubstepsResult, World, Worlds,
};
use pliant_mpm::{GridMotionSums, Mpm};
use pliant_rigid::{Bodies, SpatialImpulse};

use crate::convex::has_direction;
use crate::kernels::{ClothFaces, GridNodes, ParticleRows};
use crate::layout::Span;
use crate::mpm::{
    Advance, BlockCapacities, CommandCount, DeviceMpm, DeviceMpmError, StopCause, Stopped, SubstepCommands,
};
use crate::{Commands, Device};
pub use capacity::InitialCapacity;
use contact::DeviceContact;

/// Moves a world's particles to a device, which steps them from now on.
///
/// # Errors
/// [`BackendError::Unsupported`] for what [`World::attach`] refuses and for directions of the solver that a
/// device does not have ([`has_direction`]), [`BackendError::Device`] for all that the device refuses.
pub fn attach(device: &Device, world: &mut World) -> Result<(), BackendError> {
    world.reset_grid_frame().map_err(BackendError::device)?;
    let backend = DeviceBackend::new(device, world, InitialCapacity::default())?;
    world.attach("cuda", Box::new(backend))
}

/// Moves the particles of each world to the device, with a queue and memory of its own
/// ([`Device::queue`]), so that worlds see nothing of each other and threads that step several at
/// once do not wait for each other. Each takes the same steps, with the same bits, as alone.
///
/// # Errors
/// As [`attach`]; the worlds before the one that was refused are on the device.
pub fn attach_worlds(device: &Device, worlds: &mut Worlds) -> Result<(), BackendError> {
    worlds.iter_mut().try_for_each(|world| {
        let queue = device.queue().map_err(BackendError::device)?;
        attach(&queue, world)
    })
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
    /// A copy of the world's particles, and of their contact cache.
    ///
    /// # Errors
    /// As [`attach`].
    pub fn new(device: &Device, world: &mut World, capacity: InitialCapacity) -> Result<Self, BackendError> {
        let cache = world.contact_cache_state()?;
        world.refresh()?;
        let settings = world.settings().clone();
        check_direction(settings.solver.direction)?;
        check_ropes(world.mpm())?;
        check_pins(world.mpm())?;
        let mpm = device_mpm(device, world.mpm(), &settings)?;
        let mut contact = DeviceContact::new(device, world, &mpm, capacity)?;
        if let Some(contact) = &mut contact {
            contact.remember(&cache, &mpm)?;
        }
        Ok(Self { device: device.clone(), settings, mpm, contact })
    }
}

/// Another direction that was asked for would be ignored.
fn check_direction(direction: Direction) -> Result<(), BackendError> {
    if has_direction(direction) {
        return Ok(());
    }
    Err(BackendError::Unsupported {
        what: format!("solver.direction {direction:?}"),
        backend: "cuda",
        instead: "leave it out (newton_cg, the same solution), or use the cpu backend",
    })
}

/// Smallest distance of two pins of a sheet at the start, in grid spacings.
///
/// The device takes eight Gauss-Seidel sweeps over the pins. Of pins a grid spacing apart these leave
/// nothing; of edges and clamps in a finer mesh they leave what pulls the sheet out of shape.
const NEAREST_PINS: f64 = 0.9;

/// A device has no frames of ropes.
fn check_ropes(mpm: &Mpm) -> Result<(), BackendError> {
    if mpm.ropes().is_empty() {
        return Ok(());
    }
    Err(BackendError::Unsupported {
        what: "a rope".to_owned(),
        backend: "cuda",
        instead: "leave it out, or use the cpu backend",
    })
}

/// Pins that the device's sweeps do not solve for are refused.
fn check_pins(mpm: &Mpm) -> Result<(), BackendError> {
    let limit = NEAREST_PINS * mpm.grid_spacing();
    for sheet in 0..mpm.sheets().len() {
        let of_sheet = || mpm.pins().filter(move |(of, _)| *of == sheet).map(|(_, pin)| pin);
        for (number, pin) in of_sheet().enumerate() {
            for other in of_sheet().take(number) {
                let distance = (pin.position(0.0) - other.position(0.0)).norm();
                if distance < limit {
                    return Err(BackendError::Unsupported {
                        what: format!(
                            "pins of cloth that are {distance} m apart (vertices {} and {}), below {limit} m",
                            other.vertex(),
                            pin.vertex()
                        ),
                        backend: "cuda",
                        instead: "use a coarser mesh or a finer grid, or the cpu backend",
                    });
                }
            }
        }
    }
    Ok(())
}

fn device_mpm(device: &Device, mpm: &Mpm, settings: &Settings) -> Result<DeviceMpm, BackendError> {
    let capacities = BlockCapacities::for_model(mpm);
    let boundaries = &settings.boundaries;
    let mut device_mpm = DeviceMpm::new(device, mpm, boundaries, capacities).map_err(BackendError::device)?;
    device_mpm.set_transfer(settings.transfer);
    Ok(device_mpm)
}

/// What contact adds to the commands of a substep.
struct ContactCommands<'a> {
    contact: Option<&'a DeviceContact>,
    particles: ParticleRows,
    faces: ClothFaces,
    grid: GridNodes,
    status: Span<u32>,
}

impl<'a> ContactCommands<'a> {
    fn of(contact: Option<&'a DeviceContact>, mpm: &DeviceMpm) -> Self {
        let (particles, faces) = (mpm.particles().rows(), mpm.cloth_faces());
        Self { contact, particles, faces, grid: mpm.grid().nodes(), status: mpm.status() }
    }
}

impl SubstepCommands for ContactCommands<'_> {
    fn begin(&self, commands: &mut Commands) {
        if let Some(contact) = self.contact {
            contact.issue_begin(commands);
        }
    }

    fn add(&self, commands: &mut Commands, _: u32) {
        if let Some(contact) = self.contact {
            contact.issue(commands, self.particles, self.faces, self.grid, self.status);
        }
    }
}

impl DeviceBackend {
    /// Runs the substeps of a step that is not begun, or stopped at the one before; true once all
    /// have run.
    fn run(&mut self, plan: &SubstepPlan<'_>, is_begun: bool) -> Result<Advance, BackendError> {
        let mpm = &mut self.mpm;
        if let Some(contact) = &mut self.contact {
            contact.stage_results(mpm.staging(), plan);
        }
        let hook = ContactCommands::of(self.contact.as_ref(), mpm);
        let advance = if is_begun {
            mpm.resume(&hook)
        } else {
            mpm.advance_with(plan.substeps, plan.substep, plan.gravity, &hook)
        };
        advance.map_err(step_error)
    }

    /// What a step costs in commands.
    pub fn count_commands(&self) -> CommandCount {
        self.mpm.count_commands(&ContactCommands::of(self.contact.as_ref(), &self.mpm))
    }

    /// Grows the capacity for what a step stopped for.
    fn grow_blocks(&mut self, stopped: &Stopped) -> Result<(), BackendError> {
        match (&mut self.contact, stopped.cause) {
            (_, StopCause::NotFinite) => {
                Err(BackendError::NotFinite { substep_index: stopped.substep_index })
            }
            (Some(contact), cause) if !is_of_blocks(cause) => contact.grow_blocks(stopped, &self.mpm),
            _ => {
                self.mpm.grow_blocks(stopped).map_err(BackendError::device)?;
                let contact = self.contact.as_mut();
                contact.map_or(Ok(()), |contact| contact.follow_grid(&self.mpm))
            }
        }
    }
}

/// Whether a step stopped for blocks of particles or nodes.
fn is_of_blocks(cause: StopCause) -> bool {
    matches!(cause, StopCause::ParticleBlocks { .. } | StopCause::NodeBlocks { .. })
}

impl Backend for DeviceBackend {
    fn advance(
        &mut self,
        plan: &SubstepPlan<'_>,
        impulses: &mut [SpatialImpulse],
        points: &mut [Point3<f64>],
        left: &mut [Isometry3<f64>],
    ) -> Result<SubstepsResult, BackendError> {
        self.mpm.staging().forget();
        if let Some(contact) = &mut self.contact
            && contact.begin_step(self.mpm.staging(), plan, &self.settings)?
        {
            self.mpm.forget_recording();
        }
        self.mpm.set_time(plan.time);
        self.mpm.set_watch(plan.watch.clone());
        let mut advance = self.run(plan, false)?;
        let balance = loop {
            match advance {
                Advance::Done(balance) => break balance,
                Advance::Stopped(stopped) => self.grow_blocks(&stopped)?,
            }
            advance = self.run(plan, true)?;
        };
        let mut done = SubstepsResult {
            free: GridMotionSums {
                mass: balance.mass,
                gravity: balance.gravity,
                boundary: balance.boundary,
                work: balance.work,
                boundary_work: None,
            },
            max_speed: balance.max_speed,
            grid_nodes: balance.active_nodes,
            totals: balance.totals,
            pins: balance.pins,
            ..SubstepsResult::default()
        };
        if let Some(contact) = &mut self.contact {
            contact.end_step(self.mpm.staging(), plan, impulses, points, left, &mut done);
        }
        Ok(done)
    }

    fn read_particles(&mut self, mpm: &mut Mpm) -> Result<(), BackendError> {
        self.mpm.particles().write_back(mpm).map_err(BackendError::device)?;
        mpm.set_last_substep(self.mpm.last_substep());
        Ok(())
    }

    fn read_contact_cache(&mut self) -> Result<ContactCacheState, BackendError> {
        self.contact.as_ref().map_or_else(|| Ok(ContactCacheState::default()), DeviceContact::cache)
    }

    fn take_friction(&mut self, bodies: &Bodies) -> Result<(), BackendError> {
        self.contact.as_mut().map_or(Ok(()), |contact| contact.take_friction(bodies))
    }

    fn load(&mut self, mpm: &Mpm, cache: &ContactCacheState) -> Result<(), BackendError> {
        self.mpm = device_mpm(&self.device, mpm, &self.settings)?;
        let Some(contact) = &mut self.contact else { return Ok(()) };
        contact.remember(cache, &self.mpm)
    }
}

fn step_error(error: DeviceMpmError) -> BackendError {
    match error {
        DeviceMpmError::StoppedOnRequest { substep_index } => BackendError::Stopped { substep_index },
        DeviceMpmError::Lost { substep_index, source } => BackendError::Particle { substep_index, source },
        other => BackendError::device(other),
    }
}
