//! Pins of cloth and ropes in a saved state: they may be moved and released between steps.

use nalgebra::Vector3;
use pliant_mpm::Mpm;
use pliant_mpm::cloth::{Pin, PinError};
use serde::{Deserialize, Serialize};

/// A pin as it is written.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedPin {
    sheet: usize,
    vertex: usize,
    /// Times \[s\] and positions \[m\].
    path: Vec<(f64, [f64; 3])>,
    /// \[s\]; none for never.
    release: Option<f64>,
}

impl SavedPin {
    /// Those of all sheets, and of all ropes, which are numbered after them.
    pub(crate) fn all(mpm: &Mpm) -> Vec<Self> {
        let saved = |(sheet, pin): (usize, &Pin)| Self {
            sheet,
            vertex: pin.vertex(),
            path: pin.path().iter().map(|(time, position)| (*time, (*position).into())).collect(),
            release: Some(pin.release()).filter(|time| time.is_finite()),
        };
        mpm.pins().map(saved).collect()
    }

    /// Replaces the pins of a model.
    pub(crate) fn restore(saved: Vec<Self>, mpm: &mut Mpm) -> Result<(), PinError> {
        let pin = |Self { sheet, vertex, path, release }: Self| {
            let path = path.into_iter().map(|(time, position)| (time, Vector3::from(position))).collect();
            Ok((sheet, Pin::new(vertex, path, release.unwrap_or(f64::INFINITY))?))
        };
        let pins = saved.into_iter().map(pin).collect::<Result<Vec<_>, PinError>>()?;
        mpm.set_pins(pins)
    }
}
