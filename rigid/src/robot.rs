//! A robot by name: reads and drives a mechanism among bodies by the names of its file.

use std::sync::Arc;

use nalgebra::{DMatrix, Isometry3, Point3};
use thiserror::Error;

use crate::bodies::{Bodies, BodiesBuilder, Mechanism};
use crate::body::MechanismDesc;
use crate::error::RigidError;
use crate::id::BodyId;
use crate::multibody::{
    ForceVector, InverseDynamicsBuffers, LinkId, MassMatrix, bias_forces, for_each_axis, mass_matrix,
};
use crate::names::{Keyframe, MechanismNames, Site};
use crate::simulation::{Control, System};
use crate::spatial::SpatialVelocity;
use crate::trajectory::PoseTrajectory;

/// A name or value that a robot cannot use.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RobotError {
    /// A name that the robot does not have.
    #[error("robot '{robot}' has no {kind} '{name}'; the nearest: {}", nearest.join(", "))]
    Unknown {
        /// Name of the robot.
        robot: String,
        /// What was looked for: "joint", "link", "motor", "site", "sensor", "mocap body" or
        /// "keyframe".
        kind: &'static str,
        /// The name.
        name: String,
        /// Up to three names that it has, the nearest first.
        nearest: Vec<String>,
    },
    /// A motor of another kind than the input, or none.
    #[error("robot '{robot}', joint '{joint}': no motor takes {wanted} there")]
    Kind {
        /// Name of the robot.
        robot: String,
        /// Name of the joint.
        joint: String,
        /// What was to be set.
        wanted: &'static str,
    },
    /// A body that cannot be moved as asked.
    #[error("robot '{robot}', mocap body '{name}': {reason}")]
    Mocap {
        /// Name of the robot.
        robot: String,
        /// Name of the body.
        name: String,
        /// Why.
        reason: String,
    },
    /// A list of another length.
    #[error("robot '{robot}': {found} efforts given for {expected} velocities")]
    Count {
        /// Name of the robot.
        robot: String,
        /// Number given.
        found: usize,
        /// Number of velocities.
        expected: usize,
    },
    /// An input that is NaN or infinite.
    #[error("robot '{robot}', '{name}': {value} given; it must be finite")]
    NotFinite {
        /// Name of the robot.
        robot: String,
        /// Name of the joint or motor.
        name: String,
        /// The value.
        value: f64,
    },
}

/// Input of a joint's motor; m and N replace rad and N m for a prismatic joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointTarget {
    /// Effort of a torque motor \[N m\].
    Effort(f64),
    /// Target of a position motor \[rad\] and its rate \[rad/s\].
    Position(f64, f64),
    /// Target of a velocity motor \[rad/s\].
    Velocity(f64),
}

/// A robot among [`Bodies`]. It borrows nothing, and clones share their names. All functions take
/// the bodies that the robot was built into, and panic with others that have fewer links or motors.
///
/// Velocities, efforts and columns are in the order of the robot's links, each with those of its
/// joint: [`velocities_of`](Self::velocities_of) says where a joint's are.
///
/// ```
/// # use pliant_rigid::{RobotError, RobotHandle, Bodies};
/// // Holds an arm of torque motors against gravity.
/// fn hold(arm: &RobotHandle, bodies: &mut Bodies) -> Result<(), RobotError> {
///     let efforts = arm.bias(bodies);
///     arm.set_efforts(bodies, &efforts)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct RobotHandle {
    pub(crate) parts: Arc<Parts>,
}

#[derive(Debug)]
pub(crate) struct Parts {
    name: String,
    links: Vec<String>,
    drives: Vec<String>,
    pub(crate) names: MechanismNames,
    pub(crate) place: Mechanism,
}

impl BodiesBuilder {
    /// Adds a mechanism as [`add_mechanism`](Self::add_mechanism) does, and keeps its names.
    ///
    /// # Errors
    /// A name that is already used. Nothing is added then.
    pub fn robot(
        &mut self,
        name: &str,
        mechanism: impl Into<MechanismDesc>,
        parent: Option<BodyId>,
        base: &Isometry3<f64>,
    ) -> Result<RobotHandle, RigidError> {
        let mechanism = mechanism.into();
        let names = mechanism.names.clone();
        let links = mechanism.system.model.links().iter().map(|link| link.name.clone()).collect();
        let drives = mechanism.system.drives.iter().map(|drive| drive.name.clone()).collect();
        let place = self.add_mechanism(name, mechanism, parent, base)?;
        Ok(RobotHandle { parts: Arc::new(Parts { name: name.to_owned(), links, drives, names, place }) })
    }
}

