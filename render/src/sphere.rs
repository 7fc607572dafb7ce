//! Particles as they are drawn.

/// A particle. World frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RenderSphere {
    /// Centre \[m\].
    pub center: [f32; 3],
    /// Radius \[m\]; 0.6 of the particle spacing closes the surface of a filled solid.
    pub radius: f32,
    /// sRGB colour.
    pub color: [u8; 3],
}
