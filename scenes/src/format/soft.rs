//! Soft bodies: materials, shapes and sampling.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use pliant_coupling::AutoOr;
use pliant_mpm::material::{Elastic, GranularFlow, GranularWalls, Model};
use schemars::JsonSchema;
use serde::de::{self, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};

use super::common::Pose;

/// A constitutive model with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Material {
    /// Fixed corotated elasticity (Stomakhin et al. 2012): the usual choice for elastic solids.
    FixedCorotated {
        /// Density at rest [kg/m^3].
        density: f64,
        /// Young's modulus [Pa].
        youngs_modulus: f64,
        /// Poisson's ratio, in (-1, 0.5) [-].
        poissons_ratio: f64,
    },
    /// Compressible neo-Hookean elasticity.
    NeoHookean {
        /// Density at rest [kg/m^3].
        density: f64,
        /// Young's modulus [Pa].
        youngs_modulus: f64,
        /// Poisson's ratio, in (-1, 0.5) [-].
        poissons_ratio: f64,
    },
    /// Linear corotated elasticity (Zong et al. 2024).
    LinearCorotated {
        /// Density at rest [kg/m^3].
        density: f64,
        /// Young's modulus [Pa].
        youngs_modulus: f64,
        /// Poisson's ratio, in (-1, 0.5) [-].
        poissons_ratio: f64,
    },
    /// Elastic-plastic dough: Hencky elasticity with a von Mises yield surface, perfectly plastic.
    VonMises {
        /// Density at rest [kg/m^3].
        density: f64,
        /// Young's modulus [Pa].
        youngs_modulus: f64,
        /// Poisson's ratio, in (-1, 0.5) [-].
        poissons_ratio: f64,
        /// Yield stress in uniaxial tension, sigma_Y of |dev tau| = sqrt(2/3) sigma_Y [Pa].
        yield_stress: f64,
    },
    /// Sand: Hencky elasticity with a Drucker-Prager cone (Klar et al. 2016), no cohesion.
    DruckerPrager {
        /// Density at rest [kg/m^3].
        density: f64,
        /// Young's modulus [Pa].
        youngs_modulus: f64,
        /// Poisson's ratio, in (-1, 0.5) [-].
        poissons_ratio: f64,
        /// Internal friction angle, in (0, pi/2) [rad].
        friction_angle: f64,
    },
    /// Dry sand and flowing grains: Matsuoka-Nakai cone with mu(I) friction, no cohesion, and
    /// subgrid motion.
    Granular {
        /// Density of the bed at rest, pores included [kg/m^3].
        density: f64,
        /// Young's modulus [Pa].
        youngs_modulus: f64,
        /// Poisson's ratio, in (-1, 0.5) [-].
        poissons_ratio: f64,
        /// Friction angle of slow flow in simple shear, which is the angle of repose, in (0, pi/4)
        /// [rad].
        friction_angle: f64,
        /// Friction angle of fast flow in simple shear, from `friction_angle` to below pi/4 [rad];
        /// by default `friction_angle`: friction that does not depend on the rate.
        #[serde(default)]
        fast_friction_angle: Option<f64>,
        /// Inertial number at which friction is half way between slow and fast, I_0 [-].
        #[serde(default = "glass_inertial_number")]
        inertial_number: f64,
        /// Diameter of a grain [m].
        #[serde(default = "millimetre")]
        grain_diameter: f64,
        /// Density of a grain's material [kg/m^3].
        #[serde(default = "quartz_density")]
        grain_density: f64,
        /// Friction of grains on bodies.
        #[serde(default)]
        walls: GranularWalls,
    },
}

/// Of glass beads (Jop, Forterre and Pouliquen 2006) [-].
fn glass_inertial_number() -> f64 {
    0.28
}

fn millimetre() -> f64 {
    1e-3
}

/// [kg/m^3]
fn quartz_density() -> f64 {
    2650.0
}

