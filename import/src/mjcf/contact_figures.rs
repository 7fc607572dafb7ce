//! Figures of contact that geoms and pairs have in common.

use super::super::element::Element;
use super::super::error::{ImportError, ImportWarning, WarningKind};
use pliant_rigid::collision::ContactMaterial;

/// Stiffness of a geom \[N/m\] by default; two of them in series have half of it.
pub(in super::super) const STIFFNESS: f64 = ContactMaterial::STIFFNESS;
/// Hunt and Crossley's dissipation \[s/m\] by default.
pub(in super::super) const DISSIPATION: f64 = ContactMaterial::DISSIPATION;

/// How many kinds of friction act.
pub(super) fn dimensions(element: &Element) -> Result<usize, ImportError> {
    match element.integer("condim")?.unwrap_or(3) {
        1 => Ok(0),
        3 => Ok(1),
        4 => Ok(2),
        6 => Ok(3),
        _ => Err(element.bad("condim", "1, 3, 4 or 6")),
    }
}

/// Stiffness \[N/m\] and dissipation \[s/m\] of a surface from `solref` and `solimp`.
///
/// MuJoCo's contact of a mass m with a still ground has the acceleration d (b v + k r) plus 1 - d
/// of that of the other forces (documentation, Computation, Solver parameters): at rest m g = m k d
/// r/(1 - d), a spring of stiffness m k d/(1 - d) with k = 1/(d t^2 z^2) of time constant t and
/// damping ratio z, for the impedance d of deep contact. Two geoms in series halve it, so each has
/// twice that. The dissipation is that whose damping is the same at the depth of rest.
pub(super) fn compliance(
    element: &Element,
    mass: f64,
    gravity: f64,
    warnings: &mut Vec<ImportWarning>,
) -> Result<(f64, f64), ImportError> {
    let solref = element.numbers("solref", 1..=2)?;
    let solimp = element.numbers("solimp", 1..=5)?;
    let given = if solref.is_some() { "solref" } else { "solimp" };
    if solref.is_none() && solimp.is_none() {
        return Ok((STIFFNESS, DISSIPATION));
    }
    if mass <= 0.0 {
        let action =
            format!("approximated: {STIFFNESS:e} N/m and {DISSIPATION} s/m, since the body is static");
        warnings.push(element.warn(given, action).of(WarningKind::Contact));
        return Ok((STIFFNESS, DISSIPATION));
    }
    let reference = solref.unwrap_or_else(|| vec![0.02, 1.0]);
    let impedance = solimp.map_or(0.95, |s| *s.get(1).unwrap_or(&0.95)).clamp(1e-4, 0.9999);
    let (time, ratio) = (reference[0], reference.get(1).copied().unwrap_or(1.0));
    let (k, b) = if time > 0.0 && ratio > 0.0 {
        (1.0 / (impedance * (time * ratio).powi(2)), 2.0 / (impedance * time))
    } else if time < 0.0 && ratio <= 0.0 {
        (-time / impedance, -ratio / impedance)
    } else {
        return Err(element.bad("solref", "a positive time constant (s) and damping ratio, or both negative"));
    };
    let yielding = impedance / (1.0 - impedance);
    let stiffness = 2.0 * mass * k * yielding;
    let weight = if gravity > 0.0 { gravity } else { 9.81 };
    let dissipation = b * yielding / weight;
    let action = format!(
        "approximated: stiffness {stiffness:.3e} N/m and dissipation {dissipation:.3} s/m, from \
         the mass of its body, {mass:.3} kg"
    );
    warnings.push(element.warn(given, action).of(WarningKind::Contact));
    Ok((stiffness, dissipation))
}
