//! Contacts of the published form (equations 5 to 13), each on its own.

use super::kinematics::{Phase, WorldLanes};
use super::layout::{POINT_NUMBERS, POSE};
use super::plan::{BatchGeometry, CollisionPair};
use pliant_geometry::pairs::{ContactPoint, PlacedSolid};
use pliant_numeric::each;
use pliant_numeric::linalg::Vec3;
use pliant_numeric::rotation::Pose;
use pliant_numeric::scalar::{Mask, Real};
use pliant_numeric::simd::{Simd, Wide};
use pliant_rigid::comfree::ImpedanceCurve;

/// From the poses and the smooth velocities; adds impulses along the joints to the loads.
pub(super) struct Contacts;

impl Phase for Contacts {
    #[inline(always)]
    fn run<S: Simd>(worlds: &mut WorldLanes<'_, '_, S>) {
        let plan = worlds.plan;
        for (g, geometry) in plan.geometries.iter().enumerate() {
            worlds.place_geometry(g, geometry);
        }
        for pair in &plan.pairs {
            let [a, b] = pair.geometries;
            if !worlds.may_touch(a, b) {
                continue;
            }
            let (first, second) = (worlds.solid(a), worlds.solid(b));
            let contact_points = plan.layout.contact_points;
            pair.kind.contact_points(&first, &second, |k, point| {
                let at = contact_points + POINT_NUMBERS * k;
                worlds.workspace.set_array(at, point.point.0);
                worlds.workspace.set_array(at + 3, point.normal.0);
                worlds.workspace.set(at + 6, point.distance);
            });
            for at in (contact_points..).step_by(POINT_NUMBERS).take(pair.kind.most_points()) {
                let distance = worlds.workspace.get(at + 6);
                if distance.lt(Wide::zero()).any() {
                    let [point, normal] = [worlds.workspace.vector(at), worlds.workspace.vector(at + 3)];
                    worlds.solve_contact(pair, &ContactPoint { point, normal, distance });
                }
            }
        }
    }
}

/// Gains of a contact, for its cones. Velocities are those of the second body against the first.
struct ContactGains<T> {
    normal: Vec3<T>,
    tangents: [Vec3<T>; 2],
    /// Impulse per m/s of slip and unit of the coefficient \[N s/(m/s)\].
    gain: T,
    /// Impulse of a facet without slip \[N s\].
    violation: T,
}

impl<S: Simd> WorldLanes<'_, '_, S> {
    #[inline(always)]
    fn place_geometry(&mut self, g: usize, geometry: &BatchGeometry) {
        let l = &self.plan.layout;
        let local = Pose::from(geometry.pose);
        let pose = match geometry.body {
            None => local,
            Some(body) => {
                let at = l.poses + POSE * body;
                Pose { rotation: self.workspace.matrix(at), position: self.workspace.vector(at + 9) }
                    .times(&local)
            }
        };
        let at = l.solids + POSE * g;
        self.workspace.set_matrix(at, &pose.rotation);
        self.workspace.set_array(at + 9, pose.position.0);
        let radius = self.bounding_radius(g, geometry.shape);
        self.workspace.set(l.radii + g, radius);
    }

    #[inline(always)]
    fn solid(&self, g: usize) -> PlacedSolid<Wide<S>> {
        let l = &self.plan.layout;
        let at = l.solids + POSE * g;
        let pose = Pose { rotation: self.workspace.matrix(at), position: self.workspace.vector(at + 9) };
        PlacedSolid { pose, size: self.parameters(l.sizes + 3 * g) }
    }

    /// Coefficients of sliding, torsional and rolling friction \[m\] of two geometries, as
    /// [`ContactMaterial::combine`](pliant_rigid::collision::ContactMaterial::combine).
    #[inline(always)]
    fn friction(&self, pair: &CollisionPair) -> [Wide<S>; 3] {
        let first = self.plan.layout.friction;
        let a = self.parameters::<3>(first + 3 * pair.geometries[0]);
        let b = self.parameters::<3>(first + 3 * pair.geometries[1]);
        if pair.larger_friction {
            return each!(k in [0, 1, 2] a[k].max(b[k]));
        }
        each!(k in [0, 1, 2] {
            let (product, sum) = (a[k] * b[k], a[k] + b[k]);
            let some = Wide::zero().lt(product);
            Wide::select(some, product * 2.0 / Wide::select(some, sum, Wide::one()), Wide::zero())
        })
    }

