//! Masses and inertias of links, and what is done where no body has them.

use nalgebra::{Matrix3, SymmetricEigen, Vector3};

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem, ImportWarning, WarningKind};
use super::super::options::{LoadOptions, Repair};
use super::origin::origin;
use pliant_geometry::Shape;
use pliant_rigid::collision::CollisionGeometry;
use pliant_rigid::multibody::{LinkId, ModelBuilder, RigidInertia};

/// Density that a link without a mass is given by [`Repair::Mass`] \[kg/m^3\]: that of water, as in
/// MuJoCo.
const DENSITY: f64 = 1000.0;

/// Inertia about the origin of the `<link>`, in its axes, as the file gives it; zero without one.
pub(super) fn read(
    element: &Element,
    warnings: &mut Vec<ImportWarning>,
) -> Result<RigidInertia, ImportError> {
    let Some(inertial) = element.one("inertial")? else { return Ok(RigidInertia::zero()) };
    let mass = match inertial.one("mass")? {
        Some(mass) => {
            mass.required("value")?;
            mass.not_negative("value")?.unwrap_or(0.0)
        }
        None => {
            if inertial.one("density")?.is_none() {
                let action = "without a mass: counts as 0 kg";
                warnings.push(inertial.warn("", action).of(WarningKind::Corrected));
            }
            0.0
        }
    };
    let local = match inertial.one("inertia")? {
        Some(tensor) => {
            let entry = |name: &'static str| -> Result<f64, ImportError> {
                tensor.required(name)?;
                Ok(tensor.number(name)?.unwrap_or(0.0))
            };
            let (xx, yy, zz) = (entry("ixx")?, entry("iyy")?, entry("izz")?);
            let (xy, xz, yz) = (entry("ixy")?, entry("ixz")?, entry("iyz")?);
            Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
        }
        None if mass > 0.0 => return Err(inertial.fail(ImportProblem::Missing("inertia"))),
        None => Matrix3::zeros(),
    };
    Ok(RigidInertia::at_center(mass, Vector3::zeros(), local).moved(&origin(inertial)?))
}

/// Whether the file states a mass for a link, if only 0.
pub(super) fn states_mass(element: &Element) -> Result<bool, ImportError> {
    Ok(element.one("inertial")?.map_or(Ok(None), |inertial| inertial.one("mass"))?.is_some())
}

/// Density of the link's collision shapes \[kg/m^3\], if the file gives it instead of a mass.
pub(super) fn density(element: &Element) -> Result<Option<f64>, ImportError> {
    let Some(inertial) = element.one("inertial")? else { return Ok(None) };
    match (inertial.one("mass")?, inertial.one("density")?) {
        (None, Some(density)) => {
            density.required("value")?;
            density.not_negative("value")
        }
        _ => Ok(None),
    }
}

/// Inertia of the collision shapes of a link at a density, about the link's origin, in its axes.
fn of_shapes(link: LinkId, density: f64, geometries: &[CollisionGeometry]) -> RigidInertia {
    let mut sum = RigidInertia::zero();
    for geometry in geometries.iter().filter(|geometry| geometry.link == Some(link)) {
        if matches!(geometry.shape, Shape::HalfSpace | Shape::HeightField(_)) {
            continue;
        }
        if let Some((mass, center, inertia)) = geometry.shape.mass_properties(density) {
            let own = RigidInertia::at_center(mass, center.coords, inertia);
            sum += own.moved(&geometry.pose);
        }
    }
    sum
}

