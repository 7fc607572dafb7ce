//! Strongly coupled bodies: where contact sees them from one substep to the next.

use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion};
use pliant_coupling::SubstepPlan;
use pliant_rigid::SpatialVelocity;

use super::detector::DeviceContactDetector;
use super::error::ContactError;
use super::exchange::DeviceExchange;
use crate::kernels::{CONTACT_THREADS, ContactBody, ContactMoveBodiesParameters, ContactStrongBodies};
use crate::{Buffer, Commands, Device, DeviceError, Launch};

/// The response of the strongly coupled bodies of a step.
#[derive(Debug)]
pub struct DeviceStronglyCoupledBodies {
    bodies: Buffer<u32>,
    mobility: Buffer<f64>,
    start: Buffer<f64>,
    gain: Buffer<f64>,
    lag: Buffer<f64>,
    step: Buffer<[f64; 2]>,
}

impl DeviceStronglyCoupledBodies {
    /// Memory for this many strongly coupled bodies.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Device, bodies: usize) -> Result<Self, DeviceError> {
        let unknowns = 6 * bodies;
        Ok(Self {
            bodies: device.allocate(bodies)?,
            mobility: device.allocate(unknowns * unknowns)?,
            start: device.allocate(unknowns)?,
            gain: device.allocate(unknowns)?,
            lag: device.allocate(unknowns)?,
            step: device.allocate(1)?,
        })
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Begins a step, of as many strongly coupled bodies as there is memory for.
    ///
    /// # Errors
    /// Those of the device.
    pub fn begin_step(&mut self, plan: &SubstepPlan<'_>) -> Result<(), ContactError> {
        let strongly_coupled = &plan.strongly_coupled;
        let lag: Vec<f64> = strongly_coupled
            .lag
            .iter()
            .flat_map(|lag| lag.angular.iter().chain(&lag.linear))
            .copied()
            .collect();
        self.bodies.upload(&strongly_coupled.bodies.iter().map(|id| id.0 as u32).collect::<Vec<_>>())?;
        self.mobility.upload(strongly_coupled.mobility)?;
        self.start.upload(strongly_coupled.start)?;
        self.gain.upload(strongly_coupled.gain)?;
        self.lag.upload(&lag)?;
        Ok(self.step.upload(&[[f64::from(plan.substeps), plan.substep]])?)
    }

    /// Appends the launch that moves the bodies on to the next substep, by what the exchange has
    /// given them in the step so far.
    pub fn issue(
        &self,
        commands: &mut Commands,
        detector: &DeviceContactDetector,
        exchange: &DeviceExchange,
    ) {
        if self.is_empty() {
            return;
        }
        commands.launch(
            Launch::over(self.len() as u32, CONTACT_THREADS, CONTACT_THREADS),
            &ContactMoveBodiesParameters {
                strongly_coupled: ContactStrongBodies {
                    bodies: self.bodies.span(),
                    mobility: self.mobility.span(),
                    start: self.start.span(),
                    gain: self.gain.span(),
                    lag: self.lag.span(),
                    step: self.step.span(),
                },
                totals: exchange.totals(),
                bodies: detector.bodies(),
                clock: detector.clock(),
                body_count: detector.body_count(),
                unused: 0,
            },
        );
    }
}

impl ContactBody {
    /// A body that is at `pose` with this `velocity` in a substep (world frame), and whose impulses
    /// are about `origin`.
    pub fn new(origin: &Point3<f64>, pose: &Isometry3<f64>, velocity: &SpatialVelocity) -> Self {
        let rotation = pose.rotation.quaternion();
        Self {
            origin: origin.coords.into(),
            translation: pose.translation.vector.into(),
            rotation: [rotation.w, rotation.i, rotation.j, rotation.k],
            angular: velocity.angular.into(),
            linear: velocity.linear.into(),
        }
    }

    /// Where the body is, world frame.
    pub fn pose(&self) -> Isometry3<f64> {
        let [w, x, y, z] = self.rotation;
        // As it was given: rounding is not to be taken out here and not on the host.
        let rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
        Isometry3::from_parts(Translation3::from(self.translation), rotation)
    }
}
