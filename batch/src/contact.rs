//! Contacts of the published form (equations 5 to 13), each by itself.

use pulp::{NullaryFnOnce, Simd};

use super::kinematics::Worlds;
use super::layout::{MEETING, POSE};
use super::plan::{Geometry, Pair};
use pliant_geometry::pairs::{Meeting, Solid};
use pliant_numeric::lanes::{Mask, Pose, Real, Vec3, Wide, each};
use pliant_rigid::comfree::ImpedanceCurve;

/// From the poses and the smooth velocities; leaves impulses along the joints in the loads.
pub(super) struct Contacts<'a, 'b, 'c, S: Simd>(pub &'c mut Worlds<'a, 'b, S>);

impl<S: Simd> NullaryFnOnce for Contacts<'_, '_, '_, S> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let worlds = self.0;
        let plan = worlds.plan;
        for (g, geometry) in plan.geometries.iter().enumerate() {
            worlds.place_geometry(g, geometry);
        }
        for pair in &plan.pairs {
            let [a, b] = pair.geometries;
            if !worlds.may_meet(a, b) {
                continue;
            }
            let (first, second) = (worlds.solid(a), worlds.solid(b));
            let meetings = plan.layout.meetings;
            pair.kind.meet(&first, &second, |k, meeting| {
                let at = meetings + MEETING * k;
                worlds.slab.set_array(at, meeting.point.0);
                worlds.slab.set_array(at + 3, meeting.normal.0);
                worlds.slab.set(at + 6, meeting.distance);
            });
            for at in (meetings..).step_by(MEETING).take(pair.kind.most_points()) {
                let distance = worlds.slab.get(at + 6);
                if distance.lt(distance.zero()).any() {
                    let [point, normal] = [worlds.slab.vector(at), worlds.slab.vector(at + 3)];
                    worlds.push(pair, &Meeting { point, normal, distance });
                }
            }
        }
    }
}

/// A contact as its cones see it. Velocities are those of the second body against the first.
struct Felt<T> {
    normal: Vec3<T>,
    tangents: [Vec3<T>; 2],
    /// Impulse for each m/s of slip and each unit of the coefficient (N s/(m/s)).
    gain: T,
    /// Impulse of a facet without slip (N s).
    violation: T,
}

impl<S: Simd> Worlds<'_, '_, S> {
    #[inline(always)]
    fn place_geometry(&mut self, g: usize, geometry: &Geometry) {
        let l = &self.plan.layout;
        let one = self.slab.lit(1.0);
        let local = Pose::lit(one, &geometry.pose);
        let pose = match geometry.body {
            None => local,
            Some(body) => {
                let at = l.poses + POSE * body;
                Pose { rotation: self.slab.matrix(at), position: self.slab.vector(at + 9) }.times(&local)
            }
        };
        let at = l.solids + POSE * g;
        self.slab.set_matrix(at, &pose.rotation);
        self.slab.set_array(at + 9, pose.position.0);
        let radius = self.ball(g, geometry.shape);
        self.slab.set(l.radii + g, radius);
    }

    #[inline(always)]
    fn solid(&self, g: usize) -> Solid<Wide<S>> {
        let l = &self.plan.layout;
        let at = l.solids + POSE * g;
        let pose = Pose { rotation: self.slab.matrix(at), position: self.slab.vector(at + 9) };
        Solid { pose, size: self.parameters(l.sizes + 3 * g) }
    }

    /// Coefficients of sliding, of turning and rolling (m) of two geometries: harmonic means, as
    /// [`ContactMaterial::combine`](pliant_rigid::collision::ContactMaterial::combine).
    #[inline(always)]
    fn friction(&self, pair: &Pair) -> [Wide<S>; 3] {
        let first = self.plan.layout.friction;
        let a = self.parameters::<3>(first + 3 * pair.geometries[0]);
        let b = self.parameters::<3>(first + 3 * pair.geometries[1]);
        each!(k in [0, 1, 2] {
            let (product, sum) = (a[k] * b[k], a[k] + b[k]);
            let some = product.zero().lt(product);
            Wide::pick(some, product * 2.0 / Wide::pick(some, sum, sum.one()), product.zero())
        })
    }

