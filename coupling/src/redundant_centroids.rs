//! Centroids of cloth that need no contact of their own.
//!
//! A centroid is the mean of its face's vertices and moves with their mean velocity
//! ([`pliant_mpm::cloth`]). Where all of them are over the same plane, its gap and its normal
//! velocity are the means of theirs, and a contact of its own would be redundant. So over a plane
//! only vertices have contacts; near edges and on curved surfaces, which may lie between the
//! vertices, centroids have contacts as well.

use nalgebra::Point3;
use pliant_mpm::BlockView;
use pliant_mpm::cloth::mesh::LONGEST_EDGE;
use pliant_rigid::Shape;

/// How far from its centroid a face's vertices can be: 2/3 of the longest edge that is allowed,
/// stretched by 1.5 \[cells\].
pub(crate) const VERTEX_DISTANCE: f64 = LONGEST_EDGE;

/// Distance from a point over a plane face to the border of that face, along the face \[m\];
/// infinite if the face has no border, negative if there is no such face.
pub(crate) fn planar_clearance(shape: &Shape, local: &Point3<f64>) -> f64 {
    match shape {
        Shape::HalfSpace => f64::INFINITY,
        Shape::Box { half_extents } => {
            let mut inside = half_extents - local.coords.abs();
            // The face it is over is the nearest one.
            let across = inside.imin();
            inside[across] = f64::INFINITY;
            inside.min()
        }
        _ => f64::NEG_INFINITY,
    }
}

/// Whether particle `i` of the block is the centroid of a face of cloth.
pub(crate) fn is_centroid(view: &BlockView<'_>, i: usize) -> bool {
    view.is_cloth(i) && view.director(i) != nalgebra::Vector3::zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    /// Over a box's upper face the border is as far as the nearest side; above and beside an edge
    /// there is none.
    #[test]
    fn borders_of_a_box() {
        let shape = Shape::Box { half_extents: Vector3::new(0.3, 0.2, 0.1) };
        let around = |x, y, z| planar_clearance(&shape, &Point3::new(x, y, z));
        approx::assert_relative_eq!(around(0.1, 0.15, 0.11), 0.05);
        approx::assert_relative_eq!(around(-0.25, 0.0, -0.09), 0.05);
        assert!(around(0.31, 0.0, 0.105) < 0.0 && around(0.31, 0.21, 0.0) < 0.0);
        assert_eq!(planar_clearance(&Shape::HalfSpace, &Point3::new(1.0, 2.0, 3.0)), f64::INFINITY);
        assert!(planar_clearance(&Shape::Sphere { radius: 1.0 }, &Point3::new(0.0, 0.0, 1.1)) < 0.0);
    }
}