impl MechanismDesc {
    /// The mechanism in a state that its file names, with the inputs of that state.
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn at_keyframe(mut self, name: &str) -> Result<Self, RobotError> {
        let known = self.names.keyframes.iter().map(|key| &key.name[..]);
        let at = find("", "keyframe", name, known)?;
        let Keyframe { state, control, drive_control, activation, mocaps, .. } =
            self.names.keyframes[at].clone();
        self.state = state;
        for (mocap, pose) in self.names.mocaps.iter().zip(&mocaps) {
            self.system.model.set_path(mocap.link, Arc::new(PoseTrajectory::at_rest(pose)));
        }
        for (input, control) in self.names.inputs.iter().zip(control) {
            input.apply(control, &mut self.system.actuators[input.actuator].control);
        }
        for (drive, control) in self.system.drives.iter_mut().zip(drive_control) {
            drive.control = control;
            drive.control = drive.clamped_control();
        }
        let active = self.system.drives.iter_mut().filter(|drive| drive.has_activation());
        active.zip(activation).for_each(|(drive, activation)| drive.start = activation);
        Ok(self)
    }
}

impl RobotHandle {
    /// Name of the robot.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// Names of the joints, in the order of the file.
    pub fn joints(&self) -> impl Iterator<Item = &str> {
        self.parts.names.joints.iter().map(|joint| &joint.name[..])
    }

