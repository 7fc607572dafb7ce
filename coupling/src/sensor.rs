//! Tactile pads: contact pressure measured on the surfaces of bodies.
//!
//! A pad sums the contact impulses of the particles that touch its body within its rectangle,
//! substep by substep. The impulse of a particle is distributed over the bins that its square of
//! the surface covers (edge: twice its radius, so `cbrt(V)` by default), in
//! proportion to the area; the part of the square beside the pad gets nothing, so that no impulse
//! is lost.
//!
//! The residual of the solver acts on the bodies at grid nodes (see `exchange`), not on their
//! surfaces. The pads that cover a body therefore sum to
//! [`World::body_impulses`](crate::World::body_impulses) up to the solver's tolerance.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_rigid::{Bodies, BodyId};

use crate::body_state::SubstepBodyState;
use crate::error::BuildError;
use crate::pair::ContactPair;

/// Largest number of bins along an edge.
const MOST_BINS: usize = 4096;

/// A rectangle on the surface of a body that records the contact pressure of particles.
#[derive(Clone, Debug, PartialEq)]
pub struct TactilePad {
    /// Name, for messages and files; unique among the pads.
    pub name: String,
    /// The body that carries it.
    pub body: BodyId,
    /// The pad's frame in the body's: origin in the middle of the rectangle, x and y along its
    /// edges, z along the outward normal.
    pub pose: Isometry3<f64>,
    /// Half of its edges along x and y \[m\].
    pub half_extents: [f64; 2],
    /// Number of bins along x and y. Bins smaller than the particle spacing show single particles.
    pub bins: [usize; 2],
    /// Largest distance of a contact point above or below the rectangle \[m\]: the sagitta of a
    /// curved surface, about zero on a plane one.
    pub reach: f64,
}

impl TactilePad {
    /// Area of a bin \[m^2\].
    pub fn bin_area(&self) -> f64 {
        let [width, height] = self.bin_size();
        width * height
    }

    /// Middle of bin (i, j) in the pad's plane \[m\].
    pub fn bin_center(&self, i: usize, j: usize) -> [f64; 2] {
        let size = self.bin_size();
        [0, 1].map(|d| ([i, j][d] as f64 + 0.5) * size[d] - self.half_extents[d])
    }

    fn bin_size(&self) -> [f64; 2] {
        [0, 1].map(|d| 2.0 * self.half_extents[d] / self.bins[d] as f64)
    }

    /// Checks the pad against the bodies.
    pub(crate) fn validate(&self, bodies: &Bodies) -> Result<(), BuildError> {
        let wrong = |field, value, unit, requirement| {
            Err(BuildError::Sensor { name: self.name.clone(), field, value, unit, requirement })
        };
        if self.body.0 >= bodies.len() {
            return wrong("body", self.body.0 as f64, "", "must be one of the world's bodies");
        }
        for d in 0..2 {
            let half = self.half_extents[d];
            if !(half.is_finite() && half > 0.0) {
                return wrong("half_extents", half, "m", "must be positive and finite");
            }
            if !(1..=MOST_BINS).contains(&self.bins[d]) {
                return wrong("bins", self.bins[d] as f64, "", "must be in [1, 4096]");
            }
        }
        if !(self.reach.is_finite() && self.reach > 0.0) {
            return wrong("reach", self.reach, "m", "must be positive and finite");
        }
        if let Some(&value) = self.pose.to_homogeneous().iter().find(|x| !x.is_finite()) {
            return wrong("pose", value, "", "must be finite");
        }
        Ok(())
    }
}

/// Reading of a pad in a step: forces of the particles on the body, mean over the step, in the
/// pad's frame; pressure has a negative z.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TactileReading {
    /// Force in each bin \[N\]; bin (i, j) along x and y is number `i + bins[0] * j`.
    pub forces: Vec<Vector3<f64>>,
    /// Force on the whole pad \[N\].
    pub force: Vector3<f64>,
    /// Moment of the normal force: `-sum x f_z` and `-sum y f_z`, with the contact points (x, y) of
    /// the surface \[N m\].
    pub moment: [f64; 2],
    columns: usize,
    bin_area: f64,
}

impl TactileReading {
    fn new(pad: &TactilePad) -> Self {
        let [columns, rows] = pad.bins;
        let forces = vec![Vector3::zeros(); columns * rows];
        Self { forces, columns, bin_area: pad.bin_area(), ..Self::default() }
    }

    /// Force in bin (i, j) \[N\].
    ///
    /// # Panics
    /// There is no such bin.
    pub fn bin(&self, i: usize, j: usize) -> Vector3<f64> {
        self.forces[i + self.columns * j]
    }

