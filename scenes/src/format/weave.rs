//! Woven fabrics.

use pliant_mpm::cloth::{ShearFriction, Weave, weave};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stiffness by direction of a woven fabric, whose warp and weft cross at right angles at rest. The
/// material's own `youngs_modulus` and `bending_stiffness` are then those along the warp, and its
/// `poissons_ratio` is contraction along the weft over stretch along the warp, not negative and
/// below `youngs_modulus` / `weft_youngs_modulus`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothWeave {
    /// Direction of the warp in the cloth's own frame, of any length; on each face it is projected
    /// onto the face's plane, from whose normal it must be at least 30 degrees [-].
    pub warp: [f64; 3],
    /// Young's modulus of a strip along the weft [Pa].
    pub weft_youngs_modulus: f64,
    /// Shear modulus between warp and weft; small in cloth, whose yarns turn on each other. At most
    /// that with which yarns have no stiffness of their own: with both Young's moduli the same,
    /// that of an isotropic fabric [Pa].
    pub shear_modulus: f64,
    /// Bending stiffness of a strip along the weft; null: that along the warp [N m].
    #[serde(default)]
    pub weft_bending_stiffness: Option<f64>,
    /// Stiffness against twist about warp and weft; null: the geometric mean of the bending
    /// stiffnesses along them [N m].
    #[serde(default)]
    pub twist_stiffness: Option<f64>,
    /// Friction between yarns that turn on each other. Null: shear springs back whole.
    #[serde(default)]
    pub shear_friction: Option<ClothShearFriction>,
}

/// Friction between yarns that turn on each other: beyond that of the shear modulus there is a shear
/// stress against the turn, which goes with the change of the angle up to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothShearFriction {
    /// Largest shear stress; times thickness half of the hysteresis 2 HG of a shear test [Pa].
    pub stress: f64,
    /// Change of the angle between warp and weft by which this stress is reached [rad].
    pub strain: f64,
}

impl ClothWeave {
    /// The weave as the particles' crate takes it, in the cloth's own frame, with the bending
    /// stiffness along the warp [N m].
    pub(super) fn weave(&self, bending_stiffness: f64) -> Weave {
        let weft = self.weft_bending_stiffness.unwrap_or(bending_stiffness);
        // What is negative is a problem of its own field.
        let usual = weave::twist_stiffness(bending_stiffness.max(0.0), weft.max(0.0));
        Weave {
            warp: self.warp,
            weft_youngs_modulus: self.weft_youngs_modulus,
            shear_modulus: self.shear_modulus,
            weft_bending_stiffness: weft,
            twist_stiffness: self.twist_stiffness.unwrap_or(usual),
            shear_friction: self
                .shear_friction
                .map(|ClothShearFriction { stress, strain }| ShearFriction { stress, strain }),
        }
    }
}
