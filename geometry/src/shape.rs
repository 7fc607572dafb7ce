//! The shapes, and queries of their distances.

use nalgebra::{Point3, Vector3};

use crate::error::{GeometryError, is_size};
use crate::height_field::HeightField;
use crate::hull::ConvexHull;
use crate::mesh::TriangleMesh;
use crate::surface::SurfacePoint;
use crate::{ellipsoid, primitives};

/// A closed solid in its own frame. Lengths in metres.
#[derive(Clone, Debug)]
pub enum Shape {
    /// The solid is z <= 0. It has no bounds and no mass.
    HalfSpace,
    /// An axis-aligned box centred on the origin. Features: faces +x, -x, +y, -y, +z, -z are 0 to
    /// 5.
    Box {
        /// Half of each edge \[m\].
        half_extents: Vector3<f64>,
    },
    /// A sphere centred on the origin. Feature 0.
    Sphere {
        /// Radius \[m\].
        radius: f64,
    },
    /// A cylinder along z with a hemisphere on each end, centred on the origin. Feature 0.
    Capsule {
        /// Radius \[m\].
        radius: f64,
        /// Half of the length of the cylindrical part, without the ends \[m\].
        half_length: f64,
    },
    /// A cylinder along z, centred on the origin. Features: side 0, cap at +z 1, cap at -z 2.
    Cylinder {
        /// Radius \[m\].
        radius: f64,
        /// Half of the length \[m\].
        half_length: f64,
    },
    /// The convex hull of points. Features: faces (coplanar triangles are one face).
    ConvexHull(ConvexHull),
    /// A closed triangle mesh, convex or not. Features: triangles.
    Mesh(TriangleMesh),
    /// An ellipsoid centred on the origin, its axes along x, y, z. Feature 0.
    Ellipsoid {
        /// Semi-axes along x, y, z \[m\].
        semi_axes: Vector3<f64>,
    },
    /// Terrain: the solid below a grid of heights. Features: triangles of its mesh.
    HeightField(HeightField),
}

impl Shape {
    /// Exact signed distance \[m\] from `p` (shape frame, m) to the nearest point of the surface,
    /// inside and outside. The result for a point that is not finite is undefined.
    pub fn surface_point(&self, p: &Point3<f64>) -> SurfacePoint {
        match self {
            Shape::HalfSpace => primitives::half_space(p),
            Shape::Box { half_extents } => primitives::cuboid(half_extents, p),
            Shape::Sphere { radius } => primitives::sphere(*radius, p),
            Shape::Capsule { radius, half_length } => primitives::capsule(*radius, *half_length, p),
            Shape::Cylinder { radius, half_length } => primitives::cylinder(*radius, *half_length, p),
            Shape::ConvexHull(hull) => hull.surface_point(p),
            Shape::Mesh(mesh) => mesh.surface_point(p),
            Shape::Ellipsoid { semi_axes } => ellipsoid::ellipsoid(semi_axes, p),
            Shape::HeightField(field) => field.mesh().surface_point(p),
        }
    }

    /// Signed distance for a point that entered through feature `side`, measured from that feature,
    /// so that the normal does not flip when the point is past the middle of a thin plate, or was
    /// pressed out on the far side.
    ///
    /// It is negative as long as the point is behind the feature: inside, or outside in its shadow,
    /// which is where a line along the feature's outward normal goes through the solid before it
    /// leaves through that side.
    ///
    /// - Box, and caps of a cylinder: measured from exactly that face; its shadow is bounded by the
    ///   face's edges.
    /// - Side of a cylinder: measured from the side inside. It has no shadow: outside, the nearest
    ///   surface counts.
    /// - Hull and mesh: measured from the face that is nearest among those that face within 60
    ///   degrees of `side`, so that a point may slide around a faceted round surface; the returned
    ///   feature is the one to pass next. The shadow of a mesh ends where the direction to the
    ///   nearest point of those faces is more than 26 degrees off the face's normal, and ignores
    ///   other parts of the mesh in between.
    /// - Smooth shapes, points before the feature or beside its shadow, and a `side` that does not
    ///   exist: the nearest surface, as [`surface_point`](Self::surface_point).
    pub fn surface_point_from(&self, p: &Point3<f64>, side: u32) -> SurfacePoint {
        let nearest = self.surface_point(p);
        if nearest.feature == side {
            return nearest;
        }
        match self {
            Shape::Box { half_extents } => primitives::cuboid_from(half_extents, p, side).unwrap_or(nearest),
            Shape::Cylinder { radius, half_length } => {
                primitives::cylinder_from(*radius, *half_length, p, side).unwrap_or(nearest)
            }
            Shape::ConvexHull(hull) => hull.surface_point_from(p, side, nearest).unwrap_or(nearest),
            Shape::Mesh(mesh) => mesh.surface_point_from(p, side, nearest).unwrap_or(nearest),
            Shape::HeightField(field) => field.mesh().surface_point_from(p, side, nearest).unwrap_or(nearest),
            Shape::HalfSpace | Shape::Sphere { .. } | Shape::Capsule { .. } | Shape::Ellipsoid { .. } => {
                nearest
            }
        }
    }

