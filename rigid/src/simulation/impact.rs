//! Impacts that rebound: Newton's restitution, before the step's convex problem, which has plastic
//! contact only.
//!
//! Surfaces with a coefficient of restitution e that collide within the step faster than the step
//! resolves get impulses that separate them at e times the speed. Pairs of links are treated one
//! after another, the fastest first, until none approaches: so an impact travels through a row of
//! spheres, whereas a simultaneous model of all contacts would move all of them together. The
//! contacts of one pair are solved together, so that a box that lands flat stays flat:
//!
//! - the impulses `p >= 0` after which no contact of the pair approaches (a linear complementarity
//!   problem, projected Gauss-Seidel), then e times the same again (Moreau's impact law). With `xi`
//!   the velocities after the first, the energy changes by `(1 + e)/2 p.((1 + e) xi_n + (1 - e)
//!   v_n)`, where `p.xi_n = 0` and `p.v_n <= 0`: never up;
//! - then friction up to `mu (1 + e) p` at each contact, by projected steps that each lower the
//!   kinetic energy.
//!
//! The impulses ignore loops that are closed by holonomic constraints; the following step enforces
//! them, which loses energy.

use nalgebra::{Matrix2, Vector3};

use super::assemble::PreparedContact;
use super::contact::ContactCandidate;
use crate::icf::potential::ContactPotential;
use crate::icf::{Pool, Side};
use crate::multibody::{LinkId, MassMatrix, Model};
use pliant_numeric::cholesky::{factorise, rows, solve};

/// Impacts slower than this many times the velocity that gravity adds in a step, or slower than
/// this \[m/s\], are left to the convex problem.
const MIN_IMPACT_RATIO: f64 = 2.0;
const SLOWEST: f64 = 1e-3;
/// Sweeps over the contacts of a pair, and the remaining fraction of their approach.
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
    /// The pair of links.
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

/// Impacts of a step, and buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Impacts {
    contacts: Vec<ImpactContact>,
    /// First contact of each pair of links.
    pairs: Vec<usize>,
    /// `M^-1 J^T`.
    columns: Vec<[f64; 3]>,
    /// Cholesky's factors of the trees, where they were needed.
    factors: Vec<f64>,
    factored: Vec<bool>,
    column: Vec<f64>,
    momentum: Vec<f64>,
    /// Impulse of each of the step's contacts \[N s\], world axes; empty if none rebounded.
    pub impulses: Vec<Vector3<f64>>,
    /// Kinetic energy lost in the impacts \[J\].
    pub lost: f64,
    /// Largest gap of surfaces that rebounded \[m\].
    pub gap: f64,
}

