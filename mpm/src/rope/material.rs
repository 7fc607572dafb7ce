//! Material of a rope with a circular cross-section.

use crate::material::{MaterialError, unless, unless_positive};

/// Density, stiffness and size of the cross-section of a rope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RopeMaterial {
    /// Mass per rest volume \[kg/m^3\].
    pub density: f64,
    /// Radius r of the cross-section \[m\].
    pub radius: f64,
    /// Young's modulus E along the rope \[Pa\].
    pub youngs_modulus: f64,
    /// Shear modulus G, against twist \[Pa\].
    pub shear_modulus: f64,
    /// Bending stiffness B: moment over curvature; that of a solid section, E pi r^4 / 4, where absent.
    /// Strands that slide on each other are far softer \[N m^2\].
    pub bending_stiffness: Option<f64>,
    /// Twist stiffness C: torque over twist per length; that of a solid section, G pi r^4 / 2, where
    /// absent \[N m^2\].
    pub twist_stiffness: Option<f64>,
    /// Fraction of the symmetric velocity gradient that a substep keeps, in \[0, 1\]; 1 is no damping,
    /// as for cloth \[-\].
    pub damping: f64,
}

impl RopeMaterial {
    /// A solid section without damping; density in kg/m^3, radius in m, moduli in Pa.
    pub fn new(density: f64, radius: f64, youngs_modulus: f64, shear_modulus: f64) -> Self {
        Self {
            density,
            radius,
            youngs_modulus,
            shear_modulus,
            bending_stiffness: None,
            twist_stiffness: None,
            damping: 1.0,
        }
    }

    /// Checks all parameters.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate(&self) -> Result<(), MaterialError> {
        self.out_of_range().next().map_or(Ok(()), Err)
    }

    /// All parameters that are out of range.
    pub fn out_of_range(&self) -> impl Iterator<Item = MaterialError> + use<> {
        let not_negative = |field, value: f64| {
            unless(value >= 0.0 && value.is_finite(), field, value, "N m^2", "finite and not negative")
        };
        let figures = [
            unless_positive("density", self.density, "kg/m^3"),
            unless_positive("radius", self.radius, "m"),
            unless_positive("youngs_modulus", self.youngs_modulus, "Pa"),
            unless_positive("shear_modulus", self.shear_modulus, "Pa"),
            self.bending_stiffness.and_then(|b| not_negative("bending_stiffness", b)),
            self.twist_stiffness.and_then(|c| not_negative("twist_stiffness", c)),
            unless((0.0..=1.0).contains(&self.damping), "damping", self.damping, "", "in [0, 1]"),
        ];
        figures.into_iter().flatten()
    }

    /// Area A of the cross-section \[m^2\].
    pub fn area(&self) -> f64 {
        core::f64::consts::PI * self.radius * self.radius
    }

    /// Polar second moment J of the cross-section \[m^4\].
    pub fn polar_moment(&self) -> f64 {
        0.5 * self.area() * self.radius * self.radius
    }

    /// Bending stiffness B \[N m^2\].
    pub fn bending(&self) -> f64 {
        self.bending_stiffness.unwrap_or(self.youngs_modulus * 0.5 * self.polar_moment())
    }

    /// Twist stiffness C \[N m^2\].
    pub fn twist(&self) -> f64 {
        self.twist_stiffness.unwrap_or(self.shear_modulus * self.polar_moment())
    }

    /// Speed of waves of stretch, sqrt(E / rho) \[m/s\].
    pub fn wave_speed(&self) -> f64 {
        (self.youngs_modulus / self.density).sqrt()
    }
}
