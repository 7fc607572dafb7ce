//! The bodies of a world: named links of one simulation, with their geometries.

mod build;
mod builder;
mod change;
mod limits;
mod validate;

use nalgebra::{Isometry3, Point3, Vector3};

use crate::body::{Appearance, Geometry};
use crate::error::RigidError;
use crate::id::BodyId;
use crate::multibody::{ForceVector, FreeFloatingTree, JointKind, Kinematics, LinkId, PathSide, State};
use crate::names::Site;
use crate::sensor::Sensor;
use crate::simulation::{
    AdvanceSummary, Collisions, LineForce, LinearResponse, MechanicalEnergy, Simulation, Snapshot,
    mechanical_energy,
};
use crate::spatial::{SpatialImpulse, SpatialVelocity, advance};

pub use builder::{BodiesBuilder, ExternalMaker, Mechanism, RigidSettings};
pub use limits::BeyondLimit;

/// A body: its frame on a link, its geometries and its appearance.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name, unique among the bodies.
    pub name: String,
    /// Its link; `None` for a static body.
    pub link: Option<LinkId>,
    /// The body frame in the link's; in the world's without a link.
    pub frame: Isometry3<f64>,
    /// Its shapes, in the body frame.
    pub geometries: Vec<Geometry>,
    /// Shapes without contact.
    pub appearance: Vec<Appearance>,
    /// Constant force at the body's origin \[N\] and torque \[N m\], world frame.
    load: ForceVector,
}

/// Bodies, in the order in which they were added, and the simulation that moves them. Made by
/// [`BodiesBuilder`].
///
/// A step is [`prepare`](Self::prepare), code that reads poses and velocities and collects
/// impulses, then [`integrate`](Self::integrate). Functions that take a [`BodyId`] panic if it is
/// not of these bodies.
#[derive(Clone, Debug)]
pub struct Bodies {
    bodies: Vec<Body>,
    sites: Vec<Site>,
    sensors: Vec<Sensor>,
    simulation: Simulation<Collisions>,
    /// At the present time, with the velocities of the prepared step.
    kinematics: Kinematics,
    /// The step that the velocities were prepared for.
    prepared: Option<f64>,
    /// Buffer of [`load_links`](Self::load_links).
    references: Vec<Vector3<f64>>,
    surface_changes: u64,
}

impl Bodies {
    /// Sets each body's velocity over the coming step from [`time`](Self::time) to `time + dt`
    /// \[s\]: for prescribed bodies the constant velocity that leads from the pose at the start to
    /// the pose at the end; for the others the present one.
    ///
    /// Call it again if `dt` changes. A `dt` that is not finite and positive prepares nothing, and
    /// `integrate` refuses it.
    pub fn prepare(&mut self, dt: f64) {
        self.prepared = None;
        if dt.is_finite() && dt > 0.0 {
            self.find_kinematics(PathSide::Over(dt));
            self.prepared = Some(dt);
        }
    }

    fn find_kinematics(&mut self, corner: PathSide) {
        self.kinematics.update_at(&self.simulation.system().model, self.simulation.state(), corner);
    }

    /// One step of `dt` \[s\], the one that was prepared: applies one impulse per body, evenly over
    /// the step, and moves the bodies to `time + dt` under these and all other forces. Impulses on
    /// fixed and prescribed bodies have no effect.
    ///
    /// # Errors
    /// A step that was not prepared, another number of impulses than bodies, and errors of the
    /// simulation ([`RigidError::Simulation`]); the state is then the last valid one.
    pub fn integrate(&mut self, dt: f64, impulses: &[SpatialImpulse]) -> Result<AdvanceSummary, RigidError> {
        if self.prepared != Some(dt) {
            return Err(RigidError::StepNotPrepared { step: dt, prepared_step: self.prepared });
        }
        let (found, expected) = (impulses.len(), self.len());
        if found != expected {
            return Err(RigidError::Count { what: "impulses", found, expected });
        }
        self.load_links(dt, impulses);
        self.prepared = None;
        let summary = self.simulation.advance_to(self.time() + dt);
        self.find_kinematics(PathSide::After);
        Ok(summary?)
    }

