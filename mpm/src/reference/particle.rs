//! Material points of the reference.

use nalgebra::{Matrix3, Vector3};

/// One material point.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceParticle {
    /// Position x \[m\].
    pub position: Vector3<f64>,
    /// Velocity v \[m/s\].
    pub velocity: Vector3<f64>,
    /// Affine velocity field C [1/s]: v(x) = v + C (x - x_p).
    pub affine: Matrix3<f64>,
    /// Elastic deformation gradient F (no unit).
    pub deformation_gradient: Matrix3<f64>,
    /// Volume at rest \[m^3\].
    pub volume: f64,
    /// Mass \[kg\].
    pub mass: f64,
    /// Index into [`ReferenceMpm::materials`](super::ReferenceMpm::materials).
    pub material: usize,
    /// History of the constitutive model, see [`Constitutive`](crate::constitutive::Constitutive).
    pub state: f64,
}

impl ReferenceParticle {
    /// An undeformed particle at rest, with mass from its material's density; `volume` in m^3.
    pub fn at_rest(position: Vector3<f64>, volume: f64, material: usize, density: f64) -> Self {
        Self {
            position,
            velocity: Vector3::zeros(),
            affine: Matrix3::zeros(),
            deformation_gradient: Matrix3::identity(),
            volume,
            mass: density * volume,
            material,
            state: 0.0,
        }
    }
}

/// An acceleration field \[m/s^2\] of position \[m\] and time \[s\], in addition to gravity.
pub type BodyForce = Box<dyn Fn(&Vector3<f64>, f64) -> Vector3<f64>>;
