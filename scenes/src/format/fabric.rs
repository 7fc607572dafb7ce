//! Materials of cloth.

use pliant_coupling::AutoOr;
use pliant_mpm::cloth::{BendingFriction, ClothMaterial, Tearing};
use pliant_mpm::material::Elastic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::weave::ClothWeave;

/// Material of a cloth (Jiang, Gast and Teran 2017): elastic in its plane, with a normal stiffness
/// against compression.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fabric {
    /// Mass per rest volume; times `thickness` it is that of an area [kg/m^3].
    pub density: f64,
    /// In-plane Young's modulus, as a uniaxial tensile test measures it [Pa].
    pub youngs_modulus: f64,
    /// Poisson's ratio in the plane, in (-1, 0.5) [-].
    pub poissons_ratio: f64,
    /// Thickness [m]. "auto" is the grid spacing.
    #[serde(default)]
    pub thickness: AutoOr<f64>,
    /// Normal stiffness K; published values are 1e5 to 4e5 [Pa].
    pub normal_stiffness: f64,
    /// Stiffness against shear of layers on the sheet [Pa].
    #[serde(default)]
    pub shear_stiffness: f64,
    /// Friction coefficient that bounds this shear; no effect without `shear_stiffness` [-].
    #[serde(default)]
    pub friction: f64,
    /// Bending stiffness: moment per width over curvature [N m].
    #[serde(default)]
    pub bending_stiffness: f64,
    /// Friction within the fabric as it bends. Null: it springs back whole.
    #[serde(default)]
    pub bending_friction: Option<ClothBendingFriction>,
    /// Fraction of the symmetric velocity gradient that a substep keeps, in [0, 1]; 1 is no
    /// damping; published values: 0.8 (folding) and 0.2 (bagging) [-].
    #[serde(default = "one")]
    pub damping: f64,
    /// Stiffness by direction, as of a woven fabric. Null: the same in all directions.
    #[serde(default)]
    pub weave: Option<ClothWeave>,
    /// How it tears. Null: it never does.
    #[serde(default)]
    pub tearing: Option<ClothTearing>,
}

impl Fabric {
    /// The material on a grid of this spacing [m].
    pub(super) fn on_grid(&self, grid_spacing: f64) -> ClothMaterial {
        ClothMaterial {
            density: self.density,
            elastic: Elastic { youngs_modulus: self.youngs_modulus, poissons_ratio: self.poissons_ratio },
            thickness: self.thickness.value().unwrap_or(grid_spacing),
            normal_stiffness: self.normal_stiffness,
            shear_stiffness: self.shear_stiffness,
            friction: self.friction,
            bending_stiffness: self.bending_stiffness,
            bending_friction: self.bending_friction.map(ClothBendingFriction::friction),
            damping: self.damping,
            weave: self.weave.map(|weave| weave.weave(self.bending_stiffness)),
            tearing: self.tearing.map(ClothTearing::tearing),
        }
    }
}

/// Friction within a fabric that bends (Grosberg 1966): beyond that of its bending stiffness it has a
/// moment against the bending, which goes with the change of curvature up to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothBendingFriction {
    /// Largest moment per width; half of the hysteresis 2 HB of a bending test [N].
    pub moment: f64,
    /// Change of curvature by which this moment is reached; `moment` over it is a bending stiffness,
    /// which counts for `substeps` [1/m].
    pub curvature: f64,
}

impl ClothBendingFriction {
    fn friction(self) -> BendingFriction {
        BendingFriction { moment: self.moment, curvature: self.curvature }
    }
}

/// How a fabric tears: a face that is pulled beyond the strength softens, lets go, and leaves a hole. The
/// energy of a tear does not depend on the mesh (the crack band of Bazant and Oh 1983).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothTearing {
    /// Force at which a strip breaks, per width; at least 1e-4 youngs_modulus thickness [N/m].
    pub strength: f64,
    /// Energy that a tear takes, per length; twice the force on a leg of the trouser test. More than
    /// strength^2 x edge / (2 youngs_modulus thickness), with the longest edge of the mesh [J/m].
    pub energy: f64,
}

impl ClothTearing {
    fn tearing(self) -> Tearing {
        Tearing { strength: self.strength, energy: self.energy }
    }
}

fn one() -> f64 {
    1.0
}