    /// Centre and radius \[m\] of a bounding sphere, in the shape's frame; `None` for the
    /// half-space.
    pub fn bounding_sphere(&self) -> Option<(Point3<f64>, f64)> {
        match self {
            Shape::HalfSpace => None,
            Shape::Box { half_extents } => Some((Point3::origin(), half_extents.norm())),
            Shape::Sphere { radius } => Some((Point3::origin(), *radius)),
            Shape::Capsule { radius, half_length } => Some((Point3::origin(), radius + half_length)),
            Shape::Cylinder { radius, half_length } => Some((Point3::origin(), radius.hypot(*half_length))),
            Shape::ConvexHull(hull) => Some(hull.mesh().bounding_sphere()),
            Shape::Mesh(mesh) => Some(mesh.bounding_sphere()),
            Shape::Ellipsoid { semi_axes } => Some((Point3::origin(), semi_axes.max())),
            Shape::HeightField(field) => Some(field.mesh().bounding_sphere()),
        }
    }

    /// A cheap lower bound of the signed distance \[m\] at `p` (shape frame, m): `lower_bound(p) <=
    /// distance`. Exact for the analytic shapes without edges, from the bounding box for hulls,
    /// meshes and height fields.
    pub fn lower_bound(&self, p: &Point3<f64>) -> f64 {
        match self {
            Shape::HalfSpace => p.z,
            Shape::Box { half_extents } => (p.coords.abs() - half_extents).max(),
            Shape::Sphere { radius } => p.coords.norm() - radius,
            Shape::Capsule { radius, half_length } => primitives::capsule(*radius, *half_length, p).distance,
            Shape::Cylinder { radius, half_length } => {
                ((p.x * p.x + p.y * p.y).sqrt() - radius).max(p.z.abs() - half_length)
            }
            Shape::ConvexHull(hull) => hull.mesh().lower_bound(p),
            Shape::Mesh(mesh) => mesh.lower_bound(p),
            Shape::Ellipsoid { semi_axes } => ellipsoid::lower_bound(semi_axes, p),
            Shape::HeightField(field) => field.mesh().lower_bound(p),
        }
    }

    /// A lower bound of the signed distance \[m\] of all points within `reach` (m, each not
    /// negative) of `center` along the axes of the shape's frame.
    pub fn lower_bound_around(&self, center: &Point3<f64>, reach: &Vector3<f64>) -> f64 {
        match self {
            Shape::HalfSpace => center.z - reach.z,
            Shape::Box { half_extents } => (center.coords.abs() - half_extents - reach).max(),
            // No signed distance grows faster than the point moves.
            _ => self.lower_bound(center) - reach.norm(),
        }
    }

    /// Checks that the sizes are from [`SMALLEST_SIZE`](crate::SMALLEST_SIZE) to
    /// [`LARGEST_SIZE`](crate::LARGEST_SIZE) (a capsule's half length may be 0).
    ///
    /// # Errors
    /// [`GeometryError::Size`] with the first field that is not. Hulls, meshes and height fields
    /// were checked when they were made.
    pub fn validate(&self) -> Result<(), GeometryError> {
        let check = |shape, field, value: f64| {
            if is_size(value) { Ok(()) } else { Err(GeometryError::Size { shape, field, value }) }
        };
        match self {
            Shape::HalfSpace | Shape::ConvexHull(_) | Shape::Mesh(_) | Shape::HeightField(_) => Ok(()),
            Shape::Box { half_extents } => {
                check("box", "half_extents.x", half_extents.x)?;
                check("box", "half_extents.y", half_extents.y)?;
                check("box", "half_extents.z", half_extents.z)
            }
            Shape::Sphere { radius } => check("sphere", "radius", *radius),
            Shape::Capsule { radius, half_length } => {
                check("capsule", "radius", *radius)?;
                if *half_length == 0.0 { Ok(()) } else { check("capsule", "half_length", *half_length) }
            }
            Shape::Cylinder { radius, half_length } => {
                check("cylinder", "radius", *radius)?;
                check("cylinder", "half_length", *half_length)
            }
            Shape::Ellipsoid { semi_axes } => {
                check("ellipsoid", "semi_axes.x", semi_axes.x)?;
                check("ellipsoid", "semi_axes.y", semi_axes.y)?;
                check("ellipsoid", "semi_axes.z", semi_axes.z)
            }
        }
    }

    /// The kind of shape in a word, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Shape::HalfSpace => "half-space",
            Shape::Box { .. } => "box",
            Shape::Sphere { .. } => "sphere",
            Shape::Capsule { .. } => "capsule",
            Shape::Cylinder { .. } => "cylinder",
            Shape::ConvexHull(_) => "convex hull",
            Shape::Mesh(_) => "mesh",
            Shape::Ellipsoid { .. } => "ellipsoid",
            Shape::HeightField(_) => "height field",
        }
    }
}
