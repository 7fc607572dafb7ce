//! Default classes.

use std::collections::BTreeMap;

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem};
use super::pose::ORIENTATIONS;

/// Attributes by tag.
type Class = BTreeMap<String, Vec<(String, String)>>;

/// The classes by name. The outermost is `main` unless it has a name.
#[derive(Clone, Debug, Default)]
pub(super) struct Defaults {
    classes: BTreeMap<String, Class>,
    main: String,
}

/// The kinds of motor share what they have in common.
const MOTORS: [&str; 8] =
    ["general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle"];
const SHARED: [&str; 10] = [
    "gear",
    "ctrlrange",
    "ctrllimited",
    "forcerange",
    "forcelimited",
    "actrange",
    "actlimited",
    "actearly",
    "lengthrange",
    "inheritrange",
];

impl Defaults {
    pub fn read(root: &Element) -> Result<Self, ImportError> {
        let mut defaults = Self { classes: BTreeMap::new(), main: "main".to_owned() };
        let mut outermost = root.all("default").peekable();
        if let Some(name) = outermost.peek().and_then(|element| element.text("class")) {
            name.clone_into(&mut defaults.main);
        }
        let main = defaults.main.clone();
        defaults.classes.insert(main.clone(), Class::new());
        for element in outermost {
            // Further outermost elements without a name extend the first.
            let name = element.text("class").unwrap_or(&main).to_owned();
            let inherited = defaults.classes.get(&main).cloned().unwrap_or_default();
            defaults.class(element, name, inherited)?;
        }
        Ok(defaults)
    }

    fn class(&mut self, element: &Element, name: String, mut class: Class) -> Result<(), ImportError> {
        for child in element.children.iter().filter(|child| child.tag != "default") {
            // Defaults of one kind of motor hold for the others, too.
            for tag in MOTORS.iter().filter(|tag| MOTORS.contains(&child.tag.as_str()) && **tag != child.tag)
            {
                let shared: Vec<_> =
                    child.attributes.iter().filter(|(n, _)| SHARED.contains(&n.as_str())).cloned().collect();
                overlay(class.entry((*tag).to_owned()).or_default(), &shared);
            }
            overlay(class.entry(child.tag.clone()).or_default(), &child.attributes);
        }
        self.classes.insert(name, class.clone());
        for child in element.all("default") {
            let name = child.required("class")?.to_owned();
            if self.classes.contains_key(&name) {
                return Err(child.fail_at("class", ImportProblem::Duplicate("a class")));
            }
            self.class(child, name, class.clone())?;
        }
        Ok(())
    }

    /// The element with the default attributes of its class, else of the enclosing `childclass`,
    /// else of the outermost class.
    pub fn resolve(&self, element: &Element, childclass: Option<&str>) -> Result<Element, ImportError> {
        let name = element.text("class").or(childclass).unwrap_or(&self.main);
        let Some(class) = self.classes.get(name) else {
            return Err(element.fail_at("class", ImportProblem::Reference("default class")));
        };
        let mut resolved = element.clone();
        if let Some(attributes) = class.get(&element.tag) {
            resolved.attributes.clone_from(attributes);
            overlay(&mut resolved.attributes, &element.attributes);
        }
        Ok(resolved)
    }

    /// The same with the defaults of another kind of element: constraints of all kinds share those
    /// of `equality`.
    pub fn resolve_as(&self, element: &Element, tag: &str) -> Result<Element, ImportError> {
        let mut other = element.clone();
        tag.clone_into(&mut other.tag);
        let mut resolved = self.resolve(&other, None)?;
        element.tag.clone_into(&mut resolved.tag);
        Ok(resolved)
    }

    /// Whether there is a class of this name.
    pub fn has(&self, name: &str) -> bool {
        self.classes.contains_key(name)
    }
}

/// Overrides attributes by others. At most one notation of an orientation remains.
fn overlay(below: &mut Vec<(String, String)>, above: &[(String, String)]) {
    let turns = |name: &str| ORIENTATIONS.contains(&name);
    if above.iter().any(|(name, _)| turns(name)) {
        below.retain(|(name, _)| !turns(name));
    }
    for (name, value) in above {
        match below.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => old.clone_from(value),
            None => below.push((name.clone(), value.clone())),
        }
    }
}