    /// Pressure in bin (i, j) \[Pa\], positive where the body is pressed.
    ///
    /// # Panics
    /// There is no such bin.
    pub fn pressure(&self, i: usize, j: usize) -> f64 {
        -self.bin(i, j).z / self.bin_area
    }

    /// The largest pressure of a bin \[Pa\].
    pub fn max_pressure(&self) -> f64 {
        self.forces.iter().map(|f| -f.z / self.bin_area).fold(0.0, f64::max)
    }

    /// Centre of pressure in the pad's plane \[m\]; none without a normal force.
    pub fn center_of_pressure(&self) -> Option<[f64; 2]> {
        (self.force.z != 0.0).then(|| self.moment.map(|m| -m / self.force.z))
    }

    fn clear(&mut self) {
        self.forces.fill(Vector3::zeros());
        self.force = Vector3::zeros();
        self.moment = [0.0; 2];
    }

    /// Adds a force \[N\] at a point of the pad, distributed over the bins within `radius` \[m\] of
    /// it along x and y.
    fn add(&mut self, pad: &TactilePad, at: &Point3<f64>, radius: f64, force: &Vector3<f64>) {
        self.force += force;
        self.moment[0] -= at.x * force.z;
        self.moment[1] -= at.y * force.z;
        let size = pad.bin_size();
        // In bins from the pad's corner.
        let place = [0, 1].map(|d| (at[d] + pad.half_extents[d]) / size[d]);
        let span = [0, 1].map(|d| BinSpan::new(place[d], radius / size[d], pad.bins[d]));
        for j in span[1].bins() {
            for i in span[0].bins() {
                self.forces[i + self.columns * j] += force * (span[0].share(i) * span[1].share(j));
            }
        }
    }
}

/// A particle's extent along an edge of a pad, in bins, cut off where the pad ends.
#[derive(Clone, Copy, Debug)]
struct BinSpan {
    low: f64,
    high: f64,
    first: usize,
    last: usize,
}

impl BinSpan {
    /// About `place` in [0, bins].
    fn new(place: f64, radius: f64, bins: usize) -> Self {
        let (low, high) = ((place - radius).max(0.0), (place + radius).min(bins as f64));
        let last = (high.ceil() as usize).clamp(1, bins) - 1;
        Self { low, high, first: (low as usize).min(last), last }
    }

    fn bins(&self) -> core::ops::RangeInclusive<usize> {
        self.first..=self.last
    }

    /// Fraction of the extent that lies in a bin; a point lies in one bin.
    fn share(&self, bin: usize) -> f64 {
        if self.first == self.last {
            return 1.0;
        }
        let covered = self.high.min((bin + 1) as f64) - self.low.max(bin as f64);
        covered.max(0.0) / (self.high - self.low)
    }
}

/// The pads of a world and their readings in the present step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sensors {
    pub pads: Vec<TactilePad>,
    pub readings: Vec<TactileReading>,
}

impl Sensors {
    pub(crate) fn new(pads: Vec<TactilePad>) -> Self {
        let readings = pads.iter().map(TactileReading::new).collect();
        Self { pads, readings }
    }

    /// Begins a step.
    pub(crate) fn begin(&mut self) {
        self.readings.iter_mut().for_each(TactileReading::clear);
    }

    /// Adds the impulses (on the particles, world frame \[N s\]) of a substep with these states of
    /// the bodies; `dt` \[s\] is the step.
    pub(crate) fn add(
        &mut self,
        pairs: &[ContactPair],
        impulses: &[[f64; 3]],
        bodies: &[SubstepBodyState],
        dt: f64,
    ) {
        for (pad, reading) in self.pads.iter().zip(&mut self.readings) {
            let frame = bodies[pad.body.0].pose * pad.pose;
            let outward = frame.rotation * Vector3::z();
            for (pair, impulse) in pairs.iter().zip(impulses) {
                // Contacts on the far side of a thin body do not belong to this pad.
                if pair.body != pad.body || *impulse == [0.0; 3] || pair.normal.dot(&outward) <= 0.0 {
                    continue;
                }
                let touched = pair.particle_position - pair.normal * pair.distance;
                let local = frame.inverse_transform_point(&touched);
                let inside = (0..2).all(|d| local[d].abs() <= pad.half_extents[d]);
                if inside && local.z.abs() <= pad.reach {
                    let force = frame.rotation.inverse_transform_vector(&Vector3::from(*impulse)) / -dt;
                    reading.add(pad, &local, pair.distance - pair.gap, &force);
                }
            }
        }
    }
}
