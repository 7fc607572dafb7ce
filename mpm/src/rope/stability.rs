//! The largest substep of a rope.
//!
//! # The line
//! Explicit steps of frequency w are stable up to two radians. Two bounds on the frequencies hold, and the
//! lower one counts:
//!
//! - of the chain of vertices alone, because the way through the grid, W M^-1 W^T with the weights W,
//!   has no eigenvalue above that of the vertices' own inverse masses. No frequency of the chain is above
//!   the highest of its parts, with the masses shared out among these (Irons and Treharne 1971). For
//!   stretch, with half of the mass for each segment, w^2 = E A / L sum 1 / m'; for bending, with
//!   a quarter, a half and a quarter for each bend, w^2 = K (1 / (l0^2 m0') + (1 / l0 + 1 / l1)^2 / m1' + 1 /
//!   (l1^2 m2')). Both are exact for an even rope: 2 c / l, and 4 sqrt(B / (rho A)) / l^2.
//! - of waves as short as the grid carries: 0.7 h / c for stretch and (h / pi)^2 sqrt(rho A / B) for
//!   bending, see [`Stability::largest_substep`](crate::cloth::Stability::largest_substep).
//!
//! # The present state
//! The forces of stretch are linear in the length: their stiffness along and across the line is never above
//! E A / L. In the grid waves of a rope that is stretched by s are s times as fast, and bending
//! waves s times as well. The stiffness K of a bend against changes of its tangents is at most
//!
//! (B (1 + |kappa_0|) + C tan^2(phi / 2) + C m^2 where it folds) / l + |M| (1 + tan^2(phi / 2)) / 2
//!
//! with M the torque: of the angle itself B / l, because a bar chain's moment rises linearly; of the natural
//! curvature, whose angle is within unit changes of the tangents; of the twist, whose derivative is
//! tan(phi / 2), and its second one at most (1 + tan^2(phi / 2)) / 2. Lengths are those now.
//!
//! # The spin
//! The cross-sections turn on the chain alone: w^2 = C / l sum 1 / I'. The couple by which a spin turns with
//! its segment is one of first order in the velocities, with the frequency I spin / l^2 (1 / m0 + 1 / m1).
//! It is stepped explicitly, which is stable only with what the spin loses; so its phase is small.

use super::bend::BendForces;
use super::line::Rope;
use super::rod::{RestSegment, Rod};
use super::segment::Segment;

/// Courant number of stretch and of motion through the grid, as for cloth.
pub const COURANT_NUMBER: f64 = 0.7;

/// Largest phase of the chain's vibrations in a substep \[rad\].
pub const LARGEST_PHASE: f64 = 1.4;

/// Largest phase of the spins' vibrations in a substep \[rad\]. Nothing but `mass_damping` damps these, and of
/// phase x in a substep their energy swings by 1 / (1 - x / 2): ends that are let go start all of them.
pub const LARGEST_SPIN_PHASE: f64 = 0.5;

/// Largest phase of the turning of a spin \[rad\].
pub const LARGEST_TURNING: f64 = 0.1;

/// What of the present state limits substeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RopeState {
    /// Largest stretch, at least 1 (no unit).
    pub stretch: f64,
    /// Largest square of a bend's frequency on the chain \[1/s^2\].
    pub bending: f64,
    /// Largest stiffness of a bend times its length \[N m^2\].
    pub stiffness: f64,
    /// Largest frequency of the turning of a spin \[1/s\].
    pub turning: f64,
}

impl RopeState {
    /// Of no rope.
    pub const NONE: Self = Self { stretch: 1.0, bending: 0.0, stiffness: 0.0, turning: 0.0 };

    /// The larger figures of two.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            stretch: self.stretch.max(other.stretch),
            bending: self.bending.max(other.bending),
            stiffness: self.stiffness.max(other.stiffness),
            turning: self.turning.max(other.turning),
        }
    }

    /// Of a segment, with the masses of its two vertices \[kg\].
    pub fn of_segment(rest: &RestSegment, now: &Segment, masses: [f64; 2]) -> Self {
        let per_mass = 1.0 / masses[0] + 1.0 / masses[1];
        let turning = rest.inertia * now.spin.abs() * per_mass / (now.length * now.length);
        Self { stretch: (now.length / rest.length).max(1.0), turning, ..Self::NONE }
    }

    /// Of a bend of `length` \[m\] between segments of these `lengths` now \[m\], with the masses of its three
    /// vertices \[kg\].
    pub fn of_bend(length: f64, forces: &BendForces, lengths: [f64; 2], masses: [f64; 3]) -> Self {
        let [first, second] = lengths.map(f64::recip);
        let middle = first + second;
        let per_mass = 4.0 * first * first / masses[0]
            + 2.0 * middle * middle / masses[1]
            + 4.0 * second * second / masses[2];
        Self { bending: forces.stiffness * per_mass, stiffness: forces.stiffness * length, ..Self::NONE }
    }
}