impl Material {
    /// The parameters that every model has: density [kg/m^3], Young's modulus [Pa] and Poisson's
    /// ratio [-].
    pub fn particle_material(&self) -> pliant_mpm::material::Material {
        let (density, elastic) = match *self {
            Self::FixedCorotated { density, youngs_modulus, poissons_ratio }
            | Self::NeoHookean { density, youngs_modulus, poissons_ratio }
            | Self::LinearCorotated { density, youngs_modulus, poissons_ratio }
            | Self::VonMises { density, youngs_modulus, poissons_ratio, .. }
            | Self::DruckerPrager { density, youngs_modulus, poissons_ratio, .. }
            | Self::Granular { density, youngs_modulus, poissons_ratio, .. } => {
                (density, Elastic { youngs_modulus, poissons_ratio })
            }
        };
        let model = match *self {
            Self::FixedCorotated { .. } => Model::FixedCorotated(elastic),
            Self::NeoHookean { .. } => Model::NeoHookean(elastic),
            Self::LinearCorotated { .. } => Model::LinearCorotated(elastic),
            Self::VonMises { yield_stress, .. } => Model::VonMises { elastic, yield_stress },
            Self::DruckerPrager { friction_angle, .. } => Model::DruckerPrager { elastic, friction_angle },
            Self::Granular {
                friction_angle,
                fast_friction_angle,
                inertial_number,
                grain_diameter,
                grain_density,
                walls,
                ..
            } => Model::Granular(GranularFlow {
                elastic,
                friction_angle,
                fast_friction_angle: fast_friction_angle.unwrap_or(friction_angle),
                inertial_number,
                grain_diameter,
                grain_density,
                walls,
            }),
        };
        pliant_mpm::material::Material { density, model }
    }
}

/// The material of a soft body: a name of the scene's `materials`, or a material written in place.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum MaterialRef {
    /// The name of one of the scene's `materials`.
    Named(String),
    /// A material of this body alone.
    Inline(Material),
}

impl MaterialRef {
    /// The material, or `None` if the name is not among `materials`.
    pub fn resolve<'a>(&'a self, materials: &'a BTreeMap<String, Material>) -> Option<&'a Material> {
        match self {
            Self::Named(name) => materials.get(name),
            Self::Inline(material) => Some(material),
        }
    }
}

// Written by hand: serde's untagged enums discard the message that names the unknown field.
impl<'de> Deserialize<'de> for MaterialRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MaterialRefVisitor;

        impl<'de> Visitor<'de> for MaterialRefVisitor {
            type Value = MaterialRef;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("the name of a material, or a material")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<MaterialRef, E> {
                Ok(MaterialRef::Named(name.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MaterialRef, A::Error> {
                Material::deserialize(MapAccessDeserializer::new(map)).map(MaterialRef::Inline)
            }
        }

        deserializer.deserialize_any(MaterialRefVisitor)
    }
}

/// The region that a soft body fills, in the body's own frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SoftShape {
    /// A box about the origin.
    Box {
        /// Half of each edge [m].
        half_extents: [f64; 3],
    },
    /// A sphere about the origin.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// A cylinder about the origin, its axis along z.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Half of the length along the axis [m].
        half_length: f64,
    },
    /// The inside of a closed triangle mesh.
    Mesh {
        /// OBJ, STL or PLY file; a relative path is relative to the scene file.
        file: PathBuf,
        /// Factor from the file's length unit to metres, so 0.001 for a file in millimetres [m].
        #[serde(default = "one")]
        scale: f64,
    },
}

/// How a shape is filled with particles: on a regular lattice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sampling {
    /// Distance between neighbouring particles [m]; a box takes the nearest that divides each edge
    /// evenly. "auto" is half of the grid spacing: eight particles a cell.
    pub spacing: AutoOr<f64>,
    /// Particles along each axis of the shape's bounding box, instead of a spacing [-].
    pub counts: Option<[u32; 3]>,
    /// Width of the random displacement of each particle from its lattice point, as a fraction of
    /// the spacing, in [0, 1] [-]. It is drawn from the scene's `seed`.
    pub jitter: f64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { spacing: AutoOr::Auto, counts: None, jitter: 0.0 }
    }
}

/// A soft body: a shape filled with particles of one material.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftBodySpec {
    /// Name, for messages and paths; unique among the soft bodies.
    pub name: String,
    /// The region it fills, in its own frame.
    pub shape: SoftShape,
    /// Its frame in the world at the start.
    #[serde(default)]
    pub pose: Pose,
    /// Velocity of its origin at the start, world frame [m/s].
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Angular velocity about its origin at the start, world frame [rad/s].
    #[serde(default)]
    pub angular_velocity: [f64; 3],
    /// Name of one of the scene's `materials`, or a material written in place.
    pub material: MaterialRef,
    /// Rate alpha of mass-proportional damping: a force -alpha m v from outside the scene, by which
    /// motion decays and nothing changes at rest [1/s].
    #[serde(default)]
    pub mass_damping: f64,
    /// How the shape is filled with particles.
    #[serde(default)]
    pub sampling: Sampling,
    /// Colour in pictures and frames: red, green, blue, sRGB, 0 to 255 [-].
    #[serde(default = "dough_colour")]
    pub color: [u8; 3],
}

fn one() -> f64 {
    1.0
}

fn dough_colour() -> [u8; 3] {
    [222, 184, 135]
}
