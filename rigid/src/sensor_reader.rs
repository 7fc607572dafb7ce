//! Readings of sensors.

use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};

use crate::bodies::Bodies;
use crate::multibody::{LinkId, MotionVector};
use crate::sensor::{Quantity, Reading, Sensor, SensorFrame, SensorObject, Source};
use crate::sensor_zone::TouchZone;
use crate::simulation::{Reactions, StepMotion, Transmission};

/// Reads sensors. Its buffers are kept, so that it allocates nothing after its first reading.
///
/// What depends on the state is of [`Bodies::time`]. Forces and accelerations are means over the
/// last step of the bodies' integrator, in the axes that a site has in the middle of that step: an
/// acceleration is the change of the velocity by the length of the step. They are absent before the
/// first step and after a restore, and are to be read before the inputs, forces and paths of the
/// next step are set. Motion that a rebound changes at once (restitution) is in no acceleration and
/// no joint's force; its impulse is in that of a touch sensor.
#[derive(Clone, Debug, Default)]
pub struct SensorReader {
    reactions: Reactions,
    motion: StepMotion,
}

impl SensorReader {
    /// Finds what readings of these sensors need of the last step.
    pub fn update<'a>(&mut self, bodies: &Bodies, sensors: impl IntoIterator<Item = &'a Sensor>) {
        let most = sensors.into_iter().map(|sensor| sensor.quantity.row().source).max();
        if most >= Some(Source::Motion) {
            bodies.simulation().find_step_motion(&mut self.motion);
        }
        if most >= Some(Source::Reactions) {
            bodies.simulation().find_reactions(&mut self.reactions);
        }
    }

    /// The reading of a sensor of these bodies, for which [`update`](Self::update) was called; none
    /// where it was not measured.
    pub fn read(&self, bodies: &Bodies, sensor: &Sensor) -> Option<Reading> {
        let found = match sensor.object {
            SensorObject::None => Some(bodies.time().into()),
            SensorObject::Frame(frame) => self.frame(bodies, sensor, &frame),
            SensorObject::Zone(frame, zone) => touch(bodies, &frame, &zone),
            SensorObject::Joint(link) => joint(bodies, sensor.quantity, link),
            SensorObject::Tendon(tendon) => of_tendon(bodies, sensor.quantity, tendon),
            SensorObject::Motor { actuator, gear } => motor(bodies, sensor.quantity, actuator, gear),
            SensorObject::Drive(drive) => of_drive(bodies, sensor.quantity, drive),
            SensorObject::Subtree(link) => subtree(bodies, sensor.quantity, link),
        };
        found.map(|reading| sensor.clipped(reading))
    }

    fn frame(&self, bodies: &Bodies, sensor: &Sensor, frame: &SensorFrame) -> Option<Reading> {
        match sensor.quantity.row().source {
            Source::Motion => self.acceleration(bodies, sensor.quantity, frame),
            Source::Reactions => self.reaction(sensor.quantity, frame),
            Source::State | Source::Step => at_state(bodies, sensor, frame),
        }
    }

    fn acceleration(&self, bodies: &Bodies, quantity: Quantity, frame: &SensorFrame) -> Option<Reading> {
        let mean = self.motion.acceleration(frame.link, &frame.pose.translation.vector)?;
        let felt = mean.linear - bodies.simulation().system().model.gravity;
        match quantity {
            Quantity::Accelerometer => {
                let axes = self.motion.orientation(frame.link)? * frame.pose.rotation;
                Some(axes.inverse_transform_vector(&felt).into())
            }
            Quantity::FrameAcceleration => Some(felt.into()),
            Quantity::FrameAngularAcceleration => Some(mean.angular.into()),
            _ => None,
        }
    }

    fn reaction(&self, quantity: Quantity, frame: &SensorFrame) -> Option<Reading> {
        let link = frame.link?;
        let force = self.reactions.joints.get(link.0)?;
        let rotation = self.motion.orientation(frame.link)?;
        let here = force.shifted(&(rotation * frame.pose.translation.vector));
        let own = |vector| (rotation * frame.pose.rotation).inverse_transform_vector(vector);
        match quantity {
            Quantity::Force => Some(own(&here.linear).into()),
            Quantity::Torque => Some(own(&here.angular).into()),
            _ => None,
        }
    }
}

