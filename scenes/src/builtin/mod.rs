//! The scenes that come with Pliant, one JSON file each beside this one.

use crate::format::{ParseError, Scene, parse_scene};

/// The built-in scenes: name and JSON.
const SCENES: [(&str, &str); 29] = [
    ("elastic-drop", include_str!("elastic-drop.json")),
    ("hold", include_str!("hold.json")),
    ("shake", include_str!("shake.json")),
    ("dough-rolling", include_str!("dough-rolling.json")),
    ("dough-pin", include_str!("dough-pin.json")),
    ("sand-column", include_str!("sand-column.json")),
    ("incline", include_str!("incline.json")),
    ("cylinder", include_str!("cylinder.json")),
    ("ball-drop", include_str!("ball-drop.json")),
    ("slide-cube", include_str!("slide-cube.json")),
    ("stack", include_str!("stack.json")),
    ("spin-sphere", include_str!("spin-sphere.json")),
    ("roll-cylinder", include_str!("roll-cylinder.json")),
    ("sphere-between-planes", include_str!("sphere-between-planes.json")),
    ("primitive-pile", include_str!("primitive-pile.json")),
    ("pile-scaling", include_str!("pile-scaling.json")),
    ("cube-in-hand", include_str!("cube-in-hand.json")),
    ("conveyor", include_str!("conveyor.json")),
    ("clutter-soft", include_str!("clutter-soft.json")),
    ("clutter-hard", include_str!("clutter-hard.json")),
    ("gripper", include_str!("gripper.json")),
    ("franka", include_str!("franka.json")),
    ("vacuum", include_str!("vacuum.json")),
    ("soft-grasp", include_str!("soft-grasp.json")),
    ("sand-scoop", include_str!("sand-scoop.json")),
    ("bread-split", include_str!("bread-split.json")),
    ("box-bagging", include_str!("box-bagging.json")),
    ("laundry", include_str!("laundry.json")),
    ("tshirt-folding", include_str!("tshirt-folding.json")),
];

/// Names of the built-in scenes.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCENES.iter().map(|(name, _)| *name)
}

/// The JSON of a built-in scene as it is written, or `None` if there is none of this name.
pub fn json(name: &str) -> Option<&'static str> {
    SCENES.iter().find(|(known, _)| *known == name).map(|(_, json)| *json)
}

/// A built-in scene, or `None` if there is none of this name.
///
/// # Errors
/// Never for a released version: a test reads all of them.
pub fn scene(name: &str) -> Option<Result<Scene, ParseError>> {
    json(name).map(parse_scene)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::validate;

    // Checks: what the library ships is valid, carries its own name, says what it shows, and
    // survives being written and read again.
    #[test]
    fn built_in_scenes_are_valid_and_round_trip() {
        for name in names() {
            let scene = scene(name).unwrap().unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(scene.name, name);
            assert!(scene.description.len() > 40);
            validate(&scene).unwrap_or_else(|e| panic!("{name}: {e}"));
            let again = parse_scene(&serde_json::to_string(&scene).unwrap()).unwrap();
            assert_eq!(scene, again);
        }
    }
}
