//! Woven fabrics: stiffness by direction, in the plane and in bending.
//!
//! # In the plane
//! Two families of yarns, warp and weft, cross at right angles at rest, a along the warp and b
//! along the weft. Each adds the energy of its stretch to the isotropic one of [`super::model`]:
//!
//! psi_y = Y_a/2 (|F a| - 1)^2 + Y_b/2 (|F b| - 1)^2.
//!
//! Yarns turn towards each other against the isotropic shear modulus alone, as in the trellis shear
//! of cloth. At small strain the sheet is orthotropic in plane stress, with
//!
//! C_11 = lambda + 2 mu + Y_a, C_22 = lambda + 2 mu + Y_b, C_12 = lambda, C_66 = mu,
//!
//! which are four independent constants, so Young's moduli E_1, E_2, the shear modulus G and
//! Poisson's ratio nu_12 of a fabric determine them (Jones 1999, "Mechanics of Composite
//! Materials", section 2.5):
//!
//! C_11 = E_1 / (1 - nu_12 nu_21), C_22 = E_2 / (1 - nu_12 nu_21), C_12 = nu_12 C_22, C_66 = G,
//! with nu_21 = nu_12 E_2 / E_1.
//!
//! A yarn does not push when it is stretched: a stiffness Y below zero is refused. So G is at most
//! (C_11 - C_12) / 2 and (C_22 - C_12) / 2, which cloth is far below. With both equal the sheet is
//! isotropic.
//!
//! # Stress
//! |F a| = |U a|, so the Biot stress of a yarn is the symmetric part of Y (1 - 1/|U a|) U a a^T. It
//! is added to that of the isotropic sheet ([`super::yarns`]). What is skew in R^T P follows from
//! it, because the energy does not change with rotations:
//! [`Polar::stress`](super::model::Polar::stress) finds it from the balance of moments, of this
//! stress as of means over time.
//!
//! # Friction
//! Yarns that turn on each other may rub ([`super::shear_friction`]).
//!
//! # Bending
//! With the curvatures k_aa and k_bb along warp and weft and the twist k_ab, the energy of an area
//! is
//!
//! 1/2 (B_1 k_aa^2 + B_2 k_bb^2 + 2 B_t k_ab^2):
//!
//! an orthotropic plate without Poisson's ratio in bending, as [`super::bending`] is an isotropic
//! one, with B_1 = B_2 = B_t. A strip at an angle theta to the warp, with free edges, has the
//! stiffness B(theta) of
//!
//! 1 / B(theta) = cos^4 / B_1 + sin^4 / B_2 + 2 sin^2 cos^2 / B_t.
//!
//! Where B_t was not measured, [`twist_stiffness`] has the usual estimate.
//!
//! # Directions
//! The warp is one direction of space for the sheet at rest, projected onto the plane of each face;
//! the weft is across it in that plane. So it is exact for flat sheets, whatever their mesh, and
//! for front and back of a garment that lies flat: both are cut along the same yarns. Where a face
//! is nearly across the warp the projection is meaningless, and the sheet is refused.

use super::mesh::ClothMesh;
use crate::material::{Elastic, MaterialError, unless, unless_positive};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// Smallest angle between the warp and the normal of a face \[degree\].
pub const LEAST_ANGLE: f64 = 30.0;

/// Part by which the shear modulus may be above its largest value, so that rounding does not refuse
/// that of an isotropic sheet \[-\].
const ROUNDING: f64 = 1e-9;

/// How a fabric is woven. Figures along the warp are those of its
/// [`ClothMaterial`](super::ClothMaterial).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weave {
    /// Direction of the warp at rest, of any length (frame of the mesh).
    pub warp: [f64; 3],
    /// Young's modulus E_2 of a strip along the weft \[Pa\]; that along the warp, E_1, is the
    /// material's, and so is Poisson's ratio nu_12: contraction along the weft over stretch along
    /// the warp.
    pub weft_youngs_modulus: f64,
    /// Shear modulus G between warp and weft \[Pa\].
    pub shear_modulus: f64,
    /// Bending stiffness B_2 of a strip along the weft \[N m\]; that along the warp, B_1, is the
    /// material's.
    #[serde(default)]
    pub weft_bending_stiffness: f64,
    /// Stiffness B_t against twist about warp and weft \[N m\].
    #[serde(default)]
    pub twist_stiffness: f64,
    /// Friction between yarns that turn on each other; none is an elastic fabric.
    #[serde(default)]
    pub shear_friction: Option<ShearFriction>,
}

/// How the yarns of a fabric rub on each other as they turn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShearFriction {
    /// Shear stress tau_0 at which they slip \[Pa\]; times thickness half of the distance 2 HG of the
    /// branches in a shear test \[N/m\].
    pub stress: f64,
    /// Change of shear gamma_0 by which this stress is reached (no unit): of the angle between warp and
    /// weft \[rad\].
    pub strain: f64,
}

impl ShearFriction {
    /// Shear modulus before they slip, beside that of the fabric \[Pa\].
    pub fn modulus(&self) -> f64 {
        self.stress / self.strain
    }

    /// All figures that are out of range or not numbers.
    fn out_of_range(&self) -> [Option<MaterialError>; 2] {
        [
            unless_positive("weave.shear_friction.stress", self.stress, "Pa"),
            unless_positive("weave.shear_friction.strain", self.strain, ""),
        ]
    }
}

