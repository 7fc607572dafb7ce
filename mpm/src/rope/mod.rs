//! Ropes and cables: elastic rods with stretch, bending and twist in the grid of the other particles
//! (discrete elastic rods; Bergou et al. 2008, "Discrete elastic rods"; Bergou et al. 2010, "Discrete
//! viscous threads").
//!
//! A rope is a line of vertices, each of which is a particle of the grid. Its forces act on the
//! vertices, as those of a sheet of cloth do. What the grid does not carry is the rotation of the
//! cross-sections about the line: every segment has a spin of its own, and a frame that shows it.
//!
//! - [`material`]: density, radius and stiffness, checked;
//! - [`line`](mod@line): a rope as input of a grid: vertices, pins, twist at the start;
//! - [`twist_pin`]: segments whose turn about the line is prescribed;
//! - [`segment`]: a segment with its frame; transport in time and along the line;
//! - [`bend`]: energy, forces and torques of bending and twist at an inner vertex;
//! - `contact`: strands do not pass through each other;
//! - [`rod`]: all of it for one rope, serial, in f64;
//! - [`stability`]: the largest substep.
//!
//! The f64 step is `mpm::reference`.
//!
//! # Choices that the papers leave open, and differences from them
//! - **Bending** uses the angle phi between segments itself, as a chain of bars with springs does
//!   (Hencky 1920), not 2 tan(phi/2). Both agree for a fine line. The angle's moment B phi / l is bounded,
//!   and so is its stiffness: a rope that folds sharply does not shorten the substep without end.
//! - **Frames** are material ones, carried by parallel transport in time and turned by the spin. So there
//!   is no angle against a reference frame, and no sum that grows with the number of turns.
//! - **Spin** about a line that turns: parallel transport in time is not the derivative of a coordinate,
//!   and the spin's angular momentum turns with the line. The couple that turns it acts back on the
//!   segment's two vertices; with it the total angular momentum is constant, to rounding.
//! - **Folds.** The twist of an angle of half a turn has no meaning: parallel transport along the line
//!   depends there on the way. Beyond a quarter of a turn at one vertex, where the line is not resolved,
//!   the twist's energy is therefore multiplied by sin^2 phi, with all its derivatives.
//! - **Natural curvature** acts along axes half-way between the frames of the two segments.

pub mod bend;
pub(crate) mod contact;
pub mod internals;
pub mod line;
pub mod material;
pub mod rod;
pub mod segment;
pub mod stability;
pub mod twist_pin;

pub use bend::{Bend, BendForces};
pub use contact::StrandReport;
pub use internals::RopeInternals;
pub use line::{Rope, RopeError};
pub use material::RopeMaterial;
pub use rod::{Rod, RodForces, RodFrames};
pub use segment::Segment;
pub use stability::{RopeStability, RopeState};
pub use twist_pin::{TwistPin, TwistPinError};
