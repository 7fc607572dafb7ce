//! Impulses of the particles on the bodies, and the points that they act about.

use nalgebra::{Point3, Vector3};
use pliant_rigid::{Bodies, SpatialImpulse};

/// Each list has one entry per body, world frame.
#[derive(Clone, Debug)]
pub(crate) struct BodyImpulses {
    /// In the present coupling step.
    pub current: Vec<SpatialImpulse>,
    /// In the whole step.
    pub step: Vec<SpatialImpulse>,
    /// Of contact between bodies in the whole step, about the bodies' moving origins.
    pub contacts: Vec<SpatialImpulse>,
    /// Over a whole step at the rate of the last coupling step.
    pub expected: Vec<SpatialImpulse>,
    /// Expected impulses of the coupling step that begins.
    share: Vec<SpatialImpulse>,
    /// Reference points of the impulses \[m\]: the bodies' origins at the start of the coupling
    /// step, then moved by
    /// [`BodyMotion::move_references`](crate::motion::BodyMotion::move_references).
    pub points: Vec<Point3<f64>>,
    /// The same points at the start of the coupling step \[m\].
    pub starts: Vec<Point3<f64>>,
    /// Of each body, the sum of `way x impulse` over the substeps of the coupling step: the ways of its
    /// reference point, and its impulses at their ends \[kg m^2/s\].
    pub swept: Vec<Vector3<f64>>,
    /// Whether each body is dynamic.
    pub dynamic_bodies: Vec<bool>,
}

impl BodyImpulses {
    pub(crate) fn new(bodies: &Bodies) -> Self {
        let zero = vec![SpatialImpulse::zero(); bodies.len()];
        Self {
            current: zero.clone(),
            step: zero.clone(),
            contacts: zero.clone(),
            expected: zero.clone(),
            share: zero,
            points: vec![Point3::origin(); bodies.len()],
            starts: vec![Point3::origin(); bodies.len()],
            swept: vec![Vector3::zeros(); bodies.len()],
            dynamic_bodies: bodies.iter().map(|(id, _)| bodies.is_dynamic(id)).collect(),
        }
    }

    /// Begins a step.
    pub(crate) fn begin_step(&mut self) {
        self.step.fill(SpatialImpulse::zero());
        self.contacts.fill(SpatialImpulse::zero());
    }

    /// Begins a coupling step: zero impulses, about the bodies' origins.
    pub(crate) fn begin_coupling_step(&mut self, bodies: &Bodies) {
        for (point, (id, _)) in self.points.iter_mut().zip(bodies.iter()) {
            *point = bodies.pose(id).translation.vector.into();
        }
        self.starts.clone_from(&self.points);
        self.swept.fill(Vector3::zeros());
        self.current.fill(SpatialImpulse::zero());
    }

    /// Expected impulses of a coupling step that is this `part` of a step: those of the last one,
    /// scaled.
    pub(crate) fn expected_of(&mut self, part: f64) -> &[SpatialImpulse] {
        for (share, expected) in self.share.iter_mut().zip(&self.expected) {
            *share = SpatialImpulse { angular: part * expected.angular, linear: part * expected.linear };
        }
        &self.share
    }

    /// Adds the contact between bodies in a coupling step.
    pub(crate) fn add_contacts(&mut self, bodies: &Bodies) {
        for (sum, impulse) in self.contacts.iter_mut().zip(bodies.contact_impulses()) {
            sum.linear += impulse.linear;
            sum.angular += impulse.angular;
        }
    }

    /// Adds the coupling step to the step; a whole step has `rate` of them.
    pub(crate) fn finish_coupling_step(&mut self, rate: f64) {
        for (b, impulse) in self.current.iter().enumerate() {
            self.expected[b] =
                SpatialImpulse { angular: rate * impulse.angular, linear: rate * impulse.linear };
            self.step[b].linear += impulse.linear;
            self.step[b].angular += impulse.angular;
        }
    }
}
