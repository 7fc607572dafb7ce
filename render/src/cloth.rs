//! Cloth: sheets of triangles that have two sides.

use super::color;

/// A sheet of triangles, or several, drawn smooth and without thickness. World frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RenderCloth<'a> {
    /// Vertices \[m\]; triangles with one that is not finite are left out.
    pub positions: &'a [[f32; 3]],
    /// sRGB colour of the front at each vertex, between which it is interpolated.
    pub colors: &'a [[u8; 3]],
    /// Three vertex indices per triangle; the front is the side from which they go round
    /// counterclockwise.
    pub triangles: &'a [[u32; 3]],
    /// sRGB colour of the back of each triangle; empty: both sides have the same colour.
    pub back_colors: &'a [[u8; 3]],
    /// Coordinates of each vertex in the material \[m\], as of [`weave_coordinates`], by which it looks
    /// woven; fewer than vertices: plain.
    ///
    /// [`weave_coordinates`]: super::weave_coordinates
    pub weave: &'a [[f32; 2]],
}

/// sRGB colour of the wrong side of a cloth whose right side has `color`: greyer and darker, as
/// that of a printed one.
pub fn back_color(color: [u8; 3]) -> [u8; 3] {
    const GREYER: f32 = 0.35;
    const DARKER: f32 = 0.62;
    let light = color::linear(color);
    // Luminance of linear sRGB (IEC 61966-2-1).
    let grey = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
    light.map(|c| color::to_srgb(DARKER * (c + GREYER * (grey - c))))
}
