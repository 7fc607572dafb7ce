//! Positions and orientations.

use nalgebra::{Isometry3, Matrix3, Quaternion, Rotation3, Translation3, Unit, UnitQuaternion, Vector3};

use super::super::element::Element;
use super::super::error::ImportError;
use super::compiler::Compiler;

/// The ways to write an orientation; an element has at most one.
pub(super) const ORIENTATIONS: [&str; 5] = ["quat", "axisangle", "euler", "xyaxes", "zaxis"];

/// The frame of an element in that of the enclosing element.
pub(super) fn pose(element: &Element, compiler: &Compiler) -> Result<Isometry3<f64>, ImportError> {
    let position = element.vector("pos")?.unwrap_or_default();
    Ok(Isometry3::from_parts(Translation3::from(position), orientation(element, compiler)?))
}

fn orientation(element: &Element, compiler: &Compiler) -> Result<UnitQuaternion<f64>, ImportError> {
    let mut given = ORIENTATIONS.iter().filter(|name| element.text(name).is_some());
    let first = given.next();
    if let Some(second) = given.next() {
        return Err(element.bad(second, "the only orientation of the element"));
    }
    if let Some([w, x, y, z]) = element.array::<4>("quat")? {
        return quaternion(element, "quat", [w, x, y, z]);
    }
    if let Some([x, y, z, angle]) = element.array::<4>("axisangle")? {
        let Some(axis) = Unit::try_new(Vector3::new(x, y, z), 1e-10) else {
            return Err(element.bad("axisangle", "an axis, not a zero vector, and an angle"));
        };
        return Ok(UnitQuaternion::from_axis_angle(&axis, angle * compiler.angle));
    }
    if let Some(angles) = element.array::<3>("euler")? {
        return Ok(euler(&angles, compiler));
    }
    if let Some([a, b, c, d, e, f]) = element.array::<6>("xyaxes")? {
        let x = Unit::try_new(Vector3::new(a, b, c), 1e-10);
        let z = x.and_then(|x| Unit::try_new(x.cross(&Vector3::new(d, e, f)), 1e-10));
        let (Some(x), Some(z)) = (x, z) else {
            return Err(element.bad("xyaxes", "two axes that span a plane"));
        };
        let matrix = Matrix3::from_columns(&[x.into_inner(), z.cross(&x), z.into_inner()]);
        return Ok(UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix)));
    }
    match element.direction("zaxis")? {
        Some(z) => Ok(turn_z_to(&z)),
        None => {
            debug_assert!(first.is_none());
            Ok(UnitQuaternion::identity())
        }
    }
}

/// A quaternion (w, x, y, z) of any length but 0.
pub(super) fn quaternion(
    element: &Element,
    attribute: &str,
    [w, x, y, z]: [f64; 4],
) -> Result<UnitQuaternion<f64>, ImportError> {
    UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-10)
        .ok_or_else(|| element.bad(attribute, "a quaternion (w, x, y, z), not zeros"))
}

/// Three successive rotations about the axes of the sequence.
fn euler(angles: &[f64; 3], compiler: &Compiler) -> UnitQuaternion<f64> {
    let mut rotation = UnitQuaternion::identity();
    for (angle, axis) in angles.iter().zip(compiler.euler) {
        let direction = match axis.to_ascii_lowercase() {
            'x' => Vector3::x_axis(),
            'y' => Vector3::y_axis(),
            _ => Vector3::z_axis(),
        };
        let turn = UnitQuaternion::from_axis_angle(&direction, angle * compiler.angle);
        rotation = if axis.is_ascii_lowercase() { rotation * turn } else { turn * rotation };
    }
    rotation
}

/// The smallest rotation that takes z to a direction; about x if that is -z.
pub(in super::super) fn turn_z_to(direction: &Unit<Vector3<f64>>) -> UnitQuaternion<f64> {
    let axis = Vector3::z().cross(direction);
    let sine = axis.norm();
    let axis = if sine < 1e-10 { Vector3::x_axis() } else { Unit::new_unchecked(axis / sine) };
    UnitQuaternion::from_axis_angle(&axis, sine.atan2(direction.z))
}
