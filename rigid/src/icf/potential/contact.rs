//! Contacts of rigid bodies.

use nalgebra::Vector3;

use super::constraint::{ConstraintPotential, Evaluation};
use crate::contact_model::{ALONE, LinePoint, NormalContactModel, RegularisedFriction, along};

/// What two bodies do where they touch. Velocities are those of the second body against the first,
/// world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactParameters {
    /// From the first body to the second.
    pub normal: Vector3<f64>,
    /// Signed distance \[m\], negative when they overlap.
    pub distance: f64,
    /// Stiffness \[N/m\].
    pub stiffness: f64,
    /// Hunt and Crossley's dissipation \[s/m\].
    pub dissipation: f64,
    /// Coefficient of friction at rest.
    pub static_friction: f64,
    /// Coefficient of friction in motion, at most the static one.
    pub dynamic_friction: f64,
    /// Stiction tolerance \[m/s\].
    pub stiction_tolerance: f64,
    /// Mobility w of the two bodies at the contact, 2.65 (1/m_A + 1/m_B) for free bodies \[1/kg\].
    pub mobility: f64,
}

impl ContactParameters {
    /// Elastic force `f_0 = -k phi` \[N\], negative across a gap.
    pub fn elastic_force(&self) -> f64 {
        -self.stiffness * self.distance
    }

    /// Hunt and Crossley's normal force \[N\] at the present overlap and the normal velocity `v_n`
    /// \[m/s\].
    pub fn normal_force(&self, v_n: f64) -> f64 {
        self.elastic_force().max(0.0) * (1.0 - self.dissipation * v_n).max(0.0)
    }

    /// Friction of the coefficient `friction` with the bound `friction normal`, where the normal
    /// impulse in the step is `impulse` \[N s\].
    fn friction(&self, friction: f64, normal: f64, impulse: f64) -> RegularisedFriction {
        let regularisation = self.stiction_tolerance.max(friction * SIGMA * self.mobility * impulse);
        RegularisedFriction { bound: friction * normal, regularisation }
    }

    /// Friction \[N\] at the velocity `v` \[m/s\] under the normal force `normal` \[N\],
    /// regularised as for a step of `dt` \[s\].
    pub fn friction_force(&self, v: &Vector3<f64>, normal: f64, friction: f64, dt: f64) -> Vector3<f64> {
        let slip = v - self.normal * self.normal.dot(v);
        slip * -self.friction(friction, normal, dt * normal).secant(slip.norm())
    }

    /// What the normal force and friction lose with velocity at `v` [N s/m]: elasticity, which acts
    /// on `dt v`, and dissipation; friction's secant.
    pub fn gains(&self, v: &Vector3<f64>, normal: f64, friction: f64, dt: f64) -> [f64; 2] {
        let slip = (v - self.normal * self.normal.dot(v)).norm();
        let damping = self.elastic_force().max(0.0) * self.dissipation;
        let secant = self.friction(friction, normal, dt * normal).secant(slip);
        [dt * self.stiffness + damping, secant]
    }

    /// Coefficient of friction at the slip speed `slip` [m/s]: static to some ten times the
    /// stiction tolerance, then falling to dynamic (Kurtz and Castro 2025, equation 8).
    pub fn friction_at(&self, slip: f64) -> f64 {
        let s = |y: f64| y / (1.0 + y * y).sqrt();
        let x = slip / self.stiction_tolerance;
        let fall = 0.5 * (1.0 - s(x - 10.0) / s(10.0));
        self.dynamic_friction + (self.static_friction - self.dynamic_friction) * fall
    }
}

/// Relative regularisation of friction against the mobility. Castro et al. (2023) have 1e-3, with
/// which a light body in a strong grip creeps at long steps: a peg of 8 g between fingers crept by
/// 0.23 mm/s at an accuracy of 1e-3, with a stiction tolerance of 0.1 mm/s.
pub(super) const SIGMA: f64 = 1e-5;

/// The contact model of one contact over one step: Hunt and Crossley's normal force, implicit in
/// the velocity, and friction whose bound is lagged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPotential {
    normal: Vector3<f64>,
    model: NormalContactModel,
    friction: RegularisedFriction,
}

