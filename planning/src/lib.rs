//! Planning of motions before a run.
//!
//! - [`inverse_kinematics`]: configurations that put a tool at a given pose, and paths through
//!   waypoints;
//! - [`quasi`]: quasi-dynamic motion with contact in closed form, and its derivatives.

pub mod inverse_kinematics;
pub mod quasi;
