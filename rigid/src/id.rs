//! Numbers of bodies.

/// The number of a body in its [`Bodies`](crate::Bodies), in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub usize);
