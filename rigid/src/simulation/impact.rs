//! Impacts that rebound: Newton's restitution, before the step's convex problem, which knows of
//! plastic contact alone.
//!
//! Where surfaces with a coefficient of restitution e meet within the step faster than it blurs,
//! their trees get impulses that send them apart with e times the speed. Pairs of links come one
//! after another, the fastest first, until none approaches: an impact travels through a row of
//! balls so, where a law for all contacts at once would have all of them move on together. Each
//! pair by itself is solved at once, so that a box that lands flat stays flat:
//!
//! - the impulses `p >= 0` after which nothing of the pair approaches (a linear complementarity problem, projected Gauss-Seidel), then e
//!   times the same again (Moreau's law). With `xi` the velocities after the first, the energy changes by
//!   `(1 + e)/2 p.((1 + e) xi_n + (1 - e) v_n)`, where `p.xi_n = 0` and `p.v_n <= 0`: never up;
//! - then friction up to `mu (1 + e) p` at each contact, by projected steps that each lower the kinetic energy.
//!
//! Loops that holonomic constraints close are not felt by the impulses, but in the step that
//! follows, which loses energy.

use nalgebra::{Matrix2, Vector3};

use super::assemble::PreparedContact;
use super::contact::ContactCandidate;
use crate::icf::potential::ContactPotential;
use crate::icf::{Pool, Side};
use crate::multibody::{LinkId, MassMatrix, Model};
use pliant_numeric::cholesky::{factorise, rows, solve};

/// Slower than this part of what gravity adds in a step, impacts are the convex problem's; and
/// slower than this \[m/s\].
const MIN_IMPACT_RATIO: f64 = 2.0;
const SLOWEST: f64 = 1e-3;
/// Sweeps over the contacts of a pair, and what is left of their approach.
const SWEEPS: usize = 200;
const APPROACH_TOLERANCE: f64 = 1e-12;
/// Sweeps of friction.
const FRICTION_SWEEPS: usize = 20;
/// Impacts in one step for each pair.
const MAX_IMPACTS_PER_PAIR: usize = 50;

/// A contact that may rebound.
#[derive(Clone, Copy, Debug)]
struct ImpactContact {
    candidate: usize,
    /// What the pairs are told by.
    links: [usize; 2],
    normal: Vector3<f64>,
    distance: f64,
    restitution: f64,
    friction: f64,
    /// First of its columns of `M^-1 J^T`, side after side.
    first: usize,
    /// Inverse mass along the normal \[1/kg\], and the largest across it.
    along: f64,
    across: f64,
    /// Of the present pair: impulses along and across the normal \[N s\].
    push: f64,
    friction_impulse: Vector3<f64>,
}

/// What a step needs of its impacts, and buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Impacts {
    contacts: Vec<ImpactContact>,
    /// Where each pair of links begins among the contacts.
    pairs: Vec<usize>,
    /// `M^-1 J^T`.
    columns: Vec<[f64; 3]>,
    /// Cholesky's factors of the trees, where they were needed.
    factors: Vec<f64>,
    factored: Vec<bool>,
    column: Vec<f64>,
    momentum: Vec<f64>,
    /// Impulse of each of the step's contacts \[N s\], world axes; empty where nothing rebounded.
    pub impulses: Vec<Vector3<f64>>,
    /// Kinetic energy that the impacts took \[J\].
    pub lost: f64,
    /// Farthest apart of surfaces that rebounded \[m\].
    pub gap: f64,
}

/// What impacts are found from.
pub(super) struct ImpactInputs<'a> {
    pub model: &'a Model,
    pub mass: &'a MassMatrix,
    pub candidates: &'a [ContactCandidate],
    pub prepared: &'a [PreparedContact],
    pub pool: &'a Pool<ContactPotential, 3>,
    /// The step \[s\].
    pub dt: f64,
}

impl Impacts {
    /// Forgets the last step's.
    pub fn clear(&mut self) {
        self.impulses.clear();
        (self.lost, self.gap) = (0.0, 0.0);
    }

