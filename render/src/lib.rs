//! Pictures of particles, cloth and bodies on the CPU: spheres, triangles and solids by ray casting in screen tiles, one key light with
//! a contact-hardening shadow, hemispheric ambient light with screen-space occlusion, 2 x 2 samples a pixel.
//!
//! The input is plain data, so a picture can be made of a running simulation, of a frame file or of nothing at all.
//! World frame: right-handed, z up, metres. The same input gives the same bytes, whatever the number of threads.

mod camera;
mod cloth;
mod color;
mod font;
mod gif;
mod heat;
mod image_file;
mod occlusion;
pub mod plot;
mod primitive;
mod raster;
mod shade;
mod shadow;
mod triangle;

pub use camera::Camera;
pub use cloth::{RenderCloth, back_color};
pub use color::viridis;
pub use gif::GifWriter;
pub use heat::{HeatMap, heat_map};
pub use image_file::{encode_png, write_png};

use nalgebra::{Isometry3, Point3, Vector3};

use occlusion::Occlusion;
use primitive::RenderScene;
use raster::{View, add_planes, rasterise};
use shade::{FloorView, Lighting, shade};
use shadow::ShadowMap;

/// Samples along each side of a pixel.
const SUPERSAMPLING: usize = 2;

/// Largest picture: 64 megapixels, so that a typing error does not take all memory.
const MAX_PIXELS: u64 = 1 << 26;

/// A particle. World frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RenderSphere {
    /// Centre [m].
    pub center: [f32; 3],
    /// Radius [m]; 0.6 of the particle spacing closes the surface of a filled solid.
    pub radius: f32,
    /// sRGB colour.
    pub color: [u8; 3],
}

/// Shape of a body in its own frame.
#[derive(Debug, Clone, PartialEq)]
pub enum BodyShape {
    /// A ball about the origin.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// A box about the origin.
    Box {
        /// Half of each side [m].
        half_extents: Vector3<f64>,
    },
    /// A cylinder about z with a half ball on each end.
    Capsule {
        /// Radius [m].
        radius: f64,
        /// Half of the distance between the centres of the end balls [m].
        half_length: f64,
    },
    /// A cylinder about z.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Half of its length [m].
        half_length: f64,
    },
    /// An ellipsoid about the origin, its axes along x, y and z.
    Ellipsoid {
        /// Half of each axis [m].
        half_axes: Vector3<f64>,
    },
    /// Everything at z <= 0, drawn as an endless floor; it casts no shadow.
    HalfSpace,
    /// A triangle mesh, seen from both sides.
    Mesh {
        /// Vertices [m].
        vertices: Vec<Point3<f64>>,
        /// Three vertex indices a triangle.
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
    /// Whether a round solid (sphere, capsule, cylinder, ellipsoid) bears a faint checker of the octants of its frame, so that it can be
    /// seen to turn; nothing to the others.
    pub marked: bool,
}

/// What to draw.
#[derive(Debug, Clone)]
pub struct Picture<'a> {
    /// Width [pixels].
    pub width: u32,
    /// Height [pixels].
    pub height: u32,
    /// Where from.
    pub camera: Camera,
    /// Particles; those with a coordinate or radius that is not finite, or radius <= 0, are left out, so that a run
    /// that blew up can still be looked at.
    pub particles: &'a [RenderSphere],
    /// Sheets.
    pub cloths: &'a [RenderCloth<'a>],
    /// Bodies.
    pub bodies: &'a [RenderBody],
    /// Height of an endless floor [m], with a grid of 0.1 m, or 0.5 m and so on in large scenes; none: objects float before the background.
    pub ground: Option<f64>,
    /// Direction to the light, world frame, any length; none: from above, the left and behind the camera.
    pub light: Option<Vector3<f64>>,
    /// A line of text in the lower left corner.
    pub caption: Option<&'a str>,
}

