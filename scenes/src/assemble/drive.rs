//! Motors, constraints, forces and controllers.

use nalgebra::{Point3, Unit, Vector3};
use pliant_rigid::control::{
    AppliedWave, ControlledJoint, Cup, InverseDynamics, JointTrajectory, Suction, SuctionForceModel,
    SuctionTarget, Wave,
};
use pliant_rigid::multibody::{ForceVector, LinkId};
use pliant_rigid::simulation::{Actuator, Control, Equality, ExternalSystem};
use pliant_rigid::{BodiesBuilder, BodyId, ExternalMaker};

use super::error::AssembleError;
use super::inputs::{Motor, TimedInput};
use super::parts::{Joints, RigidParts, RobotJoints};
use crate::format::{self, Interpolation, Scene, Signal, Varying};
use crate::isometry::isometry;

/// Linear pieces of a force between two keyframes with smooth interpolation.
const PIECES: u32 = 16;

/// Fraction of the range at which suction has half of its force.
const HALF_DISTANCE: f64 = 0.1;

/// Adds the motors, constraints, forces and controllers of a scene to its bodies.
pub(super) fn add(scene: &Scene, parts: &mut RigidParts, joints: &Joints) -> Result<(), AssembleError> {
    for (at, actuator) in scene.actuators.iter().enumerate() {
        motor(actuator, parts, joints, &format!("actuators[{at}]"))?;
    }
    for (at, described) in scene.constraints.iter().enumerate() {
        let held = constraint(described, parts, joints, &format!("constraints[{at}]"))?;
        parts.builder.equalities.push(match described.release() {
            Some(release) => Equality::Timed { release, held: Box::new(held) },
            None => held,
        });
    }
    for (at, force) in scene.forces.iter().enumerate() {
        apply(force, parts, &format!("forces[{at}]"))?;
    }
    for (at, controller) in scene.controllers.iter().enumerate() {
        let path = format!("controllers[{at}]");
        match controller {
            format::Controller::InverseDynamics(control) => {
                computed_torque(scene, control, parts, joints, &path)?
            }
            format::Controller::Suction(cups) => suction(cups, parts, &path)?,
        }
    }
    Ok(())
}

fn find(builder: &BodiesBuilder, name: &str, path: &str) -> Result<BodyId, AssembleError> {
    let undefined = || AssembleError::Undefined { path: path.to_owned(), name: name.to_owned() };
    builder.find(name).ok_or_else(undefined)
}

/// The link of a body that can move.
pub(super) fn link_of(
    builder: &BodiesBuilder,
    name: &str,
    path: &str,
) -> Result<(BodyId, LinkId), AssembleError> {
    let body = find(builder, name, path)?;
    let link = builder.link(body).ok_or_else(|| AssembleError::Robot {
        path: path.to_owned(),
        reason: format!("'{name}' does not move"),
    })?;
    Ok((body, link))
}

fn motor(
    described: &format::Actuator,
    parts: &mut RigidParts,
    joints: &Joints,
    path: &str,
) -> Result<(), AssembleError> {
    let link = joints.link(&described.joint, &format!("{path}.joint"))?;
    let start = described.control.value().at(0.0);
    let control = match described.control {
        format::Control::Effort { .. } => Control::Effort { effort: start },
        format::Control::Velocity { damping, .. } => Control::Velocity { target: start, damping },
        format::Control::Position { stiffness, damping, .. } => {
            Control::Position { target: start, target_rate: 0.0, stiffness, damping }
        }
    };
    let signal = described.control.value().clone();
    parts.inputs.0.push(TimedInput::new(Motor::Actuator(parts.builder.actuators.len()), signal));
    parts.builder.actuators.push(Actuator {
        link,
        dof: described.dof as usize,
        control,
        effort_limit: described.effort_limit.unwrap_or(f64::INFINITY),
        gravity_compensation: described.gravity_compensation,
    });
    Ok(())
}

