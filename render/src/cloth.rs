//! Cloth: sheets of triangles that have two sides.

use super::primitive::{GLOSS_CLOTH, Primitive, RenderScene, Shape, V3};
use super::{RenderError, color, triangle};

/// A sheet of triangles, or several, drawn smooth and without thickness. World frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RenderCloth<'a> {
    /// Vertices [m]; triangles with one that is not finite are left out.
    pub positions: &'a [[f32; 3]],
    /// sRGB colour of the front at each vertex, between which it is interpolated.
    pub colors: &'a [[u8; 3]],
    /// Three vertex indices a triangle; the front is the side from which they go round counterclockwise.
    pub triangles: &'a [[u32; 3]],
    /// sRGB colour of the back of each triangle; empty: both sides look alike.
    pub back_colors: &'a [[u8; 3]],
}

/// Looks of a triangle of cloth: linear albedo of the front at its corners, and of the back.
pub(super) struct Sides {
    pub front: [[f32; 3]; 3],
    pub back: Option<[f32; 3]>,
}

/// sRGB colour of the wrong side of a cloth whose right side has `color`: greyer and darker, as that of a printed one.
pub fn back_color(color: [u8; 3]) -> [u8; 3] {
    const GREYER: f32 = 0.35;
    const DARKER: f32 = 0.62;
    let light = color::linear(color);
    // Luminance of linear sRGB (IEC 61966-2-1).
    let grey = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
    light.map(|c| color::to_srgb(DARKER * (c + GREYER * (grey - c))))
}

impl RenderScene {
    /// Adds the triangles of cloth number `number`.
    pub(super) fn add_cloth(&mut self, number: usize, cloth: &RenderCloth) -> Result<(), RenderError> {
        let (known, triangles) = (cloth.positions.len().min(cloth.colors.len()), cloth.triangles);
        let missing = triangles.iter().position(|t| t.iter().any(|&v| v as usize >= known));
        if let Some(triangle) = missing {
            return Err(RenderError::RenderCloth { cloth: number, triangle });
        }
        let backs = cloth.back_colors.len();
        if backs != 0 && backs != triangles.len() {
            return Err(RenderError::Backs { cloth: number, triangles: triangles.len(), backs });
        }
        let points: Vec<V3> = cloth.positions.iter().map(|p| V3::from(*p)).collect();
        let normals = triangle::vertex_normals(&points, triangles);
        self.primitives.reserve(triangles.len());
        self.sides.reserve(triangles.len());
        for (at, t) in triangles.iter().enumerate() {
            let corners = t.map(|v| points[v as usize]);
            let Some(flat) = triangle::facet(&corners).try_normalize(0.0) else { continue };
            if !flat.iter().all(|x| x.is_finite()) {
                continue;
            }
            let normals = t.map(|v| normals[v as usize].try_normalize(0.0).unwrap_or(flat));
            let front = t.map(|v| color::linear(cloth.colors[v as usize]));
            let shape = Shape::Triangle { corners, normals, sides: Some(self.sides.len() as u32) };
            self.primitives.push(Primitive { shape, albedo: front[0], gloss: GLOSS_CLOTH, marked: false });
            self.sides.push(Sides { front, back: cloth.back_colors.get(at).map(|c| color::linear(*c)) });
        }
        Ok(())
    }
}