/// Pose of a frame in the world, and its velocity, world axes.
fn moving(bodies: &Bodies, frame: &SensorFrame) -> (Isometry3<f64>, MotionVector) {
    let kinematics = bodies.kinematics();
    let pose = frame.placed(kinematics);
    let velocity = frame.link.map_or_else(MotionVector::zero, |link| {
        let origin = kinematics.pose(link).translation.vector;
        kinematics.velocity(link).shifted(&(pose.translation.vector - origin))
    });
    (pose, velocity)
}

fn at_state(bodies: &Bodies, sensor: &Sensor, frame: &SensorFrame) -> Option<Reading> {
    let (pose, velocity) = moving(bodies, frame);
    let own = |vector: &Vector3<f64>| pose.rotation.inverse_transform_vector(vector);
    let (from, carried) = match &sensor.reference {
        Some(reference) => moving(bodies, reference),
        None => (Isometry3::identity(), MotionVector::zero()),
    };
    let seen = |vector: &Vector3<f64>| from.rotation.inverse_transform_vector(vector);
    let offset = pose.translation.vector - from.translation.vector;
    Some(match sensor.quantity {
        Quantity::Velocimeter => own(&velocity.linear).into(),
        Quantity::Gyro => own(&velocity.angular).into(),
        Quantity::FramePosition => seen(&offset).into(),
        Quantity::FrameRotation => (from.rotation.inverse() * pose.rotation).into(),
        Quantity::FrameX => seen(&(pose.rotation * Vector3::x())).into(),
        Quantity::FrameY => seen(&(pose.rotation * Vector3::y())).into(),
        Quantity::FrameZ => seen(&(pose.rotation * Vector3::z())).into(),
        Quantity::FrameVelocity => {
            seen(&(velocity.linear - carried.linear - carried.angular.cross(&offset))).into()
        }
        Quantity::FrameAngularVelocity => seen(&(velocity.angular - carried.angular)).into(),
        _ => return None,
    })
}

fn touch(bodies: &Bodies, frame: &SensorFrame, zone: &TouchZone) -> Option<Reading> {
    let simulation = bodies.simulation();
    if !simulation.has_step() {
        return None;
    }
    let pose = frame.placed(simulation.contact_kinematics());
    let mut sum = 0.0;
    for contact in simulation.contact_forces() {
        let candidate = &contact.candidate;
        // Outwards from the body that has the sensor.
        let outwards = if candidate.first == frame.link {
            candidate.normal
        } else if candidate.second == frame.link {
            -candidate.normal
        } else {
            continue;
        };
        let pressure = contact.force.dot(&candidate.normal);
        let point = pose.inverse_transform_point(&Point3::from(candidate.point));
        if pressure > 0.0 && zone.is_met(&point.coords, &pose.inverse_transform_vector(&outwards)) {
            sum += pressure;
        }
    }
    Some(sum.into())
}

fn joint(bodies: &Bodies, quantity: Quantity, link: LinkId) -> Option<Reading> {
    let (model, state) = (&bodies.simulation().system().model, bodies.state());
    let (q, v) = (&state.q[model.positions_of(link)], &state.v[model.velocities_of(link)]);
    match (quantity, q, v) {
        (Quantity::JointPosition, [q], _) => Some((*q).into()),
        (Quantity::JointVelocity, _, [v]) => Some((*v).into()),
        (Quantity::JointActuatorForce, ..) => {
            Some(bodies.simulation().motor_effort(model.velocities_of(link).start)?.into())
        }
        (Quantity::BallRotation, [w, x, y, z], _) => Some(turn([*w, *x, *y, *z]).into()),
        // The velocity is in the axes of the joint on its parent.
        (Quantity::BallVelocity, [w, x, y, z], [a, b, c]) => {
            let velocity = Vector3::new(*a, *b, *c);
            Some(turn([*w, *x, *y, *z]).inverse_transform_vector(&velocity).into())
        }
        _ => None,
    }
}

fn turn([w, x, y, z]: [f64; 4]) -> UnitQuaternion<f64> {
    UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))
}

