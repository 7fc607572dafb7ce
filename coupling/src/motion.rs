//! Poses and velocities of the bodies within a step: the link between a step of the bodies and the
//! substeps of the particles.
//!
//! A weakly coupled body keeps its initial velocity through the step and gets the sum of its
//! impulses at the end (Yu et al. 2025, section IV-A). A strongly coupled body responds in every
//! substep. The bodies' own step is implicit. Linearised about its end under the last step's
//! impulses `p_0`, its final velocity is `V_0 + change + W (p - p_0)` ([`LinearResponse`]). Let all
//! that does not come from the particles act evenly over the N substeps, and the impulses when they
//! occur: after k substeps with the impulses `p_k` so far
//!
//! ```text
//! V_k = V_0 + k/N (change - W p_0) + W p_k
//! ```
//!
//! which after the last substep is the end of the bodies' own step, up to its nonlinear part. In
//! each substep the contact problem finds `V_(k+1)` together with the velocities of the grid
//! ([`Mobility`]).
//!
//! The bodies' own step is piecewise linear: a contact between bodies that is closed in the
//! linearised step opens if the particles push hard enough. So after each substep the step under
//! the present impulses is compared with the linear response ([`Bodies::linearisation_error`]). If
//! they differ, it is linearised anew, and the motion continues from the velocities reached.
//! Without this, a body that presses soft material onto a floor is held down by its own contact
//! with the floor, whatever pushes it up, and all of that impulse is released when the contact
//! opens.
//!
//! A body's own step moves it at its final velocity, while in the substeps it accelerated
//! gradually: its pose would jump by about `dt dV/2` between steps, which disturbs stiff contacts.
//! A body that only particles touch is therefore moved to where its centre of mass went in the
//! substeps, under gravity and its impulses, each at its time; this keeps the angular momentum in
//! every inertial frame. For others contact continues from the last pose of the substeps, and the
//! lag, for jointed bodies a part of it ([`LAG_CORRECTION`]), is corrected evenly over the next step.
//!
//! Impulses on a body are about a reference point that moves with it
//! ([`Bodies::reference_velocity`]): with the centre of mass of a free, strongly coupled body.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_rigid::multibody::LinkId;
use pliant_rigid::simulation::LinearResponse;
use pliant_rigid::{Bodies, BodyId, RigidError, SpatialImpulse, SpatialVelocity};
use serde::{Deserialize, Serialize};

use crate::body_impulses::BodyImpulses;
use crate::body_state::{ReferencePointPath, StronglyCoupledBodies, SubstepBodyState};
use crate::convex::{Attachment, Mobility};
use crate::nodes::Numbering;
use crate::pair::ContactPair;
use crate::travel::NearbyParticles;

/// Fraction of the impulses that the linear response may leave unbalanced before the step is
/// linearised anew.
const MAX_UNBALANCED: f64 = 0.1;

/// Travel past particles within a step, in cells, from which on a weakly coupled body is coupled
/// strongly in that step.
const STRONG_TRAVEL: f64 = 0.1;

/// Fraction of a body's momentum that may come from other causes in a step in which it counts as
/// free: the tolerance of its own step.
const FREE_MOMENTUM_TOLERANCE: f64 = 1e-7;

/// Fraction of the lag of a jointed body's pose that a step corrects; of a free one, which is moved to
/// where the substeps had it, all that is left. A body whose velocity alternates from step to
/// step leaves a lag that alternates too; corrected in full it keeps the body going. A body of constant
/// acceleration `a` is `a dt^2 / 2` over this fraction behind.
const LAG_CORRECTION: f64 = 0.25;

/// Largest travel of a body's surface past particles within a step \[cells\].
const MAX_TRAVEL: f64 = 0.5;

/// Largest deviation of a body's path from a straight line within a step \[cells\]: in the substeps
/// the velocity changes gradually, in its own step at once.
const MAX_PATH_DEVIATION: f64 = 0.1;

