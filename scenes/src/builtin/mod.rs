//! The scenes that come with Pliant: a JSON file each beside this one, another scene with changes, or
//! a garment that is folded.

use pliant_coupling::AutoOr;

use crate::folding::{Folding, FoldingError, Garment};
use crate::format::{
    Assignment, ParseError, Scene, SetError, TShirtMeasures, TrousersMeasures, apply, parse_scene,
};

/// The built-in scenes: name and JSON.
const SCENES: [(&str, &str); 30] = [
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
    ("bagging-hand", include_str!("bagging-hand.json")),
    ("laundry-thrown", include_str!("laundry-thrown.json")),
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

/// A garment that is folded: name, what is special about it, and the garment.
type FoldedGarment = (&'static str, &'static str, fn() -> Garment);

/// Garments that are folded from wherever they lie, see [`crate::folding`].
const FOLDINGS: [FoldedGarment; 4] = [
    ("tshirt-folding", TSHIRT, || Garment::TShirt(TShirtMeasures::default())),
    ("sleeves-folding", SLEEVES, || Garment::LongSleeves(LONG_SLEEVES)),
    ("trousers-folding", "Trousers, of which a leg is laid onto the other.", || {
        Garment::Trousers(TrousersMeasures::default())
    }),
    ("towel-folding", TOWEL, || Garment::Towel { size: [0.4, 0.5] }),
];

/// What the T-shirt has to do with the published scene.
const TSHIRT: &str = "The sequence of the convex paper's scene (section E): a fold along the long edge, \
    one along the short edge; one gripper grasps a corner, lifts and unfolds; the shirt is flattened. There \
    a single gripper undoes both folds, here one undoes the second and two undo the first. As published: \
    about as many particles (12,170; published 12,160), vertices and faces (4,108 and 8,062; published \
    4,171 and 7,987), h = 1/128 m, steps of 2 ms, density 1000 kg/m^3, Poisson's ratio 0.3, friction 0.6 of \
    table and pads, position control with K_p 1e6 and K_d 2 sqrt(K_p), a free fall onto a bare table. The \
    published E 1e5 Pa and K 4e5 Pa belong to a model in which a centroid has a quarter of its face's \
    volume; here it has all of it, so that a quarter of either, 2.5e4 and 1e5 Pa, is the same sheet. Chosen \
    freely: gantries in place of the published arms, hands with thin blades, the shirt's measures (cap \
    sleeves), a thickness of 1 mm (the shirt weighs 0.34 kg), damping 0.2, shear stiffness 2e4 Pa and \
    friction 0.5 between layers, contact at half of the grid's spacing with 1000 N/m a particle.";

/// What is special about the towel.
const TOWEL: &str = "A towel of one layer, 40 x 50 cm. The ends of its lower edge would droop and curl in \
    where one hand takes it, so two take it, side by side, on gantries whose columns stand beside their \
    bridges. They lay it back slowly, so that the layer below stays.";

/// The shirt with long sleeves, of a child of six: its sleeves reach the middle line on the body.
const LONG_SLEEVES: TShirtMeasures = TShirtMeasures {
    chest_width: 0.36,
    length: 0.44,
    sleeve_length: 0.17,
    sleeve_opening: 0.09,
    sleeve_drop: 0.05,
    neck_width: 0.14,
    front_neck_depth: 0.06,
    back_neck_depth: 0.02,
    gap: AutoOr::Auto,
    spacing: AutoOr::Auto,
};

/// What is special about it.
const SLEEVES: &str = "A shirt with long sleeves. One hand after the other lays a sleeve onto the body; both \
    lay the lower edge beyond the upper one, and back; one after the other slides a blade below a cuff, on \
    the cloth of the body, and lays the sleeve back.";

/// What all of them show.
const FOLDED: &str = "Two hands on gantries fold a garment twice, unfold it and lay it flat, from wherever \
    it lies: they look at the cloth before each grasp, and no path is known before.";

/// How all but a shirt with long sleeves are folded.
const HALVES: &str = "They take its left side and lay it onto its right side; one takes the lower edge and \
    lays it beyond the upper one; it takes a corner of that edge again and undoes the fold; two undo the \
    first.";

fn folding((name, about, garment): &FoldedGarment) -> Result<Scene, BuiltinError> {
    let garment = garment();
    let mut scene = Folding::of(garment).scene(name)?;
    scene.description = match garment {
        Garment::LongSleeves(_) => format!("{FOLDED} {about}"),
        _ => format!("{FOLDED} {HALVES} {about}"),
    };
    Ok(scene)
}

/// Names of the built-in scenes.
pub fn names() -> impl Iterator<Item = &'static str> {
    let own = SCENES.iter().map(|(name, _)| *name);
    own.chain(FOLDINGS.iter().map(|(name, ..)| *name)).chain(VARIANTS.iter().map(|variant| variant.name))
}

/// The garments of the built-in scenes in which one is folded, with the scene's name.
pub fn garments() -> impl Iterator<Item = (&'static str, Garment)> {
    FOLDINGS.iter().map(|(name, _, garment)| (*name, garment()))
}

/// A built-in scene, or `None` if there is none of this name.
///
/// # Errors
/// Never for a released version: a test reads all of them.
pub fn scene(name: &str) -> Option<Result<Scene, BuiltinError>> {
    if let Some((_, json)) = SCENES.iter().find(|(known, _)| *known == name) {
        return Some(parse_scene(json).map_err(BuiltinError::from));
    }
    if let Some(found) = FOLDINGS.iter().find(|(known, ..)| *known == name) {
        return Some(folding(found));
    }
    VARIANTS.iter().find(|variant| variant.name == name).map(Variant::scene)
}

/// A built-in scene that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BuiltinError {
    /// Its JSON.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// Its garment.
    #[error(transparent)]
    Garment(#[from] FoldingError),
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
