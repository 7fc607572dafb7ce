//! Errors of a simulation.

use crate::icf::Stop;
use crate::multibody::ModelError;
use crate::out_of_range::OutOfRange;

/// A simulation that cannot start or continue.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// A value is out of range.
    #[error("{item}, {field}: {value} {unit} must be {requirement}")]
    Value {
        /// The item.
        item: String,
        /// Name of the value.
        field: &'static str,
        /// Its value.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be.
        requirement: &'static str,
    },
    /// The closed-form solver cannot make the steps that an integrator needs.
    #[error("the closed-form solver does not support this integrator: {reason}")]
    Integrator {
        /// Why.
        reason: &'static str,
    },
    /// The state does not fit the model.
    #[error(transparent)]
    State(#[from] ModelError),
    /// The convex solver did not reach its tolerance.
    #[error(
        "t = {time} s: the bodies' step did not converge ({stop:?}, residual {residual:e}); {}",
        advice(*stop)
    )]
    NotConverged {
        /// Time \[s\].
        time: f64,
        /// Why it ended.
        stop: Stop,
        /// Its residual.
        residual: f64,
    },
    /// A jointed body moves too fast for the step, or its motion is not finite.
    #[error(
        "t = {time} s: '{link}' moves too fast for a step of {step} s; at this speed a step of \
         {fits:.1e} s is short enough"
    )]
    TooFast {
        /// Time \[s\].
        time: f64,
        /// The first link of its tree.
        link: String,
        /// The step \[s\].
        step: f64,
        /// A step that is short enough \[s\].
        fits: f64,
    },
    /// A controller or force element returned a value that is not finite.
    #[error("t = {time} s: external system {system} gave {value} for degree of freedom or state {index}")]
    External {
        /// Time \[s\].
        time: f64,
        /// Which of the system's externals.
        system: usize,
        /// Index of the value.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A body's state is not finite, or its velocity or distance is out of range.
    #[error(
        "t = {time} s: body '{body}' diverged in a step of {step} s: its {quantity} is {value} \
         {unit}; use a shorter dt, smaller forces, or less stiff motors and contacts"
    )]
    Diverged {
        /// End of the step \[s\].
        time: f64,
        /// Its length \[s\].
        step: f64,
        /// Name of the body.
        body: String,
        /// What is out of range.
        quantity: &'static str,
        /// Its value.
        value: f64,
        /// Its unit.
        unit: &'static str,
    },
    /// Error control would need a step below the smallest.
    #[error("t = {time} s: the accuracy {accuracy:e} needs a step below the smallest one, {smallest:e} s")]
    StepTooSmall {
        /// Time \[s\].
        time: f64,
        /// The accuracy.
        accuracy: f64,
        /// The smallest step \[s\].
        smallest: f64,
    },
    /// The watch of the steps asked to stop ([`StepWatch`](crate::StepWatch)).
    #[error("t = {time} s: stopped on request")]
    Stopped {
        /// Time that was reached \[s\].
        time: f64,
    },
}

impl SimulationError {
    /// A figure of `item` that is out of range.
    pub(crate) fn figure(item: impl Into<String>, figure: OutOfRange) -> Self {
        Self::value(item, figure.field, figure.value, figure.unit, figure.requirement)
    }

    pub(crate) fn value(
        item: impl Into<String>,
        field: &'static str,
        value: f64,
        unit: &'static str,
        requirement: &'static str,
    ) -> Self {
        Self::Value { item: item.into(), field, value, unit, requirement }
    }
}

/// Advice for a solve that ended like this.
fn advice(stop: Stop) -> &'static str {
    match stop {
        Stop::NotFinite => {
            "a force, gain or target is beyond double precision: lower the gains of controllers and motors, give them limits of \
             effort, or lower the forces applied"
        }
        _ => "use a shorter step, or less stiff contacts and motors",
    }
}
