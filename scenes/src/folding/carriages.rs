//! Which edges the hands take, and how they carry them.

use super::hands::{CLEARANCE, Carriage, SLIDING, STAND_OFF, Side};
use super::pattern::{EDGE_BEYOND, EdgePlace, Pattern, side_beyond};
use crate::format::ClothPoint;

/// How far blades reach below an edge \[m\].
pub const DEPTH: f64 = 0.025;
/// How much farther than its place an edge is drawn that is laid back, which smooths the cloth \[m\].
pub const SMOOTHED: f64 = 0.01;

/// How long an edge is carried that is folded over \[s\].
pub const FOLDED_IN: f64 = 1.2;

/// How far blades reach below an edge that lies beyond another one, which is to stay: layers that share
/// cells of the grid move together.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// How often the points of that other edge count in the origin, beside those of this one.
    others: usize,
    /// From the origin inwards; less than 0 is before it \[m\].
    pub depth: f64,
    /// How far before the origin a hand comes down: beyond this edge \[m\].
    pub stand_off: f64,
}

impl Reach {
    /// Nearly half-way to the other edge. A blade that comes nearer can take it along.
    const HALF: Self = Self { others: 1, depth: -0.005, stand_off: STAND_OFF };
    /// Nearly two thirds of the way: soft edges lie as little as 12 mm beyond, and of half of that too little
    /// would be in the hand. Others lie 36 mm beyond: the hand comes down farther away.
    pub const TWO_THIRDS: Self = Self { others: 2, depth: -0.003, stand_off: STAND_OFF + 0.015 };

    /// The points whose mean is the origin.
    pub fn origin(self, edge: &[ClothPoint], other: &[ClothPoint]) -> Vec<ClothPoint> {
        std::iter::once(edge).chain(std::iter::repeat_n(other, self.others)).flatten().cloned().collect()
    }
}

/// How a garment is carried, by its layers.
#[derive(Clone, Copy, Debug)]
pub struct Carrying {
    /// How long an edge is carried that is laid back \[s\].
    pub unfolded_in: f64,
    /// How far the second fold reaches beyond what it is laid onto \[m\].
    pub beyond: f64,
    /// How much less far the first fold is carried than it is planned to reach \[m\].
    short: f64,
    /// How far blades reach below a side that is laid back.
    reach: Reach,
}

/// Of garments of two layers.
const LAYERS: Carrying =
    Carrying { unfolded_in: FOLDED_IN, beyond: EDGE_BEYOND, short: 0.0, reach: Reach::HALF };

/// The first fold of a narrow garment is planned to reach less than this beyond what it is laid onto \[m\].
const NARROW: f64 = 0.033;

/// Of a single layer. One below it that shares cells of the grid with it goes along where it is lifted
/// fast. Of the two edges that its second fold lays down, the outer one is up to 12 mm behind, and the inner
/// one droops to the table and is pushed along by a blade before it climbs onto it: both are in the hand only
/// if it reaches well below their mean. An edge of stiff cloth slides on when it is let go, up to 11 mm.
const LAYER: Carrying = Carrying { unfolded_in: 4.0, beyond: 0.045, short: 0.008, reach: Reach::HALF };

pub fn carrying(pattern: &Pattern) -> Carrying {
    let is_narrow = side_beyond(pattern) < NARROW;
    match pattern.layers {
        1 => LAYER,
        _ if is_narrow => Carrying { reach: Reach::TWO_THIRDS, ..LAYERS },
        _ => LAYERS,
    }
}

/// A hand takes the left side at its lower or upper corner and lays it onto the right side.
pub fn fold_side(pattern: &Pattern, side: Side, edge: usize) -> Carriage {
    let place = &pattern.folded_at[edge];
    Carriage {
        side,
        name: format!("{} side", ["lower", "upper"][edge]),
        origin: place.left.clone(),
        along: [pattern.upper.to_vec(), pattern.lower.to_vec()],
        turn: 0.0,
        at: 0.0,
        depth: DEPTH,
        stand_off: STAND_OFF,
        sliding: SLIDING,
        opening: 0.06,
        clearance: CLEARANCE,
        distance: 2.0 * place.from_middle + side_beyond(pattern) - carrying(pattern).short,
        lasting: FOLDED_IN,
        drop: 0.01,
        swapped: true,
    }
}

/// A hand takes the lower edge and lays it beyond the upper one.
pub fn fold_across(pattern: &Pattern, side: Side, place: &EdgePlace) -> Carriage {
    Carriage {
        side,
        name: ["lower edge", "lower edge at the fold"][side as usize].to_owned(),
        origin: place.fold.clone(),
        along: [pattern.inner.clone(), pattern.lower.to_vec()],
        turn: 0.0,
        at: 0.0,
        depth: DEPTH,
        stand_off: STAND_OFF,
        sliding: SLIDING,
        opening: 0.07,
        clearance: CLEARANCE,
        distance: pattern.length + carrying(pattern).beyond,
        lasting: FOLDED_IN,
        drop: 0.012,
        swapped: false,
    }
}

/// It takes that edge again and lays it back. Its blades end half-way to the upper edge below it: their
/// ends are polished and do not hold.
pub fn unfold_across(pattern: &Pattern, side: Side, place: &EdgePlace) -> Carriage {
    Carriage {
        side,
        name: ["folded corner", "folded edge at the fold"][side as usize].to_owned(),
        origin: place.unfold.clone(),
        along: [pattern.lower.to_vec(), pattern.inner.clone()],
        turn: 0.0,
        at: 0.0,
        depth: 0.0,
        stand_off: STAND_OFF,
        sliding: SLIDING,
        opening: 0.07,
        clearance: CLEARANCE,
        distance: place.length + SMOOTHED,
        lasting: carrying(pattern).unfolded_in,
        drop: 0.004,
        swapped: true,
    }
}

/// A hand takes the left side, which lies beyond the right one, and lays it back.
pub fn unfold_side(pattern: &Pattern, side: Side, edge: usize) -> Carriage {
    let (place, carrying) = (&pattern.unfolded_at[edge], carrying(pattern));
    let along: [Vec<ClothPoint>; 2] = [pattern.lower.to_vec(), pattern.upper.to_vec()];
    // From the line through the corners to the direction of the garment's length.
    let [lower, upper] = pattern.corners;
    let turn = ((upper.x - lower.x) / (upper.y - lower.y)).atan();
    Carriage {
        side,
        name: format!("folded {} side", ["lower", "upper"][edge]),
        origin: carrying.reach.origin(&place.left, &place.right),
        along,
        turn,
        at: place.at,
        depth: carrying.reach.depth,
        stand_off: carrying.reach.stand_off,
        sliding: SLIDING,
        opening: 0.06,
        clearance: CLEARANCE,
        distance: 2.0 * place.from_middle + SMOOTHED,
        lasting: carrying.unfolded_in,
        drop: 0.004,
        // The blades of hands that undid the second fold are the other way round.
        swapped: (side as usize) < pattern.lower_at.len(),
    }
}
