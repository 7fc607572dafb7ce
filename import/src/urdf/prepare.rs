//! What files break of the format, and every reader reads in the same way.

use std::collections::BTreeSet;

use super::super::element::Element;
use super::super::error::{ImportError, ImportWarning, WarningKind};
use super::super::options::{LoadOptions, Repair};

/// Elements that an element has at most once; other readers take the first one.
const SINGLE: [&str; 14] = [
    "inertial", "origin", "mass", "inertia", "geometry", "material", "color", "parent", "child", "axis",
    "limit", "dynamics", "mimic", "density",
];

/// Attributes of three numbers.
const TRIPLES: [&str; 4] = ["xyz", "rpy", "size", "scale"];

/// Attributes of one number.
const SINGLES: [&str; 16] = [
    "radius",
    "length",
    "value",
    "ixx",
    "ixy",
    "ixz",
    "iyy",
    "iyz",
    "izz",
    "lower",
    "upper",
    "effort",
    "velocity",
    "damping",
    "friction",
    "multiplier",
];

/// Elements whose numbers are read; those of extensions are left alone.
const READ: [&str; 14] = [
    "origin", "mass", "density", "inertia", "box", "cylinder", "capsule", "sphere", "mesh", "color", "axis",
    "limit", "dynamics", "mimic",
];

/// Corrects an element and all that is in it.
pub(super) fn prepare(
    element: &mut Element,
    options: &LoadOptions,
    warnings: &mut Vec<ImportWarning>,
) -> Result<(), ImportError> {
    // Settings of other programs are none of this one's business.
    if element.tag == "gazebo" || element.tag == "transmission" {
        return Ok(());
    }
    first_of_repeated(element, warnings);
    for at in 0..element.attributes.len() {
        let (name, value) = element.attributes[at].clone();
        if let Some(value) = expanded(&value) {
            warnings.push(corrected(element, &name, format!("read as '{value}', its default")));
            element.attributes[at].1 = value;
        }
        let count = match name.as_str() {
            _ if !READ.contains(&element.tag.as_str()) => continue,
            "rgba" => 4,
            name if TRIPLES.contains(&name) => 3,
            name if SINGLES.contains(&name) => 1,
            _ => continue,
        };
        numbers(element, at, count, options, warnings)?;
    }
    element.children.iter_mut().try_for_each(|child| prepare(child, options, warnings))
}

fn corrected(element: &Element, attribute: &str, action: String) -> ImportWarning {
    element.warn(attribute, action).of(WarningKind::Corrected)
}

fn first_of_repeated(element: &mut Element, warnings: &mut Vec<ImportWarning>) {
    // The materials of a robot are a list.
    if element.tag == "robot" {
        return;
    }
    let mut seen = BTreeSet::new();
    element.children.retain(|child| {
        let first = !SINGLE.contains(&child.tag.as_str()) || seen.insert(child.tag.clone());
        if !first {
            warnings.push(corrected(
                child,
                "",
                "left out: the element is repeated; the first counts".to_owned(),
            ));
        }
        first
    });
}

/// A value in which `$(optenv NAME VALUE)`, of ROS's launch files, is replaced by its default.
fn expanded(value: &str) -> Option<String> {
    let (before, rest) = value.split_once("$(optenv ")?;
    let (inner, after) = rest.split_once(')')?;
    let default = inner.trim_start().split_once(char::is_whitespace).map_or("", |(_, default)| default);
    Some(format!("{before}{}{after}", default.trim()))
}

/// Numbers are separated by blanks, and there are as many as there should be.
fn numbers(
    element: &mut Element,
    at: usize,
    count: usize,
    options: &LoadOptions,
    warnings: &mut Vec<ImportWarning>,
) -> Result<(), ImportError> {
    let (name, value) = element.attributes[at].clone();
    if value.contains(',') {
        warnings.push(corrected(element, &name, "commas are read as blanks".to_owned()));
        element.attributes[at].1 = value.replace(',', " ");
    }
    let words: Vec<&str> =
        value.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()).collect();
    // Fewer than there should be, and words without a number, are refused where they are used.
    let read: Vec<String> = words.iter().filter_map(|word| beginning(word)).collect();
    if read.len() < words.len() || (words.len() <= count && read == words) {
        return Ok(());
    }
    if !options.repairs.contains(&Repair::Numbers) {
        let wanted =
            if count == 1 { "a finite number".to_owned() } else { format!("{count} finite numbers") };
        return Err(element.bad(&name, &wanted).or(Repair::Numbers));
    }
    let kept = read[..count.min(read.len())].join(" ");
    warnings.push(element.warn(&name, format!("repaired: read as '{kept}'")).of(WarningKind::Repaired));
    element.attributes[at].1 = kept;
    Ok(())
}

/// The longest beginning of a word that is a number.
fn beginning(word: &str) -> Option<String> {
    let ends = word.char_indices().map(|(i, c)| i + c.len_utf8()).rev();
    ends.map(|end| &word[..end]).find(|part| part.parse::<f64>().is_ok()).map(str::to_owned)
}
