//! What a program told motors of a scene.

use std::collections::BTreeMap;

use pliant_rigid::JointTarget;
use pliant_rigid::simulation::Control;
use pliant_scenes::Scenario;

/// What a program told motors of the scene, by their numbers among the actuators: it holds from then
/// on, in place of what the scene says.
pub type Told = BTreeMap<usize, JointTarget>;

/// Sets the inputs of motors that a program told something.
pub fn apply(told: &Told, scenario: &mut Scenario) {
    let actuators = &mut scenario.world.bodies_mut().simulation_mut().system_mut().actuators;
    for (&at, &target) in told {
        match (&mut actuators[at].control, target) {
            (Control::Effort { effort }, JointTarget::Effort(value)) => *effort = value,
            (Control::Position { target, target_rate, .. }, JointTarget::Position(value, rate)) => {
                (*target, *target_rate) = (value, rate);
            }
            (Control::Velocity { target, .. }, JointTarget::Velocity(value)) => *target = value,
            // `input` made it of the same control.
            _ => {}
        }
    }
}
