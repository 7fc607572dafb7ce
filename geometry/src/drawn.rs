//! What is only seen.

use std::sync::Arc;

use nalgebra::Point3;

use super::{GeometryError, Shape, topology};

/// Triangles that need not bound a solid: they may be flat, open or cross each other.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceMesh {
    vertices: Vec<Point3<f64>>,
    triangles: Vec<[u32; 3]>,
}

impl SurfaceMesh {
    /// A surface from its vertices \[m\] and triangles (indices of vertices).
    ///
    /// # Errors
    /// [`GeometryError`]: no triangles, coordinates that are not finite, indices out of range.
    pub fn new(vertices: Vec<Point3<f64>>, triangles: Vec<[u32; 3]>) -> Result<Self, GeometryError> {
        if triangles.is_empty() {
            return Err(GeometryError::Empty { shape: "surface", what: "triangles" });
        }
        topology::check_vertices("surface", &vertices)?;
        topology::check_indices(&vertices, &triangles)?;
        Ok(Self { vertices, triangles })
    }

    /// Vertices \[m\].
    pub fn vertices(&self) -> &[Point3<f64>] {
        &self.vertices
    }

    /// Triangles, as indices of vertices.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }
}

/// Something that is only seen: a solid, or a surface as it is.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one a visual, and most are solids")]
pub enum Drawn {
    /// A solid.
    Solid(Shape),
    /// A surface; bodies that look alike share it.
    Surface(Arc<SurfaceMesh>),
}

impl Drawn {
    /// Refuses a solid of sizes that cannot be computed with.
    ///
    /// # Errors
    /// As [`Shape::validate`].
    pub fn validate(&self) -> Result<(), GeometryError> {
        match self {
            Self::Solid(shape) => shape.validate(),
            // It was checked when it was made.
            Self::Surface(_) => Ok(()),
        }
    }
}

impl From<Shape> for Drawn {
    fn from(shape: Shape) -> Self {
        Self::Solid(shape)
    }
}
