//! Where contact sees the bodies within a step, and how fast: what is between a step of the bodies and the substeps of the particles.
//!
//! Weakly coupled, a body keeps the velocity of the step's start and gets the sum of its impulses at the end (Yu et al. 2025,
//! section IV-A). Strongly coupled, it answers while the substeps go on. The bodies' own step is implicit, and linearised
//! about where the last step's impulses `p_0` would take it its end is `V_0 + change + W (p - p_0)` ([`Response`]). Let what
//! does not come from the particles act evenly over the N substeps, and the impulses when they come: after k substeps with the
//! impulses `p_k` so far
//!
//! ```text
//! V_k = V_0 + k/N (change - W p_0) + W p_k
//! ```
//!
//! which after the last is the end of the bodies' own step, up to what is not linear in it. In each substep the contact problem finds
//! `V_(k+1)` together with the velocities of the grid ([`Mobility`]).
//!
//! The bodies' own step is linear piece by piece: a contact with another body that holds in the step
//! about which it was linearised opens when enough comes from the particles. So after each substep the
//! step that the impulses lead to by now is compared with the linear answer
//! ([`Bodies::departure`]); where they part, it is linearised anew there, and the path
//! goes on from the velocities reached. Without this a body that presses soft material onto a
//! floor is held down by its own contact with that floor, whatever pushes it up, and all of that
//! impulse is there when the contact opens.
//!
//! A body's own step takes it along its velocity at the end, while contact has seen it gather that velocity: its pose would jump
//! by about `dt dV/2` between steps, and stiff contacts would feel that. A body that nothing holds or
//! touches but particles is put where its centre of mass was seen to go, which its impulses, each at its
//! time, and gravity lead to: together they keep the angular momentum in every inertial frame.
//! For others contact goes on from the pose that it saw last, and what it lags behind is made good
//! evenly over the next step.
//!
//! Impulses on a body are about a point that goes on with it ([`Bodies::reference_velocity`]): of a body
//! that is free and answers, where its centre of mass is by then.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_rigid::multibody::LinkId;
use pliant_rigid::simulation::Response;
use pliant_rigid::{Bodies, BodyId, RigidError, SpatialImpulse, SpatialVelocity};

use crate::body_state::{AnsweringBodies, ReferencePath, SeenBody};
use crate::convex::{Attachment, Mobility};
use crate::near::Near;
use crate::nodes::Numbering;
use crate::pair::Pair;

/// Part of the impulses that the linear answer may leave unbalanced before the step is linearised anew.
const FAR: f64 = 0.1;

/// Way past particles within a step, in cells, from which on a body that would be coupled weakly answers in the step.
const FAST: f64 = 0.1;

/// Part of a body's momentum that it may have gained from elsewhere in a step in which it counts as free: the tolerance of its own step.
const FREE: f64 = 1e-7;

/// Longest way of a body's surface past particles within a step [cells].
const LONGEST_WAY: f64 = 0.5;

/// How much the path of a body may bend within a step [cells]: contact sees it gather the velocity
/// evenly that its own step gives it at once.
const MOST_BEND: f64 = 0.1;

/// How all bodies move through the substeps.
#[derive(Debug)]
pub(crate) struct BodyMotion {
    /// Every body.
    pub seen: Vec<SeenBody>,
    /// Whether each body is coupled strongly.
    strong: Vec<bool>,
    /// Whether others answer too in steps in which they are fast.
    may_answer: bool,
    /// Longest way of a surface past the particles around it in this step [cells].
    farthest: f64,
    /// The bodies that answer in this step: strongly coupled, and near particles as far as the host knows where those are.
    answering: Vec<BodyId>,
    /// Each body's place among those.
    place: Vec<Option<u32>>,
    response: Response,
    /// Velocities of the answering bodies where the path was last begun, six numbers each.
    start: Vec<f64>,
    /// What their velocities gain from there to the end of the step without impulses of particles.
    gain: Vec<f64>,
    /// The part of the step at which the path was last begun, and the impulses that had come by then.
    begun: f64,
    begun_impulses: Vec<f64>,
    /// The impulses about which the step is linearised.
    linearised_at: Vec<f64>,
    /// Impulses of the last step, and those that the step would end with at that rate; one a body.
    expected: Vec<SpatialImpulse>,
    heading: Vec<SpatialImpulse>,
    more: Vec<f64>,
    /// What makes good the lag of their poses.
    lag: Vec<SpatialVelocity>,
    /// Where contact last saw the bodies that answered.
    left: Vec<Option<Isometry3<f64>>>,
    points: Vec<(LinkId, Vector3<f64>)>,
    /// Every body's, where nothing holds it.
    free: Vec<Option<Free>>,
}

