//! What acts along a transmission: a tendon, or the length that a drive changes.

use super::actuator::clamped_line;
use super::constraint::{ConstraintPotential, Evaluation};
use super::holonomic::HolonomicPotential;
use super::joint_friction::JointFrictionPotential;
use super::limit::LimitPotential;

/// A spring that is slack between two lengths, and a damper, both at the end of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TendonSpring {
    /// Length at the start \[m, rad\].
    pub length: f64,
    /// Lengths between which it is slack \[m, rad\].
    pub rest: [f64; 2],
    /// Stiffness \[N/m, N m/rad\].
    pub stiffness: f64,
    /// Damping \[N s/m, N m s/rad\].
    pub damping: f64,
    /// The step \[s\].
    pub dt: f64,
    /// Weight of the end of the step.
    pub weight: f64,
}

impl TendonSpring {
    fn stretch(&self, length: f64) -> f64 {
        length - length.clamp(self.rest[0], self.rest[1])
    }
}

impl ConstraintPotential<1> for TendonSpring {
    fn response(&self, v: &[f64; 1]) -> Evaluation<1> {
        let Self { length, stiffness, damping, dt, weight, .. } = *self;
        let (stretch, start) = (self.stretch(length + dt * v[0]), self.stretch(length));
        let potential = 0.5 * (stiffness * (stretch * stretch - start * start) + dt * damping * v[0] * v[0]);
        let bend = if stretch == 0.0 { 0.0 } else { dt * stiffness };
        Evaluation {
            potential: weight * potential,
            impulse: [-weight * dt * (stiffness * stretch + damping * v[0])],
            hessian: [[weight * dt * (bend + damping)]],
        }
    }
}

/// A drive whose force falls linearly with the velocity, `clamp(b - K v, low, high)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrivePotential {
    /// Force at no velocity, b \[N, N m\].
    pub effort: f64,
    /// K, at least 0 \[N s/m, N m s\].
    pub gain: f64,
    /// Least and greatest force \[N, N m\].
    pub range: [f64; 2],
    /// The step, times the weight of its end \[s\].
    pub dt: f64,
}

impl ConstraintPotential<1> for DrivePotential {
    fn response(&self, v: &[f64; 1]) -> Evaluation<1> {
        clamped_line(self.effort, self.gain, self.range, self.dt, v[0])
    }
}

/// What acts along a transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TransmissionPotential {
    /// Spring and damper of a tendon.
    Spring(TendonSpring),
    /// A limit of its length.
    Limit(LimitPotential),
    /// Its dry friction.
    Friction(JointFrictionPotential),
    /// A length that it is held at.
    Hold(HolonomicPotential),
    /// A drive.
    Drive(DrivePotential),
}

impl ConstraintPotential<1> for TransmissionPotential {
    fn response(&self, v: &[f64; 1]) -> Evaluation<1> {
        match self {
            Self::Spring(potential) => potential.response(v),
            Self::Limit(potential) => potential.response(v),
            Self::Friction(potential) => potential.response(v),
            Self::Hold(potential) => potential.response(v),
            Self::Drive(potential) => potential.response(v),
        }
    }

    fn secant(&self, v: &[f64; 1]) -> [[f64; 1]; 1] {
        match self {
            Self::Spring(potential) => potential.secant(v),
            Self::Limit(potential) => potential.secant(v),
            Self::Friction(potential) => potential.secant(v),
            Self::Hold(potential) => potential.secant(v),
            Self::Drive(potential) => potential.secant(v),
        }
    }
}
