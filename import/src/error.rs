//! Why a file is no mechanism, and what was left of it where it is.

use pliant_geometry::GeometryError;
use pliant_rigid::multibody::ModelError;
use pliant_rigid::simulation::SimulationError;

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file, or `<text>` for what did not come from one.
    pub file: String,
    /// The line, from 1; 0 where the whole file is meant.
    pub line: u32,
    /// The element, with its name where it has one: `geom 'foot'`.
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

/// A file that cannot be imported: where, which attribute with which value, and what is wrong with
/// it.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportError {
    /// Where.
    pub location: SourceLocation,
    /// The attribute; empty where the element itself is at fault.
    pub attribute: String,
    /// Its value as written; empty where there is none.
    pub value: String,
    /// What is wrong.
    pub problem: Box<ImportProblem>,
}

impl core::fmt::Display for ImportError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.location)?;
        if !self.attribute.is_empty() {
            write!(f, " {}", self.attribute)?;
            if !self.value.is_empty() {
                write!(f, "=\"{}\"", self.value)?;
            }
        }
        write!(f, ": {}", self.problem)
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
    /// It is no XML.
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
    /// Something that has to be there is not.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A value that cannot be.
    #[error("must be {0}")]
    Value(String),
    /// A name that nothing has.
    #[error("there is no {0} of this name")]
    Reference(&'static str),
    /// A name or an attribute that is there twice.
    #[error("the name of this {0} is used twice")]
    Duplicate(&'static str),
    /// Files that include each other, or links that carry each other.
    #[error("cyclic: {0}")]
    Cycle(String),
    /// Something that cannot be simulated here and cannot be left out either.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// An inertia that no solid can have, or none where one is needed.
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

/// Something in a file that was approximated or left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportWarning {
    /// Where.
    pub location: SourceLocation,
    /// The attribute; empty where the element as a whole is meant.
    pub attribute: String,
    /// Its value as written; empty where there is none.
    pub value: String,
    /// What was done.
    pub action: String,
}

impl core::fmt::Display for ImportWarning {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.location)?;
        if !self.attribute.is_empty() {
            write!(f, " {}=\"{}\"", self.attribute, self.value)?;
        }
        write!(f, ": {}", self.action)
    }
}
