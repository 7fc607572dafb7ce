//! Seeded random numbers.

use std::f64::consts::PI;

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use pliant_numeric::linalg::{Mat3, Vec3};
use pliant_numeric::random::split_mix;
use pliant_numeric::svd::svd;

/// Random numbers from a seed; the state is public so that a test can print where it is.
pub struct Random(pub u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        split_mix(&mut self.0)
    }

    /// 32 uniform bits.
    pub fn word(&mut self) -> u32 {
        (self.bits() >> 32) as u32
    }

    pub fn words(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.word()).collect()
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in [-1, 1).
    pub fn signed(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Uniform in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in the logarithm, in [low, high).
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        self.uniform(low.ln(), high.ln()).exp()
    }

    /// One of the choices.
    pub fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[((self.unit() * choices.len() as f64) as usize).min(choices.len() - 1)]
    }

    /// Each component uniform in [-1, 1).
    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.signed())
    }

    /// Each entry uniform in [-1, 1).
    pub fn matrix(&mut self) -> Matrix3<f64> {
        Matrix3::from_fn(|_, _| self.signed())
    }

    /// A rotation vector with each component uniform in [-pi, pi).
    pub fn rotation(&mut self) -> UnitQuaternion<f64> {
        UnitQuaternion::from_scaled_axis(self.vector() * PI)
    }

    /// A rotation vector with each component of its axis uniform in [-1, 1), times up to 3 rad.
    pub fn turn(&mut self) -> UnitQuaternion<f64> {
        let axis = self.vector();
        UnitQuaternion::new(axis * self.uniform(0.0, 3.0))
    }

    /// Components uniform in [low, high).
    pub fn vec3(&mut self, low: f64, high: f64) -> Vec3<f64> {
        Vec3([self.uniform(low, high), self.uniform(low, high), self.uniform(low, high)])
    }

    /// Entries uniform in [low, high).
    pub fn mat3(&mut self, low: f64, high: f64) -> Mat3<f64> {
        Mat3([self.vec3(low, high).0, self.vec3(low, high).0, self.vec3(low, high).0])
    }

    /// A proper rotation (not uniformly distributed, but all over the group).
    pub fn rotation_matrix(&mut self) -> Mat3<f64> {
        let m = svd(&self.mat3(-1.0, 1.0));
        m.u.mul_transpose(&m.v)
    }

    /// U diag(sigma) V^T with random rotations.
    pub fn with_singular_values(&mut self, sigma: Vec3<f64>) -> Mat3<f64> {
        self.rotation_matrix().scale_columns(sigma).mul_transpose(&self.rotation_matrix())
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
