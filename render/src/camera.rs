//! The camera of a picture.

use nalgebra::{Point3, Vector3};

use super::error::RenderError;

/// A pinhole camera. World frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Its position \[m\].
    pub position: Point3<f64>,
    /// The point in the middle of the picture \[m\].
    pub target: Point3<f64>,
    /// Upward direction in the picture, any length.
    pub up: Vector3<f64>,
    /// Angle between the lower and the upper edge of the picture \[rad\].
    pub vertical_fov: f64,
}

/// Unit vectors of a camera in the world frame.
pub(super) struct Basis {
    pub right: Vector3<f64>,
    pub up: Vector3<f64>,
    pub forward: Vector3<f64>,
}

/// Field of view of `Camera::frame` [rad]: 28 degrees, that of a portrait lens, which distorts
/// little.
const FRAME_FOV: f64 = 28.0 * std::f64::consts::PI / 180.0;

/// Part of the picture that framed bounds fill at most, so that nothing touches the edge.
const FRAME_FILL: f64 = 0.88;

impl Camera {
    /// A camera that shows the whole box between `bounds_min` and `bounds_max` \[m\], centred in
    /// the picture, from a distance that just fits it. It looks from `azimuth` \[rad\] about z from
    /// +x, `elevation` \[rad\] above the horizon (less than pi/2 either way), and the picture is
    /// `aspect` times as wide as high.
    pub fn frame(
        bounds_min: Point3<f64>,
        bounds_max: Point3<f64>,
        azimuth: f64,
        elevation: f64,
        aspect: f64,
    ) -> Self {
        let middle = nalgebra::center(&bounds_min, &bounds_max);
        let to_camera =
            Vector3::new(elevation.cos() * azimuth.cos(), elevation.cos() * azimuth.sin(), elevation.sin());
        let right = Vector3::new(-azimuth.sin(), azimuth.cos(), 0.0);
        let up = to_camera.cross(&right);
        let corners: [Vector3<f64>; 8] = std::array::from_fn(|corner| {
            let pick =
                |axis: usize| if corner >> axis & 1 == 0 { bounds_min[axis] } else { bounds_max[axis] };
            Point3::new(pick(0), pick(1), pick(2)) - middle
        });
        let slope_up = (FRAME_FOV / 2.0).tan() * FRAME_FILL;
        let sideways = fit(&corners, &right, &to_camera, slope_up * aspect);
        let upright = fit(&corners, &up, &to_camera, slope_up);
        // In front of every corner, even of bounds without a size.
        let clear = corners.iter().map(|c| c.dot(&to_camera)).fold(0.0, f64::max) + 1e-3;
        let distance = sideways.1.max(upright.1).max(clear);
        let target = middle + right * sideways.0 + up * upright.0;
        Self { position: target + to_camera * distance, target, up: Vector3::z(), vertical_fov: FRAME_FOV }
    }

    /// Projection of a world point \[m\] to a picture of `width` x `height` pixels: column and row,
    /// from the upper left corner; none behind the camera or for a degenerate camera.
    pub fn project(&self, point: &Point3<f64>, width: u32, height: u32) -> Option<[f64; 2]> {
        let basis = self.basis().ok()?;
        let offset = point - self.position;
        let depth = offset.dot(&basis.forward);
        if depth <= 0.0 {
            return None;
        }
        let scale = f64::from(height) / 2.0 / (self.vertical_fov / 2.0).tan() / depth;
        Some([
            f64::from(width) / 2.0 + offset.dot(&basis.right) * scale,
            f64::from(height) / 2.0 - offset.dot(&basis.up) * scale,
        ])
    }

    /// Width of a pixel at the distance of the target \[m\], in pictures of `height` pixels.
    pub fn pixel_size(&self, height: u32) -> f64 {
        let distance = nalgebra::distance(&self.position, &self.target);
        2.0 * distance * (self.vertical_fov / 2.0).tan() / f64::from(height)
    }

    pub(super) fn basis(&self) -> Result<Basis, RenderError> {
        let degenerate = |reason: String| RenderError::Camera(reason);
        let sight = self.target - self.position;
        let forward = sight
            .try_normalize(1e-12)
            .filter(|f| f.iter().all(|x| x.is_finite()))
            .ok_or_else(|| degenerate(format!("position {:?}, target {:?} m", self.position, self.target)))?;
        let right = forward
            .cross(&self.up)
            .try_normalize(1e-9)
            .filter(|r| r.iter().all(|x| x.is_finite()))
            .ok_or_else(|| degenerate(format!("it looks along its up vector {:?}", self.up)))?;
        if !(self.vertical_fov > 0.0 && self.vertical_fov < std::f64::consts::PI) {
            return Err(degenerate(format!("vertical field of view {} rad", self.vertical_fov)));
        }
        Ok(Basis { right, up: right.cross(&forward), forward })
    }
}

/// Position along `axis`, and distance along `to_camera`, of a camera that has all corners within
/// +-`slope`: each side of the view is a plane through the corner that decides it, and the camera
/// is where the two planes meet.
fn fit(corners: &[Vector3<f64>; 8], axis: &Vector3<f64>, to_camera: &Vector3<f64>, slope: f64) -> (f64, f64) {
    let reach = |sign: f64| {
        let side = corners.iter().map(|c| sign * c.dot(axis) + slope * c.dot(to_camera));
        side.fold(f64::NEG_INFINITY, f64::max)
    };
    let (positive, negative) = (reach(1.0), reach(-1.0));
    ((positive - negative) / 2.0, (positive + negative) / (2.0 * slope))
}