    /// One contact: adds its impulse to the loads if it overlaps.
    #[inline(always)]
    fn solve_contact(&mut self, pair: &CollisionPair, point: &ContactPoint<Wide<S>>) {
        let plan = self.plan;
        let sides = plan.sides(pair);
        self.write_columns(&sides, point.point);
        let trace = self.trace(&sides, point.point);
        let [kappa, delta] = plan.settings.gains.rates(plan.dt);
        let mass = ratio(&pair.impedance, -point.distance) / trace;
        let gain = mass * (plan.dt * (kappa * plan.dt + delta));
        let v = self.velocity_at(&sides, point.point);
        let candidates = point.distance.lt(Wide::zero()) & Wide::zero().lt(trace);
        let violation = mass * point.distance * (-plan.dt * kappa) - gain * point.normal.dot(v);
        let contact_gains = ContactGains {
            normal: point.normal,
            tangents: point.normal.tangents(),
            gain: Wide::select(candidates, gain, Wide::zero()),
            // Then no facet acts.
            violation: Wide::select(candidates, violation, Wide::zero()),
        };
        let mu = self.friction(pair);
        let mut impulse = self.cone(&contact_gains, v, mu[0]);
        if pair.turns {
            let w = self.turning(&sides);
            let turning = contact_gains.torsion(w, mu[1]);
            let rolling = self.cone(&contact_gains, w, mu[2]);
            // A cone that does not exist has no impulse.
            let zero = Wide::zero();
            let [twists, rolls] = [zero.lt(mu[1]), zero.lt(mu[2])];
            let along = Wide::select(twists, turning.0, zero);
            let roll = Vec3::select(rolls, rolling, Vec3::zero());
            let push = contact_gains.normal.dot(roll);
            impulse += contact_gains.normal * (along + push);
            let about = Wide::select(twists, turning.1, zero);
            let moment = roll + contact_gains.normal * (about - push);
            self.apply_moment(&sides, moment);
        }
        self.apply_impulse(&sides, point.point, impulse);
    }

    /// Sum over the facets of a plane cone, `sum_j lambda_j (n - mu d_j)` (equations 7 to 9).
    #[inline(always)]
    fn cone(&self, contact_gains: &ContactGains<Wide<S>>, slip: Vec3<Wide<S>>, mu: Wide<S>) -> Vec3<Wide<S>> {
        let slope = each!(k in [0, 1] contact_gains.gain * mu * contact_gains.tangents[k].dot(slip));
        let zero = Wide::zero();
        // The published impedance is defined for four facets.
        let weight = 4.0 / self.plan.facets.len() as f64;
        let (mut normal, mut plane) = (zero, [zero; 2]);
        for d in &self.plan.facets {
            let lambda = (contact_gains.violation + slope[0] * d[0] + slope[1] * d[1]).max(zero) * weight;
            normal += lambda;
            plane = [plane[0] + lambda * d[0], plane[1] + lambda * d[1]];
        }
        contact_gains.normal * normal
            - (contact_gains.tangents[0] * plane[0] + contact_gains.tangents[1] * plane[1]) * mu
    }
}

impl<T: Real> ContactGains<T> {
    /// Normal impulse and moment about the normal of the two facets of torsion.
    #[inline(always)]
    fn torsion(&self, w: Vec3<T>, mu: T) -> (T, T) {
        let slope = self.gain * mu * self.normal.dot(w);
        let with = (self.violation + slope).max(T::zero());
        let against = (self.violation - slope).max(T::zero());
        (with + against, mu * (against - with))
    }
}

/// `r/(1 - r)` at a depth \[m\]; [`ImpedanceCurve::ratio`].
#[inline(always)]
pub(super) fn ratio<S: Simd>(curve: &ImpedanceCurve, depth: Wide<S>) -> Wide<S> {
    let (m, p) = (curve.midpoint, curve.power);
    let x = (depth.abs() * (1.0 / curve.width)).min(Wide::one());
    let low = power(x * (1.0 / m), p) * m;
    let high = -power((-x + 1.0) * (1.0 / (1.0 - m)), p) * (1.0 - m) + 1.0;
    let rise = Wide::select(x.lt(Wide::splat(m)), low, high);
    let r = rise * (curve.maximum - curve.minimum) + curve.minimum;
    r / (-r + 1.0)
}

#[inline(always)]
fn power<S: Simd>(x: Wide<S>, p: f64) -> Wide<S> {
    if p == 1.0 {
        x
    } else if p == 2.0 {
        x.squared()
    } else {
        x.each(|x| x.powf(p))
    }
}
