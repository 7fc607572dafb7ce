//! Strongly coupled bodies: where contact sees them from one substep to the next.

use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion};
use pliant_coupling::SubstepPlan;
use pliant_rigid::SpatialVelocity;

use super::detector::DeviceContactDetector;
use super::error::ContactError;
use super::exchange::DeviceExchange;
use super::geometries::DeviceGeometries;
use crate::kernels::{CONTACT_THREADS, ContactBody, ContactMoveBodiesParameters, ContactStrongBodies};
use crate::staging::Staging;
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

    /// Stages the beginning of a step, of as many strongly coupled bodies as there is memory for.
    ///
    /// # Errors
    /// Those of the device.
    pub fn begin_step(&mut self, staging: &mut Staging, plan: &SubstepPlan<'_>) -> Result<(), ContactError> {
        let strongly_coupled = &plan.strongly_coupled;
        let lag: Vec<f64> = strongly_coupled
            .lag
            .iter()
            .flat_map(|lag| lag.angular.iter().chain(&lag.linear))
            .copied()
            .collect();
        let bodies: Vec<_> = strongly_coupled.bodies.iter().map(|id| id.0 as u32).collect();
        staging.upload(self.bodies.span(), &bodies)?;
        staging.upload(self.mobility.span(), strongly_coupled.mobility)?;
        staging.upload(self.start.span(), strongly_coupled.start)?;
        staging.upload(self.gain.span(), strongly_coupled.gain)?;
        staging.upload(self.lag.span(), &lag)?;
        Ok(staging.upload(self.step.span(), &[[f64::from(plan.substeps), plan.substep]])?)
    }

    /// Appends the launch that moves the bodies on to the next substep, by what the exchange has
    /// given them in the step so far.
    pub fn issue(
        &self,
        commands: &mut Commands,
        geometries: &DeviceGeometries,
        detector: &DeviceContactDetector,
        exchange: &DeviceExchange,
    ) {
        if self.is_empty() {
            return;
        }
        commands.launch(
            Launch::new(self.len() as u32, CONTACT_THREADS),
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
                placement: detector.placement(geometries),
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
