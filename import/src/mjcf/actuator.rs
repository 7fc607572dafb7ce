//! Motors.
//!
//! MuJoCo's force is `gain * control + b0 + b1 * length + b2 * velocity`, where length and velocity
//! are `gear` times those of the joint, and the force on the joint is `gear` times that
//! (documentation, Computation, Actuation model). With b1 and b2 not above zero that is an effort,
//! a servo or a damper.

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem, ImportWarning};
use super::super::imported::Input;
use super::body::range;
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::links::JointRecord;
use pliant_rigid::multibody::{Kinematics, MassMatrix, Model, State, mass_matrix};
use pliant_rigid::simulation::{Actuator, Control};

/// Gain and biases of a motor.
struct AffineForce {
    gain: f64,
    bias: [f64; 3],
}

/// The motors of a file.
#[derive(Default)]
pub(super) struct Motors {
    pub actuators: Vec<Actuator>,
    pub inputs: Vec<Input>,
    /// Whether each of the file's motors is among them.
    pub kept: Vec<bool>,
}

/// Reads `<actuator>`.
pub(super) fn read(
    root: &Element,
    defaults: &Defaults,
    compiler: &Compiler,
    model: &Model,
    joints: &[JointRecord],
    state: &State,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Motors, ImportError> {
    let mut motors = Motors::default();
    let inertia = inertia_of_dofs(model, state);
    for element in root.all("actuator").flat_map(|actuator| &actuator.children) {
        motors.kept.push(false);
        if !matches!(element.tag.as_str(), "motor" | "position" | "velocity" | "general") {
            continue;
        }
        let resolved = defaults.resolve(element, None)?;
        let Some(joint) = joint(&resolved, joints, warnings)? else { continue };
        let gear = match resolved.numbers("gear", 1..=6)? {
            Some(gear) if gear[0] == 0.0 => return Err(resolved.bad("gear", "a ratio other than 0")),
            Some(gear) => gear[0],
            None => 1.0,
        };
        let joint_inertia = inertia[model.velocities_of(joint.link).start] / (gear * gear);
        let Some(law) = law(&resolved, joint_inertia, warnings)? else { continue };
        let (actuator, mut input) = motor(&resolved, &law, gear, joint, compiler, warnings)?;
        input.name = resolved.text("name").map_or_else(|| joint.name.clone(), str::to_owned);
        input.actuator = motors.actuators.len();
        motors.actuators.push(actuator);
        motors.inputs.push(input);
        if let Some(kept) = motors.kept.last_mut() {
            *kept = true;
        }
    }
    Ok(motors)
}

/// The joint that a motor drives; `None` for one that is left out.
fn joint<'a>(
    element: &Element,
    joints: &'a [JointRecord],
    warnings: &mut Vec<ImportWarning>,
) -> Result<Option<&'a JointRecord>, ImportError> {
    let Some(attribute) = ["joint", "jointinparent"].into_iter().find(|a| element.text(a).is_some()) else {
        let others = ["tendon", "site", "body", "slidersite", "cranksite"];
        let Some(other) = others.iter().find(|a| element.text(a).is_some()) else {
            return Err(element.fail(ImportProblem::Missing("joint")));
        };
        warnings.push(element.warn(other, "left out with its actuator: only joints can be actuated"));
        return Ok(None);
    };
    let name = element.required(attribute)?;
    let Some(joint) = joints.iter().find(|joint| joint.name == name) else {
        return Err(element.fail_at(attribute, ImportProblem::Reference("joint")));
    };
    if !joint.is_scalar() {
        warnings.push(
            element
                .warn(attribute, "left out with its actuator: only hinge and slide joints can be actuated"),
        );
        return Ok(None);
    }
    Ok(Some(joint))
}

