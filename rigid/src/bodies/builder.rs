//! Collecting bodies, robots, motors and constraints.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::{Isometry3, Translation3};

use super::Body;
use crate::body::{BodyDesc, MechanismDesc};
use crate::collision::{CollisionError, ContactMaterial, PairMaterial};
use crate::comfree::RigidSolver;
use crate::error::RigidError;
use crate::id::BodyId;
use crate::joint::Joint;
use crate::motion::Motion;
use crate::multibody::{ForceVector, JointKind, Link, LinkId, Model, RigidInertia};
use crate::names::Site;
use crate::sensor::{Placed, Sensor};
use crate::simulation::{Actuator, Drive, Equality, ExternalSystem, Integrator, SimulationError, Tendon};
use crate::spatial::SpatialVelocity;
use crate::trajectory::PoseTrajectory;
use crate::trajectory::Trajectory;

/// Settings of the bodies' steps and contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidSettings {
    /// The integrator. With `None` each requested step is one step.
    pub integrator: Option<Integrator>,
    /// Stiction tolerance of friction between bodies \[m/s\].
    pub stiction_tolerance: f64,
    /// See [`System::refresh_friction`](crate::simulation::System::refresh_friction).
    pub refresh_friction: bool,
    /// The solver of the steps.
    pub solver: RigidSolver,
}

impl Default for RigidSettings {
    fn default() -> Self {
        Self {
            integrator: None,
            stiction_tolerance: 1e-4,
            refresh_friction: true,
            solver: RigidSolver::default(),
        }
    }
}

/// Links, bodies and actuators of a mechanism that was added as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanism {
    /// Its links, in the order of its model: link `i` of its model has the number `first_link + i`
    /// here.
    pub first_link: usize,
    /// Its bodies: one per link, and one at the end for its geometries on the world, if any.
    pub bodies: Vec<BodyId>,
    /// Its actuators: actuator `i` of its system has the number `first_actuator + i` here.
    pub first_actuator: usize,
    /// How many actuators it has.
    pub actuators: usize,
    /// Its drives: drive `i` of its system has the number `first_drive + i` here.
    pub first_drive: usize,
    /// How many drives it has.
    pub drives: usize,
    /// Its sites: site `i` of its names has the number `first_site + i` here.
    pub first_site: usize,
    /// Its sensors, likewise.
    pub first_sensor: usize,
}

impl Mechanism {
    /// The link here of a link of the mechanism's own model.
    pub fn link(&self, own: LinkId) -> LinkId {
        LinkId(self.first_link + own.0)
    }
}

fn check_pairs(pairs: &[PairMaterial], geometries: usize) -> Result<(), CollisionError> {
    let missing = |pair: &PairMaterial| pair.geometries.iter().any(|number| *number >= geometries);
    pairs.iter().position(missing).map_or(Ok(()), |pair| {
        let [first, second] = pairs[pair].geometries;
        Err(CollisionError::NoPair { pair, first, second, geometries })
    })
}

/// The frame M of a joint in its body's.
fn joint_frame(joint: &Joint) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::from(joint.origin.coords), joint.turn)
}

/// Initial motion of a link.
#[derive(Clone, Debug)]
pub(super) enum InitialMotion {
    /// At these positions and velocities of its joint.
    Joint(Vec<f64>, Vec<f64>),
    /// With its joint at rest, and the absolute velocity of a body frame on it.
    Moving(SpatialVelocity),
}

/// Function that makes a controller or force element once the model is complete.
pub type ExternalMaker =
    Box<dyn FnOnce(&Model) -> Result<Box<dyn ExternalSystem>, SimulationError> + Send + Sync>;

