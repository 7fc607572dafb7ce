//! A contact between a particle and a geometry.

use nalgebra::{Point3, Vector3};
use pliant_rigid::BodyId;

/// A pair of a particle and a geometry near each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactPair {
    /// The particle: the order in which it was added.
    pub particle: u32,
    /// Number of the geometry among all bodies' geometries.
    pub geometry: u32,
    /// Its body.
    pub body: BodyId,
    /// Face of the geometry.
    pub feature: u32,
    /// Lowest node of the stencil of the particle, or of the vertex.
    pub base: [i32; 3],
    /// Its position relative to that node \[cells\].
    pub offset: [f64; 3],
    /// From the particle to the point where its contact acts \[cells\]: zero except for granular
    /// material.
    pub arm: [f64; 3],
    /// Where the impulse acts: the particle's position and the arm, or a vertex of the face whose
    /// centroid the particle is, world frame \[m\].
    pub position: Point3<f64>,
    /// The particle's own position, world frame \[m\].
    pub particle_position: Point3<f64>,
    /// Gap \[m\], negative when overlapping.
    pub gap: f64,
    /// Signed distance of the particle's centre, without its radius \[m\].
    pub distance: f64,
    /// How far outside the geometry the particle is although `distance` is negative \[m\].
    pub pressed_out: f64,
    /// From the body to the particle, world frame.
    pub normal: Vector3<f64>,
    /// Velocity of the body there, world frame \[m/s\].
    pub body_velocity: Vector3<f64>,
    /// Velocity at which a pin holds the particle, or the vertex, world frame; none where nothing holds it, and
    /// with weakly coupled bodies \[m/s\].
    pub held: Option<Vector3<f64>>,
    /// Coulomb coefficient.
    pub friction: f64,
    /// Stiffness \[N/m\].
    pub stiffness: f64,
    /// Normal impulse that bounds the friction \[N s\].
    pub lagged_normal_impulse: f64,
    /// Whether particles can adhere to the geometry.
    pub adhesive: bool,
    /// Largest tension of a contact that is bonded at the start of the substep \[N\]; 0 for one
    /// that is not.
    pub tension: f64,
    /// Impulse on the particle in the last substep, world frame; zero for a new pair \[N s\].
    pub last_impulse: [f64; 3],
}
