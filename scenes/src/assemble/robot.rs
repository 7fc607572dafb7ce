//! Robots from model files, and all rigid parts of a scene.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_import::{self, Imported};
use pliant_io::text::is_obeyed;
use pliant_rigid::multibody::LinkId;
use pliant_rigid::{BodiesBuilder, PoseTrajectory, Trajectory};

use super::body::{body, pose_keys};
use super::error::AssembleError;
use super::inputs::{Motor, TimedInput, TimedInputs};
use super::parts::{Joints, RigidParts, RobotJoints};
use crate::format::{self, Robot, Scene};
use crate::isometry::isometry;
use crate::models;

/// Builds the bodies and robots of a valid scene, their motors, constraints and controllers. The
/// folder `cache` keeps the hulls of decomposed meshes; without one they are computed anew.
///
/// # Errors
/// [`AssembleError`]: a mesh or model file, a mesh that bounds no solid, a body that cannot be
/// used, a name that a file does not hold.
pub fn rigid_parts(scene: &Scene, cache: Option<&Path>) -> Result<RigidParts, AssembleError> {
    let spread = scene.spread();
    let scene: &Scene = &spread;
    let mut parts = RigidParts {
        builder: BodiesBuilder::new(),
        centers: Vec::new(),
        inputs: TimedInputs::default(),
        tasks: Vec::new(),
        joint_names: BTreeMap::new(),
        robots: Vec::new(),
        warnings: Vec::new(),
        notes: Vec::new(),
        files: Vec::new(),
    };
    let mut joints = Joints { links: BTreeMap::new(), robots: BTreeMap::new() };
    // A body on a robot's link comes after the robots, and so do its descendants.
    let mut late = Vec::new();
    for (at, described) in scene.bodies.iter().enumerate() {
        if parent(described).is_none_or(|name| parts.builder.find(name).is_some()) {
            add_body(&mut parts, &mut joints, scene, at)?;
        } else {
            late.push(at);
        }
    }
    for (at, robot) in scene.robots.iter().enumerate() {
        add_robot(&mut parts, &mut joints, robot, &format!("robots[{at}]"), cache)?;
    }
    // The gravest of all robots first.
    parts.warnings.sort_by_key(|(kind, _)| *kind);
    for at in late {
        add_body(&mut parts, &mut joints, scene, at)?;
    }
    super::drive::add(scene, &mut parts, &joints)?;
    super::task::add(scene, &mut parts, &joints)?;
    parts.joint_names = joints.links.into_iter().map(|(name, link)| (link, name)).collect();
    Ok(parts)
}

fn parent(body: &format::BodySpec) -> Option<&str> {
    match &body.motion {
        format::Motion::Dynamic(dynamic) => dynamic.parent.as_deref(),
        _ => None,
    }
}

fn add_body(
    parts: &mut RigidParts,
    joints: &mut Joints,
    scene: &Scene,
    at: usize,
) -> Result<(), AssembleError> {
    let (path, described) = (format!("bodies[{at}]"), &scene.bodies[at]);
    let (desc, center) = body(described, &scene.rigid, &parts.builder, &path)?;
    let added = parts
        .builder
        .add(desc)
        .map_err(|source| AssembleError::BodySpec { path, source: Box::new(source) })?;
    if let Some(link) = parts.builder.link(added) {
        joints.links.insert(described.name.clone(), link);
    }
    parts.centers.push(center);
    Ok(())
}

fn add_robot(
    parts: &mut RigidParts,
    joints: &mut Joints,
    robot: &Robot,
    path: &str,
    cache: Option<&Path>,
) -> Result<(), AssembleError> {
    let mut imported = read(robot, path, cache)?;
    check_names(&imported, path)?;
    let warnings = pliant_import::summarised(&imported.warnings);
    let grave: Vec<_> = imported.warnings.iter().filter(|w| w.changes_motion()).cloned().collect();
    if !(grave.is_empty() || robot.ignore_warnings) {
        let warnings = pliant_import::summarised(&grave).into_iter().map(|(_, line)| line).collect();
        return Err(AssembleError::Warnings { path: path.to_owned(), warnings });
    }
    parts.warnings.extend(warnings.into_iter().map(|(kind, warning)| (kind, format!("{path}: {warning}"))));
    parts.notes.extend(imported.notes.drain(..).map(|note| format!("{path}: {note}")));
    start(&mut imported, robot, path)?;
    if robot.file.is_some() {
        parts.files.append(&mut imported.files);
    }
    let parent = match &robot.parent {
        None => None,
        Some(name) => {
            let undefined =
                || AssembleError::Undefined { path: format!("{path}.parent"), name: name.clone() };
            Some(parts.builder.find(name).ok_or_else(undefined)?)
        }
    };
    let own: Vec<_> = imported.joints.iter().map(|j| (j.name.clone(), j.link, j.effort_limit)).collect();
    let rates = imported.joints.iter().map(|j| j.velocity_limit).collect();
    let inputs = imported.inputs.clone();
    let drives: Vec<_> =
        imported.system.drives.iter().map(|drive| (drive.name.clone(), drive.control_range)).collect();
    let motors = imported.system.actuators.len();
    let handle = parts
        .builder
        .robot(&robot.name, imported, parent, &isometry(&robot.pose))
        .map_err(|source| AssembleError::BodySpec { path: path.to_owned(), source: Box::new(source) })?;
    parts.centers.resize(parts.builder.len(), Vector3::zeros());
    let mechanism = handle.mechanism().clone();
    parts.robots.push(handle);
    let first = mechanism.first_actuator;
    for (name, signal) in &robot.controls {
        let input = inputs.iter().find(|input| input.name == *name).map(|input| TimedInput {
            scale: input.scale,
            offset: input.offset,
            range: input.range,
            ..TimedInput::new(Motor::Actuator(first + input.actuator), signal.clone())
        });
        let drive = || {
            let index = drives.iter().position(|(own, _)| own == name)?;
            let motor = Motor::Drive(mechanism.first_drive + index);
            Some(TimedInput { range: drives[index].1, ..TimedInput::new(motor, signal.clone()) })
        };
        parts.inputs.0.push(input.or_else(drive).ok_or_else(|| AssembleError::Undefined {
            path: format!("{path}.controls.{name}"),
            name: name.clone(),
        })?);
    }
    let mut listed = Vec::with_capacity(own.len());
    for (name, link, limit) in own {
        let link = mechanism.link(link);
        joints.links.insert(format!("{}/{name}", robot.name), link);
        listed.push((name, link, limit.unwrap_or(f64::INFINITY)));
    }
    let actuators = first..first + motors;
    joints.robots.insert(robot.name.clone(), RobotJoints { joints: listed, rates, actuators });
    Ok(())
}

