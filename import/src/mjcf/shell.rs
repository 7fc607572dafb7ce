//! Figures of thin shells.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};
use pliant_geometry::Shape;

/// Area \[m^2\] and inertia about the centre for a unit mass on each area \[kg m^2\] of a solid's
/// surface; `None` for solids without a closed form.
pub(super) fn figures(shape: &Shape) -> Option<(f64, Matrix3<f64>)> {
    let (area, diagonal) = match *shape {
        Shape::Sphere { radius: r } => {
            let area = 4.0 * PI * r * r;
            (area, Vector3::repeat(2.0 / 3.0 * area * r * r))
        }
        Shape::Box { half_extents: h } => {
            // Two faces across each axis.
            let faces = Vector3::new(h.y * h.z, h.x * h.z, h.x * h.y) * 8.0;
            let area = faces.sum();
            // The second moment along an axis: faces across it are at its ends, others spread.
            let second = |k: usize| h[k] * h[k] * (faces[k] + (area - faces[k]) / 3.0);
            let (x, y, z) = (second(0), second(1), second(2));
            (area, Vector3::new(y + z, x + z, x + y))
        }
        Shape::Cylinder { radius: r, half_length: h } => {
            let (side, disks) = (4.0 * PI * r * h, 2.0 * PI * r * r);
            let across = side * (r * r / 2.0 + h * h / 3.0) + disks * (r * r / 4.0 + h * h);
            (side + disks, Vector3::new(across, across, (side + disks / 2.0) * r * r))
        }
        Shape::Capsule { radius: r, half_length: h } => {
            let (side, caps) = (4.0 * PI * r * h, 4.0 * PI * r * r);
            // The centroid of a hemisphere is r/2 from its base.
            let across = side * (r * r / 2.0 + h * h / 3.0) + caps * (2.0 / 3.0 * r * r + h * h + h * r);
            (side + caps, Vector3::new(across, across, (side + caps * 2.0 / 3.0) * r * r))
        }
        _ => return None,
    };
    Some((area, Matrix3::from_diagonal(&diagonal)))
}
