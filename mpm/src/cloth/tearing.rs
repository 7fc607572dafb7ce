//! What a fabric bears before it tears; the law is [`super::tear`].

use crate::material::{MaterialError, unless_positive};
use serde::{Deserialize, Serialize};

/// How a fabric tears.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tearing {
    /// Force at which a strip breaks, per width \[N/m\].
    pub strength: f64,
    /// Energy that a tear takes, per length \[J/m\]. In the test with two legs that are pulled apart it is
    /// twice the force on one of them.
    pub energy: f64,
}

impl Tearing {
    /// All figures that are out of range or not numbers.
    pub(super) fn out_of_range(&self) -> [Option<MaterialError>; 2] {
        [
            unless_positive("tearing.strength", self.strength, "N/m"),
            unless_positive("tearing.energy", self.energy, "J/m"),
        ]
    }
}
