//! Slip in a grip: displacement of the layers of particles at panels and at the held body.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_coupling::{BackendError, ParticleSnapshot, World};
use pliant_rigid::BodyId;

/// A stack along x between two panels, as in the scene `shake`: panel, soft cube, held body, soft
/// cube, panel.
///
/// Contact holds the velocity of a particle to that of the body at the particle itself, so motion
/// of the first layer of particles in the frame of the body that it touches is slip, without the
/// sag of the soft cubes.
#[derive(Clone, Debug)]
pub struct Grip {
    /// Left and right, on each the layer at the panel and the one at the held body.
    layers: [[Layer; 2]; 2],
    snapshot: ParticleSnapshot,
}

/// The particles that touch one face of a body.
#[derive(Clone, Debug)]
struct Layer {
    body: BodyId,
    particles: Vec<usize>,
    /// Their positions in the body's frame when the grip was closed \[m\].
    closed: Vec<Vector3<f64>>,
}

/// Slip since the grip was closed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slip {
    /// Of the held body against the panels: on each side the mean over the layers, summed over both
    /// interfaces, along y and z; the longer of the two sides \[m\].
    pub held: f64,
    /// Along the most slipped of the four interfaces, mean over its layer \[m\].
    pub interface: f64,
    /// Of the particle that slid farthest \[m\].
    pub worst: f64,
}

impl Grip {
    /// Finds the layers of a world before its first step: the particles farthest left and right on
    /// each side of the held body. `None` where a body does not exist or a side has no particles.
    ///
    /// # Errors
    /// Particles that a backend cannot return.
    pub fn new(world: &mut World, panels: [&str; 2], held: &str) -> Result<Option<Self>, BackendError> {
        let mut snapshot = ParticleSnapshot::default();
        world.snapshot(&mut snapshot)?;
        Ok(Self::find(world, snapshot, panels, held))
    }

    fn find(world: &World, snapshot: ParticleSnapshot, panels: [&str; 2], held: &str) -> Option<Self> {
        let find = |name: &str| world.bodies().find(name);
        let bodies = [find(panels[0])?, find(panels[1])?];
        let held = find(held)?;
        let middle = world.bodies().pose(held).translation.vector.x;
        let side = |sign: f64, panel: BodyId| -> Option<[Layer; 2]> {
            let away = |x: &[f64; 3]| sign * (x[0] - middle);
            let own = || snapshot.positions.iter().map(away).filter(|d| *d > 0.0);
            let ends = own().fold([f64::INFINITY, 0.0], |[near, far]: [f64; 2], d| [near.min(d), far.max(d)]);
            // The lattice is regular: a layer are the particles within half a thousandth of the
            // cube's size.
            let slack = 5e-4 * (ends[1] - ends[0]);
            let layer = |at: f64, body: BodyId| {
                let near = |k: &usize| (away(&snapshot.positions[*k]) - at).abs() <= slack;
                let particles: Vec<usize> = (0..snapshot.positions.len()).filter(near).collect();
                (!particles.is_empty()).then_some(Layer { body, particles, closed: Vec::new() })
            };
            Some([layer(ends[1], panel)?, layer(ends[0], held)?])
        };
        let layers = [side(-1.0, bodies[0])?, side(1.0, bodies[1])?];
        let mut grip = Self { layers, snapshot };
        grip.count_from_here(world);
        Some(grip)
    }

    /// Counts slip from now on.
    ///
    /// # Errors
    /// Particles that a backend cannot return.
    pub fn close(&mut self, world: &mut World) -> Result<(), BackendError> {
        world.snapshot(&mut self.snapshot)?;
        self.count_from_here(world);
        Ok(())
    }

    fn count_from_here(&mut self, world: &World) {
        for layer in self.layers.iter_mut().flatten() {
            layer.closed = layer.places(world, &self.snapshot).collect();
        }
    }

    /// Slip since the grip was closed.
    ///
    /// # Errors
    /// Particles that a backend cannot return.
    pub fn slip(&mut self, world: &mut World) -> Result<Slip, BackendError> {
        world.snapshot(&mut self.snapshot)?;
        let mut slip = Slip::default();
        for side in &self.layers {
            let mut total = Vector3::zeros();
            for (layer, sign) in side.iter().zip([1.0, -1.0]) {
                let mut mean = Vector3::zeros();
                for (now, closed) in layer.places(world, &self.snapshot).zip(&layer.closed) {
                    let slid = along_the_face(&(now - closed));
                    slip.worst = slip.worst.max(slid.norm());
                    mean += slid / layer.particles.len() as f64;
                }
                slip.interface = slip.interface.max(mean.norm());
                // The soft cube moves ahead of the panel by the slip of its layer, the held body
                // falls behind the soft cube.
                total += sign * mean;
            }
            slip.held = slip.held.max(total.norm());
        }
        Ok(slip)
    }
}

/// Component of a displacement \[m\] in the frame of a body along its faces across x, sideways and
/// up.
fn along_the_face(way: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(0.0, way.y, way.z)
}

impl Layer {
    /// The particles in the body's frame \[m\].
    fn places<'a>(
        &'a self,
        world: &World,
        snapshot: &'a ParticleSnapshot,
    ) -> impl Iterator<Item = Vector3<f64>> + 'a {
        let into: Isometry3<f64> = world.bodies().pose(self.body).inverse();
        self.particles.iter().map(move |k| (into * Point3::from(snapshot.positions[*k])).coords)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: faces are across x, so motion of a particle along y and z is slip, and motion along x
    // is not.
    #[test]
    fn slip_is_sideways_and_up_and_not_into_the_face() {
        assert_eq!(along_the_face(&Vector3::new(5.0, 3.0, -4.0)).norm(), 5.0);
        assert_eq!(along_the_face(&Vector3::new(5.0, 0.0, -4.0)).norm(), 4.0);
        assert_eq!(along_the_face(&Vector3::new(5.0, 3.0, 0.0)).norm(), 3.0);
    }
}
