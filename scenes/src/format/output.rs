//! Output of a run, and its pictures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plots::Figure;

/// Output of a run, and its pictures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Time between frames [s], rounded to whole steps.
    pub frame_interval: f64,
    /// Properties of the frames' PLY files beyond position, velocity, radius, colour and material,
    /// and the time.
    pub fields: Vec<Field>,
    /// Bodies and links `robot/link` whose forces from particles and from other bodies are written
    /// at every step, into `forces.csv`; those in `plots` are always written.
    pub forces: Vec<String>,
    /// Plots of forces over time.
    pub plots: Vec<Figure>,
    /// Colour of the particles in pictures and frames.
    pub color_by: ColorBy,
    /// Camera of the pictures; null frames the scene automatically.
    pub camera: Option<Camera>,
    /// Width and height of the pictures [px].
    pub picture_size: [u32; 2],
}

impl Default for Output {
    fn default() -> Self {
        Self {
            frame_interval: 0.04,
            fields: Vec::new(),
            forces: Vec::new(),
            plots: Vec::new(),
            color_by: ColorBy::Body,
            camera: None,
            picture_size: [960, 540],
        }
    }
}

/// An extra property of the particles in frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Field {
    /// Volume ratio, determinant of the deformation gradient; property `J` [-].
    J,
    /// Accumulated plastic strain; property `plastic_strain` [-].
    PlasticStrain,
    /// Frobenius norm of the Kirchhoff stress; property `stress_norm` [Pa].
    StressNorm,
    /// Mass; property `mass` [kg].
    Mass,
    /// Volume at rest; property `volume` [m^3]. Times `J` it is the present volume.
    Volume,
    /// Affine velocity field, the gradient of the velocity around the particle; properties
    /// `affine_xx`, `affine_xy` to `affine_zz`, where `affine_xy` is dv_x/dy [1/s].
    Affine,
    /// Time of the frame, as a comment `time 0.04 s` in the header [s].
    Time,
}

impl Field {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::J, Self::PlasticStrain, Self::StressNorm, Self::Mass, Self::Volume, Self::Affine, Self::Time];
}

/// Colour of the particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ColorBy {
    /// The colour of the soft body that a particle came from.
    Body,
    /// Speed, over the range in the frame.
    Speed,
    /// Volume ratio, over the range in the frame.
    J,
    /// Plastic strain, over the range in the frame.
    PlasticStrain,
    /// Stress norm, over the range in the frame.
    StressNorm,
}

/// The camera of the pictures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// The eye, world frame [m].
    pub position: [f64; 3],
    /// The point in the middle of the picture, world frame [m].
    pub target: [f64; 3],
    /// Vertical angle of view, in (0, pi) [rad].
    #[serde(default = "usual_field_of_view")]
    pub field_of_view: f64,
}

fn usual_field_of_view() -> f64 {
    0.6
}
