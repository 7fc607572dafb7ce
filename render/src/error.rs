//! Why a picture cannot be drawn.

/// Largest picture: 64 megapixels, so that a typing error does not take all memory.
pub(super) const MAX_PIXELS: u64 = 1 << 26;

/// Why a picture cannot be drawn.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum RenderError {
    /// No pixels, or more than 64 million.
    #[error("a picture must have 1 to {MAX_PIXELS} pixels, got {width} x {height}")]
    Size {
        /// Width \[pixels\].
        width: u32,
        /// Height \[pixels\].
        height: u32,
    },
    /// The camera has no direction, looks along its own up vector, or has a field of view outside
    /// (0, pi).
    #[error("the camera is degenerate: {0}")]
    Camera(String),
    /// A mesh refers to a vertex that does not exist.
    #[error("body {body}: triangle {triangle} refers to a vertex that does not exist")]
    Mesh {
        /// Number of the body, from 0.
        body: usize,
        /// Number of the triangle, from 0.
        triangle: usize,
    },
    /// Cloth refers to a vertex that does not exist.
    #[error("cloth {cloth}: triangle {triangle} refers to a vertex that does not exist or has no colour")]
    RenderCloth {
        /// Number of the cloth, from 0.
        cloth: usize,
        /// Number of the triangle, from 0.
        triangle: usize,
    },
    /// A surface refers to a vertex that does not exist.
    #[error("surface {surface}: triangle {triangle} refers to a vertex that does not exist or has no colour")]
    Surface {
        /// Number of the surface, from 0.
        surface: usize,
        /// Number of the triangle, from 0.
        triangle: usize,
    },
    /// The number of back colours is neither zero nor that of the triangles.
    #[error("cloth {cloth}: {triangles} triangles must have as many back colours or none, got {backs}")]
    Backs {
        /// Number of the cloth, from 0.
        cloth: usize,
        /// Its triangles.
        triangles: usize,
        /// Its back colours.
        backs: usize,
    },
    /// The direction to the light is zero or not finite.
    #[error("the direction to the light must be finite and not zero, got {0:?}")]
    Light([f64; 3]),
}
