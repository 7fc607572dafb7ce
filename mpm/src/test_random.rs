//! Seeded random numbers for tests.

use crate::linalg::{Mat3, Vec3};
use crate::svd::svd;

/// SplitMix64 (Steele et al. 2014).
pub struct Random(pub u64);

impl Random {
    /// Uniform within [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let unit = ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
        low + (high - low) * unit
    }

    pub fn vector(&mut self, low: f64, high: f64) -> Vec3<f64> {
        Vec3([self.uniform(low, high), self.uniform(low, high), self.uniform(low, high)])
    }

    /// Entries uniform within [low, high).
    pub fn matrix(&mut self, low: f64, high: f64) -> Mat3<f64> {
        Mat3([self.vector(low, high).0, self.vector(low, high).0, self.vector(low, high).0])
    }

    /// A proper rotation (not uniformly distributed, but all over the group).
    pub fn rotation(&mut self) -> Mat3<f64> {
        let m = svd(&self.matrix(-1.0, 1.0));
        m.u.mul_transpose(&m.v)
    }

    /// U diag(sigma) V^T with random rotations.
    pub fn with_singular_values(&mut self, sigma: Vec3<f64>) -> Mat3<f64> {
        self.rotation().scale_columns(sigma).mul_transpose(&self.rotation())
    }
}

/// A matrix rounded to f32.
pub fn to_f32(m: &Mat3<f64>) -> Mat3<f32> {
    Mat3(m.0.map(|row| row.map(|x| x as f32)))
}

/// A matrix widened to f64.
pub fn to_f64(m: &Mat3<f32>) -> Mat3<f64> {
    Mat3(m.0.map(|row| row.map(f64::from)))
}