/// Gives links the mass of their shapes: those with a density, those that move nothing with a mass
/// and for which the file states none, and on request all that move without one. `elements` are the
/// links in the order of the builder.
pub(super) fn add_masses(
    builder: &mut ModelBuilder,
    elements: &[&Element],
    geometries: &[CollisionGeometry],
    options: &LoadOptions,
    warnings: &mut Vec<ImportWarning>,
) -> Result<(), ImportError> {
    for (n, element) in elements.iter().enumerate() {
        if let Some(density) = density(element)? {
            let sum = of_shapes(LinkId(n), density, geometries);
            builder.set_inertia(LinkId(n), sum);
            let action = format!("{:.4e} kg, of its collision shapes at {density} kg/m^3", sum.mass);
            warnings.push(element.warn("", action).of(WarningKind::Extension));
        }
    }
    let requested = options.repairs.contains(&Repair::Mass);
    let carries = carriers(builder);
    for group in builder.rigid_groups() {
        let element = elements[group.link.0];
        let usual = !carries[group.link.0] && !states_mass(element)?;
        if group.inertia.mass > 0.0 || !(requested || usual) {
            continue;
        }
        let sum = of_shapes(group.link, DENSITY, geometries);
        if sum.mass > 0.0 {
            builder.set_inertia(group.link, sum);
            let action = format!("{:.4e} kg, of its collision shapes at {DENSITY} kg/m^3", sum.mass);
            warnings.push(match usual {
                true => {
                    element.warn("", format!("moves, but the file states no mass: {action}, as in MuJoCo"))
                }
                false => element.warn("", format!("repaired: {action}")).of(WarningKind::Repaired),
            });
        }
    }
    Ok(())
}

/// Of every link, whether it or a link outwards of it has a mass or an inertia.
fn carriers(builder: &ModelBuilder) -> Vec<bool> {
    let links = builder.links();
    let mut carries: Vec<bool> = links.iter().map(|link| link.inertia != RigidInertia::zero()).collect();
    for (i, link) in links.iter().enumerate().rev() {
        if let Some(LinkId(parent)) = link.parent {
            carries[parent] |= carries[i];
        }
    }
    carries
}

/// Looks at the inertia of everything that moves as one. What no body has, but can be computed
/// with, gives a warning; what cannot is refused, or repaired on request.
pub(super) fn check(
    builder: &mut ModelBuilder,
    elements: &[&Element],
    options: &LoadOptions,
    warnings: &mut Vec<ImportWarning>,
) -> Result<(), ImportError> {
    for group in builder.rigid_groups() {
        if group.is_realisable() {
            continue;
        }
        let element = elements[group.link.0];
        let central = group.central_inertia();
        let moments = central.symmetric_eigenvalues();
        let at = element.one("inertial")?.unwrap_or(element);
        if options.repairs.contains(&Repair::Inertia) {
            let mut inertia = builder.links()[group.link.0].inertia;
            inertia.inertia += realisable(&central) - central;
            builder.set_inertia(group.link, inertia);
            let action = format!(
                "repaired: no body has the moments of inertia {}; they were raised",
                listed(&moments)
            );
            warnings.push(at.warn("", action).of(WarningKind::Repaired));
        } else if moments.min() < -1e-9 * moments.max() {
            let reason = format!(
                "the principal moments {} of the link with all that is fixed to it; none can be negative",
                listed(&moments)
            );
            return Err(at.fail(ImportProblem::Inertia(reason)).or(Repair::Inertia));
        } else {
            let action = format!(
                "no body has the principal moments {} (the link with all that is fixed to it): one is larger than \
                 the sum of the others; the motion is computed with them",
                listed(&moments)
            );
            warnings.push(at.warn("", action).of(WarningKind::Corrected));
        }
    }
    Ok(())
}

fn listed(moments: &Vector3<f64>) -> String {
    let mut sorted = [moments.x, moments.y, moments.z];
    sorted.sort_by(f64::total_cmp);
    let [a, b, c] = sorted;
    format!("{a:.3e}, {b:.3e}, {c:.3e} kg m^2")
}

/// The tensor with its moments raised until a body has them: negative ones to 0, then the smallest
/// to the difference of the two others.
fn realisable(central: &Matrix3<f64>) -> Matrix3<f64> {
    let eigen = SymmetricEigen::new(*central);
    let mut moments = eigen.eigenvalues.map(|moment| moment.max(0.0));
    let (least, sum, greatest) = (moments.imin(), moments.sum(), moments.max());
    let lacking = 2.0 * greatest - sum;
    if lacking > 0.0 {
        moments[least] += lacking;
    }
    let axes = eigen.eigenvectors;
    let raised = axes * Matrix3::from_diagonal(&moments) * axes.transpose();
    (raised + raised.transpose()) * 0.5
}
