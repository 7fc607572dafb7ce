//! Drives: actuators of MuJoCo's force law, on joints, tendons and sites.
//!
//! With the length l and velocity l' of its transmission and an input u a drive pushes along the
//! transmission with `p = gain(l, l') u + bias(l, l')`, clamped to its range (MuJoCo's
//! documentation, Computation, Actuation model). The input is the control or an activation, which
//! follows the control and is kept with the states of external systems.

use nalgebra::Isometry3;

use super::super::error::SimulationError;
use super::muscle::{ActivationTimes, Muscle};
use super::tendon::Tendon;
use crate::multibody::{ForceVector, LinkId, Model};

/// An actuator on a joint, a tendon or a place of a link. Units of a joint or tendon with lengths in
/// metres; rad and N m replace m and N for others.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// Name.
    pub name: String,
    /// What it moves.
    pub transmission: Transmission,
    /// Force for each unit of the input \[N\].
    pub gain: ForceLaw,
    /// Force without input \[N\].
    pub bias: ForceLaw,
    /// What the input is.
    pub activation: Activation,
    /// The control.
    pub control: f64,
    /// Least and greatest control; infinite without a limit.
    pub control_range: [f64; 2],
    /// Least and greatest force \[N\]; infinite without a limit.
    pub force_range: [f64; 2],
    /// Least and greatest activation; infinite without a limit.
    pub activation_range: [f64; 2],
    /// Activation at the start of a simulation.
    pub start: f64,
    /// Whether the force of a step has the activation at its end instead of its beginning.
    pub early: bool,
}

/// What a drive moves.
#[derive(Clone, Debug, PartialEq)]
pub enum Transmission {
    /// A degree of freedom of a joint with coordinates.
    Joint {
        /// The link whose joint it is.
        link: LinkId,
        /// Which degree of freedom.
        dof: usize,
        /// Length and force for one of the joint.
        gear: f64,
    },
    /// A tendon.
    Tendon {
        /// Its index in the system.
        tendon: usize,
        /// Length and force for one of the tendon.
        gear: f64,
    },
    /// A place of a link: a force and a moment in its axes. Its length is 0.
    Site {
        /// The link; `None` is the world.
        link: Option<LinkId>,
        /// Its frame in the link's.
        frame: Isometry3<f64>,
        /// Moment \[N m\] and force \[N\] for a force of 1.
        gear: ForceVector,
    },
}

/// A force by length and velocity of the transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ForceLaw {
    /// `a + b l + c l'`.
    Affine([f64; 3]),
    /// The active force of a muscle as a gain.
    MuscleActive(Muscle),
    /// The passive force of a muscle as a bias.
    MusclePassive(Muscle),
}

/// The input of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// The control itself.
    None,
    /// Its integral.
    Integral,
    /// A first-order filter: `da/dt = (u - a)/T`, solved exactly for a step's control.
    Filter {
        /// T \[s\].
        time_constant: f64,
    },
    /// A filter whose time constant depends on excitation and activation; that of the beginning of a
    /// step is kept over it.
    Muscle(ActivationTimes),
}

impl ForceLaw {
    /// No force.
    pub const NONE: Self = Self::Affine([0.0; 3]);

    /// Force \[N\] at a length \[m\] and a velocity \[m/s\].
    pub fn force(&self, length: f64, velocity: f64) -> f64 {
        match self {
            Self::Affine([a, b, c]) => a + b * length + c * velocity,
            Self::MuscleActive(muscle) => muscle.active_force(length, velocity),
            Self::MusclePassive(muscle) => muscle.passive_force(length),
        }
    }

    /// Slopes by length and velocity that a step takes implicitly: none of muscles.
    fn slopes(&self) -> [f64; 2] {
        match self {
            Self::Affine([_, b, c]) => [*b, *c],
            _ => [0.0; 2],
        }
    }
}

/// The force of a drive in a step: `effort - gain l'` \[N\] at the final velocity. `wanted` is that
/// of the beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DriveForce {
    pub effort: f64,
    pub gain: f64,
    pub wanted: f64,
}

impl Drive {
    /// A motor without limits: its force is its control.
    pub fn new(name: impl Into<String>, transmission: Transmission) -> Self {
        let unlimited = [f64::NEG_INFINITY, f64::INFINITY];
        Self {
            name: name.into(),
            transmission,
            gain: ForceLaw::Affine([1.0, 0.0, 0.0]),
            bias: ForceLaw::NONE,
            activation: Activation::None,
            control: 0.0,
            control_range: unlimited,
            force_range: unlimited,
            activation_range: unlimited,
            start: 0.0,
            early: false,
        }
    }

    /// Whether it has an activation.
    pub fn has_activation(&self) -> bool {
        self.activation != Activation::None
    }

    /// The control within its range.
    pub fn clamped_control(&self) -> f64 {
        self.control.max(self.control_range[0]).min(self.control_range[1])
    }

    /// The activation `dt` \[s\] after `activation` under the present control.
    pub fn next_activation(&self, activation: f64, dt: f64) -> f64 {
        let control = self.clamped_control();
        let filtered = |target: f64, time: f64| {
            // No time constant is no delay.
            let part = if time > 0.0 { -(-dt / time).exp_m1() } else { 1.0 };
            activation + (target - activation) * part
        };
        let next = match self.activation {
            Activation::None => return 0.0,
            Activation::Integral => activation + dt * control,
            Activation::Filter { time_constant } => filtered(control, time_constant),
            Activation::Muscle(times) => {
                filtered(control.clamp(0.0, 1.0), times.time_constant(control, activation))
            }
        };
        next.max(self.activation_range[0]).min(self.activation_range[1])
    }

