//! Grids that are too coarse for a body.

/// Cells of the grid across a body's smallest side below which it is refused.
const FEWEST_CELLS: f64 = 1.0;

/// Cells across a body's smallest side below which a run warns.
const ADVISED_CELLS: f64 = 2.0;

/// Particles across a body's smallest side below which it is refused: one has no strain across it.
const FEWEST_PARTICLES: f64 = 2.0;

/// Relative tolerance of these numbers: rounding, and the rings' rounding to whole numbers.
const SLACK: f64 = 1e-6;

/// A body that the grid or its particles cannot resolve.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ResolutionError {
    /// The grid is coarser than the body.
    #[error(
        "the smallest side of the body is {extent:.4e} m, less than one grid cell; use a \
         grid_spacing of at most {extent:.4e} m, better half of that, instead of {spacing} m"
    )]
    Grid {
        /// Smallest side of the body \[m\].
        extent: f64,
        /// The grid's spacing \[m\].
        spacing: f64,
    },
    /// Fewer than two particles across.
    #[error(
        "the smallest side of the body is {extent:.4e} m and the particle spacing {distance:.4e} \
         m, fewer than 2 across; use a smaller spacing"
    )]
    Particles {
        /// Smallest side of the body \[m\].
        extent: f64,
        /// Distance of the particles there \[m\].
        distance: f64,
    },
    /// Holes between particles.
    #[error(
        "the particle spacing is {distance:.4e} m, more than the grid_spacing of {spacing} m: \
         cells between particles would be empty; use a smaller spacing or larger counts"
    )]
    Holes {
        /// Largest distance of particles \[m\].
        distance: f64,
        /// The grid's spacing \[m\].
        spacing: f64,
    },
    /// A contact radius beyond the body's middle.
    #[error(
        "contact.particle_radius of {radius} m is more than half of the body's smallest side, {extent:.4e} m"
    )]
    Radius {
        /// Radius \[m\].
        radius: f64,
        /// Smallest side of the body \[m\].
        extent: f64,
    },
}

/// Whether a body whose bounding box has the sides `extents` \[m\], with particles at most
/// `distances` \[m\] apart along them, can be resolved by a grid of this `spacing` \[m\]. Returns
/// the cells across it if they are few.
///
/// # Errors
/// Fewer than one cell or two particles across, and particles farther apart than a cell.
pub(crate) fn fits_grid(
    extents: [f64; 3],
    distances: [f64; 3],
    spacing: f64,
    fixed_radius: Option<f64>,
) -> Result<Option<f64>, ResolutionError> {
    let extent = extents.into_iter().fold(f64::INFINITY, f64::min);
    if extent < FEWEST_CELLS * spacing * (1.0 - SLACK) {
        return Err(ResolutionError::Grid { extent, spacing });
    }
    let distance = distances.into_iter().fold(0.0, f64::max);
    if distance > spacing * (1.0 + SLACK) {
        return Err(ResolutionError::Holes { distance, spacing });
    }
    for (extent, distance) in extents.into_iter().zip(distances) {
        if extent < FEWEST_PARTICLES * distance * (1.0 - SLACK) {
            return Err(ResolutionError::Particles { extent, distance });
        }
    }
    if let Some(radius) = fixed_radius.filter(|radius| 2.0 * radius > extent) {
        return Err(ResolutionError::Radius { radius, extent });
    }
    let cells = extent / spacing;
    Ok((cells < ADVISED_CELLS * (1.0 - SLACK)).then_some(cells))
}
