//! Muscles: force by activation, length and velocity, and the activation itself, in the form of
//! MuJoCo's documentation (Modeling, Muscle actuators; after Millard et al. 2013).

/// The force curves of a muscle and its tendon. Lengths are those of the drive's transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Muscle {
    /// Least and greatest length of the transmission \[m\].
    pub lengths: [f64; 2],
    /// The same in units of the muscle's optimal length.
    pub operating_range: [f64; 2],
    /// Largest active force at rest \[N\].
    pub peak_force: f64,
    /// Lengths between which it can be active, in optimal lengths.
    pub active_range: [f64; 2],
    /// Fastest shortening, in optimal lengths a second.
    pub fastest: f64,
    /// Passive force at the upper active length, in peak forces.
    pub passive: f64,
    /// Largest active force while it is stretched, in peak forces.
    pub stretched: f64,
}

/// Time constants of an activation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActivationTimes {
    /// Rising \[s\].
    pub rise: f64,
    /// Falling \[s\].
    pub fall: f64,
    /// Width of the change between the two, in activations; 0 for a jump.
    pub smoothing: f64,
}

const TINY: f64 = 1e-15;

impl Muscle {
    /// Optimal length \[m\], and a length of the transmission in its units.
    fn normalised(&self, length: f64) -> (f64, f64) {
        let [low, high] = self.operating_range;
        let optimal = (self.lengths[1] - self.lengths[0]) / (high - low).max(TINY);
        (optimal, low + (length - self.lengths[0]) / optimal.max(TINY))
    }

    /// Force of full activation \[N\]: negative, it pulls.
    pub fn active_force(&self, length: f64, velocity: f64) -> f64 {
        let (optimal, l) = self.normalised(length);
        let v = velocity / (optimal * self.fastest).max(TINY);
        -self.peak_force * self.active_length_curve(l) * self.velocity_curve(v)
    }

    /// Force without activation \[N\]: not positive.
    pub fn passive_force(&self, length: f64) -> f64 {
        let (_, l) = self.normalised(length);
        let knee = 0.5 * (1.0 + self.active_range[1]);
        let x = (l - 1.0) / (knee - 1.0).max(TINY);
        let curve = if x <= 0.0 {
            0.0
        } else if x <= 1.0 {
            0.5 * x * x
        } else {
            x - 0.5
        };
        -self.peak_force * self.passive * curve
    }

    /// Quadratic splines through 0, 1/2, 1, 1/2, 0.
    fn active_length_curve(&self, l: f64) -> f64 {
        let [low, high] = self.active_range;
        let knees = [0.5 * (low + 1.0), 0.5 * (1.0 + high)];
        let part = |x: f64, width: f64| 0.5 * (x / width.max(TINY)).powi(2);
        if l < low || l > high {
            0.0
        } else if l <= knees[0] {
            part(l - low, knees[0] - low)
        } else if l <= 1.0 {
            1.0 - part(1.0 - l, 1.0 - knees[0])
        } else if l <= knees[1] {
            1.0 - part(l - 1.0, knees[1] - 1.0)
        } else {
            part(high - l, high - knees[1])
        }
    }

    fn velocity_curve(&self, v: f64) -> f64 {
        let above = self.stretched - 1.0;
        if v <= -1.0 {
            0.0
        } else if v <= 0.0 {
            (v + 1.0).powi(2)
        } else if v <= above {
            self.stretched - (above - v).powi(2) / above.max(TINY)
        } else {
            self.stretched
        }
    }
}

impl ActivationTimes {
    /// Time constant \[s\] at an excitation and an activation; rising slows with the activation,
    /// falling quickens.
    pub fn time_constant(&self, excitation: f64, activation: f64) -> f64 {
        let scale = 0.5 + 1.5 * activation.clamp(0.0, 1.0);
        let (rise, fall) = (self.rise * scale, self.fall / scale);
        let more = excitation.clamp(0.0, 1.0) - activation;
        let part = if self.smoothing < TINY {
            f64::from(u8::from(more > 0.0))
        } else {
            let x = (more / self.smoothing + 0.5).clamp(0.0, 1.0);
            x * x * x * (x * (6.0 * x - 15.0) + 10.0)
        };
        (fall + (rise - fall) * part).max(TINY)
    }
}
