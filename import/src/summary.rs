//! Warnings in a few lines: the gravest first, alike ones together.

use super::error::{ImportWarning, WarningKind};

/// The warnings of a file, at most one line for each thing that was done: first motors and
/// tendons that are missing, then what else changes the motion, what changes contact, repairs on
/// request, what other programs use, corrections, and last the number of those that concern
/// pictures only.
pub fn summarised(warnings: &[ImportWarning]) -> Vec<(WarningKind, String)> {
    let mut lines = Vec::new();
    for kind in [
        WarningKind::Missing,
        WarningKind::Motion,
        WarningKind::Contact,
        WarningKind::Repaired,
        WarningKind::Extension,
        WarningKind::Corrected,
    ] {
        let alike = grouped(warnings.iter().filter(|warning| warning.kind == kind));
        lines.extend(alike.into_iter().map(|line| (kind, line)));
    }
    let kind = WarningKind::Pictures;
    let pictures = warnings.iter().filter(|warning| warning.kind == kind);
    match pictures.clone().count() {
        0 => {}
        1 => lines.extend(pictures.map(|warning| (kind, warning.to_string()))),
        count => {
            lines.push((kind, format!("{count} elements and attributes for pictures only are left out")));
        }
    }
    lines
}

/// One line for all warnings of an element's tag and attribute with the same action, in the order
/// of the first ones.
fn grouped<'a>(warnings: impl Iterator<Item = &'a ImportWarning>) -> Vec<String> {
    let tag = |warning: &ImportWarning| -> String {
        let element = &warning.location.element;
        element.split_once(' ').map_or(element.as_str(), |(tag, _)| tag).to_owned()
    };
    let mut groups: Vec<(&ImportWarning, usize)> = Vec::new();
    for warning in warnings {
        let alike = |first: &ImportWarning| {
            (tag(first), &first.attribute, &first.action)
                == (tag(warning), &warning.attribute, &warning.action)
        };
        match groups.iter_mut().find(|(first, _)| alike(first)) {
            Some((_, count)) => *count += 1,
            None => groups.push((warning, 1)),
        }
    }
    let line = |(first, count): (&ImportWarning, usize)| match count {
        1 => first.to_string(),
        count => format!("{first} ({count} times in the file)"),
    };
    groups.into_iter().map(line).collect()
}
