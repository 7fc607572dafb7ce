//! The scenes that come with Pliant: a JSON file each beside this one, or another scene with changes.

use crate::format::{Assignment, ParseError, Scene, SetError, apply, parse_scene};

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

/// A scene that is another one with changes.
struct Variant {
    name: &'static str,
    /// What it shows beside the other's description.
    description: &'static str,
    of: &'static str,
    /// As for `--set`.
    changes: &'static [&'static str],
}

/// Scenes at finer resolutions.
const VARIANTS: [Variant; 2] = [
    Variant {
        name: "dough-rolling-fine",
        description: "At twice the resolution of `dough-rolling`, 47,360 particles, where the dough holds \
                      together under the last pass. Substeps are half as long, as cells are half as wide. ",
        of: "dough-rolling",
        changes: &[
            "grid_spacing=0.01",
            "soft[0].sampling.counts=[74,32,20]",
            "substeps=20",
            "output.color_by=body",
            r#"output.camera={"position":[0.78,-0.95,0.72],"target":[0.07,0,0.14],"field_of_view":0.56}"#,
        ],
    },
    Variant {
        name: "sand-scoop-fine",
        description: "A showcase: `sand-scoop` with cells a quarter as wide, 300 thousand particles. ",
        of: "sand-scoop",
        changes: &["grid_spacing=0.0045", "output.frame_interval=0.1"],
    },
];

/// Names of the built-in scenes.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCENES.iter().map(|(name, _)| *name).chain(VARIANTS.iter().map(|variant| variant.name))
}

/// A built-in scene, or `None` if there is none of this name.
///
/// # Errors
/// Never for a released version: a test reads all of them.
pub fn scene(name: &str) -> Option<Result<Scene, BuiltinError>> {
    if let Some((_, json)) = SCENES.iter().find(|(known, _)| *known == name) {
        return Some(parse_scene(json).map_err(BuiltinError::from));
    }
    VARIANTS.iter().find(|variant| variant.name == name).map(Variant::scene)
}

/// A built-in scene that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BuiltinError {
    /// Its JSON.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// Its changes of another scene.
    #[error(transparent)]
    Set(#[from] SetError),
    /// There is no scene that it changes.
    #[error("there is no built-in scene '{0}'")]
    Unknown(&'static str),
}

impl Variant {
    fn scene(&self) -> Result<Scene, BuiltinError> {
        let changes: Vec<Assignment> =
            self.changes.iter().map(|text| Assignment::parse(text)).collect::<Result<_, _>>()?;
        let of = scene(self.of).ok_or(BuiltinError::Unknown(self.of))??;
        let mut scene = apply(&of, &changes)?;
        scene.name = self.name.to_owned();
        scene.description.insert_str(0, self.description);
        Ok(scene)
    }
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
