//! Controllers and force elements that many scenes need. Each is an
//! [`ExternalSystem`](crate::simulation::ExternalSystem), to be put among the
//! [`externals`](crate::simulation::System::externals) of a system.
//!
//! - [`InverseDynamics`]: computed torque for the joints of a robot, along a [`JointTrajectory`].
//! - [`Suction`]: cups that pull bodies towards them.
//! - [`AppliedWave`]: a force and a torque on a link that vary in time.
//!
//! ```
//! use nalgebra::{Point3, Vector3};
//! use pliant_rigid::control::{AppliedWave, Wave};
//! use pliant_rigid::multibody::ForceVector;
//! use pliant_rigid::simulation::{Integrator, NoContacts, Simulation};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = r#"<mujoco><option gravity="0 0 0"/><worldbody><body name="block">
//!   <freejoint/> <geom type="box" size="0.1 0.1 0.05" mass="1"/>
//! </body></worldbody></mujoco>"#;
//! let mut block = pliant_import::from_mjcf(text, ".")?;
//! let link = block.system.model.link("block").ok_or("no block")?;
//! let amplitude = ForceVector::new(Vector3::zeros(), Vector3::x() * 10.0);
//! let wave = Wave::Sine { amplitude, frequency: 0.5, phase: 0.0 };
//! let push = AppliedWave::new(&block.system.model, link, Point3::origin(), wave)?;
//! block.system.externals.push(Box::new(push));
//! let step = Integrator::Fixed { step: 1e-3 };
//! let mut simulation = Simulation::new(block.system, NoContacts, step, block.state)?;
//! simulation.advance_to(1.0)?;
//! // Half a period: impulse 10 N x 2 s / pi.
//! assert!((simulation.state().v[3] - 6.366).abs() < 1e-3);
//! # Ok(())
//! # }
//! ```

mod inverse_dynamics;
mod path;
mod suction;
mod wave;

pub use inverse_dynamics::{ControlledJoint, InverseDynamics};
pub use path::{JointTarget, JointTrajectory};
pub use suction::{Cup, Suction, SuctionForceModel, SuctionTarget};
pub use wave::{AppliedWave, Wave};

use nalgebra::Vector3;

use crate::multibody::{ForceVector, Kinematics, LinkId, Model, for_each_axis};
use crate::simulation::SimulationError;

/// Adds the joint forces of a force and a torque on a link at `point` (m, world frame): `J^T f`.
fn add_force(
    model: &Model,
    kinematics: &Kinematics,
    link: LinkId,
    point: &Vector3<f64>,
    force: &ForceVector,
    forces: &mut [f64],
) {
    for_each_axis(model, kinematics, link, point, |n, axis| forces[n] += axis.dot(force));
}

fn fail<T>(
    item: impl Into<String>,
    field: &'static str,
    value: f64,
    unit: &'static str,
    requirement: &'static str,
) -> Result<T, SimulationError> {
    Err(SimulationError::Value { item: item.into(), field, value, unit, requirement })
}

fn check_link(model: &Model, item: &str, link: LinkId) -> Result<(), SimulationError> {
    if link.0 < model.links().len() {
        Ok(())
    } else {
        fail(item, "link", link.0 as f64, "", "a link of the model")
    }
}

fn check_positive(
    item: &str,
    field: &'static str,
    value: f64,
    unit: &'static str,
) -> Result<(), SimulationError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        fail(item, field, value, unit, "finite and positive")
    }
}

/// Checks that a point, given by its coordinates, is finite.
fn check_finite(
    item: &str,
    field: &'static str,
    values: &[f64],
    unit: &'static str,
) -> Result<(), SimulationError> {
    match values.iter().find(|x| !x.is_finite()) {
        Some(&value) => fail(item, field, value, unit, "finite"),
        None => Ok(()),
    }
}