/// What limits the substeps of a rope in a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RopeStability {
    grid_spacing: f64,
    /// Speed of waves of stretch \[m/s\].
    speed: f64,
    /// Bound on the chain's frequencies of stretch \[rad/s\].
    stretching: f64,
    /// Bound on the frequencies of the spins \[rad/s\].
    twisting: f64,
    /// Mass per length \[kg/m\].
    per_length: f64,
    rest: RopeState,
}

impl RopeStability {
    /// Limits of a (valid) rope in a grid of spacing `grid_spacing` \[m\].
    pub fn new(rope: &Rope, grid_spacing: f64) -> Self {
        let (rod, frames) = Rod::new(rope);
        let count = rod.segments.len();
        // Half for each of two, all of it where there is one.
        let share = |k: usize, last: usize| if k == 0 || k == last { 1.0 } else { 2.0 };
        let stretching = |(k, segment): (usize, &RestSegment)| {
            let per_mass = share(k, count) / rod.masses[k] + share(k + 1, count) / rod.masses[k + 1];
            segment.stiffness / segment.length * per_mass
        };
        let stretching = rod.segments.iter().enumerate().map(stretching).fold(0.0, f64::max);
        let twisting = |(k, bend): (usize, &super::bend::Bend)| {
            let [first, second] = [k, k + 1].map(|s| share(s, count - 1) / rod.segments[s].inertia);
            // Natural curvature resists turning too.
            let natural = bend.bending * bend.natural[0].hypot(bend.natural[1]) * core::f64::consts::PI;
            (bend.twist + natural) / bend.length * (first + second)
        };
        let twisting = rod.bends.iter().enumerate().map(twisting).fold(0.0, f64::max);
        Self {
            grid_spacing,
            speed: rope.material.wave_speed(),
            stretching: stretching.sqrt(),
            twisting: twisting.sqrt(),
            per_length: rope.material.density * rope.material.area(),
            rest: rod.state(&frames),
        }
    }

    /// Largest substep \[s\] in a state `now`, for particles that move at up to `max_speed` \[m/s\].
    pub fn largest_substep(&self, now: &RopeState, max_speed: f64) -> f64 {
        let cell = COURANT_NUMBER * self.grid_spacing;
        let by_grid = (self.speed * now.stretch + max_speed) / cell;
        let by_chain = (self.stretching / LARGEST_PHASE).max(max_speed / cell);
        let wave = core::f64::consts::PI / self.grid_spacing;
        let bending_by_grid = (now.stiffness / self.per_length).sqrt() * now.stretch * wave * wave;
        let bending = bending_by_grid.min(now.bending.sqrt() / LARGEST_PHASE);
        let of_line = by_grid.min(by_chain).hypot(bending);
        let of_spin = (self.twisting / LARGEST_SPIN_PHASE).max(now.turning / LARGEST_TURNING);
        1.0 / of_line.max(of_spin)
    }

    /// The same for the rope at the start.
    pub fn largest_substep_at_rest(&self) -> f64 {
        self.largest_substep(&self.rest, 0.0)
    }
}

impl Rod {
    /// What of the present frames limits substeps.
    pub fn state(&self, frames: &super::rod::RodFrames) -> RopeState {
        let mut state = RopeState::NONE;
        for (k, (rest, now)) in self.segments.iter().zip(&frames.segments).enumerate() {
            state = state.max(RopeState::of_segment(rest, now, [self.masses[k], self.masses[k + 1]]));
        }
        for (k, forces) in self.bend_forces(frames).iter().enumerate() {
            let lengths = frames.pair(k).map(|segment| segment.length);
            let masses = [0, 1, 2].map(|i| self.masses[k + i]);
            state = state.max(RopeState::of_bend(self.bends[k].length, forces, lengths, masses));
        }
        state
    }
}
