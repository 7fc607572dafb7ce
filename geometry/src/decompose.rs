//! Decomposition of a mesh into convex parts.

use nalgebra::{Point3, Vector3};

use super::{ConvexHull, GeometryError, convert, signed_volume, topology};

/// Least part of the volume of a solid that its parts must have.
const KEPT: f64 = 0.95;

/// How finely a mesh is decomposed, as V-HACD has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fineness {
    /// Largest concavity of a part, as a part of the volume of the whole hull, from 0 to 1.
    pub concavity: f64,
    /// Most parts, at least 4. Parts are halved: what counts is the power of two up to it.
    pub parts: u32,
    /// Voxels along the longest side.
    pub resolution: u32,
}

/// The convex parts of the solid that a surface encloses, by parry's V-HACD (Mamou, Volumetric
/// hierarchical approximate convex decomposition, 2016): the corners of each \[m\]. Each part is
/// the hull of the surface within its voxels and of the voxels at its cuts, or of all its voxels
/// where these hulls would lose more than a twentieth of the volume. A surface with gaps would
/// become hollow: it has one part, its hull. The same bits for the same surface and fineness; no
/// random numbers are drawn.
///
/// # Errors
/// No triangles, coordinates that are not finite, indices out of range, points that span no volume.
pub fn convex_parts(
    vertices: &[Point3<f64>],
    triangles: &[[u32; 3]],
    fineness: &Fineness,
) -> Result<Vec<ConvexHull>, GeometryError> {
    if triangles.is_empty() {
        return Err(GeometryError::Empty { shape: "mesh", what: "triangles" });
    }
    topology::check_vertices("mesh", vertices)?;
    topology::check_indices(vertices, triangles)?;
    let (low, high) = vertices.iter().fold((vertices[0], vertices[0]), |(l, h), v| (l.inf(v), h.sup(v)));
    let (center, size) = (nalgebra::center(&low, &high), (high - low).max());
    if size <= 0.0 {
        let reason = "they do not span a volume".to_owned();
        return Err(GeometryError::Hull { points: vertices.len(), reason });
    }
    // Voxels of a size near 1 whatever the unit of the mesh.
    let scaled: Vec<Vector3<f64>> = vertices.iter().map(|v| (v - center) / size).collect();
    let Fineness { concavity, parts, resolution } = *fineness;
    let parts = convert::voxel_parts(&scaled, triangles, concavity, parts, resolution);
    let hull = |points: &[Vector3<f64>]| {
        let points: Vec<_> = points.iter().map(|p| center + p * size).collect();
        // Made again of its own vertices it is the same after it was stored.
        ConvexHull::new(ConvexHull::new(&points)?.mesh().vertices())
    };
    let volume = |hull: &ConvexHull| signed_volume(hull.mesh().vertices(), hull.mesh().triangles());
    let whole = ConvexHull::new(vertices)?;
    let least = KEPT * signed_volume(vertices, triangles).abs().min(volume(&whole));
    let is_solid = |hulls: &[ConvexHull]| hulls.iter().map(volume).sum::<f64>() >= least;
    // A part whose surface is flat, or has none, is what its voxels are.
    let fine = parts.iter().map(|[points, voxels]| hull(points).or_else(|_| hull(voxels)));
    let fine = fine.collect::<Result<Vec<_>, _>>()?;
    if is_solid(&fine) {
        return Ok(fine);
    }
    // Cuts through what is thinner than voxels lose its inside.
    let coarse = parts.iter().map(|[_, voxels]| hull(voxels)).collect::<Result<Vec<_>, _>>()?;
    Ok(if is_solid(&coarse) { coarse } else { vec![whole] })
}
