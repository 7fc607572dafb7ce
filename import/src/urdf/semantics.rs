//! The SRDF beside a URDF (<https://wiki.ros.org/srdf>): how the root is held, named states, and
//! pairs of links that do not touch.

use std::path::{Path, PathBuf};

use super::super::element::{self, Element};
use super::super::error::{ImportError, ImportWarning, WarningKind};
use super::super::imported::{ImportedJoint, Keyframe};
use super::super::options::LoadOptions;
use super::tree::Tree;
use pliant_rigid::multibody::{LinkId, Model, State};

/// Name of the joint that frees the root, where the SRDF has none.
const FLOATING_BASE: &str = "floating_base";

/// Named states, and pairs of links that do not touch.
type StatesAndPairs = (Vec<Keyframe>, Vec<(LinkId, LinkId)>);

/// What the SRDF says; empty without one.
#[derive(Default)]
pub(super) struct Semantics {
    root: Option<Element>,
    /// The file.
    pub file: Option<PathBuf>,
}

/// Reads the SRDF of a robot: `NAME.srdf`, where NAME is that of the file or of the robot, in the
/// folder of the file or in `../srdf`.
pub(super) fn beside(root: &Element, directory: &Path) -> Result<Semantics, ImportError> {
    let stem = Path::new(&*root.file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let names = stem.into_iter().chain(root.text("name").map(str::to_owned));
    // A name with a path in it would leave the two folders.
    for name in names.filter(|name| !name.is_empty() && !name.contains(['/', '\\', '<'])) {
        for folder in [directory.to_path_buf(), directory.join("../srdf")] {
            let path = folder.join(format!("{name}.srdf"));
            if !path.is_file() {
                continue;
            }
            let at = path.display().to_string();
            let text = element::read_text(&path).map_err(|problem| root.fail(problem))?;
            let read = element::parse(&text, &at)?;
            return Ok(Semantics { root: (read.tag == "robot").then_some(read), file: Some(path) });
        }
    }
    Ok(Semantics::default())
}

impl Semantics {
    fn elements<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Element> + 'a {
        self.root.iter().flat_map(move |root| root.all(tag))
    }

    /// Name of the joint that frees the root link; `None` for a fixed one.
    pub fn base(&self, tree: &Tree<'_>, options: &LoadOptions) -> Option<String> {
        let root = tree.order.first().and_then(|root| tree.links[*root].text("name"));
        let declared = self
            .elements("virtual_joint")
            .find(|joint| joint.text("type") == Some("floating") && joint.text("child_link") == root);
        let joints: Vec<&str> =
            tree.joint_to.iter().flatten().filter_map(|joint| joint.element.text("name")).collect();
        let placed = || {
            let mut set = self.elements("group_state").flat_map(|state| state.all("joint"));
            set.find(|joint| {
                joint.text("value").is_some_and(|value| value.split_whitespace().count() == 7)
                    && joint.text("name").is_some_and(|name| !joints.contains(&name))
            })
        };
        let said = declared.or_else(placed).and_then(|joint| joint.text("name")).map(str::to_owned);
        match options.floating {
            Some(false) => None,
            Some(true) => Some(said.unwrap_or_else(|| FLOATING_BASE.to_owned())),
            None => said,
        }
    }

    /// Named states, and pairs of links that do not touch.
    pub fn resolve(
        &self,
        model: &Model,
        joints: &[ImportedJoint],
        reference: &State,
        warnings: &mut Vec<ImportWarning>,
    ) -> Result<StatesAndPairs, ImportError> {
        let mut keyframes: Vec<Keyframe> = Vec::new();
        for element in self.elements("group_state") {
            let own = element.text("name").unwrap_or_default();
            let known = |name: &str| keyframes.iter().any(|key| key.name == name);
            let group = element.text("group").unwrap_or_default();
            let name = if known(own) { format!("{group}/{own}") } else { own.to_owned() };
            if known(&name) {
                let action = "left out: the name of this state is used twice";
                warnings.push(element.warn("name", action).of(WarningKind::Extension));
                continue;
            }
            let mut state = reference.clone();
            for joint in element.all("joint") {
                set(joint, model, joints, &mut state, warnings)?;
            }
            keyframes.push(Keyframe {
                name,
                state,
                control: Vec::new(),
                drive_control: Vec::new(),
                activation: Vec::new(),
                mocaps: Vec::new(),
            });
        }
        let mut pairs = Vec::new();
        for element in self.elements("disable_collisions") {
            let link = |attribute| element.text(attribute).and_then(|name| model.link(name));
            match (link("link1"), link("link2")) {
                (Some(a), Some(b)) => pairs.push((a, b)),
                // One file often serves several variants of a robot.
                _ => warnings
                    .push(element.warn("", "left out: there are no such links").of(WarningKind::Extension)),
            }
        }
        Ok((keyframes, pairs))
    }
}

/// Sets the positions of a joint in a state.
fn set(
    element: &Element,
    model: &Model,
    joints: &[ImportedJoint],
    state: &mut State,
    warnings: &mut Vec<ImportWarning>,
) -> Result<(), ImportError> {
    let name = element.required("name")?;
    let values = element.numbers("value", 1..=7)?.unwrap_or_default();
    let Some(joint) = joints.iter().find(|joint| joint.name == name) else {
        let action = "left out: there is no joint of this name, or it does not move";
        warnings.push(element.warn("name", action).of(WarningKind::Extension));
        return Ok(());
    };
    let q = &mut state.q[model.positions_of(joint.link)];
    match (values.as_slice(), q.len()) {
        (&[value], 1) => q[0] = value,
        // An unbounded joint by cosine and sine.
        (&[cosine, sine], 1) => q[0] = f64::atan2(sine, cosine),
        (&[x, y, z, i, j, k, w], 7) => {
            let norm = [i, j, k, w].iter().map(|c| c * c).sum::<f64>().sqrt();
            if norm < 1e-10 {
                return Err(element.bad("value", "a position and a quaternion (x, y, z, w), not zeros"));
            }
            q.copy_from_slice(&[w / norm, i / norm, j / norm, k / norm, x, y, z]);
        }
        (_, n) => {
            return Err(element.bad("value", &format!("the {n} coordinates of the joint")));
        }
    }
    Ok(())
}
