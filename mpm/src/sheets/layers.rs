//! Contact between layers on the arrays of the fast path ([`crate::cloth::layers`]): once a step, from
//! where the vertices were at its start to where its last substep has put them.

use nalgebra::Vector3;

use super::arrays::Vertices;
use super::pins::PinImpulse;
use crate::cloth::LayerReport;
use crate::cloth::layers::LayerContact;

/// Contact between layers, and where in a step it is.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    contact: LayerContact,
    /// Whether the substep that comes is the last of a step that has begun.
    is_due: bool,
    /// What the last step came to.
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

    /// Takes note of which faces have torn, in their order.
    pub fn set_torn(&mut self, torn: impl Iterator<Item = bool>) {
        self.contact.set_torn(torn);
    }

    /// Begins a step with the vertices at these positions \[m\].
    pub fn begin(&mut self, positions: impl Iterator<Item = Vector3<f64>>) {
        self.contact.starts.iter_mut().zip(positions).for_each(|(start, position)| *start = position);
    }

    /// The next substep is the last of the step that has begun.
    pub fn end(&mut self) {
        self.is_due = true;
    }

    /// Keeps the layers apart if the step ends here; `grid` has the grid's origin now, and its spacing \[m\].
    /// What pins hold gives its impulses to `pins`.
    pub fn keep_apart(&mut self, vertices: &mut Vertices, pins: &mut PinImpulse, grid: (Vector3<f64>, f64)) {
        if !std::mem::take(&mut self.is_due) {
            return;
        }
        let contact = &mut self.contact;
        // Those of ropes follow.
        let count = contact.starts.len();
        for v in 0..count {
            contact.ends[v] = vertices.position(v, grid);
            contact.velocities[v] = vertices.velocities[v].vector();
            contact.inverse_masses[v] = f64::from(vertices.velocities[v].0[3]);
        }
        self.report = contact.keep_apart();
        if self.report.contacts == 0 && self.report.crossed == 0 {
            return;
        }
        let (impulses, moment) = contact.held_impulses();
        for (v, impulse) in impulses {
            pins.impulse.linear -= impulse;
            pins.work -= impulse.dot(&contact.velocities[v]);
        }
        pins.impulse.angular += moment;
        for v in 0..count {
            vertices.put(v, &contact.ends[v], grid);
            for d in 0..3 {
                vertices.velocities[v].0[d] = contact.velocities[v][d] as f32;
            }
        }
    }

    pub fn memory(&self) -> usize {
        self.contact.memory()
    }
}
