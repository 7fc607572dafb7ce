//! The impulses of all contacts of one pair of links: the least of a convex quadratic function.
//!
//! With the velocities `u` of the contacts and their response `W`, the kinetic energy after impulses
//! `x` is `1/2 x.W x + u.x` more. Each impulse is kept within a convex set of its own: along the normal
//! and not negative, or across it and within a disc. Contacts of one pair can be more than a body has
//! degrees of freedom; then many impulses give the same least energy, and which of them is found must
//! not depend on the order of the contacts. So all are changed at once, from zero: projected gradients
//! with Nesterov's acceleration (Beck and Teboulle 2009) and restarts (O'Donoghue and Candes 2015).

use nalgebra::{Matrix3, Vector3};

/// Most steps. In 7416 searches of random pairs 99 % need up to 1000; points nearly at one place need
/// more. Two needed more than this: 21,081, and more than 100,000, with 5e-11 left by then.
const MOST_STEPS: usize = 20_000;
/// What impulses would still change of a velocity, relative to the largest, where the search ends.
const TOLERANCE: f64 = 1e-12;
/// The same that is too much after [`MOST_STEPS`].
const INACCURATE: f64 = 1e-6;

/// The contacts of a pair, in world axes.
#[derive(Clone, Debug, Default)]
pub(super) struct PairImpulses {
    /// Relative velocities without impulses \[m/s\].
    pub velocities: Vec<Vector3<f64>>,
    /// What an impulse at one contact (column) adds to the velocity of another (row) \[1/kg\].
    pub response: Vec<Matrix3<f64>>,
    /// The impulses \[N s\].
    pub impulses: Vec<Vector3<f64>>,
    /// Those of the step before, and of both, extrapolated.
    former: Vec<Vector3<f64>>,
    ahead: Vec<Vector3<f64>>,
}

impl PairImpulses {
    /// Finds the impulses: contact `c` keeps its own in the set on which `project` projects. It responds
    /// by at most `bound(c)` \[1/kg\] to an impulse within; a contact of which that is 0 gets none.
    /// `most` bounds the factor on all impulses that is chosen in the end. Returns whether they are accurate.
    pub fn minimise(
        &mut self,
        bound: impl Fn(usize) -> f64,
        project: impl Fn(usize, Vector3<f64>) -> Vector3<f64>,
        most: f64,
    ) -> bool {
        let count = self.velocities.len();
        for list in [&mut self.impulses, &mut self.former, &mut self.ahead] {
            list.clear();
            list.resize(count, Vector3::zeros());
        }
        let (mut momentum, mut is_accurate) = (1.0_f64, false);
        for _ in 0..MOST_STEPS {
            let next = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let share = (momentum - 1.0) / next;
            for ((ahead, now), former) in self.ahead.iter_mut().zip(&self.impulses).zip(&self.former) {
                *ahead = now + (now - former) * share;
            }
            core::mem::swap(&mut self.impulses, &mut self.former);
            let (mut left, mut speed, mut uphill) = (0.0_f64, 0.0_f64, 0.0);
            for c in 0..count {
                // No response is larger than that of the contacts alone, times their number.
                let scale = count as f64 * bound(c);
                if scale <= 0.0 {
                    continue;
                }
                let ahead = self.ahead[c];
                let found = project(c, ahead - self.velocity_after(c, &self.ahead) / scale);
                uphill += scale * (ahead - found).dot(&(found - self.former[c]));
                left = left.max(scale * (found - ahead).norm());
                speed = speed.max(scale * found.norm());
                self.impulses[c] = found;
            }
            is_accurate = left <= INACCURATE * speed;
            if left <= TOLERANCE * speed {
                break;
            }
            momentum = if uphill > 0.0 { 1.0 } else { next };
        }
        self.scale(most);
        is_accurate
    }

    /// Velocity of contact `c` after impulses \[m/s\].
    pub fn velocity_after(&self, c: usize, impulses: &[Vector3<f64>]) -> Vector3<f64> {
        let count = self.velocities.len();
        let row = &self.response[count * c..count * (c + 1)];
        row.iter().zip(impulses).fold(self.velocities[c], |sum, (response, impulse)| sum + response * impulse)
    }

    /// Scales all impulses by the factor of least energy, up to `most`. So no energy is gained, whatever
    /// is left to do; and without a bound the impulses do no work after them.
    fn scale(&mut self, most: f64) {
        let (mut slope, mut curvature) = (0.0, 0.0);
        for (c, impulse) in self.impulses.iter().enumerate() {
            slope += self.velocities[c].dot(impulse);
            curvature += (self.velocity_after(c, &self.impulses) - self.velocities[c]).dot(impulse);
        }
        let factor = if curvature > 0.0 { (-slope / curvature).clamp(0.0, most) } else { 0.0 };
        self.impulses.iter_mut().for_each(|impulse| *impulse *= factor);
    }
}
