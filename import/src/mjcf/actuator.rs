//! Motors.
//!
//! MuJoCo's force is `gain * input + bias`, both functions of the length and velocity of what the
//! motor drives; the force along a joint, a tendon or at a site is `gear` times that
//! (documentation, Computation, Actuation model). On a joint with a constant gain, a bias that
//! resists motion and equal limits in both directions that is an effort, a servo or a damper
//! ([`Actuator`]). Everything else is a [`Drive`].

use nalgebra::Vector3;

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem, ImportWarning, WarningKind};
use super::super::imported::Input;
use super::body::{MjcfBody, range};
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::felt_inertia::{acceleration, inertia, mass_at};
use super::law::{Law, law, muscle_law};
use super::links::JointRecord;
use super::tendon::{TendonRecord, site};
use pliant_rigid::SensorObject;
use pliant_rigid::multibody::{ForceVector, Kinematics, LinkId, Model, State, point_jacobian};
use pliant_rigid::simulation::{Activation, Actuator, Control, Drive, ForceLaw, Transmission};

/// What became of a motor of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    No,
    Actuator,
    Drive,
}

/// The motors of a file.
#[derive(Default)]
pub(super) struct Motors {
    pub actuators: Vec<Actuator>,
    pub inputs: Vec<Input>,
    pub drives: Vec<Drive>,
    /// Of each of the file's motors.
    pub kept: Vec<Kept>,
    /// What sensors measure of each of them, by its name; none of those that are left out.
    pub measured: Vec<(String, Option<SensorObject>)>,
}

/// What names in a motor mean.
pub(super) struct MotorContext<'a> {
    pub compiler: &'a Compiler,
    pub model: &'a Model,
    pub bodies: &'a [MjcfBody],
    pub joints: &'a [JointRecord],
    pub tendons: &'a [TendonRecord],
    /// The configuration that the file shows.
    pub state: &'a State,
}

/// What a motor drives.
struct Target<'a> {
    name: &'a str,
    transmission: Transmission,
    joint: Option<&'a JointRecord>,
    /// Range of its coordinate or length.
    limits: [f64; 2],
    /// Range of the force along it, and the element that has it.
    effort_range: Option<[f64; 2]>,
    gear: f64,
    /// Change of its length with each velocity, in the configuration of the file.
    moments: Vec<f64>,
}

const KINDS: [&str; 8] =
    ["motor", "position", "velocity", "general", "intvelocity", "damper", "cylinder", "muscle"];

/// Reads `<actuator>`.
pub(super) fn read(
    root: &Element,
    defaults: &Defaults,
    context: &MotorContext<'_>,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Motors, ImportError> {
    let mut motors = Motors::default();
    let mass = mass_at(context.model, context.state);
    for element in root.all("actuator").flat_map(|actuator| &actuator.children) {
        motors.kept.push(Kept::No);
        motors.measured.push((element.text("name").unwrap_or_default().to_owned(), None));
        if !KINDS.contains(&element.tag.as_str()) {
            continue;
        }
        let resolved = defaults.resolve(element, None)?;
        let Some(target) = context.target(&resolved, warnings)? else { continue };
        let lengths = resolved.array::<2>("lengthrange")?;
        let found = if resolved.tag == "muscle" || uses_muscle(&resolved) {
            muscle_law(&resolved, lengths, || acceleration(&mass, &target.moments), warnings)?
        } else {
            law(&resolved, inertia(&mass, &target.moments), warnings)?
        };
        let Some(law) = found else { continue };
        let controls = controls(element, &resolved, &law, &target, context.compiler)?;
        let forces = range(&resolved, "forcerange", "forcelimited", context.compiler)?;
        let name = resolved.text("name").unwrap_or(target.name).to_owned();
        let (kept, measured) = match plain(&law, &target, forces) {
            Some((actuator, mut input)) => {
                input.range = controls[0];
                input.name = name;
                input.actuator = motors.actuators.len();
                let measured = SensorObject::Motor { actuator: input.actuator, gear: target.gear };
                motors.actuators.push(actuator);
                motors.inputs.push(input);
                (Kept::Actuator, measured)
            }
            None => {
                motors.drives.push(drive(name, &law, &target, forces, controls, &resolved)?);
                (Kept::Drive, SensorObject::Drive(motors.drives.len() - 1))
            }
        };
        if let Some(last) = motors.kept.last_mut() {
            *last = kept;
        }
        if let Some((_, last)) = motors.measured.last_mut() {
            *last = Some(measured);
        }
    }
    Ok(motors)
}

fn uses_muscle(element: &Element) -> bool {
    ["dyntype", "gaintype", "biastype"].iter().any(|a| element.text(a) == Some("muscle"))
}

