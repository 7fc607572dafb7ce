//! What a picture shows, and from where.

use nalgebra::Vector3;

use super::camera::Basis;
use super::error::{MAX_PIXELS, RenderError};
use super::occlusion::Occlusion;
use super::picture::Picture;
use super::pixels::Image;
use super::primitive::RenderScene;
use super::raster::{Buffer, SUPERSAMPLING};
use super::ray::V3;
use super::shade::{FloorView, Lighting, shade};
use super::shadow::ShadowMap;
use super::view::View;

/// A picture's content, ready for rays.
pub(super) struct LitView {
    pub view: View,
    /// Unit vector to the light.
    pub light: V3,
    pub scene: RenderScene,
}

impl LitView {
    pub fn new(picture: &Picture) -> Result<Self, RenderError> {
        let (width, height) = checked_size(picture)?;
        let basis = picture.camera.basis()?;
        let light = light_direction(picture, &basis)?;
        let scene = RenderScene::new(picture)?;
        let samples = (width * SUPERSAMPLING, height * SUPERSAMPLING);
        Ok(Self { view: View::perspective(&picture.camera, &basis, samples.0, samples.1), light, scene })
    }

    /// The image of a `buffer`; `bare` has its pixels without the solids.
    pub fn shaded(&self, picture: &Picture, buffer: &Buffer, bare: Option<&[u8]>) -> Image {
        let (center, radius) = self.scene.bounding_sphere();
        // Samples of light for a pixel within one surface, and pixels from one look at the occlusion
        // to the next.
        let (inner, stride) = if picture.draft { (1, 2) } else { (2, 1) };
        let occlusion = Occlusion::new(&self.view, buffer, &self.scene, radius, stride);
        let shadow =
            ShadowMap::new(&self.scene, self.light, (center, radius), self.view.height, picture.draft);
        let floor = FloorView::new(&picture.camera);
        let lighting = Lighting { direction: self.light, shadow, occlusion, floor };
        shade(&self.view, buffer, &self.scene, &lighting, inner, bare)
    }
}

/// Width and height of a picture that can be drawn \[pixels\].
pub(super) fn checked_size(picture: &Picture) -> Result<(usize, usize), RenderError> {
    let (width, height) = (picture.width, picture.height);
    if width == 0 || height == 0 || u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(RenderError::Size { width, height });
    }
    Ok((width as usize, height as usize))
}

/// Unit vector to the light.
fn light_direction(picture: &Picture, basis: &Basis) -> Result<Vector3<f32>, RenderError> {
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