fn constraint(
    described: &format::Constraint,
    parts: &RigidParts,
    joints: &Joints,
    path: &str,
) -> Result<Equality, AssembleError> {
    use format::Constraint as C;
    let (builder, centers) = (&parts.builder, &parts.centers);
    let body = |name: &Option<String>, k: usize| -> Result<Option<BodyId>, AssembleError> {
        name.as_ref().map(|name| find(builder, name, &format!("{path}.bodies[{k}]"))).transpose()
    };
    let pair =
        |names: &[Option<String>; 2]| Ok::<_, AssembleError>([body(&names[0], 0)?, body(&names[1], 1)?]);
    let links = |bodies: &[Option<BodyId>; 2]| bodies.map(|b| b.and_then(|b| builder.link(b)));
    // The scene's frame of a body in its link's, or in the world's.
    let frame = |b: Option<BodyId>| {
        b.map_or(nalgebra::Isometry3::identity(), |b| {
            builder.bodies()[b.0].frame * nalgebra::Translation3::from(-centers[b.0])
        })
    };
    let place = |bodies: &[Option<BodyId>; 2], points: &[[f64; 3]; 2]| {
        [0, 1].map(|k| frame(bodies[k]) * Point3::from(points[k]))
    };
    Ok(match described {
        C::Ball { bodies, points, .. } => {
            let bodies = pair(bodies)?;
            Equality::Ball { links: links(&bodies), points: place(&bodies, points) }
        }
        C::Distance { bodies, points, distance, .. } => {
            let bodies = pair(bodies)?;
            Equality::Distance { links: links(&bodies), points: place(&bodies, points), distance: *distance }
        }
        C::Weld { bodies, frames, .. } => {
            let bodies = pair(bodies)?;
            let frames = match frames {
                Some(frames) => [0, 1].map(|k| frame(bodies[k]) * isometry(&frames[k])),
                None => {
                    // Their relative pose: the second's origin, in both frames.
                    let pose =
                        |b: Option<BodyId>| b.map_or(nalgebra::Isometry3::identity(), |b| builder.pose(b));
                    let own = |b: Option<BodyId>| {
                        b.map_or(nalgebra::Isometry3::identity(), |b| builder.bodies()[b.0].frame)
                    };
                    let seen = pose(bodies[0]).inverse() * pose(bodies[1]);
                    [own(bodies[0]) * seen, own(bodies[1])]
                }
            };
            Equality::Weld { links: links(&bodies), frames }
        }
        C::Coupler { driver, driven, ratio, offset, .. } => Equality::Coupler {
            driver: joints.link(driver, &format!("{path}.driver"))?,
            driven: joints.link(driven, &format!("{path}.driven"))?,
            ratio: *ratio,
            offset: *offset,
        },
    })
}

pub(super) fn boxed<E: ExternalSystem + 'static>(
    make: impl FnOnce(&pliant_rigid::multibody::Model) -> Result<E, pliant_rigid::simulation::SimulationError>
    + Send
    + Sync
    + 'static,
) -> ExternalMaker {
    Box::new(move |model| Ok(Box::new(make(model)?) as Box<dyn ExternalSystem>))
}

/// A force that varies; a sine about a mean is two waves.
fn apply(force: &format::Force, parts: &mut RigidParts, path: &str) -> Result<(), AssembleError> {
    let (_, link) = link_of(&parts.builder, &force.body, &format!("{path}.body"))?;
    let described = &parts.builder.links()[link.0];
    // A link's centre of mass follows from its inertia.
    let point = Point3::from(described.inertia.center());
    let unit = ForceVector::new(force.torque.into(), force.force.into());
    for wave in waves(&force.wave, &unit) {
        parts.builder.externals.push(boxed(move |model| AppliedWave::new(model, link, point, wave)));
    }
    Ok(())
}

fn waves(signal: &Signal, unit: &ForceVector) -> Vec<Wave> {
    let constant = |value: f64| Wave::PiecewiseLinear { points: vec![(0.0, *unit * value)] };
    match signal {
        Signal::Constant(value) => vec![constant(*value)],
        Signal::Varying(Varying::Sine { amplitude, frequency, phase, offset }) => {
            let sine = Wave::Sine { amplitude: *unit * *amplitude, frequency: *frequency, phase: *phase };
            if *offset == 0.0 { vec![sine] } else { vec![sine, constant(*offset)] }
        }
        Signal::Varying(Varying::Keyframes { keyframes, interpolation }) => {
            let mut points = Vec::with_capacity(2 * keyframes.len());
            let mut before: Option<f64> = None;
            for key in keyframes {
                // A cubic in straight pieces.
                if let (Interpolation::Smooth, Some(&(from, _))) = (interpolation, points.last()) {
                    let time = |k: u32| from + (key.time - from) * f64::from(k) / f64::from(PIECES);
                    points.extend((1..PIECES).map(|k| (time(k), *unit * signal.at(time(k)))));
                }
                if let (Interpolation::Hold, Some(value)) = (interpolation, before) {
                    points.push((key.time, *unit * value));
                }
                points.push((key.time, *unit * key.value));
                before = Some(key.value);
            }
            vec![Wave::PiecewiseLinear { points }]
        }
    }
}

