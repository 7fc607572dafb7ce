//! A force and a torque that vary in time.

use core::f64::consts::TAU;

use nalgebra::Point3;

use super::{add_force, check_finite, check_link, fail};
use crate::multibody::{ForceVector, Kinematics, LinkId, Model, State};
use crate::simulation::{ExternalSystem, SimulationError};

/// A force \[N\] and a torque \[N m\] in time, world axes.
#[derive(Clone, Debug, PartialEq)]
pub enum Wave {
    /// `amplitude sin(2 pi frequency t + phase)`.
    Sine {
        /// Largest force and torque.
        amplitude: ForceVector,
        /// Periods a second \[Hz\].
        frequency: f64,
        /// Phase at time 0 \[rad\].
        phase: f64,
    },
    /// Linear between points, constant before the first and after the last. At two points of the
    /// same time it jumps to the second.
    PiecewiseLinear {
        /// Times \[s\], not decreasing, with force and torque.
        points: Vec<(f64, ForceVector)>,
    },
}

impl Wave {
    /// Force and torque at time `t` \[s\].
    pub fn at(&self, t: f64) -> ForceVector {
        match self {
            Self::Sine { amplitude, frequency, phase } => *amplitude * (TAU * frequency * t + phase).sin(),
            Self::PiecewiseLinear { points } => {
                let after = points.partition_point(|&(time, _)| time <= t);
                let before = after.saturating_sub(1);
                match (points.get(before), points.get(after)) {
                    (Some((t0, f0)), Some((t1, f1))) if before < after => {
                        *f0 + (*f1 - *f0) * ((t - t0) / (t1 - t0))
                    }
                    (Some((_, held)), _) => *held,
                    (None, _) => ForceVector::zero(),
                }
            }
        }
    }

    fn validate(&self) -> Result<(), SimulationError> {
        const ITEM: &str = "applied wave";
        match self {
            Self::Sine { amplitude, frequency, phase } => {
                check_finite(ITEM, "amplitude", amplitude.to_vector().as_slice(), "N or N m")?;
                check_finite(ITEM, "frequency", &[*frequency], "Hz")?;
                check_finite(ITEM, "phase", &[*phase], "rad")
            }
            Self::PiecewiseLinear { points } => {
                for (time, force) in points {
                    check_finite(ITEM, "time", &[*time], "s")?;
                    check_finite(ITEM, "force", force.to_vector().as_slice(), "N or N m")?;
                }
                match points.windows(2).find(|pair| pair[1].0 < pair[0].0) {
                    Some(pair) => fail(ITEM, "time", pair[1].0, "s", "not before the one in front of it"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// A [`Wave`] on a link, at a point of it.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedWave {
    link: LinkId,
    point: Point3<f64>,
    wave: Wave,
}

impl AppliedWave {
    /// A wave at `point` \[m\] of a link, in the link's frame: the point moves with the link, the
    /// force keeps its direction.
    ///
    /// # Errors
    /// A link that does not exist, values that are not finite, times that decrease.
    pub fn new(model: &Model, link: LinkId, point: Point3<f64>, wave: Wave) -> Result<Self, SimulationError> {
        check_link(model, "applied wave", link)?;
        check_finite("applied wave", "point", point.coords.as_slice(), "m")?;
        wave.validate()?;
        Ok(Self { link, point, wave })
    }
}

impl ExternalSystem for AppliedWave {
    fn add_forces(
        &self,
        model: &Model,
        kinematics: &Kinematics,
        state: &State,
        _: &[f64],
        forces: &mut [f64],
    ) {
        let point = kinematics.pose(self.link) * self.point;
        add_force(model, kinematics, self.link, &point.coords, &self.wave.at(state.time), forces);
    }

    fn next_event(&self, t: f64) -> Option<f64> {
        let Wave::PiecewiseLinear { points } = &self.wave else { return None };
        points.windows(2).map(|pair| (pair[0].0, pair[1].0)).find(|&(a, b)| a == b && b > t).map(|(_, b)| b)
    }
}
