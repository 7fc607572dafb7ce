//! Mass, centre of mass and inertia of homogeneous solids.

use super::Shape;
use super::volume::mesh_mass;
use nalgebra::{Matrix3, Point3, Vector3};
use std::f64::consts::PI;

impl Shape {
    /// Mass \[kg\], centre of mass \[m\] and inertia about it \[kg m^2\], in the shape frame, of
    /// the solid filled with `density` \[kg/m^3\]; `None` for the half-space.
    pub fn mass_properties(&self, density: f64) -> Option<(f64, Point3<f64>, Matrix3<f64>)> {
        let centred = |mass: f64, diagonal: Vector3<f64>| {
            Some((mass, Point3::origin(), Matrix3::from_diagonal(&(diagonal * mass))))
        };
        match self {
            Shape::HalfSpace => None,
            Shape::Box { half_extents: h } => {
                let s = h.component_mul(h) / 3.0;
                centred(8.0 * density * h.x * h.y * h.z, Vector3::new(s.y + s.z, s.z + s.x, s.x + s.y))
            }
            Shape::Sphere { radius: r } => {
                centred(density * 4.0 / 3.0 * PI * r.powi(3), Vector3::repeat(0.4 * r * r))
            }
            Shape::Capsule { radius: r, half_length: h } => {
                let middle = density * PI * r * r * 2.0 * h;
                let ends = density * 4.0 / 3.0 * PI * r.powi(3);
                // Each hemisphere has its centre of mass 3 r/8 beyond the end of the cylinder.
                let axial = middle * r * r / 2.0 + ends * 0.4 * r * r;
                let across =
                    middle * (h * h / 3.0 + r * r / 4.0) + ends * (0.4 * r * r + h * h + 0.75 * h * r);
                let mass = middle + ends;
                centred(mass, Vector3::new(across, across, axial) / mass)
            }
            Shape::Cylinder { radius: r, half_length: h } => {
                let across = h * h / 3.0 + r * r / 4.0;
                centred(density * PI * r * r * 2.0 * h, Vector3::new(across, across, r * r / 2.0))
            }
            Shape::ConvexHull(hull) => {
                Some(mesh_mass(hull.mesh().vertices(), hull.mesh().triangles(), density))
            }
            Shape::Mesh(mesh) => Some(mesh_mass(mesh.vertices(), mesh.triangles(), density)),
            Shape::Ellipsoid { semi_axes: a } => {
                let s = a.component_mul(a) / 5.0;
                let mass = density * 4.0 / 3.0 * PI * a.x * a.y * a.z;
                centred(mass, Vector3::new(s.y + s.z, s.z + s.x, s.x + s.y))
            }
            Shape::HeightField(field) => {
                Some(mesh_mass(field.mesh().vertices(), field.mesh().triangles(), density))
            }
        }
    }
}