/// The motion of all bodies through the substeps.
#[derive(Clone, Debug)]
pub(crate) struct BodyMotion {
    /// Every body.
    pub substep_states: Vec<SubstepBodyState>,
    /// Whether each body is coupled strongly.
    strong: Vec<bool>,
    /// Whether the others are strongly coupled too in steps in which they are fast.
    couples_fast_bodies: bool,
    /// Largest travel of a surface past the particles around it in this step \[cells\].
    max_travel: f64,
    /// The bodies that respond in this step: the strongly coupled ones, if they are near particles
    /// or the host does not know where those are.
    strongly_coupled: Vec<BodyId>,
    /// Each body's index among those.
    place: Vec<Option<u32>>,
    response: LinearResponse,
    /// Velocities of the strongly coupled bodies at the last linearisation, six numbers each.
    start: Vec<f64>,
    /// Their velocity change from there to the end of the step without impulses of particles.
    free_velocity_change: Vec<f64>,
    /// The fraction of the step at the last linearisation, and the impulses up to then.
    path_start: f64,
    path_start_impulses: Vec<f64>,
    /// The impulses about which the step is linearised.
    linearised_at: Vec<f64>,
    /// Impulses of the last step, and those expected at the end of this one at that rate; one per
    /// body.
    expected: Vec<SpatialImpulse>,
    projected_impulses: Vec<SpatialImpulse>,
    impulse_change: Vec<f64>,
    /// Velocities that correct the lag of their poses.
    pose_lag_velocity: Vec<SpatialVelocity>,
    /// Last poses of the strongly coupled bodies in the substeps.
    end_poses: Vec<Option<Isometry3<f64>>>,
    /// Of every body.
    last: Vec<LastStep>,
    /// Poses and velocities of the strongly coupled bodies at the start of the step.
    starts: Vec<(Isometry3<f64>, SpatialVelocity)>,
    points: Vec<(LinkId, Vector3<f64>)>,
    /// Of every body that is free.
    free: Vec<Option<FreeBody>>,
}

/// What the last step left of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LastStep {
    /// Differences of ways along which the work on it is measured, while it is strongly coupled \[rad, m\].
    /// Work is measured at the mean of the velocities before and after, of its own step and of a substep:
    /// its way in its own steps less that in the substeps, and its way in the substeps, in which it moves
    /// at the velocity after, less that of the means.
    own_ahead: SpatialVelocity,
    pose_ahead: SpatialVelocity,
    /// Acceleration without impulses of particles [rad/s^2, m/s^2].
    acceleration: SpatialVelocity,
}

impl LastStep {
    /// It is no longer strongly coupled.
    fn leave_particles(&mut self) {
        (self.own_ahead, self.pose_ahead) = Default::default();
    }
}

/// Energies that the measures of work leave between \[J\]: the work of the particles' present forces along
/// ways of which one is ahead of another ([`LastStep`]). They come back as that is made up for, if the
/// forces stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BetweenWays {
    /// Between the bodies' own steps and the substeps.
    pub own: f64,
    /// Between the substeps and the poses in them.
    pub pose: f64,
}

/// A free body at the start of a step.
#[derive(Clone, Copy, Debug)]
struct FreeBody {
    /// Centre of mass \[m\], its velocity \[m/s\], and its acceleration without particles and
    /// contact \[m/s^2\].
    center: Point3<f64>,
    velocity: Vector3<f64>,
    acceleration: Vector3<f64>,
    /// kg
    mass: f64,
}

fn six(angular: &Vector3<f64>, linear: &Vector3<f64>) -> [f64; 6] {
    [angular.x, angular.y, angular.z, linear.x, linear.y, linear.z]
}

