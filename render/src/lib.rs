//! Pictures of particles, surfaces, cloth and bodies on the CPU: spheres, triangles and solids by ray casting
//! in screen tiles, one key light with a contact-hardening shadow, hemispheric ambient light with
//! screen-space occlusion, 2 x 2 samples per pixel.
//!
//! The input is plain data, so a picture can be made of a running simulation, of a frame file or of
//! nothing at all. World frame: right-handed, z up, metres. The same input gives the same bytes,
//! whatever the number of threads.

mod background;
mod box_outline;
mod camera;
mod cloth;
mod cohesion;
mod color;
mod error;
mod flat_triangle;
mod font;
mod gif;
mod heat;
mod image_file;
mod lit_view;
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
mod view;
mod weave;

pub use background::{Background, KeptBackground};
pub use camera::Camera;
pub use cloth::{RenderCloth, back_color};
pub use color::viridis;
pub use error::RenderError;
pub use gif::GifWriter;
pub use heat::{HeatMap, heat_map};
pub use image_file::{encode_png, write_png};
pub use neighbors::Neighbors;
pub use picture::{BodyShape, Picture, RenderBody};
pub use pixels::Image;
pub use sphere::RenderSphere;
pub use surface::{RenderSurface, SoftBodies, SurfaceError, soft_bodies, soft_bodies_and_grains};
pub use weave::weave_coordinates;

use lit_view::LitView;
use raster::{Buffer, SUPERSAMPLING, floors, rasterise};
use view::View;

/// Draws the picture.
///
/// # Errors
/// [`RenderError`]: an invalid size, camera, light or mesh.
pub fn render(picture: &Picture) -> Result<Image, RenderError> {
    let lit = LitView::new(picture)?;
    Ok(drawn(picture, &lit, floors(&lit.view, &lit.scene.planes), None))
}

/// Draws the picture before a background that was made for another one, as for the frames of an
/// animation. The bytes are those of [`render`], in less time; a background that does not fit is not
/// used.
///
/// # Errors
/// [`RenderError`]: an invalid size, camera, light or mesh.
pub fn render_before(picture: &Picture, background: &Background) -> Result<Image, RenderError> {
    let lit = LitView::new(picture)?;
    if background.fits(picture, &lit) {
        Ok(drawn(picture, &lit, background.buffer(), Some(background.pixels())))
    } else {
        Ok(drawn(picture, &lit, floors(&lit.view, &lit.scene.planes), None))
    }
}

/// Draws the solids in front of the floors; `bare` has the pixels without solids.
fn drawn(picture: &Picture, lit: &LitView, floors: Buffer, bare: Option<&[u8]>) -> Image {
    finished(picture, lit, &rasterise(&lit.view, &lit.scene.primitives, floors), bare)
}

/// Light and caption on what is seen.
fn finished(picture: &Picture, lit: &LitView, seen: &Buffer, bare: Option<&[u8]>) -> Image {
    let mut image = lit.shaded(picture, seen, bare);
    if let Some(caption) = picture.caption {
        font::draw_caption(&mut image, caption);
    }
    image
}

/// How far what a picture shows is from the camera, along its viewing direction \[m\]: rows from the
/// top, one number for each pixel, that of the nearest of its samples; infinite where there is
/// nothing. Light and caption do not count.
///
/// # Errors
/// [`RenderError`]: an invalid size, camera, light or mesh.
pub fn render_depth(picture: &Picture) -> Result<Vec<f32>, RenderError> {
    let LitView { view, scene, .. } = LitView::new(picture)?;
    Ok(depths(&view, &rasterise(&view, &scene.primitives, floors(&view, &scene.planes))))
}

/// The picture of [`render`] and the depths of [`render_depth`], both of one drawing, in less time
/// where the picture before was made by the same camera.
///
/// # Errors
/// [`RenderError`]: an invalid size, camera, light or mesh.
pub fn render_with_depth(
    picture: &Picture,
    kept: &mut KeptBackground,
) -> Result<(Image, Vec<f32>), RenderError> {
    let lit = LitView::new(picture)?;
    let background = kept.of(picture, &lit)?;
    let floors = background.map_or_else(|| floors(&lit.view, &lit.scene.planes), Background::buffer);
    let seen = rasterise(&lit.view, &lit.scene.primitives, floors);
    let image = finished(picture, &lit, &seen, background.map(Background::pixels));
    Ok((image, depths(&lit.view, &seen)))
}

/// Depth of each pixel \[m\].
fn depths(view: &View, buffer: &Buffer) -> Vec<f32> {
    let (width, height) = (view.width / SUPERSAMPLING, view.height / SUPERSAMPLING);
    let depth = |x: usize, y: usize| {
        let along = view.ray(x as f32 + 0.5, y as f32 + 0.5).direction.dot(&view.forward);
        buffer.depth[y * view.width + x] * along
    };
    let nearest = |pixel: usize| {
        let (x, y) = (pixel % width * SUPERSAMPLING, pixel / width * SUPERSAMPLING);
        let samples = (y..y + SUPERSAMPLING).flat_map(|y| (x..x + SUPERSAMPLING).map(move |x| (x, y)));
        samples.map(|(x, y)| depth(x, y)).fold(f32::INFINITY, f32::min)
    };
    (0..width * height).map(nearest).collect()
}
