//! Plots that a scene asks for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A plot over time, `plots/NAME.svg` in the run directory, with its axes one above the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Name of the file; unique among the plots. Letters, digits, '-', '_' and '.'.
    pub name: String,
    /// Title of the plot; by default its name.
    #[serde(default)]
    pub title: Option<String>,
    /// The panels from above; at least one.
    pub panels: Vec<Panel>,
}

/// Axes with curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Title of the axes: what is plotted.
    pub title: String,
    /// The curves; at least one.
    pub curves: Vec<Curve>,
    /// Horizontal lines, such as a closed-form value.
    #[serde(default)]
    pub lines: Vec<Line>,
    /// Least and largest value of the vertical axis [N, N m]; left out, those of the curves and
    /// lines.
    #[serde(default)]
    pub range: Option<[f64; 2]>,
}

/// A force or torque of the particles on a body over time, mean over each step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// The body, or a link `robot/link`.
    pub body: String,
    /// Direction whose component is plotted, world frame; its length does not matter [-].
    pub direction: [f64; 3],
    /// The quantity.
    #[serde(default)]
    pub quantity: CurveQuantity,
    /// Name in the legend; by default the body's.
    #[serde(default)]
    pub name: Option<String>,
}

/// What a curve shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CurveQuantity {
    /// Force of the particles [N].
    #[default]
    Force,
    /// Torque of the particles about the body's origin [N m].
    Torque,
}

/// A horizontal line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Its height [N, N m].
    pub value: f64,
    /// Name in the legend.
    pub name: String,
}
