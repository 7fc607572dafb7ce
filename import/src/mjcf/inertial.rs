//! Masses from `<inertial>`.

use nalgebra::{Matrix3, SymmetricEigen, Vector3};

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem};
use super::compiler::Compiler;
use super::pose::pose;

/// An `<inertial>` element.
#[derive(Clone, Debug)]
pub(super) struct Inertial {
    pub element: Element,
    pub mass: f64,
    pub center: Vector3<f64>,
    /// About the centre of mass, in the axes of the body.
    pub inertia: nalgebra::Matrix3<f64>,
}

/// Reads an `<inertial>`.
pub(super) fn read(element: &Element, compiler: &Compiler) -> Result<Inertial, ImportError> {
    let Some(mass) = element.not_negative("mass")? else {
        return Err(element.fail(ImportProblem::Missing("mass")));
    };
    let frame = pose(element, compiler)?;
    let (attribute, local) = match (element.vector("diaginertia")?, element.array::<6>("fullinertia")?) {
        (Some(_), Some(_)) => {
            return Err(element.bad("fullinertia", "left out where there is a diaginertia"));
        }
        (Some(diagonal), None) => ("diaginertia", Matrix3::from_diagonal(&diagonal)),
        (None, Some([xx, yy, zz, xy, xz, yz])) => {
            ("fullinertia", Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz))
        }
        (None, None) => ("diaginertia", Matrix3::zeros()),
    };
    if SymmetricEigen::new(local).eigenvalues.min() < 0.0 {
        return Err(element.bad(attribute, "an inertia with no negative moment (kg m^2)"));
    }
    let r = frame.rotation.to_rotation_matrix();
    let inertia = r.matrix() * local * r.matrix().transpose();
    Ok(Inertial { element: element.clone(), mass, center: frame.translation.vector, inertia })
}
