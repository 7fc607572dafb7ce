//! XML as a tree that owns its text, with the file and line of every element, and typed access to
//! attributes.

use std::path::Path;
use std::sync::Arc;

use nalgebra::Vector3;

use super::error::{ImportError, ImportProblem, ImportWarning, SourceLocation, WarningKind, shown};
use pliant_io::files::IoError;
use pliant_io::input::read_input;

/// Largest depth of nested elements; deeper ones are refused, so that no file can exhaust the
/// stack.
const DEEPEST: usize = 200;

/// An element.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub tag: String,
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Element>,
    pub file: Arc<str>,
    pub line: u32,
}

/// The text of a regular file.
pub(super) fn read_text(path: &Path) -> Result<String, ImportProblem> {
    let unreadable = |reason: String| ImportProblem::Unreadable(reason);
    let bytes = read_input(path).map_err(|error| match error {
        IoError::File { source, .. } => unreadable(source.to_string()),
        other => unreadable(other.to_string()),
    })?;
    String::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))
}

/// The document without what some files have around it: blanks before the XML declaration, which
/// become the second value, a number of lines, and blanks and control characters after the last
/// element.
fn trimmed(text: &str) -> (&str, usize) {
    let inner = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let skipped = text[..text.len() - inner.len()].matches('\n').count();
    (inner.trim_end_matches(|c: char| c.is_whitespace() || c.is_control()), skipped)
}

/// Reads a document.
pub(super) fn parse(text: &str, file: &str) -> Result<Element, ImportError> {
    let (text, skipped) = trimmed(text);
    let fail = |line, problem| ImportError {
        location: SourceLocation { file: file.to_owned(), line, element: String::new() },
        attribute: String::new(),
        value: String::new(),
        problem: Box::new(problem),
        repair: None,
    };
    let document = roxmltree::Document::parse(text)
        .map_err(|e| fail(e.pos().row + skipped as u32, ImportProblem::Malformed(shown(&e.to_string()))))?;
    // Lines before the text count too.
    let mut lines: Vec<usize> = vec![0; 1 + skipped];
    lines.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1));
    convert(document.root_element(), &Arc::from(file), &lines, 0)
}

fn convert(
    node: roxmltree::Node<'_, '_>,
    file: &Arc<str>,
    lines: &[usize],
    depth: usize,
) -> Result<Element, ImportError> {
    let mut element = Element {
        tag: node.tag_name().name().to_owned(),
        attributes: node.attributes().map(|a| (a.name().to_owned(), a.value().to_owned())).collect(),
        children: Vec::new(),
        file: file.clone(),
        line: lines.partition_point(|start| *start <= node.range().start) as u32,
    };
    if depth == DEEPEST {
        let reason = format!("more than {DEEPEST} nested elements");
        return Err(element.fail(ImportProblem::Malformed(reason)));
    }
    for child in node.children().filter(|n| n.is_element()) {
        element.children.push(convert(child, file, lines, depth + 1)?);
    }
    Ok(element)
}

impl Element {
    /// Its location in the file.
    pub fn place(&self) -> SourceLocation {
        let name = self.text("name").map(|name| format!(" '{}'", shown(name))).unwrap_or_default();
        SourceLocation {
            file: self.file.to_string(),
            line: self.line,
            element: format!("{}{name}", shown(&self.tag)),
        }
    }

    /// The element itself is at fault.
    pub fn fail(&self, problem: ImportProblem) -> ImportError {
        ImportError {
            location: self.place(),
            attribute: String::new(),
            value: String::new(),
            problem: Box::new(problem),
            repair: None,
        }
    }

    /// An attribute is at fault.
    pub fn fail_at(&self, attribute: &str, problem: ImportProblem) -> ImportError {
        let value = self.text(attribute).unwrap_or_default().to_owned();
        ImportError {
            location: self.place(),
            attribute: attribute.to_owned(),
            value,
            problem: Box::new(problem),
            repair: None,
        }
    }

    /// An attribute has an invalid value.
    pub fn bad(&self, attribute: &str, requirement: &str) -> ImportError {
        self.fail_at(attribute, ImportProblem::Value(requirement.to_owned()))
    }

    /// A warning about an attribute, or about the element itself if `attribute` is empty.
    pub fn warn(&self, attribute: &str, action: impl Into<String>) -> ImportWarning {
        ImportWarning {
            kind: WarningKind::Motion,
            location: self.place(),
            attribute: attribute.to_owned(),
            value: self.text(attribute).unwrap_or_default().to_owned(),
            action: action.into(),
        }
    }

