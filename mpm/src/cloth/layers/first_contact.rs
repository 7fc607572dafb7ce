//! The first contact of two elements whose points move evenly along straight lines: additive
//! continuous collision detection (Li, Kaufman and Jiang, "Codimensional incremental potential
//! contact", 2021, algorithm 1). Steps towards the contact are so short that the elements cannot meet
//! within one, so that no contact is missed, whatever the rounding of a root would be.

use nalgebra::Vector3;

use super::distance::{Closest, Kind};

type V3 = Vector3<f64>;

/// Part of the distance at the start that is left where a contact is said to begin \[-\]; the larger one for
/// elements that are as near as elements in contact come.
const REMAINDER: f64 = 0.1;
const REMAINDER_OF_NEAR: f64 = 0.9;

/// No advance can end below this part of the limit \[-\].
const REACH: f64 = 0.5;

/// Steps before two elements are taken to touch. Each shortens the distance to a contact by a constant
/// factor; a motion that comes near without a contact takes many.
const MOST_STEPS: usize = 200;

/// Two elements at their first contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstContact {
    pub closest: Closest,
    /// Their distance then \[m\].
    pub distance: f64,
}

/// The first contact within a step, if there is one: where the distance has fallen to a tenth of that
/// at the start, or to `least` \[m\]; of elements that are nearer than that from the start, to nine tenths.
/// None for elements that touch at the start.
pub(super) fn first_contact(kind: Kind, from: &[V3; 4], to: &[V3; 4], least: f64) -> Option<FirstContact> {
    let closest = Closest::of(kind, from);
    let distance = closest.apart.norm();
    // Not `clamp`, which panics where a distance is not a number.
    let limit = least.max(REMAINDER * distance).min(REMAINDER_OF_NEAR * distance);
    approach(kind, (from, to), closest, limit)
}

/// The first place within a step where the distance is no more than `limit` \[m\], below that of the
/// elements at the start, `closest`; none if there is no such place, and for elements that touch then.
pub(crate) fn approach(
    kind: Kind,
    (from, to): (&[V3; 4], &[V3; 4]),
    mut closest: Closest,
    limit: f64,
) -> Option<FirstContact> {
    let mean: V3 = (0..4).map(|i| 0.25 * (to[i] - from[i])).sum();
    let motion: [V3; 4] = std::array::from_fn(|i| to[i] - from[i] - mean);
    let speed = motion.map(|m| m.norm());
    let fastest = match kind {
        Kind::VertexFace => speed[0] + speed[1].max(speed[2]).max(speed[3]),
        Kind::EdgeEdge => speed[0].max(speed[1]) + speed[2].max(speed[3]),
    };
    let mut distance = closest.apart.norm();
    // The whole motion cannot bring them so near.
    if distance == 0.0 || fastest <= distance - limit {
        return None;
    }
    let mut time = 0.0;
    for _ in 0..MOST_STEPS {
        time += (distance - REACH * limit) / fastest;
        if time >= 1.0 {
            return None;
        }
        let points: [V3; 4] = std::array::from_fn(|i| from[i] + motion[i] * time);
        closest = Closest::of(kind, &points);
        distance = closest.apart.norm();
        if distance <= limit {
            break;
        }
    }
    Some(FirstContact { closest, distance })
}
