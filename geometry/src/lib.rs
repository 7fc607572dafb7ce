//! Geometries, exact signed distances to them, and their mass properties.
//!
//! Every shape is a closed solid in its own frame. The signed distance is negative inside, and
//! exact on both sides: its magnitude is the distance to the nearest point of the surface, so that
//! its gradient is the unit normal wherever the nearest point is unique. Queries do not allocate,
//! and shapes can be shared between threads.

mod bvh;
pub mod convert;
mod decompose;
mod drawn;
mod ellipsoid;
mod error;
mod height_field;
mod hull;
mod mass;
mod mesh;
pub mod pairs;
mod primitives;
mod shape;
mod surface;
mod tessellate;
mod topology;
mod triangle;
mod volume;

pub use decompose::{Fineness, convex_parts};
pub use drawn::{Drawn, SurfaceMesh};
pub use error::{GeometryError, LARGEST_SIZE, SMALLEST_SIZE};
pub use height_field::HeightField;
pub use hull::ConvexHull;
pub use mesh::TriangleMesh;
pub use shape::Shape;
pub use surface::SurfacePoint;
pub use volume::signed_volume;