    /// Impulses of contact between bodies on each body over the last [`integrate`](Self::integrate),
    /// world frame, each about its body's moving origin.
    pub fn contact_impulses(&self) -> impl ExactSizeIterator<Item = SpatialImpulse> + '_ {
        let impulses = self.simulation.contact_impulses().iter();
        impulses.map(|sum| SpatialImpulse { angular: sum.angular, linear: sum.linear })
    }

    /// Sums constant loads to a force on each link about its origin, and impulses to one along a
    /// line that moves with the [reference velocity](Self::reference_velocity), independently of
    /// the link.
    fn load_links(&mut self, dt: f64, impulses: &[SpatialImpulse]) {
        let time = self.time();
        let mut references = core::mem::take(&mut self.references);
        references.clear();
        references.extend((0..self.len()).map(|b| self.reference_velocity(BodyId(b))));
        let system = self.simulation.system_mut();
        system.applied.fill(ForceVector::zero());
        system.line_forces.fill(LineForce::zero());
        system.line_force_time = time;
        for ((body, impulse), velocity) in self.bodies.iter().zip(impulses).zip(&references) {
            let Some(link) = body.link else { continue };
            let pose = self.kinematics.pose(link);
            let lever = pose.rotation * body.frame.translation.vector;
            let force = ForceVector::new(impulse.angular / dt, impulse.linear / dt);
            system.applied[link.0] += body.load.shifted(&-lever);
            let line = &mut system.line_forces[link.0];
            line.force += force.shifted(&-(pose.translation.vector + lever));
            line.velocity = *velocity;
        }
        self.references = references;
    }

    /// Velocity \[m/s\] in the world frame of the reference point of impulses on a body over the
    /// coming step: that of the centre of mass of a free body, else that of its link's origin. With
    /// points at rest in the world, a force that only slows a moving body would also rotate it,
    /// because the lever would depend on the inertial frame.
    pub fn reference_velocity(&self, id: BodyId) -> Vector3<f64> {
        let Some(link) = self.bodies[id.0].link else { return Vector3::zeros() };
        let velocity = self.kinematics.velocity(link);
        let center = self
            .floating(id)
            .map_or_else(Vector3::zeros, |floating| self.kinematics.pose(link).rotation * floating.center);
        velocity.linear + velocity.angular.cross(&center)
    }

    fn floating(&self, id: BodyId) -> Option<&FreeFloatingTree> {
        let link = self.bodies[id.0].link?;
        self.simulation.system().model.floating.iter().find(|floating| floating.link == link)
    }

    /// Centre of mass of a free body in the world frame \[m\], and its mass with all that is welded
    /// to it \[kg\]; none for others.
    pub fn free_center(&self, id: BodyId) -> Option<(Point3<f64>, f64)> {
        let floating = self.floating(id)?;
        let pose = self.kinematics.pose(floating.link);
        Some((pose * Point3::from(floating.center), floating.mass))
    }

    /// Acceleration \[m/s^2\] of a free body by gravity and its constant force alone.
    pub fn free_acceleration(&self, id: BodyId, mass: f64) -> Vector3<f64> {
        let model = &self.simulation.system().model;
        let Some(link) = self.bodies[id.0].link else { return Vector3::zeros() };
        let on_link = self.bodies.iter().filter(|body| body.link == Some(link));
        let loads: Vector3<f64> = on_link.map(|body| body.load.linear).sum();
        let gravity = if model.links()[link.0].gravity { model.gravity } else { Vector3::zeros() };
        loads / mass + gravity
    }

    /// Moves a free body in the world frame \[m\]; others do not move.
    pub fn translate_free_body(&mut self, id: BodyId, by: &Vector3<f64>) {
        let Some(link) = self.floating(id).map(|floating| floating.link) else { return };
        let model = &self.simulation.system().model;
        let joint = &model.links()[link.0];
        let parent = joint.parent.map_or_else(Isometry3::identity, |parent| *self.kinematics.pose(parent));
        let local = (parent * joint.frame).inverse_transform_vector(by);
        let first = model.positions_of(link).start + 4;
        let q = self.simulation.positions_mut();
        q[first..first + 3].iter_mut().zip(local.iter()).for_each(|(q, d)| *q += d);
        self.find_kinematics(PathSide::After);
    }

    /// Whether a body moves by the forces on it.
    pub fn is_dynamic(&self, id: BodyId) -> bool {
        let model = &self.simulation.system().model;
        self.bodies[id.0].link.is_some_and(|link| model.tree_of(link).is_some())
    }

    /// The response of `dynamic` bodies to impulses within the prepared step of `dt` \[s\],
    /// linearised about the step under `impulses` (one per body): `points` of the response are the
    /// origins of the bodies. The state does not change. `scratch` is a buffer.
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate).
    pub fn linearise_response(
        &mut self,
        dt: f64,
        dynamic: &[BodyId],
        impulses: &[SpatialImpulse],
        scratch: &mut Vec<(LinkId, Vector3<f64>)>,
        out: &mut LinearResponse,
    ) -> Result<(), RigidError> {
        if self.prepared != Some(dt) {
            return Err(RigidError::StepNotPrepared { step: dt, prepared_step: self.prepared });
        }
        self.load_links(dt, impulses);
        scratch.clear();
        scratch.extend(
            dynamic
                .iter()
                .filter_map(|&id| Some((self.bodies[id.0].link?, self.pose(id).translation.vector))),
        );
        Ok(self.simulation.linearise_response(dt, scratch, out)?)
    }

    /// Error of the last [`linearise_response`](Self::linearise_response) if the impulses on its
    /// bodies differ by `more` (six components per body, angular first) from those it was
    /// linearised about: [`Simulation::linearisation_error`]. `points` is the buffer of that call.
    pub fn linearisation_error(
        &mut self,
        points: &[(LinkId, Vector3<f64>)],
        more: &[f64],
        response: &mut LinearResponse,
    ) -> f64 {
        self.simulation.linearisation_error(points, more, response)
    }

    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// The bodies, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (BodyId, &Body)> {
        self.bodies.iter().enumerate().map(|(k, body)| (BodyId(k), body))
    }

    /// A body.
    pub fn body(&self, id: BodyId) -> &Body {
        &self.bodies[id.0]
    }

    /// The body with a name.
    pub fn find(&self, name: &str) -> Option<BodyId> {
        self.bodies.iter().position(|body| body.name == name).map(BodyId)
    }

    /// Named places on links; those of a mechanism are named `name/site`.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Sensors; those of a mechanism are named `name/sensor`. See
    /// [`SensorReader`](crate::SensorReader).
    pub fn sensors(&self) -> &[Sensor] {
        &self.sensors
    }

    /// Pose of a site in the world at [`time`](Self::time).
    pub fn site_pose(&self, site: &Site) -> Isometry3<f64> {
        site.link.map_or(site.pose, |link| self.kinematics.pose(link) * site.pose)
    }

    /// Time \[s\] of the poses.
    pub fn time(&self) -> f64 {
        self.simulation.state().time
    }

    /// Poses, velocities and joint axes of the links at [`time`](Self::time).
    pub fn kinematics(&self) -> &Kinematics {
        &self.kinematics
    }

    /// The simulation that moves the bodies: its system, state, contacts.
    pub fn simulation(&self) -> &Simulation<Collisions> {
        &self.simulation
    }

    /// The simulation, to change the inputs of motors between steps. Applied forces are overwritten
    /// by each step.
    pub fn simulation_mut(&mut self) -> &mut Simulation<Collisions> {
        &mut self.simulation
    }

    /// Pose of a body in the world at [`time`](Self::time).
    pub fn pose(&self, id: BodyId) -> Isometry3<f64> {
        let body = &self.bodies[id.0];
        body.link.map_or(body.frame, |link| self.kinematics.pose(link) * body.frame)
    }

    /// Velocity of a body, world frame: after [`prepare`](Self::prepare) that of the coming step.
    pub fn velocity(&self, id: BodyId) -> SpatialVelocity {
        let body = &self.bodies[id.0];
        let Some(link) = body.link else { return SpatialVelocity::zero() };
        let lever = self.kinematics.pose(link).rotation * body.frame.translation.vector;
        let velocity = self.kinematics.velocity(link).shifted(&lever);
        SpatialVelocity { angular: velocity.angular, linear: velocity.linear }
    }

    /// Coordinates and rates of a body's joint, in the order of its [`JointKind`]; empty for fixed
    /// and prescribed bodies.
    pub fn joint(&self, id: BodyId) -> (&[f64], &[f64]) {
        let (model, state) = (&self.simulation.system().model, self.simulation.state());
        self.bodies[id.0].link.map_or((&[], &[]), |link| {
            (&state.q[model.positions_of(link)], &state.v[model.velocities_of(link)])
        })
    }

    /// Pose of a body `s` seconds after [`time`](Self::time), `s` in [0, dt], with the velocities
    /// of this step: the origin on a line, the rotation by the exponential map.
    pub fn pose_after(&self, id: BodyId, s: f64) -> Isometry3<f64> {
        let pose = self.pose(id);
        if self.bodies[id.0].link.is_none() {
            return pose;
        }
        advance(&pose, &self.velocity(id), s)
    }

    /// Kinetic energy \[J\] of the dynamic bodies.
    pub fn kinetic_energy(&self) -> f64 {
        self.energy().kinetic
    }

    /// Energies \[J\] of the dynamic bodies.
    pub fn energy(&self) -> MechanicalEnergy {
        let (system, state) = (self.simulation.system(), self.simulation.state());
        let mut energy = mechanical_energy(&system.model, &self.kinematics, state);
        energy.springs += system.tendon_energy(&self.kinematics, state);
        energy
    }

    /// Momentum of the dynamic bodies: linear \[N s\], and angular about the origin of the world
    /// \[N m s\].
    pub fn momentum(&self) -> SpatialImpulse {
        let model = &self.simulation.system().model;
        let mut sum = ForceVector::zero();
        for &link in model.trees().iter().flat_map(|tree| &tree.links) {
            let pose = self.kinematics.pose(link);
            let momentum =
                model.links()[link.0].inertia.rotated(pose).momentum(self.kinematics.velocity(link));
            sum += momentum.shifted(&-pose.translation.vector);
        }
        SpatialImpulse { angular: sum.angular, linear: sum.linear }
    }

    /// Largest speed \[m/s\], spin included, of a surface of any body relative to a `velocity`
    /// (m/s, world frame) over the times `from` to `to` \[s\]: see [`Self::surface_speed`].
    pub fn fastest_surface(&self, from: f64, to: f64, velocity: &Vector3<f64>) -> f64 {
        let bodies = (0..self.bodies.len()).map(BodyId);
        bodies.map(|id| self.surface_speed(id, [from, to], velocity)).fold(0.0, f64::max)
    }

    /// Largest speed \[m/s\], spin included, of the surface of a body relative to a `velocity`
    /// (m/s, world frame) over the times from `within[0]` to `within[1]` \[s\]: of prescribed bodies
    /// from their keys, of the others the present one. Half-spaces, which are unbounded, count as points.
    pub fn surface_speed(&self, id: BodyId, within: [f64; 2], velocity: &Vector3<f64>) -> f64 {
        let body = &self.bodies[id.0];
        if body.geometries.is_empty() {
            return 0.0;
        }
        let reach = body.reach();
        let of = |v: SpatialVelocity| (v.linear - velocity).norm() + v.angular.norm() * reach;
        let Some(link) = body.link else { return velocity.norm() };
        let link = &self.simulation.system().model.links()[link.0];
        match &link.joint {
            JointKind::Prescribed(path) if link.parent.is_none() => {
                path.velocities_within(within[0], within[1]).map(of).fold(0.0, f64::max)
            }
            _ => of(self.velocity(id)),
        }
    }

    /// The state, to continue from later.
    pub fn save(&self) -> Snapshot {
        self.simulation.save()
    }

    /// Continues from a saved state of these bodies.
    ///
    /// # Errors
    /// A state that does not fit or is not finite. The bodies are as before then.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RigidError> {
        self.simulation.restore(snapshot)?;
        self.prepared = None;
        self.find_kinematics(PathSide::After);
        Ok(())
    }

    /// The state of the simulation.
    pub fn state(&self) -> &State {
        self.simulation.state()
    }
}

impl Body {
    /// Distance \[m\] from the body's origin within which its surfaces are; half-spaces are left
    /// out.
    pub fn reach(&self) -> f64 {
        let ball = |g: &Geometry| {
            let (center, radius) = g.shape.bounding_sphere()?;
            Some((g.pose * center).coords.norm() + radius)
        };
        self.geometries.iter().filter_map(ball).fold(0.0, f64::max)
    }

    fn fixed(name: String, frame: Isometry3<f64>) -> Self {
        let load = ForceVector::new(Vector3::zeros(), Vector3::zeros());
        Self { name, link: None, frame, geometries: Vec::new(), appearance: Vec::new(), load }
    }
}