/// Collects the parts of [`Bodies`](super::Bodies).
#[derive(Default)]
pub struct BodiesBuilder {
    pub(super) bodies: Vec<Body>,
    names: BTreeMap<String, BodyId>,
    /// Pose of every body at time 0.
    poses: Vec<Isometry3<f64>>,
    pub(super) links: Vec<Link>,
    pub(super) starts: Vec<InitialMotion>,
    /// The file, counted from 1, that each body came from; 0 for bodies that were added one by one.
    pub(super) files: Vec<u32>,
    file_count: u32,
    pub(super) excluded: Vec<(LinkId, LinkId)>,
    /// Contacts of pairs of geometries, each the number of a body and its geometry's in that.
    pub(super) pairs: Vec<([[usize; 2]; 2], ContactMaterial)>,
    /// Motors; they may be changed until the bodies are built.
    pub actuators: Vec<Actuator>,
    /// Constraints besides the joints.
    pub equalities: Vec<Equality>,
    /// Strings, with springs, dampers and limits.
    pub tendons: Vec<Tendon>,
    /// Actuators of tendons and sites, and those with activations.
    pub drives: Vec<Drive>,
    /// Named places on links; those of a mechanism are named `name/site`.
    pub sites: Vec<Site>,
    /// Sensors; those of a mechanism are named `name/sensor`.
    pub sensors: Vec<Sensor>,
    /// Controllers and force elements.
    pub externals: Vec<ExternalMaker>,
}

impl core::fmt::Debug for BodiesBuilder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BodiesBuilder")
            .field("bodies", &self.bodies)
            .field("links", &self.links)
            .field("actuators", &self.actuators)
            .field("equalities", &self.equalities)
            .field("tendons", &self.tendons)
            .field("drives", &self.drives)
            .field("sites", &self.sites)
            .field("sensors", &self.sensors)
            .field("externals", &self.externals.len())
            .finish_non_exhaustive()
    }
}

impl BodiesBuilder {
    /// No bodies.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// The body with a name.
    pub fn find(&self, name: &str) -> Option<BodyId> {
        self.names.get(name).copied()
    }

    /// The link of a body; `None` for a static one.
    pub fn link(&self, body: BodyId) -> Option<LinkId> {
        self.bodies[body.0].link
    }

    /// The bodies so far.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The links so far, by number.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Initial value of the first coordinate of a link's joint \[rad, m\]; 0 if it has none.
    pub fn start(&self, link: LinkId) -> f64 {
        match &self.starts[link.0] {
            InitialMotion::Joint(q, _) => q.first().copied().unwrap_or(0.0),
            InitialMotion::Moving(_) => 0.0,
        }
    }

    /// Pose of a body in the world at time 0.
    pub fn pose(&self, body: BodyId) -> Isometry3<f64> {
        self.poses[body.0]
    }

    /// Adds a body. Parents come before their children.
    ///
    /// # Errors
    /// A description that is not valid (see [`RigidError`]; it names the body and the field). The
    /// bodies are then unchanged.
    pub fn add(&mut self, desc: BodyDesc) -> Result<BodyId, RigidError> {
        self.validate(&desc)?;
        let BodyDesc { name, pose, motion, geometries, appearance } = desc;
        let mut body = Body { geometries, appearance, ..Body::fixed(name, pose) };
        let mut start = pose;
        match motion {
            Motion::Fixed => {}
            Motion::Prescribed(trajectory) => {
                start = trajectory.start(&pose);
                self.follow(&mut body, &trajectory, &pose)?;
            }
            Motion::Dynamic { parent, joint, mass, force, torque, velocity, gravity } => {
                let to_joint = joint_frame(&joint);
                let inertia = RigidInertia::at_center(mass.mass, nalgebra::Vector3::zeros(), mass.inertia)
                    .moved(&to_joint.inverse());
                body.load = ForceVector::new(torque, force);
                self.attach(&mut body, parent, joint, &pose, &velocity, gravity, inertia);
            }
        }
        self.names.insert(body.name.clone(), BodyId(self.bodies.len()));
        self.bodies.push(body);
        self.poses.push(start);
        self.files.push(0);
        Ok(BodyId(self.bodies.len() - 1))
    }

    /// Makes a body follow a path in the world.
    fn follow(
        &mut self,
        body: &mut Body,
        trajectory: &Trajectory,
        pose: &Isometry3<f64>,
    ) -> Result<(), RigidError> {
        let path = PoseTrajectory::new(trajectory, pose, &body.name)?;
        body.link = Some(LinkId(self.links.len()));
        body.frame = Isometry3::identity();
        self.links.push(Link {
            name: body.name.clone(),
            parent: None,
            joint: JointKind::Prescribed(Arc::new(path)),
            frame: Isometry3::identity(),
            inertia: RigidInertia::zero(),
            gravity: false,
            dofs: Vec::new(),
        });
        self.starts.push(InitialMotion::Joint(Vec::new(), Vec::new()));
        Ok(())
    }

