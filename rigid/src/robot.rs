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
use crate::names::{Input, Keyframe, MechanismNames, Site};
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
    /// A gain that is out of its range.
    #[error("robot '{robot}', joint '{joint}': a gain is {value}; it must be finite and not negative")]
    Gain {
        /// Name of the robot.
        robot: String,
        /// Name of the joint.
        joint: String,
        /// The value given.
        value: f64,
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
    pub(crate) drives: Vec<String>,
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

    /// Inputs of the motors on joints, in the order of [`actuators`](Self::actuators), each with the
    /// number of its actuator in the simulation's system.
    pub fn inputs(&self) -> impl Iterator<Item = (usize, &Input)> {
        let Parts { names, place, .. } = &*self.parts;
        names.inputs.iter().map(|input| (place.first_actuator + input.actuator, input))
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

    /// Where its links, motors and sites are among those of all bodies.
    pub fn mechanism(&self) -> &Mechanism {
        &self.parts.place
    }

    /// Its bodies: one for each link, and one at the end for its shapes on the world, if any.
    pub fn bodies(&self) -> &[BodyId] {
        &self.parts.place.bodies
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

    pub(crate) fn own_velocities<'a>(&'a self, bodies: &'a Bodies) -> impl Iterator<Item = usize> + 'a {
        self.own_links().flat_map(|l| bodies.simulation().system().model.velocities_of(l))
    }

    pub(crate) fn check_finite(&self, name: &str, value: f64) -> Result<(), RobotError> {
        let (robot, name) = (self.name().to_owned(), name.to_owned());
        if value.is_finite() { Ok(()) } else { Err(RobotError::NotFinite { robot, name, value }) }
    }
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