fn of_tendon(bodies: &Bodies, quantity: Quantity, tendon: usize) -> Option<Reading> {
    let simulation = bodies.simulation();
    let system = simulation.system();
    let motion = || system.tendons[tendon].motion(&system.model, bodies.kinematics(), bodies.state());
    match quantity {
        Quantity::TendonPosition => Some(motion().0.into()),
        Quantity::TendonVelocity => Some(motion().1.into()),
        Quantity::TendonActuatorForce if simulation.has_step() => {
            let along = system.drives.iter().enumerate().filter_map(|(number, drive)| {
                let on =
                    matches!(drive.transmission, Transmission::Tendon { tendon: of, .. } if of == tendon);
                if on { simulation.drive_force(number) } else { None }
            });
            Some(along.sum::<f64>().into())
        }
        _ => None,
    }
}

fn motor(bodies: &Bodies, quantity: Quantity, actuator: usize, gear: f64) -> Option<Reading> {
    let simulation = bodies.simulation();
    let (system, state) = (simulation.system(), bodies.state());
    let motor = &system.actuators[actuator];
    match quantity {
        Quantity::ActuatorPosition => {
            Some((gear * state.q[system.model.positions_of(motor.link).start + motor.dof]).into())
        }
        Quantity::ActuatorVelocity => {
            Some((gear * state.v[system.model.velocities_of(motor.link).start + motor.dof]).into())
        }
        Quantity::ActuatorForce if simulation.has_step() => {
            Some((simulation.actuator_efforts().nth(actuator)? / gear).into())
        }
        _ => None,
    }
}

fn of_drive(bodies: &Bodies, quantity: Quantity, drive: usize) -> Option<Reading> {
    let simulation = bodies.simulation();
    let (system, state) = (simulation.system(), bodies.state());
    if quantity == Quantity::ActuatorForce {
        return Some(simulation.drive_force(drive)?.into());
    }
    let model = &system.model;
    let (length, rate) = match &system.drives[drive].transmission {
        Transmission::Joint { link, dof, gear } => (
            gear * state.q[model.positions_of(*link).start + dof],
            gear * state.v[model.velocities_of(*link).start + dof],
        ),
        Transmission::Tendon { tendon, gear } => {
            let (length, rate) = system.tendons[*tendon].motion(model, bodies.kinematics(), state);
            (gear * length, gear * rate)
        }
        Transmission::Site { link, frame, gear } => {
            let (pose, velocity) = moving(bodies, &SensorFrame { link: *link, pose: *frame });
            let own = |vector: &Vector3<f64>| pose.rotation.inverse_transform_vector(vector);
            (0.0, own(&velocity.linear).dot(&gear.linear) + own(&velocity.angular).dot(&gear.angular))
        }
    };
    match quantity {
        Quantity::ActuatorPosition => Some(length.into()),
        Quantity::ActuatorVelocity => Some(rate.into()),
        _ => None,
    }
}

fn subtree(bodies: &Bodies, quantity: Quantity, root: LinkId) -> Option<Reading> {
    let (model, kinematics) = (&bodies.simulation().system().model, bodies.kinematics());
    let carried = |l: usize| {
        let ancestors = core::iter::successors(Some(LinkId(l)), |link| model.links()[link.0].parent);
        ancestors.into_iter().any(|link| link == root)
    };
    // About the root's origin.
    let origin = kinematics.pose(root).translation.vector;
    let (mut mass, mut moment) = (0.0, Vector3::zeros());
    let mut momentum = crate::multibody::ForceVector::zero();
    for (l, link) in model.links().iter().enumerate().skip(root.0).filter(|(l, _)| carried(*l)) {
        let pose = kinematics.pose(LinkId(l));
        let offset = pose.translation.vector - origin;
        mass += link.inertia.mass;
        moment += (offset + pose.rotation * link.inertia.center()) * link.inertia.mass;
        let own = link.inertia.rotated(pose).momentum(kinematics.velocity(LinkId(l)));
        momentum += own.shifted(&-offset);
    }
    // What has no mass is at its origin, and has no velocity to tell.
    let center = if mass > 0.0 { moment / mass } else { Vector3::zeros() };
    match quantity {
        Quantity::SubtreeCenter => Some((origin + center).into()),
        Quantity::SubtreeVelocity if mass > 0.0 => Some((momentum.linear / mass).into()),
        Quantity::SubtreeAngularMomentum => Some(momentum.shifted(&center).angular.into()),
        _ => None,
    }
}
