//! Cloth: sheets of triangles in the grid of the other particles (codimensional MPM; Jiang, Gast
//! and Teran 2017, "Anisotropic elastoplasticity for cloth, knit and hair frictional contact").
//!
//! A sheet has a particle at every vertex and one at every face's centroid. In its plane it is a
//! mesh of finite elements whose forces act on the vertices; across its plane it is a material
//! point: every face carries a director d3 that the grid's velocity gradient advances, and what
//! resists its shortening is a stress on the grid. So sheets that meet (and a sheet that meets
//! itself) feel each other through the grid like any other particles, and no pair of faces is ever
//! looked for.
//!
//! - [`mesh`]: the sheet at rest, checked; rectangles and discs;
//! - [`model`]: energy, stress and return mapping of a face, over [`pliant_numeric::scalar::Real`];
//! - [`bending`]: hinges between faces;
//! - [`pin`]: vertices that are held and let go;
//! - [`sheet`]: all of these together, and what follows from them; [`patch`]: where its particles are among others;
//! - [`stability`]: how long a substep may be, and how the mesh keeps up with one that is longer than its own waves allow.
//!
//! The f64 step is `mpm::reference`.
//!
//! # What the paper leaves open, or what was decided otherwise
//! - **Masses.** A face's mass (density x area x thickness) goes in quarters to its three vertices and its centroid.
//! - **Volumes.** The elastic energy is that of the whole face, area x thickness, not of the centroid's quarter. Otherwise a strip would be
//!   four times softer, against its own mass, than `youngs_modulus` says.
//! - **Plane stress.** The 2D model takes lambda = E nu / (1 - nu^2), not the one of three dimensions: a sheet is free to thin, and a
//!   strip pulled at its ends then has modulus E and contracts by nu (Timoshenko and Goodier, "Theory of Elasticity"). With the other
//!   lambda (plane strain) its modulus would be E / (1 - nu^2).
//! - **Face velocities.** Setting each face's velocity to the mean of its vertices' loses momentum, because what the face itself
//!   brings from the grid is another velocity: three crumpled sheets that meet in free flight lost a sixth of theirs in 300
//!   substeps. Here each face and its vertices exchange impulses until they agree, which is the projection that keeps both
//!   momenta and loses the least energy. The impulse acts at the centroid and in thirds at the vertices, so it has no moment.
//! - **Velocity gradient** of d3 is APIC's C (Hu et al. 2018), and the stress on the grid is its transpose, as for other particles.
//! - **Damping** multiplies the symmetric part of C, after d3 was advanced; the other part is left, because it carries angular momentum.

pub mod bending;
pub mod mesh;
pub mod model;
pub mod patch;
pub mod pin;
pub mod sheet;
pub mod stability;

pub use bending::Hinge;
pub use mesh::{ClothMesh, Edge, MeshError};
pub use model::{ClothMaterial, ClothModel};
pub use patch::SheetParticles;
pub use pin::{Pin, PinError};
pub use sheet::{ClothError, RestFace, Sheet};
pub use stability::Stability;

#[cfg(test)]
mod tests;
