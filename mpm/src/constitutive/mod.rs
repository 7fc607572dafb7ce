//! Constitutive models: return mapping, Kirchhoff stress and elastic energy, written once over
//! [`Real`].
//!
//! | model | energy per rest volume psi | Kirchhoff stress tau = (d psi / d F) F^T |
//! |---|---|---|
//! | [`FixedCorotated`] | mu \|F - R\|^2 + lambda/2 \[J - 1\]^2 | 2 mu (F - R) F^T + lambda \[J - 1\] J I |
//! | [`NeoHookean`] | mu/2 (\|F\|^2 - 3) - mu ln J + lambda/2 (ln J)^2 | mu (F F^T - I) + lambda ln J I |
//! | [`LinearCorotated`] | mu \|S - I\|^2 + lambda/2 tr(S - I)^2 | 2 mu (F - R) F^T + lambda tr(S - I) R F^T |
//! | [`VonMises`], [`DruckerPrager`] | mu \|e\|^2 + lambda/2 tr(e)^2, e = ln sigma | 2 mu e + lambda tr(e) I on the left principal axes |
//!
//! with F = R S, J = det F and singular values sigma; both plastic models are StVK-Hencky elastic
//! with a return mapping.
//!
//! # Collapsed and inverted states (J <= 0)
//! Explicit MPM can carry a particle through J = 0. No model returns NaN there, and all push back
//! towards J > 0:
//! - fixed and linear corotated elasticity take the polar rotation with the reflection left in S
//!   (its smallest eigenvalue is negative); both energies are finite and smooth there and smallest
//!   at S = I. At exactly J = 0 a Kirchhoff stress cannot act along the collapsed direction.
//! - neo-Hookean continues ln J by its tangent below [`neo_hookean::EXTENSION_VOLUME_RATIO`], so
//!   that the energy is finite and continuously differentiable; its derivative with respect to J is
//!   negative everywhere below 1.
//! - the plastic models count any principal stretch below [`hencky::SMALLEST_STRETCH`] as that
//!   stretch: the rest is discarded as plastic flow (its volume is lost), and the returned
//!   deformation gradient always has J > 0.

mod corotated;
mod drucker_prager;
mod granular;
pub mod hencky;
pub mod neo_hookean;
mod response;
mod von_mises;

pub use corotated::{FixedCorotated, LinearCorotated};
pub use drucker_prager::DruckerPrager;
pub use granular::Granular;
pub use neo_hookean::NeoHookean;
pub use response::{Constitutive, ConstitutiveResponse};
pub use von_mises::VonMises;

use crate::material::Model;
use pliant_numeric::linalg::Mat3;
use pliant_numeric::scalar::Real;

/// Any of the models, for code that handles several of them one particle at a time.
///
/// Its [`Constitutive`] methods branch on the model, the same for all lanes, never on a value.
#[derive(Clone, Copy, Debug)]
pub enum AnyModel<T> {
    /// Fixed corotated elasticity.
    FixedCorotated(FixedCorotated<T>),
    /// Compressible neo-Hookean elasticity.
    NeoHookean(NeoHookean<T>),
    /// Linear corotated elasticity.
    LinearCorotated(LinearCorotated<T>),
    /// Von Mises plasticity.
    VonMises(VonMises<T>),
    /// Drucker-Prager plasticity.
    DruckerPrager(DruckerPrager<T>),
    /// Granular flow.
    Granular(Granular<T>),
}

impl<T: Real> AnyModel<T> {
    /// Whether it has a return mapping.
    pub fn is_plastic(&self) -> bool {
        matches!(self, Self::VonMises(_) | Self::DruckerPrager(_) | Self::Granular(_))
    }

    /// Rounds the parameters of a (valid) model to this precision.
    #[inline(always)]
    pub fn new(model: &Model) -> Self {
        match *model {
            Model::FixedCorotated(elastic) => Self::FixedCorotated(FixedCorotated::new(&elastic)),
            Model::NeoHookean(elastic) => Self::NeoHookean(NeoHookean::new(&elastic)),
            Model::LinearCorotated(elastic) => Self::LinearCorotated(LinearCorotated::new(&elastic)),
            Model::VonMises { elastic, yield_stress } => {
                Self::VonMises(VonMises::new(&elastic, yield_stress))
            }
            Model::DruckerPrager { elastic, friction_angle } => {
                Self::DruckerPrager(DruckerPrager::new(&elastic, friction_angle))
            }
            Model::Granular(flow) => Self::Granular(Granular::new(&flow)),
        }
    }
}

impl<T: Real> Constitutive<T> for AnyModel<T> {
    #[inline(always)]
    fn update(&self, trial: Mat3<T>, state: T, substep: T) -> ConstitutiveResponse<T> {
        match self {
            Self::FixedCorotated(m) => m.update(trial, state, substep),
            Self::NeoHookean(m) => m.update(trial, state, substep),
            Self::LinearCorotated(m) => m.update(trial, state, substep),
            Self::VonMises(m) => m.update(trial, state, substep),
            Self::DruckerPrager(m) => m.update(trial, state, substep),
            Self::Granular(m) => m.update(trial, state, substep),
        }
    }

    #[inline(always)]
    fn energy_density(&self, deformation_gradient: &Mat3<T>, state: T) -> T {
        match self {
            Self::FixedCorotated(m) => m.energy_density(deformation_gradient, state),
            Self::NeoHookean(m) => m.energy_density(deformation_gradient, state),
            Self::LinearCorotated(m) => m.energy_density(deformation_gradient, state),
            Self::VonMises(m) => m.energy_density(deformation_gradient, state),
            Self::DruckerPrager(m) => m.energy_density(deformation_gradient, state),
            Self::Granular(m) => m.energy_density(deformation_gradient, state),
        }
    }

    #[inline(always)]
    fn wave_modulus(&self, deformation_gradient: &Mat3<T>) -> T {
        match self {
            Self::FixedCorotated(m) => m.wave_modulus(deformation_gradient),
            Self::NeoHookean(m) => m.wave_modulus(deformation_gradient),
            Self::LinearCorotated(m) => m.wave_modulus(deformation_gradient),
            Self::VonMises(_) | Self::DruckerPrager(_) | Self::Granular(_) => T::splat(0.0),
        }
    }
}

#[cfg(test)]
mod granular_tests;
#[cfg(test)]
mod tests;
