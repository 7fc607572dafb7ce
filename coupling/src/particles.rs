//! The backend that takes the particles through the substeps of a coupling step: the processor or a
//! device.

use nalgebra::Vector3;
use pliant_mpm::{Dissipated, GridMotionSums, Mpm, MpmError, PinImpulse, Totals};
use pliant_rigid::{Bodies, RigidError, SpatialImpulse, StepWatch};

use crate::backend::{BackendError, ContactCacheState};
use crate::body_impulses::BodyImpulses;
use crate::contact_stage::ContactStage;
use crate::error::{StepError, of_bodies};
use crate::exchange::ExchangeTotals;
use crate::momentum_balance::BalanceTracker;
use crate::motion::BodyMotion;
use crate::report::ContactStatistics;
use crate::settings::Settings;

/// Impulses, work and losses of one substep, or of several on a device.
pub(crate) struct SubstepFlows<'a> {
    pub free: &'a GridMotionSums,
    /// None without contact.
    pub exchanged: Option<&'a ExchangeTotals>,
    /// None where it was not measured.
    pub dissipated: Option<&'a Dissipated>,
    pub pins: &'a PinImpulse,
}

/// The momentum and energy balance, and the sums of a step.
pub(crate) struct Sums<'a> {
    pub balance_tracker: &'a mut BalanceTracker,
    /// Of the grid's boundary conditions and of pins on the particles, over the step.
    pub boundary_impulse: &'a mut SpatialImpulse,
    /// Over the coupling step.
    pub contacts: &'a mut ContactStatistics,
}

impl Sums<'_> {
    /// Adds what a substep did.
    pub(crate) fn add(&mut self, flows: &SubstepFlows<'_>) {
        self.balance_tracker.free_motion(flows.free);
        self.add_boundary(flows.free.boundary.linear, flows.free.boundary.angular);
        if let Some(exchanged) = flows.exchanged {
            self.balance_tracker.contact(exchanged);
            self.add_boundary(exchanged.boundary.linear, exchanged.boundary.angular);
            self.add_pins(&exchanged.pins);
        }
        if let Some(dissipated) = flows.dissipated {
            self.balance_tracker.dissipated(dissipated);
            self.balance_tracker.drag(&dissipated.drag);
        }
        self.add_pins(flows.pins);
    }

    fn add_pins(&mut self, pins: &PinImpulse) {
        self.balance_tracker.pins(pins);
        self.add_boundary(pins.impulse.linear, pins.impulse.angular);
    }

    fn add_boundary(&mut self, linear: Vector3<f64>, angular: Vector3<f64>) {
        self.boundary_impulse.linear += linear;
        self.boundary_impulse.angular += angular;
    }
}

/// The parts of a world that a coupling step's substeps read and change.
pub(crate) struct SubstepRun<'a> {
    pub settings: &'a Settings,
    pub mpm: &'a mut Mpm,
    pub bodies: &'a mut Bodies,
    pub motion: &'a mut BodyMotion,
    pub contact: &'a mut ContactStage,
    pub impulses: &'a mut BodyImpulses,
    pub sums: Sums<'a>,
    /// Counts the substeps, and may stop them.
    pub watch: &'a StepWatch,
    /// Number of the step, and time at the start of the coupling step \[s\].
    pub step: u64,
    pub time: f64,
    /// Length of the coupling step, for which the bodies are prepared \[s\].
    pub coupling_step: f64,
    /// Number of substeps, and the length of each \[s\]. Their product may differ from the coupling step
    /// by rounding.
    pub count: u32,
    pub substep: f64,
}

impl SubstepRun<'_> {
    /// Time at the start of substep `k` \[s\].
    pub(crate) fn time_of(&self, k: u32) -> f64 {
        self.time + f64::from(k) * self.substep
    }

    /// Ends the step before substep `k` if its watch asks for it.
    pub(crate) fn check_watch(&self, k: u32) -> Result<(), StepError> {
        if self.watch.is_stopped() {
            return Err(StepError::Stopped { step: self.step, time: self.time_of(k) });
        }
        Ok(())
    }

    pub(crate) fn rigid_error(&self, error: RigidError) -> StepError {
        of_bodies(self.step, self.time, error)
    }

    /// The error of a step that lost a particle in substep `k`.
    pub(crate) fn particle_error(&self, k: u32, error: MpmError) -> StepError {
        let MpmError::LostParticle { id, position, velocity } = error else {
            return StepError::Mpm { step: self.step, source: error };
        };
        let (limit, substep) = (self.mpm.stable_substep_at_rest(), self.substep);
        let (gravity, spacing) = (self.settings.gravity.norm(), self.settings.grid_spacing);
        let cells = (velocity - self.mpm.grid_velocity()).norm() * substep / spacing;
        let cause = if substep > limit {
            format!(
                "the substep of {substep:.3e} s is longer than {limit:.3e} s, the stability limit of these materials"
            )
        } else if gravity * substep > spacing / substep {
            format!("with gravity of {gravity:.3e} m/s^2 a particle at rest crosses a cell within a substep")
        } else if velocity.iter().all(|v| v.is_finite()) {
            format!("it crosses {cells:.1} cells per substep; use a smaller dt or more substeps")
        } else {
            "its deformation diverged; use a smaller dt or more substeps".to_owned()
        };
        let time = self.time_of(k);
        StepError::BlewUp { step: self.step, substep_index: k, time, particle: id, position, velocity, cause }
    }
}

/// Takes the particles of a world through its substeps.
pub(crate) trait ParticleBackend: Send {
    /// Whether the particles and their grid are on the host at every substep.
    fn is_host(&self) -> bool;

    /// Begins a coupling step.
    fn begin(&mut self, mpm: &mut Mpm);

    /// Runs the substeps of a coupling step. Returns the deviation of the bodies' motion from the
    /// one that the substeps assumed, relative to its limit \[-\].
    fn advance(&mut self, world: &mut SubstepRun<'_>) -> Result<f64, StepError>;

    /// Bounds on the speeds of the particles relative to two velocities \[m/s\].
    fn max_speeds(&self, mpm: &Mpm, relative_to: [&Vector3<f64>; 2]) -> [f64; 2];

    /// Grid nodes that carried mass in the last substep.
    fn grid_nodes(&self, mpm: &Mpm) -> usize;

    /// Totals of the particles now.
    fn totals(&self, mpm: &Mpm, scratch: &mut Vec<Totals>) -> Totals;

    /// Brings the particles on the host up to date.
    fn refresh(&mut self, mpm: &mut Mpm) -> Result<(), BackendError>;

    /// The contact cache.
    fn contact_cache_state(&mut self, host: &ContactStage) -> Result<ContactCacheState, BackendError>;

    /// The backend of a branch of the world; its own name where it cannot be copied.
    fn branch(&self) -> Result<Box<dyn ParticleBackend>, &'static str>;

    /// Takes over the particles and contacts that the host has now.
    fn load(&mut self, mpm: &Mpm, host: &ContactStage) -> Result<(), BackendError>;
}
