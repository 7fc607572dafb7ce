//! Gas in closed cloths.

use pliant_mpm::cloth::Gas;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Gas in a closed cloth, whose pressure acts on its faces. Gauge pressures are above that around the
/// cloth, and below it where negative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClothGas {
    /// The same pressure at every volume, as of a bag that is joined to a pump or a large tank.
    ConstantPressure {
        /// Gauge pressure [Pa].
        gauge_pressure: f64,
    },
    /// A fixed amount of gas at constant temperature: absolute pressure times volume is constant.
    Isothermal {
        /// Gauge pressure at `volume`, above minus the ambient pressure [Pa].
        gauge_pressure: f64,
        /// Absolute pressure around the cloth [Pa].
        #[serde(default = "sea_level")]
        ambient_pressure: f64,
        /// Volume at which the gas has its gauge pressure, up to 20 times that of the cloth at rest;
        /// null: that of the cloth at rest [m^3].
        #[serde(default)]
        volume: Option<f64>,
    },
}

impl ClothGas {
    /// The gas as the particles' crate takes it.
    pub(super) fn gas(&self) -> Gas {
        match *self {
            Self::ConstantPressure { gauge_pressure } => Gas::ConstantPressure { gauge_pressure },
            Self::Isothermal { gauge_pressure, ambient_pressure, volume } => {
                Gas::Isothermal { gauge_pressure, ambient_pressure, volume }
            }
        }
    }
}

/// Of the standard atmosphere [Pa].
fn sea_level() -> f64 {
    101_325.0
}