impl ContactPotential {
    /// That of `point` over a step of `dt` \[s\]. `lagged_force` is the normal force f_n0 \[N\]
    /// that bounds friction and `friction` the coefficient, both as at the start of the step.
    pub fn new(point: &ContactParameters, dt: f64, lagged_force: f64, friction: f64) -> Self {
        let n0 = dt * lagged_force;
        Self {
            normal: point.normal,
            model: NormalContactModel::of_rigid_bodies(
                point.distance,
                point.stiffness,
                point.dissipation,
                dt,
            ),
            friction: point.friction(friction, n0, n0),
        }
    }

    /// That of a unit normal, towards which positive velocities separate, and the models along and
    /// across it.
    pub fn from_models(normal: [f64; 3], model: NormalContactModel, friction: RegularisedFriction) -> Self {
        Self { normal: normal.into(), model, friction }
    }

    /// The same with the normal impulse and friction weighted.
    pub fn weighted(self, [normal, friction]: [f64; 2]) -> Self {
        Self {
            model: NormalContactModel {
                linear: normal * self.model.linear,
                quadratic: normal * self.model.quadratic,
                ..self.model
            },
            friction: RegularisedFriction { bound: friction * self.friction.bound, ..self.friction },
            ..self
        }
    }

    /// Normal impulse \[N s\] at the normal velocity `v_n` \[m/s\].
    pub fn normal_impulse(&self, v_n: f64) -> f64 {
        self.model.impulse(v_n)
    }

    /// Normal, from the first body to the second.
    pub(crate) fn normal(&self) -> &Vector3<f64> {
        &self.normal
    }

    /// The secant of friction at the velocity `v` [m/s]: its impulse is this times the slip \[kg\].
    pub(crate) fn friction_secant(&self, v: &[f64; 3]) -> f64 {
        if self.friction.bound == 0.0 {
            return 0.0;
        }
        let v = Vector3::from(*v);
        let slip = v - self.normal * self.normal.dot(&v);
        self.friction.secant(slip.norm())
    }

    /// Response with the part of friction's Hessian that lowers it along the slip scaled by
    /// `hessian_blend`: 1 gives the Hessian, 0 the secant.
    #[inline(always)]
    fn blended_response(&self, v: &[f64; 3], hessian_blend: f64) -> Evaluation<3> {
        let (n, v) = (&self.normal, Vector3::from(*v));
        let v_n = n.dot(&v);
        let t = v - n * v_n;
        let normal = self.model.at::<ALONE>(v_n);
        let [potential, c, s] = self.friction.at(t.norm_squared());
        // The slip's direction before its square: c/s^2 alone overflows at no slip.
        let e = t / s;
        let mut hessian = [[0.0; 3]; 3];
        for a in 0..3 {
            for b in 0..3 {
                hessian[a][b] = (normal.hessian - c) * (n[a] * n[b]) - hessian_blend * c * (e[a] * e[b]);
            }
            hessian[a][a] += c;
        }
        Evaluation {
            potential: normal.potential + potential,
            impulse: (n * normal.impulse - t * c).into(),
            hessian,
        }
    }
}

impl ConstraintPotential<3> for ContactPotential {
    fn response(&self, v: &[f64; 3]) -> Evaluation<3> {
        self.blended_response(v, 1.0)
    }

    fn secant(&self, v: &[f64; 3]) -> [[f64; 3]; 3] {
        self.blended_response(v, 0.0).hessian
    }

    /// Without the Hessian: along a line, dot products are enough.
    #[inline]
    fn along(&self, v: &[f64; 3], dv: &[f64; 3]) -> [f64; 3] {
        let (n, v, dv) = (&self.normal, Vector3::from(*v), Vector3::from(*dv));
        let (v_n, dv_n) = (n.dot(&v), n.dot(&dv));
        let (t, dt) = (v - n * v_n, dv - n * dv_n);
        let at = LinePoint {
            v_n,
            dv_n,
            slip_squared: t.norm_squared(),
            cross: t.dot(&dt),
            change_squared: dt.norm_squared(),
        };
        along::<ALONE>(&self.model, &self.friction, &at)
    }
}
