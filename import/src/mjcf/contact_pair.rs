//! `<pair>`: the contact of two geoms with figures of its own.
//!
//! In MuJoCo 4.0.0 a pair takes nothing from its geoms: what it does not give has the values of
//! `<default>`, or MuJoCo's (older versions take them from the geoms).

use super::super::element::Element;
use super::super::error::{ImportError, ImportWarning, WarningKind};
use super::contact_figures::{compliance, dimensions};
use super::softness::impedance;
use pliant_rigid::collision::{ContactMaterial, FrictionRule};

/// A pair whose defaults are resolved.
pub(super) struct ContactPair {
    /// The numbers of its geoms.
    pub geoms: [usize; 2],
    pub element: Element,
}

impl ContactPair {
    /// Compliance and friction of the contact, between parts of these masses \[kg\], of which those
    /// that are static have 0.
    pub fn contact(
        &self,
        masses: [f64; 2],
        gravity: f64,
        warnings: &mut Vec<ImportWarning>,
    ) -> Result<ContactMaterial, ImportError> {
        let element = &self.element;
        let [first, second, torsional, rolling, other_rolling] = friction(element)?;
        let kinds = dimensions(element)?;
        let alike = (kinds < 1 || first == second) && (kinds < 3 || rolling == other_rolling);
        if !alike {
            let action = "approximated: the mean of the coefficients in both directions";
            warnings.push(element.warn("friction", action).of(WarningKind::Contact));
        }
        if kinds > 1 {
            let action = "approximated: torsional and rolling friction act only with the closed-form solver";
            warnings.push(element.warn("condim", action).of(WarningKind::Contact));
        }
        let acting = |kind: usize, value: f64| if kind < kinds { value } else { 0.0 };
        let sliding = acting(0, 0.5 * (first + second));
        // Both bodies yield: what a force between them feels is the mass m1 m2/(m1 + m2).
        let mobility: f64 = masses.iter().filter(|mass| **mass > 0.0).map(|mass| 1.0 / mass).sum();
        let felt = if mobility > 0.0 { 1.0 / mobility } else { 0.0 };
        let (of_one, dissipation) = compliance(element, felt, gravity, warnings)?;
        Ok(ContactMaterial {
            restitution: 0.0,
            // Of two surfaces in series.
            stiffness: 0.5 * of_one,
            dissipation,
            static_friction: sliding,
            dynamic_friction: sliding,
            torsional_friction: acting(1, torsional),
            rolling_friction: acting(2, 0.5 * (rolling + other_rolling)),
            friction_rule: FrictionRule::Larger,
            impedance: impedance(element, "solimp")?,
            margin: element.not_negative("margin")?.unwrap_or(0.0),
            priority: 0,
        })
    }
}

/// Sliding friction in two directions, torsional \[m\] and rolling friction in two directions \[m\].
fn friction(element: &Element) -> Result<[f64; 5], ImportError> {
    let given = element.numbers("friction", 1..=5)?.unwrap_or_default();
    if given.iter().any(|mu| *mu < 0.0) {
        return Err(element.bad("friction", "coefficients that are finite and not negative"));
    }
    let mut coefficients = [1.0, 1.0, 0.005, 0.0001, 0.0001];
    coefficients.iter_mut().zip(&given).for_each(|(coefficient, given)| *coefficient = *given);
    Ok(coefficients)
}
