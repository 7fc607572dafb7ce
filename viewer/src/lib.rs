//! A page that shows runs.
