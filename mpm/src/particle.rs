//! Particles as users set and read them.

use nalgebra::{Matrix3, Point3, Vector3};

/// State of one particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleState {
    /// Position, world frame \[m\].
    pub position: Point3<f64>,
    /// Velocity, world frame \[m/s\].
    pub velocity: Vector3<f64>,
    /// Affine velocity field C: the velocity's gradient around the particle \[1/s\].
    pub affine: Matrix3<f64>,
    /// Elastic deformation gradient (no unit).
    pub deformation_gradient: Matrix3<f64>,
    /// Volume at rest \[m^3\].
    pub volume: f64,
    /// Index of its material.
    pub material: usize,
    /// The model's history variable (see [`Constitutive`](crate::constitutive::Constitutive)).
    pub state: f64,
}

impl ParticleState {
    /// A particle at rest shape.
    pub fn new(position: Point3<f64>, velocity: Vector3<f64>, volume: f64, material: usize) -> Self {
        Self {
            position,
            velocity,
            affine: Matrix3::zeros(),
            deformation_gradient: Matrix3::identity(),
            volume,
            material,
            state: 0.0,
        }
    }
}

/// Part of a body's surface that a particle represents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ParticleExtent {
    /// Area of the surface that it represents [m^2]: a face of a cube of its volume; of cloth its
    /// share of the sheet, of a rope its shadow.
    pub area: f64,
    /// Twice its distance from that surface \[m\]: the cube's edge; of cloth the sheet's thickness, of a
    /// rope its diameter.
    pub thickness: f64,
}
