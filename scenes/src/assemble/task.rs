//! Tasks: joint trajectories that move a tool through its waypoints, and commands to grippers.

use nalgebra::{Translation3, Vector3};
use pliant_planning::inverse_kinematics::{Chain, JointPath};
use pliant_rigid::control::{ControlledJoint, InverseDynamics, JointTrajectory};
use pliant_rigid::multibody::{JointKind, LinkId};
use pliant_rigid::simulation::{Actuator, Control};

use super::arm::{Arm, next_way};
use super::drive::{boxed, fixed_step, link_of, switch_off};
use super::error::AssembleError;
use super::inputs::{Motor, TimedInput};
use super::parts::{Joints, RigidParts, RobotJoints};
use super::pending::{PendingTask, Planned};
use crate::format::{Gripper, Interpolation, Keyframe, Scene, Signal, Task, TaskControl, Varying};
use crate::isometry::isometry;

/// Joint rate limit if neither task nor file have one [rad/s, m/s]: anything faster is a jump.
const RATE_LIMIT: f64 = 10.0;
/// Openings may be this much out of range [m]: rounding of decimals.
const OPENING_SLACK: f64 = 1e-9;

/// Adds the tasks of a scene to its robots.
///
/// # Errors
/// A waypoint or an opening that cannot be reached, a tool that the robot does not carry, a joint
/// that is already driven.
pub(super) fn add(scene: &Scene, parts: &mut RigidParts, joints: &Joints) -> Result<(), AssembleError> {
    let mut driven: Vec<LinkId> = Vec::new();
    for actuator in &scene.actuators {
        driven.push(joints.link(&actuator.joint, "actuators")?);
    }
    for (at, task) in scene.tasks.iter().enumerate() {
        let path = format!("tasks[{at}]");
        let robot = robot(joints, &task.robot, &format!("{path}.robot"))?;
        let arm = arm_of(task, robot, parts, &path)?;
        for link in &arm.links {
            if driven.contains(link) {
                let name = &parts.builder.links()[link.0].name;
                let reason = format!("the joint of '{name}' is already driven by another task or motor");
                return Err(AssembleError::Robot { path: format!("{path}.robot"), reason });
            }
        }
        driven.extend(&arm.links);
        let known = PendingTask::first_sighted(task);
        let planned = plan(&arm, task, known, scene.dt, &path)?;
        match task.control {
            TaskControl::Position { .. } if known < task.waypoints.len() => {
                let before_run = Planned {
                    next: known,
                    end: known.checked_sub(1).map_or(0.0, |last| task.waypoints[last].time),
                    configuration: planned.configurations.last().cloned().unwrap_or_default(),
                    samples: planned.times.len(),
                };
                let first = parts.builder.actuators.len();
                position_control(task, &arm, planned, robot, parts);
                parts.tasks.push(PendingTask {
                    actuators: (first..parts.builder.actuators.len()).collect(),
                    arm,
                    task: task.clone(),
                    path: path.clone(),
                    dt: scene.dt,
                    planned: before_run.clone(),
                    before_run,
                });
            }
            TaskControl::Position { .. } => position_control(task, &arm, planned, robot, parts),
            TaskControl::InverseDynamics { .. } => {
                computed_torque(scene, task, &arm, planned, robot, parts);
            }
        }
        for (k, gripper) in task.grippers.iter().enumerate() {
            open_and_close(gripper, parts, joints, &format!("{path}.grippers[{k}]"))?;
        }
    }
    Ok(())
}

