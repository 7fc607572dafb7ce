//! The T-shirt that two hands fold, as the scene comes with Pliant but coarser.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod scene_support;

use pliant_scenes::builtin;
use pliant_scenes::format::Quantity;
use scene_support::goals;

/// End of the first fold [s].
const FOLDED: f64 = 4.35;

// Checks: a sheet folded along its axis covers half of what it covered. Held and carried by
// friction alone, it comes to lie within a cell or two of where that would be: from 0.42, where a
// fold's layers take their thickness from its width, to 0.6 of the flat area. Pinched softly, as it
// is, no layer goes through another: there is no crossing that was not there at the start. Mass and
// momentum are balanced to rounding.
#[test]
#[ignore = "slow tier"]
fn two_hands_fold_a_shirt_in_half() {
    let mut scene = builtin::scene("tshirt-folding").unwrap().unwrap();
    let flat = 0.1736; // the area of front and back lying flat [m^2]
    let keep = |quantity: fn(&Quantity) -> bool| {
        let mut goal = scene.goals.iter().find(|goal| quantity(&goal.quantity)).cloned().unwrap();
        (goal.from, goal.until) = (FOLDED, Some(FOLDED));
        goal
    };
    let mut half = keep(|quantity| matches!(quantity, Quantity::CoveredArea));
    (half.name, half.min, half.max) = ("half".to_owned(), Some(0.42 * flat), Some(0.6 * flat));
    let crossings = keep(|quantity| matches!(quantity, Quantity::NewCrossings));
    assert_eq!(crossings.max, Some(0.0));
    scene.goals = vec![half, crossings];
    let results = goals(&scene, &["grid_spacing=0.015625", &format!("duration={FOLDED}")]);
    assert!(results.iter().all(|goal| goal.met == Some(true)), "{results:#?}");
}
