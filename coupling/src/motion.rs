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
//! A body's own step takes it along its velocity at the end, while contact has seen it gather that velocity: its pose would jump
//! by about `dt dV/2` between steps, and stiff contacts would feel that. So contact goes on from the pose that it saw last, and
//! what it lags behind is made good evenly over the next step.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_mpm::Mpm;
use pliant_rigid::multibody::LinkId;
use pliant_rigid::simulation::Response;
use pliant_rigid::{Bodies, BodyId, RigidError, SpatialImpulse, SpatialVelocity};

use crate::backend::{AnsweringBodies, SeenBody};
use crate::convex::{Attachment, Mobility};
use crate::nodes::Numbering;
use crate::register::Pair;

/// How all bodies move through the substeps.
#[derive(Debug)]
pub(crate) struct BodyMotion {
    /// Every body.
    pub seen: Vec<SeenBody>,
    /// Whether each body is coupled strongly.
    strong: Vec<bool>,
    /// The bodies that answer in this step: strongly coupled, and near particles as far as the host knows where those are.
    answering: Vec<BodyId>,
    /// Each body's place among those.
    place: Vec<Option<u32>>,
    response: Response,
    /// Velocities of the answering bodies at the start of the step, six numbers each.
    start: Vec<f64>,
    /// What their velocities gain over the step without impulses of particles.
    gain: Vec<f64>,
    /// What makes good the lag of their poses.
    lag: Vec<SpatialVelocity>,
    /// Where contact last saw the bodies that answered.
    left: Vec<Option<Isometry3<f64>>>,
    points: Vec<(LinkId, Vector3<f64>)>,
}

fn six(angular: &Vector3<f64>, linear: &Vector3<f64>) -> [f64; 6] {
    [angular.x, angular.y, angular.z, linear.x, linear.y, linear.z]
}

impl BodyMotion {
    /// `strong` says which bodies are coupled strongly.
    pub(crate) fn new(strong: Vec<bool>) -> Self {
        let bodies = strong.len();
        let still = SeenBody { pose: Isometry3::identity(), velocity: SpatialVelocity::zero() };
        Self {
            seen: vec![still; bodies],
            strong,
            answering: Vec::new(),
            place: vec![None; bodies],
            response: Response::default(),
            start: Vec::new(),
            gain: Vec::new(),
            lag: Vec::new(),
            left: vec![None; bodies],
            points: Vec::new(),
        }
    }

    /// Which bodies are coupled strongly.
    pub(crate) fn strong(&self) -> &[bool] {
        &self.strong
    }

    /// Begins a step of `dt` (s), for which the bodies are prepared. `expected` are the impulses of the last step, one a body;
    /// `near` says where the particles are, and how near \[m\] they must be for a body that does not move to answer. Where the host does not
    /// know, every strongly coupled body that could touch any answers: without contact it moves as its own step takes it, so that
    /// this costs no more than time.
    pub(crate) fn begin(
        &mut self,
        bodies: &mut Bodies,
        near: Option<(&Mpm, f64)>,
        dt: f64,
        expected: &[SpatialImpulse],
        mobility: &mut Mobility,
    ) -> Result<(), RigidError> {
        self.find_answering(bodies, near, dt);
        mobility.clear();
        if self.answering.is_empty() {
            self.left.fill(None);
            return Ok(());
        }
        bodies.respond(dt, &self.answering, expected, &mut self.points, &mut self.response)?;
        mobility.set(self.answering.len(), &self.response.mobility);
        self.gain.clone_from(&self.response.change);
        add_answer(&self.response, &self.answering, expected, -1.0, &mut self.gain);
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

    fn find_answering(&mut self, bodies: &Bodies, near: Option<(&Mpm, f64)>, dt: f64) {
        self.answering.clear();
        self.place.fill(None);
        for (id, body) in bodies.iter().filter(|(id, _)| self.strong[id.0]) {
            let may_touch = match near {
                Some((mpm, reach)) => is_near(bodies, id, mpm, dt, reach),
                None => !body.geometries.is_empty(),
            };
            if may_touch {
                self.place[id.0] = Some(self.answering.len() as u32);
                self.answering.push(id);
            }
        }
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

    /// Velocity with the part of the gain that belongs to `k` of `substeps`, and the impulses so far.
    fn velocity(&self, place: usize, k: u32, substeps: u32, impulses: &[SpatialImpulse]) -> SpatialVelocity {
        let part = f64::from(k) / f64::from(substeps);
        let size = 6 * self.answering.len();
        let mut v = [0.0; 6];
        for (d, v) in v.iter_mut().enumerate() {
            let i = 6 * place + d;
            let row = &self.response.mobility[i * size..(i + 1) * size];
            *v = self.start[i] + part * self.gain[i] + answer(row, &self.answering, impulses);
        }
        let lag = &self.lag[place];
        SpatialVelocity {
            angular: Vector3::new(v[0], v[1], v[2]) + lag.angular,
            linear: Vector3::new(v[3], v[4], v[5]) + lag.linear,
        }
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

/// A row of W times impulses.
fn answer(row: &[f64], bodies: &[BodyId], impulses: &[SpatialImpulse]) -> f64 {
    let of = |(row, id): (&[f64], &BodyId)| {
        let p = six(&impulses[id.0].angular, &impulses[id.0].linear);
        row.iter().zip(p).map(|(w, p)| w * p).sum::<f64>()
    };
    row.chunks_exact(6).zip(bodies).map(of).sum()
}

/// `out += factor W p`.
fn add_answer(
    response: &Response,
    bodies: &[BodyId],
    impulses: &[SpatialImpulse],
    factor: f64,
    out: &mut [f64],
) {
    let size = 6 * bodies.len();
    for (row, out) in response.mobility.chunks_exact(size).zip(out) {
        *out += factor * answer(row, bodies, impulses);
    }
}

/// Whether particles may touch a body within `dt` (s).
fn is_near(bodies: &Bodies, id: BodyId, mpm: &Mpm, dt: f64, reach: f64) -> bool {
    let (pose, velocity) = (bodies.pose(id), bodies.velocity(id));
    let reach = reach + dt * mpm.max_speed();
    bodies.body(id).geometries.iter().any(|geometry| {
        let placed = pose * geometry.pose;
        (0..mpm.block_count()).any(|b| {
            let view = mpm.block(b);
            let center = view.corner() + Vector3::repeat(0.5 * view.edge());
            // Particles are at most 1.5 cells out of their block: see the reach of the transfers.
            let radius = (0.5 * view.edge() + 1.5 * mpm.grid_spacing()) * 3.0_f64.sqrt();
            let origin = pose.translation.vector.into();
            let moved = dt * (velocity.at(&origin, &center).norm() + velocity.angular.norm() * radius);
            geometry.shape.lower_bound(&placed.inverse_transform_point(&center)) < radius + reach + moved
        })
    })
}