    /// Makes the velocities `v` those after the impacts of a step. Whether there were any.
    pub fn apply_impacts(&mut self, scene: &ImpactInputs<'_>, v: &mut [f64]) -> bool {
        self.clear();
        let min_impact_speed = scene.model.gravity.norm() * scene.dt;
        let meets = |(c, candidate): (usize, &ContactCandidate)| {
            // Most scenes have none: nothing else is looked at there.
            if candidate.restitution <= 0.0 {
                return false;
            }
            let approach = -candidate.normal.dot(&Vector3::from(scene.pool.velocity_of(c, v)));
            approach > MIN_IMPACT_RATIO * min_impact_speed + SLOWEST
                && candidate.distance <= scene.dt * (approach + min_impact_speed)
        };
        if !scene.candidates.iter().enumerate().any(meets) {
            return false;
        }
        let before = self.energy(scene, v);
        self.collect(scene);
        self.impulses.resize(scene.candidates.len(), Vector3::zeros());
        for _ in 0..MAX_IMPACTS_PER_PAIR * self.pairs.len() {
            let fastest = |pair: usize| {
                let speeds = self.pair(pair).map(|c| {
                    let contact = &self.contacts[c];
                    let approach =
                        -contact.normal.dot(&Vector3::from(scene.pool.velocity_of(contact.candidate, v)));
                    let meets = contact.distance <= scene.dt * (approach + min_impact_speed);
                    if meets { approach } else { 0.0 }
                });
                speeds.fold(0.0, f64::max)
            };
            let speeds = (0..self.pairs.len()).map(|pair| (pair, fastest(pair)));
            // The first of those that are equally fast.
            let next = speeds.fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
            if next.1 <= MIN_IMPACT_RATIO * min_impact_speed + SLOWEST {
                break;
            }
            self.rebound(scene, next.0, min_impact_speed, v);
        }
        self.lost = before - self.energy(scene, v);
        true
    }

    fn energy(&mut self, scene: &ImpactInputs<'_>, v: &[f64]) -> f64 {
        self.momentum.resize(v.len(), 0.0);
        scene.mass.multiply(scene.model, v, &mut self.momentum);
        0.5 * self.momentum.iter().zip(v).map(|(p, v)| p * v).sum::<f64>()
    }

    fn pair(&self, pair: usize) -> core::ops::Range<usize> {
        self.pairs[pair]..self.pairs.get(pair + 1).copied().unwrap_or(self.contacts.len())
    }

    /// Finds the contacts that may rebound, pair by pair, and what an impulse at each does.
    fn collect(&mut self, scene: &ImpactInputs<'_>) {
        self.contacts.clear();
        self.columns.clear();
        self.factored.clear();
        self.factored.resize(scene.model.trees().len(), false);
        let key = |link: Option<LinkId>| link.map_or(0, |l| l.0 + 1);
        for (c, candidate) in
            scene.candidates.iter().enumerate().filter(|(_, candidate)| candidate.restitution > 0.0)
        {
            let first = self.columns.len();
            let mut mobility = nalgebra::Matrix3::zeros();
            for side in scene.pool.sides_of(c).iter().flatten() {
                self.add_columns(scene, side);
                let answer = &self.columns[self.columns.len() - side.columns as usize..];
                for (column, answer) in scene.pool.columns_of(side).iter().zip(answer) {
                    mobility += Vector3::from(*column) * Vector3::from(*answer).transpose();
                }
            }
            let n = candidate.normal;
            let t = n.cross(&Vector3::ith(n.iamin(), 1.0)).normalize();
            let s = n.cross(&t);
            let [tt, ts, ss] = [t.dot(&(mobility * t)), t.dot(&(mobility * s)), s.dot(&(mobility * s))];
            self.contacts.push(ImpactContact {
                candidate: c,
                links: [key(candidate.first), key(candidate.second)],
                normal: n,
                distance: candidate.distance,
                restitution: candidate.restitution,
                friction: scene.prepared[c].friction,
                first,
                along: n.dot(&(mobility * n)),
                across: Matrix2::new(tt, ts, ts, ss).symmetric_eigenvalues().max(),
                push: 0.0,
                friction_impulse: Vector3::zeros(),
            });
        }
        // Their order in the list is that of the source.
        self.contacts.sort_unstable_by_key(|contact| (contact.links, contact.candidate));
        self.pairs.clear();
        let mut last = None;
        for (c, contact) in self.contacts.iter().enumerate() {
            if last != Some(contact.links) {
                self.pairs.push(c);
                last = Some(contact.links);
            }
        }
    }