/// The joints between the world and a task's tool.
fn arm_of(task: &Task, robot: &RobotJoints, parts: &RigidParts, path: &str) -> Result<Arm, AssembleError> {
    let builder = &parts.builder;
    let path = format!("{path}.tool.link");
    let fail = |reason: String| AssembleError::Robot { path: path.clone(), reason };
    let name = match task.tool.link.split_once('/') {
        Some(_) => task.tool.link.clone(),
        None => format!("{}/{}", task.robot, task.tool.link),
    };
    let (body, tip) = link_of(builder, &name, &path)?;
    let center = Translation3::from(-parts.centers[body.0]);
    let tool = builder.bodies()[body.0].frame * center * isometry(&task.tool.pose);
    let chain = Chain::new(builder.links(), None, tip, &tool).map_err(|e| fail(e.to_string()))?;
    let mut arm = Arm {
        links: (0..chain.len()).map(|j| chain.link(j)).collect(),
        chain,
        names: Vec::new(),
        start: Vec::new(),
        efforts: Vec::new(),
        rates: Vec::new(),
    };
    for &link in &arm.links {
        let Some(at) = robot.joints.iter().position(|(_, own, _)| *own == link) else {
            let other = &builder.links()[link.0].name;
            return Err(fail(format!(
                "'{name}' also depends on the joint of '{other}', which is not one of '{}'",
                task.robot
            )));
        };
        let (name, _, effort) = &robot.joints[at];
        let motors = &builder.actuators[robot.actuators.clone()];
        let own = motors.iter().filter(|motor| motor.link == link).map(|motor| motor.effort_limit);
        arm.names.push(name.clone());
        arm.start.push(builder.start(link));
        arm.efforts.push(own.fold(*effort, f64::min));
        arm.rates.push(task.rate_limit.or(robot.rates[at]).unwrap_or(RATE_LIMIT));
    }
    Ok(arm)
}

/// The path through the first `count` waypoints, way by way.
fn plan(arm: &Arm, task: &Task, count: usize, dt: f64, path: &str) -> Result<JointPath, AssembleError> {
    let mut whole = JointPath {
        times: vec![0.0],
        configurations: vec![arm.start.clone()],
        rates: vec![vec![0.0; arm.start.len()]],
        waypoints: Vec::new(),
    };
    let mut next = 0;
    while next < count {
        let way = next_way(task, next);
        next = way.end;
        let (Some(&begin), Some(from)) = (whole.times.last(), whole.configurations.last()) else { break };
        let part = arm.plan(task, way, [begin, dt], from, &|_| None, path)?;
        whole.append(part);
    }
    Ok(whole)
}

fn robot<'a>(joints: &'a Joints, name: &str, path: &str) -> Result<&'a RobotJoints, AssembleError> {
    let undefined = || AssembleError::Undefined { path: path.to_owned(), name: name.to_owned() };
    joints.robots.get(name).ok_or_else(undefined)
}

/// Motors that keep the joints on the path.
fn position_control(task: &Task, arm: &Arm, planned: JointPath, robot: &RobotJoints, parts: &mut RigidParts) {
    switch_off(parts, robot, |link| arm.links.contains(&link));
    let [stiffness, damping] = task.control.gains();
    for (j, &link) in arm.links.iter().enumerate() {
        let samples = planned.times.iter().zip(&planned.configurations);
        let keyframes =
            samples.map(|(&time, configuration)| Keyframe { time, value: configuration[j] }).collect();
        let interpolation = Interpolation::Linear;
        let signal = Signal::Varying(Varying::Keyframes { keyframes, interpolation });
        parts.inputs.0.push(TimedInput::new(Motor::Actuator(parts.builder.actuators.len()), signal));
        parts.builder.actuators.push(Actuator {
            link,
            dof: 0,
            control: Control::Position { target: arm.start[j], target_rate: 0.0, stiffness, damping },
            effort_limit: arm.efforts[j],
            gravity_compensation: true,
        });
    }
}

/// Computed torque along the path.
fn computed_torque(
    scene: &Scene,
    task: &Task,
    arm: &Arm,
    planned: JointPath,
    robot: &RobotJoints,
    parts: &mut RigidParts,
) {
    switch_off(parts, robot, |link| arm.links.contains(&link));
    let [stiffness, damping] = task.control.gains();
    let joint = |(&link, &effort_limit): (&LinkId, &f64)| ControlledJoint {
        link,
        dof: 0,
        stiffness,
        damping,
        effort_limit,
    };
    let driven: Vec<ControlledJoint> = arm.links.iter().zip(&arm.efforts).map(joint).collect();
    let period = fixed_step(scene);
    parts.builder.externals.push(boxed(move |model| {
        let JointPath { times, configurations, rates, .. } = planned;
        let path = JointTrajectory::hermite(times, configurations, rates)?;
        InverseDynamics::new(model, driven, path)?.with_period(period)
    }));
}

/// One finger of a gripper: its motor, and the range of its coordinate \[m\].
struct Finger {
    actuator: usize,
    link: LinkId,
    range: [f64; 2],
    /// Initial input of its motor \[m\].
    initial_target: f64,
    /// Largest force of its motor \[N\].
    effort: f64,
}

