//! Initial capacity for contact.

/// Capacity for contact at first; it grows where more is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialCapacity {
    /// Contacts of a substep.
    pub contacts: usize,
    /// Grid nodes that they touch.
    pub nodes: usize,
}

impl Default for InitialCapacity {
    /// Some megabytes.
    fn default() -> Self {
        Self { contacts: 1 << 10, nodes: 1 << 12 }
    }
}
