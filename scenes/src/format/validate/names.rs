//! The names of bodies, links, joints and motors in a scene.

use std::collections::BTreeMap;

use crate::format::{Motion, Robot, Scene};
use crate::models;

/// What can be named in a scene.
pub(super) struct Names<'a> {
    /// Bodies in the scene's order: name, and joint of a dynamic one.
    bodies: Vec<(&'a str, Option<JointFacts>)>,
    /// Robots in the scene's order.
    robots: Vec<(&'a str, Contents)>,
}

/// Properties of a joint that other fields depend on.
#[derive(Clone, Copy)]
pub(super) struct JointFacts {
    /// Degrees of freedom.
    pub dofs: usize,
    /// Whether they have coordinates.
    pub coordinates: bool,
    /// Whether the first one turns.
    pub turns: bool,
    /// Range of the first coordinate [rad, m]; infinite without limits.
    pub range: [f64; 2],
}

/// The contents of a robot.
pub(super) enum Contents {
    /// It comes from a file that is not opened here.
    Unknown,
    /// A built-in model.
    KnownParts(Box<KnownParts>),
}

/// The contents of a built-in model, in its order.
#[derive(Clone)]
pub(super) struct KnownParts {
    links: Vec<String>,
    joints: Vec<(String, JointFacts)>,
    motors: Vec<String>,
    keyframes: Vec<String>,
}

impl<'a> Names<'a> {
    pub fn of(scene: &'a Scene) -> Self {
        let joint = |motion: &Motion| match motion {
            Motion::Dynamic(dynamic) => {
                let dofs = dynamic.joint.dofs();
                Some(JointFacts {
                    dofs: dofs.len(),
                    coordinates: dynamic.joint.has_coordinates(),
                    turns: dofs.first().is_some_and(|(turns, _)| *turns),
                    range: [f64::NEG_INFINITY, f64::INFINITY],
                })
            }
            _ => None,
        };
        // A scene may have the same model many times.
        let mut read = BTreeMap::new();
        let mut contents = |robot: &Robot| match robot.model {
            Some(model) if robot.file.is_none() => {
                let known: &Option<KnownParts> = read.entry(model).or_insert_with(|| KnownParts::of(model));
                known
                    .as_ref()
                    .map_or(Contents::Unknown, |known| Contents::KnownParts(Box::new(known.clone())))
            }
            _ => Contents::Unknown,
        };
        Self {
            bodies: scene.bodies.iter().map(|body| (body.name.as_str(), joint(&body.motion))).collect(),
            robots: scene.robots.iter().map(|robot| (robot.name.as_str(), contents(robot))).collect(),
        }
    }

    pub fn is_robot(&self, name: &str) -> bool {
        self.robots.iter().any(|(robot, _)| *robot == name)
    }

    pub fn is_body(&self, name: &str) -> bool {
        self.bodies.iter().any(|(body, _)| *body == name)
    }

    /// The contents of robot number `at`.
    pub fn contents(&self, at: usize) -> Option<&Contents> {
        self.robots.get(at).map(|(_, contents)| contents)
    }

    /// The contents of a robot.
    pub fn robot(&self, name: &str) -> Result<&Contents, String> {
        match self.robots.iter().find(|(robot, _)| *robot == name) {
            Some((_, contents)) => Ok(contents),
            None => {
                let known = self.robots.iter().map(|(robot, _)| *robot);
                Err(format!("'{name}' is not one of the robots [{}]", list(known)))
            }
        }
    }

    /// Splits `robot/part` if there is such a robot.
    fn part<'n>(&self, name: &'n str) -> Option<(&Contents, &'n str)> {
        let (robot, part) = name.split_once('/')?;
        self.robot(robot).ok().map(|contents| (contents, part))
    }

    /// Checks that there is a body or link of this name; returns whether forces can move it.
    pub fn body(&self, name: &str) -> Result<bool, String> {
        if let Some((_, joint)) = self.bodies.iter().find(|(body, _)| *body == name) {
            return Ok(joint.is_some());
        }
        match self.part(name) {
            Some((contents, link)) => contents.link(link).map(|()| true),
            None => Err(format!(
                "'{name}' is neither one of the bodies [{}] nor a link 'robot/link'",
                self.body_list()
            )),
        }
    }

    /// Checks that body number `at` may be attached to this one.
    pub fn parent(&self, name: &str, at: usize) -> Result<(), String> {
        if self.bodies.iter().take(at).any(|(body, _)| *body == name) {
            return Ok(());
        }
        match self.part(name) {
            Some((contents, link)) => contents.link(link),
            None => Err(format!(
                "'{name}' is not the name of a body listed before this one, nor a link 'robot/link'"
            )),
        }
    }

    /// Checks that robot number `at` may be mounted on this one.
    pub fn mount(&self, name: &str, at: usize) -> Result<(), String> {
        if self.bodies.iter().any(|(body, joint)| *body == name && joint.is_none()) {
            return Ok(());
        }
        match name.split_once('/') {
            Some((robot, link)) if self.robots.iter().take(at).any(|(known, _)| *known == robot) => {
                self.robot(robot).and_then(|contents| contents.link(link))
            }
            _ => Err(format!(
                "'{name}' is neither a fixed or prescribed body nor a link 'robot/link' of a robot listed before this one"
            )),
        }
    }

    /// A joint by the name of its body or as `robot/joint`; none if its robot comes from a file.
    pub fn joint(&self, name: &str) -> Result<Option<JointFacts>, String> {
        if let Some((_, joint)) = self.bodies.iter().find(|(body, _)| *body == name) {
            let joint = joint.ok_or_else(|| format!("'{name}' is fixed or prescribed and has no joint"))?;
            return Ok(Some(joint));
        }
        match self.part(name) {
            Some((contents, joint)) => contents.joint(joint),
            None => Err(format!(
                "'{name}' is neither one of the bodies [{}] nor a joint 'robot/joint'",
                self.body_list()
            )),
        }
    }

    fn body_list(&self) -> String {
        list(self.bodies.iter().map(|(body, _)| *body))
    }
}

