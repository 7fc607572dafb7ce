//! Convex two-way contact between material points and rigid bodies, and the one stepping loop.

pub mod convex;
