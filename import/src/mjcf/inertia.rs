//! Masses: from `<inertial>` or from the geoms, and the repairs that MJCF allows.

use nalgebra::{Matrix3, SymmetricEigen, Vector3};

use super::super::error::{ImportError, ImportProblem};
use super::body::MjcfBody;
use super::compiler::Compiler;
use pliant_rigid::MassProperties;
use pliant_rigid::multibody::{ModelError, RigidInertia};

/// MuJoCo's least mass \[kg\] and inertia \[kg m^2\] of moving bodies.
const LEAST: f64 = 1e-15;

/// Sets the mass of every body. Moving bodies must have a physical one.
pub(super) fn compile(bodies: &mut [MjcfBody], compiler: &Compiler) -> Result<(), ImportError> {
    for i in 1..bodies.len() {
        bodies[i].part = if bodies[i].joints.is_empty() { bodies[bodies[i].parent].part } else { i };
        let body = &bodies[i];
        let from_geoms = compiler.inertia_from_geom.unwrap_or(body.inertial.is_none());
        let (mut figures, mut center) = match &body.inertial {
            Some(inertial) if !from_geoms => {
                (MassProperties { mass: inertial.mass, inertia: inertial.inertia }, inertial.center)
            }
            _ if from_geoms => of_geoms(body, compiler)?,
            _ => (MassProperties { mass: 0.0, inertia: Matrix3::zeros() }, Vector3::zeros()),
        };
        // MuJoCo's place of a mass that nothing gives: the body's own in its parent, taken as one in
        // the body. The softness of welds of such bodies depends on it.
        if figures.mass == 0.0 && (from_geoms || body.inertial.is_none()) {
            center = body.pose.translation.vector;
        }
        repair(&mut figures, compiler);
        bodies[i].mass = Some((figures, center));
    }
    scale_total(bodies, compiler);
    check(bodies)
}

/// The sum of a body's geoms.
fn of_geoms(body: &MjcfBody, compiler: &Compiler) -> Result<(MassProperties, Vector3<f64>), ImportError> {
    let [low, high] = compiler.inertia_groups;
    let mut sum = RigidInertia::zero();
    for geom in body.geoms.iter().filter(|geom| (low..=high).contains(&geom.group)) {
        if let Some(own) = geom.mass()? {
            sum += own;
        }
    }
    let center = sum.center();
    let inertia = sum.shifted(&center).inertia;
    // Shifting leaves rounding off the diagonal.
    let inertia = (inertia + inertia.transpose()) * 0.5;
    Ok((MassProperties { mass: sum.mass, inertia }, center))
}

/// `boundmass`, `boundinertia` and `balanceinertia`.
fn repair(figures: &mut MassProperties, compiler: &Compiler) {
    figures.mass = figures.mass.max(compiler.least_mass);
    let eigen = SymmetricEigen::new(figures.inertia);
    let mut moments = eigen.eigenvalues.map(|moment| moment.max(compiler.least_inertia));
    let largest = moments.max();
    if compiler.balance_inertia && largest > moments.sum() - largest {
        moments = Vector3::repeat(moments.mean());
    }
    if moments != eigen.eigenvalues {
        let axes = eigen.eigenvectors;
        figures.inertia = axes * Matrix3::from_diagonal(&moments) * axes.transpose();
        figures.inertia = (figures.inertia + figures.inertia.transpose()) * 0.5;
    }
}

/// `settotalmass`.
fn scale_total(bodies: &mut [MjcfBody], compiler: &Compiler) {
    let Some(wanted) = compiler.total_mass else { return };
    let total: f64 = bodies.iter().filter_map(|b| b.mass.as_ref()).map(|(m, _)| m.mass).sum();
    if total > LEAST {
        for (figures, _) in bodies.iter_mut().filter_map(|b| b.mass.as_mut()) {
            figures.mass *= wanted / total;
            figures.inertia *= wanted / total;
        }
    }
}

/// Moving bodies need a mass, their own or that of bodies welded to them.
fn check(bodies: &[MjcfBody]) -> Result<(), ImportError> {
    for (i, body) in bodies.iter().enumerate().skip(1).filter(|(_, body)| !body.joints.is_empty()) {
        let part = bodies.iter().filter(|b| b.part == i);
        let mass: f64 = part.filter_map(|b| b.mass.as_ref()).map(|(m, _)| m.mass).sum();
        if mass < LEAST {
            let reason = "a body that moves has no mass; give it an <inertial> or geoms with mass".to_owned();
            return Err(body.element.fail(ImportProblem::Inertia(reason)));
        }
    }
    Ok(())
}

/// An error of building the model, at the `<inertial>` of the body.
pub(super) fn misbuilt(error: ModelError, bodies: &[MjcfBody]) -> ImportError {
    let (ModelError::Inertia { link, .. } | ModelError::NoInertia { link, .. }) = &error else {
        return bodies[0].element.fail(error.into());
    };
    let body = bodies.iter().find(|body| body.name == *link).unwrap_or(&bodies[0]);
    let at = body.inertial.as_ref().map_or(&body.element, |inertial| &inertial.element);
    match ["diaginertia", "fullinertia"].iter().find(|name| at.text(name).is_some()) {
        Some(name) => at.fail_at(name, error.into()),
        None => at.fail(error.into()),
    }
}
