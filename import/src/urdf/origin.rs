//! Frames.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};

use super::super::element::Element;
use super::super::error::ImportError;

/// The frame that the `<origin>` of an element gives.
pub(super) fn origin(element: &Element) -> Result<Isometry3<f64>, ImportError> {
    let Some(origin) = element.one("origin")? else { return Ok(Isometry3::identity()) };
    let position = origin.vector("xyz")?.unwrap_or_default();
    let angles = origin.vector("rpy")?;
    let rotation = match origin.array::<4>("quat_xyzw")? {
        Some(_) if angles.is_some() => return Err(origin.bad("quat_xyzw", "left out where there is an rpy")),
        Some([x, y, z, w]) => UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-10)
            .ok_or_else(|| origin.bad("quat_xyzw", "a quaternion (x, y, z, w), not zeros"))?,
        // About the fixed axes x, then y, then z.
        None => {
            angles.map_or(UnitQuaternion::identity(), |a| UnitQuaternion::from_euler_angles(a.x, a.y, a.z))
        }
    };
    Ok(Isometry3::from_parts(Translation3::from(position), rotation))
}