    /// The children of a kind.
    pub fn all<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Element> + 'a {
        self.children.iter().filter(move |child| child.tag == tag)
    }

    /// The only child of a kind.
    pub fn one(&self, tag: &'static str) -> Result<Option<&Element>, ImportError> {
        let mut all = self.children.iter().filter(|child| child.tag == tag);
        let first = all.next();
        match all.next() {
            Some(second) => Err(second.fail(ImportProblem::Duplicate("an element"))),
            None => Ok(first),
        }
    }

    /// An attribute as written, without space around it.
    pub fn text(&self, attribute: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == attribute).map(|(_, value)| value.trim())
    }

    /// A required attribute.
    pub fn required(&self, attribute: &'static str) -> Result<&str, ImportError> {
        self.text(attribute).ok_or_else(|| self.fail(ImportProblem::Missing(attribute)))
    }

    /// Finite numbers, as many as allowed.
    pub fn numbers(
        &self,
        attribute: &str,
        count: core::ops::RangeInclusive<usize>,
    ) -> Result<Option<Vec<f64>>, ImportError> {
        let Some(text) = self.text(attribute) else { return Ok(None) };
        let (least, most) = (*count.start(), *count.end());
        let wanted = match (least, most) {
            (1, 1) => "a finite number".to_owned(),
            (a, b) if a == b => format!("{a} finite numbers"),
            (a, usize::MAX) => format!("{a} or more finite numbers"),
            (a, b) => format!("{a} to {b} finite numbers"),
        };
        let numbers: Option<Vec<f64>> =
            text.split_whitespace().map(|t| t.parse::<f64>().ok().filter(|x| x.is_finite())).collect();
        match numbers {
            Some(numbers) if count.contains(&numbers.len()) => Ok(Some(numbers)),
            _ => Err(self.bad(attribute, &wanted)),
        }
    }

    /// One finite number.
    pub fn number(&self, attribute: &str) -> Result<Option<f64>, ImportError> {
        Ok(self.numbers(attribute, 1..=1)?.map(|numbers| numbers[0]))
    }

    /// One finite number that is not negative.
    pub fn not_negative(&self, attribute: &str) -> Result<Option<f64>, ImportError> {
        match self.number(attribute)? {
            Some(x) if x < 0.0 => Err(self.bad(attribute, "finite and not negative")),
            x => Ok(x),
        }
    }

    /// Exactly `N` finite numbers.
    pub fn array<const N: usize>(&self, attribute: &str) -> Result<Option<[f64; N]>, ImportError> {
        Ok(self.numbers(attribute, N..=N)?.map(|numbers| {
            let mut array = [0.0; N];
            array.copy_from_slice(&numbers);
            array
        }))
    }

    /// Three finite numbers.
    pub fn vector(&self, attribute: &str) -> Result<Option<Vector3<f64>>, ImportError> {
        Ok(self.array::<3>(attribute)?.map(Vector3::from))
    }

    /// Three finite numbers that are a direction, made a unit vector.
    pub fn direction(&self, attribute: &str) -> Result<Option<nalgebra::Unit<Vector3<f64>>>, ImportError> {
        let Some(v) = self.vector(attribute)? else { return Ok(None) };
        nalgebra::Unit::try_new(v, 1e-10)
            .map(Some)
            .ok_or_else(|| self.bad(attribute, "a direction, not a zero vector"))
    }

    /// A whole number of 32 bits.
    pub fn integer(&self, attribute: &str) -> Result<Option<i64>, ImportError> {
        let Some(text) = self.text(attribute) else { return Ok(None) };
        match text.parse::<i64>() {
            Ok(n) if n >= i64::from(i32::MIN) && n <= i64::from(u32::MAX) => Ok(Some(n)),
            _ => Err(self.bad(attribute, "a whole number of 32 bits")),
        }
    }

    /// One of the words; the number of it.
    pub fn word(&self, attribute: &str, words: &[&str]) -> Result<Option<usize>, ImportError> {
        let Some(text) = self.text(attribute) else { return Ok(None) };
        let found = words.iter().position(|word| *word == text);
        found.map(Some).ok_or_else(|| self.bad(attribute, &format!("one of: {}", words.join(", "))))
    }

    /// True or false.
    pub fn flag(&self, attribute: &str, default: bool) -> Result<bool, ImportError> {
        Ok(self.word(attribute, &["false", "true"])?.map_or(default, |word| word == 1))
    }

    /// True, false, or `None` for auto.
    pub fn tristate(&self, attribute: &str) -> Result<Option<bool>, ImportError> {
        Ok(self
            .word(attribute, &["false", "true", "auto"])?
            .and_then(|word| [Some(false), Some(true), None][word]))
    }
}
