//! Contact between layers on the arrays of the fast path ([`crate::cloth::layers`]): once a step, from
//! where the vertices were at its start to where its last substep has put them.

use nalgebra::Vector3;

use super::ClothMeshes;
use super::pins::place;
use crate::cloth::LayerReport;
use crate::cloth::layers::LayerContact;
use crate::tiles::ParticleStore;

/// Contact between layers, and where in a step it is.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    contact: LayerContact,
    /// Whether the substep that comes is the last of a step that has begun.
    is_due: bool,
    pub report: LayerReport,
}

impl Layers {
    pub fn new(faces: Vec<[u32; 3]>, vertices: usize, grid_spacing: f64) -> Self {
        let contact = LayerContact::new(faces, vertices, grid_spacing);
        Self { contact, is_due: false, report: LayerReport::default() }
    }

    /// The vertices were put elsewhere.
    pub fn forget(&mut self) {
        self.contact.forget();
        self.is_due = false;
    }

    pub fn memory(&self) -> usize {
        self.contact.memory()
    }
}

impl ClothMeshes {
    /// Begins a step: layers are to be kept from passing through each other from here on.
    pub(crate) fn begin_layer_contact(&mut self, store: &ParticleStore, origin: Vector3<f64>) {
        let (slots, spacing) = (&self.slots, self.grid_spacing);
        for (start, &at) in self.layers.contact.starts.iter_mut().zip(&self.places) {
            *start = place(slots[at as usize], store, origin, spacing).2;
        }
    }

    /// The next substep is the last of the step that has begun.
    pub(crate) fn end_layer_contact(&mut self) {
        self.layers.is_due = true;
    }

    /// What contact between layers came to in the last step.
    pub(crate) fn layer_report(&self) -> LayerReport {
        self.layers.report
    }

    /// Keeps the layers apart if the step ends here; `origin` is that of the grid now \[m\].
    pub(super) fn keep_layers_apart(&mut self, origin: Vector3<f64>) {
        if !std::mem::take(&mut self.layers.is_due) {
            return;
        }
        let (contact, spacing) = (&mut self.layers.contact, self.grid_spacing);
        let vertices = &mut self.vertices;
        for (v, corner) in vertices.corners.iter().enumerate() {
            let cells = vertices.locals[v].vector();
            contact.ends[v] = Vector3::from_fn(|d, _| (f64::from(corner[d]) + cells[d]) * spacing) + origin;
            contact.velocities[v] = vertices.velocities[v].vector();
            contact.inverse_masses[v] = f64::from(vertices.velocities[v].0[3]);
        }
        self.layers.report = contact.keep_apart();
        if self.layers.report.contacts == 0 {
            return;
        }
        for (v, corner) in vertices.corners.iter().enumerate() {
            for d in 0..3 {
                let cells = (contact.ends[v][d] - origin[d]) / spacing - f64::from(corner[d]);
                vertices.locals[v].0[d] = cells as f32;
                vertices.velocities[v].0[d] = contact.velocities[v][d] as f32;
            }
        }
    }
}