fn read(robot: &Robot, path: &str, cache: Option<&Path>) -> Result<Imported, AssembleError> {
    let read = match (&robot.file, robot.model) {
        (Some(file), _) => pliant_import::load_with(file, &robot.load_options(cache)),
        (None, Some(model)) => models::import(model),
        (None, None) => {
            return Err(AssembleError::Undefined { path: format!("{path}.file"), name: String::new() });
        }
    };
    read.map_err(|source| AssembleError::Import { path: path.to_owned(), source: Box::new(source) })
}

/// Refuses names that a terminal or a table would obey instead of showing them.
fn check_names(imported: &Imported, path: &str) -> Result<(), AssembleError> {
    let links = imported.system.model.links().iter().map(|link| ("link", &link.name));
    let joints = imported.joints.iter().map(|joint| ("joint", &joint.name));
    let inputs = imported.inputs.iter().map(|input| ("motor", &input.name));
    let keyframes = imported.keyframes.iter().map(|keyframe| ("keyframe", &keyframe.name));
    let mut names = links.chain(joints).chain(inputs).chain(keyframes);
    match names.find(|(_, name)| name.chars().any(is_obeyed)) {
        None => Ok(()),
        Some((what, name)) => {
            Err(AssembleError::ControlCharacter { path: path.to_owned(), what, name: name.clone() })
        }
    }
}

/// The initial state of the robot: its keyframe, with single coordinates overridden.
fn start(imported: &mut Imported, robot: &Robot, path: &str) -> Result<(), AssembleError> {
    if let Some(name) = &robot.keyframe {
        let found = imported.keyframe(name).cloned();
        let keyframe = found.ok_or_else(|| AssembleError::Undefined {
            path: format!("{path}.keyframe"),
            name: name.clone(),
        })?;
        imported.state.q = keyframe.state.q;
        imported.state.v = keyframe.state.v;
        imported.place_mocaps(&keyframe.mocaps);
        imported.set_control(&keyframe.control);
        imported.set_drive_control(&keyframe.drive_control);
        let active = imported.system.drives.iter_mut().filter(|drive| drive.has_activation());
        active.zip(&keyframe.activation).for_each(|(drive, start)| drive.start = *start);
    }
    for (name, &position) in &robot.positions {
        let path = format!("{path}.positions.{name}");
        let undefined = || AssembleError::Undefined { path: path.clone(), name: name.clone() };
        let link = imported.joint(name).ok_or_else(undefined)?;
        let model = &imported.system.model;
        let (place, dofs) = (model.positions_of(link), model.links()[link.0].joint.velocities());
        if place.len() != 1 || dofs != 1 {
            let reason = format!("'{name}' has {dofs} degrees of freedom, not one coordinate");
            return Err(AssembleError::Robot { path, reason });
        }
        let [least, greatest] = model.links()[link.0].dofs[0].limits;
        if position < least || position > greatest {
            let reason = format!("{position} rad or m is outside the joint limits [{least}, {greatest}]");
            return Err(AssembleError::Robot { path, reason });
        }
        imported.state.q[place.start] = position;
    }
    for (name, format::MocapPath { keyframes }) in &robot.mocap {
        let path = format!("{path}.mocap.{name}");
        let mocap = imported.mocaps.iter().find(|mocap| mocap.name == *name);
        let link = mocap
            .map(|mocap| mocap.link)
            .ok_or_else(|| AssembleError::Undefined { path: path.clone(), name: name.clone() })?;
        let keys = pose_keys(keyframes);
        let start = keys.first().map_or_else(Isometry3::identity, |key| key.pose);
        let walked = PoseTrajectory::new(&Trajectory::Poses(keys), &start, name)
            .map_err(|source| AssembleError::BodySpec { path, source: Box::new(source) })?;
        imported.system.model.set_path(link, Arc::new(walked));
    }
    follow(imported, robot);
    Ok(())
}

/// Moves joints that the scene does not place to where their couplings demand them, if the scene
/// places their drivers. Couplings may follow each other.
fn follow(imported: &mut Imported, robot: &Robot) {
    let placed: Vec<LinkId> = robot.positions.keys().filter_map(|name| imported.joint(name)).collect();
    let mut moved = placed.clone();
    let Imported { system, state, .. } = imported;
    let place = |link: LinkId| system.model.positions_of(link).start;
    for _ in 0..system.equalities.len() {
        let before = moved.len();
        for coupling in &system.equalities {
            let Some((driver, driven, q)) = coupling.demanded(|link| state.q[place(link)]) else { continue };
            if moved.contains(&driver) && !moved.contains(&driven) {
                state.q[place(driven)] = q;
                moved.push(driven);
            }
        }
        if moved.len() == before {
            break;
        }
    }
}
