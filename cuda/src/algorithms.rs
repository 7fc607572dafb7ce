//! Prefix sums, sorting and reductions, made of kernels.
//!
//! Each is a value that owns the scratch memory for a capacity and appends its launches to
//! [`Commands`](crate::Commands), so that they can be recorded with others. Results depend neither
//! on the device nor on the order its threads run in.

mod reduce;
mod scan;
mod sort;

pub use reduce::Reduce;
pub use scan::Scan;
pub use sort::Sort;
