//! Explicit material point method (MPM): particles, constitutive models, sparse grid, transfers.
//!
//! - [`material`]: materials in SI units, checked;
//! - [`constitutive`]: stress, plastic return and energy of every model, written once for `f64`,
//!   `f32` and SIMD lanes;
//! - [`bspline`]: the grid's weights;
//! - [`cloth`]: sheets of triangles: mesh, constitutive model, bending, pins;
//! - [`rope`]: ropes and cables: elastic rods with stretch, bending and twist;
//! - [`reference`](mod@reference): the plain f64 method that faster paths are tested against;
//! - [`engine`]: the fast f32 path, [`Mpm`]; [`view`] and [`blocks`] show its [particles](particle)
//!   and its grid, [`totals`] sums them up;
//! - [`boundary`]: conditions on the grid at fixed planes;
//! - [`stable_step`]: the largest substep that explicit elasticity allows.

pub mod blocks;
pub mod boundary;
pub mod bspline;
pub mod cloth;
pub mod constitutive;
pub mod detail;
mod dither;
pub mod engine;
pub mod error;
pub mod material;
pub mod particle;
pub mod reference;
pub mod rope;
pub mod stable_step;
pub mod totals;
pub mod view;

mod drag;
mod g2p;
mod gather;
mod grid;
mod p2g;
mod scratchpad;
mod sheets;
mod sort;
mod state;
mod store;
mod stored;
mod substep;
mod tiles;
mod wave_speed;
mod weights;

pub use boundary::{Boundary, BoundaryKind};
pub use engine::{Dissipated, GridMotionSums, Mpm};
pub use error::MpmError;
pub use grid::Impulse;
pub use material::Material;
pub use particle::{ParticleExtent, ParticleState};
pub use pliant_numeric::simd::InstructionSet;
pub use sheets::PinImpulse;
pub use stable_step::{LastSubstep, largest_stable_substep};
pub use stored::ParticleRecord;
pub use totals::Totals;
pub use view::BlockView;