/// Why a sheet cannot be woven.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum WeaveError {
    /// A face is nearly across the warp.
    #[error(
        "weave: the warp is {angle:.1} degrees from the normal of faces[{face}]; must be at least {LEAST_ANGLE} degrees, so that it has a direction there"
    )]
    Across {
        /// Index of the face.
        face: usize,
        /// Angle between its normal, on either side, and the warp \[degree\].
        angle: f64,
    },
}

/// The estimate sqrt(B_1 B_2) of the stiffness against twist, of the stiffnesses along warp and
/// weft \[N m\] (Huber's; Timoshenko and Woinowsky-Krieger, "Theory of Plates and Shells", section
/// 86).
///
/// A strip at an angle theta then has 1 / sqrt(B) = cos^2 / sqrt(B_1) + sin^2 / sqrt(B_2).
pub fn twist_stiffness(bending_stiffness: f64, weft_bending_stiffness: f64) -> f64 {
    (bending_stiffness * weft_bending_stiffness).sqrt()
}

impl Weave {
    /// A fabric without bending, the warp along `warp` (frame of the mesh): Young's modulus along
    /// the weft and shear modulus \[Pa\].
    pub fn new(warp: Vector3<f64>, weft_youngs_modulus: f64, shear_modulus: f64) -> Self {
        Self {
            warp: warp.into(),
            weft_youngs_modulus,
            shear_modulus,
            weft_bending_stiffness: 0.0,
            twist_stiffness: 0.0,
            shear_friction: None,
        }
    }

    /// Stiffnesses C_11, C_12, C_22 in plane stress \[Pa\], of Young's modulus along the warp and
    /// Poisson's ratio.
    pub fn plane_stiffness(&self, elastic: &Elastic) -> [f64; 3] {
        let Elastic { youngs_modulus, poissons_ratio } = *elastic;
        let other_ratio = poissons_ratio * self.weft_youngs_modulus / youngs_modulus;
        let scale = 1.0 / (1.0 - poissons_ratio * other_ratio);
        let c22 = self.weft_youngs_modulus * scale;
        [youngs_modulus * scale, poissons_ratio * c22, c22]
    }

    /// Stiffnesses Y of warp and weft \[Pa\], of a valid weave.
    pub fn yarn_stiffness(&self, elastic: &Elastic) -> [f64; 2] {
        let [c11, c12, c22] = self.plane_stiffness(elastic);
        // Zero but for rounding where the sheet is isotropic.
        [c11, c22].map(|stiffness| (stiffness - c12 - 2.0 * self.shear_modulus).max(0.0))
    }

    /// All figures that are out of range or not numbers, with those that the material must have for
    /// it.
    pub(super) fn out_of_range(&self, elastic: &Elastic) -> impl Iterator<Item = MaterialError> + use<> {
        let Elastic { youngs_modulus, poissons_ratio: nu } = *elastic;
        let not_negative = |field, value: f64| {
            unless(value >= 0.0 && value.is_finite(), field, value, "N m", "finite and not negative")
        };
        let length = Vector3::from(self.warp).norm();
        let figures = [
            unless(
                length > 0.0 && length.is_finite(),
                "weave.warp",
                length,
                "",
                "the length of a direction: positive and finite",
            ),
            unless_positive("weave.weft_youngs_modulus", self.weft_youngs_modulus, "Pa"),
            unless_positive("weave.shear_modulus", self.shear_modulus, "Pa"),
            not_negative("weave.weft_bending_stiffness", self.weft_bending_stiffness),
            not_negative("weave.twist_stiffness", self.twist_stiffness),
        ];
        let sound = figures.iter().all(Option::is_none) && elastic.out_of_range().next().is_none();
        // Both ratios are below one, so C_12 is below C_11 and C_22.
        let below = nu * self.weft_youngs_modulus < youngs_modulus;
        let ratio = unless(
            !sound || nu >= 0.0 && below,
            "poissons_ratio",
            nu,
            "",
            "in [0, youngs_modulus / weave.weft_youngs_modulus) with a weave",
        );
        let [c11, c12, c22] = self.plane_stiffness(elastic);
        let most = 0.5 * (c11.min(c22) - c12) * (1.0 + ROUNDING);
        let shear = unless(
            !sound || ratio.is_some() || self.shear_modulus <= most,
            "weave.shear_modulus",
            self.shear_modulus,
            "Pa",
            "at most E1 (1 - nu21) / (2 (1 - nu12 nu21)) and E2 (1 - nu12) / (2 (1 - nu12 nu21)), nu21 = \
             nu12 E2 / E1: beyond, yarns would have a negative stiffness",
        );
        let friction = self.shear_friction.map_or([None, None], |friction| friction.out_of_range());
        figures.into_iter().chain([ratio, shear]).chain(friction).flatten()
    }

    /// Cosine and sine of the warp's angle in each face's material frame (e1 along its first edge).
    ///
    /// # Errors
    /// The first face whose normal is within [`LEAST_ANGLE`] of the warp.
    pub fn directions(&self, mesh: &ClothMesh) -> Result<Vec<[f64; 2]>, WeaveError> {
        let warp = Vector3::from(self.warp).normalize();
        let of = |face| {
            let [a, b, c] = mesh.corners(face);
            let normal = (b - a).cross(&(c - a)).normalize();
            let first = (b - a).normalize();
            let [x, y] = [warp.dot(&first), warp.dot(&normal.cross(&first))];
            let within = x.hypot(y);
            let angle = within.min(1.0).asin().to_degrees();
            // Slack for the rounding of coordinates at exactly the limit.
            if angle < LEAST_ANGLE - 1e-6 {
                return Err(WeaveError::Across { face, angle });
            }
            Ok([x / within, y / within])
        };
        (0..mesh.faces().len()).map(of).collect()
    }
}