    /// One contact: its impulse and what it adds to the loads, where it overlaps.
    #[inline(always)]
    fn push(&mut self, pair: &Pair, meeting: &Meeting<Wide<S>>) {
        let plan = self.plan;
        let sides = plan.sides(pair);
        self.write_columns(&sides, meeting.point);
        let trace = self.trace(&sides, meeting.point);
        let [kappa, delta] = plan.settings.gains.rates(plan.dt);
        let mass = ratio(&pair.impedance, -meeting.distance) / trace;
        let gain = mass * (plan.dt * (kappa * plan.dt + delta));
        let v = self.velocity_at(&sides, meeting.point);
        let touches = meeting.distance.lt(trace.zero()) & trace.zero().lt(trace);
        let violation = mass * meeting.distance * (-plan.dt * kappa) - gain * meeting.normal.dot(v);
        let felt = Felt {
            normal: meeting.normal,
            tangents: meeting.normal.tangents(),
            gain: Wide::pick(touches, gain, gain.zero()),
            // No facet pushes then.
            violation: Wide::pick(touches, violation, violation.zero()),
        };
        let mu = self.friction(pair);
        let mut impulse = self.cone(&felt, v, mu[0]);
        if pair.turns {
            let w = self.turning(&sides);
            let turning = felt.torsion(w, mu[1]);
            let rolling = self.cone(&felt, w, mu[2]);
            // A cone that is not there does not push either.
            let zero = mu[0].zero();
            let [twists, rolls] = [zero.lt(mu[1]), zero.lt(mu[2])];
            let along = Wide::pick(twists, turning.0, zero);
            let roll = Vec3::pick(rolls, rolling, Vec3::zero(zero));
            let push = felt.normal.dot(roll);
            impulse = impulse + felt.normal * (along + push);
            let about = Wide::pick(twists, turning.1, zero);
            let moment = roll + felt.normal * (about - push);
            self.hand_on_moment(&sides, moment);
        }
        self.hand_on(&sides, meeting.point, impulse);
    }

    /// Sum over the facets of a plane cone, `sum_j lambda_j (n - mu d_j)` (equations 7 to 9).
    #[inline(always)]
    fn cone(&self, felt: &Felt<Wide<S>>, slip: Vec3<Wide<S>>, mu: Wide<S>) -> Vec3<Wide<S>> {
        let slope = each!(k in [0, 1] felt.gain * mu * felt.tangents[k].dot(slip));
        let zero = mu.zero();
        // The published impedance belongs to four facets.
        let weight = 4.0 / self.plan.facets.len() as f64;
        let (mut normal, mut plane) = (zero, [zero; 2]);
        for d in &self.plan.facets {
            let lambda = (felt.violation + slope[0] * d[0] + slope[1] * d[1]).max(zero) * weight;
            normal = normal + lambda;
            plane = [plane[0] + lambda * d[0], plane[1] + lambda * d[1]];
        }
        felt.normal * normal - (felt.tangents[0] * plane[0] + felt.tangents[1] * plane[1]) * mu
    }
}

impl<T: Real> Felt<T> {
    /// Normal impulse and moment about the normal of the two facets of torsion.
    #[inline(always)]
    fn torsion(&self, w: Vec3<T>, mu: T) -> (T, T) {
        let slope = self.gain * mu * self.normal.dot(w);
        let with = (self.violation + slope).max(slope.zero());
        let against = (self.violation - slope).max(slope.zero());
        (with + against, mu * (against - with))
    }
}

/// `r/(1 - r)` at a depth (m); [`ImpedanceCurve::ratio`].
#[inline(always)]
pub(super) fn ratio<S: Simd>(curve: &ImpedanceCurve, depth: Wide<S>) -> Wide<S> {
    let (m, p) = (curve.midpoint, curve.power);
    let x = (depth.abs() * (1.0 / curve.width)).min(depth.one());
    let low = power(x * (1.0 / m), p) * m;
    let high = -power((-x + 1.0) * (1.0 / (1.0 - m)), p) * (1.0 - m) + 1.0;
    let rise = Wide::pick(x.lt(x.lit(m)), low, high);
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
