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
//!   problem), then e times the same again (Moreau's impact law). With `xi` the velocities after the
//!   first, the energy changes by `(1 + e)/2 p.((1 + e) xi_n + (1 - e) v_n)`, where `p.xi_n = 0` and
//!   `p.v_n <= 0`: never up;
//! - then friction up to `mu (1 + e) p` at each contact, of the least kinetic energy.
//!
//! Both are found for all contacts at once ([`PairImpulses`]): the order of bodies does not count.
//!
//! The impulses ignore loops that are closed by holonomic constraints; the following step enforces
//! them, which loses energy.

use nalgebra::{Matrix2, Matrix3, Vector3};

use super::assemble::PreparedContact;
use super::contact::ContactCandidate;
use super::impulses::PairImpulses;
use crate::icf::potential::ContactPotential;
use crate::icf::{Pool, Side};
use crate::multibody::{LinkId, MassMatrix, Model};
use pliant_numeric::cholesky::{factorise, rows, solve};

/// Impacts slower than this many times the velocity that gravity adds in a step, or slower than
/// this \[m/s\], are left to the convex problem.
const MIN_IMPACT_RATIO: f64 = 2.0;
const SLOWEST: f64 = 1e-3;
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
    /// Of the present pair: the contacts that close, their normal impulses \[N s\], and the problem of
    /// both kinds of impulses.
    closing: Vec<usize>,
    pushes: Vec<Vector3<f64>>,
    pair_impulses: PairImpulses,
    /// Impulse of each of the step's contacts \[N s\], world axes; empty if none rebounded.
    pub impulses: Vec<Vector3<f64>>,
    /// Kinetic energy lost in the impacts \[J\].
    pub lost: f64,
    /// Largest gap of surfaces that rebounded \[m\].
    pub gap: f64,
    /// Impacts of pairs whose impulses are not accurate, and one more if impacts are left to the step.
    pub inaccurate: usize,
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
        (self.lost, self.gap, self.inaccurate) = (0.0, 0.0, 0);
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
        let most = MAX_IMPACTS_PER_PAIR * self.pairs.len();
        for impact in 0..=most {
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
            if impact == most {
                self.inaccurate += 1;
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
            let mut mobility = Matrix3::zeros();
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
        let restitution = self.find_closing(inputs, pair, min_impact_speed, v);
        self.find_response(inputs);
        let (contacts, closing) = (&self.contacts, &self.closing);
        let contact = |k: usize| &contacts[closing[k]];
        let problem = &mut self.pair_impulses;
        let normal_accurate = problem.minimise(
            |k| contact(k).along,
            |k, impulse| contact(k).normal * contact(k).normal.dot(&impulse).max(0.0),
            f64::INFINITY,
        );
        self.pushes.clear();
        self.pushes.extend(problem.impulses.iter().map(|impulse| impulse * (1.0 + restitution)));
        for k in 0..closing.len() {
            // Of the impulses so far; the velocities before are not needed any more.
            problem.impulses[k] = problem.velocity_after(k, &self.pushes);
        }
        core::mem::swap(&mut problem.velocities, &mut problem.impulses);
        let friction_accurate = problem.minimise(
            |k| contact(k).across,
            |k, impulse| {
                let normal = contact(k).normal;
                let across = impulse - normal * normal.dot(&impulse);
                across.cap_magnitude(contact(k).friction * self.pushes[k].norm())
            },
            1.0,
        );
        self.inaccurate += usize::from(!(normal_accurate && friction_accurate));
        for (k, &c) in self.closing.iter().enumerate() {
            let (contact, impulse) = (&self.contacts[c], self.pushes[k] + self.pair_impulses.impulses[k]);
            self.push(inputs, contact, &impulse, v);
            self.impulses[contact.candidate] += impulse;
        }
    }

    /// Finds the contacts of a pair that close in this step, by their velocities before it. The smallest
    /// restitution, which is returned, counts for all.
    fn find_closing(
        &mut self,
        inputs: &ImpactInputs<'_>,
        pair: usize,
        min_impact_speed: f64,
        v: &[f64],
    ) -> f64 {
        let mut restitution = 1.0_f64;
        self.closing.clear();
        self.pair_impulses.velocities.clear();
        for c in self.pair(pair) {
            let contact = &self.contacts[c];
            let velocity = Vector3::from(inputs.pool.velocity_of(contact.candidate, v));
            let approach = -contact.normal.dot(&velocity);
            let meets = approach > 0.0 && contact.distance <= inputs.dt * (approach + min_impact_speed);
            if meets && contact.along > 0.0 {
                restitution = restitution.min(contact.restitution);
                self.gap = self.gap.max(contact.distance);
                self.closing.push(c);
                self.pair_impulses.velocities.push(velocity);
            }
        }
        restitution
    }

    /// Finds what impulses at the closing contacts do to each other's velocities.
    fn find_response(&mut self, inputs: &ImpactInputs<'_>) {
        self.pair_impulses.response.clear();
        for &row in &self.closing {
            for &column in &self.closing {
                let (row, column) = (&self.contacts[row], &self.contacts[column]);
                let mut response = Matrix3::zeros();
                let mut first = column.first;
                // The contacts of one pair have the same sides.
                for side in inputs.pool.sides_of(row.candidate).iter().flatten() {
                    let answers = &self.columns[first..first + side.columns as usize];
                    for (own, answer) in inputs.pool.columns_of(side).iter().zip(answers) {
                        response += Vector3::from(*own) * Vector3::from(*answer).transpose();
                    }
                    first += answers.len();
                }
                self.pair_impulses.response.push(response);
            }
        }
    }
}
