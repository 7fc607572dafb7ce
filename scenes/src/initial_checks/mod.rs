//! Checks of the initial state: bodies in bodies, soft bodies and cloths in soft bodies, grids too
//! coarse for a body, contacts too soft for a weight. (Particles in bodies are checked where a
//! world is built.)
//!
//! Contact removes an overlap within a step, which adds energy, and two materials at one point act
//! like one of twice the density: neither is intended. An intended overlap, such as an interference
//! fit, is named in `allow_overlap`.

mod resolution;
mod rigid;
mod soft;
mod soft_contact;
mod unused;

use pliant_io::text::listed;
use std::fmt;

pub use resolution::ResolutionError;
pub(crate) use resolution::fits_grid;
pub use rigid::RIGID_OVERLAP;
pub(crate) use rigid::bodies_in_bodies;
pub(crate) use soft::{ParticleCloud, PlacedShape, soft_in_soft};
pub(crate) use soft_contact::warn_of_soft_contacts;
pub(crate) use unused::warn_of_unused;

use crate::format::Scene;

/// Two things that overlap at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// One of them.
    pub first: String,
    /// The other.
    pub second: String,
    /// Depth of the deepest point of one in the other \[m\].
    pub depth: f64,
    /// Position of that point, world frame \[m\].
    pub place: [f64; 3],
    /// Allowed depth \[m\].
    pub limit: f64,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [x, y, z] = self.place;
        write!(
            f,
            "{} starts {:.4e} m inside {}, deepest at ({x:.4}, {y:.4}, {z:.4}) m; at most {:.1e} m is allowed",
            self.first, self.depth, self.second, self.limit
        )
    }
}

/// Things that overlap at the start; at least one pair.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}\nmove them apart, or name one of each pair in allow_overlap", listed(overlaps))]
pub struct OverlapError {
    /// The pairs, in the order of the scene.
    pub overlaps: Vec<Overlap>,
}

/// Whether a scene allows overlaps of the thing of this name, or of the robot that it is a link of.
fn is_allowed(scene: &Scene, name: &str) -> bool {
    let robot = name.split_once('/').map(|(robot, _)| robot);
    scene.allow_overlap.iter().any(|allowed| allowed == name || Some(allowed.as_str()) == robot)
}
