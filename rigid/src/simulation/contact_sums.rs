//! Impulses of contact on each body, summed over the steps that are kept.

use nalgebra::Vector3;

use super::stepper::Stepper;
use crate::multibody::{ForceVector, LinkId};

/// The origin of a body, about which its impulses act.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyOrigin {
    /// The body's link; `None` is the world.
    pub link: Option<LinkId>,
    /// The origin in the link's frame, in the world's without a link \[m\].
    pub point: Vector3<f64>,
}

/// Sums of impulses on bodies. It has no bodies, and costs nothing, until it is told to measure.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactSums {
    /// Number of the body of each geometry.
    body_of_geometry: Vec<u32>,
    origins: Vec<BodyOrigin>,
    /// Since the advance began: moments \[N m s\] about the bodies' origins, impulses \[N s\].
    kept: Vec<ForceVector>,
    /// Of the step that is tried.
    tried: Vec<ForceVector>,
}

impl ContactSums {
    /// Sums over bodies with these origins.
    pub fn new(origins: Vec<BodyOrigin>, body_of_geometry: Vec<u32>) -> Self {
        let zero = vec![ForceVector::zero(); origins.len()];
        Self { body_of_geometry, origins, kept: zero.clone(), tried: zero }
    }

    /// Begins an advance.
    pub fn begin_advance(&mut self) {
        self.kept.fill(ForceVector::zero());
    }

    /// Begins to try a step.
    pub fn begin(&mut self) {
        self.tried.fill(ForceVector::zero());
    }

    /// Adds the step that `last` has just made. With `first`, the stepper of the beginning in a
    /// trapezoid rule, impulses of both ends contribute.
    pub fn measure(&mut self, first: Option<&Stepper>, last: &Stepper) {
        if self.origins.is_empty() {
            return;
        }
        let Self { body_of_geometry, origins, tried, .. } = self;
        let mut add = |end: &Stepper, c: usize, impulse: Vector3<f64>, moment: Vector3<f64>| {
            let candidate = &end.candidates[c];
            for (geometry, sign) in candidate.geometries.into_iter().zip([-1.0, 1.0]) {
                let Some(&body) = body_of_geometry.get(geometry as usize) else { continue };
                let BodyOrigin { link, point } = origins[body as usize];
                let origin = link.map_or(point, |link| {
                    let pose = end.kinematics.pose(link);
                    pose.rotation * point + pose.translation.vector
                });
                let lever = candidate.point - origin;
                let all = ForceVector::new(lever.cross(&impulse) + moment, impulse);
                tried[body as usize] += all * sign;
            }
        };
        for (c, impulse) in last.problem.contacts.impulses().iter().enumerate() {
            let moment = last.solver.moment(c).unwrap_or_else(Vector3::zeros);
            add(last, c, Vector3::from(*impulse) + last.rebound(c), moment);
        }
        if let Some(first) = first {
            for (c, force) in last.trapezoid.contact_forces.iter().enumerate() {
                add(first, c, force * last.dt + first.rebound(c), Vector3::zeros());
            }
        }
    }

    /// Keeps the step that was tried.
    pub fn keep(&mut self) {
        self.kept.iter_mut().zip(&self.tried).for_each(|(sum, tried)| *sum += *tried);
    }

    /// The sums since the advance began, in the order of the bodies.
    pub fn kept(&self) -> &[ForceVector] {
        &self.kept
    }
}
