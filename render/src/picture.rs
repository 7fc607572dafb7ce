//! The content of a picture, as plain data.

use nalgebra::{Isometry3, Point3, Vector3};

use super::camera::Camera;
use super::cloth::RenderCloth;
use super::sphere::RenderSphere;
use super::surface::RenderSurface;

/// Shape of a body in its own frame.
#[derive(Debug, Clone, PartialEq)]
pub enum BodyShape {
    /// A sphere about the origin.
    Sphere {
        /// Radius \[m\].
        radius: f64,
    },
    /// A box about the origin.
    Box {
        /// Half of each side \[m\].
        half_extents: Vector3<f64>,
    },
    /// A cylinder about z with a hemisphere on each end.
    Capsule {
        /// Radius \[m\].
        radius: f64,
        /// Half of the distance between the centres of the hemispheres \[m\].
        half_length: f64,
    },
    /// A cylinder about z.
    Cylinder {
        /// Radius \[m\].
        radius: f64,
        /// Half of its length \[m\].
        half_length: f64,
    },
    /// An ellipsoid about the origin, its axes along x, y and z.
    Ellipsoid {
        /// Half of each axis \[m\].
        half_axes: Vector3<f64>,
    },
    /// Everything at z <= 0, drawn as an endless floor; it casts no shadow.
    HalfSpace,
    /// A triangle mesh, seen from both sides.
    Mesh {
        /// Vertices \[m\].
        vertices: Vec<Point3<f64>>,
        /// Three vertex indices per triangle.
        triangles: Vec<[u32; 3]>,
        /// Shade with normals averaged over each vertex's triangles instead of flat facets.
        smooth: bool,
    },
}

/// A rigid body or any other solid.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderBody {
    /// Its shape, in its own frame.
    pub shape: BodyShape,
    /// Its own frame to the world.
    pub pose: Isometry3<f64>,
    /// sRGB colour.
    pub color: [u8; 3],
    /// Whether a round solid (sphere, capsule, cylinder, ellipsoid) has a faint checker of the
    /// octants of its frame, so that its rotation is visible; ignored for the others.
    pub marked: bool,
}

/// The content of a picture.
#[derive(Debug, Clone)]
pub struct Picture<'a> {
    /// Width \[pixels\].
    pub width: u32,
    /// Height \[pixels\].
    pub height: u32,
    /// The camera.
    pub camera: Camera,
    /// Particles; those with a coordinate or radius that is not finite, or radius <= 0, are left
    /// out, so that a diverged run can still be drawn.
    pub particles: &'a [RenderSphere],
    /// Surfaces of soft bodies, as [`soft_bodies`](crate::soft_bodies) makes them; triangles with a
    /// vertex that is not finite are left out.
    pub surfaces: &'a [RenderSurface],
    /// Sheets.
    pub cloths: &'a [RenderCloth<'a>],
    /// Bodies.
    pub bodies: &'a [RenderBody],
    /// Height of an endless floor \[m\], with a grid of 0.1 m, or 0.5 m and so on in large scenes;
    /// none: objects are drawn before the background.
    pub ground: Option<f64>,
    /// Direction to the light, world frame, any length; none: from above, the left and behind the
    /// camera.
    pub light: Option<Vector3<f64>>,
    /// One sample of light instead of two for pixels that show one surface, and occlusion at a quarter
    /// of the pixels, as frames of an animation need no more; edges keep all four samples.
    pub draft: bool,
    /// A line of text in the lower left corner.
    pub caption: Option<&'a str>,
}

impl<'a> Picture<'a> {
    /// An empty picture, `width` x `height` pixels, seen from `camera`.
    pub fn new(width: u32, height: u32, camera: Camera) -> Self {
        Self {
            width,
            height,
            camera,
            particles: &[],
            surfaces: &[],
            cloths: &[],
            bodies: &[],
            ground: None,
            light: None,
            draft: false,
            caption: None,
        }
    }
}
