//! Impulses between elements in contact: displacements and velocities that no longer bring them
//! together (the linear constraints of Harmon, Vouga, Tamstorf and Grinspun, "Robust treatment of
//! simultaneous collisions", 2008, as inequalities, by projected Gauss-Seidel).

use nalgebra::Vector3;

use super::distance::Closest;

type V3 = Vector3<f64>;

/// Sweeps over the contacts each time that contacts were looked for, and over their velocities.
const SWEEPS: usize = 4;
const VELOCITY_SWEEPS: usize = 8;

/// A contact of two elements. Its impulses act on the four points by their weights along the normal:
/// they sum to zero, and have no moment where the elements met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    pub vertices: [u32; 4],
    weights: [f64; 4],
    normal: V3,
    /// Least distance along the normal at the end \[m\].
    gap: f64,
    /// Inverse of the sum of the squared weights over the masses; 0 where all points are held \[kg\].
    mass: f64,
    /// Impulse times the step so far \[kg m\], and impulse \[N s\].
    pushed: f64,
    impulse: f64,
}

impl Contact {
    /// The points at these weights are to be at least `gap` apart \[m\] along the direction in which they
    /// are apart now.
    pub fn new(vertices: [u32; 4], closest: &Closest, gap: f64, inverse_masses: &[f64]) -> Self {
        let weights = closest.weights;
        let mobility: f64 =
            vertices.iter().zip(weights).map(|(v, w)| w * w * inverse_masses[*v as usize]).sum();
        Self {
            vertices,
            weights,
            normal: closest.apart / closest.apart.norm(),
            gap,
            mass: if mobility > 0.0 { 1.0 / mobility } else { 0.0 },
            pushed: 0.0,
            impulse: 0.0,
        }
    }

    /// Whether there was an impulse between the positions.
    pub fn is_pushed(&self) -> bool {
        self.pushed > 0.0
    }

    /// Impulse times the step so far on each point, by its number \[kg m\].
    pub fn pushes(&self) -> impl Iterator<Item = (usize, V3)> + '_ {
        let of = |(&v, w): (&u32, f64)| (v as usize, self.normal * (self.pushed * w));
        self.vertices.iter().zip(self.weights).map(of)
    }

    /// Impulse on each point, by its number \[N s\].
    pub fn impulses(&self) -> impl Iterator<Item = (usize, V3)> + '_ {
        let of = |(&v, w): (&u32, f64)| (v as usize, self.normal * (self.impulse * w));
        self.vertices.iter().zip(self.weights).map(of)
    }

    fn along_normal(&self, of: &[V3]) -> f64 {
        let terms = self.vertices.iter().zip(self.weights);
        terms.map(|(v, w)| w * self.normal.dot(&of[*v as usize])).sum()
    }

    fn apply(&self, change: f64, inverse_masses: &[f64], to: &mut [V3]) {
        for (&v, weight) in self.vertices.iter().zip(self.weights) {
            to[v as usize] += self.normal * (change * weight * inverse_masses[v as usize]);
        }
    }
}

/// Moves the ends of the steps of all points until no contact is closer than it may be, as far as the
/// sweeps get.
pub(crate) fn push_apart(contacts: &mut [Contact], inverse_masses: &[f64], ends: &mut [V3]) {
    for _ in 0..SWEEPS {
        for contact in &mut *contacts {
            let before = contact.pushed;
            let missing = contact.gap - contact.along_normal(ends);
            contact.pushed = (before + missing * contact.mass).max(0.0);
            contact.apply(contact.pushed - before, inverse_masses, ends);
        }
    }
}

/// Takes away the velocities with which elements in contact approach each other.
pub(super) fn stop_approach(contacts: &mut [Contact], inverse_masses: &[f64], velocities: &mut [V3]) {
    for _ in 0..VELOCITY_SWEEPS {
        for contact in &mut *contacts {
            let before = contact.impulse;
            let approach = -contact.along_normal(velocities);
            contact.impulse = (before + approach * contact.mass).max(0.0);
            contact.apply(contact.impulse - before, inverse_masses, velocities);
        }
    }
}