impl MotorContext<'_> {
    /// What a motor drives; `None` for one that is left out.
    fn target<'a>(
        &'a self,
        element: &'a Element,
        warnings: &mut Vec<ImportWarning>,
    ) -> Result<Option<Target<'a>>, ImportError> {
        let gears = element.numbers("gear", 1..=6)?.unwrap_or_else(|| vec![1.0]);
        if gears.iter().all(|gear| *gear == 0.0) {
            return Err(element.bad("gear", "a ratio other than 0"));
        }
        if let Some(attribute) = ["joint", "jointinparent"].into_iter().find(|a| element.text(a).is_some()) {
            return self.joint(element, attribute, gears[0], warnings);
        }
        if element.text("tendon").is_some() {
            return self.tendon(element, gears[0]).map(Some);
        }
        if element.text("site").is_some() {
            return self.site(element, &gears, warnings);
        }
        let others = ["body", "slidersite", "cranksite"];
        let Some(other) = others.iter().find(|a| element.text(a).is_some()) else {
            return Err(element.fail(ImportProblem::Missing("joint")));
        };
        let action = "left out with its actuator: only joints, tendons and sites can be actuated";
        warnings.push(element.warn(other, action).of(WarningKind::Missing));
        Ok(None)
    }

    fn joint<'a>(
        &'a self,
        element: &'a Element,
        attribute: &'static str,
        gear: f64,
        warnings: &mut Vec<ImportWarning>,
    ) -> Result<Option<Target<'a>>, ImportError> {
        let name = element.required(attribute)?;
        let Some(joint) = self.joints.iter().find(|joint| joint.name == name) else {
            return Err(element.fail_at(attribute, ImportProblem::Reference("joint")));
        };
        if !joint.is_scalar() {
            let action = "left out with its actuator: only hinge and slide joints can be actuated";
            warnings.push(element.warn(attribute, action).of(WarningKind::Missing));
            return Ok(None);
        }
        if gear == 0.0 {
            return Err(element.bad("gear", "a ratio other than 0"));
        }
        let mut moments = vec![0.0; self.model.velocities()];
        moments[self.model.velocities_of(joint.link).start] = gear;
        Ok(Some(Target {
            name: &joint.name,
            transmission: Transmission::Joint { link: joint.link, dof: 0, gear },
            joint: Some(joint),
            limits: joint.limits,
            effort_range: joint.effort_range,
            gear,
            moments,
        }))
    }

    fn tendon<'a>(&'a self, element: &'a Element, gear: f64) -> Result<Target<'a>, ImportError> {
        let name = element.required("tendon")?;
        let Some(tendon) = self.tendons.iter().position(|record| record.tendon.name == name) else {
            return Err(element.fail_at("tendon", ImportProblem::Reference("tendon")));
        };
        if gear == 0.0 {
            return Err(element.bad("gear", "a ratio other than 0"));
        }
        let record = &self.tendons[tendon];
        let mut kinematics = Kinematics::new(self.model);
        kinematics.update(self.model, self.state);
        let mut moments = vec![0.0; self.model.velocities()];
        record.tendon.moment_arms(self.model, &kinematics, self.state, &mut moments);
        moments.iter_mut().for_each(|m| *m *= gear);
        Ok(Target {
            name: &record.tendon.name,
            transmission: Transmission::Tendon { tendon, gear },
            joint: None,
            limits: record.tendon.range,
            effort_range: record.effort_range,
            gear,
            moments,
        })
    }

    fn site<'a>(
        &'a self,
        element: &'a Element,
        gears: &[f64],
        warnings: &mut Vec<ImportWarning>,
    ) -> Result<Option<Target<'a>>, ImportError> {
        if element.text("refsite").is_some() {
            let action = "left out with its actuator: forces against a site are not supported";
            warnings.push(element.warn("refsite", action).of(WarningKind::Missing));
            return Ok(None);
        }
        let (link, frame) = site(self.bodies, element, "site")?;
        let at = |i: usize| gears.get(i).copied().unwrap_or(0.0);
        let [force, torque] = [0, 3].map(|k| Vector3::new(at(k), at(k + 1), at(k + 2)));
        let moments = self.moments_of_site(link, &frame, &force, &torque);
        Ok(Some(Target {
            name: element.text("site").unwrap_or_default(),
            transmission: Transmission::Site { link, frame, gear: ForceVector::new(torque, force) },
            joint: None,
            limits: [f64::NEG_INFINITY, f64::INFINITY],
            effort_range: None,
            gear: 1.0,
            moments,
        }))
    }

    fn moments_of_site(
        &self,
        link: Option<LinkId>,
        frame: &nalgebra::Isometry3<f64>,
        force: &Vector3<f64>,
        torque: &Vector3<f64>,
    ) -> Vec<f64> {
        let mut moments = vec![0.0; self.model.velocities()];
        let Some(link) = link else { return moments };
        let mut kinematics = Kinematics::new(self.model);
        kinematics.update(self.model, self.state);
        let pose = kinematics.pose(link) * frame;
        let jacobian = point_jacobian(self.model, &kinematics, link, &pose.translation.vector);
        let (force, torque) = (pose.rotation * force, pose.rotation * torque);
        for (n, moment) in moments.iter_mut().enumerate() {
            let column = jacobian.column(n);
            *moment = column.fixed_rows::<3>(0).dot(&torque) + column.fixed_rows::<3>(3).dot(&force);
        }
        moments
    }
}

