//! Contact in closed form (Borse et al. 2026, "ComFree-Sim", and Jin 2025, "Complementarity-free multi-contact modeling"): a step predicts
//! the velocities without contact and corrects every contact by itself. No pass is repeated until it converges. The cost grows linearly with the
//! number of contacts.
//!
//! Two [`Form`]s share the figures ([`ComFreeSettings`], [`ImpedanceCurve`], friction by [`Facets`]):
//!
//! - [`Form::Published`]: equations 2 to 13 as they are printed. Each facet of each cone (sliding, torsional, rolling) pushes by itself,
//!   `lambda_j = (-K (J_j v_s dt + phi) - D J_j v_s)+` with the row `J_j = J_n - mu d_j . J_s`, and `v = v_s + M^-1 J^T lambda dt`.
//! - [`Form::Predicted`], the default: the same impedance in the normal direction, but the velocity that it is evaluated at is that which the body
//!   would have if whatever it touches kept on (one small linear system a tree), and the facets share out the normal impulse instead of adding to it.
//!
//! What the published form does not do, and the other does (`rigid/tests/comfree_*.rs` has the figures):
//!
//! - *Sticking.* While all facets of a cone push, its friction is `2 mu^2 (K dt + D)` times the slip: a viscous drag. A box on a slope creeps at
//!   some `g sin t/(mu^2 (K dt + D)/m)` however small the slope is. Predicted contacts hold it within the stiction tolerance.
//! - *The coefficient.* A cone that is in part active pulls with less than mu times its normal impulse, and sliding, torsional
//!   and rolling cones each bring a normal impulse of their own, so that friction is less than mu times the whole. Predicted cones are all bounded by the whole.
//! - *Long steps.* The sum of all facets' pushes is explicit in the velocity: with more than `2/(J M^-1 J^T)` of `(K dt + D) dt` it is unstable.
//!   Predicted contacts with the world are implicit, and those between moving bodies are kept below that bound.
//! - *Deep overlap.* The published push grows with the overlap without bound; predicted contacts part with
//!   [`ComFreeSettings::separation_speed`] at most.

mod contact;
mod facets;
mod impedance;
mod islands;
mod predict;
mod scale;
mod settings;
mod solver;
mod trees;

pub use facets::{ConeImpulse, Facets, many_facets};
pub use impedance::ImpedanceCurve;
pub use settings::{ComFreeSettings, Form, Gains, RigidSolver};
pub(crate) use solver::{ComFreeSolver, Step};
pub(crate) use trees::{factorise, solve};
