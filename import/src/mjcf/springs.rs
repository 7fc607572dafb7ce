//! Springs and dampers that a file gives by a time constant and a damping ratio.

use super::super::error::{ImportError, ImportWarning};
use super::body::{Freedom, MjcfBody, MjcfJoint};
use super::felt_inertia::{inertia, mass_at};
use super::links::JointRecord;
use pliant_rigid::multibody::{Model, State};

/// Sets stiffness and damping of joints with a `springdamper`: k = I / (t z)^2 and d = 2 I / t, for
/// the inertia I that the joint feels in the configuration of the file, of a ball joint that of the
/// mean mobility (MuJoCo 4.0.0). Whether there are any.
pub(super) fn resolve(
    bodies: &mut [MjcfBody],
    model: &Model,
    joints: &[JointRecord],
    state: &State,
    warnings: &mut Vec<ImportWarning>,
) -> Result<bool, ImportError> {
    let mut mass = None;
    for joint in bodies.iter_mut().flat_map(|body| &mut body.joints) {
        let Some((time, ratio)) = given(joint)? else { continue };
        let Some(record) = joints.iter().find(|record| record.name == joint.name) else { continue };
        let mass = mass.get_or_insert_with(|| mass_at(model, state));
        let dofs = model.velocities_of(record.link);
        let mobility = |dof: usize| {
            let mut unit = vec![0.0; model.velocities()];
            unit[dof] = 1.0;
            1.0 / inertia(mass, &unit)
        };
        let felt = dofs.len() as f64 / dofs.map(mobility).sum::<f64>();
        joint.dof.damping = 2.0 * felt / time;
        joint.dof.stiffness = felt / (time * ratio).powi(2);
        if joint.freedom == Freedom::Ball {
            joint.dof.stiffness = 0.0;
            let action = "approximated: only the damper: a spring needs a coordinate";
            warnings.push(joint.element.warn("springdamper", action));
        }
    }
    Ok(mass.is_some())
}

/// Time constant \[s\] and damping ratio, if both are positive and the joint takes them.
fn given(joint: &MjcfJoint) -> Result<Option<(f64, f64)>, ImportError> {
    let numbers = joint.element.array::<2>("springdamper")?;
    let takes = joint.freedom != Freedom::Free;
    Ok(numbers
        .filter(|[time, ratio]| takes && *time > 0.0 && *ratio > 0.0)
        .map(|[time, ratio]| (time, ratio)))
}
