//! Materials of deformable bodies: density and constitutive model, in SI units.

use serde::{Deserialize, Serialize};

/// Material of a deformable body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// Mass per rest volume \[kg/m^3\].
    pub density: f64,
    /// Constitutive model and its parameters.
    pub model: Model,
}

impl Material {
    /// A neo-Hookean solid, such as rubber or foam: density \[kg/m^3\], Young's modulus \[Pa\] and
    /// Poisson's ratio \[-\].
    pub const fn elastic(density: f64, youngs_modulus: f64, poissons_ratio: f64) -> Self {
        Self { density, model: Model::NeoHookean(Elastic { youngs_modulus, poissons_ratio }) }
    }

    /// A von Mises solid, such as dough or clay: the same, and the yield stress in tension \[Pa\].
    pub const fn plastic(density: f64, youngs_modulus: f64, poissons_ratio: f64, yield_stress: f64) -> Self {
        let elastic = Elastic { youngs_modulus, poissons_ratio };
        Self { density, model: Model::VonMises { elastic, yield_stress } }
    }
}

/// Constitutive model. The equations are in [`crate::constitutive`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Model {
    /// Fixed corotated elasticity (Stomakhin et al. 2012).
    FixedCorotated(Elastic),
    /// Compressible neo-Hookean elasticity.
    NeoHookean(Elastic),
    /// Linear corotated elasticity (Zong et al. 2024).
    LinearCorotated(Elastic),
    /// Von Mises plasticity over Hencky elasticity: dough, clay, metal.
    VonMises {
        /// Elastic response below yield.
        elastic: Elastic,
        /// Yield stress in uniaxial tension \[Pa\].
        yield_stress: f64,
    },
    /// Drucker-Prager plasticity over Hencky elasticity, without cohesion: dry sand (Klar et al.
    /// 2016).
    DruckerPrager {
        /// Elastic response inside the cone.
        elastic: Elastic,
        /// Angle of internal friction in triaxial compression \[rad\]; [`FrictionTest`] converts
        /// from other tests.
        friction_angle: f64,
    },
    /// Granular flow: a cone of Matsuoka and Nakai whose friction follows mu(I), without cohesion.
    Granular(GranularFlow),
}

/// Parameters of dense granular flow ([`crate::constitutive::Granular`]).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GranularFlow {
    /// Elastic response inside the cone.
    pub elastic: Elastic,
    /// Friction angle of slow flow in simple shear \[rad\], within (0, pi/4): tan of it is mu_s,
    /// and it is the angle of repose.
    pub friction_angle: f64,
    /// Friction angle of fast flow in simple shear \[rad\]: tan of it is mu_2. Equal to
    /// `friction_angle` for flow that does not depend on its rate.
    pub fast_friction_angle: f64,
    /// Inertial number I_0 at which friction is half way between slow and fast (no unit).
    pub inertial_number: f64,
    /// Diameter d of a grain \[m\].
    pub grain_diameter: f64,
    /// Density rho_s of a grain's material \[kg/m^3\]; I = rate d sqrt(rho_s/p).
    pub grain_density: f64,
    /// Friction of grains on bodies.
    pub walls: GranularWalls,
}

/// Friction of grains on bodies.
///
/// The run-out of columns that collapse is the same on wood, baize, sandpaper and Plexiglas (Lube
/// et al. 2004): the sliding grains are those above the ones that touch the floor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GranularWalls {
    /// Rough walls: grains that touch a body stick to it, and those above slide over them. The
    /// friction coefficient is that of fast flow, the largest that the material can bear, and does
    /// not depend on the body.
    #[default]
    Rough,
    /// Smooth walls: friction is that of the body, as on glass or polished steel.
    Smooth,
}

/// The test in which a sand's angle of internal friction was measured.
///
/// The cone of Drucker and Prager is round, sands are not: matched to one test it is too strong or
/// too weak in another. A cone that matches triaxial compression at 30 degrees acts like 44 degrees
/// in plane strain. Choose the test that is closest to the motion of the sand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrictionTest {
    /// A cylinder under axial load (Klar et al. 2016): sin(phi) = (s1 - s3)/(s1 + s3).
    TriaxialCompression,
    /// Plane strain without dilation: the same ratio with no strain along one axis (Drucker and
    /// Prager 1952, matched at zero dilation).
    PlaneStrain,
    /// Shear along a plane that does not stretch, without dilation: tan(phi) = shear stress over
    /// normal stress there. It is the angle at which a layer flows down a slope, and so the angle
    /// of repose; tan of it is the sine of the angle in plane strain (Davis 1968).
    SimpleShear,
}