/// The two opposed fingers of a gripper.
fn fingers(
    hand: &RobotJoints,
    parts: &RigidParts,
    name: &str,
    path: &str,
) -> Result<[Finger; 2], AssembleError> {
    let links = parts.builder.links();
    let fail = |reason: String| AssembleError::Robot { path: path.to_owned(), reason };
    let mut found = Vec::new();
    for actuator in hand.actuators.clone() {
        let motor = &parts.builder.actuators[actuator];
        if let (Control::Position { target, .. }, JointKind::Prismatic { .. }) =
            (motor.control, &links[motor.link.0].joint)
        {
            let range = links[motor.link.0].dofs.first().map_or([0.0, f64::INFINITY], |dof| dof.limits);
            let (link, effort) = (motor.link, motor.effort_limit);
            found.push(Finger { actuator, link, range, initial_target: target, effort });
        }
    }
    let count = found.len();
    let pair: [Finger; 2] = found.try_into().map_err(|_| {
        fail(format!("'{name}' has {count} prismatic joints with a position motor; a hand needs two"))
    })?;
    let axis = |finger: &Finger| match &links[finger.link.0].joint {
        JointKind::Prismatic { axis } => links[finger.link.0].frame.rotation * axis.into_inner(),
        _ => Vector3::zeros(),
    };
    let same_parent = links[pair[0].link.0].parent == links[pair[1].link.0].parent;
    if !same_parent || axis(&pair[0]).dot(&axis(&pair[1])) > -0.999 {
        return Err(fail(format!("the fingers of '{name}' do not slide against each other")));
    }
    let used =
        |finger: &Finger| parts.inputs.0.iter().any(|input| input.motor == Motor::Actuator(finger.actuator));
    if pair.iter().any(used) {
        return Err(fail(format!(
            "the motors of '{name}' are already controlled by its `controls` or by another task"
        )));
    }
    Ok(pair)
}

/// Sets the motors of a gripper's fingers to half of the opening each.
fn open_and_close(
    gripper: &Gripper,
    parts: &mut RigidParts,
    joints: &Joints,
    path: &str,
) -> Result<(), AssembleError> {
    let hand_path = format!("{path}.robot");
    let hand = robot(joints, &gripper.robot, &hand_path)?;
    let pair = fingers(hand, parts, &gripper.robot, &hand_path)?;
    let range = [0, 1].map(|end| pair[0].range[end] + pair[1].range[end]);
    for (at, command) in gripper.commands.iter().enumerate() {
        let fail = |field: &str, reason: String| {
            Err(AssembleError::Robot { path: format!("{path}.commands[{at}].{field}"), reason })
        };
        if command.opening < range[0] - OPENING_SLACK || command.opening > range[1] + OPENING_SLACK {
            let reason = format!(
                "{} m is outside the opening range of '{}', [{}, {}] m",
                command.opening, gripper.robot, range[0], range[1]
            );
            return fail("opening", reason);
        }
        let strongest = pair[0].effort.min(pair[1].effort);
        if let Some(effort) = command.effort
            && effort > strongest
        {
            let reason = format!(
                "{effort} N is more than the effort limit of a motor of '{}', {strongest} N",
                gripper.robot
            );
            return fail("effort", reason);
        }
    }
    for finger in pair {
        let (mut openings, mut efforts) = (Vec::new(), vec![Keyframe { time: 0.0, value: finger.effort }]);
        let mut initial_target = finger.initial_target;
        for command in &gripper.commands {
            let (from, to) = (command.time, command.time + command.duration);
            // A command may begin where the one before ends.
            if openings.last().is_none_or(|last: &Keyframe| last.time < from) {
                openings.push(Keyframe { time: from, value: initial_target });
            }
            initial_target = (0.5 * command.opening).clamp(finger.range[0], finger.range[1]);
            openings.push(Keyframe { time: to, value: initial_target });
            efforts.push(Keyframe { time: from, value: command.effort.unwrap_or(finger.effort) });
        }
        let signal =
            |keyframes, interpolation| Signal::Varying(Varying::Keyframes { keyframes, interpolation });
        let limited = gripper.commands.iter().any(|command| command.effort.is_some());
        parts.inputs.0.push(TimedInput {
            effort_limit: limited.then(|| signal(efforts, Interpolation::Hold)),
            ..TimedInput::new(Motor::Actuator(finger.actuator), signal(openings, Interpolation::Smooth))
        });
    }
    Ok(())
}
