//! Support of elements and attributes. The same table checks every file before it is read and is
//! printed into the documentation, so that the two cannot differ.

use super::element::Element;
use super::error::{ImportError, ImportProblem, ImportWarning, WarningKind};

/// Support of an element or attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Support {
    /// Supported with the same meaning.
    Yes,
    /// Ignored without a warning, because it does not affect the motion.
    Inert(&'static str),
    /// Passed on to the caller.
    Handed(&'static str),
    /// Approximated; the reader warns if that makes a difference.
    Partly(&'static str),
    /// Left out, with a warning unless its value is neutral.
    Dropped(&'static str),
    /// Left out, with a warning unless its value is neutral: it changes contact alone.
    Touch(&'static str),
    /// Left out, with a warning: it is for other programs.
    Foreign(&'static str),
    /// Left out, with a warning: it is for pictures only.
    Drawn,
    /// Refused with an error.
    Refused(&'static str),
}

impl Support {
    /// The warning that something was left out, if it gives one.
    fn warning(self, element: &Element, attribute: &str) -> Option<ImportWarning> {
        let (why, kind) = match self {
            // Whole elements are motors.
            Self::Dropped(why) if attribute.is_empty() => (why, WarningKind::Missing),
            Self::Dropped(why) => (why, WarningKind::Motion),
            Self::Touch(why) => (why, WarningKind::Contact),
            Self::Foreign(why) => (why, WarningKind::Extension),
            Self::Drawn => ("for pictures only", WarningKind::Pictures),
            Self::Yes | Self::Inert(_) | Self::Handed(_) | Self::Partly(_) | Self::Refused(_) => return None,
        };
        Some(element.warn(attribute, format!("left out: {why}")).of(kind))
    }
}

/// Attributes with the same support: names separated by spaces, each with its neutral value after a
/// `=` (numbers separated by commas).
pub(super) type Attributes = (Support, &'static str);

/// An element within another.
pub(super) struct Rule {
    /// Tags of the elements that may contain it, separated by spaces.
    pub within: &'static str,
    /// Its tag, or those of several that are alike, separated by spaces.
    pub tag: &'static str,
    pub support: Support,
    pub attributes: &'static [Attributes],
}

/// Goes through a document and compares it with the table.
pub(super) fn check(
    element: &Element,
    rules: &[Rule],
    tolerant: bool,
    warnings: &mut Vec<ImportWarning>,
) -> Result<(), ImportError> {
    for child in &element.children {
        let rule = rules.iter().find(|rule| {
            rule.tag.split(' ').any(|tag| tag == child.tag)
                && rule.within.split(' ').any(|tag| tag == element.tag)
        });
        let Some(rule) = rule else {
            if tolerant {
                let action = "left out: an extension that is not part of the format";
                warnings.push(child.warn("", action).of(WarningKind::Extension));
                continue;
            }
            return Err(child.fail(ImportProblem::UnknownElement(element.tag.clone())));
        };
        match rule.support {
            Support::Dropped(_) | Support::Touch(_) | Support::Foreign(_) | Support::Drawn => {
                warnings.extend(rule.support.warning(child, ""));
            }
            Support::Refused(why) => return Err(child.fail(ImportProblem::Unsupported(why.to_owned()))),
            // Ignored elements are not checked inside.
            Support::Inert(_) => {}
            Support::Yes | Support::Handed(_) | Support::Partly(_) => {
                check_attributes(child, rule, tolerant, warnings)?;
                check(child, rules, tolerant, warnings)?;
            }
        }
    }
    Ok(())
}

fn check_attributes(
    element: &Element,
    rule: &Rule,
    tolerant: bool,
    warnings: &mut Vec<ImportWarning>,
) -> Result<(), ImportError> {
    for (attribute, value) in &element.attributes {
        let found = rule.attributes.iter().find_map(|(support, names)| {
            names.split_whitespace().find_map(|entry| {
                let (name, neutral) = entry.split_once('=').unwrap_or((entry, ""));
                (name == attribute).then_some((*support, neutral))
            })
        });
        match found {
            None if tolerant => {
                let action = "left out: an attribute that is not part of the format";
                warnings.push(element.warn(attribute, action).of(WarningKind::Extension));
            }
            None => return Err(element.fail_at(attribute, ImportProblem::UnknownAttribute)),
            Some((Support::Refused(why), neutral)) if !is_neutral(value, neutral) => {
                return Err(element.fail_at(attribute, ImportProblem::Unsupported(why.to_owned())));
            }
            Some((support, neutral)) if !is_neutral(value, neutral) => {
                warnings.extend(support.warning(element, attribute));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Whether a value is neutral: the same word, or the same numbers.
fn is_neutral(value: &str, neutral: &str) -> bool {
    if neutral.is_empty() {
        return false;
    }
    let value: Vec<&str> = value.split_whitespace().collect();
    let neutral: Vec<&str> = neutral.split(',').collect();
    let same = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    };
    // A single neutral number applies to all numbers.
    match neutral.as_slice() {
        [one] => !value.is_empty() && value.iter().all(|v| same(v, one)),
        many => value.len() == many.len() && value.iter().zip(many).all(|(v, n)| same(v, n)),
    }
}

/// The table as text: one row for each element, and one for each group of its attributes.
pub(super) fn markdown(rules: &[Rule]) -> String {
    let mut text = String::from("| element | in | attributes | |\n|---|---|---|---|\n");
    let cell = |support: Support| match support {
        Support::Yes => "supported".to_owned(),
        Support::Inert(why) => format!("no effect on motion: {why}"),
        Support::Handed(why) => format!("passed on: {why}"),
        Support::Partly(why) => format!("approximated: {why}"),
        Support::Dropped(why) | Support::Touch(why) | Support::Foreign(why) => {
            format!("left out with a warning: {why}")
        }
        Support::Drawn => "left out with a warning: for pictures only".to_owned(),
        Support::Refused(why) => format!("error: {why}"),
    };
    for rule in rules {
        let within = rule.within.replace(' ', ", ");
        let tags = rule.tag.replace(' ', "`, `");
        text += &format!("| `{tags}` | {within} | | {} |\n", cell(rule.support));
        for (support, names) in rule.attributes {
            let names: Vec<String> = names
                .split_whitespace()
                .map(|entry| match entry.split_once('=') {
                    Some((name, neutral)) => {
                        format!("`{name}` (unless {})", neutral.replace(',', " "))
                    }
                    None => format!("`{entry}`"),
                })
                .collect();
            text += &format!("| | | {} | {} |\n", names.join(", "), cell(*support));
        }
    }
    text
}