impl FrictionTest {
    /// The `friction_angle` of [`Model::DruckerPrager`] \[rad\] for a sand that has `angle` (rad,
    /// within (0, pi/2)) in this test.
    ///
    /// On the cone |dev tau| = 3 p alpha, alpha = sqrt(2/3) 2 sin(f)/(3 - sin(f)); flow without
    /// dilation in one plane has
    /// |dev tau| = sqrt(2) p sin(phi) there. There is no such cone above 60 degrees of simple shear, and a
    /// material with the result (not a number) is refused.
    pub fn cone_angle(self, angle: f64) -> f64 {
        let ratio = match self {
            Self::TriaxialCompression => return angle,
            Self::PlaneStrain => angle.sin(),
            Self::SimpleShear => angle.tan(),
        };
        (3.0 * ratio / (12.0_f64.sqrt() + ratio)).asin()
    }
}

/// Isotropic elastic constants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Elastic {
    /// Young's modulus E \[Pa\].
    pub youngs_modulus: f64,
    /// Poisson's ratio nu, within (-1, 0.5).
    pub poissons_ratio: f64,
}

/// A material parameter outside its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{field} is {value}{space}{unit}, but must be {requirement}", space = if unit.is_empty() { "" } else { " " })]
pub struct MaterialError {
    /// Name of the parameter, as in the struct and in scene files.
    pub field: &'static str,
    /// The refused value, in `unit`.
    pub value: f64,
    /// Unit of the value; empty for ratios.
    pub unit: &'static str,
    /// What the value has to satisfy.
    pub requirement: &'static str,
}

impl Elastic {
    /// Second Lame parameter (shear modulus) mu = E / (2 (1 + nu)), in Pa.
    pub fn shear_modulus(&self) -> f64 {
        self.youngs_modulus / (2.0 * (1.0 + self.poissons_ratio))
    }

    /// First Lame parameter lambda = E nu / ((1 + nu)(1 - 2 nu)), in Pa.
    pub fn lame_lambda(&self) -> f64 {
        let nu = self.poissons_ratio;
        self.youngs_modulus * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))
    }

    /// Oedometric (P-wave) modulus lambda + 2 mu \[Pa\]: stiffness against uniaxial strain.
    pub fn oedometric_modulus(&self) -> f64 {
        self.lame_lambda() + 2.0 * self.shear_modulus()
    }

    /// Speed of pressure waves sqrt((lambda + 2 mu) / rho), in m/s, at small strain, for a density
    /// in kg/m^3.
    pub fn pressure_wave_speed(&self, density: f64) -> f64 {
        (self.oedometric_modulus() / density).sqrt()
    }

    /// What does not hold of E > 0 and -1 < nu < 0.5.
    pub(crate) fn out_of_range(&self) -> impl Iterator<Item = MaterialError> + use<> {
        let nu = self.poissons_ratio;
        let holds = nu > -1.0 && nu < 0.5;
        let nu = unless(holds, "poissons_ratio", nu, "", "in (-1, 0.5)");
        unless_positive("youngs_modulus", self.youngs_modulus, "Pa").into_iter().chain(nu)
    }
}

impl GranularFlow {
    /// What does not hold of angles within (0, pi/4), fast flow that is not weaker than slow flow,
    /// and positive figures.
    fn out_of_range(&self) -> impl Iterator<Item = MaterialError> + use<> {
        let (slow, fast) = (self.friction_angle, self.fast_friction_angle);
        let below = core::f64::consts::FRAC_PI_4;
        let holds = slow > 0.0 && slow < below;
        // One angle for both is told once.
        let rises = fast == slow || fast > slow && fast < below;
        let requirement = "from friction_angle to below pi/4";
        [
            unless(holds, "friction_angle", slow, "rad", "in (0, pi/4)"),
            unless(rises, "fast_friction_angle", fast, "rad", requirement),
            unless_positive("inertial_number", self.inertial_number, ""),
            unless_positive("grain_diameter", self.grain_diameter, "m"),
            unless_positive("grain_density", self.grain_density, "kg/m^3"),
        ]
        .into_iter()
        .flatten()
    }
}

impl Model {
    /// Coefficient of friction with bodies, if the material sets it and not the body (no unit).
    pub fn wall_friction(&self) -> Option<f64> {
        match self {
            Self::Granular(flow) if flow.walls == GranularWalls::Rough => {
                Some(flow.fast_friction_angle.tan())
            }
            _ => None,
        }
    }

    /// Whether it stays elastic at any strain: it has no return mapping.
    pub fn is_elastic(&self) -> bool {
        matches!(self, Self::FixedCorotated(_) | Self::NeoHookean(_) | Self::LinearCorotated(_))
    }

    /// Elastic constants of the model (for plastic models: below yield).
    pub fn elastic(&self) -> Elastic {
        match *self {
            Self::FixedCorotated(e) | Self::NeoHookean(e) | Self::LinearCorotated(e) => e,
            Self::VonMises { elastic, .. } | Self::DruckerPrager { elastic, .. } => elastic,
            Self::Granular(flow) => flow.elastic,
        }
    }
}

