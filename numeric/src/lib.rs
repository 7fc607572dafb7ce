//! Numbers that all crates share.
//!
//! - [`random`]: a small seeded generator.

pub mod random;