impl Contents {
    fn link(&self, name: &str) -> Result<(), String> {
        match self {
            Self::KnownParts(known) => among("links", name, known.links.iter().map(String::as_str)),
            Self::Unknown => Ok(()),
        }
    }

    /// The joint of this name; none if the contents are not known.
    pub fn joint(&self, name: &str) -> Result<Option<JointFacts>, String> {
        let Self::KnownParts(known) = self else { return Ok(None) };
        let found = known.joints.iter().find(|(joint, _)| joint == name).map(|(_, facts)| *facts);
        let names = known.joints.iter().map(|(joint, _)| joint.as_str());
        found.map(Some).ok_or_else(|| format!("'{name}' is not one of the robot's joints [{}]", list(names)))
    }

    /// Checks that there is a motor of this name.
    pub fn motor(&self, name: &str) -> Result<(), String> {
        match self {
            Self::KnownParts(known) => among("motors", name, known.motors.iter().map(String::as_str)),
            Self::Unknown => Ok(()),
        }
    }

    /// Checks that there is a keyframe of this name.
    pub fn keyframe(&self, name: &str) -> Result<(), String> {
        match self {
            Self::KnownParts(known) => among("keyframes", name, known.keyframes.iter().map(String::as_str)),
            Self::Unknown => Ok(()),
        }
    }

    /// The number of joints with one coordinate; none if it is not known.
    pub fn coordinates(&self) -> Option<usize> {
        match self {
            Self::KnownParts(known) => {
                Some(known.joints.iter().filter(|(_, facts)| facts.coordinates && facts.dofs == 1).count())
            }
            Self::Unknown => None,
        }
    }
}

impl KnownParts {
    /// Reads a built-in model; none if that fails, which another test would report.
    fn of(model: crate::format::RobotModel) -> Option<Self> {
        let imported = models::import(model).ok()?;
        let links = imported.system.model.links();
        let joint = |joint: &pliant_import::ImportedJoint| {
            use pliant_rigid::multibody::JointKind;
            let kind = &links.get(joint.link.0)?.joint;
            let first = imported.system.model.velocities_of(joint.link).start;
            let facts = JointFacts {
                dofs: kind.velocities(),
                coordinates: kind.velocities() == kind.positions(),
                turns: !matches!(kind, JointKind::Prismatic { .. } | JointKind::Planar),
                range: imported.system.model.dofs().get(first).map_or([0.0; 2], |dof| dof.limits),
            };
            Some((joint.name.clone(), facts))
        };
        Some(Self {
            links: links.iter().map(|link| link.name.clone()).collect(),
            joints: imported.joints.iter().filter_map(joint).collect(),
            motors: imported.inputs.iter().map(|input| input.name.clone()).collect(),
            keyframes: imported.keyframes.iter().map(|key| key.name.clone()).collect(),
        })
    }
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn among<'n>(what: &str, name: &str, mut names: impl Iterator<Item = &'n str> + Clone) -> Result<(), String> {
    if names.clone().any(|known| known == name) {
        return Ok(());
    }
    Err(format!("'{name}' is not one of the robot's {what} [{}]", list(&mut names)))
}
