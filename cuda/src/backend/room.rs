//! Room for contact.

/// How much contact there is room for at first; more is made where it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Contacts of a substep.
    pub contacts: usize,
    /// Grid nodes that they touch.
    pub nodes: usize,
}

impl Default for Room {
    /// Some megabytes.
    fn default() -> Self {
        Self { contacts: 1 << 10, nodes: 1 << 12 }
    }
}
