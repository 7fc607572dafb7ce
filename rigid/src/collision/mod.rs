//! Collision detection between rigid bodies.
//!
//! A [`CollisionModel`] is the constant data: geometries on the links of a
//! [`Model`](crate::multibody::Model), and the pairs of them that can touch. A [`Detector`] finds,
//! from the poses of the links alone, every [`GeometricContact`] nearer than a margin. Only buffers
//! are kept from one call to the next: equal poses give equal bits.
//!
//! | pair | method | exactness of the deepest distance |
//! |---|---|---|
//! | half-space, anything | supporting vertices, rims and ends | rounding |
//! | sphere, convex | signed distance of the shape at the centre | rounding |
//! | box, box | separating axes (Gottschalk et al. 1996) | rounding |
//! | capsule, capsule | nearest points of two segments | rounding |
//! | other convex pairs | GJK where apart, EPA where they overlap (round ones: GJK moved apart), then the faces | rounding for flat faces, 1e-6 of the size for round ones |
//! | mesh or height field, convex | vertices, convex edges and faces, each against the other's signed distance | local: no hull |
//!
//! Flat faces get several points: the faces of both solids along the normal are clipped against
//! each other, and every corner of the common part is a contact with its own distance. Rims are
//! octagons there, rotated so that the deepest point of the rim is one of their corners. Points
//! closer together than a fiftieth of the smaller solid's size are merged, and a pair has at most
//! eight (with a mesh, sixteen).

mod bounds;
mod box_box;
mod broad;
mod capsule;
mod convex;
mod detector;
mod error;
mod filter;
mod geometry;
mod half_space;
mod manifold;
mod material;
mod mesh;
mod pair;
mod scene;
mod sharpen;
mod smooth;
mod solid;

pub use detector::{Detector, GeometricContact};
pub use error::CollisionError;
pub use geometry::{CollisionGeometry, PairMaterial};
pub use material::{ContactMaterial, FrictionRule};
pub use scene::CollisionModel;
