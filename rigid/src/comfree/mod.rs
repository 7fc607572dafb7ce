//! Contact in closed form (Borse et al. 2026, "ComFree-Sim", and Jin 2025, "Complementarity-free
//! multi-contact modeling"): a step predicts the velocities without contact and corrects them by
//! the impulse of every contact in closed form, without an iteration to a tolerance.
//!
//! Two [`Form`]s share the parameters ([`ComFreeSettings`], [`ImpedanceCurve`], friction by
//! [`Facets`]):
//!
//! - [`Form::Published`]: equations 2 to 13 as they are printed. Each facet of each cone (sliding,
//!   torsional, rolling) acts on its own, `lambda_j = (-K (J_j v_s dt + phi) - D J_j v_s)+` with
//!   the row `J_j = J_n - mu d_j . J_s`, and `v = v_s + M^-1 J^T lambda dt`.
//! - [`Form::Predicted`], the default: the same impedance in the normal direction, but evaluated at
//!   the velocities that bodies would have with all of their contacts (one sparse linear system per
//!   island, solved a small number of times), and the facets distribute the normal impulse instead
//!   of adding to it.
//!
//! Differences of the two (measured in `rigid/tests/comfree_*.rs`):
//!
//! - *Sticking.* While all facets of a cone push, its friction is `2 mu^2 (K dt + D)` times the
//!   slip: a viscous drag. A box on a slope creeps at some `g sin t/(mu^2 (K dt + D)/m)` however
//!   small the slope is. Predicted contacts keep it within the stiction tolerance.
//! - *The coefficient.* A partly active cone gives less than mu times its normal impulse, and
//!   sliding, torsional and rolling cones each add their own normal impulse, so that friction is
//!   less than mu times the sum. Predicted cones are all bounded by the whole normal impulse.
//! - *Long steps.* The sum of the facets' impulses is explicit in the velocity: with more than
//!   `2/(J M^-1 J^T)` of `(K dt + D) dt` it is unstable. Predicted contacts are implicit.
//! - *Loads.* The published mass of a contact is that of its two sides, `1/(tr(J_i M^-1 J_i^T) +
//!   tr(J_j M^-1 J_j^T))`. A gram under a ton yields by metres, and a tower on contacts that soft
//!   buckles under its own weight: cubes of side a on contacts of the kappa of 100 rad/s fall from
//!   `0.0248 n^3 > 7.84 (a/0.05 m)` on (Greenhill's column with a joint at each interface). A
//!   predicted contact has at least a twelfth of the mass M of all bodies that it touches, directly
//!   or through others: their weight then compresses it by at most `12 g/(kappa r/(1 - r))`, 0.07
//!   mm by default, whatever the masses.
//! - *Deep overlap.* The published impulse grows with the overlap without bound; predicted contacts
//!   separate at [`ComFreeSettings::separation_speed`] at most.
//!
//! Unreliable results of a step are counted in
//! [`StepSummary::unreliable`](crate::simulation::StepSummary::unreliable): impulses that, within
//! their bounds, give contact velocities that differ from the predicted ones by more than a
//! hundredth of those without contact; a contact whose depth grows by more than the width of its
//! impedance; a free body in contact that rotates by more than a radian; in the published form,
//! surfaces that separate faster than they would have approached.

mod carried;
mod contact;
mod coupled;
mod dry_joint;
mod facets;
mod impedance;
mod islands;
mod predict;
mod published;
mod settings;
mod solver;
mod trees;

pub use facets::{ConeImpulse, Facets, many_facets};
pub use impedance::ImpedanceCurve;
pub use settings::{ComFreeSettings, Form, Gains, RigidSolver};
pub(crate) use solver::{ComFreeSolver, StepInputs};
