//! Pictures of particles, surfaces, cloth and bodies on the CPU: spheres, triangles and solids by ray casting
//! in screen tiles, one key light with a contact-hardening shadow, hemispheric ambient light with
//! screen-space occlusion, 2 x 2 samples per pixel.
//!
//! The input is plain data, so a picture can be made of a running simulation, of a frame file or of
//! nothing at all. World frame: right-handed, z up, metres. The same input gives the same bytes,
//! whatever the number of threads.

mod camera;
mod cloth;
mod color;
mod error;
mod font;
mod gif;
mod heat;
mod image_file;
mod neighbors;
mod occlusion;
mod picture;
mod pixels;
pub mod plot;
mod primitive;
mod raster;
mod ray;
mod shade;
mod shadow;
mod sphere;
mod surface;
mod triangle;

pub use camera::Camera;
pub use cloth::{RenderCloth, back_color};
pub use color::viridis;
pub use error::RenderError;
pub use gif::GifWriter;
pub use heat::{HeatMap, heat_map};
pub use image_file::{encode_png, write_png};
pub use picture::{BodyShape, Picture, RenderBody};
pub use pixels::Image;
pub use sphere::RenderSphere;
pub use surface::{RenderSurface, SoftBodies, SurfaceError, soft_bodies};

use nalgebra::Vector3;

use error::MAX_PIXELS;
use occlusion::Occlusion;
use primitive::RenderScene;
use raster::{SUPERSAMPLING, View, add_planes, rasterise};
use shade::{FloorView, Lighting, shade};
use shadow::ShadowMap;

/// Draws the picture.
///
/// # Errors
/// [`RenderError`]: an invalid size, camera, light or mesh.
pub fn render(picture: &Picture) -> Result<Image, RenderError> {
    let (width, height) = checked_size(picture)?;
    let basis = picture.camera.basis()?;
    let light = light_direction(picture, &basis)?;
    let scene = RenderScene::new(picture)?;
    let samples = (width * SUPERSAMPLING, height * SUPERSAMPLING);
    let view = View::perspective(&picture.camera, &basis, samples.0, samples.1);
    let mut buffer = rasterise(&view, &scene.primitives);
    add_planes(&view, &scene, &mut buffer);
    let (center, radius) = scene.bounding_sphere();
    let occlusion = Occlusion::new(&view, &buffer, &scene, radius);
    let shadow = ShadowMap::new(&scene, light, center, radius, view.height);
    let lighting = Lighting { direction: light, shadow, occlusion, floor: FloorView::new(&picture.camera) };
    let plain = if picture.draft { 1 } else { 2 };
    let mut image = shade(&view, &buffer, &scene, &lighting, plain);
    if let Some(caption) = picture.caption {
        font::draw_caption(&mut image, caption);
    }
    Ok(image)
}

/// How far what a picture shows is from the camera, along its viewing direction \[m\]: rows from the
/// top, one number for each pixel, that of the nearest of its samples; infinite where there is
/// nothing. Light and caption do not count.
///
/// # Errors
/// [`RenderError`]: an invalid size, camera or mesh.
pub fn render_depth(picture: &Picture) -> Result<Vec<f32>, RenderError> {
    let (width, height) = checked_size(picture)?;
    let basis = picture.camera.basis()?;
    let scene = RenderScene::new(picture)?;
    let view = View::perspective(&picture.camera, &basis, width * SUPERSAMPLING, height * SUPERSAMPLING);
    let mut buffer = rasterise(&view, &scene.primitives);
    add_planes(&view, &scene, &mut buffer);
    let depth = |x: usize, y: usize| {
        let along = view.ray(x as f32 + 0.5, y as f32 + 0.5).direction.dot(&view.forward);
        buffer.depth[y * view.width + x] * along
    };
    let nearest = |pixel: usize| {
        let (x, y) = (pixel % width * SUPERSAMPLING, pixel / width * SUPERSAMPLING);
        let samples = (y..y + SUPERSAMPLING).flat_map(|y| (x..x + SUPERSAMPLING).map(move |x| (x, y)));
        samples.map(|(x, y)| depth(x, y)).fold(f32::INFINITY, f32::min)
    };
    Ok((0..width * height).map(nearest).collect())
}

/// Width and height of a picture that can be drawn \[pixels\].
fn checked_size(picture: &Picture) -> Result<(usize, usize), RenderError> {
    let (width, height) = (picture.width, picture.height);
    if width == 0 || height == 0 || u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(RenderError::Size { width, height });
    }
    Ok((width as usize, height as usize))
}

/// Unit vector to the light.
fn light_direction(picture: &Picture, basis: &camera::Basis) -> Result<Vector3<f32>, RenderError> {
    let direction = picture.light.unwrap_or_else(|| {
        // From the left of the camera and a little behind it, so that shadows fall to the right and
        // away.
        let vertical = picture.camera.up.normalize();
        let flat = basis.forward - vertical * basis.forward.dot(&vertical);
        let flat = flat.try_normalize(1e-6).unwrap_or(basis.up);
        vertical * 1.25 - basis.right * 0.8 - flat * 0.35
    });
    let unit = direction.try_normalize(1e-12).filter(|d| d.iter().all(|x| x.is_finite()));
    unit.map(|d| d.cast()).ok_or_else(|| RenderError::Light(direction.into()))
}