impl BodyMotion {
    /// `strong` says which bodies are coupled strongly, `couples_fast_bodies` whether the others
    /// may be where they are fast.
    pub(crate) fn new(strong: Vec<bool>, couples_fast_bodies: bool) -> Self {
        let bodies = strong.len();
        let still = SubstepBodyState::steady(Isometry3::identity(), SpatialVelocity::zero());
        Self {
            substep_states: vec![still; bodies],
            strong,
            couples_fast_bodies,
            max_travel: 0.0,
            strongly_coupled: Vec::new(),
            place: vec![None; bodies],
            response: LinearResponse::default(),
            start: Vec::new(),
            free_velocity_change: Vec::new(),
            path_start: 0.0,
            path_start_impulses: Vec::new(),
            linearised_at: Vec::new(),
            expected: Vec::new(),
            projected_impulses: Vec::new(),
            impulse_change: Vec::new(),
            pose_lag_velocity: Vec::new(),
            end_poses: vec![None; bodies],
            last: vec![LastStep::default(); bodies],
            starts: Vec::new(),
            points: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Which bodies are coupled strongly.
    pub(crate) fn strong(&self) -> &[bool] {
        &self.strong
    }

    /// Begins a step of `coupling_step` \[s\], for which the bodies are prepared. `expected` are
    /// the impulses of the last step, one a body; `near` says where the particles are. If the host
    /// does not know, every strongly coupled body responds: without contact it moves as in its own
    /// step, so this only costs time.
    pub(crate) fn begin(
        &mut self,
        bodies: &mut Bodies,
        near: Option<NearbyParticles<'_>>,
        coupling_step: f64,
        expected: &[SpatialImpulse],
        mobility: &mut Mobility,
    ) -> Result<(), RigidError> {
        self.find_strongly_coupled(bodies, near, coupling_step);
        self.free.clear();
        self.free.extend(bodies.iter().map(|(id, body)| {
            let (center, mass) = bodies.free_center(id).filter(|_| !body.geometries.is_empty())?;
            let (velocity, acceleration) =
                (bodies.reference_velocity(id), bodies.free_acceleration(id, mass));
            Some(FreeBody { center, velocity, acceleration, mass })
        }));
        mobility.clear();
        if self.strongly_coupled.is_empty() {
            self.end_poses.fill(None);
            self.last.iter_mut().for_each(LastStep::leave_particles);
            return Ok(());
        }
        bodies.linearise_response(
            coupling_step,
            &self.strongly_coupled,
            expected,
            &mut self.points,
            &mut self.response,
        )?;
        mobility.set(self.strongly_coupled.len(), &self.response.mobility);
        self.expected.clear();
        self.expected.extend_from_slice(expected);
        self.projected_impulses.reserve(expected.len());
        self.impulse_change.reserve(6 * self.strongly_coupled.len());
        flatten(&self.strongly_coupled, expected, &mut self.linearised_at);
        self.free_velocity_change.clone_from(&self.response.change);
        add_mobility_product(&self.response, &self.linearised_at, -1.0, &mut self.free_velocity_change);
        self.path_start = 0.0;
        self.path_start_impulses.clear();
        self.path_start_impulses.resize(6 * self.strongly_coupled.len(), 0.0);
        self.start.clear();
        self.pose_lag_velocity.clear();
        self.starts.clear();
        for (b, end_poses) in self.end_poses.iter_mut().enumerate() {
            if self.place[b].is_none() {
                *end_poses = None;
                self.last[b].leave_particles();
            }
        }
        for &id in &self.strongly_coupled {
            let (pose, velocity) = (bodies.pose(id), bodies.velocity(id));
            self.start.extend(six(&velocity.angular, &velocity.linear));
            let end_pose = self.end_poses[id.0].unwrap_or(pose);
            let part = if self.free[id.0].is_some() { 1.0 } else { LAG_CORRECTION };
            let time = coupling_step / part;
            self.pose_lag_velocity.push(SpatialVelocity::between(&end_pose, &pose, time));
            self.substep_states[id.0].pose = end_pose;
            self.starts.push((end_pose, velocity));
        }
        Ok(())
    }

    /// Ends a step of `coupling_step` \[s\], in substeps of `substep` \[s\], in which the bodies got these
    /// impulses; returns the energies between the ways.
    pub(crate) fn finish(
        &mut self,
        bodies: &Bodies,
        [coupling_step, substep]: [f64; 2],
        impulses: &[SpatialImpulse],
    ) -> BetweenWays {
        let rate = |[before, after]: [SpatialVelocity; 2]| SpatialVelocity {
            angular: (after.angular - before.angular) / coupling_step,
            linear: (after.linear - before.linear) / coupling_step,
        };
        for (id, _) in bodies.iter() {
            let change = match self.place[id.0] {
                Some(place) => [SpatialVelocity::zero(), self.gain(place as usize, 1)],
                None => [self.substep_states[id.0].velocity, bodies.velocity(id)],
            };
            self.last[id.0].acceleration = rate(change);
        }
        let mut between = BetweenWays::default();
        for (&id, (pose, before)) in self.strongly_coupled.iter().zip(&self.starts) {
            let (after, impulse) = (bodies.velocity(id), &impulses[id.0]);
            let way = SpatialVelocity::between(pose, &self.end_poses[id.0].unwrap_or(*pose), 1.0);
            let LastStep { own_ahead, pose_ahead, .. } = &mut self.last[id.0];
            let add = |before: &Vector3<f64>, after: &Vector3<f64>, way: &Vector3<f64>| {
                let pose = 0.5 * substep * (after - before);
                (0.5 * coupling_step * (before + after) + pose - way, pose)
            };
            let (own, pose) = add(&before.angular, &after.angular, &way.angular);
            (own_ahead.angular, pose_ahead.angular) = (own_ahead.angular + own, pose_ahead.angular + pose);
            let (own, pose) = add(&before.linear, &after.linear, &way.linear);
            (own_ahead.linear, pose_ahead.linear) = (own_ahead.linear + own, pose_ahead.linear + pose);
            let work = |way: &SpatialVelocity| {
                (impulse.angular.dot(&way.angular) + impulse.linear.dot(&way.linear)) / coupling_step
            };
            between.own += work(own_ahead);
            between.pose += work(pose_ahead);
        }
        between
    }

    /// Velocity of a body at the end of a step of `coupling_step` \[s\] at the rate of the last one, without
    /// impulses of particles.
    fn velocity_ahead(&self, bodies: &Bodies, id: BodyId, coupling_step: f64) -> SpatialVelocity {
        let (now, rate) = (bodies.velocity(id), &self.last[id.0].acceleration);
        SpatialVelocity {
            angular: now.angular + coupling_step * rate.angular,
            linear: now.linear + coupling_step * rate.linear,
        }
    }

    fn find_strongly_coupled(
        &mut self,
        bodies: &Bodies,
        near: Option<NearbyParticles<'_>>,
        coupling_step: f64,
    ) {
        self.strongly_coupled.clear();
        self.place.fill(None);
        self.max_travel = 0.0;
        for (id, body) in bodies.iter() {
            let strong = self.strong[id.0];
            if body.geometries.is_empty() || !bodies.is_dynamic(id) {
                continue;
            }
            let answers = match near {
                // A slow weakly coupled body needs no check.
                Some(near)
                    if !strong
                        && coupling_step * near.speed_bound(bodies, id)
                            <= STRONG_TRAVEL * near.mpm.grid_spacing() =>
                {
                    false
                }
                Some(near) => match near.travel(bodies, id, bodies.velocity(id), coupling_step) {
                    Some(way) => {
                        let way = way / near.mpm.grid_spacing();
                        self.max_travel = self.max_travel.max(way);
                        strong || (self.couples_fast_bodies && way > STRONG_TRAVEL)
                    }
                    // What drives it may turn it around, and through the particles, within the step.
                    None => {
                        strong && {
                            let ahead = self.velocity_ahead(bodies, id, coupling_step);
                            near.travel(bodies, id, ahead, coupling_step).is_some()
                        }
                    }
                },
                None => strong,
            };
            if answers {
                self.place[id.0] = Some(self.strongly_coupled.len() as u32);
                self.strongly_coupled.push(id);
            }
        }
    }

    /// Ratio of the step that has begun to the longest that the scheme resolves: above 1 it is too
    /// long. Travel of bodies past the particles around them and deviation of their paths from
    /// straight lines are limited to fractions of a grid cell of `spacing` \[m\].
    pub(crate) fn coupling_step_ratio(&self, bodies: &Bodies, coupling_step: f64, spacing: f64) -> f64 {
        let bend =
            self.strongly_coupled.iter().zip(self.response.change.chunks_exact(6)).map(|(&id, change)| {
                let angular = Vector3::new(change[0], change[1], change[2]);
                let linear = Vector3::new(change[3], change[4], change[5]);
                0.5 * coupling_step * (linear.norm() + bodies.body(id).reach() * angular.norm())
            });
        (self.max_travel / MAX_TRAVEL).max(bend.fold(0.0, f64::max) / (MAX_PATH_DEVIATION * spacing))
    }

    /// Poses and velocities for substep `k` of `substeps`, `substep` \[s\] each. `impulses` are
    /// those of the step so far, one per body.
    pub(crate) fn update_substep_states(
        &mut self,
        bodies: &Bodies,
        k: u32,
        substeps: u32,
        substep: f64,
        impulses: &[SpatialImpulse],
    ) {
        for (id, _) in bodies.iter() {
            match self.place[id.0] {
                Some(place) => {
                    let velocity = self.velocity(place as usize, k + 1, substeps, impulses);
                    let gain = self.gain(place as usize, substeps);
                    let state = &mut self.substep_states[id.0];
                    (state.velocity, state.gain) = (velocity, gain);
                }
                None => {
                    let pose = bodies.pose_after(id, f64::from(k) * substep);
                    self.substep_states[id.0] = SubstepBodyState::steady(pose, bodies.velocity(id));
                }
            }
        }
    }

    /// Moves the strongly coupled bodies after substep `k`, whose impulses are in `impulses`.
    pub(crate) fn advance(&mut self, k: u32, substeps: u32, substep: f64, impulses: &[SpatialImpulse]) {
        for place in 0..self.strongly_coupled.len() {
            let id = self.strongly_coupled[place];
            let velocity = self.velocity(place, k + 1, substeps, impulses);
            let state = &mut self.substep_states[id.0];
            state.pose = velocity.advance(&state.pose, substep);
            self.end_poses[id.0] = Some(state.pose);
        }
    }

    /// Moves the reference points of the bodies' impulses over substep `k`.
    pub(crate) fn move_references(&self, bodies: &Bodies, k: u32, substep: f64, impulses: &mut BodyImpulses) {
        let BodyImpulses { current, points, swept, .. } = impulses;
        for (b, ((point, swept), impulse)) in points.iter_mut().zip(swept).zip(current).enumerate() {
            let way = self.reference(bodies, b).way(k, substep, &impulse.linear);
            *point += way;
            *swept += way.cross(&impulse.linear);
        }
    }

    /// Motion of the reference point of the impulses on body `b`.
    pub(crate) fn reference(&self, bodies: &Bodies, b: usize) -> ReferencePointPath {
        match &self.free[b] {
            Some(free) => ReferencePointPath {
                velocity: free.velocity,
                acceleration: free.acceleration,
                mass: free.mass,
            },
            None => ReferencePointPath {
                velocity: bodies.reference_velocity(BodyId(b)),
                acceleration: Vector3::zeros(),
                mass: f64::INFINITY,
            },
        }
    }

    /// Difference of the bodies' step under these impulses from the linear response that was used
    /// for all of it, relative to the limit at which [`BodyMotion::relinearise`] linearises it
    /// anew. For a backend, which cannot do so.
    pub(crate) fn linearisation_error(&mut self, bodies: &mut Bodies, impulses: &[SpatialImpulse]) -> f64 {
        if self.strongly_coupled.is_empty() {
            return 0.0;
        }
        flatten(&self.strongly_coupled, impulses, &mut self.impulse_change);
        self.impulse_change
            .iter_mut()
            .zip(&self.linearised_at)
            .for_each(|(impulse_change, at)| *impulse_change -= at);
        bodies.linearisation_error(&self.points, &self.impulse_change, &mut self.response) / MAX_UNBALANCED
    }

    /// Moves the bodies that only particles touched in a step of `coupling_step` \[s\] to where their
    /// centres of mass went in the substeps.
    ///
    /// Returns the angular momentum that the other free bodies do not have of their impulses, about any
    /// point \[kg m^2/s\]. Of impulses that act at the ends of the ways `d_j` of its reference point a body
    /// has to gain `sum d_j x p_j` besides those about the moving point. Moved as above it does; in its own
    /// step of implicit Euler it moves along its final velocity instead, which gains nothing. Bodies that
    /// moved otherwise, in several steps or by the trapezoidal rule, are not counted.
    pub(crate) fn correct_free_positions(
        &self,
        bodies: &mut Bodies,
        coupling_step: f64,
        impulses: &BodyImpulses,
    ) -> Vector3<f64> {
        let mut missed = Vector3::zeros();
        for (b, (free, impulse)) in self.free.iter().zip(&impulses.current).enumerate() {
            let Some(free) = free.filter(|_| *impulse != SpatialImpulse::zero() || self.place[b].is_some())
            else {
                continue;
            };
            let (id, way) = (BodyId(b), impulses.points[b] - impulses.starts[b]);
            let given = impulse.linear + coupling_step * free.mass * free.acceleration;
            let Some((center, _)) = bodies.free_center(id) else { continue };
            let velocity = bodies.reference_velocity(id);
            let gained = free.mass * (velocity - free.velocity);
            let scale = given.norm() + gained.norm() + free.mass * free.velocity.norm();
            if (gained - given).norm() > FREE_MOMENTUM_TOLERANCE * scale {
                let along = coupling_step * velocity;
                if (center - free.center - along).norm() <= FREE_MOMENTUM_TOLERANCE * along.norm() {
                    missed += way.cross(&impulse.linear) - impulses.swept[b];
                }
                continue;
            }
            bodies.translate_free_body(id, &(free.center - center + way));
        }
        missed
    }

    /// Linearises the bodies' step anew after substep `k`, if the step under its `impulses` is far
    /// from the linear response.
    pub(crate) fn relinearise(
        &mut self,
        bodies: &mut Bodies,
        k: u32,
        substeps: u32,
        coupling_step: f64,
        impulses: &[SpatialImpulse],
        mobility: &mut Mobility,
    ) -> Result<(), RigidError> {
        if self.strongly_coupled.is_empty() || k + 1 == substeps {
            return Ok(());
        }
        let part = f64::from(k + 1) / f64::from(substeps);
        self.projected_impulses.clear();
        self.projected_impulses.extend(impulses.iter().zip(&self.expected).map(|(p, rate)| SpatialImpulse {
            angular: p.angular + (1.0 - part) * rate.angular,
            linear: p.linear + (1.0 - part) * rate.linear,
        }));
        flatten(&self.strongly_coupled, &self.projected_impulses, &mut self.impulse_change);
        self.impulse_change
            .iter_mut()
            .zip(&self.linearised_at)
            .for_each(|(impulse_change, at)| *impulse_change -= at);
        if bodies.linearisation_error(&self.points, &self.impulse_change, &mut self.response)
            <= MAX_UNBALANCED
        {
            return Ok(());
        }
        for place in 0..self.strongly_coupled.len() {
            let reached = self.reached(place, k + 1, substeps, impulses);
            self.impulse_change[6 * place..][..6].copy_from_slice(&reached);
        }
        core::mem::swap(&mut self.start, &mut self.impulse_change);
        bodies.linearise_response(
            coupling_step,
            &self.strongly_coupled,
            &self.projected_impulses,
            &mut self.points,
            &mut self.response,
        )?;
        mobility.set(self.strongly_coupled.len(), &self.response.mobility);
        self.path_start = part;
        flatten(&self.strongly_coupled, impulses, &mut self.path_start_impulses);
        flatten(&self.strongly_coupled, &self.projected_impulses, &mut self.linearised_at);
        // From here to the end of that step: V_0 + change - W (heading - so far), less what is
        // reached.
        self.free_velocity_change.clone_from(&self.response.change);
        self.impulse_change.clear();
        self.impulse_change
            .extend(self.linearised_at.iter().zip(&self.path_start_impulses).map(|(at, p)| at - p));
        add_mobility_product(&self.response, &self.impulse_change, -1.0, &mut self.free_velocity_change);
        for (place, &id) in self.strongly_coupled.iter().enumerate() {
            let velocity = bodies.velocity(id);
            for (d, v) in six(&velocity.angular, &velocity.linear).into_iter().enumerate() {
                self.free_velocity_change[6 * place + d] += v - self.start[6 * place + d];
            }
        }
        Ok(())
    }

    /// The strongly coupled bodies of this step, for a backend.
    pub(crate) fn answering(&self) -> StronglyCoupledBodies<'_> {
        if self.strongly_coupled.is_empty() {
            // The other lists hold values of an earlier step.
            return StronglyCoupledBodies::default();
        }
        StronglyCoupledBodies {
            bodies: &self.strongly_coupled,
            mobility: &self.response.mobility,
            start: &self.start,
            gain: &self.free_velocity_change,
            lag: &self.pose_lag_velocity,
        }
    }

    /// Takes the last poses of the strongly coupled bodies from a backend.
    pub(crate) fn set_end_poses(&mut self, poses: &[Isometry3<f64>]) {
        for (id, pose) in self.strongly_coupled.iter().zip(poses) {
            self.end_poses[id.0] = Some(*pose);
            self.substep_states[id.0].pose = *pose;
        }
    }

    /// Velocity after `k` of `substeps` with the impulses so far, plus the correction of the lag.
    fn velocity(&self, place: usize, k: u32, substeps: u32, impulses: &[SpatialImpulse]) -> SpatialVelocity {
        let (v, pose_lag_velocity) =
            (self.reached(place, k, substeps, impulses), &self.pose_lag_velocity[place]);
        SpatialVelocity {
            angular: Vector3::new(v[0], v[1], v[2]) + pose_lag_velocity.angular,
            linear: Vector3::new(v[3], v[4], v[5]) + pose_lag_velocity.linear,
        }
    }

    /// Velocity gained in one of `substeps` without impulses of particles.
    fn gain(&self, place: usize, substeps: u32) -> SpatialVelocity {
        let part = 1.0 / (f64::from(substeps) * (1.0 - self.path_start));
        let [a, b, c, x, y, z] = core::array::from_fn(|d| part * self.free_velocity_change[6 * place + d]);
        SpatialVelocity { angular: Vector3::new(a, b, c), linear: Vector3::new(x, y, z) }
    }

    /// Velocity after `k` of `substeps` with the impulses so far.
    fn reached(&self, place: usize, k: u32, substeps: u32, impulses: &[SpatialImpulse]) -> [f64; 6] {
        let part = (f64::from(k) / f64::from(substeps) - self.path_start) / (1.0 - self.path_start);
        let size = 6 * self.strongly_coupled.len();
        core::array::from_fn(|d| {
            let i = 6 * place + d;
            let row = &self.response.mobility[i * size..(i + 1) * size];
            let mut answer = 0.0;
            for (b, id) in self.strongly_coupled.iter().enumerate() {
                let p = six(&impulses[id.0].angular, &impulses[id.0].linear);
                for (e, p) in p.into_iter().enumerate() {
                    answer += row[6 * b + e] * (p - self.path_start_impulses[6 * b + e]);
                }
            }
            self.start[i] + part * self.free_velocity_change[i] + answer
        })
    }

    /// Whether a pair's body is strongly coupled in this step.
    pub(crate) fn is_strongly_coupled(&self, pair: &ContactPair) -> bool {
        self.place[pair.body.0].is_some()
    }

    /// Attaches the contacts on strongly coupled bodies, about their `reference_points`
    /// (world frame) \[m\]. They are in the first island.
    pub(crate) fn attach(
        &self,
        pairs: &[ContactPair],
        numbering: &Numbering,
        reference_points: &[Point3<f64>],
        mobility: &mut Mobility,
    ) {
        mobility.detach();
        let Some(island) = numbering.islands.first().filter(|island| island.strongly_coupled) else { return };
        mobility.reserve(island.contacts.len());
        for pair in numbering.groups_of(island).flat_map(|group| &pairs[group.pairs]) {
            let body = self.place[pair.body.0];
            let lever = (pair.position - reference_points[pair.body.0]).into();
            mobility.attach(Attachment { body, lever });
        }
    }

    /// Last poses of the strongly coupled bodies, and what the last step left of all, to save.
    pub(crate) fn left(&self) -> (&[Option<Isometry3<f64>>], &[LastStep]) {
        (&self.end_poses, &self.last)
    }

    /// Takes what was saved; false if it is not of these bodies.
    pub(crate) fn restore(&mut self, end_poses: Vec<Option<Isometry3<f64>>>, last: Vec<LastStep>) -> bool {
        let fits = [end_poses.len(), last.len()] == [self.end_poses.len(); 2];
        if fits {
            (self.end_poses, self.last) = (end_poses, last);
        }
        fits
    }
}

/// Six numbers for each of these bodies.
fn flatten(bodies: &[BodyId], impulses: &[SpatialImpulse], out: &mut Vec<f64>) {
    out.clear();
    out.extend(bodies.iter().flat_map(|id| six(&impulses[id.0].angular, &impulses[id.0].linear)));
}

/// `out += factor W p`.
fn add_mobility_product(response: &LinearResponse, p: &[f64], factor: f64, out: &mut [f64]) {
    for (row, out) in response.mobility.chunks_exact(p.len().max(1)).zip(out) {
        *out += factor * row.iter().zip(p).map(|(w, p)| w * p).sum::<f64>();
    }
}