    /// Force \[N\] within its range at an input and a length \[m\] and velocity \[m/s\] of its
    /// transmission.
    pub fn force(&self, input: f64, length: f64, velocity: f64) -> f64 {
        let wanted = self.gain.force(length, velocity) * input + self.bias.force(length, velocity);
        wanted.clamp(self.force_range[0], self.force_range[1])
    }

    /// Its force in a step of `dt` \[s\], at the input and the length and velocity of its beginning.
    /// What resists motion acts at the end of the step; what drives it, and muscles, at the
    /// beginning.
    pub(super) fn linear(&self, input: f64, length: f64, velocity: f64, dt: f64) -> DriveForce {
        let wanted = self.gain.force(length, velocity) * input + self.bias.force(length, velocity);
        let ([gain_l, gain_v], [bias_l, bias_v]) = (self.gain.slopes(), self.bias.slopes());
        let (stiffness, damping) = (-(gain_l * input + bias_l), -(gain_v * input + bias_v));
        let gain = dt * stiffness.max(0.0) + damping.max(0.0);
        DriveForce { effort: wanted + damping.max(0.0) * velocity, gain, wanted }
    }

    /// The same drive for links numbered from `first` and tendons from `first_tendon` on, whose
    /// world is at `base` of a link, or of the world.
    pub(crate) fn moved(
        mut self,
        first: usize,
        first_tendon: usize,
        carrier: Option<LinkId>,
        base: &Isometry3<f64>,
    ) -> Self {
        match &mut self.transmission {
            Transmission::Joint { link, .. } => link.0 += first,
            Transmission::Tendon { tendon, .. } => *tendon += first_tendon,
            Transmission::Site { link, frame, .. } => match link {
                Some(link) => link.0 += first,
                None => {
                    *frame = base * *frame;
                    *link = carrier;
                }
            },
        }
        self
    }

    pub(in super::super) fn validate(
        &self,
        model: &Model,
        tendons: &[Tendon],
        index: usize,
    ) -> Result<(), SimulationError> {
        let fail = |field, value, unit, requirement| {
            let item = format!("drive {index} '{}'", self.name);
            Err(SimulationError::value(item, field, value, unit, requirement))
        };
        let known = |link: &LinkId| link.0 < model.links().len();
        match &self.transmission {
            Transmission::Joint { link, dof, gear } => {
                if !known(link) || model.links()[link.0].joint.has_quaternion() {
                    return fail("link", link.0 as f64, "", "a link whose joint has coordinates");
                }
                if *dof >= model.links()[link.0].joint.velocities() {
                    return fail("dof", *dof as f64, "", "a degree of freedom of its joint");
                }
                if !gear.is_finite() {
                    return fail("gear", *gear, "", "finite");
                }
            }
            Transmission::Tendon { tendon, gear } => {
                if *tendon >= tendons.len() {
                    return fail("tendon", *tendon as f64, "", "a tendon of the system");
                }
                if !gear.is_finite() {
                    return fail("gear", *gear, "", "finite");
                }
            }
            Transmission::Site { link, gear, .. } => {
                if let Some(link) = link.filter(|link| !known(link)) {
                    return fail("link", link.0 as f64, "", "a link of the model");
                }
                if !gear.is_finite() {
                    return fail("gear", f64::NAN, "", "finite");
                }
            }
        }
        for (field, value) in [("control", self.control), ("activation", self.start)] {
            if !value.is_finite() {
                return fail(field, value, "", "finite");
            }
        }
        for (field, [low, high]) in [
            ("control range", self.control_range),
            ("force range", self.force_range),
            ("activation range", self.activation_range),
        ] {
            if low.is_nan() || high.is_nan() || low > high {
                return fail(field, high, "", "not below its lower limit");
            }
        }
        self.validate_laws().or_else(|(field, value, requirement)| fail(field, value, "SI", requirement))
    }

    fn validate_laws(&self) -> Result<(), (&'static str, f64, &'static str)> {
        for law in [&self.gain, &self.bias] {
            match law {
                ForceLaw::Affine(terms) => {
                    if let Some(value) = terms.iter().find(|x| !x.is_finite()) {
                        return Err(("force law", *value, "finite"));
                    }
                }
                ForceLaw::MuscleActive(muscle) | ForceLaw::MusclePassive(muscle) => {
                    let Muscle { lengths, operating_range, active_range, .. } = muscle;
                    if !(lengths[0] < lengths[1] && operating_range[0] < operating_range[1]) {
                        return Err(("lengths of the muscle", lengths[1], "above the least"));
                    }
                    if !(active_range[0] < 1.0 && active_range[1] > 1.0) {
                        return Err(("active range of the muscle", active_range[1], "around 1"));
                    }
                    for value in [muscle.peak_force, muscle.fastest, muscle.passive, muscle.stretched] {
                        if !(value.is_finite() && value >= 0.0) {
                            return Err(("muscle", value, "finite and not negative"));
                        }
                    }
                }
            }
        }
        let times = match self.activation {
            Activation::None | Activation::Integral => [0.0; 3],
            Activation::Filter { time_constant } => [time_constant, 0.0, 0.0],
            Activation::Muscle(times) => [times.rise, times.fall, times.smoothing],
        };
        match times.iter().find(|t| !(t.is_finite() && **t >= 0.0)) {
            Some(time) => Err(("time constant", *time, "finite and not negative")),
            None => Ok(()),
        }
    }
}