    /// Names of the links.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.parts.links.iter().map(|link| &link[..])
    }

    /// Names of the motors on joints, then of the drives.
    pub fn actuators(&self) -> impl Iterator<Item = &str> {
        let motors = self.parts.names.inputs.iter().map(|input| &input.name[..]);
        motors.chain(self.parts.drives.iter().map(|drive| &drive[..]))
    }

    /// Names of the keyframes.
    pub fn keyframes(&self) -> impl Iterator<Item = &str> {
        self.parts.names.keyframes.iter().map(|key| &key.name[..])
    }

    /// The link of a name.
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn link(&self, name: &str) -> Result<LinkId, RobotError> {
        let own = find(self.name(), "link", name, self.links())?;
        Ok(self.parts.place.link(LinkId(own)))
    }

    /// Names of the sites, in the order of the file.
    pub fn sites(&self) -> impl Iterator<Item = &str> {
        self.parts.names.sites.iter().map(|site| &site.name[..])
    }

    /// The site of a name: the link that carries it, `None` for the world, and its frame in the
    /// link's \[m\]. See [`Bodies::site_pose`].
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn site<'a>(&self, bodies: &'a Bodies, name: &str) -> Result<&'a Site, RobotError> {
        let at = find(self.name(), "site", name, self.sites())?;
        Ok(&bodies.sites()[self.parts.place.first_site + at])
    }

    /// The body of the link of a name.
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn body(&self, link: &str) -> Result<BodyId, RobotError> {
        Ok(self.parts.place.bodies[find(self.name(), "link", link, self.links())?])
    }

    /// The link that the joint of a name moves.
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn joint(&self, name: &str) -> Result<LinkId, RobotError> {
        let at = find(self.name(), "joint", name, self.joints())?;
        Ok(self.parts.place.link(self.parts.names.joints[at].link))
    }

    /// Where a joint's numbers are in the robot's velocities.
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn velocities_of(&self, bodies: &Bodies, joint: &str) -> Result<core::ops::Range<usize>, RobotError> {
        let link = self.joint(joint)?;
        let model = &bodies.simulation().system().model;
        let before = self.own_links().take_while(|l| *l != link);
        let first = before.map(|l| model.velocities_of(l).len()).sum();
        Ok(first..first + model.velocities_of(link).len())
    }

    /// Positions of all joints, in the order of the links \[rad, m\]; their layout is that of
    /// [`JointKind`](crate::multibody::JointKind).
    pub fn positions(&self, bodies: &Bodies) -> Vec<f64> {
        let model = &bodies.simulation().system().model;
        self.own_links().flat_map(|l| &bodies.state().q[model.positions_of(l)]).copied().collect()
    }

    /// Velocities of all joints \[rad/s, m/s\].
    pub fn velocities(&self, bodies: &Bodies) -> Vec<f64> {
        self.own_velocities(bodies).map(|n| bodies.state().v[n]).collect()
    }

    /// Positions and velocities of one joint \[rad, m, rad/s, m/s\].
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn joint_state<'a>(
        &self,
        bodies: &'a Bodies,
        joint: &str,
    ) -> Result<(&'a [f64], &'a [f64]), RobotError> {
        let link = self.joint(joint)?;
        let (model, state) = (&bodies.simulation().system().model, bodies.state());
        Ok((&state.q[model.positions_of(link)], &state.v[model.velocities_of(link)]))
    }

    /// Pose of a link in the world.
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn pose(&self, bodies: &Bodies, link: &str) -> Result<Isometry3<f64>, RobotError> {
        Ok(bodies.pose(self.body(link)?))
    }

    /// Velocity of a link's origin, world frame.
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn velocity(&self, bodies: &Bodies, link: &str) -> Result<SpatialVelocity, RobotError> {
        Ok(bodies.velocity(self.body(link)?))
    }

    /// Sets the control of a motor or drive in the file's units, clamped to its range.
    ///
    /// # Errors
    /// An unknown name, or a control that is not finite.
    pub fn set_control(&self, bodies: &mut Bodies, name: &str, control: f64) -> Result<(), RobotError> {
        let at = find(self.name(), "motor", name, self.actuators())?;
        self.check_finite(name, control)?;
        let Parts { names, place, .. } = &*self.parts;
        let system = bodies.simulation_mut().system_mut();
        match names.inputs.get(at) {
            Some(input) => {
                input.apply(control, &mut system.actuators[place.first_actuator + input.actuator].control);
            }
            None => {
                let drive = &mut system.drives[place.first_drive + at - names.inputs.len()];
                drive.control = control;
                drive.control = drive.clamped_control();
            }
        }
        Ok(())
    }

    /// Sets the input of the motors on a joint of one degree of freedom, past the file's units.
    ///
    /// # Errors
    /// An unknown joint, a value that is not finite, or no motor of this kind there.
    pub fn set_target(&self, bodies: &mut Bodies, joint: &str, to: JointTarget) -> Result<(), RobotError> {
        let link = self.joint(joint)?;
        let (wanted, values) = match to {
            JointTarget::Effort(effort) => ("an effort", [effort, 0.0]),
            JointTarget::Position(target, rate) => ("a position", [target, rate]),
            JointTarget::Velocity(rate) => ("a velocity", [rate, 0.0]),
        };
        values.iter().try_for_each(|value| self.check_finite(joint, *value))?;
        let mut set = false;
        let motors = &mut bodies.simulation_mut().system_mut().actuators;
        for motor in motors.iter_mut().filter(|motor| motor.link == link) {
            set |= set_motor(&mut motor.control, to);
        }
        let (robot, joint) = (self.name().to_owned(), joint.to_owned());
        if set { Ok(()) } else { Err(RobotError::Kind { robot, joint, wanted }) }
    }

    /// Sets the efforts of all torque motors \[N m, N\]: one number for each velocity. Numbers of
    /// velocities without a torque motor must be there, and have no effect.
    ///
    /// # Errors
    /// Another number of efforts, or one that is not finite.
    pub fn set_efforts(&self, bodies: &mut Bodies, efforts: &[f64]) -> Result<(), RobotError> {
        let own: Vec<usize> = self.own_velocities(bodies).collect();
        if own.len() != efforts.len() {
            let robot = self.name().to_owned();
            return Err(RobotError::Count { robot, found: efforts.len(), expected: own.len() });
        }
        efforts.iter().try_for_each(|effort| self.check_finite("efforts", *effort))?;
        let System { model, actuators, .. } = bodies.simulation_mut().system_mut();
        for motor in actuators {
            let n = model.velocities_of(motor.link).start + motor.dof;
            let at = own.iter().position(|own| *own == n);
            if let (Some(at), Control::Effort { effort }) = (at, &mut motor.control) {
                *effort = efforts[at];
            }
        }
        Ok(())
    }

    /// Mean effort of a motor on a joint over the last rigid step \[N m, N\]; 0 before it.
    ///
    /// # Errors
    /// [`RobotError::Unknown`], also for the name of a drive.
    pub fn effort(&self, bodies: &Bodies, motor: &str) -> Result<f64, RobotError> {
        let Parts { names, place, .. } = &*self.parts;
        let motors = names.inputs.iter().map(|input| &input.name[..]);
        let at = find(self.name(), "motor", motor, motors)?;
        let number = place.first_actuator + names.inputs[at].actuator;
        Ok(bodies.simulation().actuator_efforts().nth(number).unwrap_or(0.0))
    }

    /// Force of a joint on its link over the last rigid step, reaction and drive together, world
    /// axes, about the link's origin \[N m, N\]; none before the first step. It allocates:
    /// [`Simulation::find_reactions`](crate::simulation::Simulation::find_reactions) does not.
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn joint_reaction(&self, bodies: &Bodies, joint: &str) -> Result<Option<ForceVector>, RobotError> {
        let link = self.joint(joint)?;
        Ok(bodies.simulation().joint_reactions().get(link.0).copied())
    }

    /// Jacobian of the point of a link at `point` (m, link frame): angular velocity (rows 0 to 2)
    /// and velocity of the point (rows 3 to 5), world axes, one column for each of the robot's
    /// velocities.
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn jacobian(
        &self,
        bodies: &Bodies,
        link: &str,
        point: &Point3<f64>,
    ) -> Result<DMatrix<f64>, RobotError> {
        let link = self.link(link)?;
        let (model, kinematics) = (&bodies.simulation().system().model, bodies.kinematics());
        let own: Vec<usize> = self.own_velocities(bodies).collect();
        let mut jacobian = DMatrix::zeros(6, own.len());
        let place = kinematics.pose(link) * point;
        for_each_axis(model, kinematics, link, &place.coords, |n, axis| {
            if let Some(column) = own.iter().position(|own| *own == n) {
                jacobian.set_column(column, &axis.to_vector());
            }
        });
        Ok(jacobian)
    }

    /// Mass matrix of the robot's velocities, armature included, with what it carries
    /// \[kg m^2, kg m, kg\].
    pub fn mass_matrix(&self, bodies: &Bodies) -> DMatrix<f64> {
        let model = &bodies.simulation().system().model;
        let mut mass = MassMatrix::default();
        mass_matrix(model, bodies.kinematics(), &mut mass);
        let own: Vec<usize> = self.own_velocities(bodies).collect();
        DMatrix::from_fn(own.len(), own.len(), |i, j| {
            let (i, j) = (own[i], own[j]);
            let tree = model.tree_of_velocity(i);
            let first = model.trees()[tree].first_velocity;
            if model.tree_of_velocity(j) == tree { mass.block(tree)[(i - first, j - first)] } else { 0.0 }
        })
    }

    /// Efforts that balance gravity, Coriolis and centrifugal forces at the present state \[N m, N\];
    /// springs, damping and friction of the joints are not included.
    pub fn bias(&self, bodies: &Bodies) -> Vec<f64> {
        let model = &bodies.simulation().system().model;
        let mut all = vec![0.0; model.velocities()];
        bias_forces(model, bodies.kinematics(), &[], &mut InverseDynamicsBuffers::default(), &mut all);
        self.own_velocities(bodies).map(|n| all[n]).collect()
    }

    fn own_links(&self) -> impl Iterator<Item = LinkId> + '_ {
        (0..self.parts.links.len()).map(|l| self.parts.place.link(LinkId(l)))
    }

    fn own_velocities<'a>(&'a self, bodies: &'a Bodies) -> impl Iterator<Item = usize> + 'a {
        self.own_links().flat_map(|l| bodies.simulation().system().model.velocities_of(l))
    }

    fn check_finite(&self, name: &str, value: f64) -> Result<(), RobotError> {
        let (robot, name) = (self.name().to_owned(), name.to_owned());
        if value.is_finite() { Ok(()) } else { Err(RobotError::NotFinite { robot, name, value }) }
    }
}

