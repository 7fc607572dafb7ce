//! Seeded random numbers.

#[path = "../../../mpm/tests/common/split_mix.rs"]
mod split_mix;

use nalgebra::{UnitQuaternion, Vector3};

/// SplitMix64 (Steele, Lea and Flood 2014).
pub struct Random(pub u64);

impl Random {
    /// Evenly in [0, 1).
    pub fn next(&mut self) -> f64 {
        split_mix::unit(&mut self.0)
    }

    /// Evenly in [low, high).
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    /// Evenly in the logarithm.
    pub fn log(&mut self, low: f64, high: f64) -> f64 {
        self.within(low.ln(), high.ln()).exp()
    }

    /// One of the choices.
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[((self.next() * choices.len() as f64) as usize).min(choices.len() - 1)]
    }

    /// A turn by up to 3 rad.
    pub fn rotation(&mut self) -> UnitQuaternion<f64> {
        let axis = Vector3::from_fn(|_, _| self.within(-1.0, 1.0));
        UnitQuaternion::new(axis * self.within(0.0, 3.0))
    }
}
