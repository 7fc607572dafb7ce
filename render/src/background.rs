//! Floors and sky, which frames of an animation share, and pictures of one camera as a world goes on.

use super::camera::Camera;
use super::error::RenderError;
use super::lit_view::LitView;
use super::picture::Picture;
use super::primitive::{Plane, RenderScene};
use super::raster::{Buffer, floors};
use super::ray::V3;

/// What a picture shows without its solids. Pictures with the same size, camera, light, floors and
/// `draft` may share one: see [`render_before`](crate::render_before).
pub struct Background {
    common: Common,
    /// Depth and floor of each sample.
    buffer: Buffer,
    /// sRGB bytes of each pixel.
    pixels: Vec<u8>,
}

/// What pictures with one background have in common.
#[derive(PartialEq)]
struct Common {
    size: [u32; 2],
    camera: Camera,
    light: V3,
    planes: Vec<Plane>,
    draft: bool,
}

impl Common {
    fn new(picture: &Picture, lit: &LitView) -> Self {
        Self {
            size: [picture.width, picture.height],
            camera: picture.camera,
            light: lit.light,
            planes: lit.scene.planes.clone(),
            draft: picture.draft,
        }
    }
}

impl Background {
    /// The background of a picture.
    ///
    /// # Errors
    /// [`RenderError`]: an invalid size, camera, light or mesh.
    pub fn new(picture: &Picture) -> Result<Self, RenderError> {
        let lit = LitView::new(picture)?;
        let planes = lit.scene.planes.clone();
        let buffer = floors(&lit.view, &planes);
        let bare = RenderScene { primitives: Vec::new(), planes, sides: Vec::new() };
        let bare = LitView { view: lit.view, light: lit.light, scene: bare };
        let pixels = bare.shaded(picture, &buffer, None).pixels;
        Ok(Self { common: Common::new(picture, &lit), buffer, pixels })
    }

    /// Whether it is that of a picture.
    pub(super) fn fits(&self, picture: &Picture, lit: &LitView) -> bool {
        self.common == Common::new(picture, lit)
    }

    /// The samples, to be drawn over.
    pub(super) fn buffer(&self) -> Buffer {
        self.buffer.clone()
    }

    pub(super) fn pixels(&self) -> &[u8] {
        &self.pixels
    }
}

/// The background of the pictures that one camera makes one after the other. It is made once two in
/// turn share it, so that a camera that moves costs nothing.
#[derive(Default)]
pub struct KeptBackground {
    last: Option<Common>,
    made: Option<Background>,
}

impl KeptBackground {
    /// The background of a picture, if the one before had the same.
    ///
    /// # Errors
    /// [`RenderError`]: an invalid size, camera, light or mesh.
    pub(super) fn of(
        &mut self,
        picture: &Picture,
        lit: &LitView,
    ) -> Result<Option<&Background>, RenderError> {
        let common = Common::new(picture, lit);
        if self.last.as_ref() != Some(&common) {
            (self.last, self.made) = (Some(common), None);
        } else if self.made.is_none() {
            self.made = Some(Background::new(picture)?);
        }
        Ok(self.made.as_ref())
    }
}
