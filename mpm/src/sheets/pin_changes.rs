//! Pins that are moved, set and released between steps.

use nalgebra::Vector3;

use super::ClothMeshes;
use super::pins::place;
use crate::cloth::{Pin, PinError};
use crate::engine::Mpm;
use crate::tiles::ParticleStore;

impl ClothMeshes {
    /// Number of a sheet's vertex among those of all sheets.
    fn vertex_number(&self, sheet: usize, vertex: usize) -> Result<u32, PinError> {
        let count = self.spans.len();
        let span = self.spans.get(sheet).ok_or(PinError::NoSuchSheet { sheet, count })?;
        let count = span.vertices.len();
        if vertex < count {
            Ok((span.vertices.start + vertex) as u32)
        } else {
            Err(PinError::NoSuchVertex { vertex, count })
        }
    }

    /// Where a vertex is at `time`: exactly where its pin holds it, if one does \[m\].
    fn vertex_position(
        &self,
        number: u32,
        time: f64,
        store: &ParticleStore,
        origin: Vector3<f64>,
    ) -> Vector3<f64> {
        let mut pins = self.pins.all().iter();
        match pins.find(|(vertex, pin)| *vertex == number && pin.holds(time)) {
            Some((_, pin)) => pin.position(time),
            None => {
                let slot = self.slots[self.places[number as usize] as usize];
                place(slot, store, origin, self.grid_spacing).2
            }
        }
    }
}

impl Mpm {
    /// The pins of all sheets: the number of the sheet, and the pin with the vertex of that sheet.
    pub fn pins(&self) -> impl Iterator<Item = (usize, &Pin)> {
        let sheets = self.sheets.as_deref().into_iter();
        sheets.flat_map(|sheets| {
            sheets.pins.all().iter().map(|(vertex, pin)| {
                let before = |span: &super::SheetSpan| span.vertices.end <= *vertex as usize;
                (sheets.spans.partition_point(before), pin)
            })
        })
    }

    /// How often pins were changed since the start: who keeps a copy of them compares this number.
    pub fn pin_changes(&self) -> u64 {
        self.sheets.as_ref().map_or(0, |sheets| sheets.pins.changes)
    }

    /// Holds a vertex of a sheet from `time` on (s; now) and moves it on a line from where it is to
    /// `to` (m, world frame) within a time \[s\]; it is held there until it is moved again or
    /// released. A pin that holds it already is replaced.
    ///
    /// # Errors
    /// No such sheet or vertex, a time that is not finite and positive, a place that is not finite;
    /// nothing is changed then.
    pub fn move_pin(
        &mut self,
        sheet: usize,
        vertex: usize,
        time: f64,
        to: &Vector3<f64>,
        within: f64,
    ) -> Result<(), PinError> {
        let origin = self.grid_origin();
        let Self { sheets, store, .. } = self;
        let Some(sheets) = sheets.as_deref_mut() else {
            return Err(PinError::NoSuchSheet { sheet, count: 0 });
        };
        let number = sheets.vertex_number(sheet, vertex)?;
        if !(within.is_finite() && within > 0.0) {
            return Err(PinError::Within(within));
        }
        let from = sheets.vertex_position(number, time, store, origin);
        let pin = Pin::new(vertex, vec![(time, from), (time + within, *to)], f64::INFINITY)?;
        sheets.pins.set(number, pin);
        Ok(())
    }

    /// Releases a vertex of a sheet at `time` \[s\]; one without a pin stays as it is.
    ///
    /// # Errors
    /// No such sheet or vertex.
    pub fn release_pin(&mut self, sheet: usize, vertex: usize, time: f64) -> Result<(), PinError> {
        let Some(sheets) = self.sheets.as_deref_mut() else {
            return Err(PinError::NoSuchSheet { sheet, count: 0 });
        };
        let number = sheets.vertex_number(sheet, vertex)?;
        let held = sheets.pins.all().iter().find(|(of, _)| *of == number);
        if let Some(released) = held.map(|(_, pin)| pin.clone().released_at(time)) {
            sheets.pins.set(number, released);
        }
        Ok(())
    }

    /// Replaces all pins by those of a saved state, each with the number of its sheet.
    ///
    /// # Errors
    /// No such sheet or vertex; nothing is changed then.
    pub fn set_pins(&mut self, pins: Vec<(usize, Pin)>) -> Result<(), PinError> {
        let Some(sheets) = self.sheets.as_deref_mut() else {
            let first = pins.first().map(|(sheet, _)| *sheet);
            return first.map_or(Ok(()), |sheet| Err(PinError::NoSuchSheet { sheet, count: 0 }));
        };
        let numbered = |(sheet, pin): (usize, Pin)| Ok((sheets.vertex_number(sheet, pin.vertex())?, pin));
        let pins = pins.into_iter().map(numbered).collect::<Result<Vec<_>, PinError>>()?;
        sheets.pins.replace(pins);
        Ok(())
    }
}
