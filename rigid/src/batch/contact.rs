//! Contacts of the published form (equations 5 to 13), each by itself.

use pulp::{NullaryFnOnce, Simd};

use super::kinematics::Worlds;
use super::layout::POSE;
use super::plan::{Geometry, Pair, Size};
use crate::comfree::ImpedanceCurve;
use crate::lanes::pairs::{FAR, Kind, Meeting, Solid};
use crate::lanes::{Mask, Pose, Real, Vec3, Wide};

/// Most meetings of any pair.
const MOST_POINTS: usize = Kind::BoxBox.most_points();

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
            if !worlds.may_meet(a, b).any() {
                continue;
            }
            let (first, second) = (worlds.solid(a), worlds.solid(b));
            let zero = Vec3::zero(first.size[0]);
            let nothing = Meeting { point: zero, normal: zero, distance: first.size[0].lit(FAR) };
            let mut meetings = [nothing; MOST_POINTS];
            pair.kind.meet(&first, &second, |k, meeting| meetings[k] = meeting);
            for meeting in &meetings[..pair.kind.most_points()] {
                if meeting.distance.lt(meeting.distance.zero()).any() {
                    worlds.push(pair, meeting);
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
        let size = Vec3(self.parameters(l.sizes + 3 * g));
        let radius = match geometry.shape {
            Size::HalfSpace => one.zero(),
            Size::Radius => size.0[0],
            Size::RadiusAndLength => size.0[0] + size.0[1],
            Size::Extents => size.norm(),
        };
        self.slab.set(l.radii + g, radius);
    }

    #[inline(always)]
    fn solid(&self, g: usize) -> Solid<Wide<S>> {
        let l = &self.plan.layout;
        let at = l.solids + POSE * g;
        let pose = Pose { rotation: self.slab.matrix(at), position: self.slab.vector(at + 9) };
        Solid { pose, size: self.parameters(l.sizes + 3 * g) }
    }

    /// Whether balls around two geometries overlap.
    #[inline(always)]
    fn may_meet(&self, a: usize, b: usize) -> <Wide<S> as Real>::Mask {
        let l = &self.plan.layout;
        let centre = |g: usize| self.slab.vector(l.solids + POSE * g + 9);
        let reach = self.slab.get(l.radii + a) + self.slab.get(l.radii + b);
        let apart = centre(b) - centre(a);
        // Along the outward axis of a half-space; its centre is on its surface.
        let above = |g: usize, sign: f64| {
            let normal = self.slab.matrix(l.solids + POSE * g).column(2);
            (normal.dot(apart) * sign).lt(reach)
        };
        match [a, b].map(|g| self.plan.geometries[g].shape) {
            [Size::HalfSpace, _] => above(a, 1.0),
            [_, Size::HalfSpace] => above(b, -1.0),
            _ => apart.squared().lt(reach.squared()),
        }
    }

    /// Coefficients of sliding, of turning and rolling (m) of two geometries: harmonic means, as
    /// [`ContactMaterial::combine`](crate::collision::ContactMaterial::combine).
    #[inline(always)]
    fn friction(&self, pair: &Pair) -> [Wide<S>; 3] {
        let of = |g: usize| self.parameters::<3>(self.plan.layout.friction + 3 * g);
        let [a, b] = pair.geometries.map(of);
        [0, 1, 2].map(|k| {
            let (product, sum) = (a[k] * b[k], a[k] + b[k]);
            let some = product.zero().lt(product);
            Wide::pick(some, product * 2.0 / Wide::pick(some, sum, sum.one()), product.zero())
        })
    }

    /// Writes the columns of what `part` takes of an axis at the contact's point, second body less the first, one block a side; the sides'
    /// trees. A contact within a tree has one side.
    #[inline(always)]
    fn columns(
        &mut self,
        pair: &Pair,
        first: usize,
        part: impl Fn(&Self, usize, usize) -> Vec3<Wide<S>>,
    ) -> [Option<usize>; 2] {
        let plan = self.plan;
        let zero = [self.slab.lit(0.0); 3];
        let bodies = pair.geometries.map(|g| plan.geometries[g].body);
        let trees = bodies.map(|body| body.map(|b| plan.bodies[b].tree));
        let mut sides = [None; 2];
        for k in 0..2 {
            let (Some(body), Some(t)) = (bodies[k], trees[k]) else { continue };
            let side = if k == 1 && trees[0] == trees[1] { 0 } else { k };
            let base = first + 3 * side * plan.layout.largest;
            if sides[side].is_none() {
                for i in 0..plan.trees[t].size {
                    self.slab.set_array(base + 3 * i, zero);
                }
                sides[side] = Some(t);
            }
            for &(n, within) in &plan.bodies[body].chain {
                let column = part(self, n, t);
                let column = if k == 0 { -column } else { column };
                let sum = self.slab.vector(base + 3 * within) + column;
                self.slab.set_array(base + 3 * within, sum.0);
            }
        }
        sides
    }

    /// Velocity of a contact at the smooth velocities, through the columns from `first` on.
    #[inline(always)]
    fn through(&self, sides: [Option<usize>; 2], first: usize) -> Vec3<Wide<S>> {
        let (plan, l) = (self.plan, &self.plan.layout);
        let mut sum = Vec3::zero(self.slab.lit(0.0));
        for (side, tree) in sides.iter().enumerate().filter_map(|(s, t)| t.map(|t| (s, &plan.trees[t]))) {
            for i in 0..tree.size {
                let column = self.slab.vector(first + 3 * (side * l.largest + i));
                sum = sum + column * self.slab.get(l.smooth + tree.first_velocity + i);
            }
        }
        sum
    }

    /// Trace of `J M^-1 J^T` of both sides (equation 12).
    #[inline(always)]
    fn trace(&mut self, sides: [Option<usize>; 2], first: usize) -> Wide<S> {
        let (plan, l) = (self.plan, &self.plan.layout);
        let mut sum = self.slab.lit(0.0);
        for (side, tree) in sides.iter().enumerate().filter_map(|(s, t)| t.map(|t| (s, &plan.trees[t]))) {
            for d in 0..3 {
                for i in 0..tree.size {
                    let x = self.slab.get(first + 3 * (side * l.largest + i) + d);
                    self.slab.set(l.work + i, x);
                }
                self.solve_lower(tree, l.work);
                for i in 0..tree.size {
                    sum = sum + self.slab.get(l.work + i).squared();
                }
            }
        }
        sum
    }

    /// Hands an impulse, or a moment, to the joints.
    #[inline(always)]
    fn hand_on(&mut self, sides: [Option<usize>; 2], first: usize, impulse: Vec3<Wide<S>>) {
        let (plan, l) = (self.plan, &self.plan.layout);
        for (side, tree) in sides.iter().enumerate().filter_map(|(s, t)| t.map(|t| (s, &plan.trees[t]))) {
            for i in 0..tree.size {
                let column = self.slab.vector(first + 3 * (side * l.largest + i));
                let at = l.loads + tree.first_velocity + i;
                let sum = self.slab.get(at) + column.dot(impulse);
                self.slab.set(at, sum);
            }
        }
    }

    /// One contact: its impulse and what it adds to the loads, where it overlaps.
    #[inline(always)]
    fn push(&mut self, pair: &Pair, meeting: &Meeting<Wide<S>>) {
        let (plan, l) = (self.plan, &self.plan.layout);
        let (linear, angular) = (l.columns, l.columns + 6 * l.largest);
        let sides = self.columns(pair, linear, |worlds, n, t| {
            let lever = meeting.point - worlds.reference(&plan.trees[t]);
            worlds.slab.motion(l.axes + 6 * n).at(lever)
        });
        let trace = self.trace(sides, linear);
        let [kappa, delta] = plan.settings.gains.rates(plan.dt);
        let mass = ratio(&pair.impedance, -meeting.distance) / trace;
        let gain = mass * (plan.dt * (kappa * plan.dt + delta));
        let v = self.through(sides, linear);
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
            self.columns(pair, angular, |worlds, n, _| worlds.slab.motion(l.axes + 6 * n).angular);
            let w = self.through(sides, angular);
            let turning = felt.torsion(w, mu[1]);
            let rolling = self.cone(&felt, w, mu[2]);
            // A cone that is not there does not push either.
            let there = |mu: Wide<S>, x: Vec3<Wide<S>>| Vec3::pick(mu.zero().lt(mu), x, Vec3::zero(mu));
            let along = there(mu[1], felt.normal * turning.0);
            let roll = there(mu[2], rolling);
            let push = felt.normal.dot(roll);
            impulse = impulse + along + felt.normal * push;
            let moment = there(mu[1], felt.normal * turning.1) + (roll - felt.normal * push);
            self.hand_on(sides, angular, moment);
        }
        self.hand_on(sides, linear, impulse);
    }

    /// Sum over the facets of a plane cone, `sum_j lambda_j (n - mu d_j)` (equations 7 to 9).
    #[inline(always)]
    fn cone(&self, felt: &Felt<Wide<S>>, slip: Vec3<Wide<S>>, mu: Wide<S>) -> Vec3<Wide<S>> {
        let slope = felt.tangents.map(|t| felt.gain * mu * t.dot(slip));
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
        let [with, against] = [slope, -slope].map(|s| (self.violation + s).max(s.zero()));
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
