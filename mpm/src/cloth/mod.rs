//! Cloth: sheets of triangles in the grid of the other particles (codimensional MPM; Jiang, Gast
//! and Teran 2017, "Anisotropic elastoplasticity for cloth, knit and hair frictional contact").
//!
//! A sheet has a particle at every vertex and one at every face's centroid. In its plane it is a
//! mesh of finite elements whose forces act on the vertices; across its plane it is a material
//! point: every face carries a director d3 that the grid's velocity gradient advances, and the
//! resistance to its shortening is a stress on the grid. So sheets that touch (and a sheet that
//! touches itself) interact through the grid like any other particles, without a search for pairs
//! of faces.
//!
//! - [`mesh`]: the sheet at rest, checked; rectangles, discs, pillows and spheres;
//! - [`model`]: energy, stress and return mapping of a face, over [`pliant_numeric::scalar::Real`];
//! - [`bending`]: hinges between faces;
//! - [`weave`]: stiffness by direction of woven fabrics; [`yarns`]: their part of energy and
//!   stress;
//! - [`tear`]: faces that soften and let go, beyond what the fabric bears ([`tearing`]);
//! - [`gas`]: the pressure of gas in closed sheets;
//! - [`pin`]: vertices that are held and released;
//! - [`sheet`]: a sheet made of these, with masses and rest state; [`patch`]: its particles among
//!   all others;
//! - `layers`: layers that touch do not pass through each other; [`crossings`]: edges that pass
//!   through faces, counted;
//! - [`stability`]: the largest substep, and the mean of the in-plane stress over substeps longer
//!   than the mesh's own waves allow.
//!
//! The f64 step is `mpm::reference`.
//!
//! # Choices that the paper leaves open, and differences from it
//! - **Masses.** A face's mass (density x area x thickness) goes in quarters to its three vertices
//!   and its centroid.
//! - **Volumes.** The elastic energy is that of the whole face, area x thickness, not of the
//!   centroid's quarter. Otherwise a strip would be four times softer than `youngs_modulus`.
//! - **Plane stress.** The 2D model uses lambda = E nu / (1 - nu^2), not that of three dimensions:
//!   the thickness of a sheet is free to change, and a strip pulled at its ends then has modulus E
//!   and contracts by nu (Timoshenko and Goodier, "Theory of Elasticity"). With the other lambda
//!   (plane strain) its modulus would be E / (1 - nu^2).
//! - **Face velocities.** Setting each face's velocity to the mean of its vertices' loses momentum,
//!   because the face itself gathers another velocity from the grid: three crumpled sheets that
//!   collide in free flight lost a sixth of their momentum in 300 substeps. Here each face and its
//!   vertices exchange impulses until they agree, which is the projection that keeps both momenta
//!   and loses the least energy. The impulse acts at the centroid and in thirds at the vertices, so
//!   it has no moment.
//! - **Velocity gradient** of d3 is APIC's C (Hu et al. 2018), and the stress on the grid is its
//!   transpose, as for other particles.
//! - **Directors** follow C to second order, d3 <- d3 + dt C (d3 + dt/2 C d3), not as deformation
//!   gradients do: a layer's motion across its plane is that of ln r33, and with I + dt C it would
//!   spring open with more energy than pressed it.
//! - **Damping** multiplies the symmetric part of C, after d3 was advanced; the other part is left,
//!   because it carries angular momentum.

pub mod bending;
pub mod bending_friction;
pub(crate) mod cells;
mod closed;
pub mod crossings;
pub mod gas;
pub(crate) mod layers;
pub mod mesh;
pub mod model;
pub mod patch;
pub mod pin;
pub mod shear_friction;
pub mod sheet;
pub mod stability;
pub mod tear;
pub mod tearing;
pub mod weave;
pub mod yarns;

pub use bending::Hinge;
pub use bending_friction::BendingFriction;
pub use gas::{Gas, GasError, GasModel};
pub use layers::LayerReport;
pub use mesh::{ClothMesh, Edge, MeshError};
pub use model::{ClothMaterial, ClothModel};
pub use patch::SheetParticles;
pub use pin::{Pin, PinError};
pub use shear_friction::ShearFrictionModel;
pub use sheet::{ClothError, RestFace, Sheet};
pub use stability::{SheetStretch, Stability, Stretch};
pub use tear::{Tear, TearingError, TearingModel};
pub use tearing::Tearing;
pub use weave::{ShearFriction, Weave, WeaveError};
pub use yarns::YarnModel;

#[cfg(test)]
mod tests;