impl<'a> Picture<'a> {
    /// An empty picture, `width` x `height` pixels, seen from `camera`.
    pub fn new(width: u32, height: u32, camera: Camera) -> Self {
        let (particles, cloths, bodies) = (&[], &[], &[]);
        Self { width, height, camera, particles, cloths, bodies, ground: None, light: None, caption: None }
    }
}

/// 8-bit sRGB pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Width [pixels].
    pub width: u32,
    /// Height [pixels].
    pub height: u32,
    /// Rows from the top, three bytes (red, green, blue) a pixel.
    pub pixels: Vec<u8>,
}

impl Image {
    /// Colour of the pixel in column `x` from the left and row `y` from the top; none outside.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let start = 3 * (y as usize * self.width as usize + x as usize);
        self.pixels.get(start..start + 3).map(|p| [p[0], p[1], p[2]])
    }
}

/// Why a picture cannot be made.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum RenderError {
    /// No pixels, or more than 64 million.
    #[error("a picture must have 1 to {MAX_PIXELS} pixels, got {width} x {height}")]
    Size {
        /// Width [pixels].
        width: u32,
        /// Height [pixels].
        height: u32,
    },
    /// The camera has no direction, looks along its own up vector, or has a field of view outside (0, pi).
    #[error("the camera is degenerate: {0}")]
    Camera(String),
    /// A mesh names a vertex that is not there.
    #[error("body {body}: triangle {triangle} names a vertex that is not there")]
    Mesh {
        /// Number of the body, from 0.
        body: usize,
        /// Number of the triangle, from 0.
        triangle: usize,
    },
    /// Cloth names a vertex that is not there.
    #[error("cloth {cloth}: triangle {triangle} names a vertex that is not there or has no colour")]
    RenderCloth {
        /// Number of the cloth, from 0.
        cloth: usize,
        /// Number of the triangle, from 0.
        triangle: usize,
    },
    /// The backs of cloth have neither no colour nor one each.
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

/// Draws the picture.
///
/// # Errors
/// [`RenderError`]: a size, camera, light or mesh that makes no picture.
pub fn render(picture: &Picture) -> Result<Image, RenderError> {
    let (width, height) = (picture.width, picture.height);
    if width == 0 || height == 0 || u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(RenderError::Size { width, height });
    }
    let basis = picture.camera.basis()?;
    let light = light_direction(picture, &basis)?;
    let scene = RenderScene::new(picture)?;
    let samples = (width as usize * SUPERSAMPLING, height as usize * SUPERSAMPLING);
    let view = View::perspective(&picture.camera, &basis, samples.0, samples.1);
    let mut buffer = rasterise(&view, &scene.primitives);
    add_planes(&view, &scene, &mut buffer);
    let (center, radius) = scene.bounding_sphere();
    let occlusion = Occlusion::new(&view, &buffer, &scene, radius);
    let shadow = ShadowMap::new(&scene, light, center, radius, view.height);
    let lighting = Lighting { direction: light, shadow, occlusion, floor: FloorView::new(&picture.camera) };
    let mut image = shade(&view, &buffer, &scene, &lighting);
    if let Some(caption) = picture.caption {
        font::draw_caption(&mut image, caption);
    }
    Ok(image)
}

/// Unit vector to the light.
fn light_direction(picture: &Picture, basis: &camera::Basis) -> Result<Vector3<f32>, RenderError> {
    let direction = picture.light.unwrap_or_else(|| {
        // From the left of the camera and a little behind it, so that shadows fall to the right and away.
        let vertical = picture.camera.up.normalize();
        let flat = basis.forward - vertical * basis.forward.dot(&vertical);
        let flat = flat.try_normalize(1e-6).unwrap_or(basis.up);
        vertical * 1.25 - basis.right * 0.8 - flat * 0.35
    });
    let unit = direction.try_normalize(1e-12).filter(|d| d.iter().all(|x| x.is_finite()));
    unit.map(|d| d.cast()).ok_or_else(|| RenderError::Light(direction.into()))
}