/// Computed torque on a robot's joints. The motors of the file on these joints are switched off.
fn computed_torque(
    scene: &Scene,
    control: &format::InverseDynamics,
    parts: &mut RigidParts,
    joints: &Joints,
    path: &str,
) -> Result<(), AssembleError> {
    let undefined =
        || AssembleError::Undefined { path: format!("{path}.robot"), name: control.robot.clone() };
    let robot = joints.robots.get(&control.robot).ok_or_else(undefined)?;
    let links = parts.builder.links();
    let single: Vec<_> =
        robot.joints.iter().filter(|(_, link, _)| links[link.0].joint.positions() == 1).collect();
    let starts: Vec<f64> = single.iter().map(|(_, link, _)| parts.builder.start(*link)).collect();
    let mut times: Vec<f64> = control.targets.iter().map(|target| target.time).collect();
    times.dedup();
    let signals: Vec<Signal> = single
        .iter()
        .zip(&starts)
        .enumerate()
        .map(|(k, ((name, ..), start))| control.target(k, name, *start))
        .collect();
    let positions: Vec<Vec<f64>> =
        times.iter().map(|&t| signals.iter().map(|signal| signal.at(t)).collect()).collect();
    let (stiffness, damping) = (control.stiffness, control.damping);
    let driven: Vec<ControlledJoint> = single
        .iter()
        .map(|&&(_, link, effort_limit)| ControlledJoint { link, dof: 0, stiffness, damping, effort_limit })
        .collect();
    switch_off(parts, robot, |link| driven.iter().any(|joint| joint.link == link));
    let (interpolation, period) = (control.interpolation, fixed_step(scene));
    parts.builder.externals.push(boxed(move |model| {
        let path = match interpolation {
            Interpolation::Linear => JointTrajectory::linear(times, positions)?,
            Interpolation::Hold => JointTrajectory::steps(times, positions)?,
            Interpolation::Smooth => JointTrajectory::cubic(times, positions)?,
        };
        InverseDynamics::new(model, driven, path)?.with_period(period)
    }));
    Ok(())
}

/// Switches off the motors of the file on some joints.
pub(super) fn switch_off(parts: &mut RigidParts, robot: &RobotJoints, driven: impl Fn(LinkId) -> bool) {
    let actuators = &mut parts.builder.actuators;
    parts.inputs.0.retain(|input| match input.motor {
        Motor::Actuator(index) => !(robot.actuators.contains(&index) && driven(actuators[index].link)),
        Motor::Drive(_) => true,
    });
    for actuator in &mut actuators[robot.actuators.clone()] {
        if driven(actuator.link) {
            actuator.control = Control::Effort { effort: 0.0 };
        }
    }
}

/// The step of the integrator \[s\]; 0 with error control.
pub(super) fn fixed_step(scene: &Scene) -> f64 {
    match scene.rigid.integrator {
        format::Integrator::Fixed { step } | format::Integrator::Trapezoid { step } => {
            step.unwrap_or(scene.dt)
        }
        format::Integrator::ErrorControlled { .. } => 0.0,
    }
}

fn suction(described: &format::Suction, parts: &mut RigidParts, path: &str) -> Result<(), AssembleError> {
    let (builder, centers) = (&parts.builder, &parts.centers);
    let mut cups = Vec::with_capacity(described.cups.len());
    for (k, name) in described.cups.iter().enumerate() {
        let (body, link) = link_of(builder, name, &format!("{path}.cups[{k}]"))?;
        let frame = builder.bodies()[body.0].frame;
        let point = frame * Point3::from(-centers[body.0]);
        cups.push(Cup { link, point, axis: Unit::new_normalize(frame.rotation * Vector3::z()) });
    }
    let mut targets = Vec::new();
    for (k, name) in described.targets.iter().enumerate() {
        let (body, link) = link_of(builder, name, &format!("{path}.targets[{k}]"))?;
        let body = &builder.bodies()[body.0];
        targets.extend(body.geometries.iter().map(|g| SuctionTarget {
            link,
            pose: body.frame * g.pose,
            shape: g.shape.clone(),
        }));
    }
    let law = SuctionForceModel {
        max_force: described.force,
        half_distance: HALF_DISTANCE * described.range,
        range: described.range,
    };
    let on = vec![described.on];
    parts.builder.externals.push(boxed(move |model| Suction::new(model, cups, targets, law, on)));
    Ok(())
}