    /// Attaches a body to its parent. The joint's frame is fixed in the body, and its coordinates
    /// are 0 at the start.
    fn attach(
        &mut self,
        body: &mut Body,
        parent: Option<BodyId>,
        joint: Joint,
        pose: &Isometry3<f64>,
        velocity: &SpatialVelocity,
        gravity: bool,
        inertia: RigidInertia,
    ) {
        let parent = parent.map(|p| (&self.bodies[p.0], self.poses[p.0]));
        if joint.kind == JointKind::Fixed && parent.is_none_or(|(p, _)| p.link.is_none()) {
            return;
        }
        let to_joint = joint_frame(&joint);
        let placed = pose * to_joint;
        let (parent, base) = match parent {
            Some((p, at)) if p.link.is_some() => (p.link, at * p.frame.inverse()),
            _ => (None, Isometry3::identity()),
        };
        let (frame, start) = if joint.kind == JointKind::Free {
            let (r, x) = (placed.rotation, placed.translation.vector);
            let v = velocity.linear + velocity.angular.cross(&(pose.rotation * joint.origin.coords));
            let w = velocity.angular;
            (
                Isometry3::identity(),
                InitialMotion::Joint(
                    vec![r.w, r.i, r.j, r.k, x.x, x.y, x.z],
                    vec![w.x, w.y, w.z, v.x, v.y, v.z],
                ),
            )
        } else {
            let mut rest = vec![0.0; joint.kind.positions()];
            joint.kind.zero_configuration(&mut rest);
            (
                base.inverse() * placed * joint.kind.pose(&rest, 0.0).inverse(),
                InitialMotion::Moving(*velocity),
            )
        };
        body.link = Some(LinkId(self.links.len()));
        body.frame = to_joint.inverse();
        let Joint { kind, dofs, .. } = joint;
        self.links.push(Link { name: body.name.clone(), parent, joint: kind, frame, inertia, gravity, dofs });
        self.starts.push(start);
    }