/// Input of the impacts.
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

    /// Changes the velocities `v` to those after the impacts of a step. Returns whether there were
    /// any.
    pub fn apply_impacts(&mut self, inputs: &ImpactInputs<'_>, v: &mut [f64]) -> bool {
        self.clear();
        let min_impact_speed = inputs.model.gravity.norm() * inputs.dt;
        let meets = |(c, candidate): (usize, &ContactCandidate)| {
            // Most scenes have none and need no further work.
            if candidate.restitution <= 0.0 {
                return false;
            }
            let approach = -candidate.normal.dot(&Vector3::from(inputs.pool.velocity_of(c, v)));
            approach > MIN_IMPACT_RATIO * min_impact_speed + SLOWEST
                && candidate.distance <= inputs.dt * (approach + min_impact_speed)
        };
        if !inputs.candidates.iter().enumerate().any(meets) {
            return false;
        }
        let before = self.energy(inputs, v);
        self.collect(inputs);
        self.impulses.resize(inputs.candidates.len(), Vector3::zeros());
        for _ in 0..MAX_IMPACTS_PER_PAIR * self.pairs.len() {
            let fastest = |pair: usize| {
                let speeds = self.pair(pair).map(|c| {
                    let contact = &self.contacts[c];
                    let approach =
                        -contact.normal.dot(&Vector3::from(inputs.pool.velocity_of(contact.candidate, v)));
                    let meets = contact.distance <= inputs.dt * (approach + min_impact_speed);
                    if meets { approach } else { 0.0 }
                });
                speeds.fold(0.0, f64::max)
            };
            let speeds = (0..self.pairs.len()).map(|pair| (pair, fastest(pair)));
            // The first of equally fast ones.
            let next = speeds.fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
            if next.1 <= MIN_IMPACT_RATIO * min_impact_speed + SLOWEST {
                break;
            }
            self.rebound(inputs, next.0, min_impact_speed, v);
        }
        self.lost = before - self.energy(inputs, v);
        true
    }

    fn energy(&mut self, inputs: &ImpactInputs<'_>, v: &[f64]) -> f64 {
        self.momentum.resize(v.len(), 0.0);
        inputs.mass.multiply(inputs.model, v, &mut self.momentum);
        0.5 * self.momentum.iter().zip(v).map(|(p, v)| p * v).sum::<f64>()
    }

    fn pair(&self, pair: usize) -> core::ops::Range<usize> {
        self.pairs[pair]..self.pairs.get(pair + 1).copied().unwrap_or(self.contacts.len())
    }

    /// Finds the contacts that may rebound, pair by pair, and their response to impulses.
    fn collect(&mut self, inputs: &ImpactInputs<'_>) {
        self.contacts.clear();
        self.columns.clear();
        self.factored.clear();
        self.factored.resize(inputs.model.trees().len(), false);
        let key = |link: Option<LinkId>| link.map_or(0, |l| l.0 + 1);
        for (c, candidate) in
            inputs.candidates.iter().enumerate().filter(|(_, candidate)| candidate.restitution > 0.0)
        {
            let first = self.columns.len();
            let mut mobility = nalgebra::Matrix3::zeros();
            for side in inputs.pool.sides_of(c).iter().flatten() {
                self.add_columns(inputs, side);
                let answer = &self.columns[self.columns.len() - side.columns as usize..];
                for (column, answer) in inputs.pool.columns_of(side).iter().zip(answer) {
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
                friction: inputs.prepared[c].friction,
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
    fn add_columns(&mut self, inputs: &ImpactInputs<'_>, side: &Side) {
        let (tree, n) = (side.tree as usize, side.columns as usize);
        let trees = inputs.model.trees();
        let at: usize = trees[..tree].iter().map(|t| t.velocities * t.velocities).sum();
        let total = trees.iter().map(|t| t.velocities * t.velocities).sum();
        self.factors.resize(total, 0.0);
        let factor = &mut self.factors[at..at + n * n];
        if !self.factored[tree] {
            factor.copy_from_slice(inputs.mass.values(tree));
            // Positive definite by the model's check.
            self.factored[tree] = factorise(factor, n, rows(n));
        }
        let columns = inputs.pool.columns_of(side);
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
    fn push(
        &self,
        inputs: &ImpactInputs<'_>,
        contact: &ImpactContact,
        impulse: &Vector3<f64>,
        v: &mut [f64],
    ) {
        let mut first = contact.first;
        for side in inputs.pool.sides_of(contact.candidate).iter().flatten() {
            let n = side.columns as usize;
            let answer = &self.columns[first..first + n];
            for (v, column) in v[side.first_velocity as usize..].iter_mut().zip(answer) {
                *v += Vector3::from(*column).dot(impulse);
            }
            first += n;
        }
    }

    /// Separates the links of a pair.
    fn rebound(&mut self, inputs: &ImpactInputs<'_>, pair: usize, min_impact_speed: f64, v: &mut [f64]) {
        let range = self.pair(pair);
        let velocity =
            |contact: &ImpactContact, v: &[f64]| Vector3::from(inputs.pool.velocity_of(contact.candidate, v));
        // The contacts that close in this step, by their velocities before it; the smallest
        // restitution counts for all.
        let mut restitution = 1.0_f64;
        for c in range.clone() {
            let contact = &self.contacts[c];
            let approach = -contact.normal.dot(&velocity(contact, v));
            let meets = approach > 0.0 && contact.distance <= inputs.dt * (approach + min_impact_speed);
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
                self.push(inputs, &contact, &(contact.normal * change), v);
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
            self.push(inputs, &contact, &(contact.normal * (restitution * contact.push)), v);
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
                self.push(inputs, &contact, &(wanted - contact.friction_impulse), v);
                self.contacts[c].friction_impulse = wanted;
            }
        }
        for contact in self.contacts[range].iter().filter(|contact| sound(contact)) {
            self.impulses[contact.candidate] += contact.normal * contact.push + contact.friction_impulse;
        }
    }
}
