//! Runs in the formats of other tools.
