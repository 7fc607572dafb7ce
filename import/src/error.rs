//! Errors and warnings of importing a file.

use super::options::Repair;
use pliant_geometry::GeometryError;
use pliant_io::text::{cut, printable};
use pliant_rigid::multibody::ModelError;
use pliant_rigid::simulation::SimulationError;

/// Longest text of a file that a message repeats \[bytes\].
const LONGEST: usize = 200;

/// Text of a file as messages show it: cut, and without characters that a terminal obeys.
pub(super) fn shown(text: &str) -> String {
    cut(printable(text).into_owned(), LONGEST)
}

/// A location in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file, or `<text>` for text.
    pub file: String,
    /// The line, from 1; 0 for the whole file.
    pub line: u32,
    /// The element, with its name if it has one: `geom 'foot'`.
    pub element: String,
}

impl core::fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if self.element.is_empty() { Ok(()) } else { write!(f, ": <{}>", self.element) }
    }
}

/// A file that cannot be imported: location, attribute, value, and what is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportError {
    /// Where.
    pub location: SourceLocation,
    /// The attribute; empty if the element itself is at fault.
    pub attribute: String,
    /// Its value as written; empty if there is none.
    pub value: String,
    /// What is wrong.
    pub problem: Box<ImportProblem>,
    /// The repair that makes the file usable, if there is one.
    pub repair: Option<Repair>,
}

impl ImportError {
    /// The same, with a repair that would do.
    pub(super) fn or(mut self, repair: Repair) -> Self {
        self.repair = Some(repair);
        self
    }
}

impl core::fmt::Display for ImportError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.location)?;
        if !self.attribute.is_empty() {
            write!(f, " {}", shown(&self.attribute))?;
            if !self.value.is_empty() {
                write!(f, "=\"{}\"", shown(&self.value))?;
            }
        }
        write!(f, ": {}", self.problem)?;
        match self.repair {
            Some(repair) => write!(f, "; the repair '{repair}' {}", repair.help()),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.problem)
    }
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImportProblem {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// It is not XML.
    #[error("not well-formed XML: {0}")]
    Malformed(String),
    /// It is XML, but neither MJCF nor URDF.
    #[error("the root element must be <mujoco> (MJCF) or <robot> (URDF)")]
    UnknownFormat,
    /// An element that the format does not have there.
    #[error("there is no such element in <{0}>")]
    UnknownElement(String),
    /// An attribute that the element does not have.
    #[error("the element has no such attribute")]
    UnknownAttribute,
    /// Something required is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// An invalid value.
    #[error("must be {0}")]
    Value(String),
    /// An undefined name.
    #[error("there is no {0} of this name")]
    Reference(&'static str),
    /// A name or an attribute that is given twice.
    #[error("the name of this {0} is used twice")]
    Duplicate(&'static str),
    /// Files that include each other, or links that are each other's ancestors.
    #[error("cyclic: {0}")]
    Cycle(String),
    /// Something that is not supported and cannot be left out.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// An inertia that is not physical, or a missing one.
    #[error("inertia: {0}")]
    Inertia(String),
    /// A mesh that cannot be used.
    #[error("mesh: {0}")]
    Mesh(String),
    /// A shape that cannot be used.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// A mechanism that cannot be built.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// An actuator or a constraint that does not fit the mechanism.
    #[error(transparent)]
    System(#[from] SimulationError),
}

/// What a warning is about, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WarningKind {
    /// A motor or a tendon is left out: the mechanism lacks it.
    Missing,
    /// The motion differs from that of the file, or can: something was approximated or left out.
    Motion,
    /// The compliance or the friction of contact differs from that of the file, or can; the motion
    /// without contact does not.
    Contact,
    /// A repair that was asked for; the motion is that of the repaired file.
    Repaired,
    /// An element or attribute that the format does not have, or that is for other programs.
    Extension,
    /// The file breaks the rules of its format, and was read as other readers read it.
    Corrected,
    /// Only pictures differ.
    Pictures,
}

/// Something in a file that was approximated, left out or corrected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportWarning {
    /// What it is about.
    pub kind: WarningKind,
    /// Where.
    pub location: SourceLocation,
    /// The attribute; empty for the element as a whole.
    pub attribute: String,
    /// Its value as written; empty if there is none.
    pub value: String,
    /// What was done.
    pub action: String,
}

impl ImportWarning {
    /// Whether the motion differs from that of the file, or can.
    pub fn changes_motion(&self) -> bool {
        matches!(self.kind, WarningKind::Missing | WarningKind::Motion)
    }

    /// The same, about something else than the motion.
    pub(super) fn of(self, kind: WarningKind) -> Self {
        Self { kind, ..self }
    }
}

impl core::fmt::Display for ImportWarning {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.location)?;
        if !self.attribute.is_empty() {
            write!(f, " {}=\"{}\"", shown(&self.attribute), shown(&self.value))?;
        }
        write!(f, ": {}", self.action)
    }
}
