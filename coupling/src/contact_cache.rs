//! The contacts of the last substep, with what the next one needs of them.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::pair::ContactPair;

/// A contact of a particle and a geometry in the last substep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CachedContact {
    /// The particle: the order in which it was added.
    pub particle: u32,
    /// Number of the geometry among all bodies' geometries.
    pub geometry: u32,
    /// Face of the geometry through which the particle entered.
    pub feature: u32,
    /// Normal impulse on the particle \[N s\]; negative only for a bonded contact, under tension.
    pub normal_impulse: f64,
    /// Whether the particle has been pressed onto an adhesive geometry, and held since.
    pub bonded: bool,
    /// Impulse on the particle, world frame \[N s\].
    pub impulse: [f64; 3],
    /// Signed distance of the particle's centre, measured from `feature` \[m\].
    pub distance: f64,
    /// How far outside the geometry the particle is although it is behind `feature`: pressed out at
    /// the far side \[m\].
    pub exit_distance: f64,
}

/// The contacts of the last substep, found by particle and geometry.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactCache {
    /// A particle's contacts are neighbours.
    list: Vec<CachedContact>,
    /// For each particle, one more than the index of its first entry in `list`; 0 for none.
    first: Vec<u32>,
    /// Largest `exit_distance` \[m\].
    pub farthest: f64,
}

impl ContactCache {
    pub(crate) fn new(particles: usize) -> Self {
        Self { first: vec![0; particles], ..Self::default() }
    }

    /// The contacts of this particle and geometry: those of a face's centroid act at its three
    /// vertices in turn, others have one.
    pub(crate) fn find(&self, particle: u32, geometry: u32) -> [Option<CachedContact>; 3] {
        let mut found = [None; 3];
        if let Some(first) = self.first[particle as usize].checked_sub(1) {
            let own = self.list[first as usize..].iter().take_while(|m| m.particle == particle);
            for (place, contact) in found.iter_mut().zip(own.filter(|m| m.geometry == geometry)) {
                *place = Some(*contact);
            }
        }
        found
    }

    /// Stores the impulses (on the particles, world frame \[N s\]) of these pairs; drops all
    /// others.
    pub(crate) fn store(&mut self, pairs: &[ContactPair], impulses: &[[f64; 3]]) {
        for memory in &self.list {
            self.first[memory.particle as usize] = 0;
        }
        self.list.clear();
        self.farthest = 0.0;
        for (pair, impulse) in pairs.iter().zip(impulses) {
            let first = &mut self.first[pair.particle as usize];
            if *first == 0 {
                *first = self.list.len() as u32 + 1;
            }
            let normal_impulse = pair.normal.dot(&Vector3::from(*impulse));
            let held = pair.tension > 0.0;
            self.list.push(CachedContact {
                particle: pair.particle,
                geometry: pair.geometry,
                feature: pair.feature,
                normal_impulse: if held { normal_impulse } else { normal_impulse.max(0.0) },
                bonded: held || (pair.adhesive && normal_impulse > 0.0),
                impulse: *impulse,
                distance: pair.distance,
                exit_distance: pair.pressed_out,
            });
            self.farthest = self.farthest.max(pair.pressed_out);
        }
    }

    /// All of them, to save.
    pub(crate) fn list(&self) -> &[CachedContact] {
        &self.list
    }

    /// Takes a saved list; false if it names particles or geometries that do not exist.
    pub(crate) fn restore(&mut self, list: Vec<CachedContact>, geometries: usize) -> bool {
        let particles = self.first.len();
        if !list.iter().all(|m| (m.particle as usize) < particles && (m.geometry as usize) < geometries) {
            return false;
        }
        self.first.fill(0);
        for (i, m) in list.iter().enumerate().rev() {
            self.first[m.particle as usize] = i as u32 + 1;
        }
        self.farthest = list.iter().map(|m| m.exit_distance).fold(0.0, f64::max);
        self.list = list;
        true
    }
}