/// Gain and biases; `None` for a motor that is left out. `joint_inertia` is the inertia at the
/// motor's joint \[kg m^2, kg\].
fn law(
    element: &Element,
    joint_inertia: f64,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Option<AffineForce>, ImportError> {
    Ok(Some(match element.tag.as_str() {
        "motor" => AffineForce { gain: 1.0, bias: [0.0; 3] },
        "velocity" => {
            let kv = element.not_negative("kv")?.unwrap_or(1.0);
            AffineForce { gain: kv, bias: [0.0, 0.0, -kv] }
        }
        "position" => {
            let kp = element.not_negative("kp")?.unwrap_or(1.0);
            let kv = match (element.not_negative("kv")?, element.not_negative("dampratio")?) {
                (Some(_), Some(ratio)) if ratio > 0.0 => {
                    return Err(element.bad("dampratio", "left out where there is a kv"));
                }
                (Some(kv), _) => kv,
                (None, ratio) => 2.0 * ratio.unwrap_or(0.0) * (kp * joint_inertia).sqrt(),
            };
            AffineForce { gain: kp, bias: [0.0, -kp, -kv] }
        }
        _ => return general(element, joint_inertia, warnings),
    }))
}

fn general(
    element: &Element,
    joint_inertia: f64,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Option<AffineForce>, ImportError> {
    for (attribute, known) in
        [("dyntype", &["none"][..]), ("gaintype", &["fixed"]), ("biastype", &["none", "affine"])]
    {
        if element.text(attribute).is_some_and(|word| !known.contains(&word)) {
            warnings.push(
                element.warn(attribute, "left out with its actuator: this kind of actuator is not supported"),
            );
            return Ok(None);
        }
    }
    let gain = element.numbers("gainprm", 1..=20)?.map_or(1.0, |p| p[0]);
    let affine = element.text("biastype") == Some("affine");
    let parameters = element.numbers("biasprm", 1..=20)?.filter(|_| affine).unwrap_or_default();
    let b = |i: usize| parameters.get(i).copied().unwrap_or(0.0);
    let mut bias = [b(0), b(1), b(2)];
    // A positive one beside gain and stiffness of the same size is a damping ratio.
    if bias[2] > 0.0 && bias[1] == -gain {
        bias[2] = -2.0 * bias[2] * (gain * joint_inertia).sqrt();
    }
    if bias[1] > 0.0 || bias[2] > 0.0 {
        return Err(
            element.bad("biasprm", "b0, b1, b2 with neither b1 nor b2 positive: gains are not negative")
        );
    }
    Ok(Some(AffineForce { gain, bias }))
}

fn motor(
    element: &Element,
    law: &AffineForce,
    gear: f64,
    joint: &JointRecord,
    compiler: &Compiler,
    warnings: &mut Vec<ImportWarning>,
) -> Result<(Actuator, Input), ImportError> {
    let [b0, b1, b2] = law.bias;
    let (stiffness, damping) = (-b1 * gear * gear, -b2 * gear * gear);
    // The force on the joint is gear (gain control + b0) - stiffness q - damping v.
    let (control, divisor) = if stiffness > 0.0 {
        (Control::Position { target: 0.0, target_rate: 0.0, stiffness, damping }, stiffness)
    } else if damping > 0.0 {
        (Control::Velocity { target: 0.0, damping }, damping)
    } else {
        (Control::Effort { effort: 0.0 }, 1.0)
    };
    let scale = gear * law.gain / divisor;
    let offset = gear * b0 / divisor;
    let mut controls = range(element, "ctrlrange", "ctrllimited", compiler)?;
    if let Some(inherit) = element.not_negative("inheritrange")?.filter(|x| *x > 0.0) {
        if !joint.limits.iter().all(|x| x.is_finite()) || controls.is_some() {
            return Err(
                element.bad("inheritrange", "left out beside a ctrlrange and for a joint without limits")
            );
        }
        let (middle, half) =
            ((joint.limits[0] + joint.limits[1]) / 2.0, (joint.limits[1] - joint.limits[0]) / 2.0);
        controls = Some([middle - inherit * half, middle + inherit * half]);
    }
    let forces = range(element, "forcerange", "forcelimited", compiler)?;
    let mut effort_limit = f64::INFINITY;
    let mut limit = |at: &Element, attribute, [low, high]: [f64; 2]| {
        if (low + high).abs() > 1e-9 * high.abs().max(low.abs()) {
            warnings
                .push(at.warn(attribute, "approximated: the larger of the two applies in both directions"));
        }
        effort_limit = f64::min(effort_limit, low.abs().max(high.abs()));
    };
    if let Some([low, high]) = forces {
        limit(element, "forcerange", [low * gear.abs(), high * gear.abs()]);
    }
    if let Some(range) = joint.effort_range {
        limit(&joint.element, "actuatorfrcrange", range);
    }
    let actuator = Actuator { link: joint.link, dof: 0, control, effort_limit, gravity_compensation: false };
    let range = controls.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    Ok((actuator, Input { name: String::new(), actuator: 0, scale, offset, range }))
}

/// The diagonal of the mass matrix at a state, by degree of freedom \[kg m^2, kg\].
fn inertia_of_dofs(model: &Model, state: &State) -> Vec<f64> {
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, state);
    let mut mass = MassMatrix::default();
    mass_matrix(model, &kinematics, &mut mass);
    let diagonal = |tree: usize| mass.block(tree).diagonal().iter().copied().collect::<Vec<_>>();
    (0..model.trees().len()).flat_map(diagonal).collect()
}