    /// Adds a mechanism, with its motors, constraints and state, its world at `base` of the
    /// parent's frame. Its links become the bodies `name/link`. Its own groups and exclusions
    /// determine which of its shapes touch each other; they touch all other bodies.
    ///
    /// # Errors
    /// A name that is already used, and pairs of geometries that it does not have. Nothing is added
    /// then.
    pub fn add_mechanism(
        &mut self,
        name: &str,
        mechanism: MechanismDesc,
        parent: Option<BodyId>,
        base: &Isometry3<f64>,
    ) -> Result<Mechanism, RigidError> {
        // The file's world in the world and in the frame of the link that carries it, if one does.
        let world_base = parent.map_or(Isometry3::identity(), |p| self.poses[p.0]) * base;
        let carrier = parent.and_then(|p| self.bodies[p.0].link);
        let link_base = parent.map_or(*base, |p| self.bodies[p.0].frame * base);
        let MechanismDesc { system, geometries, excluded, pairs, hidden, visuals, state, names } = mechanism;
        check_pairs(&pairs, geometries.len())?;
        let (own_sites, own_sensors) = (names.sites, names.sensors);
        let first_link = self.links.len();
        let model = &system.model;
        let named = |link: &Link| format!("{name}/{}", link.name);
        let world = format!("{name}/world");
        let mut names = model.links().iter().map(named).chain([world.clone()]);
        if let Some(taken) = names.find(|n| self.find(n).is_some()) {
            return Err(RigidError::DuplicateName { name: taken });
        }
        let here = |link: LinkId| LinkId(first_link + link.0);
        self.file_count += 1;
        let mut kinematics = crate::multibody::Kinematics::new(model);
        kinematics.update(model, &state);
        let mut bodies = Vec::with_capacity(model.links().len() + 1);
        for (i, link) in model.links().iter().enumerate() {
            let frame = if link.parent.is_none() { link_base * link.frame } else { link.frame };
            let parent = link.parent.map_or(carrier, |p| Some(here(p)));
            let q = state.q[model.positions_of(LinkId(i))].to_vec();
            let v = state.v[model.velocities_of(LinkId(i))].to_vec();
            self.links.push(Link { name: named(link), parent, frame, ..link.clone() });
            self.starts.push(InitialMotion::Joint(q, v));
            bodies.push(Body {
                link: Some(here(LinkId(i))),
                ..Body::fixed(named(link), Isometry3::identity())
            });
        }
        bodies.push(Body { link: carrier, ..Body::fixed(world, link_base) });
        let last = bodies.len() - 1;
        let mut places = Vec::with_capacity(geometries.len());
        for (number, g) in geometries.into_iter().enumerate() {
            let to = g.link.map_or(last, |l| l.0);
            places.push([self.bodies.len() + to, bodies[to].geometries.len()]);
            bodies[to].geometries.push(crate::body::Geometry {
                shape: g.shape,
                pose: g.pose,
                material: g.material,
                adhesion: None,
                group: g.group,
                mask: g.mask,
                seen: !hidden.contains(&number),
                color: g.color,
            });
        }
        for (link, appearance) in visuals {
            bodies[link.map_or(last, |l| l.0)].appearance.push(appearance);
        }
        if bodies[last].geometries.is_empty() && bodies[last].appearance.is_empty() {
            bodies.pop();
        }
        let first_actuator = self.actuators.len();
        self.actuators.extend(system.actuators.into_iter().map(|a| Actuator { link: here(a.link), ..a }));
        self.equalities
            .extend(system.equalities.into_iter().map(|e| e.moved(first_link, carrier, &link_base)));
        let first_tendon = self.tendons.len();
        self.tendons.extend(
            system.tendons.into_iter().map(|t| t.moved((first_link, first_tendon), carrier, &link_base)),
        );
        let drive = |d: Drive| d.moved(first_link, first_tendon, carrier, &link_base);
        let first_site = self.sites.len();
        self.sites.extend(own_sites.into_iter().map(|site| match site.link {
            Some(link) => Site { name: format!("{name}/{}", site.name), link: Some(here(link)), ..site },
            None => {
                Site { name: format!("{name}/{}", site.name), link: carrier, pose: link_base * site.pose }
            }
        }));
        let first_drive = self.drives.len();
        let first_sensor = self.sensors.len();
        let placed = Placed {
            link: first_link,
            tendon: first_tendon,
            actuator: first_actuator,
            drive: first_drive,
            carrier,
            base: &link_base,
        };
        self.sensors.extend(own_sensors.into_iter().map(|sensor| sensor.moved(name, &placed)));
        self.drives.extend(system.drives.into_iter().map(drive));
        self.externals
            .extend(system.externals.into_iter().map(|e| -> ExternalMaker { Box::new(move |_| Ok(e)) }));
        self.excluded.extend(excluded.into_iter().map(|(a, b)| (here(a), here(b))));
        self.pairs
            .extend(pairs.iter().map(|pair| (pair.geometries.map(|number| places[number]), pair.contact)));
        let first = self.bodies.len();
        for body in bodies {
            let own = body.link.filter(|l| l.0 >= first_link).map(|l| LinkId(l.0 - first_link));
            let own = own.map_or(Isometry3::identity(), |l| *kinematics.pose(l));
            self.poses.push(world_base * own);
            self.files.push(self.file_count);
            self.names.insert(body.name.clone(), BodyId(self.bodies.len()));
            self.bodies.push(body);
        }
        let bodies = (first..self.bodies.len()).map(BodyId).collect();
        let (actuators, drives) = (self.actuators.len() - first_actuator, self.drives.len() - first_drive);
        Ok(Mechanism {
            first_link,
            bodies,
            first_actuator,
            actuators,
            first_drive,
            drives,
            first_site,
            first_sensor,
        })
    }

    /// Lets two bodies pass through each other.
    pub fn exclude(&mut self, a: BodyId, b: BodyId) {
        if let (Some(a), Some(b)) = (self.link(a), self.link(b)) {
            self.excluded.push((a, b));
        }
    }
}