impl Material {
    /// Speed of pressure waves sqrt((lambda + 2 mu) / rho), in m/s, at small strain.
    pub fn pressure_wave_speed(&self) -> f64 {
        self.model.elastic().pressure_wave_speed(self.density)
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// Names the first parameter that is out of range or not a number, with its value and unit.
    pub fn validate(&self) -> Result<(), MaterialError> {
        self.out_of_range().into_iter().next().map_or(Ok(()), Err)
    }

    /// All parameters that are out of range or not numbers.
    pub fn out_of_range(&self) -> Vec<MaterialError> {
        let mut found: Vec<_> = unless_positive("density", self.density, "kg/m^3").into_iter().collect();
        found.extend(self.model.elastic().out_of_range());
        match self.model {
            Model::VonMises { yield_stress, .. } => {
                found.extend(unless_positive("yield_stress", yield_stress, "Pa"));
            }
            Model::DruckerPrager { friction_angle: a, .. } => {
                let holds = a > 0.0 && a < core::f64::consts::FRAC_PI_2;
                found.extend(unless(holds, "friction_angle", a, "rad", "in (0, pi/2)"));
            }
            Model::Granular(flow) => found.extend(flow.out_of_range()),
            Model::FixedCorotated(_) | Model::NeoHookean(_) | Model::LinearCorotated(_) => {}
        }
        found
    }
}

pub(crate) fn unless_positive(field: &'static str, value: f64, unit: &'static str) -> Option<MaterialError> {
    unless(value > 0.0 && value.is_finite(), field, value, unit, "positive and finite")
}

pub(crate) fn unless(
    holds: bool,
    field: &'static str,
    value: f64,
    unit: &'static str,
    requirement: &'static str,
) -> Option<MaterialError> {
    (!holds).then_some(MaterialError { field, value, unit, requirement })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUBBER: Elastic = Elastic { youngs_modulus: 1e6, poissons_ratio: 0.25 };

    /// For nu = 1/4 both Lame parameters are 2 E / 5 (any text on elasticity).
    #[test]
    fn lame_parameters() {
        approx::assert_relative_eq!(RUBBER.lame_lambda(), 4e5, max_relative = 1e-14);
        approx::assert_relative_eq!(RUBBER.shear_modulus(), 4e5, max_relative = 1e-14);
        approx::assert_relative_eq!(RUBBER.oedometric_modulus(), 1.2e6, max_relative = 1e-14);
        approx::assert_relative_eq!(RUBBER.pressure_wave_speed(1200.0), 1e3_f64.sqrt(), max_relative = 1e-14);
    }

    #[test]
    fn refuses_what_is_out_of_range() {
        let elastic = |e: f64, nu: f64| Elastic { youngs_modulus: e, poissons_ratio: nu };
        let of = |density: f64, model: Model| Material { density, model };
        let good = Model::NeoHookean(RUBBER);
        let cases = [
            (of(f64::NAN, good), "density"),
            (of(0.0, good), "density"),
            (of(-1.0, good), "density"),
            (of(f64::INFINITY, good), "density"),
            (of(1.0, Model::FixedCorotated(elastic(0.0, 0.3))), "youngs_modulus"),
            (of(1.0, Model::FixedCorotated(elastic(f64::NAN, 0.3))), "youngs_modulus"),
            (of(1.0, Model::LinearCorotated(elastic(1.0, 0.5))), "poissons_ratio"),
            (of(1.0, Model::NeoHookean(elastic(1.0, -1.0))), "poissons_ratio"),
            (of(1.0, Model::NeoHookean(elastic(1.0, f64::NAN))), "poissons_ratio"),
            (of(1.0, Model::VonMises { elastic: RUBBER, yield_stress: 0.0 }), "yield_stress"),
            (of(1.0, Model::DruckerPrager { elastic: RUBBER, friction_angle: 0.0 }), "friction_angle"),
            (of(1.0, Model::DruckerPrager { elastic: RUBBER, friction_angle: 1.6 }), "friction_angle"),
        ];
        for (material, field) in cases {
            let error = material.validate().unwrap_err();
            assert_eq!(error.field, field, "{material:?}");
        }
        assert_eq!(of(1e3, good).validate(), Ok(()));
        assert_eq!(of(1e3, Model::DruckerPrager { elastic: RUBBER, friction_angle: 0.6 }).validate(), Ok(()));
    }

    #[test]
    fn error_says_field_value_and_unit() {
        let error = Material { density: -2.5, model: Model::NeoHookean(RUBBER) }.validate().unwrap_err();
        assert_eq!(error.to_string(), "density is -2.5 kg/m^3, but must be positive and finite");
    }
}
