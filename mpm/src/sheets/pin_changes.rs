//! Pins that are moved, set and released between steps.

use nalgebra::Vector3;

use super::ClothMeshes;
use super::pins::place;
use crate::cloth::{Pin, PinError};
use crate::engine::Mpm;
use crate::tiles::ParticleStore;

impl ClothMeshes {
    /// Number of a vertex of a sheet, or of a rope, among those of all.
    fn vertex_number(&self, sheet: usize, vertex: usize) -> Result<u32, PinError> {
        let of_ropes = self.ropes.len();
        let count = self.spans.len() + of_ropes;
        let of_sheet = self.spans.get(sheet).map(|span| span.vertices.clone());
        let of_rope = || self.ropes.vertices(sheet - self.spans.len());
        let vertices = of_sheet.or_else(of_rope).ok_or(PinError::NoSuchSheet { sheet, count })?;
        let count = vertices.len();
        if vertex < count {
            Ok((vertices.start + vertex) as u32)
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
    /// The pins of all sheets and ropes: the number of the sheet, or that of the rope after those of the
    /// sheets, and the pin with the vertex of it.
    pub fn pins(&self) -> impl Iterator<Item = (usize, &Pin)> {
        let sheets = self.sheets.as_deref().into_iter();
        sheets.flat_map(|sheets| {
            sheets.pins.all().iter().map(|(vertex, pin)| {
                let before = |span: &super::SheetSpan| span.vertices.end <= *vertex as usize;
                let sheet = sheets.spans.partition_point(before);
                let ropes = (0..sheets.ropes.len()).filter_map(|rope| sheets.ropes.vertices(rope));
                let ropes_before = ropes.take_while(|vertices| vertices.end <= *vertex as usize).count();
                (sheet + ropes_before, pin)
            })
        })
    }

    /// How often pins were changed since the start: who keeps a copy of them compares this number.
    pub fn pin_changes(&self) -> u64 {
        self.sheets.as_ref().map_or(0, |sheets| sheets.pins.changes)
    }

    /// Holds a vertex of a sheet, or of a rope (numbered after the sheets), from `time` on (s; now) and
    /// moves it on a line from where it is to `to` (m, world frame) within a time \[s\]; it is held there
    /// until it is moved again or
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

    /// Releases a vertex of a sheet or rope at `time` \[s\]; one without a pin stays as it is.
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

    /// Replaces all pins by those of a saved state, each with the number of its sheet or rope.
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