/// A body that nothing holds, at the start of a step.
#[derive(Clone, Copy, Debug)]
struct Free {
    /// Centre of mass (m), its velocity (m/s), and its acceleration without particles and contact (m/s^2).
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
    /// `strong` says which bodies are coupled strongly, `may_answer` whether the others may be where they are fast.
    pub(crate) fn new(strong: Vec<bool>, may_answer: bool) -> Self {
        let bodies = strong.len();
        let still = SeenBody { pose: Isometry3::identity(), velocity: SpatialVelocity::zero() };
        Self {
            seen: vec![still; bodies],
            strong,
            may_answer,
            farthest: 0.0,
            answering: Vec::new(),
            place: vec![None; bodies],
            response: Response::default(),
            start: Vec::new(),
            gain: Vec::new(),
            begun: 0.0,
            begun_impulses: Vec::new(),
            linearised_at: Vec::new(),
            expected: Vec::new(),
            heading: Vec::new(),
            more: Vec::new(),
            lag: Vec::new(),
            left: vec![None; bodies],
            points: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Which bodies are coupled strongly.
    pub(crate) fn strong(&self) -> &[bool] {
        &self.strong
    }

    /// Begins a step of `dt` (s), for which the bodies are prepared. `expected` are the impulses of the last step, one a body;
    /// `near` says where the particles are. Where the host does not
    /// know, every strongly coupled body that could touch any answers: without contact it moves as its own step takes it, so that
    /// this costs no more than time.
    pub(crate) fn begin(
        &mut self,
        bodies: &mut Bodies,
        near: Option<Near<'_>>,
        dt: f64,
        expected: &[SpatialImpulse],
        mobility: &mut Mobility,
    ) -> Result<(), RigidError> {
        self.find_answering(bodies, near, dt);
        self.free.clear();
        self.free.extend(bodies.iter().map(|(id, body)| {
            let (center, mass) = bodies.free_center(id).filter(|_| !body.geometries.is_empty())?;
            let (velocity, acceleration) =
                (bodies.reference_velocity(id), bodies.free_acceleration(id, mass));
            Some(Free { center, velocity, acceleration, mass })
        }));
        mobility.clear();
        if self.answering.is_empty() {
            self.left.fill(None);
            return Ok(());
        }
        bodies.respond(dt, &self.answering, expected, &mut self.points, &mut self.response)?;
        mobility.set(self.answering.len(), &self.response.mobility);
        self.expected.clear();
        self.expected.extend_from_slice(expected);
        self.heading.reserve(expected.len());
        self.more.reserve(6 * self.answering.len());
        flatten(&self.answering, expected, &mut self.linearised_at);
        self.gain.clone_from(&self.response.change);
        add_answer(&self.response, &self.linearised_at, -1.0, &mut self.gain);
        self.begun = 0.0;
        self.begun_impulses.clear();
        self.begun_impulses.resize(6 * self.answering.len(), 0.0);
        self.start.clear();
        self.lag.clear();
        for (b, left) in self.left.iter_mut().enumerate() {
            if self.place[b].is_none() {
                *left = None;
            }
        }
        for &id in &self.answering {
            let (pose, velocity) = (bodies.pose(id), bodies.velocity(id));
            self.start.extend(six(&velocity.angular, &velocity.linear));
            let seen = self.left[id.0].unwrap_or(pose);
            self.lag.push(SpatialVelocity::between(&seen, &pose, dt));
            self.seen[id.0].pose = seen;
        }
        Ok(())
    }

    fn find_answering(&mut self, bodies: &Bodies, near: Option<Near<'_>>, dt: f64) {
        self.answering.clear();
        self.place.fill(None);
        self.farthest = 0.0;
        for (id, body) in bodies.iter() {
            let strong = self.strong[id.0];
            if body.geometries.is_empty() || !bodies.is_dynamic(id) {
                continue;
            }
            let answers = match near {
                // A slow body that is coupled weakly needs no look.
                Some(near)
                    if !strong && dt * near.speed_bound(bodies, id) <= FAST * near.mpm.grid_spacing() =>
                {
                    false
                }
                Some(near) => near.way(bodies, id, dt).is_some_and(|way| {
                    let way = way / near.mpm.grid_spacing();
                    self.farthest = self.farthest.max(way);
                    strong || (self.may_answer && way > FAST)
                }),
                None => strong,
            };
            if answers {
                self.place[id.0] = Some(self.answering.len() as u32);
                self.answering.push(id);
            }
        }
    }

    /// Part of the longest step that the scheme answers for, that the step which has begun is: above 1 it is too
    /// long. Bodies must not go farther past the particles around them, and their paths within the
    /// step must not bend more, than parts of a grid cell of `spacing` (m).
    pub(crate) fn excess(&self, bodies: &Bodies, dt: f64, spacing: f64) -> f64 {
        let bend = self.answering.iter().zip(self.response.change.chunks_exact(6)).map(|(&id, change)| {
            let angular = Vector3::new(change[0], change[1], change[2]);
            let linear = Vector3::new(change[3], change[4], change[5]);
            0.5 * dt * (linear.norm() + bodies.body(id).reach() * angular.norm())
        });
        (self.farthest / LONGEST_WAY).max(bend.fold(0.0, f64::max) / (MOST_BEND * spacing))
    }

    /// Poses and velocities for substep `k` of `substeps`, `delta` (s) each. `impulses` are those of the step so far, one a body.
    pub(crate) fn see(
        &mut self,
        bodies: &Bodies,
        k: u32,
        substeps: u32,
        delta: f64,
        impulses: &[SpatialImpulse],
    ) {
        for (id, _) in bodies.iter() {
            match self.place[id.0] {
                Some(place) => {
                    self.seen[id.0].velocity = self.velocity(place as usize, k + 1, substeps, impulses);
                }
                None => {
                    let pose = bodies.pose_after(id, f64::from(k) * delta);
                    self.seen[id.0] = SeenBody { pose, velocity: bodies.velocity(id) };
                }
            }
        }
    }

    /// Moves the answering bodies on, after substep `k` with its impulses in `impulses`.
    pub(crate) fn advance(&mut self, k: u32, substeps: u32, delta: f64, impulses: &[SpatialImpulse]) {
        for place in 0..self.answering.len() {
            let id = self.answering[place];
            let velocity = self.velocity(place, k + 1, substeps, impulses);
            let seen = &mut self.seen[id.0];
            seen.pose = velocity.advance(&seen.pose, delta);
            self.left[id.0] = Some(seen.pose);
        }
    }

    /// Moves the points on that the bodies' impulses are about, over substep `k`.
    pub(crate) fn move_references(
        &self,
        bodies: &Bodies,
        k: u32,
        delta: f64,
        impulses: &[SpatialImpulse],
        origins: &mut [Point3<f64>],
    ) {
        for ((b, origin), impulse) in origins.iter_mut().enumerate().zip(impulses) {
            *origin += self.reference(bodies, b).way(k, delta, &impulse.linear);
        }
    }

    /// How the point goes on that the impulses on body `b` are about.
    pub(crate) fn reference(&self, bodies: &Bodies, b: usize) -> ReferencePath {
        match &self.free[b] {
            Some(free) => {
                ReferencePath { velocity: free.velocity, acceleration: free.acceleration, mass: free.mass }
            }
            None => ReferencePath {
                velocity: bodies.reference_velocity(BodyId(b)),
                acceleration: Vector3::zeros(),
                mass: f64::INFINITY,
            },
        }
    }

    /// How far the bodies' step with these impulses is from the answer that was taken for all of it, as a part of
    /// how far it may be before [`BodyMotion::follow`] linearises it anew: for a backend, which cannot be told to.
    pub(crate) fn parted(&mut self, bodies: &mut Bodies, impulses: &[SpatialImpulse]) -> f64 {
        if self.answering.is_empty() {
            return 0.0;
        }
        flatten(&self.answering, impulses, &mut self.more);
        self.more.iter_mut().zip(&self.linearised_at).for_each(|(more, at)| *more -= at);
        bodies.departure(&self.points, &self.more, &mut self.response) / FAR
    }

    /// Puts the bodies that particles and nothing else touched in their step of `dt` (s) where their centres of mass
    /// went: `starts` are the bodies' origins before, `origins` the points that their impulses were about, at the end.
    pub(crate) fn settle(
        &self,
        bodies: &mut Bodies,
        dt: f64,
        impulses: &[SpatialImpulse],
        origins: &[Point3<f64>],
        starts: &[Point3<f64>],
    ) {
        for (b, (free, impulse)) in self.free.iter().zip(impulses).enumerate() {
            let Some(free) = free.filter(|_| *impulse != SpatialImpulse::zero() || self.place[b].is_some())
            else {
                continue;
            };
            let id = BodyId(b);
            let given = impulse.linear + dt * free.mass * free.acceleration;
            let gained = free.mass * (bodies.reference_velocity(id) - free.velocity);
            let scale = given.norm() + gained.norm() + free.mass * free.velocity.norm();
            if (gained - given).norm() > FREE * scale {
                continue;
            }
            let Some((center, _)) = bodies.free_center(id) else { continue };
            bodies.shift(id, &(free.center - center + (origins[b] - starts[b])));
        }
    }

    /// Linearises the bodies' step anew, after substep `k` with its impulses in `impulses`, where these lead to a
    /// step that is far from the linear answer.
    pub(crate) fn follow(
        &mut self,
        bodies: &mut Bodies,
        k: u32,
        substeps: u32,
        dt: f64,
        impulses: &[SpatialImpulse],
        mobility: &mut Mobility,
    ) -> Result<(), RigidError> {
        if self.answering.is_empty() || k + 1 == substeps {
            return Ok(());
        }
        let part = f64::from(k + 1) / f64::from(substeps);
        self.heading.clear();
        self.heading.extend(impulses.iter().zip(&self.expected).map(|(p, rate)| SpatialImpulse {
            angular: p.angular + (1.0 - part) * rate.angular,
            linear: p.linear + (1.0 - part) * rate.linear,
        }));
        flatten(&self.answering, &self.heading, &mut self.more);
        self.more.iter_mut().zip(&self.linearised_at).for_each(|(more, at)| *more -= at);
        if bodies.departure(&self.points, &self.more, &mut self.response) <= FAR {
            return Ok(());
        }
        for place in 0..self.answering.len() {
            let reached = self.reached(place, k + 1, substeps, impulses);
            self.more[6 * place..][..6].copy_from_slice(&reached);
        }
        core::mem::swap(&mut self.start, &mut self.more);
        bodies.respond(dt, &self.answering, &self.heading, &mut self.points, &mut self.response)?;
        mobility.set(self.answering.len(), &self.response.mobility);
        self.begun = part;
        flatten(&self.answering, impulses, &mut self.begun_impulses);
        flatten(&self.answering, &self.heading, &mut self.linearised_at);
        // From here to the end of that step: V_0 + change - W (heading - so far), less what is reached.
        self.gain.clone_from(&self.response.change);
        self.more.clear();
        self.more.extend(self.linearised_at.iter().zip(&self.begun_impulses).map(|(at, p)| at - p));
        add_answer(&self.response, &self.more, -1.0, &mut self.gain);
        for (place, &id) in self.answering.iter().enumerate() {
            let velocity = bodies.velocity(id);
            for (d, v) in six(&velocity.angular, &velocity.linear).into_iter().enumerate() {
                self.gain[6 * place + d] += v - self.start[6 * place + d];
            }
        }
        Ok(())
    }

    /// The bodies that answer in this step, for a backend.
    pub(crate) fn answering(&self) -> AnsweringBodies<'_> {
        if self.answering.is_empty() {
            // What the others hold is of an earlier step.
            return AnsweringBodies::default();
        }
        AnsweringBodies {
            bodies: &self.answering,
            mobility: &self.response.mobility,
            start: &self.start,
            gain: &self.gain,
            lag: &self.lag,
        }
    }

    /// Takes where contact left the answering bodies, one pose each, from a backend.
    pub(crate) fn leave(&mut self, poses: &[Isometry3<f64>]) {
        for (id, pose) in self.answering.iter().zip(poses) {
            self.left[id.0] = Some(*pose);
            self.seen[id.0].pose = *pose;
        }
    }

    /// Velocity after `k` of `substeps` with the impulses so far, and what makes good the lag.
    fn velocity(&self, place: usize, k: u32, substeps: u32, impulses: &[SpatialImpulse]) -> SpatialVelocity {
        let (v, lag) = (self.reached(place, k, substeps, impulses), &self.lag[place]);
        SpatialVelocity {
            angular: Vector3::new(v[0], v[1], v[2]) + lag.angular,
            linear: Vector3::new(v[3], v[4], v[5]) + lag.linear,
        }
    }

    /// Velocity after `k` of `substeps` with the impulses so far.
    fn reached(&self, place: usize, k: u32, substeps: u32, impulses: &[SpatialImpulse]) -> [f64; 6] {
        let part = (f64::from(k) / f64::from(substeps) - self.begun) / (1.0 - self.begun);
        let size = 6 * self.answering.len();
        core::array::from_fn(|d| {
            let i = 6 * place + d;
            let row = &self.response.mobility[i * size..(i + 1) * size];
            let mut answer = 0.0;
            for (b, id) in self.answering.iter().enumerate() {
                let p = six(&impulses[id.0].angular, &impulses[id.0].linear);
                for (e, p) in p.into_iter().enumerate() {
                    answer += row[6 * b + e] * (p - self.begun_impulses[6 * b + e]);
                }
            }
            self.start[i] + part * self.gain[i] + answer
        })
    }

    /// Whether a pair's body answers within the step.
    pub(crate) fn answers(&self, pair: &Pair) -> bool {
        self.place[pair.body.0].is_some()
    }

    /// Says which contacts are on bodies that answer, about their `origins` (world frame, m). They are in the first region.
    pub(crate) fn attach(
        &self,
        pairs: &[Pair],
        numbering: &Numbering,
        origins: &[Point3<f64>],
        mobility: &mut Mobility,
    ) {
        mobility.detach();
        let Some(region) = numbering.regions.first().filter(|region| region.answers) else { return };
        mobility.reserve(region.contacts.len());
        for pair in numbering.groups_of(region).flat_map(|group| &pairs[group.pairs]) {
            let body = self.place[pair.body.0];
            let lever = (pair.position - origins[pair.body.0]).into();
            mobility.attach(Attachment { body, lever });
        }
    }

    /// Where contact last saw the bodies that answered, to save.
    pub(crate) fn left(&self) -> &[Option<Isometry3<f64>>] {
        &self.left
    }

    /// Takes saved poses; false if they are not those of these bodies.
    pub(crate) fn restore(&mut self, left: Vec<Option<Isometry3<f64>>>) -> bool {
        let fits = left.len() == self.left.len();
        if fits {
            self.left = left;
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
fn add_answer(response: &Response, p: &[f64], factor: f64, out: &mut [f64]) {
    for (row, out) in response.mobility.chunks_exact(p.len().max(1)).zip(out) {
        *out += factor * row.iter().zip(p).map(|(w, p)| w * p).sum::<f64>();
    }
}
