//! A mechanism with its forces.

use nalgebra::Vector3;

use super::actuator::Actuator;
use super::equality::Equality;
use super::error::SimulationError;
use super::external::ExternalSystem;
use super::transmission::{Drive, Tendon};
use crate::comfree::RigidSolver;
use crate::multibody::{ForceVector, Kinematics, LinkId, Model, State};

/// A force along a line that moves at a constant velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineForce {
    /// World axes, about the world's origin at the time of the line \[N m, N\].
    pub force: ForceVector,
    /// Velocity of the line, world frame \[m/s\].
    pub velocity: Vector3<f64>,
}

impl LineForce {
    /// No force.
    pub fn zero() -> Self {
        Self { force: ForceVector::zero(), velocity: Vector3::zeros() }
    }

    fn is_finite(&self) -> bool {
        self.force.is_finite() && self.velocity.iter().all(|v| v.is_finite())
    }
}

/// A mechanism with all that acts on it except contact.
#[derive(Clone, Debug)]
pub struct System {
    /// The mechanism.
    pub model: Model,
    /// Motors.
    pub actuators: Vec<Actuator>,
    /// Holonomic constraints besides the joints: loops, welds, couplers.
    pub equalities: Vec<Equality>,
    /// Strings with springs, dampers and limits.
    pub tendons: Vec<Tendon>,
    /// Actuators of tendons and sites, and those with activations.
    pub drives: Vec<Drive>,
    /// Controllers and force elements with a state of their own.
    pub externals: Vec<Box<dyn ExternalSystem>>,
    /// External force on every link, world axes, about the link's origin \[N m, N\]; may be left
    /// empty.
    pub applied: Vec<ForceVector>,
    /// Force on every link along a line that moves at a constant velocity through the world,
    /// independently of the link: the exchange with other objects at known points. May be left
    /// empty.
    pub line_forces: Vec<LineForce>,
    /// Time \[s\] at which the lines have their given positions.
    pub line_force_time: f64,
    /// Whether contact is solved again with the normal forces of the first solve if those that
    /// bounded friction were wrong. Without it friction lags by a step, which is wrong when contact
    /// begins.
    pub refresh_friction: bool,
    /// Stiction tolerance of dry joints \[rad/s, m/s\].
    pub dry_joint_tolerance: f64,
    /// The solver of the steps.
    pub solver: RigidSolver,
}

impl System {
    /// A mechanism under gravity alone.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            actuators: Vec::new(),
            equalities: Vec::new(),
            tendons: Vec::new(),
            drives: Vec::new(),
            externals: Vec::new(),
            applied: Vec::new(),
            line_forces: Vec::new(),
            line_force_time: 0.0,
            refresh_friction: true,
            dry_joint_tolerance: 1e-4,
            solver: RigidSolver::default(),
        }
    }

    /// Checks that actuators and constraints fit the model and their values are in range.
    ///
    /// # Errors
    /// [`SimulationError::Value`] that names the item and the value.
    pub fn validate(&self) -> Result<(), SimulationError> {
        if let RigidSolver::ComFree(settings) = &self.solver {
            settings.validate()?;
            for (field, count) in [("tendons", self.tendons.len()), ("drives", self.drives.len())] {
                if count > 0 {
                    let (count, requirement) = (count as f64, "none with the closed-form solver");
                    return Err(SimulationError::value("system", field, count, "", requirement));
                }
            }
        }
        self.tendons.iter().try_for_each(|tendon| tendon.validate(&self.model))?;
        self.tendons.iter().try_for_each(|tendon| tendon.validate_holds(&self.model, &self.tendons))?;
        self.drives.iter().enumerate().try_for_each(|(i, d)| d.validate(&self.model, &self.tendons, i))?;
        self.actuators.iter().enumerate().try_for_each(|(i, a)| a.validate(&self.model, i))?;
        self.equalities.iter().enumerate().try_for_each(|(i, e)| e.validate(&self.model, i))?;
        for (count, finite) in [
            (self.applied.len(), self.applied.iter().position(|f| !f.is_finite())),
            (self.line_forces.len(), self.line_forces.iter().position(|f| !f.is_finite())),
        ] {
            if !(count == 0 || count == self.model.links().len()) {
                let count = count as f64;
                return Err(SimulationError::value(
                    "applied forces",
                    "count",
                    count,
                    "",
                    "one for every link",
                ));
            }
            if let Some(i) = finite {
                let item = format!("applied force of link {i}");
                return Err(SimulationError::value(item, "force", f64::NAN, "N", "finite"));
            }
        }
        Ok(())
    }

    /// All external forces on every link at a `time` \[s\], world axes, about their origins
    /// \[N m, N\]; empty for none.
    pub(super) fn loads(&self, kinematics: &Kinematics, time: f64, out: &mut Vec<ForceVector>) {
        out.clone_from(&self.applied);
        if !self.line_forces.is_empty() {
            out.resize(self.line_forces.len(), ForceVector::zero());
        }
        for (l, (load, force)) in out.iter_mut().zip(&self.line_forces).enumerate() {
            let moved = (time - self.line_force_time) * force.velocity;
            *load += force.force.shifted(&(kinematics.pose(LinkId(l)).translation.vector - moved));
        }
    }

    /// Number of states of all external systems, and of activations, which follow them.
    pub fn external_states(&self) -> usize {
        self.first_activation() + self.drives.iter().filter(|drive| drive.has_activation()).count()
    }

    /// Index of the first activation among these states.
    pub fn first_activation(&self) -> usize {
        self.externals.iter().map(|external| external.states()).sum()
    }

    /// Energy of the tendons' springs at a state and its kinematics \[J\].
    pub fn tendon_energy(&self, kinematics: &Kinematics, state: &State) -> f64 {
        let energy = |tendon: &Tendon| tendon.energy(tendon.length(&self.model, kinematics, state));
        self.tendons.iter().map(energy).sum()
    }
}