    /// Appends `M^-1 J^T` of one side of a contact.
    fn add_columns(&mut self, scene: &ImpactInputs<'_>, side: &Side) {
        let (tree, n) = (side.tree as usize, side.columns as usize);
        let trees = scene.model.trees();
        let at: usize = trees[..tree].iter().map(|t| t.velocities * t.velocities).sum();
        let total = trees.iter().map(|t| t.velocities * t.velocities).sum();
        self.factors.resize(total, 0.0);
        let factor = &mut self.factors[at..at + n * n];
        if !self.factored[tree] {
            factor.copy_from_slice(scene.mass.values(tree));
            // Positive definite by the model's check.
            self.factored[tree] = factorise(factor, n, rows(n));
        }
        let columns = scene.pool.columns_of(side);
        let first = self.columns.len();
        self.columns.resize(first + n, [0.0; 3]);
        for d in 0..3 {
            self.column.clear();
            self.column.extend(columns.iter().map(|column| column[d]));
            solve(factor, rows(n), &mut self.column);
            for (out, x) in self.columns[first..].iter_mut().zip(&self.column) {
                out[d] = *x;
            }
        }
    }

    /// Adds an impulse on the second body of a contact to the velocities.
    fn push(&self, scene: &ImpactInputs<'_>, contact: &ImpactContact, impulse: &Vector3<f64>, v: &mut [f64]) {
        let mut first = contact.first;
        for side in scene.pool.sides_of(contact.candidate).iter().flatten() {
            let n = side.columns as usize;
            let answer = &self.columns[first..first + n];
            for (v, column) in v[side.first_velocity as usize..].iter_mut().zip(answer) {
                *v += Vector3::from(*column).dot(impulse);
            }
            first += n;
        }
    }

    /// Sends the links of a pair apart.
    fn rebound(&mut self, scene: &ImpactInputs<'_>, pair: usize, min_impact_speed: f64, v: &mut [f64]) {
        let range = self.pair(pair);
        let velocity =
            |contact: &ImpactContact, v: &[f64]| Vector3::from(scene.pool.velocity_of(contact.candidate, v));
        // Those that meet in this step, by what they do before it; the restitution of all is the
        // least.
        let mut restitution = 1.0_f64;
        for c in range.clone() {
            let contact = &self.contacts[c];
            let approach = -contact.normal.dot(&velocity(contact, v));
            let meets = approach > 0.0 && contact.distance <= scene.dt * (approach + min_impact_speed);
            if meets {
                restitution = restitution.min(contact.restitution);
                self.gap = self.gap.max(contact.distance);
            }
            self.contacts[c].push = if meets { 0.0 } else { f64::NAN };
            self.contacts[c].friction_impulse = Vector3::zeros();
        }
        let sound = |contact: &ImpactContact| !contact.push.is_nan() && contact.along > 0.0;
        for _ in 0..SWEEPS {
            let mut worst = 0.0_f64;
            let mut speed = 0.0_f64;
            for c in range.clone() {
                let contact = self.contacts[c];
                if !sound(&contact) {
                    continue;
                }
                let v_n = contact.normal.dot(&velocity(&contact, v));
                let wanted = (contact.push - v_n / contact.along).max(0.0);
                let change = wanted - contact.push;
                self.push(scene, &contact, &(contact.normal * change), v);
                self.contacts[c].push = wanted;
                worst = worst.max((change * contact.along).abs());
                speed = speed.max(wanted * contact.along);
            }
            if worst <= APPROACH_TOLERANCE * speed {
                break;
            }
        }
        for c in range.clone() {
            let contact = self.contacts[c];
            if !sound(&contact) {
                continue;
            }
            self.push(scene, &contact, &(contact.normal * (restitution * contact.push)), v);
            self.contacts[c].push *= 1.0 + restitution;
        }
        for _ in 0..FRICTION_SWEEPS {
            for c in range.clone() {
                let contact = self.contacts[c];
                if !(sound(&contact) && contact.across > 0.0) {
                    continue;
                }
                let relative = velocity(&contact, v);
                let slip = relative - contact.normal * contact.normal.dot(&relative);
                let bound = contact.friction * contact.push;
                let wanted = (contact.friction_impulse - slip / contact.across).cap_magnitude(bound);
                self.push(scene, &contact, &(wanted - contact.friction_impulse), v);
                self.contacts[c].friction_impulse = wanted;
            }
        }
        for contact in self.contacts[range].iter().filter(|contact| sound(contact)) {
            self.impulses[contact.candidate] += contact.normal * contact.push + contact.friction_impulse;
        }
    }
}