/// Sets a motor's input if it is of that kind; says whether it is.
fn set_motor(control: &mut Control, to: JointTarget) -> bool {
    match (control, to) {
        (Control::Effort { effort }, JointTarget::Effort(value)) => *effort = value,
        (Control::Position { target, target_rate, .. }, JointTarget::Position(position, rate)) => {
            (*target, *target_rate) = (position, rate);
        }
        (Control::Velocity { target, .. }, JointTarget::Velocity(rate)) => *target = rate,
        _ => return false,
    }
    true
}

/// Index of a name, or the error with the nearest ones.
pub(crate) fn find<'a>(
    robot: &str,
    kind: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> Result<usize, RobotError> {
    let known: Vec<&str> = known.collect();
    if let Some(at) = known.iter().position(|k| *k == name) {
        return Ok(at);
    }
    let mut nearest: Vec<String> = known.into_iter().map(str::to_owned).collect();
    nearest.sort_by_cached_key(|k| edits(k, name));
    nearest.truncate(3);
    Err(RobotError::Unknown { robot: robot.to_owned(), kind, name: name.to_owned(), nearest })
}

/// Number of insertions, deletions and substitutions between two words (Levenshtein 1966).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut corner = core::mem::replace(&mut row[0], i + 1);
        for j in 0..b.len() {
            let substituted = corner + usize::from(a != b[j]);
            corner = row[j + 1];
            row[j + 1] = substituted.min(row[j].min(corner) + 1);
        }
    }
    row[b.len()]
}
