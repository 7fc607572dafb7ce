//! Why there is no scene of a garment.

use pliant_garment::CoveredError;

use crate::format::ClothError;

/// Why there is no scene of a garment.
#[derive(Debug, thiserror::Error)]
pub enum FoldingError {
    /// It cannot be cut or sewn.
    #[error(transparent)]
    Cloth(#[from] ClothError),
    /// Sleeves too long to be laid onto the body.
    #[error(
        "sleeve_length: {length} m must be at most {most} m, half of chest_width, so that sleeves that are folded at \
         the body's sides do not reach each other"
    )]
    Sleeves {
        /// Their length \[m\].
        length: f64,
        /// The most that it may be \[m\].
        most: f64,
    },
    /// The area that it covers cannot be measured.
    #[error(transparent)]
    Area(#[from] CoveredError),
}
