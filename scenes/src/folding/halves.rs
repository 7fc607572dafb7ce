//! A garment that is folded along its length and then across it.

use super::carriages::{carrying, fold_across, fold_side, unfold_across, unfold_side};
use super::hands::{Carriage, Columns, Side};
use super::pattern::{Pattern, side_beyond};
use super::plan::{Carried, Folds, Plan, Stage};

/// The left half is laid onto the right one, the lower half onto the upper one; both are undone.
pub fn halves(pattern: &Pattern) -> Plan {
    let both = pattern.lower_at.len() > 1;
    let carried = |(carriage, wrist)| Carried { carriage, wrist };
    let sides = [(Side::Left, 0), (Side::Right, 1)];
    let lower = || [Side::Left, Side::Right].into_iter().zip(&pattern.lower_at);
    // Where the wrists wait: half-way to where they have to be next.
    let [first, last] = [[-0.8, if both { -0.8 } else { -1.6 }], [1.6, if both { 1.6 } else { -1.6 }]];
    let side = |wrists: [f64; 2], carry: fn(&Pattern, Side, usize) -> Carriage| {
        let moves = sides.into_iter().zip(wrists);
        moves.map(|((side, edge), wrist)| carried((carry(pattern, side, edge), wrist))).collect::<Vec<_>>()
    };
    let stages = vec![
        side(first, fold_side),
        lower().map(|(side, place)| carried((fold_across(pattern, side, place), 0.0))).collect(),
        lower().map(|(side, place)| carried((unfold_across(pattern, side, place), 0.8))).collect(),
        side(last, unfold_side),
    ];
    Plan {
        shape: pattern.shape.clone(),
        // Two hands at one edge have to reach the same y.
        columns: if both { Columns::Between } else { Columns::Below },
        stages: stages.into_iter().map(Stage::of).collect(),
        folded: [1, 2],
        folds: Folds::Halves { beyond: [side_beyond(pattern), carrying(pattern).beyond] },
    }
}
