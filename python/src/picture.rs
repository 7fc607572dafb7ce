//! Pictures of a world.

use std::path::PathBuf;

use nalgebra::Point3;
use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray, PyArray2, PyArray3, PyReadonlyArray3};
use pliant_render::{Camera, GifWriter, Image, encode_png};
use pliant_runner::picture::WorldLook;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::vector;
use crate::errors::{OrRaise, PictureError, refused};
use crate::world::{Held, World};

/// A camera of Python: where it is, what it looks at, and its vertical field of view.
type CameraArguments<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, f64);

/// The look of a scene with another size and camera.
fn look(
    held: &Held,
    size: Option<[u32; 2]>,
    camera: Option<CameraArguments<'_>>,
    caption: Option<String>,
) -> PyResult<WorldLook> {
    let mut look = WorldLook::of(&held.scenario);
    look.size = size.unwrap_or(look.size);
    if let Some((position, target, vertical_fov)) = camera {
        let position = Point3::from(vector("camera position", "m", &position)?);
        let target = Point3::from(vector("camera target", "m", &target)?);
        let down = held.scenario.world.gravity();
        if !(vertical_fov > 0.0 && vertical_fov < std::f64::consts::PI) {
            return Err(refused(format!(
                "camera: a field of view of {vertical_fov} rad must be between 0 and pi"
            )));
        }
        let up = (-down).try_normalize(0.0).unwrap_or_else(nalgebra::Vector3::z);
        look.camera = Some(Camera { position, target, up, vertical_fov });
    }
    look.caption = caption.map_or(look.caption, |text| (!text.is_empty()).then_some(text));
    Ok(look)
}

/// Pictures as the bytes of a GIF animation that loops, each shown for `frame_time` \[s\].
#[pyfunction]
pub fn gif<'py>(
    py: Python<'py>,
    pictures: Vec<PyReadonlyArray3<'py, u8>>,
    frame_time: f64,
) -> PyResult<Bound<'py, PyBytes>> {
    let Some(first) = pictures.first().map(|picture| picture.as_array().dim()) else {
        return Err(refused("pictures: an animation needs one or more"));
    };
    let side = |side: usize| u32::try_from(side).or_raise::<PictureError>();
    let (height, width) = (side(first.0)?, side(first.1)?);
    let mut writer = GifWriter::new(Vec::new(), width, height, frame_time).or_raise::<PictureError>()?;
    for (number, picture) in pictures.iter().enumerate() {
        let pixels = picture.as_array();
        if pixels.dim() != (first.0, first.1, 3) {
            return Err(refused(format!(
                "pictures[{number}]: its shape is {:?}; it must be ({height}, {width}, 3)",
                pixels.dim()
            )));
        }
        let image = Image { width, height, pixels: pixels.iter().copied().collect() };
        writer.add(&image).or_raise::<PictureError>()?;
    }
    Ok(PyBytes::new(py, &writer.finish().or_raise::<PictureError>()?))
}

/// A picture and its depths in Python.
type Drawn<'py> = (Bound<'py, PyArray3<u8>>, Bound<'py, PyArray2<f32>>);

impl World {
    fn drawn<'py>(
        &self,
        py: Python<'py>,
        size: Option<[u32; 2]>,
        camera: Option<CameraArguments<'py>>,
        caption: Option<String>,
        draft: bool,
    ) -> PyResult<Drawn<'py>> {
        let mut held = self.lock()?;
        let look = WorldLook { draft, ..look(&held, size, camera, caption)? };
        let pool = held.pool()?;
        let Held { scenario, kept, .. } = &mut *held;
        let draw = || pool.install(|| look.picture_with_depth(&mut scenario.world, kept));
        let (image, depth) = py.detach(draw).or_raise::<PictureError>()?;
        let (height, width) = (image.height as usize, image.width as usize);
        let pixels = Array3::from_shape_vec((height, width, 3), image.pixels).or_raise::<PictureError>()?;
        let depth = Array2::from_shape_vec((height, width), depth).or_raise::<PictureError>()?;
        Ok((pixels.into_pyarray(py), depth.into_pyarray(py)))
    }
}

#[pymethods]
impl World {
    /// A picture: rows from the top, 3 bytes (red, green, blue) a pixel.
    #[pyo3(signature = (size = None, camera = None, caption = None, *, draft = false))]
    fn picture<'py>(
        &self,
        py: Python<'py>,
        size: Option<[u32; 2]>,
        camera: Option<CameraArguments<'py>>,
        caption: Option<String>,
        draft: bool,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        Ok(self.drawn(py, size, camera, caption, draft)?.0)
    }

    /// A picture and the depth of its pixels \[m\], both of one drawing.
    #[pyo3(signature = (size = None, camera = None, caption = None, *, draft = false))]
    fn picture_with_depth<'py>(
        &self,
        py: Python<'py>,
        size: Option<[u32; 2]>,
        camera: Option<CameraArguments<'py>>,
        caption: Option<String>,
        draft: bool,
    ) -> PyResult<Drawn<'py>> {
        self.drawn(py, size, camera, caption, draft)
    }

    /// Depth of a picture along the viewing direction \[m\]; infinite where there is nothing.
    #[pyo3(signature = (size = None, camera = None))]
    fn depth<'py>(
        &self,
        py: Python<'py>,
        size: Option<[u32; 2]>,
        camera: Option<CameraArguments<'py>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let mut held = self.lock()?;
        let look = look(&held, size, camera, None)?;
        let (pool, world) = (held.pool()?, &mut held.scenario.world);
        let depth = py.detach(|| pool.install(|| look.depth(world))).or_raise::<PictureError>()?;
        let shape = (look.size[1] as usize, look.size[0] as usize);
        Ok(Array2::from_shape_vec(shape, depth).or_raise::<PictureError>()?.into_pyarray(py))
    }

    /// A picture as the bytes of a PNG file.
    #[pyo3(signature = (size = None, camera = None, caption = None))]
    fn png<'py>(
        &self,
        py: Python<'py>,
        size: Option<[u32; 2]>,
        camera: Option<CameraArguments<'py>>,
        caption: Option<String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut held = self.lock()?;
        let look = look(&held, size, camera, caption)?;
        let (pool, world) = (held.pool()?, &mut held.scenario.world);
        let image = py.detach(|| pool.install(|| look.picture(world))).or_raise::<PictureError>()?;
        let mut bytes = Vec::new();
        encode_png(&image, &mut bytes).or_raise::<PictureError>()?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn _repr_png_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.png(py, None, None, None)
    }

    /// Writes a picture as a PNG file, complete or not at all.
    fn write_picture(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let mut held = self.lock()?;
        let look = look(&held, None, None, None)?;
        let (pool, world) = (held.pool()?, &mut held.scenario.world);
        py.detach(|| pool.install(|| look.write_picture(world, &path))).or_raise::<PictureError>()
    }

    /// Writes the particles as a PLY file, complete or not at all.
    fn write_frame(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let mut held = self.lock()?;
        let look = look(&held, None, None, None)?;
        let (pool, world) = (held.pool()?, &mut held.scenario.world);
        py.detach(|| pool.install(|| look.write_frame(world, &path))).or_raise::<PictureError>()
    }

    /// Shows the world: in a notebook below the cell, else in a window of the system's viewer.
    fn show(slf: &Bound<'_, Self>) -> PyResult<()> {
        slf.py().import("pliant.notebook")?.call_method1("show", (slf,)).map(drop)
    }
}