/// Ranges of control and of activation; infinite without a limit. Ranges that a motor inherits are
/// those of what it drives, wider by a factor about their middle; its own range goes before.
fn controls(
    written: &Element,
    element: &Element,
    law: &Law,
    target: &Target<'_>,
    compiler: &Compiler,
) -> Result<[[f64; 2]; 2], ImportError> {
    let unlimited = [f64::NEG_INFINITY, f64::INFINITY];
    let integrates = law.activation == Activation::Integral;
    let own = if integrates { "actrange" } else { "ctrlrange" };
    let mut control = range(element, "ctrlrange", "ctrllimited", compiler)?;
    let mut activation = if law.activation == Activation::None {
        None
    } else {
        range(element, "actrange", "actlimited", compiler)?
    };
    let inherits = matches!(element.tag.as_str(), "position" | "intvelocity" | "general");
    let factor = element.not_negative("inheritrange")?.filter(|x| *x > 0.0 && inherits);
    if let Some(factor) = factor.filter(|_| written.text(own).is_none()) {
        if !target.limits.iter().all(|x| x.is_finite()) {
            return Err(element.bad("inheritrange", "left out where what is driven has no range"));
        }
        let [low, high] = target.limits;
        let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
        let inherited = Some([middle - factor * half, middle + factor * half]);
        if integrates { activation = inherited } else { control = inherited }
    }
    if element.tag == "damper" && control.is_none_or(|[low, _]| low < 0.0) {
        return Err(element.bad("ctrlrange", "a range that is not negative: it is a damping"));
    }
    Ok([control.unwrap_or(unlimited), activation.unwrap_or(unlimited)])
}

/// A range with the sign of a factor.
fn scaled([low, high]: [f64; 2], factor: f64) -> [f64; 2] {
    if factor < 0.0 { [high * factor, low * factor] } else { [low * factor, high * factor] }
}

/// The common part of two ranges; the nearer end of the second where there is none.
fn common(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0].max(b[0]).min(b[1]), a[1].min(b[1]).max(b[0])]
}

/// An effort, a servo or a damper on a joint, if the motor is one.
fn plain(law: &Law, target: &Target<'_>, forces: Option<[f64; 2]>) -> Option<(Actuator, Input)> {
    let joint = target.joint?;
    let (ForceLaw::Affine([gain, 0.0, 0.0]), ForceLaw::Affine([b0, b1, b2])) = (law.gain, law.bias) else {
        return None;
    };
    if law.activation != Activation::None || b1 > 0.0 || b2 > 0.0 {
        return None;
    }
    let mut effort_limit = f64::INFINITY;
    for [low, high] in forces.map(|f| scaled(f, target.gear)).into_iter().chain(target.effort_range) {
        if (low + high).abs() > 1e-9 * high.abs().max(low.abs()) {
            return None;
        }
        effort_limit = f64::min(effort_limit, low.abs().max(high.abs()));
    }
    let gear = target.gear;
    let (stiffness, damping) = (-b1 * gear * gear, -b2 * gear * gear);
    // The force on the joint is gear (gain control + b0) - stiffness q - damping v.
    let (control, divisor) = if stiffness > 0.0 {
        (Control::Position { target: 0.0, target_rate: 0.0, stiffness, damping }, stiffness)
    } else if damping > 0.0 {
        (Control::Velocity { target: 0.0, damping }, damping)
    } else {
        (Control::Effort { effort: 0.0 }, 1.0)
    };
    let (scale, offset) = (gear * gain / divisor, gear * b0 / divisor);
    let actuator = Actuator { link: joint.link, dof: 0, control, effort_limit, gravity_compensation: false };
    Some((actuator, Input { name: String::new(), actuator: 0, scale, offset, range: [0.0; 2] }))
}

fn drive(
    name: String,
    law: &Law,
    target: &Target<'_>,
    forces: Option<[f64; 2]>,
    [control_range, activation_range]: [[f64; 2]; 2],
    element: &Element,
) -> Result<Drive, ImportError> {
    let mut force_range = forces.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    if let Some(range) = target.effort_range {
        force_range = common(force_range, scaled(range, 1.0 / target.gear));
    }
    let mut drive = Drive {
        gain: law.gain,
        bias: law.bias,
        activation: law.activation,
        control_range,
        force_range,
        activation_range,
        early: element.flag("actearly", false)?,
        ..Drive::new(name, target.transmission.clone())
    };
    drive.control = drive.clamped_control();
    Ok(drive)
}
