//! Measures of garments.

use pliant_coupling::AutoOr;
use pliant_garment::{TShirt, Trousers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Measures of a T-shirt, see [`TShirt`]. Left out, they are those of a child's shirt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TShirtMeasures {
    /// Width of the body [m].
    pub chest_width: f64,
    /// Length from the neck's ends to the waist, along y [m].
    pub length: f64,
    /// How far a sleeve reaches beyond the body, along x [m].
    pub sleeve_length: f64,
    /// Width of a cuff, lying flat [m].
    pub sleeve_opening: f64,
    /// Distance along y from the ends of the neck down to the upper end of a cuff [m].
    pub sleeve_drop: f64,
    /// Width of the neck [m].
    pub neck_width: f64,
    /// Depth of the neck in front [m].
    pub front_neck_depth: f64,
    /// Depth of the neck in the back, less than in front [m].
    pub back_neck_depth: f64,
    /// Distance between front and back at the start [m]. "auto" is 1.5 times the grid spacing.
    pub gap: AutoOr<f64>,
    /// Target length of edges [m]. "auto" is 1.265 times the grid spacing.
    pub spacing: AutoOr<f64>,
}

impl Default for TShirtMeasures {
    fn default() -> Self {
        let shirt = TShirt::default();
        Self {
            chest_width: shirt.chest_width,
            length: shirt.length,
            sleeve_length: shirt.sleeve_length,
            sleeve_opening: shirt.sleeve_opening,
            sleeve_drop: shirt.sleeve_drop,
            neck_width: shirt.neck_width,
            front_neck_depth: shirt.front_neck_depth,
            back_neck_depth: shirt.back_neck_depth,
            gap: AutoOr::Auto,
            spacing: AutoOr::Auto,
        }
    }
}

impl TShirtMeasures {
    /// The shirt for a grid of this spacing [m].
    pub fn shirt(&self, grid_spacing: f64) -> TShirt {
        let auto = TShirt::for_grid(grid_spacing);
        TShirt {
            chest_width: self.chest_width,
            length: self.length,
            sleeve_length: self.sleeve_length,
            sleeve_opening: self.sleeve_opening,
            sleeve_drop: self.sleeve_drop,
            neck_width: self.neck_width,
            front_neck_depth: self.front_neck_depth,
            back_neck_depth: self.back_neck_depth,
            gap: self.gap.value().unwrap_or(auto.gap),
            spacing: self.spacing.value().unwrap_or(auto.spacing),
        }
    }
}

/// Measures of trousers, see [`Trousers`]. Left out, they are those of a child's trousers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TrousersMeasures {
    /// Width of the waist [m].
    pub waist_width: f64,
    /// Length from the waist to the hems, along y [m].
    pub length: f64,
    /// Length from the waist to the point between the legs, along y [m].
    pub rise: f64,
    /// Width of a leg's hem, lying flat [m].
    pub leg_opening: f64,
    /// Distance of the two hems from each other, along x [m].
    pub leg_distance: f64,
    /// Distance between front and back at the start [m]. "auto" is 1.5 times the grid spacing.
    pub gap: AutoOr<f64>,
    /// Target length of edges [m]. "auto" is 1.265 times the grid spacing.
    pub spacing: AutoOr<f64>,
}

impl Default for TrousersMeasures {
    fn default() -> Self {
        let trousers = Trousers::default();
        Self {
            waist_width: trousers.waist_width,
            length: trousers.length,
            rise: trousers.rise,
            leg_opening: trousers.leg_opening,
            leg_distance: trousers.leg_distance,
            gap: AutoOr::Auto,
            spacing: AutoOr::Auto,
        }
    }
}

impl TrousersMeasures {
    /// The trousers for a grid of this spacing [m].
    pub fn trousers(&self, grid_spacing: f64) -> Trousers {
        let auto = Trousers::for_grid(grid_spacing);
        Trousers {
            waist_width: self.waist_width,
            length: self.length,
            rise: self.rise,
            leg_opening: self.leg_opening,
            leg_distance: self.leg_distance,
            gap: self.gap.value().unwrap_or(auto.gap),
            spacing: self.spacing.value().unwrap_or(auto.spacing),
        }
    }
}
